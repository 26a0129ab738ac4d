// SPDX-License-Identifier: GPL-2.0
#include "chunks.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

/* glibc 2.26 to 2.29, to 2.41, from 2.42 on */
static const struct old_cache_layout layouts[] = {
	{ 1, 64, false }, { 2, 64, false }, { 2, 76, true },
};

#define LAYOUTS	(sizeof(layouts) / sizeof(layouts[0]))

const struct old_cache_layout *
old_chunks_cache_layout(const struct old_process *process, uint64_t size)
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

static bool chunks_step(struct old_chunks *chunks, struct old_process *process,
			uint64_t at, uint64_t head, unsigned int flags)
{
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
	if (old_chunks_cache_layout(process, size) &&
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

static bool chunks_walk(struct old_chunks *chunks, struct old_process *process,
			uint64_t at, uint64_t limit, uint64_t top,
			unsigned int flags, uint64_t *end)
{
	uint64_t head, size;

	while (at < limit && limit - at >= chunk_head(process)) {
		chunks->steps++;
		if (!old_process_next_word(process, at + process->word, &head))
			return false;
		size = head & ~(uint64_t)CHUNK_FLAGS;
		if (at == top) {
			*end = at + size;
			return size >= chunk_head(process) &&
			       size <= limit - at;
		}
		if (fence_is(process, at, size, flags)) {
			*end = at + size + chunk_head(process);
			return true;
		}
		if (!size_fits(process, size, limit - at) ||
		    head & CHUNK_MAPPED ||
		    !chunks_step(chunks, process, at, head, flags))
			return false;
		at += size;
	}
	return false;
}

bool old_chunks_walk(struct old_chunks *chunks, struct old_process *process,
		     uint64_t start, uint64_t limit, uint64_t top,
		     unsigned int flags, uint64_t *end)
{
	size_t count = chunks->count, caches = chunks->cache_count;
	uint64_t head;

	if (limit < start || limit - start < chunk_head(process) ||
	    !old_process_next_word(process, start + process->word, &head) ||
	    !(head & CHUNK_USED_BEFORE))
		return false;
	if (chunks_walk(chunks, process, start, limit, top, flags, end) &&
	    span_add(chunks, start, *end, count))
		return true;
	chunks->count = count;
	chunks->cache_count = caches;
	return false;
}

bool old_chunks_add_mapped(struct old_chunks *chunks,
			   const struct old_process *process, uint64_t start,
			   uint64_t end, uint64_t block, uint64_t size)
{
	uint64_t word = 0;

	if (!old_process_word(process, block, &word))
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
