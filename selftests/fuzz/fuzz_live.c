// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as the maps of a live buffer - session log, slices, who was traced:
 * the picture that is taken of it is a .ras file that is in order. The input:
 * struct input, then what log and slices begin with.
 */
#include "lib/buffer/picture.c"
#include "lib/formats/chunk.h"
#include "lib/read/trace_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CPUS		2
#define ROWS		(CPUS * (1 + RAS_NEST_LEVELS))
#define AROUND_SLICE	(RAS_SLICE_HEADER + RAS_RECORD_MAX)
#define NOWHERE		"/nonexistent"	/* pins */

struct input {
	uint32_t log;		/* bytes of the session log */
	uint8_t flags;		/* 1: packed, 2: the log is the second half */
	uint8_t processes;
	uint8_t reserved[2];
	uint64_t heads[ROWS], tails[ROWS];
};

static void view_make(struct buffer_view *view, size_t stride, size_t entries)
{
	view->fd = -1;
	view->stride = stride;
	view->size = stride * entries;
	view->base = calloc(1, view->size);
	if (!view->base)
		abort();
}

static void slices_fill(struct buffer *buffer, const struct input *input,
			const uint8_t *data, size_t size)
{
	for (uint32_t row = 0; row < ROWS; row++) {
		uint64_t bytes;
		struct ras_slice *slice =
			(void *)buffer_slice(buffer, row, &bytes);
		size_t room = bytes + RAS_RECORD_MAX;

		slice->head = input->heads[row];
		slice->dropped = row;
		memcpy(slice->data, data, size < room ? size : room);
		buffer->control->tail[row] = input->tails[row];
	}
}

static void buffer_make(struct buffer *buffer, const struct input *input,
			const uint8_t *data, size_t size)
{
	size_t half = input->flags & 2 ? size / 2 : 0;

	*buffer = (struct buffer){
		.slices = ROWS, .processes_fd = -1, .device_fd = -1,
	};
	view_make(&buffer->control_view,
		  sizeof(*buffer->control) + 8 * ROWS, 1);
	view_make(&buffer->sessions_view, RAS_SESSIONS_BYTES, 1);
	view_make(&buffer->main_view, RAS_SLICE_MIN + AROUND_SLICE, CPUS);
	view_make(&buffer->nest_view, RAS_NEST_BYTES + AROUND_SLICE,
		  CPUS * RAS_NEST_LEVELS);
	buffer->control = buffer->control_view.base;
	*buffer->control = (struct ras_control){
		.magic = RAS_CONTROL_MAGIC, .layout = RAS_LAYOUT,
		.slice_bytes = RAS_SLICE_MIN, .nest_bytes = RAS_NEST_BYTES,
		.cpus = CPUS, .nest_levels = RAS_NEST_LEVELS,
		.key = 0x1122334455667788, .sessions_used = input->log,
	};
	memcpy(buffer->sessions_view.base, data + half,
	       size - half < RAS_SESSIONS_BYTES ? size - half :
						  RAS_SESSIONS_BYTES);
	slices_fill(buffer, input, data, size);
}

static void buffer_drop(struct buffer *buffer)
{
	free(buffer->control_view.base);
	free(buffer->sessions_view.base);
	free(buffer->main_view.base);
	free(buffer->nest_view.base);
}

/* As picture_take() does it, but for what a kernel has. */
static void picture_make(struct chunk_out *out, const struct buffer *buffer,
			 const struct ras_process_entry *entries, size_t count)
{
	struct processes processes = { (void *)entries, count }, none = { 0 };
	struct picture_names names = { 0 };
	struct session_list list;

	if (session_list_read(&list, buffer, NOWHERE, NULL))
		abort();
	picture_header(out, buffer);
	picture_sessions(out, &list);
	picture_counts(out, buffer, &list);
	snapshot_slices(out, buffer, &list, &names);
	picture_processes(out, &processes, &none, &list, NULL, &names);
	picture_names_write(&names, out);
	picture_names_free(&names);
	picture_end(out);
	session_list_free(&list);
}

static void file_check(void *data, size_t size)
{
	struct trace_file trace;
	struct error err;

	if (trace_file_open_memory(&trace, data, size, "fuzz", &err))
		abort();
	while (trace_file_more(&trace) > 0)
		;
	for (size_t i = 0; i < trace.slices.count; i++)
		while (slices_next(&trace.slices, trace.slices.items[i],
				   trace.header.key))
			;
	for (size_t i = 0; i < trace.damage.count && i < DAMAGE_LINES; i++)
		if (strstr(trace.damage.lines[i], "chunk") ||
		    strstr(trace.damage.lines[i], "checksum") ||
		    strstr(trace.damage.lines[i], "cut short"))
			abort();
	trace_file_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ras_process_entry entries[8] = { 0 };
	struct chunk_memory memory = { 0 };
	struct chunk_out out = {
		.take = chunk_memory_take, .context = &memory,
	};
	struct buffer buffer;
	struct input input;

	if (size < sizeof(input))
		return 0;
	memcpy(&input, data, sizeof(input));
	data += sizeof(input);
	size -= sizeof(input);
	memcpy(entries, data, size < sizeof(entries) ? size : sizeof(entries));
	out.pack = input.flags & 1 ? pack_method_find("zlib", NULL) : 0;
	buffer_make(&buffer, &input, data, size);
	picture_make(&out, &buffer, entries, input.processes % 9);
	if (out.error)
		abort();
	file_check(memory.data, memory.size);
	chunk_out_free(&out);
	buffer_drop(&buffer);
	return 0;
}
