/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a report shows, summed up while a file is read: per stack, by size, by
 * type, over time, per thread, and what is wrong. In all sums a block counts by
 * its weight (heap_trace_weight()).
 */
#ifndef HEAPMON_DIGEST_H
#define HEAPMON_DIGEST_H

#include "heapmon/core/reading.h"
#include "lib/key_map.h"

/* Blocks and their bytes. */
struct digest_sum {
	double count, bytes;
};

static inline void digest_sum_merge(struct digest_sum *sum,
				    const struct digest_sum *more)
{
	sum->count += more->count;
	sum->bytes += more->bytes;
}

struct digest_site {
	struct digest_sum allocated, freed;	/* freed: blocks of this stack */
	struct digest_sum kept;		/* not freed to the end, or to the end
					 * of their process */
	struct digest_sum left;		/* of kept: their process has ended */
	struct digest_sum present;	/* while it is read */
	struct digest_sum peak;		/* when the whole heap was largest */
	uint64_t peak_seen;
	double temporary;
	uint64_t youngest, oldest;	/* age of those that are kept, ns */
};

/* Items that begin with what they are known by, in the order in which they were
 * met. */
struct digest_set {
	void *items;
	size_t size, words;		/* bytes of an item; words of its key */
	size_t count, room;
	struct key_map numbers;		/* of items, from 1, by hash */
};

struct digest_thread {
	uint32_t pid, tid;		/* known by these */
	struct digest_sum allocated, freed;
	double temporary;
	double foreign;			/* freed blocks of other threads */
};

struct digest_type {
	uint32_t kind;			/* enum heap_type */
	uint32_t type;			/* string; NAMED. Known by these */
	struct digest_sum freed;
	struct digest_sum old;
	double lifetime;		/* of the freed ones in all, ns */
};

/* Blocks of up to 8, 16, 32 ... bytes; the last: all that are larger. */
#define DIGEST_SIZES	48
#define DIGEST_SIZE_LEAST	8

struct digest_size {
	struct digest_sum allocated, kept;
};

/* Spans of time, as long as it takes for this many to reach to the end. */
#define DIGEST_SPANS	32

struct digest_span {
	struct digest_sum allocated, freed;
	double most, last;		/* bytes present: the most of them; at
					 * the end */
	bool used;			/* something happened in it */
};

/* The same thing wrong at the same place. */
struct digest_wrong {
	uint32_t wrong;			/* HEAP_WRONG_*, one of them */
	uint32_t stack;			/* where it was done */
	uint32_t other_stack;		/* where that block was allocated. Known
					 * by these */
	uint64_t count;
	uint64_t number;		/* of the first event; and */
	struct heap_event event;
	struct heap_block other;	/* the block it was about; size 0, number
					 * 0: none */
};

#define DIGEST_WRONG_MOST	4096	/* more are counted, not kept */

/* TWICE or OVERLAP, of one block, at one place: wrong when no step excuses it.
 * Known by the first ones. */
struct digest_doubt {
	uint32_t wrong, stack, other_stack, pid;
	uint32_t address[2], made[2];	/* of the block; its number */
	uint64_t last;			/* number of the last event */
	struct digest_wrong it;
};

#define DIGEST_DOUBTS_MOST	2048	/* the older ones of more are wrong */

struct digest {
	struct heap_trace *trace;
	struct digest_site *sites;	/* by stack */
	size_t site_count, site_room;
	struct digest_set threads, types;
	struct digest_set wrongs;	/* in order at the end */
	struct digest_set doubts;
	uint64_t wrong_more;
	struct digest_size sizes[DIGEST_SIZES];
	struct digest_span spans[DIGEST_SPANS];
	int64_t span_begin;		/* ns; HEAP_NO_TIME: none yet */
	uint64_t span_length;
	struct digest_sum allocated, freed, kept, present, peak, old, reserved;
	struct digest_sum left;		/* of kept: their process has ended */
	uint64_t peak_number;		/* counts up */
	int64_t peak_time;		/* of the event; or HEAP_NO_TIME */
	double temporary;
	uint64_t unknown;		/* releases of blocks never seen */
	uint32_t processes;
	bool sums;			/* from a file of sums: no times */
	bool failed;			/* no memory: something is missing */
};

static inline const struct digest_thread *
digest_threads(const struct digest *digest)
{
	return digest->threads.items;
}

static inline const struct digest_type *
digest_types(const struct digest *digest)
{
	return digest->types.items;
}

static inline const struct digest_wrong *
digest_wrongs(const struct digest *digest)
{
	return digest->wrongs.items;
}

void digest_init(struct digest *digest, struct heap_trace *trace);
void digest_free(struct digest *digest);
/* A follower's step(); `context` is the digest. */
int digest_step(void *context, const struct heap_model *model,
		const struct heap_step *step, struct error *err);
/* When all is read: what is kept. 0, or -ENOMEM with err set. */
int digest_end(struct digest *digest, const struct heap_model *model,
	       struct error *err);
/* Instead of steps: from a file of sums. */
int digest_take_profile(struct digest *digest,
			const struct heap_profile *profile, struct error *err);
/* Blocks of this size and all smaller ones down to the next; the last has
 * UINT64_MAX. */
uint64_t digest_size_most(unsigned int class);
/* "double free" */
const char *digest_wrong_text(unsigned int wrong);
/* What it was done to: a realloc may be wrong in what it takes, or gives. */
uint64_t digest_wrong_address(const struct digest_wrong *wrong);

#endif
