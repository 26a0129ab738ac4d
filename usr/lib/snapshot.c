// SPDX-License-Identifier: GPL-2.0
#include "snapshot.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <rastrace/rasfile.h>
#include "buffer.h"
#include "hash.h"
#include "ring.h"
#include "session.h"

#if defined(__x86_64__)
#define MACHINE	EM_X86_64
#elif defined(__aarch64__)
#define MACHINE	EM_AARCH64
#elif defined(__riscv)
#define MACHINE	EM_RISCV
#else
#define MACHINE	EM_NONE
#endif

struct picture {
	uint8_t *data;
	size_t size, capacity;
};

static void *picture_grow(struct picture *p, size_t size)
{
	void *place;

	if (size > p->capacity - p->size)
		return NULL;
	place = p->data + p->size;
	p->size += size;
	return place;
}

/* A chunk whose payload is complete behind it. */
static void chunk_finish(struct picture *p, size_t at, uint32_t kind)
{
	struct ras_chunk *chunk = (void *)(p->data + at);
	size_t length = p->size - at - sizeof(*chunk);

	chunk->kind = kind;
	chunk->length = length;
	chunk->crc = 0;
	chunk->crc = hash_crc32(0, chunk, sizeof(*chunk) + length);
	memset(p->data + p->size, 0, -length & 7);
	p->size += -length & 7;
}

static void picture_header(struct picture *p, const struct buffer *buffer)
{
	struct ras_file *file = picture_grow(p, sizeof(*file));
	struct utsname uts = { 0 };

	uname(&uts);
	*file = (struct ras_file){
		.order = RAS_FILE_ORDER,
		.version = RAS_FILE_VERSION,
		.size = sizeof(*file),
		.machine = MACHINE,
		.layout = RAS_LAYOUT,
		.cpus = buffer->control->cpus,
		.key = buffer->control->key,
		.slice_bytes = buffer->control->slice_bytes,
		.taken = buffer_time(),
		.wall_offset = buffer_wall_offset(),
	};
	memcpy(file->magic, RAS_FILE_MAGIC, sizeof(file->magic));
	strncpy(file->kernel, uts.release, sizeof(file->kernel) - 1);
	strncpy(file->host, uts.nodename, sizeof(file->host) - 1);
	file->crc = hash_crc32(0, file, sizeof(*file));
}

static void picture_sessions(struct picture *p, const struct session_list *list)
{
	size_t at = p->size;

	picture_grow(p, sizeof(struct ras_chunk));
	memcpy(picture_grow(p, list->log_size), list->log, list->log_size);
	chunk_finish(p, at, RAS_CHUNK_SESSIONS);
}

static void counts_sum(const struct session *session, uint32_t slices,
		       const struct ras_count *rows, const uint64_t *missed,
		       struct ras_count_total *totals)
{
	for (uint32_t i = 0; i < session->entry->points; i++) {
		totals[i] = (struct ras_count_total){ .missed = missed[i] };
		for (uint32_t k = 0; k < slices; k++) {
			const struct ras_count *row = &rows[i * slices + k];

			totals[i].recorded += row->recorded;
			totals[i].filtered += row->filtered;
			totals[i].dropped += row->dropped;
			totals[i].faults += row->faults;
		}
	}
}

/* A session whose counters are gone has no such chunk. */
static int picture_counts(struct picture *p, const struct session *session,
			  uint32_t slices)
{
	uint32_t points = session->entry->points;
	struct ras_count *rows;
	struct ras_counts *counts;
	uint64_t *missed;
	size_t at = p->size;

	if (session_counts_read(session, slices, &rows, NULL))
		return 0;
	missed = calloc(points + 1, sizeof(*missed));
	if (missed) {
		session_missed_read(session, missed);
		picture_grow(p, sizeof(struct ras_chunk));
		counts = picture_grow(p, sizeof(*counts));
		*counts = (struct ras_counts){
			.session = session->entry->index, .points = points,
		};
		counts_sum(session, slices, rows, missed,
			   picture_grow(p, points *
					sizeof(struct ras_count_total)));
		chunk_finish(p, at, RAS_CHUNK_COUNTS);
	}
	free(rows);
	free(missed);
	return missed ? 0 : -ENOMEM;
}

