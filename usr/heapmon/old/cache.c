// SPDX-License-Identifier: GPL-2.0
#include "cache.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include "lib/array.h"

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
static uint64_t link_follow(const struct old_chunks *chunks,
			    const struct old_process *process, uint64_t block,
			    unsigned int before)
{
	uint64_t raw, plain;

	if (!old_process_word(process, block, &raw))
		return 0;
	plain = raw ^ block >> 12;
	if (!raw || !plain)
		return 0;
	if (old_chunks_find(chunks, plain + before))
		return plain + before;
	return raw + before;
}

static uint64_t list_mark(struct old_chunks *chunks,
			  const struct old_process *process, uint64_t block,
			  unsigned int before)
{
	uint64_t marked = 0;

	while (block) {
		struct old_chunk *chunk = old_chunks_find(chunks, block);

		if (!chunk || chunk->size & CHUNK_CACHED)
			break;
		chunk->size |= CHUNK_CACHED;
		marked++;
		block = link_follow(chunks, process, block, before);
	}
	return marked;
}

uint64_t old_cache_mark_list(struct old_chunks *chunks,
			     const struct old_process *process, uint64_t chunk)
{
	unsigned int before = chunk_head(process);

	return list_mark(chunks, process, chunk ? chunk + before : 0, before);
}

/* ---- the caches of threads ---- */

struct cache {
	const struct old_cache_layout *layout;
	uint8_t data[CACHE_MOST];
};

static bool cache_read(struct cache *cache, const struct old_chunks *chunks,
		       const struct old_process *process, uint64_t block)
{
	struct old_chunk *chunk = old_chunks_find(chunks, block);

	if (!chunk)
		return false;
	cache->layout = old_chunks_cache_layout(process, chunk->size &
						  ~(uint64_t)CHUNK_FLAGS);
	return cache->layout &&
	       old_process_read(process, block, cache->data,
				old_cache_size(cache->layout, process->word));
}

static uint64_t cache_entry(const struct cache *cache,
			    const struct old_process *process, unsigned int bin)
{
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
static int cache_check(const struct cache *cache,
		       const struct old_chunks *chunks,
		       const struct old_process *process)
{
	unsigned int filled = 0, odd = 0;
	const struct old_chunk *chunk;
	uint64_t least;
	uint64_t size;

	for (unsigned int i = 0; i < cache->layout->bins; i++) {
		uint64_t entry = cache_entry(cache, process, i);

		if (!cache->layout->slots &&
		    cache_counts(cache, i) != (entry != 0) && odd++)
			return -1;
		if (!entry)
			continue;

		/* Nothing that such a bin could have. */
		chunk = old_chunks_find(chunks, entry);
		least = chunk_least(process) + i * CHUNK_ALIGN;
		if (!chunk)
			return -1;
		size = chunk->size & ~(uint64_t)CHUNK_FLAGS;
		if (i < SMALL_BINS ? size != least : size < least)
			return -1;

		filled++;
	}
	return filled > odd || !odd ? (int)filled : -1;
}

static uint64_t cache_mark(const struct cache *cache,
			   struct old_chunks *chunks,
			   const struct old_process *process, uint64_t block)
{
	uint64_t marked = 0;

	for (unsigned int i = 0; i < cache->layout->bins; i++)
		marked += list_mark(chunks, process,
				    cache_entry(cache, process, i), 0);
	old_chunks_find(chunks, block)->size |= CHUNK_CACHED;
	return marked;
}

/* ---- which block is a thread's cache, though there is nothing in it ---- */

/*
 * A thread's data lie below its thread pointer, or on AArch64 from it on
 * (variants II and I in U. Drepper, "ELF Handling For Thread-Local Storage";
 * aaelf64-tls).
 */

/* A word in a thread's data leads to what may be an empty cache. */
struct empty {
	uint64_t offset;	/* from the thread pointer, up or down */
	uint64_t block;
};

struct empties {
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

static void word_look(struct empties *empties, const struct old_chunks *chunks,
		      const struct old_process *process, uint64_t offset,
		      uint64_t block)
{
	struct cache cache;
	int filled;

	if (!block || block % CHUNK_ALIGN ||
	    !cache_read(&cache, chunks, process, block))
		return;
	filled = cache_check(&cache, chunks, process);
	if (filled > 0)
		empties->known = offset;
	if (!filled && array_grow(&empties->items, empties->count,
				  &empties->room, sizeof(*empties->items)))
		empties->items[empties->count++] =
			(struct empty){ offset, block };
}

static void thread_look(struct empties *empties,
			const struct old_chunks *chunks,
			const struct old_process *process, pid_t tid,
			uint8_t *data)
{
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
		word_look(empties, chunks, process, size - i,
			  old_word(process, data + i));
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

uint64_t old_cache_mark(struct old_chunks *chunks, struct old_process *process,
			const struct old_stop *stop)
{
	uint64_t marked = 0;
	struct cache cache;
	struct empties empties;
	uint8_t *data;

	empties = (struct empties){ 0 };
	data = malloc(THREAD_DATA);
	for (size_t i = 0; data && i < stop->count; i++)
		if (stop->threads[i].stopped)
			thread_look(&empties, chunks, process,
				    stop->threads[i].tid, data);
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

		if (cache_read(&cache, chunks, process, block) &&
		    cache_check(&cache, chunks, process) > 0)
			marked += cache_mark(&cache, chunks, process, block);
	}
	return marked;
}
