// SPDX-License-Identifier: GPL-2.0
/*
 * A .ras file made while the kernel panics: no lock, no allocation, no call of
 * what could, little stack, as it may be that of an NMI. The other CPUs are
 * stopped and may have been anywhere; what is read may be damaged, or not be
 * mapped any more, and is looked at in a copy only.
 */
#include <linux/crc32.h>
#include <linux/elf.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/utsname.h>
#include <rastrace/rasfile.h>
#include <rastrace/ring.h>
#include "crash.h"

/* Around the records of a slice. */
#define AROUND	(sizeof(struct ras_chunk) + sizeof(struct ras_slice_copy))

/* Survives a fault. */
static bool fetch(void *to, const void *from, size_t size)
{
	return !copy_from_kernel_nofault(to, from, size);
}

/* Where the file is being written. */
struct pen {
	u8 *data;
	size_t used, size;
};

static void *pen_take(struct pen *pen, size_t size)
{
	void *at = pen->data + pen->used;

	if (size > pen->size - pen->used)
		return NULL;
	pen->used += size;
	return at;
}

/* A chunk and its payload, of a multiple of 8 bytes. */
static struct ras_chunk *crash_file_chunk_begin(struct pen *pen, size_t size)
{
	return pen_take(pen, sizeof(struct ras_chunk) + size);
}

static void chunk_finish(struct ras_chunk *chunk, u32 kind, size_t size)
{
	chunk->kind = kind;
	chunk->length = size;
	chunk->crc = 0;
	chunk->crc = ~crc32_le(~0, (u8 *)chunk, sizeof(*chunk) + size);
}

static void crash_file_begin(struct pen *pen, const struct adopted *buffer,
			     const struct crash_panic *panic)
{
	struct ras_file *file = (void *)pen->data;

	pen->used = sizeof(*file);
	memset(file, 0, sizeof(*file));
	memcpy(file->magic, RAS_FILE_MAGIC, sizeof(file->magic));
	file->order = RAS_FILE_ORDER;
	file->version = RAS_FILE_VERSION;
	file->size = sizeof(*file);
	file->machine = ELF_ARCH;
	file->layout = RAS_LAYOUT;
	file->cpus = buffer->cpus;
	file->key = buffer->key;
	file->slice_bytes = buffer->slice_bytes;
	file->taken = panic->time;
	file->wall_offset = panic->wall_offset;
	strscpy(file->kernel, init_utsname()->release, sizeof(file->kernel));
	strscpy(file->host, init_utsname()->nodename, sizeof(file->host));
	file->crc = ~crc32_le(~0, (u8 *)file, sizeof(*file));
}

static void panic_save(struct pen *pen, const struct crash_panic *panic)
{
	struct ras_chunk *chunk =
		crash_file_chunk_begin(pen, sizeof(struct ras_panic));
	struct ras_panic *saved = (void *)(chunk + 1);

	saved->time = panic->time;
	memset(saved->reason, 0, sizeof(saved->reason));
	strscpy(saved->reason, panic->reason, sizeof(saved->reason));
	chunk_finish(chunk, RAS_CHUNK_PANIC, sizeof(*saved));
}

/* ---- sessions ---- */

/* Copy those entries of the log that fit, or only of what is armed; the bytes
 * they take. User space writes the log: nothing in it is relied on. */
static size_t sessions_copy(const u8 *log, size_t used, bool armed, u8 *to,
			    size_t room)
{
	struct ras_session *entry;
	size_t at = 0, copied = 0, size;

	while (used - at >= sizeof(*entry) && room - copied >= sizeof(*entry)) {
		entry = (void *)(to + copied);
		if (!fetch(entry, log + at, sizeof(*entry)))
			break;
		size = entry->size;
		if (size < sizeof(*entry) || size > used - at || size & 7)
			break;
		if ((!armed || !entry->disarmed) && size <= room - copied) {
			if (!fetch(entry + 1, log + at + sizeof(*entry),
				   size - sizeof(*entry)))
				break;
			copied += size;
		}
		at += size;
	}
	return copied;
}

