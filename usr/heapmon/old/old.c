// SPDX-License-Identifier: GPL-2.0
#include "old.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/buffer/buffer.h"
#include "arenas.h"

#define LIBCS_MOST	8
#define TURNS		800	/* until no thread is at work in the heap */
#define TRIES		8	/* of a thread that may have no lock */
#define ATTEMPTS	20	/* while another one has stopped it */
#define PAUSE		50000000	/* ns, between them */

struct old_walking {
	uint32_t pid;
	struct old_figures *figures;
	struct error *err;
	int code;
	bool held;	/* by another one, perhaps for a moment */

	struct old_process process;
	struct old_stop stop;
	struct old_arena arenas[LIBCS_MOST];
	unsigned int arena_count;
	struct old_chunks chunks;
};

static int arenas_find(struct old_walking *walk)
{
	struct old_arena arena = { 0 };
	int code = 0;

	walk->arena_count = 0;
	while (walk->arena_count < LIBCS_MOST &&
	       (code = old_arena_find(&arena, &walk->process, walk->err)) > 0)
		walk->arenas[walk->arena_count++] = arena;
	return code < 0 ? code : 0;
}

static unsigned int arenas_locks(const struct old_walking *walk)
{
	unsigned int locks = 0;

	for (unsigned int i = 0; i < walk->arena_count; i++)
		locks += old_arena_locks(&walk->arenas[i]);
	return locks;
}

static int walk_look(struct old_walking *walk)
{
	int code = old_process_map(&walk->process, walk->err);

	return code ? code : arenas_find(walk);
}

/* Stopped when no arena is locked; in the end anyhow. */
static int walk_stop(struct old_walking *walk)
{
	int code = old_stop_begin(&walk->stop, walk->pid, walk->err);
	unsigned int turns = 0;
	unsigned int locks;
	unsigned int before;
	unsigned int tries;
	size_t n;

	if (!code)
		code = walk_look(walk);
	if (!code) {
		/* One thread after the other goes on until it has let go of a
		 * lock, or, when it had none, has none again. */
		locks = arenas_locks(walk);
		before = locks;
		tries = 0;
		n = 0;
		code = 0;
		for (; !code && locks && turns < TURNS; ++turns) {
			code = old_stop_turn(&walk->stop, n, walk->err);
			locks = arenas_locks(walk);
			tries++;
			if (locks >= before &&
			    (tries < TRIES || locks > before))
				continue;
			before = locks;
			tries = 0;
			n++;
		}
	}
	return !code && turns ? walk_look(walk) : code;
}

/* ---- what is there ---- */

static uint64_t fastbins_mark(struct old_walking *walk,
			      const struct old_arena *arena)
{
	const struct old_arena_layout *layout = &arena->layout;
	unsigned int word = walk->process.word, n = 0;
	uint64_t marked = 0, chunk;

	for (uint64_t at = arena->main; at && n < ARENAS_MOST;
	     at = old_arena_next(arena, at), n++)
		for (unsigned int i = 0; i < layout->fastbin_count; i++)
			if (old_process_word(&walk->process,
					     at + layout->fastbins + i * word,
					     &chunk))
				marked += old_cache_mark_list(&walk->chunks,
							      chunk);
	return marked;
}

/* Whatever can be walked is, also after an error. */
static int walk_chunks(struct old_walking *walk)
{
	struct old_heaps heaps = { 0 };
	int code = 0, one;

	walk->chunks.process = &walk->process;
	for (unsigned int i = 0; i < walk->arena_count; i++) {
		one = old_heaps_walk(&heaps, &walk->chunks, &walk->arenas[i],
				     walk->err);
		if (one)
			code = one;
	}
	walk->figures->arenas = heaps.arenas;
	walk->figures->heaps = heaps.heaps;
	one = old_mapped_find(&walk->chunks, walk->arenas, &heaps,
			      &walk->figures->mapped, walk->err);
	if (one)
		code = one;
	walk->figures->cached = old_cache_mark(&walk->chunks, &walk->stop);
	for (unsigned int i = 0; i < walk->arena_count; i++)
		walk->figures->cached += fastbins_mark(walk, &walk->arenas[i]);
	return code;
}

