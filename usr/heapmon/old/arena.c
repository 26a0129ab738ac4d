// SPDX-License-Identifier: GPL-2.0
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#define BINS		127
#define BINMAP		16		/* bytes */
#define DATA_MOST	(64u << 20)	/* bytes that are searched at a time */

struct data {
	const struct old_process *process;
	uint64_t start, size;
	uint8_t *bytes;
};

static uint64_t data_word(const struct data *data, uint64_t offset)
{
	return old_word(data->process, data->bytes + offset);
}

/* A bin is the links of a chunk that isn't there, two words in front of it. */
static uint64_t bin_itself(const struct data *data, uint64_t offset)
{
	return data->start + offset - chunk_head(data->process);
}

static bool bin_empty(const struct data *data, uint64_t offset)
{
	uint64_t itself = bin_itself(data, offset);

	return data_word(data, offset) == itself &&
	       data_word(data, offset + data->process->word) == itself;
}

/* ... or its first chunk leads back to it. */
static bool bin_is(const struct data *data, uint64_t offset)
{
	uint64_t first, back, itself = bin_itself(data, offset);

	if (bin_empty(data, offset))
		return true;
	first = data_word(data, offset);
	return first && !(first % data->process->word) &&
	       old_process_word(data->process,
				first + 3 * data->process->word, &back) &&
	       back == itself;
}

static bool bins_are(const struct data *data, uint64_t offset)
{
	unsigned int bytes = 2 * data->process->word;

	if (data->size - offset < BINS * bytes + BINMAP + 5 * data->process->word)
		return false;
	for (unsigned int i = 0; i < BINS; i++)
		if (!bin_is(data, offset + i * bytes))
			return false;
	return true;
}

/* The bin at `offset` is empty: is it one of all? */
static bool bins_around(const struct data *data, uint64_t offset,
			uint64_t *first)
{
	unsigned int bytes = 2 * data->process->word;

	for (unsigned int i = 0; i < BINS; i++) {
		if (offset < (i + 4ull) * bytes)
			break;
		*first = offset - i * bytes;
		if (bins_are(data, *first))
			return true;
	}
	return false;
}

static bool bins_find(const struct data *data, uint64_t *first)
{
	unsigned int word = data->process->word;

	for (uint64_t at = 0; at + 2 * word <= data->size; at += word)
		if (bin_empty(data, at) && bins_around(data, at, first))
			return true;
	return false;
}

/* ---- the fields around the bins ---- */

static void layout_make(struct old_arena_layout *layout, unsigned int bins,
			unsigned int word)
{
	unsigned int fastbins = word == 8 ? 10 : 11;

	layout->bins = bins;
	layout->top = bins - 2 * word;
	if (layout->top < 8 + fastbins * word)
		fastbins = 0;
	layout->fastbin_count = fastbins;
	layout->fastbins = layout->top - fastbins * word;
	layout->next = bins + BINS * 2 * word + BINMAP;
	layout->system = layout->next + 3 * word;
	layout->size = layout->next + 5 * word;
}

uint64_t old_arena_next(const struct old_arena *arena,
			const struct old_process *process, uint64_t at)
{
	uint64_t next;

	if (!old_process_word(process, at + arena->layout.next, &next))
		return 0;
	return next;
}

/* What is in front of the bins depends on the version; the arena begins where
 * the ring of arenas says so. */
static bool arena_begin(struct old_arena *arena,
			const struct old_process *process, uint64_t bins)
{
	unsigned int word = process->word;
	uint64_t at;
	uint64_t before;

	for (unsigned int n = 3; n <= 32; n++) {
		layout_make(&arena->layout, n * word, word);
		arena->main = bins - n * word;

		/* Back to where it began, and not only to somewhere on the way?
		 */
		at = arena->main;
		before = 0;
		for (unsigned int i = 0; at && at != before && i < ARENAS_MOST;
		     i++) {
			if (!(i & (i - 1)))
				before = at;
			at = old_arena_next(arena, process, at);
			if (at == arena->main)
				return true;
		}
	}
	return false;
}

int old_arena_find(struct old_arena *arena, const struct old_process *process,
		   struct error *err)
{
	size_t i = arena->data ? arena->data - process->regions + 1 : 0;
	struct data data;
	uint64_t first;

	for (; i < process->count; i++) {
		const struct old_region *region = &process->regions[i];
		uint8_t *bytes;
		bool found;

		if (!region->writable || !region->file ||
		    region->end - region->start > DATA_MOST)
			continue;
		bytes = malloc(region->end - region->start);
		if (!bytes)
			return error_no_memory(err);
		data = (struct data){
			.process = process,
			.bytes = bytes,
			.start = region->start,
			.size = region->end - region->start,
		};

		found = old_process_read(process, data.start, bytes,
					 data.size) &&
			bins_find(&data, &first) &&
			arena_begin(arena, process, data.start + first);
		free(bytes);
		if (!found)
			continue;
		arena->data = region;
		return 1;
	}
	return 0;
}

unsigned int old_arena_locks(const struct old_arena *arena,
			     const struct old_process *process)
{
	unsigned int locks = 0;
	uint64_t at = arena->main;
	uint32_t lock;

	for (unsigned int i = 0; at && i < ARENAS_MOST; i++) {
		if (old_process_read(process, at, &lock, sizeof(lock)))
			locks += lock != 0;
		at = old_arena_next(arena, process, at);
		if (at == arena->main)
			break;
	}
	return locks;
}