/* As many as fit into half of the room, so that there is some for records. */
static void sessions_save(struct pen *pen, const struct adopted *buffer)
{
	const struct ras_control *control =
		buffer_entry(buffer, RASTRACE_CONTROL, 0);
	size_t room = round_down((pen->size - pen->used) / 2, 8);
	struct ras_chunk *chunk = crash_file_chunk_begin(pen, room);
	size_t copied;
	u32 used;

	if (!fetch(&used, &control->sessions_used, sizeof(used)))
		used = 0;
	used = min_t(u32, used, RAS_SESSIONS_BYTES);
	copied = sessions_copy(buffer_entry(buffer, RASTRACE_SESSIONS, 0), used,
			       used > room, (u8 *)(chunk + 1), room);
	chunk_finish(chunk, RAS_CHUNK_SESSIONS, copied);
	pen->used -= room - copied;
}

/* ---- figures of the static tracepoints ---- */

static void crash_file_major_count(const struct adopted *buffer, u32 major,
				   struct ras_count_total *total)
{
	u32 slices = buffer->cpus * (1 + RAS_NEST_LEVELS);
	struct ras_count count;
	struct ras_why why;

	memset(total, 0, sizeof(*total));
	total->missed = RAS_MISSED_UNKNOWN;
	for (u32 i = 0; i < slices; i++) {
		if (!fetch(&count, buffer_entry(buffer, RASTRACE_COUNT,
						major * slices + i),
			   sizeof(count)))
			continue;
		total->recorded += count.recorded;
		total->dropped += count.dropped;
	}
	for (u32 i = 0; i < buffer->cpus; i++) {
		if (!fetch(&why, buffer_entry(buffer, RASTRACE_WHY,
					      major * buffer->cpus + i),
			   sizeof(why)))
			continue;
		for (size_t k = 0; k < sizeof(why) / sizeof(u64); k++)
			((u64 *)&total->why)[k] += ((const u64 *)&why)[k];
	}
}

/* Where they don't take too much of the room. */
static void counts_save(struct pen *pen, const struct adopted *buffer)
{
	struct ras_count_total *totals;
	size_t size = sizeof(struct ras_counts) +
		      RAS_STATIC_MAJORS * sizeof(*totals);
	struct ras_counts *counts;
	struct ras_chunk *chunk;

	if (!buffer->statics || size > (pen->size - pen->used) / 8)
		return;
	chunk = crash_file_chunk_begin(pen, size);
	counts = (void *)(chunk + 1);
	counts->session = RAS_STATIC_SESSION;
	counts->points = RAS_STATIC_MAJORS;
	totals = (void *)(counts + 1);
	for (u32 i = 0; i < RAS_STATIC_MAJORS; i++)
		crash_file_major_count(buffer, i, &totals[i]);
	chunk_finish(chunk, RAS_CHUNK_COUNTS, size);
}

/* ---- records ---- */

struct crash_file_row {
	const struct ras_slice *slice;
	u32 cpu, level;
	u64 bytes;		/* 2^k, of data */
	u64 first, head;	/* positions that are surely whole */
	u64 records, dropped;
};

static u64 slice_tail(const struct adopted *buffer, u32 row)
{
	const struct ras_control *control =
		buffer_entry(buffer, RASTRACE_CONTROL, 0);
	size_t rows = (buffer->parts[RASTRACE_CONTROL].stride -
		       sizeof(*control)) / sizeof(control->tail[0]);
	u64 tail;

	return row < rows && fetch(&tail, &control->tail[row], sizeof(tail)) ?
	       tail : 0;
}

static struct crash_file_row crash_file_row_read(const struct adopted *buffer,
						 u32 number)
{
	bool nest = number >= buffer->cpus;
	u32 index = nest ? number - buffer->cpus : number;
	struct crash_file_row row = {
		.slice = buffer_entry(buffer, nest ? RASTRACE_NEST :
				      RASTRACE_BUFFER, index),
		.cpu = nest ? index / RAS_NEST_LEVELS : index,
		.level = nest ? index % RAS_NEST_LEVELS + 1 : 0,
		.bytes = nest ? buffer->nest_bytes : buffer->slice_bytes,
	};
	u64 tail = slice_tail(buffer, number);
	struct ras_slice slice;

	if (!fetch(&slice, row.slice, sizeof(slice)))
		return row;
	row.head = round_down(slice.head, 8);
	row.first = clamp(round_down(tail, 8),
			  ras_slice_oldest(row.head, row.bytes), row.head);
	row.records = slice.records;
	row.dropped = slice.dropped;
	return row;
}

/* Bytes of the file that a slice would need. */
static u64 row_need(const struct crash_file_row *row)
{
	if (!row->head && !row->dropped)
		return 0;
	return AROUND + row->head - row->first;
}

