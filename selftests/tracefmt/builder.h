/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes .ras files and TFFs in memory, byte by byte from the headers, for
 * tests and benchmarks. Aborts without memory.
 */
#ifndef SELFTESTS_BUILDER_H
#define SELFTESTS_BUILDER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include <rastrace/rasfile.h>
#include <rastrace/tff.h>
#include "lib/hash.h"

#ifndef BUILD_KEY	/* traces of one key are of one buffer */
#define BUILD_KEY	0x9d2c5680a1b2c3d4ULL
#endif
#define BUILD_FUNC	static __attribute__((unused))

struct bytes {
	uint8_t *data;
	size_t size, room;
};

BUILD_FUNC void *bytes_add(struct bytes *b, const void *data, size_t n)
{
	if (b->room - b->size < n) {
		b->room = 2 * b->room + n + 64;
		b->data = realloc(b->data, b->room);
		if (!b->data)
			abort();
	}
	if (data)
		memcpy(b->data + b->size, data, n);
	else
		memset(b->data + b->size, 0, n);
	b->size += n;
	return b->data + b->size - n;
}

BUILD_FUNC void bytes_pad(struct bytes *b)
{
	bytes_add(b, NULL, -b->size & 7);
}

BUILD_FUNC void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){ 0 };
}

BUILD_FUNC int bytes_write(const struct bytes *b, const char *folder,
			   const char *name)
{
	char path[4096];
	FILE *file;
	int bad;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		return 1;
	}
	bad = fwrite(b->data, 1, b->size, file) != b->size;
	return fclose(file) || bad;
}

/* ---- a record's data ---- */

BUILD_FUNC void data_word(struct bytes *b, uint16_t value)
{
	bytes_add(b, &value, sizeof(value));
}

BUILD_FUNC void data_double(struct bytes *b, uint32_t value)
{
	bytes_add(b, &value, sizeof(value));
}

BUILD_FUNC void data_quad(struct bytes *b, uint64_t value)
{
	bytes_add(b, &value, sizeof(value));
}

BUILD_FUNC void data_item(struct bytes *b, uint8_t status, const void *data,
			  uint16_t length)
{
	struct ras_item item = { status, length };

	bytes_add(b, &item, sizeof(item));
	if (length)
		bytes_add(b, data, length);
}

BUILD_FUNC void data_string(struct bytes *b, const char *text)
{
	data_item(b, RAS_ITEM_STRING, text, strlen(text));
}

BUILD_FUNC void data_fault(struct bytes *b, uint64_t pointer)
{
	data_item(b, RAS_ITEM_FAULT, &pointer, sizeof(pointer));
}

/* ---- slices and the file ---- */

struct slice_builder {
	struct ras_slice_copy copy;
	struct bytes records;
};

BUILD_FUNC struct slice_builder slice_begin(uint32_t cpu, uint64_t first,
					    uint64_t before)
{
	return (struct slice_builder){
		.copy = { .cpu = cpu, .first = first, .head = first,
			  .records = before },
	};
}

/* Adds the record with its stamp, length and data. */
BUILD_FUNC void slice_add(struct slice_builder *slice, struct ras_record record,
			  const struct bytes *data)
{
	record.stamp = slice->copy.head ^ BUILD_KEY;
	record.length = RAS_RECORD_HEADER + (data ? data->size : 0);
	bytes_add(&slice->records, &record, sizeof(record));
	if (data)
		bytes_add(&slice->records, data->data, data->size);
	bytes_pad(&slice->records);
	slice->copy.head = slice->copy.first + slice->records.size;
	slice->copy.records++;
}

BUILD_FUNC void ras_chunk_add(struct bytes *ras, uint32_t kind,
			      const struct bytes *payload)
{
	struct ras_chunk chunk = { .kind = kind };

	if (payload)
		chunk.length = payload->size;
	chunk.crc = hash_crc32(0, &chunk, sizeof(chunk));
	if (payload)
		chunk.crc = hash_crc32(chunk.crc, payload->data, payload->size);
	bytes_add(ras, &chunk, sizeof(chunk));
	if (payload)
		bytes_add(ras, payload->data, payload->size);
	bytes_pad(ras);
}

