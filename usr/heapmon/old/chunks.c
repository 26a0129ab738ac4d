// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks that are walked, and free ones among them that are marked as in use:
 * those of each thread's cache (malloc/malloc.c, struct tcache_perthread_struct),
 * itself a block, and of an arena's fastbins.
 */
#include "chunks.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include "lib/array.h"

struct old_cache_layout {
	unsigned int width;	/* bytes of a number in front of the pointers */
	unsigned int bins;
	bool slots;		/* the numbers are of places left */
};

static unsigned int old_cache_size(const struct old_cache_layout *layout,
				   unsigned int word)
{
	return (layout->width + word) * layout->bins;
}

/* glibc 2.26 to 2.29, to 2.41, from 2.42 on */
static const struct old_cache_layout layouts[] = {
	{ 1, 64, false }, { 2, 64, false }, { 2, 76, true },
};

#define LAYOUTS	(sizeof(layouts) / sizeof(layouts[0]))

/* The layout of a cache in a chunk of that size; NULL: no cache has it. */
static const struct old_cache_layout *
old_cache_layout_find(const struct old_process *process, uint64_t size)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		unsigned int bytes = old_cache_size(&layouts[i], process->word);
		uint64_t need = (bytes + process->word + CHUNK_ALIGN - 1) &
				-(uint64_t)CHUNK_ALIGN;

		/* what is left over may be too small for a chunk */
		if (size >= need && size - need < chunk_least(process))
			return &layouts[i];
	}
	return NULL;
}

static bool chunk_append(struct old_chunks *chunks, uint64_t block,
			 uint64_t size, uint64_t word)
{
	if (!array_grow(&chunks->items, chunks->count, &chunks->room,
			sizeof(*chunks->items))) {
		chunks->failed = true;
		return false;
	}
	chunks->items[chunks->count++] = (struct old_chunk){
		block, size, word,
	};
	return true;
}

/* What was walked lies in [start, end); its chunks are those from `first` on. */
static bool span_add(struct old_chunks *chunks, uint64_t start, uint64_t end,
		     size_t first)
{
	size_t place;

	if (!array_grow(&chunks->spans, chunks->span_count, &chunks->span_room,
			sizeof(*chunks->spans))) {
		chunks->failed = true;
		return false;
	}
	place = array_count_upto(chunks->spans, chunks->span_count,
				 sizeof(*chunks->spans), start);
	memmove(&chunks->spans[place + 1], &chunks->spans[place],
		(chunks->span_count - place) * sizeof(*chunks->spans));
	chunks->spans[place] = (struct old_span){
		.start = start, .end = end, .first = first,
		.count = chunks->count - first,
	};
	chunks->span_count++;
	return true;
}

static bool cache_note(struct old_chunks *chunks, uint64_t block)
{
	if (!array_grow(&chunks->caches, chunks->cache_count,
			&chunks->cache_room, sizeof(*chunks->caches))) {
		chunks->failed = true;
		return false;
	}
	chunks->caches[chunks->cache_count++] = block;
	return true;
}

/*
 * sysmalloc() ends memory that it won't go on with in two heads that are too
 * small for a chunk: both two words, or, in a thread's heap, the last one 0.
 * When there was no room for a free chunk in front of them the first one may
 * have the least size.
 */
static bool fence_is(struct old_process *process, uint64_t at, uint64_t size,
		     unsigned int flags)
{
	uint64_t head = chunk_head(process), next;

	if (size > chunk_least(process) || size < head ||
	    !old_process_next_word(process, at + size + process->word, &next))
		return false;
	next &= ~(uint64_t)CHUNK_FLAGS;
	if (flags & CHUNK_THREAD)
		return !next;
	return size == head && next == head;
}