/* The most that a slice may take so that all together have the room: who needs
 * less leaves the rest to the others. */
static u64 share_find(const struct adopted *buffer, u32 rows, u64 room)
{
	u64 low = 0, high = AROUND + buffer->slice_bytes;

	while (low < high) {
		u64 middle = high - (high - low) / 2, sum = 0;

		for (u32 i = 0; i < rows; i++) {
			struct crash_file_row row =
				crash_file_row_read(buffer, i);

			sum += min(row_need(&row), middle);
		}
		if (sum <= room)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The header of the record at a position, its length 0 when there is none, and
 * the bytes from there to where the next one may be. */
static size_t crash_file_record_read(const struct crash_file_row *row, u64 key,
				     u64 at, struct ras_record *record)
{
	u64 offset = at & (row->bytes - 1), left = row->head - at;
	const u8 *from = row->slice->data + offset;
	bool there = fetch(record, from, sizeof(*record));

	if (there && ras_record_valid(record, at, left, key))
		return ras_record_space(record->length);
	record->length = 0;
	if (there)
		return 8;
	/* a page takes one fault */
	return min3(left, row->bytes - offset,
		    (u64)(PAGE_SIZE - offset_in_page(from)));
}

/* What is no record becomes zeros; one may run into the slack after the data,
 * never around. */
static void records_copy(const struct crash_file_row *row, u64 key, u64 at,
			 u8 *to)
{
	struct ras_record record;
	size_t size;

	for (; at < row->head; at += size, to += size) {
		const u8 *from = row->slice->data + (at & (row->bytes - 1));

		size = crash_file_record_read(row, key, at, &record);
		if (record.length && fetch(to, from, size))
			memcpy(to, &record, sizeof(record));
		else
			memset(to, 0, size);
	}
}

static u64 crash_file_first_find(const struct crash_file_row *row, u64 key,
				 u64 at)
{
	struct ras_record record;

	while (at < row->head) {
		size_t size = crash_file_record_read(row, key, at, &record);

		if (record.length)
			break;
		at += size;
	}
	return at;
}

static void row_save(struct pen *pen, const struct crash_file_row *row, u64 key,
		     u64 share)
{
	struct ras_slice_copy *copy;
	struct ras_chunk *chunk;
	u64 need = row_need(row), first = row->first, room;

	if (!need || share < AROUND)
		return;
	room = round_down(share - AROUND, 8);
	if (row->head - first > room)
		first = row->head - room;
	first = crash_file_first_find(row, key, first);
	chunk = crash_file_chunk_begin(pen, sizeof(*copy) + row->head - first);
	if (!chunk)
		return;
	copy = (void *)(chunk + 1);
	copy->cpu = row->cpu;
	copy->level = row->level;
	copy->first = first;
	copy->head = row->head;
	copy->records = row->records;
	copy->dropped = row->dropped;
	records_copy(row, key, first, (u8 *)(copy + 1));
	chunk_finish(chunk, RAS_CHUNK_SLICE, sizeof(*copy) + row->head - first);
}

static void rows_save(struct pen *pen, const struct adopted *buffer)
{
	u32 rows = buffer->cpus * (1 + RAS_NEST_LEVELS);
	u64 share = share_find(buffer, rows, pen->size - pen->used);

	for (u32 i = 0; i < rows; i++) {
		struct crash_file_row row = crash_file_row_read(buffer, i);

		row_save(pen, &row, buffer->key, share);
	}
}

size_t crash_file_write(void *to, size_t size, const struct adopted *buffer,
			const struct crash_panic *panic)
{
	static struct adopted copy;
	struct pen pen = {
		.data = to, .size = size - sizeof(struct ras_chunk),
	};

	/* As adopted: it bounds what is read and for how long. */
	if (!fetch(&copy, buffer, sizeof(copy)) ||
	    !ras_geometry_valid(copy.slice_bytes, copy.nest_bytes, copy.cpus))
		return 0;
	crash_file_begin(&pen, &copy, panic);
	panic_save(&pen, panic);
	counts_save(&pen, &copy);
	sessions_save(&pen, &copy);
	rows_save(&pen, &copy);
	pen.size = size;
	chunk_finish(crash_file_chunk_begin(&pen, 0), RAS_CHUNK_END, 0);
	return pen.used;
}
