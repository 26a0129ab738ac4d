// SPDX-License-Identifier: GPL-2.0
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../lib/hash.h"

#define SESSIONS_MAX	65536	/* a record's session has 16 bits */

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Room for one more in an array that grows by doubling. */
static void *array_room(void *array, size_t count, size_t entry)
{
	if (count & (count - 1))
		return array;
	return reallocarray(array, count ? 2 * count : 1, entry);
}

static int damaged_counts(struct trace_file *file, size_t n)
{
	damage_add(&file->damage, "%zu bytes of the tracepoints' figures", n);
	return 0;
}

/* struct ras_counts, each with its totals, one behind the other */
static int counts_parse(struct trace_file *file, const uint8_t *p, size_t n)
{
	while (n >= sizeof(struct ras_counts)) {
		const struct ras_counts *counts = (const void *)p;
		size_t room = n - sizeof(*counts);
		size_t size = sizeof(*counts);
		struct trace_session *session;

		if (counts->points > room / sizeof(struct ras_count_total) ||
		    counts->session >= SESSIONS_MAX)
			return damaged_counts(file, n);
		size += counts->points * sizeof(struct ras_count_total);
		session = (void *)trace_file_session(file, counts->session);
		if (session && session->entry->points == counts->points)
			session->totals = (const void *)(counts + 1);
		else
			damaged_counts(file, size);
		p += size;
		n -= size;
	}
	return n ? damaged_counts(file, n) : 0;
}

static bool session_valid(const struct ras_session *entry, size_t n)
{
	return entry->size % 8 == 0 && entry->size <= n &&
	       entry->size >= sizeof(*entry) &&
	       entry->points <= (entry->size - sizeof(*entry)) /
					sizeof(struct ras_session_point);
}

static int session_add(struct trace_file *file, const struct ras_session *entry)
{
	struct trace_session *session;
	void *array = array_room(file->sessions, file->session_count,
				 sizeof(*file->sessions));

	if (!array)
		return -ENOMEM;
	file->sessions = array;
	if (file->session_at[entry->index]) {
		damage_add(&file->damage, "session %u is there twice",
			   entry->index);
		return 0;
	}
	session = &file->sessions[file->session_count++];
	memset(session, 0, sizeof(*session));
	session->entry = entry;
	session->points = (const void *)(entry + 1);
	memcpy(session->tdf, entry->tdf, sizeof(entry->tdf));
	memcpy(session->module, entry->module, sizeof(entry->module));
	file->session_at[entry->index] = file->session_count;
	return 0;
}

static int sessions_parse(struct trace_file *file, const uint8_t *p, size_t n)
{
	while (n >= sizeof(struct ras_session)) {
		const struct ras_session *entry = (const void *)p;

		if (!entry->size)
			return 0;
		if (!session_valid(entry, n))
			break;
		if (session_add(file, entry))
			return -ENOMEM;
		p += entry->size;
		n -= entry->size;
	}
	if (n)
		damage_add(&file->damage, "%zu bytes of the session table", n);
	return 0;
}

static int slice_parse(struct trace_file *file, const uint8_t *p, size_t n,
		       bool damaged)
{
	struct trace_slice slice = { .damaged = damaged };
	void *array = array_room(file->slices, file->slice_count,
				 sizeof(slice));
	uint64_t size;

	if (!array)
		return -ENOMEM;
	file->slices = array;
	if (n < sizeof(slice.copy)) {
		damage_add(&file->damage, "a slice of %zu bytes", n);
		return 0;
	}
	memcpy(&slice.copy, p, sizeof(slice.copy));
	slice.data = p + sizeof(slice.copy);
	slice.size = n - sizeof(slice.copy);
	size = slice.copy.head - slice.copy.first;
	if (size < slice.size)
		slice.size = size;
	if (slice.copy.head < slice.copy.first)
		damage_add(&file->damage, "slice of CPU %u: wrong bounds",
			   slice.copy.cpu);
	else if (size > slice.size)
		damage_add(&file->damage, "%llu bytes at the end of CPU %u's slice",
			   (unsigned long long)(size - slice.size),
			   slice.copy.cpu);
	file->slices[file->slice_count++] = slice;
	return 0;
}