static bool chunks_step(struct old_chunks *chunks, uint64_t at, uint64_t head,
			unsigned int flags)
{
	struct old_process *process = chunks->process;
	uint64_t size = head & ~(uint64_t)CHUNK_FLAGS;
	uint64_t block = at + chunk_head(process), next, word = 0;
	uint64_t before;

	if (!old_process_next_word(process, block, &word))
		return false;
	if (!old_process_next_word(process, at + size + process->word, &next))
		return false;
	if (!(next & CHUNK_USED_BEFORE)) {
		/* A chunk that isn't in use says its size at its end, too. */
		return old_process_next_word(process, at + size, &before) &&
		       before == size;
	}
	if ((head & CHUNK_THREAD) != flags)	/* free ones may be without */
		return false;
	if (old_cache_layout_find(process, size) &&
	    !cache_note(chunks, block))
		return false;
	return chunk_append(chunks, block, size, word);
}

static bool size_fits(const struct old_process *process, uint64_t size,
		      uint64_t room)
{
	return size >= chunk_least(process) && !(size % CHUNK_ALIGN) &&
	       size <= room && room - size >= chunk_head(process);
}

bool old_chunks_walk(struct old_chunks *chunks, uint64_t start, uint64_t limit,
		     uint64_t top, unsigned int flags, uint64_t *end)
{
	struct old_process *process = chunks->process;
	size_t count = chunks->count, caches = chunks->cache_count;
	unsigned int least = chunk_head(process);
	uint64_t at = start, head, size;
	bool done = false;

	if (limit < start || limit - start < least ||
	    !old_process_next_word(process, start + process->word, &head) ||
	    !(head & CHUNK_USED_BEFORE))
		return false;
	while (!done && at < limit && limit - at >= least) {
		chunks->steps++;
		if (!old_process_next_word(process, at + process->word, &head))
			break;
		size = head & ~(uint64_t)CHUNK_FLAGS;
		if (at == top) {
			*end = at + size;
			if (size < least || size > limit - at)
				break;
			done = true;
		} else if (fence_is(process, at, size, flags)) {
			*end = at + size + least;
			done = true;
		} else if (!size_fits(process, size, limit - at) ||
			   head & CHUNK_MAPPED ||
			   !chunks_step(chunks, at, head, flags)) {
			break;
		}
		at += size;
	}
	if (done && span_add(chunks, start, *end, count))
		return true;
	chunks->count = count;
	chunks->cache_count = caches;
	return false;
}

bool old_chunks_add_mapped(struct old_chunks *chunks, uint64_t start,
			   uint64_t end, uint64_t block, uint64_t size)
{
	uint64_t word = 0;

	if (!old_process_word(chunks->process, block, &word))
		size |= CHUNK_UNREAD;
	return chunk_append(chunks, block, size | CHUNK_MAPPED, word) &&
	       span_add(chunks, start, end, chunks->count - 1);
}

const struct old_span *old_chunks_span(const struct old_chunks *chunks,
				       uint64_t address)
{
	size_t n = array_count_upto(chunks->spans, chunks->span_count,
				    sizeof(*chunks->spans), address);

	if (!n || address >= chunks->spans[n - 1].end)
		return NULL;
	return &chunks->spans[n - 1];
}

struct old_chunk *old_chunks_find(const struct old_chunks *chunks,
				  uint64_t block)
{
	const struct old_span *span = old_chunks_span(chunks, block);
	struct old_chunk *items;
	size_t n;

	if (!span)
		return NULL;
	items = chunks->items + span->first;
	n = array_count_upto(items, span->count, sizeof(*items), block);
	if (!n || items[n - 1].block != block)
		return NULL;
	return &items[n - 1];
}

void old_chunks_free(struct old_chunks *chunks)
{
	free(chunks->items);
	free(chunks->spans);
	free(chunks->caches);
	*chunks = (struct old_chunks){ 0 };
}

#define THREAD_DATA	65536	/* bytes that are searched for the cache's
				 * address, from the thread pointer on */
#define CACHE_MOST	1024	/* bytes of a cache */
#define SMALL_BINS	64

/* ---- lists of free chunks ---- */

/*
 * The block after this one, 0: none. Since 2.32 a link is stored xor its own
 * address shifted by 12 ("safe-linking"). `before`: bytes of a chunk in front
 * of where links lead to.
 */
