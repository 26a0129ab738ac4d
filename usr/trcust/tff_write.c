// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tff.h>
#include "../lib/hash.h"
#include "../lib/tff.h"
#include "write.h"

/* A table each, gathered while the sections are gone through. */
struct tff_writer {
	const struct compilation *c;
	const char *module;
	const struct tff *old;		/* NULL: there was no file */
	struct bytes sections, entries, types, groups, file;
	struct strings strings;
};

static uint32_t entry_count(const struct bytes *bytes, size_t entry_size)
{
	return bytes->size / entry_size;
}

/* A section's share of the tables begins at what they hold now. */
static void section_begin(const struct tff_writer *w, struct tff_section *s)
{
	s->first_entry = entry_count(&w->entries, sizeof(struct tff_entry));
	s->first_type = entry_count(&w->types, sizeof(struct tdf_name));
	s->first_group = entry_count(&w->groups, sizeof(struct tdf_name));
}

static void add_names(struct tff_writer *w, struct bytes *table,
		      const struct tsf_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tdf_name out = {
			.name = strings_add(&w->strings, names[i].name),
			.id = names[i].id,
		};

		bytes_add(table, &out, sizeof(out));
	}
}

/* The FMT lines, each ended by a line end. */
static uint32_t add_fmt(struct tff_writer *w, const struct tsf_point *point)
{
	struct bytes text = {0};
	uint32_t at;

	for (size_t i = 0; i < point->fmt_count; i++) {
		bytes_add(&text, point->fmts[i].text, point->fmts[i].length);
		bytes_add(&text, "\n", 1);
	}
	bytes_add(&text, "", 1);
	at = text.failed ? 0 : strings_add(&w->strings, (char *)text.data);
	w->strings.bytes.failed |= text.failed;
	bytes_free(&text);
	return at;
}

static void add_own_section(struct tff_writer *w)
{
	const struct compilation *c = w->c;
	struct tff_section out = {
		.name = strings_add(&w->strings, c->tsf->modname),
		.path = strings_add(&w->strings, w->module),
		.tsf = strings_add(&w->strings, diag_path(c->diag)),
		.entries = c->point_count,
		.types = c->tsf->type_count,
		.groups = c->tsf->group_count,
	};

	if (c->module) {
		out.id_kind = c->module->identity.kind;
		out.id_length = c->module->identity.length;
		memcpy(out.id, c->module->identity.id, sizeof(out.id));
	}
	section_begin(w, &out);
	for (size_t i = 0; i < c->point_count; i++) {
		const struct compile_point *point = &c->points[i];
		struct tff_entry entry = {
			.hash = point->hash,
			.minor = point->tsf->minor,
			.type = point->tsf->type,
			.group = point->tsf->group,
			.flags = point->is_static ? TFF_STATIC : 0,
			.desc = strings_add(&w->strings, point->tsf->desc),
			.fmt = add_fmt(w, point->tsf),
		};

		bytes_add(&w->entries, &entry, sizeof(entry));
	}
	add_names(w, &w->types, c->tsf->types, c->tsf->type_count);
	add_names(w, &w->groups, c->tsf->groups, c->tsf->group_count);
	bytes_add(&w->sections, &out, sizeof(out));
}

static uint32_t copy_string(struct tff_writer *w, uint32_t at)
{
	return strings_add(&w->strings, tff_string(w->old, at));
}

static void copy_names(struct tff_writer *w, struct bytes *table,
		       const struct tdf_name *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tdf_name out = {
			.name = copy_string(w, names[i].name),
			.id = names[i].id,
		};

		bytes_add(table, &out, sizeof(out));
	}
}

static void copy_section(struct tff_writer *w, const struct tff_section *in)
{
	struct tff_section out = *in;

	out.name = copy_string(w, in->name);
	out.path = copy_string(w, in->path);
	out.tsf = copy_string(w, in->tsf);
	section_begin(w, &out);
	for (uint32_t i = 0; i < in->entries; i++) {
		struct tff_entry entry = w->old->entries[in->first_entry + i];

		entry.desc = copy_string(w, entry.desc);
		entry.fmt = copy_string(w, entry.fmt);
		bytes_add(&w->entries, &entry, sizeof(entry));
	}
	copy_names(w, &w->types, w->old->types + in->first_type, in->types);
	copy_names(w, &w->groups, w->old->groups + in->first_group,
		   in->groups);
	bytes_add(&w->sections, &out, sizeof(out));
}

/* The own section takes the place of the one of the same module. */
static void add_sections(struct tff_writer *w)
{
	bool done = false;

	for (uint32_t i = 0; w->old && i < w->old->header->sections.count;
	     i++) {
		const struct tff_section *in = &w->old->sections[i];

		if (strcmp(tff_string(w->old, in->path), w->module)) {
			copy_section(w, in);
			continue;
		}
		if (!done)
			add_own_section(w);
		done = true;
	}
	if (!done)
		add_own_section(w);
}

static void add_table(struct tff_writer *w, struct tdf_table *table,
		      const struct bytes *bytes, size_t entry_size)
{
	bytes_align(&w->file);
	table->offset = w->file.size;
	table->count = entry_count(bytes, entry_size);
	bytes_add(&w->file, bytes->data, bytes->size);
	w->file.failed |= bytes->failed;
}

static void add_file(struct tff_writer *w)
{
	struct tff_header h = {
		.version = TFF_VERSION,
		.header_size = sizeof(h),
		.major = w->c->tsf->major,
	};

	memcpy(h.magic, TFF_MAGIC, sizeof(h.magic));
	bytes_add(&w->file, &h, sizeof(h));
	add_table(w, &h.sections, &w->sections, sizeof(struct tff_section));
	add_table(w, &h.entries, &w->entries, sizeof(struct tff_entry));
	add_table(w, &h.types, &w->types, sizeof(struct tdf_name));
	add_table(w, &h.groups, &w->groups, sizeof(struct tdf_name));
	add_table(w, &h.strings, &w->strings.bytes, 1);
	h.file_size = w->file.size;
	if (w->file.failed)
		return;
	memcpy(w->file.data, &h, sizeof(h));
	h.crc = hash_crc32(0, w->file.data, w->file.size);
	memcpy(w->file.data, &h, sizeof(h));
}

static void tff_writer_free(struct tff_writer *w)
{
	bytes_free(&w->sections);
	bytes_free(&w->entries);
	bytes_free(&w->types);
	bytes_free(&w->groups);
	bytes_free(&w->file);
	strings_free(&w->strings);
}

int tff_write(struct outfile **out, const char *path,
	      const struct compilation *c, const char *module,
	      struct error *err)
{
	struct tff_writer w = { .c = c, .module = module };
	struct tff *old;
	int code = tff_open(&old, path, err);

	if (code && code != -ENOENT) {
		error_hint(err, "remove it, or write elsewhere with --output-dir");
		return code;
	}
	if (!code && old->header->major != c->tsf->major) {
		tff_close(old);
		return -EEXIST;
	}
	w.old = code ? NULL : old;
	add_sections(&w);
	add_file(&w);
	if (w.file.failed)
		code = error_set(err, -ENOMEM, "out of memory");
	else
		code = outfile_open(out, path, err);
	if (!code)
		outfile_write(*out, w.file.data, w.file.size);
	tff_writer_free(&w);
	tff_close((struct tff *)w.old);
	return code;
}