static bool chunk_damaged(struct trace_file *file,
			  const struct ras_chunk *chunk, size_t length)
{
	struct ras_chunk head = *chunk;
	uint32_t crc;

	head.crc = 0;
	crc = hash_crc32(0, &head, sizeof(head));
	crc = hash_crc32(crc, chunk + 1, length);
	if (crc != chunk->crc && length == chunk->length)
		damage_add(&file->damage,
			   "checksum of the chunk at offset %zu (kind %u) differs",
			   (const uint8_t *)chunk - (const uint8_t *)file->data,
			   chunk->kind);
	return crc != chunk->crc;
}

static int chunk_parse(struct trace_file *file, const struct ras_chunk *chunk,
		       size_t length)
{
	const uint8_t *payload = (const void *)(chunk + 1);
	bool damaged = chunk_damaged(file, chunk, length);

	switch (chunk->kind) {
	case RAS_CHUNK_SESSIONS:
		return sessions_parse(file, payload, length);
	case RAS_CHUNK_COUNTS:
		return counts_parse(file, payload, length);
	case RAS_CHUNK_SLICE:
		return slice_parse(file, payload, length, damaged);
	default:
		return 0;
	}
}

static int chunks_parse(struct trace_file *file, size_t at)
{
	while (file->size - at >= sizeof(struct ras_chunk)) {
		const struct ras_chunk *chunk =
			(const void *)((uint8_t *)file->data + at);
		size_t room = file->size - at - sizeof(*chunk);
		size_t length = chunk->length < room ? chunk->length : room;
		int code;

		if (length < chunk->length && chunk->kind != RAS_CHUNK_SLICE)
			damage_add(&file->damage,
				   "%llu of %llu bytes of the chunk at offset %zu (kind %u)",
				   (unsigned long long)chunk->length - length,
				   (unsigned long long)chunk->length, at,
				   chunk->kind);
		if (chunk->kind == RAS_CHUNK_END) {
			chunk_damaged(file, chunk, length);
			if (room)
				damage_add(&file->damage,
					   "%zu bytes behind the end chunk at offset %zu",
					   room, at);
			return 0;
		}
		code = chunk_parse(file, chunk, length);
		if (code)
			return code;
		if (padded(length) > room)
			break;
		at += sizeof(*chunk) + padded(length);
	}
	damage_add(&file->damage, "the end: the file was cut short at %zu bytes",
		   file->size);
	return 0;
}

