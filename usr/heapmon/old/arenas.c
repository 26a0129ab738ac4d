// SPDX-License-Identifier: GPL-2.0
/*
 * The arenas of glibc's allocator (malloc/malloc.c, struct malloc_state;
 * malloc/arena.c), found without symbols: an empty bin leads to itself, and there
 * are 127 in a row in the data of libc, or of a static program. An arena's
 * memory: for the main one what sbrk gave, and mappings where it gave nothing;
 * for a thread's a list of heaps (struct heap_info), each at a multiple of its
 * greatest size.
 */
#include "arenas.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BINS		127
#define BINMAP		16		/* bytes */
#define PAGE		4096
#define HEAPS_MOST	65536
#define VAIN_MOST	64	/* times the chunks that a region has room
				 * for: so many are gone through */
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

/* The next one in the ring; 0: it can't be read. */
static uint64_t arena_link(const struct old_arena *arena, uint64_t at)
{
	uint64_t next;

	return old_process_word(arena->process, at + arena->layout.next, &next) ?
	       next : 0;
}

uint64_t old_arena_next(const struct old_arena *arena, uint64_t at)
{
	uint64_t next = arena_link(arena, at);

	return next == arena->main ? 0 : next;
}

/* What is in front of the bins depends on the version; the arena begins where
 * the ring of arenas says so. */
