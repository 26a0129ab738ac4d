// SPDX-License-Identifier: GPL-2.0
#include "vmcore_picture.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tdf.h>
#include "lib/buffer/picture_records.h"
#include "lib/buffer/session.h"
#include "vmcore.h"

#define UTS_LENGTH	65	/* of a member of struct new_utsname */
#define UTS_NODENAME	1
#define UTS_RELEASE	2
#define IMAGE_MAX	(256u << 20)	/* bytes of the kernel's image */
#define TASKS_MAX	(1u << 20)	/* each takes a page, or nearly */
#define AROUND		(RAS_SLICE_HEADER + RAS_RECORD_MAX)
/* Page tables may name a page any number of times: slices have no more bytes than
 * that many times the dump, which may be cut short. */
#define SLICES_MOST	4

struct vmcore_source {
	struct vmcore *core;
	struct ras_anchor anchor;
	struct ras_control control;
	struct buffer buffer;		/* control and slices only */
	struct vmcore_losses *losses;
	uint64_t newest;		/* time of a record */
	uint64_t left;			/* bytes that more slices may have */
	uint8_t *slice, *room;
};

static const struct ras_anchor_part *part_of(const struct vmcore_source *source,
					     int part)
{
	return &source->anchor.parts[part];
}

static bool vmcore_part_fits(const struct vmcore_source *source, int part,
			     uint64_t entries, uint64_t bytes)
{
	const struct ras_anchor_part *p = part_of(source, part);

	return p->base && p->entries == entries && p->stride == bytes;
}

/* Was all of it there? What wasn't becomes zeros. */
static bool vmcore_memory_read(struct vmcore_source *source, uint64_t address,
			       void *to, size_t size)
{
	return vmcore_read(source->core, address, to, size) == size;
}

/* Entry `index` of a part, without its first `skip` bytes. */
static bool vmcore_part_read(struct vmcore_source *source, int part,
				uint64_t index, uint64_t skip, void *to,
				size_t size)
{
	const struct ras_anchor_part *p = part_of(source, part);

	return vmcore_memory_read(source, p->base + index * p->stride + skip,
				  to, size);
}

/* What reading it takes; a buffer that is adopted has narrower bounds
 * (ras_geometry_valid()), which a dump needn't have. */
static bool control_fits(const struct vmcore_source *source)
{
	const struct ras_control *c = &source->control;
	uint64_t nest = (uint64_t)c->cpus * c->nest_levels;

	return c->magic == RAS_CONTROL_MAGIC && c->layout == RAS_LAYOUT &&
	       __builtin_popcountll(c->slice_bytes) == 1 &&
	       __builtin_popcountll(c->nest_bytes) == 1 &&
	       c->slice_bytes <= RAS_SLICE_MAX &&
	       c->nest_bytes <= c->slice_bytes &&
	       c->nest_bytes >= 2 * RAS_RECORD_MAX && c->cpus &&
	       c->cpus <= RAS_CPUS_MAX && c->nest_levels == RAS_NEST_LEVELS &&
	       vmcore_part_fits(source, RASTRACE_CONTROL, 1,
				sizeof(*c) + 8 * (c->cpus + nest)) &&
	       vmcore_part_fits(source, RASTRACE_BUFFER, c->cpus,
				c->slice_bytes + AROUND) &&
	       vmcore_part_fits(source, RASTRACE_NEST, nest,
				c->nest_bytes + AROUND) &&
	       vmcore_part_fits(source, RASTRACE_SESSIONS, 1,
				RAS_SESSIONS_BYTES);
}

static int vmcore_source_open(struct vmcore_source *source, const char *path,
			      struct error *err)
{
	struct ras_control *c = &source->control;

	if (!vmcore_part_read(source, RASTRACE_CONTROL, 0, 0, c, sizeof(*c)))
		return error_set(err, -ENODATA,
				 "the buffer's control block isn't in '%s'",
				 path);
	if (!control_fits(source))
		return error_set(err, -EINVAL,
				 "the buffer's control block in '%s' is damaged",
				 path);
	source->left = SLICES_MOST * DUMP_PAGE * source->core->dump.pages;
	source->buffer.control = c;
	source->buffer.slices = c->cpus * (1 + c->nest_levels);
	source->slice = malloc(c->slice_bytes + AROUND);
	source->room = malloc(c->slice_bytes);
	if (source->slice && source->room)
		return 0;
	return error_no_memory(err);
}

/* ---- what comes before the records ---- */

static void uts_read(struct vmcore_source *source, int member, char *to)
{
	if (source->anchor.uts)
		vmcore_read(source->core,
			    source->anchor.uts + member * UTS_LENGTH, to,
			    UTS_LENGTH - 1);
}