static uint64_t link_follow(const struct old_chunks *chunks, uint64_t block,
			    unsigned int before)
{
	uint64_t raw, plain;

	if (!old_process_word(chunks->process, block, &raw))
		return 0;
	plain = raw ^ block >> 12;
	if (!raw || !plain)
		return 0;
	if (old_chunks_find(chunks, plain + before))
		return plain + before;
	return raw + before;
}

static uint64_t list_mark(struct old_chunks *chunks, uint64_t block,
			  unsigned int before)
{
	uint64_t marked = 0;

	while (block) {
		struct old_chunk *chunk = old_chunks_find(chunks, block);

		if (!chunk || chunk->size & CHUNK_CACHED)
			break;
		chunk->size |= CHUNK_CACHED;
		marked++;
		block = link_follow(chunks, block, before);
	}
	return marked;
}

uint64_t old_cache_mark_list(struct old_chunks *chunks, uint64_t chunk)
{
	unsigned int before = chunk_head(chunks->process);

	return list_mark(chunks, chunk ? chunk + before : 0, before);
}

/* ---- the caches of threads ---- */

struct cache {
	struct old_chunks *chunks;
	const struct old_cache_layout *layout;
	uint8_t data[CACHE_MOST];
};

static bool cache_read(struct cache *cache, struct old_chunks *chunks,
		       uint64_t block)
{
	const struct old_process *process = chunks->process;
	struct old_chunk *chunk = old_chunks_find(chunks, block);

	if (!chunk)
		return false;
	cache->chunks = chunks;
	cache->layout = old_cache_layout_find(process, chunk->size &
						  ~(uint64_t)CHUNK_FLAGS);
	return cache->layout &&
	       old_process_read(process, block, cache->data,
				old_cache_size(cache->layout, process->word));
}

static uint64_t cache_entry(const struct cache *cache, unsigned int bin)
{
	const struct old_process *process = cache->chunks->process;

	return old_word(process, cache->data + bin * process->word +
				 cache->layout->width * cache->layout->bins);
}

static bool cache_counts(const struct cache *cache, unsigned int bin)
{
	const uint8_t *at = cache->data + bin * cache->layout->width;

	return at[0] || (cache->layout->width == 2 && at[1]);
}

/*
 * How many bins have something; -1: it isn't a cache. A number may be one off,
 * when the thread was stopped between it and the pointer.
 */
static int cache_check(const struct cache *cache)
{
	unsigned int filled = 0, odd = 0;
	const struct old_chunk *chunk;
	uint64_t least;
	uint64_t size;

	for (unsigned int i = 0; i < cache->layout->bins; i++) {
		uint64_t entry = cache_entry(cache, i);

		if (!cache->layout->slots &&
		    cache_counts(cache, i) != (entry != 0) && odd++)
			return -1;
		if (!entry)
			continue;

		/* Nothing that such a bin could have. */
		chunk = old_chunks_find(cache->chunks, entry);
		least = chunk_least(cache->chunks->process) +
			i * CHUNK_ALIGN;
		if (!chunk)
			return -1;
		size = chunk->size & ~(uint64_t)CHUNK_FLAGS;
		if (i < SMALL_BINS ? size != least : size < least)
			return -1;

		filled++;
	}
	return filled > odd || !odd ? (int)filled : -1;
}

static uint64_t cache_mark(const struct cache *cache, uint64_t block)
{
	uint64_t marked = 0;

	for (unsigned int i = 0; i < cache->layout->bins; i++)
		marked += list_mark(cache->chunks, cache_entry(cache, i), 0);
	old_chunks_find(cache->chunks, block)->size |= CHUNK_CACHED;
	return marked;
}

/*
 * Which block is a thread's cache, though there is nothing in it? A thread's data
 * lie below its thread pointer, or on AArch64 from it on (variants II and I in U.
 * Drepper, "ELF Handling For Thread-Local Storage"; aaelf64-tls).
 */

