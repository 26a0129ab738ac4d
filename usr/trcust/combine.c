// SPDX-License-Identifier: GPL-2.0
/*
 * Several TFFs of one major code made into one (manual 1.2.1, 1.2.2). The list
 * has their names with white space between. Each keeps its sections; of
 * several entries with the same minor code the first one stays. The result may
 * be one of the files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "input.h"
#include "trcust/write.h"

#define COMBINE_FILES_MAX	50
#define MINOR_CODES	65536

struct combine_file {
	struct srcpos pos;	/* of its name in the list */
	char *path;
	struct tff *tff;
};

struct combine_section {
	const struct combine_file *file;
	const struct tff_section *section;
	uint32_t first;		/* minor that is kept; MINOR_CODES: none */
};

struct combination {
	struct diag *diag;
	struct combine_file files[COMBINE_FILES_MAX];
	size_t file_count;
	struct combine_section *sections;	/* in the order of the files */
	size_t section_count;
	/* by minor: the section that has it first */
	const struct combine_section *owners[MINOR_CODES];
	const struct combine_section *copied;
};

static bool combine_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x1a;
}

static int combine_file_add(struct combination *c, struct srcpos pos,
			    const char *name)
{
	struct combine_file *file = &c->files[c->file_count];
	struct error err = { 0 };
	char *copy;
	int code;

	if (c->file_count == COMBINE_FILES_MAX) {
		diag_report(c->diag, pos, TRCERR_TOOMANYTFF);
		return -1;
	}
	copy = strndup(name, pos.length);
	file->path = copy ? locate_portable(copy) : NULL;
	free(copy);
	if (!file->path)
		return diag_no_memory(c->diag, (struct srcpos){ 0 });
	file->pos = pos;
	c->file_count++;
	code = tff_open(&file->tff, file->path, &err);
	if (code == -ENOENT || code == -ENOTDIR || code == -EACCES ||
	    code == -ELOOP || code == -EISDIR) {
		diag_report(c->diag, pos, TRCERR_COMBINE_PATH);
		diag_hint(c->diag, "%s", err.text);
		return -1;
	}
	if (code) {
		diag_report_error(c->diag, pos, file->path, code, &err);
		return -1;
	}
	if (file->tff->header->major == c->files[0].tff->header->major)
		return 0;
	diag_report(c->diag, pos, TRCERR_DIF_MAJOR, file->path);
	diag_hint(c->diag, "its major code is %u, that of '%s' is %u",
		  file->tff->header->major, c->files[0].path,
		  c->files[0].tff->header->major);
	return -1;
}

static int list_read(struct combination *c)
{
	struct srcpos pos = { .line = 1, .column = 1 };
	size_t size;
	const char *at = diag_text(c->diag, &size), *end = at + size;

	while (at < end) {
		for (pos.length = 0; at + pos.length < end &&
				     !combine_is_space(at[pos.length]);)
			pos.length++;
		if (pos.length && combine_file_add(c, pos, at))
			return -1;
		at += pos.length;
		pos.column += pos.length;
		if (pos.length)
			continue;
		pos.column = *at == '\n' ? 1 : pos.column + 1;
		pos.line += *at++ == '\n';
	}
	if (c->file_count)
		return 0;
	pos.length = 1;
	diag_report(c->diag, pos, TRCERR_UNEXPECTEDEOF);
	diag_hint(c->diag, "the list is empty");
	return -1;
}

/* The minor codes of a section that no other one before it has are its own. */
static void section_claim(struct combination *c, struct combine_section *s)
{
	const struct tff_entry *entries = s->file->tff->entries +
					  s->section->first_entry;
	char text[16];

	s->first = MINOR_CODES;
	for (uint32_t i = 0; i < s->section->entries; i++) {
		uint16_t minor = entries[i].minor;

		if (!c->owners[minor]) {
			c->owners[minor] = s;
			s->first = s->first < minor ? s->first : minor;
			continue;
		}
		snprintf(text, sizeof(text), "%u", minor);
		diag_report(c->diag, s->file->pos, TRCERR_DUP_TFFMINOR, text,
			    s->file->path);
		diag_hint(c->diag, "the one of '%s' in '%s' is kept",
			  tff_string(c->owners[minor]->file->tff,
				     c->owners[minor]->section->name),
			  c->owners[minor]->file->path);
	}
}