/* A stack item: how it ends, its flags, and addresses. */
BUILD_FUNC void data_stack(struct bytes *b, uint8_t end, uint8_t flags,
			   const uint64_t *addresses, size_t n)
{
	struct ras_stack stack = { end, flags };
	struct bytes item = { 0 };

	bytes_add(&item, &stack, sizeof(stack));
	bytes_add(&item, addresses, n * sizeof(*addresses));
	data_item(b, RAS_ITEM_STACK, item.data, item.size);
	bytes_free(&item);
}

/* So much of the slice that what is added next is another chunk. */
BUILD_FUNC void ras_slice_flush(struct bytes *ras, struct slice_builder *slice)
{
	struct bytes payload = { 0 };

	bytes_add(&payload, &slice->copy, sizeof(slice->copy));
	bytes_add(&payload, slice->records.data, slice->records.size);
	ras_chunk_add(ras, RAS_CHUNK_SLICE, &payload);
	bytes_free(&payload);
	bytes_free(&slice->records);
	slice->copy.first = slice->copy.head;
}

/* Records of that many bytes are overwritten before they are read. */
BUILD_FUNC void slice_skip(struct slice_builder *slice, uint64_t bytes)
{
	slice->copy.head += bytes;
	slice->copy.first = slice->copy.head;
}

BUILD_FUNC void ras_pass_add(struct bytes *ras, uint64_t time, uint64_t lost)
{
	struct ras_pass pass = { time, lost };
	struct bytes payload = { 0 };

	bytes_add(&payload, &pass, sizeof(pass));
	ras_chunk_add(ras, RAS_CHUNK_PASS, &payload);
	bytes_free(&payload);
}

BUILD_FUNC void ras_maps_add(struct bytes *ras, uint32_t pid, const char *comm,
			     const struct ras_mapping *maps, uint32_t n)
{
	struct ras_maps head = { .pid = pid, .mappings = n };
	struct bytes payload = { 0 };

	strncpy(head.comm, comm, sizeof(head.comm) - 1);
	bytes_add(&payload, &head, sizeof(head));
	bytes_add(&payload, maps, n * sizeof(*maps));
	ras_chunk_add(ras, RAS_CHUNK_MAPS, &payload);
	bytes_free(&payload);
}

BUILD_FUNC void ras_process_add(struct bytes *ras, uint32_t pid, uint64_t seen,
				const char *comm)
{
	struct ras_process_entry entry = {
		.key = { .pid = pid, .session = 1 }, .process.seen = seen,
	};
	struct bytes payload = { 0 };

	strncpy(entry.process.comm, comm, sizeof(entry.process.comm) - 1);
	bytes_add(&payload, &entry, sizeof(entry));
	ras_chunk_add(ras, RAS_CHUNK_PROCESSES, &payload);
	bytes_free(&payload);
}

BUILD_FUNC void ras_formats_add(struct bytes *ras, const char *name,
				const struct bytes *tff)
{
	struct ras_formats head = { 0 };
	struct bytes payload = { 0 };

	strncpy(head.name, name, sizeof(head.name) - 1);
	bytes_add(&payload, &head, sizeof(head));
	bytes_add(&payload, tff->data, tff->size);
	ras_chunk_add(ras, RAS_CHUNK_FORMATS, &payload);
	bytes_free(&payload);
}

/* Frees the slice's records. */
BUILD_FUNC void ras_slice_add(struct bytes *ras, struct slice_builder *slice)
{
	struct bytes payload = { 0 };

	bytes_add(&payload, &slice->copy, sizeof(slice->copy));
	bytes_add(&payload, slice->records.data, slice->records.size);
	ras_chunk_add(ras, RAS_CHUNK_SLICE, &payload);
	bytes_free(&payload);
	bytes_free(&slice->records);
}

