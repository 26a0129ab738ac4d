/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The heap as the events leave it: which blocks live, and what each event meant.
 * A block is known by process and address.
 */
#ifndef HEAPMON_MODEL_H
#define HEAPMON_MODEL_H

#include "trace.h"

struct heap_block {
	uint64_t address, size;
	uint64_t index;		/* from 1, in the order in which blocks came, or
				 * the file's own; kept by a REALLOC */
	uint64_t number;	/* of the event that made it, from 1; of a REALLOC:
				 * the first */
	int64_t time;		/* of the event that made it, or resized it */
	uint32_t pid, tid;	/* who made it */
	uint32_t stack;
	enum heap_function function;
	bool old;		/* it was there before; also what a new process
				 * has of its parent's */
	bool left;		/* it was not freed before its process ended, or
				 * executed another program */
};

/* What is wrong with an event. */
#define HEAP_WRONG_UNKNOWN	0x01	/* FREE, REALLOC of a block that was
					 * never seen: kept apart, no error */
#define HEAP_WRONG_DOUBLE	0x02	/* ... that was freed already, and not
					 * given out since */
#define HEAP_WRONG_INSIDE	0x04	/* ... inside of a block that lives */
#define HEAP_WRONG_KIND		0x08	/* new with free, malloc with delete, new[]
					 * with delete ... */
#define HEAP_WRONG_TWICE	0x10	/* ALLOC of an address where a block lives;
					 * the older one is taken for lost */
#define HEAP_WRONG_OVERLAP	0x20	/* ALLOC across a block that lives */
#define HEAP_WRONG_LATE		0x40	/* REALLOC: its old block was taken for lost
					 * before (TWICE), but another thread
					 * got its address while this call was
					 * under way: neither was wrong. `gone`
					 * is NULL */

/*
 * One event, understood. Blocks stay as they are until the next event. After a
 * LOSS what may be its fault isn't called wrong: then an ALLOC may have a block
 * that went without TWICE, and a double free is UNKNOWN.
 *
 * realloc is known when it returns, but gives its old block away before: others
 * may have got that meanwhile. TWICE and OVERLAP are sure only when no step
 * that `excuses` them has come.
 */
struct heap_step {
	const struct heap_event *event;
	uint64_t number;		/* of the event: of ALLOC, REALLOC, FREE,
					 * OLD, GROW, INTERNAL, from 1 */
	const struct heap_block *gone;	/* FREE, REALLOC, or ALLOC of an address
					 * where one lived: the block that went;
					 * NULL: unknown */
	const struct heap_block *lost;	/* REALLOC: a block that lived where it
					 * came to: taken for lost, TWICE */
	const struct heap_block *came;	/* ALLOC, REALLOC, OLD: the block as it
					 * is now; NULL: OLD of one that lives
					 * already */
	const struct heap_block *other;	/* DOUBLE: as it was when it was freed;
					 * INSIDE, OVERLAP: the one that lives */
	bool temporary;			/* FREE: nothing else was allocated between
					 * (by its process) */
	unsigned int wrong;		/* HEAP_WRONG_* */
	bool excuses;			/* REALLOC, or FREE by realloc: TWICE and
					 * OVERLAP by events after number `since`,
					 * of the block that it takes, were no
					 * errors */
	uint64_t since;			/* its thread's event before: from there on
					 * the call may have been under way */
	bool cache;			/* FREE of a block that doesn't live, by the
					 * allocator itself: it empties the cache of
					 * a thread that ends. Not the program's:
					 * reading_run() passes it over */
	struct heap_process *ended[2];	/* EXIT, EXEC, FORK: whose blocks are left:
					 * heap_step_next_left() */
};

struct heap_totals {
	uint64_t count, bytes;
};

static inline void heap_totals_add(struct heap_totals *totals, uint64_t bytes)
{
	totals->count++;
	totals->bytes += bytes;
}

/* All of them; those that have ended, too. */
struct heap_processes {
	struct heap_process *first;	/* blocks.h */
	struct key_map newest;		/* of each id */
};

struct heap_model {
	const struct heap_trace *trace;
	struct heap_processes processes;
	struct key_map threads;		/* numbers of threads, by process and
					 * thread id */
	uint64_t *thread_events;	/* number of the last event of each */
	size_t thread_count, thread_room;
	uint64_t events, indices;
	/* Without old blocks, as they were recorded (not weighted). live: not
	 * freed, with those that are left; peak: of bytes, without them. */
	struct heap_totals allocated, freed, live, left, peak;
	struct heap_totals old;		/* that live */
	struct heap_totals unknown;	/* frees of these; bytes: 0 */
	uint64_t temporary;
	int64_t peak_time;
	uint64_t peak_number;		/* of the event */
	struct heap_block gone, lost, other;	/* the step's */
	uint64_t loss;			/* events before the last LOSS */
	bool losing;			/* which lasts */
};

void heap_model_init(struct heap_model *model, const struct heap_trace *trace);
void heap_model_free(struct heap_model *model);
/* Take an event; *step says what it meant. 0 or -ENOMEM. */
int heap_model_apply(struct heap_model *model, const struct heap_event *event,
		     struct heap_step *step);

/* Where a walk of blocks is; begins as { 0 }. */
struct heap_each {
	const struct heap_process *process;
	size_t at;
	unsigned int maps;
};

/* Blocks that were not freed, in no order, one at each call; those that are left
 * are among them, what a new process has of its parent's isn't. NULL: no more. */
const struct heap_block *heap_model_next(const struct heap_model *model,
					 struct heap_each *each);
/* The blocks that are left by this step, which ended their process. */
const struct heap_block *heap_step_next_left(const struct heap_step *step,
					     struct heap_each *each);
/* The one that lives; NULL: there is none. */
const struct heap_block *heap_model_find(const struct heap_model *model,
					 uint32_t pid, uint64_t address);

#endif