static int sections_collect(struct combination *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->file_count; i++)
		count += c->files[i].tff->header->sections.count;
	c->sections = calloc(count + 1, sizeof(*c->sections));
	if (!c->sections)
		return diag_no_memory(c->diag, (struct srcpos){ 0 });
	for (size_t i = 0; i < c->file_count; i++) {
		const struct tff *tff = c->files[i].tff;

		for (uint32_t k = 0; k < tff->header->sections.count; k++) {
			struct combine_section *s =
				&c->sections[c->section_count++];

			s->file = &c->files[i];
			s->section = &tff->sections[k];
			section_claim(c, s);
		}
	}
	return 0;
}

static int combine_section_compare(const void *a, const void *b)
{
	const struct combine_section *x = *(void *const *)a;
	const struct combine_section *y = *(void *const *)b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool entry_is_kept(void *context, const struct tff_entry *entry)
{
	const struct combination *c = context;

	return c->owners[entry->minor] == c->copied;
}

/* In ascending order of minor: the sections by their first one. */
static int sections_copy(struct combination *c, struct tff_tables *tables)
{
	const struct combine_section **order =
		calloc(c->section_count + 1, sizeof(*order));

	if (!order)
		return diag_no_memory(c->diag, (struct srcpos){ 0 });
	for (size_t i = 0; i < c->section_count; i++)
		order[i] = &c->sections[i];
	qsort(order, c->section_count, sizeof(*order), combine_section_compare);
	for (size_t i = 0; i < c->section_count; i++) {
		c->copied = order[i];
		tff_tables_copy(tables, order[i]->file->tff, order[i]->section,
				entry_is_kept, c);
	}
	free(order);
	return 0;
}

static int combine_all(struct combination *c, const char *dest)
{
	struct tff_tables tables = { 0 };
	struct error err = { 0 };
	struct outfile *out;
	struct tff *old;
	int code = list_read(c);

	if (!code)
		code = sections_collect(c);
	if (!code)
		code = sections_copy(c, &tables);
	if (code) {
		tff_tables_free(&tables);
		return code;
	}

	/* only a TFF is replaced */
	code = tff_open(&old, dest, &err);
	tff_close(old);
	if (code && code != -ENOENT)
		error_hint(&err, "remove it, or give the file another name");
	else
		code = tff_tables_write(&tables, c->files[0].tff->header->major,
					&out, dest, &err);
	if (!code)
		code = outfile_commit(out, &err);
	if (code)
		output_report(c->diag, dest, code, &err);
	tff_tables_free(&tables);
	return code ? -1 : 0;
}

int run_combine(const struct settings *s, const char *list)
{
	char *path = locate_input(list), *dest = locate_portable(s->combine);
	struct combination *c;
	struct diag *diag;
	int lock, code = 1;

	if (!path || !dest || diag_open(&diag, path, s->level))
		goto out;
	c = calloc(1, sizeof(*c));
	if (!c) {
		diag_no_memory(diag, (struct srcpos){ 0 });
		goto out_close;
	}
	c->diag = diag;
	lock = outfile_lock_directory(dest);
	code = combine_all(c, dest) || diag_count(diag, DIAG_ERROR);
	if (lock >= 0)
		close(lock);
	for (size_t i = 0; i < c->file_count; i++) {
		tff_close(c->files[i].tff);
		free(c->files[i].path);
	}
	free(c->sections);
	free(c);
out_close:
	diag_close(diag);
out:
	free(dest);
	free(path);
	return code;
}