BUILD_FUNC void ras_header_seal(struct bytes *ras)
{
	struct ras_file *header = (void *)ras->data;

	header->crc = 0;
	header->crc = hash_crc32(0, header, sizeof(*header));
}

BUILD_FUNC void ras_begin(struct bytes *ras, uint64_t taken,
			  int64_t wall_offset)
{
	struct ras_file header = {
		.order = RAS_FILE_ORDER, .version = RAS_FILE_VERSION,
		.size = sizeof(header), .machine = 62, .layout = RAS_LAYOUT,
		.cpus = 2, .key = BUILD_KEY, .slice_bytes = RAS_SLICE_MIN,
		.taken = taken, .wall_offset = wall_offset,
		.kernel = "6.1.0-test", .host = "target",
	};

	memcpy(header.magic, RAS_FILE_MAGIC, sizeof(header.magic));
	bytes_add(ras, &header, sizeof(header));
	ras_header_seal(ras);
}

BUILD_FUNC void session_add(struct bytes *log, uint16_t index, uint16_t major,
			    const char *tdf,
			    const struct ras_session_point *points, uint32_t n)
{
	struct ras_session session = {
		.size = sizeof(session) + n * sizeof(*points),
		.index = index, .major = major, .points = n,
		.id_kind = TDF_ID_BUILD, .id_length = 4,
		.id = { 0xde, 0xad, 0xbe, 0xef },
		.module = "/usr/bin/app",
	};

	snprintf(session.tdf, sizeof(session.tdf), "%s", tdf);
	bytes_add(log, &session, sizeof(session));
	bytes_add(log, points, n * sizeof(*points));
}

/* The last session's header, which is before its points. */
BUILD_FUNC struct ras_session *session_last(struct bytes *log, uint32_t points)
{
	return (void *)(log->data + log->size -
			points * sizeof(struct ras_session_point) -
			sizeof(struct ras_session));
}

BUILD_FUNC void counts_add(struct bytes *ras, uint32_t session,
			   const struct ras_count_total *totals, uint32_t n)
{
	struct ras_counts counts = { session, n };
	struct bytes payload = { 0 };

	bytes_add(&payload, &counts, sizeof(counts));
	bytes_add(&payload, totals, n * sizeof(*totals));
	ras_chunk_add(ras, RAS_CHUNK_COUNTS, &payload);
	bytes_free(&payload);
}

/* ---- TFF ---- */

struct tff_builder {
	uint16_t major;
	struct bytes sections, entries, types, groups, ctypes, members, strings;
};

BUILD_FUNC uint32_t tff_text(struct tff_builder *tff, const char *text)
{
	uint32_t at;

	if (!tff->strings.size)
		bytes_add(&tff->strings, "", 1);
	at = tff->strings.size;
	bytes_add(&tff->strings, text, strlen(text) + 1);
	return at;
}

BUILD_FUNC void tff_section_begin(struct tff_builder *tff, const char *path,
				  uint32_t id)
{
	struct tff_section section = {
		.name = tff_text(tff, path), .path = tff_text(tff, path),
		.tsf = tff_text(tff, "app.tsf"),
		.id_kind = TDF_ID_BUILD, .id_length = sizeof(id),
		.first_entry = tff->entries.size / sizeof(struct tff_entry),
		.first_type = tff->types.size / sizeof(struct tdf_name),
		.first_group = tff->groups.size / sizeof(struct tdf_name),
		.first_ctype = tff->ctypes.size / sizeof(struct tff_ctype),
		.first_member = tff->members.size / sizeof(struct tff_member),
	};

	memcpy(section.id, &id, sizeof(id));
	bytes_add(&tff->sections, &section, sizeof(section));
}