static void header_write(struct vmcore_source *source, struct chunk_out *out)
{
	struct ras_file file = {
		.machine = source->core->dump.machine,
		.cpus = source->control.cpus,
		.key = source->control.key,
		.slice_bytes = source->control.slice_bytes,
	};
	uint64_t seconds;

	/* Neither kdump nor a stop from outside the machine runs notifiers. */
	file.wall_offset = source->control.wall_offset;
	file.taken = source->newest;
	if (source->anchor.panicked) {
		file.wall_offset = source->anchor.wall_offset;
		file.taken = source->anchor.panicked;
	} else if (dump_info_number(&source->core->dump, "CRASHTIME", 10,
				    &seconds)) {
		file.taken = seconds * 1000000000 - file.wall_offset;
	}

	uts_read(source, UTS_NODENAME, file.host);
	uts_read(source, UTS_RELEASE, file.kernel);
	if (!file.kernel[0])
		dump_info_text(&source->core->dump, "OSRELEASE", file.kernel,
			       sizeof(file.kernel));
	chunk_file_begin(out, &file);
}

/* ---- counts of the static tracepoints ---- */

static void vmcore_counts_write(struct vmcore_source *source,
				struct chunk_out *out)
{
	struct ras_counts head = { RAS_STATIC_SESSION, RAS_STATIC_MAJORS };
	uint64_t slices = source->buffer.slices, cpus = source->control.cpus;
	struct ras_count count;
	struct ras_why why;

	if (!vmcore_part_fits(source, RASTRACE_COUNT,
			      RAS_STATIC_MAJORS * slices,
			      sizeof(struct ras_count)) ||
	    !vmcore_part_fits(source, RASTRACE_WHY, RAS_STATIC_MAJORS * cpus,
			      sizeof(struct ras_why)))
		return;
	chunk_begin(out);
	chunk_add(out, &head, sizeof(head));
	for (unsigned int i = 0; i < RAS_STATIC_MAJORS; i++) {
		struct ras_count_total total = { .missed = RAS_MISSED_UNKNOWN };

		for (uint32_t k = 0; k < slices; k++) {
			vmcore_part_read(source, RASTRACE_COUNT, i * slices + k,
					 0, &count, sizeof(count));
			total.recorded += count.recorded;
			total.dropped += count.dropped;
		}
		for (uint32_t k = 0; k < cpus; k++) {
			vmcore_part_read(source, RASTRACE_WHY, i * cpus + k, 0,
					 &why, sizeof(why));
			session_why_add(&total.why, &why);
		}
		chunk_add(out, &total, sizeof(total));
	}
	chunk_end(out, RAS_CHUNK_COUNTS);
}

/* ---- records ---- */

/* A slice into source->slice as far as it was written; one that was never used
 * may have been left out of the dump. */
static bool slice_read(struct vmcore_source *source, int part, uint32_t index,
		       uint64_t bytes)
{
	struct ras_slice *slice = (struct ras_slice *)source->slice;
	uint64_t used;

	vmcore_part_read(source, part, index, 0, slice, RAS_SLICE_HEADER);
	if (!slice->head)
		return slice->dropped;
	used = slice->head < bytes ? slice->head : bytes;
	if (slice->head & 7 || used > source->left) {
		source->losses->slices++;
		return false;
	}
	source->left -= used;
	/* what is after the ring belongs to the record at its end */
	vmcore_part_read(source, part, index, RAS_SLICE_HEADER, slice->data,
			 used < bytes ? used : used + RAS_RECORD_MAX);
	return true;
}

static void newest_take(struct vmcore_source *source, const struct ring *ring)
{
	struct ring_walk walk = { .position = ring->first };
	const struct ras_record *record;

	while ((record = ring_next(ring, source->control.key, &walk)))
		if (record->time > source->newest)
			source->newest = record->time;
}

static void vmcore_slice_write(struct vmcore_source *source,
			       struct chunk_out *out, uint32_t row)
{
	const struct ras_control *c = &source->control;
	bool nest = row >= c->cpus;
	uint64_t bytes = nest ? c->nest_bytes : c->slice_bytes, tail = 0;
	struct ras_slice_copy place = picture_slice_place(&source->buffer, row);
	struct ring ring;

	if (!slice_read(source, nest ? RASTRACE_NEST : RASTRACE_BUFFER,
			nest ? row - c->cpus : row, bytes))
		return;
	vmcore_part_read(source, RASTRACE_CONTROL, 0,
			    sizeof(*c) + row * sizeof(tail), &tail,
			    sizeof(tail));
	ring_copy(&ring, (const void *)source->slice, bytes, c->key,
		  tail & ~7ULL, source->room);
	newest_take(source, &ring);
	picture_records(out, &place, &ring, c->key, SIZE_MAX);
}

/* ---- processes ---- */

/* False: it isn't in the dump. */
static bool process_read(struct vmcore_source *source, uint64_t task,
			 struct ras_process_entry *entry)
{
	const struct ras_anchor_tasks *t = &source->anchor.tasks;

