// SPDX-License-Identifier: GPL-2.0
#include "heaps.h"

#include <errno.h>
#include <inttypes.h>

#define PAGE		4096
#define HEAPS_MOST	65536
#define VAIN_MOST	64		/* times the chunks that a region has room
					 * for: so many are gone through */

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
				struct old_process *process,
				const struct old_region *region, uint64_t top,
				unsigned int step)
{
	struct found found = { .start = UINT64_MAX };
	uint64_t at = region->start, end;
	uint64_t most = chunks->steps + VAIN_MOST *
			((region->end - region->start) / CHUNK_ALIGN);

	while (at < region->end && chunks->steps <= most) {
		uint64_t start = chunk_align(process, at);
		const struct old_span *span = old_chunks_span(chunks, start);

		if (span) {
			end = span->end;
		} else if (old_chunks_walk(chunks, process, start, region->end,
					   top, 0, &end)) {
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

static const struct old_region *brk_region(const struct old_process *process)
{
	for (size_t i = 0; i < process->count; i++)
		if (process->regions[i].heap)
			return &process->regions[i];
	return NULL;
}

/* The memory of sbrk, with what others have of it between its parts: that counts
 * as the arena's. */
static uint64_t brk_walk(struct old_chunks *chunks, struct old_process *process,
			 uint64_t top, uint64_t *start)
{
	const struct old_region *region = brk_region(process);
	struct found found;

	if (!region)
		return 0;
	found = region_walk(chunks, process, region, top, CHUNK_ALIGN);
	*start = found.start;
	return found.bytes ? found.end - found.start : 0;
}

/* Where sbrk gave nothing: mappings, each of them whole pages. */
static uint64_t mappings_walk(struct old_chunks *chunks,
			      struct old_process *process, uint64_t top,
			      uint64_t missing)
{
	const struct old_region *region = old_process_region(process, top);
	uint64_t found = 0;

	if (region && region->anonymous)
		found = region_walk(chunks, process, region, top, PAGE).bytes;
	for (size_t i = 0; i < process->count && found < missing; i++) {
		const struct old_region *other = &process->regions[i];

		if (other->anonymous && other->writable && other != region)
			found += region_walk(chunks, process, other, top,
					     PAGE).bytes;
	}
	return found;
}

static int main_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		     struct old_process *process, const struct old_arena *arena,
		     struct error *err)
{
	uint64_t top, size, found, start = 0;

	if (!old_process_word(process, arena->main + arena->layout.top, &top) ||
	    !old_process_word(process, arena->main + arena->layout.system,
			      &size))
		return broken(err, arena->main);
	if (top == arena->main + arena->layout.top)
		return 0;	/* nothing was ever asked of it */
	found = brk_walk(chunks, process, top, &start);
	if (found + PAGE < size)
		found += mappings_walk(chunks, process, top, size - found);
	if (found + PAGE < size || !old_chunks_span(chunks, top))
		return broken(err, arena->main);
	if (!heaps->main)
		heaps->main = start;
	return 0;
}

/* ---- an arena of threads ---- */

/* HEAP_MAX_SIZE */
static uint64_t heap_most(const struct old_process *process)
{
	return process->word == 8 ? 64ull << 20 : 1ull << 20;
}

static uint64_t heap_of(const struct old_process *process, uint64_t address)
{
	return address & -heap_most(process);
}

/* Its heap_info: the arena, the heap before it, how many bytes. */
struct heap_info {
	uint64_t arena, before, size;
};


static bool heap_walk(struct old_chunks *chunks, struct old_process *process,
		      const struct old_arena *arena, uint64_t at, uint64_t heap,
		      uint64_t top, uint64_t *before)
{
	uint64_t first = heap_of(process, at) == heap ?
				 at + arena->layout.size :
				 heap + (at - heap_of(process, at));
	struct heap_info info;
	uint64_t end;

	/* a list that is damaged may come back to where it was */
	if (!(old_process_word(process, heap, &info.arena) &&
	      old_process_word(process, heap + process->word, &info.before) &&
	      old_process_word(process, heap + 2 * process->word,
			       &info.size)) ||
	    info.arena != at || info.size > heap_most(process) ||
	    old_chunks_span(chunks, chunk_align(process, first)) ||
	    !old_chunks_walk(chunks, process, chunk_align(process, first),
			     heap + info.size, top, CHUNK_THREAD, &end))
		return false;
	*before = info.before;
	return true;
}

static int thread_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		       struct old_process *process,
		       const struct old_arena *arena, uint64_t at,
		       struct error *err)
{
	uint64_t top, heap;

	if (!old_process_word(process, at + arena->layout.top, &top))
		return broken(err, at);
	heap = heap_of(process, top);
	for (unsigned int i = 0; heap && i < HEAPS_MOST; i++) {
		if (!heap_walk(chunks, process, arena, at, heap, top, &heap))
			return broken(err, heap);
		heaps->heaps++;
	}
	return 0;
}

int old_heaps_walk(struct old_heaps *heaps, struct old_chunks *chunks,
		   struct old_process *process, const struct old_arena *arena,
		   struct error *err)
{
	int code = main_walk(heaps, chunks, process, arena, err), one;
	uint64_t at = old_arena_next(arena, process, arena->main);

	heaps->arenas++;
	for (unsigned int i = 0; at && at != arena->main && i < ARENAS_MOST;
	     i++) {
		one = thread_walk(heaps, chunks, process, arena, at, err);
		if (one)
			code = one;
		heaps->arenas++;
		at = old_arena_next(arena, process, at);
	}
	return code;
}