/* A word in a thread's data leads to what may be an empty cache. */
struct empty {
	uint64_t offset;	/* from the thread pointer, up or down */
	uint64_t block;
};

struct empties {
	struct old_chunks *chunks;
	struct empty *items;
	size_t count, room;
	uint64_t known;		/* offset where a cache was that isn't empty */
};

#if defined(__aarch64__)
#define THREAD_UPWARDS	true

static bool thread_pointer(const struct old_process *process, pid_t tid,
			   uint64_t *pointer)
{
	struct iovec all = { pointer, sizeof(*pointer) };

	*pointer = 0;
	return !ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &all) && *pointer;
}
#else
#define THREAD_UPWARDS	false

static bool thread_pointer(const struct old_process *process, pid_t tid,
			   uint64_t *pointer)
{
	size_t at = process->i386 ? offsetof(struct user, regs.gs_base) :
				    offsetof(struct user, regs.fs_base);

	errno = 0;
	*pointer = ptrace(PTRACE_PEEKUSER, tid, at, 0);
	return !errno && *pointer;
}
#endif

static void word_look(struct empties *empties, uint64_t offset, uint64_t block)
{
	struct cache cache;
	int filled;

	if (!block || block % CHUNK_ALIGN ||
	    !cache_read(&cache, empties->chunks, block))
		return;
	filled = cache_check(&cache);
	if (filled > 0)
		empties->known = offset;
	if (!filled && array_grow(&empties->items, empties->count,
				  &empties->room, sizeof(*empties->items)))
		empties->items[empties->count++] =
			(struct empty){ offset, block };
}

static void thread_look(struct empties *empties, pid_t tid, uint8_t *data)
{
	const struct old_process *process = empties->chunks->process;
	const struct old_region *region;
	uint64_t pointer, size = THREAD_DATA, room;

	if (!thread_pointer(process, tid, &pointer))
		return;
	region = old_process_region(process, pointer - !THREAD_UPWARDS);
	if (!region)
		return;
	room = THREAD_UPWARDS ? region->end - pointer : pointer - region->start;
	if (size > room)
		size = room;
	size -= size % process->word;
	if (!old_process_read(process, THREAD_UPWARDS ? pointer :
			      pointer - size, data, size))
		return;
	for (uint64_t i = 0; i < size; i += process->word)
		word_look(empties, size - i, old_word(process, data + i));
}

/* Where most threads have one; of equals the block that came first. */
static uint64_t empties_offset(const struct empties *empties)
{
	uint64_t best = 0, block = 0;
	size_t most = 0;

	for (size_t i = 0; i < empties->count; i++) {
		const struct empty *empty = &empties->items[i];
		size_t votes = 0;

		for (size_t j = 0; j < empties->count; j++)
			votes += empties->items[j].offset == empty->offset;
		if (votes < most || (votes == most && empty->block >= block))
			continue;
		most = votes;
		block = empty->block;
		best = empty->offset;
	}
	return best;
}

uint64_t old_cache_mark(struct old_chunks *chunks, const struct old_stop *stop)
{
	struct empties empties = { .chunks = chunks };
	uint8_t *data = malloc(THREAD_DATA);
	struct cache cache;
	uint64_t marked = 0;

	for (size_t i = 0; data && i < stop->count; i++)
		if (stop->threads[i].stopped)
			thread_look(&empties, stop->threads[i].tid, data);
	if (!empties.known)
		empties.known = empties_offset(&empties);
	for (size_t i = 0; i < empties.count; i++)
		if (empties.items[i].offset == empties.known)
			old_chunks_find(chunks, empties.items[i].block)->size |=
				CHUNK_CACHED;
	free(data);
	free(empties.items);
	for (size_t i = 0; i < chunks->cache_count; i++) {
		uint64_t block = chunks->caches[i];

		if (cache_read(&cache, chunks, block) &&
		    cache_check(&cache) > 0)
			marked += cache_mark(&cache, block);
	}
	return marked;
}
