// SPDX-License-Identifier: GPL-2.0
#include "trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../lib/hash.h"
#include "chunk_read.h"
#include "trace_session.h"

typedef unsigned long long ull;

#define FORMATS_MAX	(64u << 20)	/* bytes of TFFs that come along */

/* What is looked at of a chunk with records, which are fetched later. */
#define FRONT	(sizeof(struct ras_chunk) + sizeof(struct ras_packed) + \
		 sizeof(struct ras_slice_copy))

static uint64_t padded(uint64_t n)
{
	return (n + 7) & ~(uint64_t)7;
}

/* ---- payloads ---- */

static int formats_parse(struct trace_file *file, const uint8_t *p, size_t n)
{
	size_t front = sizeof(struct ras_formats);
	struct trace_format *formats, *format;

	if (n < front || n > FORMATS_MAX - file->format_bytes) {
		damage_add(&file->damage, "a format file of %zu bytes", n);
		return 0;
	}
	file->format_bytes += n;
	formats = reallocarray(file->formats, file->format_count + 1,
			       sizeof(*formats));
	if (!formats)
		return -ENOMEM;
	file->formats = formats;
	format = &formats[file->format_count];
	*format = (struct trace_format){
		.data = malloc(n - front + 1), .size = n - front,
	};
	if (!format->data)
		return -ENOMEM;
	memcpy(format->name, p, sizeof(format->name) - 1);
	memcpy(format->data, p + front, n - front);
	file->format_count++;
	return 0;
}

/* In front of the first one stands what was at the file's start. */
static int pass_parse(struct trace_file *file, const uint8_t *p, size_t n)
{
	if (n < sizeof(file->pass)) {
		damage_add(&file->damage, "a pass of %zu bytes", n);
		return 0;
	}
	memcpy(&file->pass, p, sizeof(file->pass));
	if (file->spooled)
		return 0;
	file->spooled = true;
	file->continued = file->slices.count;
	file->began = file->pass.time;
	file->lost_base = file->pass.lost;
	slices_begin(&file->slices);
	trace_session_begin(file);
	return 0;
}

static int book_damage(struct trace_file *file, int code, const char *what,
		       size_t n)
{
	if (code == -EINVAL)
		damage_add(&file->damage, "%zu bytes that should be %s", n,
			   what);
	return code == -ENOMEM ? code : 0;
}

static int payload_parse(struct trace_file *file, uint32_t kind,
			 const uint8_t *p, size_t n)
{
	switch (kind) {
	case RAS_CHUNK_SESSIONS:
		return trace_session_table(file, p, n);
	case RAS_CHUNK_COUNTS:
		return trace_session_counts(file, p, n);
	case RAS_CHUNK_PROCESSES:
		return book_damage(file, book_add_processes(&file->book, p, n),
				   "processes", n);
	case RAS_CHUNK_MAPS:
		return book_damage(file, book_add_maps(&file->book, p, n),
				   "the mappings of a process", n);
	case RAS_CHUNK_FORMATS:
		return formats_parse(file, p, n);
	case RAS_CHUNK_PASS:
		return pass_parse(file, p, n);
	default:
		return 0;
	}
}

/* ---- chunks ---- */

static uint32_t packed_kind(const struct source_bytes *bytes)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;
	struct ras_packed packed;

	if (chunk->kind != RAS_CHUNK_PACKED ||
	    bytes->size < sizeof(*chunk) + sizeof(packed))
		return chunk->kind;
	memcpy(&packed, chunk + 1, sizeof(packed));
	return packed.kind;
}

/* A whole chunk that isn't records. */
static int chunk_parse(struct trace_file *file,
		       const struct source_bytes *bytes,
		       struct chunk_place place)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;
	void *expanded;
	size_t size;
	int code;

	chunk_read_damaged(chunk, place, &file->damage);
	if (chunk->kind != RAS_CHUNK_PACKED)
		return payload_parse(file, chunk->kind,
				     (const uint8_t *)(chunk + 1),
				     place.length);
	expanded = chunk_read_expand(chunk, place, &size, &file->damage);
	if (!expanded)
		return 0;
	code = payload_parse(file, packed_kind(bytes), expanded, size);
	free(expanded);
	return code;
}

static void missing_tell(struct trace_file *file, const struct ras_chunk *chunk,
			 struct chunk_place place)
{
	if (place.length < chunk->length && chunk->kind != RAS_CHUNK_SLICE)
		damage_add(&file->damage,
			   "%llu of %llu bytes of the chunk at offset %llu (kind %u)",
			   (ull)(chunk->length - place.length),
			   (ull)chunk->length, (ull)place.offset, chunk->kind);
}

/* Is there more? A writer that goes on is waited for. */
static void pipe_end_check(struct trace_file *file)
{
	struct source_bytes bytes;

	if (!source_read(&file->source, file->at, 1, &bytes) && bytes.size)
		damage_add(&file->damage,
			   "what comes behind the end chunk before offset %llu",
			   (ull)file->at);
	free(bytes.owned);
}

