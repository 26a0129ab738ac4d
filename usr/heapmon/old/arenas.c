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
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		/* Back to where it began, not only to somewhere on the way? */
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
	/* What others have of the memory of sbrk, between its parts, counts as the
	 * arena's. */
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

/* ---- chunks that have a mapping of their own ---- */

#define PAGEMAP_ENTRIES	8192

struct mapped_search {
	struct old_chunks *chunks;
	const struct old_process *process;
	bool counted;		/* the allocator's figures are known: */
	uint32_t chunk_count;
	uint64_t chunk_bytes;
	uint32_t found;
	uint64_t bytes;
	bool aligned;		/* of memalign: not only at the begin */
	int pagemap;
	uint64_t first, count;	/* pages whose entries are there */
	uint64_t entries[PAGEMAP_ENTRIES];
};

/*
 * In struct malloc_par the address where the main heap began has in front of it:
 * mapped bytes, their peak; before these, four int: how many chunks are mapped,
 * may be, were at most, and a truth value.
 */
static void counted_at(struct mapped_search *search, const uint8_t *at)
{
	unsigned int word = search->process->word;
	uint64_t bytes = old_word(search->process, at - 2 * word);
	uint64_t peak = old_word(search->process, at - word);
	int32_t n[4];

	if (bytes > peak || bytes % PAGE || peak % PAGE)
		return;
	for (unsigned int pad = 0; pad < word && !search->counted; pad += 4) {
		memcpy(n, at - 2 * word - sizeof(n) - pad, sizeof(n));
		if (n[0] < 0 || n[0] > n[2] || n[1] < 0 || n[3] < 0 ||
		    n[3] > 1 || bytes / PAGE < (uint64_t)n[0] ||
		    (n[0] == 0) != (bytes == 0))
			continue;
		search->counted = true;
		search->chunk_count = n[0];
		search->chunk_bytes = bytes;
	}
}

static void counted_find(struct mapped_search *search,
			 const struct old_arena *arena, uint64_t main)
{
	const struct old_process *process = search->process;
	uint64_t size = arena->data->end - arena->data->start, word;
	uint8_t *bytes = malloc(size);

	if (bytes && main &&
	    old_process_read(process, arena->data->start, bytes, size))
		for (uint64_t i = 64; i < size && !search->counted;
		     i += process->word) {
			word = old_word(process, bytes + i);
			if (word >= (main & -(uint64_t)PAGE) && word <= main)
				counted_at(search, bytes + i);
		}
	free(bytes);
}

static bool search_done(const struct mapped_search *search)
{
	return search->counted && search->found == search->chunk_count &&
	       search->bytes == search->chunk_bytes;
}

/*
 * The head of a mapped chunk at `at`: the first word says how far it is from the
 * begin of the mapping, and both sizes make whole pages. Returns where the
 * mapping ends; 0: it is none, or known.
 */
static uint64_t head_check(const struct mapped_search *search,
			   const struct old_region *region, uint64_t at,
			   const uint8_t *head)
{
	uint64_t lead = old_word(search->process, head);
	uint64_t size = old_word(search->process, head + search->process->word);
	uint64_t begin = at - lead, end;

	if ((size & CHUNK_FLAGS) != CHUNK_MAPPED)
		return 0;
	size -= CHUNK_MAPPED;
	end = at + size;
	if (!size || size % 8 || end % PAGE || begin % PAGE || begin > at ||
	    begin < region->start || end < at || end > region->end)
		return 0;
	return old_chunks_span(search->chunks, at) ? 0 : end;
}

static uint64_t head_take(struct mapped_search *search,
			  const struct old_region *region, uint64_t at,
			  const uint8_t *head)
{
	uint64_t lead = old_word(search->process, head), end;

	end = head_check(search, region, at, head);
	if (!end ||
	    !old_chunks_add_mapped(search->chunks, at - lead, end,
				   at + chunk_head(search->process), end - at))
		return 0;
	search->found++;
	search->bytes += end - at + lead;
	return end;
}

/*
 * memalign(3) leaves the head that the whole mapping had, and puts its own in
 * front of the first or second multiple of a power of two; glibc's
 * _int_memalign(). Its address, after `before`, with what is there in `head`; 0:
 * there is none.
 */
