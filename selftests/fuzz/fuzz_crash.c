// SPDX-License-Identifier: GPL-2.0
/*
 * What a panicking kernel writes (kmod/crash_file.c), of a buffer with anything
 * in it and into any room: it stays inside of both, and the file's chunks are
 * whole. The input: struct input, then what the session log and the slices
 * begin with.
 */
#include "kernel/kernel.h"
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include "kmod/crash_file.c"
#include "lib/read/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY		0x1122334455667788ULL
#define CPUS		2
#define ROWS		(CPUS * (1 + RAS_NEST_LEVELS))
#define AROUND_SLICE	(RAS_SLICE_HEADER + RAS_RECORD_MAX)

struct input {
	uint32_t room;		/* for the file */
	uint32_t log;		/* bytes of the session log */
	uint32_t statics;
	uint32_t hole;		/* a part and its page; 0: none */
	uint64_t heads[ROWS], tails[ROWS];
};

static void part_make(struct adopted *buffer, int part, uint64_t stride,
		      uint32_t entries)
{
	buffer->parts[part] = (struct buffer_part){
		.base = calloc(entries, stride), .stride = stride,
		.entries = entries,
	};
	if (!buffer->parts[part].base)
		abort();
}

static void slice_fill(const struct adopted *buffer, uint32_t row,
		       const struct input *input, const uint8_t *data,
		       size_t size)
{
	bool nest = row >= CPUS;
	struct ras_slice *slice =
		buffer_entry(buffer, nest ? RASTRACE_NEST : RASTRACE_BUFFER,
			     nest ? row - CPUS : row);
	size_t room = (nest ? buffer->nest_bytes : buffer->slice_bytes) +
		      RAS_RECORD_MAX;

	slice->head = input->heads[row];
	slice->records = input->heads[row] / 64;
	memcpy(slice->data, data, size < room ? size : room);
}

static void buffer_make(struct adopted *buffer, const struct input *input,
			const uint8_t *data, size_t size)
{
	struct ras_control *control;

	*buffer = (struct adopted){
		.key = KEY, .slice_bytes = RAS_SLICE_MIN,
		.nest_bytes = RAS_NEST_BYTES, .cpus = CPUS,
		.statics = input->statics & 1,
	};
	part_make(buffer, RASTRACE_CONTROL, sizeof(*control) + 8 * ROWS, 1);
	part_make(buffer, RASTRACE_BUFFER, RAS_SLICE_MIN + AROUND_SLICE, CPUS);
	part_make(buffer, RASTRACE_NEST, RAS_NEST_BYTES + AROUND_SLICE,
		  CPUS * RAS_NEST_LEVELS);
	part_make(buffer, RASTRACE_SESSIONS, RAS_SESSIONS_BYTES, 1);
	part_make(buffer, RASTRACE_COUNT, sizeof(struct ras_count),
		  RAS_STATIC_MAJORS * ROWS);
	part_make(buffer, RASTRACE_WHY, sizeof(struct ras_why),
		  RAS_STATIC_MAJORS * CPUS);
	control = buffer_entry(buffer, RASTRACE_CONTROL, 0);
	control->sessions_used = input->log;
	memcpy(control->tail, input->tails, sizeof(input->tails));
	memcpy(buffer_entry(buffer, RASTRACE_SESSIONS, 0), data, size);
	for (uint32_t row = 0; row < ROWS; row++)
		slice_fill(buffer, row, input, data, size);
}

/* A page that isn't mapped any more; only what survives a fault may read it. */
static void hole_make(const struct adopted *buffer, const struct input *input)
{
	const struct buffer_part *part =
		&buffer->parts[input->hole % RASTRACE_MAJORS];
	size_t pages = part->stride * part->entries / PAGE_SIZE;

	kernel_hole.start = kernel_hole.end = NULL;
	if (!input->hole || !pages)
		return;
	kernel_hole.start = (uint8_t *)part->base +
			    input->hole / RASTRACE_MAJORS % pages * PAGE_SIZE;
	kernel_hole.end = kernel_hole.start + PAGE_SIZE;
	ASAN_POISON_MEMORY_REGION(kernel_hole.start, PAGE_SIZE);
}

static void file_check(void *file, size_t size)
{
	struct trace_file trace;
	struct error err;

	if (trace_file_open_memory(&trace, file, size, "fuzz", &err))
		abort();
	while (trace_file_more(&trace) > 0)
		;
	for (size_t i = 0; i < trace.slices.count; i++)
		while (slices_next(&trace.slices, trace.slices.items[i],
				   trace.header.key))
			;
	if (!trace.panicked || strcmp(trace.panic.reason, "fuzzed"))
		abort();
	for (size_t i = 0; i < trace.damage.count && i < DAMAGE_LINES; i++)
		if (strstr(trace.damage.lines[i], "chunk") ||
		    strstr(trace.damage.lines[i], "checksum") ||
		    strstr(trace.damage.lines[i], "cut short"))
			abort();
	trace_file_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct crash_panic panic = {
		.time = 1000, .reason = "fuzzed",
	};
	struct adopted buffer;
	struct input input;
	size_t room, length;
	void *file;

	if (size < sizeof(input))
		return 0;
	memcpy(&input, data, sizeof(input));
	buffer_make(&buffer, &input, data + sizeof(input),
		    size - sizeof(input));
	room = CRASH_FILE_LEAST + input.room % (1u << 20);
	file = malloc(room);
	if (!file)
		abort();
	hole_make(&buffer, &input);
	length = crash_file_write(file, room, &buffer, &panic);
	ASAN_UNPOISON_MEMORY_REGION(kernel_hole.start,
				    kernel_hole.end - kernel_hole.start);
	if (length > room)
		abort();
	file_check(file, length);
	for (int i = 0; i < RASTRACE_PARTS; i++)
		free(buffer.parts[i].base);
	return 0;
}