static void picture_slice(struct picture *p, const struct buffer *buffer,
			  uint32_t row)
{
	const struct ras_control *control = buffer->control;
	const struct ras_slice *slice;
	struct ras_slice_copy *copy;
	size_t at = p->size;
	struct ring ring;
	uint64_t size;
	uint8_t *out;

	slice = buffer_slice(buffer, row, &size);
	if (!__atomic_load_n(&slice->head, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&slice->dropped, __ATOMIC_RELAXED))
		return;
	picture_grow(p, sizeof(struct ras_chunk));
	copy = picture_grow(p, sizeof(*copy));
	out = p->data + p->size;
	ring_copy(&ring, slice, size, control->key, buffer_tail(buffer, row),
		  out);
	*copy = (struct ras_slice_copy){
		.cpu = row, .level = 0, .first = ring.first,
		.head = ring.head, .records = ring.records,
		.dropped = ring.dropped,
	};
	if (row >= control->cpus) {
		copy->cpu = (row - control->cpus) / control->nest_levels;
		copy->level = (row - control->cpus) % control->nest_levels + 1;
	}
	memmove(out, ring.data, ring.head - ring.first);
	picture_grow(p, ring.head - ring.first);
	chunk_finish(p, at, RAS_CHUNK_SLICE);
}

/* The most bytes that the picture can take. */
static size_t picture_bound(const struct buffer *buffer,
			    const struct session_list *list)
{
	size_t bound = sizeof(struct ras_file) + 64 + list->log_size;
	uint64_t size;

	for (size_t i = 0; i < list->count; i++)
		bound += 64 + list->items[i].entry->points *
			 sizeof(struct ras_count_total);
	for (uint32_t row = 0; row < buffer->slices; row++) {
		buffer_slice(buffer, row, &size);
		bound += size + sizeof(struct ras_chunk) +
			 sizeof(struct ras_slice_copy);
	}
	return bound;
}

static int picture_take(struct picture *p, const struct buffer *buffer,
			const struct session_list *list)
{
	size_t at;

	p->capacity = picture_bound(buffer, list);
	p->data = malloc(p->capacity);
	if (!p->data)
		return -ENOMEM;
	picture_header(p, buffer);
	picture_sessions(p, list);
	for (size_t i = 0; i < list->count; i++)
		if (picture_counts(p, &list->items[i], buffer->slices))
			return -ENOMEM;
	for (uint32_t row = 0; row < buffer->slices; row++)
		picture_slice(p, buffer, row);
	at = p->size;
	picture_grow(p, sizeof(struct ras_chunk));
	chunk_finish(p, at, RAS_CHUNK_END);
	return 0;
}

int snapshot_take(const char *run, void **data, size_t *size,
		  struct error *err)
{
	struct session_list list;
	struct picture p = { 0 };
	struct buffer buffer;
	int code;

	*data = NULL;
	code = buffer_open(&buffer, run, false, err);
	if (code)
		return code;
	code = session_list_read(&list, &buffer, run, err);
	if (!code) {
		code = picture_take(&p, &buffer, &list);
		session_list_free(&list);
		if (code)
			error_set(err, code, "no memory for a picture of the buffer");
	}
	buffer_close(&buffer);
	if (code) {
		free(p.data);
		return code;
	}
	*data = p.data;
	*size = p.size;
	return 0;
}

int snapshot_save(const char *run, struct outfile *out, struct error *err)
{
	void *data;
	size_t size;
	int code = snapshot_take(run, &data, &size, err);

	if (code) {
		outfile_abort(out);
		return code;
	}
	outfile_write(out, data, size);
	free(data);
	return outfile_commit(out, err);
}
