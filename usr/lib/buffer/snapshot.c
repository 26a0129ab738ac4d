// SPDX-License-Identifier: GPL-2.0
#include "snapshot.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "picture.h"
#include "picture_records.h"

/* Records of a chunk: damage is reported by chunk, and a reader has one
 * in memory at a time, so they are small. */
#define PIECE	(1u << 20)

static void snapshot_slices(struct chunk_out *out, const struct buffer *buffer)
{
	uint64_t key = buffer->control->key, size = buffer->control->slice_bytes;
	uint8_t *room;

	if (size < buffer->control->nest_bytes)
		size = buffer->control->nest_bytes;
	room = malloc(size);
	if (!room && !out->error)
		out->error = -ENOMEM;
	for (uint32_t row = 0; room && row < buffer->slices; row++) {
		struct ras_slice_copy place = picture_slice_place(buffer, row);
		const struct ras_slice *slice = buffer_slice(buffer, row, &size);
		struct ring ring;

		if (!__atomic_load_n(&slice->head, __ATOMIC_RELAXED) &&
		    !__atomic_load_n(&slice->dropped, __ATOMIC_RELAXED))
			continue;
		ring_copy(&ring, slice, size, key, buffer_tail(buffer, row),
			  room);
		picture_records(out, &place, &ring, key, PIECE);
	}
	free(room);
}

static void snapshot_processes(struct chunk_out *out,
			       const struct buffer *buffer,
			       const struct session_list *list)
{
	struct processes processes, none = { 0 };
	struct mappings_cache cache = { 0 };

	if (processes_read(&processes, buffer) && !out->error)
		out->error = -ENOMEM;
	picture_processes(out, &processes, &none, list, &cache);
	picture_kernel(out, list);
	mappings_cache_free(&cache);
	processes_free(&processes);
}

/* Figures first: the records may be ahead of them, never the reverse. */
static int picture_take(struct chunk_out *out, const char *run, bool bundle,
			struct error *err)
{
	struct session_list list;
	struct buffer buffer;
	int code = buffer_open(&buffer, run, false, err);

	if (code)
		return code;
	code = session_list_read(&list, &buffer, run, err);
	if (!code) {
		picture_header(out, &buffer);
		picture_sessions(out, &list);
		picture_counts(out, &buffer, &list);
		if (bundle)
			picture_formats(out, &list);
		snapshot_slices(out, &buffer);
		snapshot_processes(out, &buffer, &list);
		picture_end(out);
		session_list_free(&list);
		code = out->error;
		if (code)
			error_set(err, code, "no memory for a picture of the buffer");
	}
	buffer_close(&buffer);
	return code;
}

/* ---- in memory ---- */

int snapshot_take(const char *run, void **data, size_t *size,
		  struct error *err)
{
	struct chunk_memory memory = { 0 };
	struct chunk_out out = {
		.take = chunk_memory_take, .context = &memory,
	};
	int code = picture_take(&out, run, false, err);

	chunk_out_free(&out);
	*data = NULL;
	if (code) {
		free(memory.data);
		return code;
	}
	*data = memory.data;
	*size = memory.size;
	return 0;
}

/* ---- into a file ---- */

static int snapshot_file_take(void *context, const void *chunk, size_t size)
{
	outfile_write(context, chunk, size);
	return 0;
}

int snapshot_save(const char *run, struct outfile *file,
		  const struct snapshot_settings *settings, struct error *err)
{
	struct chunk_out out = {
		.take = snapshot_file_take,
		.context = file,
		.pack = settings->pack,
	};
	int code = picture_take(&out, run, settings->bundle, err);

	chunk_out_free(&out);
	if (code) {
		outfile_abort(file);
		return code;
	}
	return outfile_commit(file, err);
}
