/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The chunks of glibc's allocator (malloc/malloc.c, "Chunk representations"):
 * a word that belongs to the chunk in front, a word with the size and three
 * flags, then what the program has. They follow each other in spans.
 */
#ifndef OLD_CHUNKS_H
#define OLD_CHUNKS_H

#include "process.h"

#define CHUNK_USED_BEFORE	0x1	/* the chunk in front is in use */
#define CHUNK_MAPPED		0x2
#define CHUNK_THREAD		0x4	/* not of the main arena */
#define CHUNK_FLAGS		0x7
#define CHUNK_ALIGN		16

struct old_chunk {
	uint64_t block;		/* what the program has */
	uint64_t size;		/* of the chunk, with CHUNK_MAPPED, or instead of
				 * CHUNK_USED_BEFORE and CHUNK_THREAD: */
	uint64_t word;		/* the block's first one */
};

#define CHUNK_CACHED	0x1	/* in a list of free ones that looks used */
#define CHUNK_UNREAD	0x4	/* `word` could not be read */

/* Memory in which chunks follow each other. */
struct old_span {
	uint64_t start, end;
	size_t first, count;	/* of the chunks */
};

struct old_chunks {
	struct old_process *process;
	struct old_chunk *items;	/* ascending in each span */
	size_t count, room;
	struct old_span *spans;		/* ascending */
	size_t span_count, span_room;
	uint64_t *caches;		/* blocks that may be a thread's cache */
	size_t cache_count, cache_room;
	uint64_t steps;			/* from chunk to chunk, also in vain */
	bool failed;			/* out of memory */
};

static inline unsigned int chunk_head(const struct old_process *process)
{
	return 2 * process->word;
}

/* MINSIZE */
static inline unsigned int chunk_least(const struct old_process *process)
{
	return process->word == 8 ? 32 : 16;
}

/* The first place for a chunk from here on: the block is aligned. */
static inline uint64_t chunk_align(const struct old_process *process,
				   uint64_t at)
{
	unsigned int head = chunk_head(process);

	return ((at + head + CHUNK_ALIGN - 1) & -(uint64_t)CHUNK_ALIGN) - head;
}

/*
 * Walk from the chunk at `start`, as far as to the one at `top`, or to the
 * fence in front of memory that isn't the arena's. true: it got there, and the
 * chunks in use are added, with a span; *end is after the last byte. flags:
 * CHUNK_THREAD, or 0.
 */
bool old_chunks_walk(struct old_chunks *chunks, uint64_t start, uint64_t limit,
		     uint64_t top, unsigned int flags, uint64_t *end);
/* One that has a mapping of its own. */
bool old_chunks_add_mapped(struct old_chunks *chunks, uint64_t start,
			   uint64_t end, uint64_t block, uint64_t size);
/* That is in use, by the block's address; NULL: there is none. */
struct old_chunk *old_chunks_find(const struct old_chunks *chunks,
				  uint64_t block);
const struct old_span *old_chunks_span(const struct old_chunks *chunks,
				       uint64_t address);
/*
 * Mark free chunks that look used: what is in the caches of all threads (those of
 * threads that aren't there any more, after a fork, too), and the caches
 * themselves; and a list, an arena's fastbin, that begins with the chunk at
 * `chunk`. How many chunks were in them.
 */
uint64_t old_cache_mark(struct old_chunks *chunks, const struct old_stop *stop);
uint64_t old_cache_mark_list(struct old_chunks *chunks, uint64_t chunk);
void old_chunks_free(struct old_chunks *chunks);

#endif
