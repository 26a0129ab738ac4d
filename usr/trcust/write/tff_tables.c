// SPDX-License-Identifier: GPL-2.0
#include "tff_tables.h"

#include <string.h>
#include "lib/hash.h"

static uint32_t count_entries(const struct bytes *bytes, size_t entry_size)
{
	return bytes->size / entry_size;
}

void tff_tables_begin(const struct tff_tables *t, struct tff_section *s)
{
	s->first_entry = count_entries(&t->entries, sizeof(struct tff_entry));
	s->first_type = count_entries(&t->types, sizeof(struct tdf_name));
	s->first_group = count_entries(&t->groups, sizeof(struct tdf_name));
	s->first_ctype = count_entries(&t->ctypes, sizeof(struct tff_ctype));
	s->first_member = count_entries(&t->members, sizeof(struct tff_member));
}

void tff_tables_name(struct tff_tables *t, struct bytes *table,
		     const char *name, uint32_t id)
{
	struct tdf_name out = {
		.name = strings_add(&t->strings, name),
		.id = id,
	};

	bytes_add(table, &out, sizeof(out));
}

static uint32_t copy_string(struct tff_tables *t, const struct tff *from,
			    uint32_t at)
{
	return strings_add(&t->strings, tff_string(from, at));
}

static void copy_names(struct tff_tables *t, const struct tff *from,
		       struct bytes *table, const struct tdf_name *names,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		tff_tables_name(t, table, tff_string(from, names[i].name),
				names[i].id);
}

void tff_tables_copy(struct tff_tables *t, const struct tff *from,
		     const struct tff_section *in,
		     bool (*keep)(void *context, const struct tff_entry *entry),
		     void *context)
{
	struct tff_section out = *in;

	tff_tables_begin(t, &out);
	out.entries = 0;
	for (uint32_t i = 0; i < in->entries; i++) {
		struct tff_entry entry = from->entries[in->first_entry + i];

		if (keep && !keep(context, &entry))
			continue;
		entry.desc = copy_string(t, from, entry.desc);
		entry.fmt = copy_string(t, from, entry.fmt);
		bytes_add(&t->entries, &entry, sizeof(entry));
		out.entries++;
	}
	if (keep && !out.entries)
		return;
	out.name = copy_string(t, from, in->name);
	out.path = copy_string(t, from, in->path);
	out.tsf = copy_string(t, from, in->tsf);
	copy_names(t, from, &t->types, from->types + in->first_type,
		   in->types);
	copy_names(t, from, &t->groups, from->groups + in->first_group,
		   in->groups);
	for (uint32_t i = 0; i < in->ctypes; i++) {
		struct tff_ctype type = from->ctypes[in->first_ctype + i];

		type.name = copy_string(t, from, type.name);
		bytes_add(&t->ctypes, &type, sizeof(type));
	}
	for (uint32_t i = 0; i < in->members; i++) {
		struct tff_member m = from->members[in->first_member + i];

		m.name = copy_string(t, from, m.name);
		bytes_add(&t->members, &m, sizeof(m));
	}
	bytes_add(&t->sections, &out, sizeof(out));
}

static void add_table(struct bytes *file, struct tdf_table *table,
		      const struct bytes *bytes, size_t entry_size)
{
	bytes_align(file);
	table->offset = file->size;
	table->count = count_entries(bytes, entry_size);
	bytes_join(file, bytes);
	file->failed |= bytes->failed;
}

static void make_file(const struct tff_tables *t, unsigned int major,
		      struct bytes *file)
{
	struct tff_header h = {
		.version = TFF_VERSION,
		.header_size = sizeof(h),
		.major = major,
	};

	memcpy(h.magic, TFF_MAGIC, sizeof(h.magic));
	bytes_add(file, &h, sizeof(h));
	add_table(file, &h.sections, &t->sections, sizeof(struct tff_section));
	add_table(file, &h.entries, &t->entries, sizeof(struct tff_entry));
	add_table(file, &h.types, &t->types, sizeof(struct tdf_name));
	add_table(file, &h.groups, &t->groups, sizeof(struct tdf_name));
	add_table(file, &h.ctypes, &t->ctypes, sizeof(struct tff_ctype));
	add_table(file, &h.members, &t->members, sizeof(struct tff_member));
	add_table(file, &h.strings, &t->strings.bytes, 1);
	h.file_size = file->size;
	if (file->failed)
		return;
	memcpy(file->data, &h, sizeof(h));
	h.crc = hash_crc32(0, file->data, file->size);
	memcpy(file->data, &h, sizeof(h));
}

int tff_tables_write(const struct tff_tables *t, unsigned int major,
		     struct outfile **out, const char *path, struct error *err)
{
	struct bytes file = { 0 };
	int code;

	make_file(t, major, &file);
	if (file.failed)
		code = error_no_memory(err);
	else
		code = outfile_open(out, path, err);
	if (!code)
		outfile_write(*out, file.data, file.size);
	bytes_free(&file);
	return code;
}

void tff_tables_free(struct tff_tables *t)
{
	bytes_free(&t->sections);
	bytes_free(&t->entries);
	bytes_free(&t->types);
	bytes_free(&t->groups);
	bytes_free(&t->ctypes);
	bytes_free(&t->members);
	strings_free(&t->strings);
}