	*entry = (struct ras_process_entry){ 0 };
	return vmcore_memory_read(source, task + t->pid, &entry->key.pid,
				  sizeof(entry->key.pid)) &&
	       vmcore_memory_read(source, task + t->started,
				  &entry->process.seen,
				  sizeof(entry->process.seen)) &&
	       vmcore_memory_read(source, task + t->comm, entry->process.comm,
				  sizeof(entry->process.comm));
}

static void vmcore_processes_write(struct vmcore_source *source,
				   struct chunk_out *out)
{
	const struct ras_anchor_tasks *t = &source->anchor.tasks;
	struct ras_process_entry entry;
	uint64_t task = t->first, next, most = source->core->dump.pages;

	if (!task)
		return;
	if (most > TASKS_MAX)
		most = TASKS_MAX;
	chunk_begin(out);
	for (uint64_t i = 0; i < most; i++) {
		if (process_read(source, task, &entry))
			chunk_add(out, &entry, sizeof(entry));
		if (!vmcore_memory_read(source, task + t->next, &next,
					sizeof(next)))
			break;
		task = next - t->next;
		if (task == t->first)
			break;
	}
	chunk_end(out, RAS_CHUNK_PROCESSES);
}

/* ---- the kernel ---- */

static void build_id_read(const struct dump *dump, struct ras_mapping *mapping)
{
	char text[2 * sizeof(mapping->id) + 1];
	size_t n = 0;

	dump_info_text(dump, "BUILD-ID", text, sizeof(text));
	while (n < strlen(text) / 2 &&
	       sscanf(text + 2 * n, "%2hhx", &mapping->id[n]) == 1)
		n++;
	mapping->id_length = n;
	mapping->id_kind = n ? TDF_ID_BUILD : TDF_ID_NONE;
}

/* Its image, from its text on: names of addresses in it. */
static void kernel_write(struct vmcore_source *source, struct chunk_out *out)
{
	const struct dump *dump = &source->core->dump;
	struct ras_maps head = { .mappings = 1, .comm = "kernel" };
	struct ras_mapping mapping = { .path = "vmlinux" };
	uint64_t start;

	if (!dump_info_number(dump, "SYMBOL(_stext)", 16, &start))
		return;
	mapping.start = start;
	mapping.end = start + vmcore_mapped(source->core, start, IMAGE_MAX);
	if (mapping.end <= mapping.start)
		return;
	build_id_read(dump, &mapping);
	chunk_begin(out);
	chunk_add(out, &head, sizeof(head));
	chunk_add(out, &mapping, sizeof(mapping));
	chunk_end(out, RAS_CHUNK_MAPS);
}

/* ---- */

static void chunks_write(struct vmcore_source *source, struct chunk_out *out)
{
	struct ras_panic panic = { .time = source->anchor.panicked };
	struct chunk_memory header = { 0 };
	struct chunk_memory *memory = out->context;
	uint32_t used;
	void *log;

	/* once more when it is known when */
	header_write(source, out);
	used = source->control.sessions_used;
	if (used > RAS_SESSIONS_BYTES)
		used = RAS_SESSIONS_BYTES;
	chunk_begin(out);
	log = chunk_room(out, used);
	if (log)
		vmcore_part_read(source, RASTRACE_SESSIONS, 0, 0, log, used);
	chunk_end(out, RAS_CHUNK_SESSIONS);
	vmcore_counts_write(source, out);
	for (uint32_t row = 0; row < source->buffer.slices; row++)
		vmcore_slice_write(source, out, row);
	vmcore_processes_write(source, out);
	kernel_write(source, out);
	if (panic.time) {
		memcpy(panic.reason, source->anchor.reason,
		       sizeof(panic.reason) - 1);
		chunk_begin(out);
		chunk_add(out, &panic, sizeof(panic));
		chunk_end(out, RAS_CHUNK_PANIC);
	}
	picture_end(out);
	if (out->error)
		return;
	out->context = &header;
	header_write(source, out);
	if (!out->error)
		memcpy(memory->data, header.data, header.size);
	free(header.data);
}

int vmcore_picture_take(const char *path, struct chunk_memory *memory,
			struct vmcore_losses *losses, struct error *err)
{
	struct chunk_out out = { .take = chunk_memory_take, .context = memory };
	struct vmcore_source source = { .losses = losses };
	int code = vmcore_open(&source.core, path, err);

	*losses = (struct vmcore_losses){ 0 };
	if (code)
		return code;
	code = vmcore_anchor_find(source.core, &source.anchor, path, err);
	if (!code)
		code = vmcore_source_open(&source, path, err);
	if (!code) {
		chunks_write(&source, &out);
		code = out.error;
		if (code)
			error_set(err, code, "no memory for what is in '%s'",
				  path);
	}
	chunk_out_free(&out);
	free(source.slice);
	free(source.room);
	losses->cut = source.core->dump.cut;
	losses->damaged = source.core->dump.damaged;
	vmcore_close(source.core);
	return code;
}