static void end_check(struct trace_file *file, const struct ras_chunk *chunk,
		      uint64_t room)
{
	struct chunk_place place = { file->at, 0 };

	place.length = chunk->length < room ? chunk->length : room;
	missing_tell(file, chunk, place);
	chunk_read_damaged(chunk, place, &file->damage);
	if (room)
		damage_add(&file->damage,
			   "%llu bytes behind the end chunk at offset %llu",
			   (ull)room, (ull)file->at);
}

/* The chunk at file->at, of which `length` bytes of payload are there, by its
 * beginning or, of a pipe, whole. 1: go on; 0: the end. */
static int chunk_take(struct trace_file *file, struct source_bytes *bytes,
		      struct chunk_place place)
{
	const struct ras_chunk *chunk = (const void *)bytes->data;
	int code;

	missing_tell(file, chunk, place);
	if (packed_kind(bytes) == RAS_CHUNK_SLICE)
		code = slices_add(&file->slices, place.offset, place.length,
				  bytes);
	else
		code = chunk_parse(file, bytes, place);
	return code ? code : 1;
}

/* The next chunk of a file or of memory. */
static int chunk_next(struct trace_file *file, uint32_t *kind)
{
	uint64_t room = file->source.size - file->at;
	struct source_bytes bytes = { 0 };
	struct chunk_place place = { .offset = file->at };
	const struct ras_chunk *chunk;
	int code;

	if (file->at > file->source.size || room < sizeof(*chunk))
		return 0;
	code = source_read(&file->source, file->at, FRONT, &bytes);
	if (code || bytes.size < sizeof(*chunk)) {
		free(bytes.owned);
		return 0;
	}
	chunk = (const void *)bytes.data;
	room -= sizeof(*chunk);
	*kind = chunk->kind;
	place.length = chunk->length < room ? chunk->length : room;
	if (*kind == RAS_CHUNK_END) {
		end_check(file, chunk, room);
		free(bytes.owned);
		return 0;
	}
	if (packed_kind(&bytes) != RAS_CHUNK_SLICE) {
		free(bytes.owned);
		code = source_read(&file->source, file->at,
				   sizeof(*chunk) + place.length, &bytes);
		place.length = bytes.size < sizeof(*chunk) ? 0 :
			       bytes.size - sizeof(*chunk);
	}
	if (!code && bytes.size >= sizeof(*chunk))
		code = chunk_take(file, &bytes, place);
	free(bytes.owned);
	file->at += sizeof(*chunk) + padded(place.length);
	return code;
}

/* The header and the payload of the next chunk of a pipe, in one piece; nothing
 * at the end. */
static int pipe_chunk_read(struct trace_file *file, struct source_bytes *bytes)
{
	struct source_bytes head, rest = { 0 };
	const struct ras_chunk *chunk;
	int code = source_read(&file->source, file->at, sizeof(*chunk), &head);
	char *whole = NULL;

	*bytes = (struct source_bytes){ 0 };
	chunk = (const void *)head.data;
	if (code || head.size < sizeof(*chunk))
		goto out;
	if (chunk->kind != RAS_CHUNK_END)
		code = source_read(&file->source, file->at,
				   chunk->length < UINT64_MAX - 8 ?
				   padded(chunk->length) : UINT64_MAX, &rest);
	whole = malloc(head.size + rest.size + 8);
	if (whole) {
		memcpy(whole, head.data, head.size);
		if (rest.size)
			memcpy(whole + head.size, rest.data, rest.size);
		*bytes = (struct source_bytes){
			(uint8_t *)whole, head.size + rest.size, whole,
		};
	} else {
		code = -ENOMEM;
	}
out:
	free(head.owned);
	free(rest.owned);
	return code;
}

static int pipe_next(struct trace_file *file, uint32_t *kind)
{
	struct chunk_place place = { .offset = file->at };
	const struct ras_chunk *chunk;
	struct source_bytes bytes;
	int code = pipe_chunk_read(file, &bytes);

	if (code || bytes.size < sizeof(*chunk)) {
		free(bytes.owned);
		return code == -ENOMEM ? code : 0;
	}
	chunk = (const void *)bytes.data;
	*kind = chunk->kind;
	place.length = bytes.size - sizeof(*chunk);
	if (place.length > chunk->length)
		place.length = chunk->length;
	file->at += bytes.size;
	if (*kind == RAS_CHUNK_END) {
		chunk_read_damaged(chunk, place, &file->damage);
		pipe_end_check(file);
		code = 0;
	} else {
		code = chunk_take(file, &bytes, place);
	}
	free(bytes.owned);
	return code;
}

int trace_file_more(struct trace_file *file)
{
	uint32_t kind = RAS_CHUNK_SLICE;
	int more;

	do {
		more = file->source.pipe ? pipe_next(file, &kind) :
					   chunk_next(file, &kind);
	} while (more > 0 && !(file->source.pipe && kind == RAS_CHUNK_PASS));
	if (!more && kind != RAS_CHUNK_END)
		damage_add(&file->damage,
			   "the end: the file was cut short at %zu bytes",
			   file->source.size);
	if (file->ruined &&
	    slices_recover_key(&file->slices, &file->header.key))
		file->ruined = false;
	return more;
}