/* To the last section; minors ascend. */
BUILD_FUNC void tff_entry_add(struct tff_builder *tff, uint16_t minor,
			      uint64_t hash, uint16_t flags, const char *desc,
			      const char *fmt)
{
	struct tff_entry entry = {
		.hash = hash, .minor = minor, .flags = flags,
		.desc = tff_text(tff, desc), .fmt = tff_text(tff, fmt),
	};
	struct tff_section *last = (void *)(tff->sections.data +
					    tff->sections.size);

	bytes_add(&tff->entries, &entry, sizeof(entry));
	last[-1].entries++;
}

/* To the last section: the name of a type (a bit), or of a group. */
BUILD_FUNC void tff_type_add(struct tff_builder *tff, const char *text,
			     uint32_t id)
{
	struct tdf_name name = { .name = tff_text(tff, text), .id = id };
	struct tff_section *last = (void *)(tff->sections.data +
					    tff->sections.size);

	bytes_add(&tff->types, &name, sizeof(name));
	last[-1].types++;
}

BUILD_FUNC void tff_group_add(struct tff_builder *tff, const char *text,
			      uint32_t id)
{
	struct tdf_name name = { .name = tff_text(tff, text), .id = id };
	struct tff_section *last = (void *)(tff->sections.data +
					    tff->sections.size);

	bytes_add(&tff->groups, &name, sizeof(name));
	last[-1].groups++;
}

/* To the last section: a C type; the members that are added next are its. */
BUILD_FUNC void tff_ctype_add(struct tff_builder *tff, const char *name,
			      struct tff_ctype type)
{
	struct tff_section *last = (void *)(tff->sections.data +
					    tff->sections.size);

	type.name = tff_text(tff, name);
	type.first_member = last[-1].members;
	last[-1].ctypes++;
	bytes_add(&tff->ctypes, &type, sizeof(type));
}

BUILD_FUNC void tff_member_add(struct tff_builder *tff, const char *name,
			       struct tff_member member)
{
	struct tff_section *section = (void *)(tff->sections.data +
					       tff->sections.size);
	struct tff_ctype *type = (void *)(tff->ctypes.data + tff->ctypes.size);

	member.name = tff_text(tff, name);
	section[-1].members++;
	type[-1].members++;
	bytes_add(&tff->members, &member, sizeof(member));
}

BUILD_FUNC struct tdf_table tff_table(struct bytes *out, const struct bytes *in,
				      size_t entry)
{
	struct tdf_table table;

	bytes_pad(out);
	table.offset = out->size;
	table.count = in->size / entry;
	bytes_add(out, in->data, in->size);
	return table;
}

/* Frees the builder. */
BUILD_FUNC struct bytes tff_finish(struct tff_builder *tff)
{
	struct tff_header h = { .version = TFF_VERSION,
				.header_size = sizeof(h),
				.major = tff->major };
	struct bytes out = { 0 };

	memcpy(h.magic, TFF_MAGIC, sizeof(h.magic));
	bytes_add(&out, &h, sizeof(h));
	h.sections = tff_table(&out, &tff->sections,
			       sizeof(struct tff_section));
	h.entries = tff_table(&out, &tff->entries, sizeof(struct tff_entry));
	h.types = tff_table(&out, &tff->types, sizeof(struct tdf_name));
	h.groups = tff_table(&out, &tff->groups, sizeof(struct tdf_name));
	h.ctypes = tff_table(&out, &tff->ctypes, sizeof(struct tff_ctype));
	h.members = tff_table(&out, &tff->members, sizeof(struct tff_member));
	h.strings = tff_table(&out, &tff->strings, 1);
	h.file_size = out.size;
	memcpy(out.data, &h, sizeof(h));
	h.crc = hash_crc32(0, out.data, out.size);
	memcpy(out.data, &h, sizeof(h));
	bytes_free(&tff->sections);
	bytes_free(&tff->entries);
	bytes_free(&tff->types);
	bytes_free(&tff->groups);
	bytes_free(&tff->ctypes);
	bytes_free(&tff->members);
	bytes_free(&tff->strings);
	return out;
}

#endif
