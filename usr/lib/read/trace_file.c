// SPDX-License-Identifier: GPL-2.0
#include "trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/hash.h"
#include "trace_chunk.h"

#define CHUNKS_PENDING	65536	/* of a spool: more needn't be known of */

int trace_file_more(struct trace_file *file)
{
	uint32_t kind = RAS_CHUNK_SLICE;
	int more;

	do {
		more = trace_chunk_next(file, &kind);
	} while (more > 0 && !(kind == RAS_CHUNK_PASS &&
			       (file->source.pipe ||
				file->slices.pending > CHUNKS_PENDING)));
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
	if (h->layout < RAS_LAYOUT_SHORT || h->layout > RAS_LAYOUT)
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

	if (!bytes->size)
		return header_wrong(path, "it is empty", err);
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
		file->processes.machine = h->machine;
	} else {
		damage_add(&file->damage, "checksum of the header differs");
		file->ruined = true;
	}
	memcpy(file->host, h->host, sizeof(h->host));
	memcpy(file->kernel, h->kernel, sizeof(h->kernel));
	return 0;
}

static int trace_header_read(struct trace_file *file, const char *path,
			     struct error *err)
{
	const struct ras_file *h = &file->header;
	size_t n = file->source.pipe ? sizeof(*h) : UINT16_MAX;
	struct source_bytes bytes;
	int code = trace_source_read(&file->source, 0, n, &bytes);

	if (code)
		error_set(err, code, "cannot read '%s': %s", path,
			  strerror(-code));
	else
		code = header_parse(file, &bytes, path, err);
	free(bytes.owned);
	return code;
}

static int trace_file_begin(struct trace_file *file, const char *path,
			    struct error *err)
{
	int code;

	file->slices.source = file->source.pipe ? &file->kept : &file->source;
	file->slices.damage = &file->damage;
	file->session_at = calloc(TRACE_SESSIONS_MAX,
				  sizeof(*file->session_at));
	code = file->session_at ? trace_header_read(file, path, err) :
				  error_no_memory(err);
	if (code)
		trace_file_free(file);
	return code;
}

int trace_file_open_memory(struct trace_file *file, void *data, size_t size,
			   const char *path, struct error *err)
{
	memset(file, 0, sizeof(*file));
	source_open_memory(&file->source, data, size);
	return trace_file_begin(file, path, err);
}

int trace_file_open(struct trace_file *file, const char *path,
		    struct error *err)
{
	int code;

	memset(file, 0, sizeof(*file));
	code = trace_source_open(&file->source, path);
	if (code) {
		trace_source_close(&file->source);
		return error_set(err, code, "cannot read '%s': %s", path,
				 strerror(-code));
	}
	return trace_file_begin(file, strcmp(path, "-") ? path : "standard input",
			  err);
}

void trace_file_free(struct trace_file *file)
{
	slices_free(&file->slices);
	stack_ids_free(&file->stack_ids);
	process_table_free(&file->processes);
	trace_session_free(file);
	for (size_t i = 0; i < file->format_count; i++)
		free(file->formats[i].data);
	free(file->formats);
	free(file->notes);
	file->notes = NULL;
	file->formats = NULL;
	file->format_count = 0;
	trace_source_close(&file->source);
	if (file->kept.temporary)
		trace_source_close(&file->kept);
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