static bool header_intact(const struct trace_file *file)
{
	struct ras_file h = file->header;
	size_t size = h.size;
	uint32_t crc;

	if (size < sizeof(h) || size > file->size || size % 8)
		return false;
	h.crc = 0;
	crc = hash_crc32(0, &h, sizeof(h));
	crc = hash_crc32(crc, (uint8_t *)file->data + sizeof(h),
			 size - sizeof(h));
	return crc == file->header.crc;
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

/* Fills file->header; *at is where the chunks begin. */
static int header_parse(struct trace_file *file, const char *path, size_t *at,
			struct error *err)
{
	struct ras_file *h = &file->header;
	int code;

	if (file->size < sizeof(h->magic) ||
	    memcmp(file->data, RAS_FILE_MAGIC, sizeof(h->magic)))
		return header_wrong(path, "not a .ras file", err);
	if (file->size < sizeof(*h))
		return header_wrong(path, "cut short in its header", err);
	memcpy(h, file->data, sizeof(*h));
	if (h->order == __builtin_bswap32(RAS_FILE_ORDER))
		return header_wrong(path,
				    "written by a machine of the other byte order",
				    err);
	*at = sizeof(*h);
	if (header_intact(file)) {
		code = header_check(h, path, err);
		if (code)
			return code;
		*at = h->size;
	} else {
		damage_add(&file->damage, "checksum of the header differs");
	}
	memcpy(file->host, h->host, sizeof(h->host));
	memcpy(file->kernel, h->kernel, sizeof(h->kernel));
	return 0;
}

/* With a ruined header the key is what the first record's stamp says. */
static void key_recover(struct trace_file *file)
{
	for (size_t i = 0; i < file->slice_count; i++) {
		const struct trace_slice *slice = &file->slices[i];
		uint64_t stamp;

		if (slice->damaged || slice->size < RAS_RECORD_HEADER)
			continue;
		memcpy(&stamp, slice->data, sizeof(stamp));
		file->header.key = stamp ^ slice->copy.first;
		return;
	}
}

int trace_file_parse(struct trace_file *file, void *data, size_t size,
		     const char *path, struct error *err)
{
	bool ruined;
	size_t at;
	int code;

	memset(file, 0, sizeof(*file));
	file->data = data;
	file->size = size;
	code = header_parse(file, path, &at, err);
	if (!code) {
		ruined = file->damage.count;
		file->session_at = calloc(SESSIONS_MAX,
					  sizeof(*file->session_at));
		code = file->session_at ? chunks_parse(file, at) : -ENOMEM;
		if (code)
			error_set(err, code, "out of memory");
		else if (ruined)
			key_recover(file);
	}
	if (code)
		trace_file_free(file);
	return code;
}

/* Everything that fd has. 0, or a negative errno. */
static int stream_read(int fd, void **data, size_t *size)
{
	size_t room = 1 << 20;

	*size = 0;
	*data = malloc(room);
	while (*data) {
		ssize_t n = read(fd, (char *)*data + *size, room - *size);
		void *more;

		if (!n)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		*size += n < 0 ? 0 : n;
		if (*size < room)
			continue;
		room *= 2;
		more = realloc(*data, room);
		if (!more)
			break;
		*data = more;
	}
	return -ENOMEM;
}

int trace_file_read(struct trace_file *file, const char *path,
		    struct error *err)
{
	bool standard = !strcmp(path, "-");
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	void *data = NULL;
	size_t size = 0;
	int code = fd < 0 ? -errno : stream_read(fd, &data, &size);

	if (fd >= 0 && !standard)
		close(fd);
	if (code) {
		free(data);
		return error_set(err, code, "cannot read '%s': %s", path,
				 strerror(-code));
	}
	return trace_file_parse(file, data, size,
				standard ? "standard input" : path, err);
}

void trace_file_free(struct trace_file *file)
{
	free(file->data);
	free(file->sessions);
	free(file->session_at);
	free(file->slices);
	file->data = NULL;
	file->sessions = NULL;
	file->session_at = NULL;
	file->slices = NULL;
	file->session_count = file->slice_count = 0;
}

const struct trace_session *trace_file_session(const struct trace_file *file,
					       uint16_t index)
{
	uint32_t at = file->session_at[index];

	return at ? &file->sessions[at - 1] : NULL;
}

static bool record_valid(const struct trace_slice *slice, uint64_t key)
{
	const struct ras_record *record = (const void *)(slice->data +
							 slice->at);

	return record->stamp == ((slice->copy.first + slice->at) ^ key) &&
	       record->length >= RAS_RECORD_HEADER &&
	       record->length <= RAS_RECORD_MAX &&
	       record->length <= slice->size - slice->at;
}

const struct ras_record *trace_slice_next(struct trace_slice *slice,
					  uint64_t key)
{
	while (slice->at < slice->size) {
		const struct ras_record *record =
			(const void *)(slice->data + slice->at);
		size_t left = slice->size - slice->at;
		size_t step = left < 8 ? left : 8;

		if (left >= RAS_RECORD_HEADER && record_valid(slice, key)) {
			step = padded(record->length);
			slice->at += step < left ? step : left;
			if (!slice->found++)
				slice->oldest = record->time;
			return record;
		}
		if (!slice->lost)
			slice->lost_at = slice->copy.first + slice->at;
		slice->lost += step;
		slice->at += step;
	}
	return NULL;
}

void trace_file_finish(struct trace_file *file)
{
	for (size_t i = 0; i < file->slice_count; i++) {
		const struct trace_slice *slice = &file->slices[i];

		if (slice->lost)
			damage_add(&file->damage,
				   "%llu bytes of CPU %u's slice, the first at position %llu",
				   (unsigned long long)slice->lost,
				   slice->copy.cpu,
				   (unsigned long long)slice->lost_at);
	}
}