static bool arena_begin(struct old_arena *arena, uint64_t bins)
{
	unsigned int word = arena->process->word;

	for (unsigned int n = 3; n <= 32; n++) {
		uint64_t at = bins - n * word, before = 0;

		layout_make(&arena->layout, n * word, word);
		arena->main = at;
		/* Back to where it began, and not only to somewhere on the way? */
		for (unsigned int i = 0; at && at != before && i < ARENAS_MOST;
		     i++) {
			if (!(i & (i - 1)))
				before = at;
			at = arena_link(arena, at);
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
	uint64_t first;

	arena->process = process;
	for (; i < process->count; i++) {
		const struct old_region *region = &process->regions[i];
		struct data data = {
			.process = process, .start = region->start,
			.size = region->end - region->start,
		};
		bool found;

		if (!region->writable || !region->file || data.size > DATA_MOST)
			continue;
		data.bytes = malloc(data.size);
		if (!data.bytes)
			return error_no_memory(err);
		found = old_process_read(process, data.start, data.bytes,
					 data.size) &&
			bins_find(&data, &first) &&
			arena_begin(arena, data.start + first);
		free(data.bytes);
		if (!found)
			continue;
		arena->data = region;
		return 1;
	}
	return 0;
}

unsigned int old_arena_locks(const struct old_arena *arena)
{
	unsigned int locks = 0, i = 0;
	uint32_t lock;

	for (uint64_t at = arena->main; at && i < ARENAS_MOST;
	     at = old_arena_next(arena, at), i++)
		if (old_process_read(arena->process, at, &lock, sizeof(lock)))
			locks += lock != 0;
	return locks;
}

static int broken(struct error *err, uint64_t at)
{
	return error_set(err, -EILSEQ, "the heap at 0x%" PRIx64
			 " isn't one of glibc's, or is damaged", at);
}

/* ---- the main arena ---- */

/*
 * Walk all spans in a region, trying every `step` bytes: what lies in front of
 * the arena's memory and between its parts is the program's own, or ld.so's.
 */
struct found {
	uint64_t start, end;	/* of the first, of the last */
	uint64_t bytes;		/* of all */
};

static struct found region_walk(struct old_chunks *chunks,
				const struct old_region *region, uint64_t top,
				unsigned int step)
{
	struct found found = { .start = UINT64_MAX };
	uint64_t at = region->start, end;
	uint64_t most = chunks->steps + VAIN_MOST *
			((region->end - region->start) / CHUNK_ALIGN);

	while (at < region->end && chunks->steps <= most) {
		uint64_t start = chunk_align(chunks->process, at);
		const struct old_span *span = old_chunks_span(chunks, start);

		if (span) {
			end = span->end;
		} else if (old_chunks_walk(chunks, start, region->end, top, 0,
					   &end)) {
			found.bytes += end - start;
			if (start < found.start)
				found.start = start;
			found.end = end;
		} else {
			end = at + step;
		}
		at = (end + step - 1) & -(uint64_t)step;
	}
	return found;
}

/* Where sbrk gave nothing: mappings, each of them whole pages. */
static uint64_t mappings_walk(struct old_chunks *chunks, uint64_t top,
			      uint64_t missing)
{
	const struct old_process *process = chunks->process;
	const struct old_region *region = old_process_region(process, top);
	uint64_t found = 0;

	if (region && region->anonymous)
		found = region_walk(chunks, region, top, PAGE).bytes;
	for (size_t i = 0; i < process->count && found < missing; i++) {
		const struct old_region *other = &process->regions[i];

		if (other->anonymous && other->writable && other != region)
			found += region_walk(chunks, other, top, PAGE).bytes;
	}
	return found;
}

static int main_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		     const struct old_arena *arena, struct error *err)
{
	const struct old_process *process = arena->process;
	const struct old_region *brk = old_process_heap(process);
	uint64_t main = arena->main, top, size, bytes = 0;
	struct found found = { 0 };

	if (!old_process_word(process, main + arena->layout.top, &top) ||
	    !old_process_word(process, main + arena->layout.system, &size))
		return broken(err, main);
	if (top == main + arena->layout.top)
		return 0;	/* nothing was ever asked of it */
	/* The memory of sbrk, with what others have of it between its parts: that
	 * counts as the arena's. */
	if (brk)
		found = region_walk(chunks, brk, top, CHUNK_ALIGN);
	if (found.bytes)
		bytes = found.end - found.start;
	if (bytes + PAGE < size)
		bytes += mappings_walk(chunks, top, size - bytes);
	if (bytes + PAGE < size || !old_chunks_span(chunks, top))
		return broken(err, main);
	if (!heaps->main)
		heaps->main = found.start;
	return 0;
}

/* ---- an arena of threads ---- */

/* From its heap_info: the arena, the heap before it, how many bytes. A list that
 * is damaged may come back to where it was. */
static bool heap_walk(struct old_chunks *chunks, const struct old_arena *arena,
		      uint64_t at, uint64_t heap, uint64_t most, uint64_t top,
		      uint64_t *before)
{
	const struct old_process *process = arena->process;
	uint64_t lead = at & (most - 1), of, size, end;
	uint64_t first = chunk_align(process, at - lead == heap ?
				     at + arena->layout.size : heap + lead);

	return old_process_word(process, heap, &of) && of == at &&
	       old_process_word(process, heap + process->word, before) &&
	       old_process_word(process, heap + 2 * process->word, &size) &&
	       size <= most && !old_chunks_span(chunks, first) &&
	       old_chunks_walk(chunks, first, heap + size, top, CHUNK_THREAD,
			       &end);
}

static int thread_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		       const struct old_arena *arena, uint64_t at,
		       struct error *err)
{
	/* HEAP_MAX_SIZE */
	uint64_t most = arena->process->word == 8 ? 64ull << 20 : 1ull << 20;
	uint64_t top, heap, before;

	if (!old_process_word(arena->process, at + arena->layout.top, &top))
		return broken(err, at);
	heap = top & -most;
	for (unsigned int i = 0; heap && i < HEAPS_MOST; i++, heap = before) {
		if (!heap_walk(chunks, arena, at, heap, most, top, &before))
			return broken(err, heap);
		heaps->heaps++;
	}
	return 0;
}

int old_heaps_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		   const struct old_arena *arena, struct error *err)
{
	int code = main_walk(heaps, chunks, arena, err), one;
	uint64_t at = old_arena_next(arena, arena->main);

	heaps->arenas++;
	for (unsigned int i = 0; at && i < ARENAS_MOST; i++) {
		one = thread_walk(heaps, chunks, arena, at, err);
		if (one)
			code = one;
		heaps->arenas++;
		at = old_arena_next(arena, at);
	}
	return code;
}