/* ---- the header ---- */

static bool header_intact(const struct source_bytes *bytes)
{
	size_t size;
	struct ras_file h;
	uint32_t crc, kept;

	memcpy(&h, bytes->data, sizeof(h));
	size = h.size;
	if (size < sizeof(h) || size > bytes->size || size % 8)
		return false;
	kept = h.crc;
	h.crc = 0;
	crc = hash_crc32(0, &h, sizeof(h));
	crc = hash_crc32(crc, bytes->data + sizeof(h), size - sizeof(h));
	return crc == kept;
}

static int header_wrong(const char *path, const char *reason, struct error *err)
{
	return error_set(err, -EINVAL, "cannot read '%s': %s", path, reason);
}

static int header_other(const char *path, const char *what, unsigned int has,
			unsigned int reads, struct error *err)
{
	error_set(err, -EINVAL,
		  "cannot read '%s': its %s is %u, this program reads %u", path,
		  what, has, reads);
	error_hint(err, "take the tracefmt of the release that wrote it");
	return -EINVAL;
}

static int header_check(const struct ras_file *h, const char *path,
			struct error *err)
{
	if (h->version != RAS_FILE_VERSION)
		return header_other(path, "version", h->version,
				    RAS_FILE_VERSION, err);
	if (h->layout != RAS_LAYOUT)
		return header_other(path, "records' layout", h->layout,
				    RAS_LAYOUT, err);
	if (h->flags)
		return header_wrong(path,
				    "it has flags that this program doesn't know",
				    err);
	return 0;
}

/* Fills file->header; file->at is where the chunks begin. */
static int header_parse(struct trace_file *file,
			const struct source_bytes *bytes, const char *path,
			struct error *err)
{
	struct ras_file *h = &file->header;
	int code;

	if (bytes->size < sizeof(h->magic) ||
	    memcmp(bytes->data, RAS_FILE_MAGIC, sizeof(h->magic)))
		return header_wrong(path, "not a .ras file", err);
	if (bytes->size < sizeof(*h))
		return header_wrong(path, "cut short in its header", err);
	memcpy(h, bytes->data, sizeof(*h));
	if (h->order == __builtin_bswap32(RAS_FILE_ORDER))
		return header_wrong(path,
				    "written by a machine of the other byte order",
				    err);
	file->at = sizeof(*h);
	if (header_intact(bytes)) {
		code = header_check(h, path, err);
		if (code)
			return code;
		file->at = h->size;
	} else {
		damage_add(&file->damage, "checksum of the header differs");
		file->ruined = true;
	}
	memcpy(file->host, h->host, sizeof(h->host));
	memcpy(file->kernel, h->kernel, sizeof(h->kernel));
	return 0;
}

static int header_read(struct trace_file *file, const char *path,
		       struct error *err)
{
	const struct ras_file *h = &file->header;
	size_t n = file->source.pipe ? sizeof(*h) : UINT16_MAX;
	struct source_bytes bytes;
	int code = source_read(&file->source, 0, n, &bytes);

	if (code)
		error_set(err, code, "cannot read '%s': %s", path,
			  strerror(-code));
	else
		code = header_parse(file, &bytes, path, err);
	free(bytes.owned);
	return code;
}

static int file_begin(struct trace_file *file, const char *path,
		      struct error *err)
{
	int code;

	file->slices.source = &file->source;
	file->slices.damage = &file->damage;
	file->session_at = calloc(TRACE_SESSIONS_MAX,
				  sizeof(*file->session_at));
	code = file->session_at ? header_read(file, path, err) :
				  error_set(err, -ENOMEM, "out of memory");
	if (code)
		trace_file_free(file);
	return code;
}

int trace_file_open_memory(struct trace_file *file, void *data, size_t size,
			   const char *path, struct error *err)
{
	memset(file, 0, sizeof(*file));
	source_open_memory(&file->source, data, size);
	return file_begin(file, path, err);
}

int trace_file_open(struct trace_file *file, const char *path,
		    struct error *err)
{
	int code;

	memset(file, 0, sizeof(*file));
	code = source_open(&file->source, path);
	if (code) {
		source_close(&file->source);
		return error_set(err, code, "cannot read '%s': %s", path,
				 strerror(-code));
	}
	return file_begin(file, strcmp(path, "-") ? path : "standard input",
			  err);
}

void trace_file_free(struct trace_file *file)
{
	slices_free(&file->slices);
	book_free(&file->book);
	trace_session_free(file);
	for (size_t i = 0; i < file->format_count; i++)
		free(file->formats[i].data);
	free(file->formats);
	file->formats = NULL;
	file->format_count = 0;
	source_close(&file->source);
}

const struct trace_session *trace_file_session(const struct trace_file *file,
					       uint16_t index)
{
	uint32_t at = file->session_at[index];

	return at ? file->sessions[at - 1] : NULL;
}

void trace_file_finish(struct trace_file *file)
{
	slices_finish(&file->slices);
}
