/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happened on a heap, whatever file it was read from. A reader gives its
 * events to a sink, one by one, in the order of time; strings, frames and stacks
 * in them are numbers in the trace that they belong to (trace.h).
 */
#ifndef HEAPMON_EVENT_H
#define HEAPMON_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "function.h"

enum heap_kind {
	HEAP_ALLOC,		/* a block came */
	HEAP_REALLOC,		/* `old` became address, size */
	HEAP_FREE,		/* the block at `address` went */
	HEAP_OLD,		/* a block that was there before */
	HEAP_GROW,		/* the heap's memory: address, size */
	HEAP_INTERNAL,		/* memory of the tracer itself in it (MTRC's I) */
	HEAP_BEGIN,		/* `pid` is recorded from here on */
	HEAP_FORK,		/* `pid` is a new process, child of `parent` */
	HEAP_EXEC,		/* all blocks of `pid` are gone */
	HEAP_EXIT,		/* all blocks of `pid` are gone: it has ended */
	HEAP_LOSS,		/* `lost` events are missing here; UNKNOWN: some */
};

#define HEAP_LOST_UNKNOWN	UINT64_MAX

/* Type of the object in a block that is freed, or old. */
enum heap_type {
	HEAP_TYPE_NONE,		/* not known */
	HEAP_TYPE_NO_TABLE,	/* its first word is 0 ("novtbl") */
	HEAP_TYPE_OTHER,	/* it leads to no vtable ("notype") */
	HEAP_TYPE_NAMED,	/* `type` names the class */
};

struct heap_event {
	enum heap_kind kind;
	enum heap_function function;
	uint32_t pid, tid;	/* 0: not known */
	uint32_t parent;	/* FORK */
	int64_t time;		/* wall clock, ns since 1970; HEAP_NO_TIME: not
				 * known */
	uint64_t address, size;
	uint64_t old;		/* REALLOC: the block before; 0: not known, or
				 * none */
	uint64_t index;		/* of the block in a file that numbers them; 0 */
	uint64_t lost;		/* LOSS */
	bool lasts;		/* LOSS: events may be missing from here on
				 * until the next LOSS */
	uint32_t stack;		/* the callers; 0: not known */
	uint32_t type;		/* string; TYPE_NAMED */
	enum heap_type type_kind;
	uint32_t tag;		/* string: what the file calls the allocator; 0:
				 * `function` names it */
};

#define HEAP_NO_TIME	INT64_MIN

/* What takes events. take() returns 0, or a negative errno with err set,
 * which ends the reading. */
struct heap_sink {
	int (*take)(void *context, const struct heap_event *event,
		    struct error *err);
	void *context;
};

static inline int heap_sink_take(const struct heap_sink *sink,
				 const struct heap_event *event,
				 struct error *err)
{
	return sink->take(sink->context, event, err);
}

#endif