static int walk_nothing(struct old_walking *walk)
{
	if (old_process_has_glibc(&walk->process)) {
		if (old_process_heap(&walk->process))
			return error_set(walk->err, -EILSEQ,
					 "its heap is damaged, or of an unknown version of glibc");
		return 0;	/* it has asked for nothing yet */
	}
	walk->figures->why = RAS_HEAP_OLD_FOREIGN;
	error_set(walk->err, 0, "it has no heap of glibc's");
	return 0;
}

static int walk_stopped(struct old_walking *walk)
{
	int code = walk->arena_count ? walk_chunks(walk) : walk_nothing(walk);

	if (walk->chunks.failed)
		return error_no_memory(walk->err);
	if (code == -EILSEQ) {
		walk->figures->why = RAS_HEAP_OLD_BROKEN;
		code = 0;
	}
	return code;
}

static bool walk_foreign(struct old_walking *walk)
{
	const struct old_region *file = old_process_allocator(&walk->process);

	if (!file)
		return false;
	walk->figures->why = RAS_HEAP_OLD_FOREIGN;
	error_set(walk->err, 0, "its malloc is that of '%s', not glibc's",
		  file->name);
	return true;
}

/* A thread of its own: when it ends the kernel lets go what it has stopped. */
static void *walk_run(void *context)
{
	struct old_walking *walk = context;
	uint64_t since;

	walk->code = old_process_open(&walk->process, walk->pid, walk->err);
	if (!walk->code)
		walk->code = old_process_map(&walk->process, walk->err);
	if (walk->code || walk_foreign(walk))
		return NULL;
	since = buffer_time();
	walk->code = walk_stop(walk);
	walk->held = walk->code == -EPERM;
	if (!walk->code)
		walk->code = walk_stopped(walk);
	else if (walk->code != -ENOMEM && walk->code != -ESRCH)
		walk->figures->why = RAS_HEAP_OLD_REFUSED;
	walk->figures->time = buffer_time();
	old_stop_end(&walk->stop);
	walk->figures->stopped = buffer_time() - since;
	if (walk->figures->why == RAS_HEAP_OLD_REFUSED)
		walk->code = 0;
	return NULL;
}

/* ---- the blocks, when it runs again ---- */

static uint64_t block_size(const struct old_walking *walk,
			   const struct old_chunk *chunk)
{
	uint64_t size = chunk->size & ~(uint64_t)CHUNK_FLAGS;
	unsigned int word = walk->process.word;

	return chunk->size & CHUNK_MAPPED ? size - 2 * word : size - word;
}

static int walk_give(struct old_walking *walk,
		     int (*take)(void *context, const struct old_block *block),
		     void *context)
{
	int code = 0;

	for (size_t i = 0; i < walk->chunks.count && !code; i++) {
		const struct old_chunk *chunk = &walk->chunks.items[i];
		const struct old_block block = {
			.address = chunk->block,
			.size = block_size(walk, chunk), .word = chunk->word,
			.has_word = !(chunk->size & CHUNK_UNREAD),
		};

		if (chunk->size & CHUNK_CACHED)
			continue;
		walk->figures->blocks++;
		walk->figures->bytes += block.size;
		code = take(context, &block);
	}
	return code;
}

static int walk_once(struct old_walking *walk)
{
	sigset_t all, before;
	pthread_t thread;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&thread, NULL, walk_run, walk);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code)
		return error_set(walk->err, -code, "cannot start a thread: %s",
				 strerror(code));
	pthread_join(thread, NULL);
	return walk->code;
}

int old_walk(uint32_t pid,
	     int (*take)(void *context, const struct old_block *block),
	     void *context, struct old_figures *figures, struct error *err)
{
	struct old_walking *walk = calloc(1, sizeof(*walk));
	int code;
	struct timespec pause;

	memset(figures, 0, sizeof(*figures));
	if (!walk)
		return error_no_memory(err);
	walk->pid = pid;
	walk->figures = figures;
	walk->err = err;
	pause = (struct timespec){ .tv_nsec = PAUSE };
	code = walk_once(walk);
	for (unsigned int i = 1; walk->held && i < ATTEMPTS; i++) {
		nanosleep(&pause, NULL);
		old_process_close(&walk->process);
		memset(walk->figures, 0, sizeof(*walk->figures));
		if (walk->err)
			*walk->err = (struct error){ 0 };
		code = walk_once(walk);
	}
	if (!code)
		code = walk_give(walk, take, context);
	old_chunks_free(&walk->chunks);
	old_process_close(&walk->process);
	free(walk);
	return code;
}
