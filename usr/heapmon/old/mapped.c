// SPDX-License-Identifier: GPL-2.0
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE		4096
#define PAGEMAP_ENTRIES	8192

/* ---- what the allocator counts ---- */

struct mapped_counted {
	bool known;
	int32_t chunks;
	uint64_t bytes;
};

/*
 * In struct malloc_par the address where the main heap began has in front of it:
 * mapped bytes, their peak; before these, four int: how many chunks are mapped,
 * may be, were at most, and a truth value.
 */
static bool counted_at(const struct old_process *process, const uint8_t *at,
		       struct mapped_counted *counted)
{
	uint64_t bytes = old_word(process, at - 2 * process->word);
	uint64_t peak = old_word(process, at - process->word);
	const uint8_t *ints = at - 2 * process->word - 4 * sizeof(int32_t);

	if (bytes > peak || bytes % PAGE || peak % PAGE)
		return false;
	for (unsigned int pad = 0; pad < process->word; pad += 4) {
		int32_t n[4];

		memcpy(n, ints - pad, sizeof(n));
		if (n[0] < 0 || n[0] > n[2] || n[1] < 0 || n[3] < 0 ||
		    n[3] > 1 || bytes / PAGE < (uint64_t)n[0] ||
		    (n[0] == 0) != (bytes == 0))
			continue;
		*counted = (struct mapped_counted){ true, n[0], bytes };
		return true;
	}
	return false;
}

static struct mapped_counted counted_find(const struct old_arena *arena,
					  const struct old_heaps *heaps)
{
	const struct old_process *process = arena->process;
	uint64_t size = arena->data->end - arena->data->start;
	uint64_t begin = heaps->main & -(uint64_t)PAGE;
	struct mapped_counted counted = { false };
	uint8_t *bytes = malloc(size);

	if (bytes && heaps->main &&
	    old_process_read(process, arena->data->start, bytes, size))
		for (uint64_t i = 64; i < size && !counted.known;
		     i += process->word) {
			uint64_t word = old_word(process, bytes + i);

			if (word >= begin && word <= heaps->main)
				counted_at(process, bytes + i, &counted);
		}
	free(bytes);
	return counted;
}

/* ---- looking at pages ---- */

struct mapped_search {
	struct old_chunks *chunks;
	const struct old_process *process;
	struct mapped_counted counted;
	int pagemap;
	bool aligned;		/* of memalign: not only at the begin */
	uint32_t found;
	uint64_t bytes;
};

static bool search_done(const struct mapped_search *search)
{
	return search->counted.known &&
	       search->found == (uint32_t)search->counted.chunks &&
	       search->bytes == search->counted.bytes;
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
static bool mapped_page_there(const struct mapped_search *search, uint64_t at,
			      uint64_t *entries, uint64_t *first,
			      uint64_t *count)
{
	uint64_t page = at / PAGE;
	ssize_t got;

	if (page - *first >= *count) {
		got = pread(search->pagemap, entries,
			    PAGEMAP_ENTRIES * sizeof(*entries),
			    page * sizeof(*entries));
		*first = page;
		*count = got > 0 ? got / sizeof(*entries) : 0;
		if (!*count)
			return true;
	}
	return entries[page - *first] >> 62;
}

static void region_look(struct mapped_search *search,
			const struct old_region *region, uint64_t *entries)
{
	uint64_t at = region->start, first = 0, count = 0;

	while (at < region->end && !search_done(search)) {
		const struct old_span *span = old_chunks_span(search->chunks,
							      at);

		if (span)
			at = (span->end + PAGE - 1) & -(uint64_t)PAGE;
		else if (mapped_page_there(search, at, entries, &first, &count))
			at = page_look(search, region, at);
		else
			at += PAGE;
	}
}

static void mapped_search_run(struct mapped_search *search, uint64_t *entries)
{
	for (size_t i = 0; i < search->process->count; i++) {
		const struct old_region *region = &search->process->regions[i];

		if (region->anonymous && region->writable)
			region_look(search, region, entries);
	}
}

int old_mapped_find(struct old_chunks *chunks, const struct old_arena *arena,
		    const struct old_heaps *heaps, uint32_t *found,
		    struct error *err)
{
	struct mapped_search search = {
		.chunks = chunks,
		.process = arena->process,
		.counted = counted_find(arena, heaps),
	};
	uint64_t *entries = malloc(PAGEMAP_ENTRIES * sizeof(*entries));
	char path[32];

	if (!entries)
		return error_no_memory(err);
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/pagemap",
		 arena->process->pid);
	search.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	mapped_search_run(&search, entries);
	search.aligned = true;
	if (!search_done(&search))
		mapped_search_run(&search, entries);
	if (search.pagemap >= 0)
		close(search.pagemap);
	free(entries);
	*found += search.found;
	if (!search.counted.known || search_done(&search))
		return 0;
	return error_set(err, -EILSEQ, "%" PRIu32 " large blocks were found, the allocator counts %" PRId32,
			 search.found, search.counted.chunks);
}