static uint64_t head_after(const struct mapped_search *search, uint64_t begin,
			    uint64_t before, uint64_t end, uint8_t *head)
{
	unsigned int bytes = chunk_head(search->process);

	for (uint64_t align = CHUNK_ALIGN; align < end - begin; align *= 2) {
		uint64_t first = (begin + bytes + align - 1) & -align;

		for (uint64_t block = first; block <= first + align &&
		     block < end; block += align) {
			uint64_t at = block - bytes;

			if (at > before &&
			    old_process_read(search->process, at, head,
					     bytes) &&
			    old_word(search->process, head) == at - begin &&
			    old_word(search->process,
				     head + search->process->word) ==
			    (end - at) + CHUNK_MAPPED)
				return at;
		}
	}
	return 0;
}

/* What begins with the mapping. Returns its end, 0: nothing. */
static uint64_t begin_take(struct mapped_search *search,
			   const struct old_region *region, uint64_t at)
{
	uint8_t head[16], inner[16];
	uint64_t end, inner_at;

	if (!old_process_read(search->process, at, head,
			      chunk_head(search->process)))
		return 0;
	end = head_check(search, region, at, head);
	if (!end)
		return 0;
	inner_at = head_after(search, at - old_word(search->process, head), at,
			     end, inner);
	return inner_at ?
		head_take(search, region, inner_at, inner) :
		head_take(search, region, at, head);
}

/* Blocks of memalign(3) are at multiples of a power of two. Returns where to
 * look next. */
static uint64_t page_look(struct mapped_search *search,
			  const struct old_region *region, uint64_t at)
{
	unsigned int head = chunk_head(search->process);
	uint8_t page[PAGE];
	uint64_t end;

	if (!search->aligned) {
		end = begin_take(search, region,
				 chunk_align(search->process, at));
		return end ? end : at + PAGE;
	}
	if (!old_process_read(search->process, at, page, PAGE))
		return at + PAGE;
	for (unsigned int align = CHUNK_ALIGN; align <= PAGE; align *= 2) {
		end = align < head ? 0 :
		      head_take(search, region, at + align - head,
				page + align - head);
		if (end)
			return end;
	}
	return at + PAGE;
}

/* Is the page in memory, or on a swap device? (pagemap: bits 63, 62) */
static bool mapped_page_there(struct mapped_search *search, uint64_t at)
{
	uint64_t page = at / PAGE;
	ssize_t got;

	if (page - search->first >= search->count) {
		got = pread(search->pagemap, search->entries,
			    sizeof(search->entries), page * sizeof(uint64_t));
		search->first = page;
		search->count = got > 0 ? got / sizeof(uint64_t) : 0;
		if (!search->count)
			return true;
	}
	return search->entries[page - search->first] >> 62;
}

static void region_look(struct mapped_search *search,
			const struct old_region *region)
{
	uint64_t at = region->start;

	while (at < region->end && !search_done(search)) {
		const struct old_span *span = old_chunks_span(search->chunks,
							      at);

		if (span)
			at = (span->end + PAGE - 1) & -(uint64_t)PAGE;
		else if (mapped_page_there(search, at))
			at = page_look(search, region, at);
		else
			at += PAGE;
	}
}

static void mapped_search_run(struct mapped_search *search)
{
	for (size_t i = 0; i < search->process->count; i++) {
		const struct old_region *region = &search->process->regions[i];

		if (region->anonymous && region->writable)
			region_look(search, region);
	}
}

int old_mapped_find(struct old_chunks *chunks, const struct old_arena *arena,
		    const struct old_heaps *heaps, uint32_t *found,
		    struct error *err)
{
	struct mapped_search *search = calloc(1, sizeof(*search));
	char path[32];
	int code = 0;

	if (!search)
		return error_no_memory(err);
	search->chunks = chunks;
	search->process = arena->process;
	counted_find(search, arena, heaps->main);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap",
		 arena->process->pid);
	search->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	mapped_search_run(search);
	search->aligned = true;
	if (!search_done(search))
		mapped_search_run(search);
	if (search->pagemap >= 0)
		close(search->pagemap);
	*found += search->found;
	if (search->counted && !search_done(search))
		code = error_set(err, -EILSEQ, "%" PRIu32 " large blocks were found, the allocator counts %" PRIu32,
				 search->found, search->chunk_count);
	free(search);
	return code;
}
