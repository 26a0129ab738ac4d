/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happened on a heap, whatever file it was read from, and what is known of
 * the file as a whole. A reader gives its events to a sink, one by one, in the
 * order of time; strings, frames and stacks in them are numbers in the trace that
 * they belong to. Frames are places in the code; a stack is a node in the tree of
 * callers: its frame called from its parent's.
 */
#ifndef HEAPMON_TRACE_H
#define HEAPMON_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/error.h"
#include "lib/key_map.h"
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

/* Strings, each once, numbered from 1; 0 is "". Starts as { 0 }. */
struct heap_strings {
	char **items;		/* stay where they are; items[0] is NULL */
	size_t count, room;	/* with number 0 */
	struct key_map numbers;	/* by hash */
	bool failed;		/* out of memory: one is missing */
};

/* The number of a string; 0 also when there is no memory (strings->failed). */
uint32_t heap_strings_add(struct heap_strings *strings, const char *text);
/* The string has at most `length` bytes, and ends at a zero. */
uint32_t heap_strings_add_length(struct heap_strings *strings,
				 const char *text, size_t length);
const char *heap_strings_get(const struct heap_strings *strings,
			     uint32_t number);
void heap_strings_free(struct heap_strings *strings);

/* Without padding: frames are equal when their bytes are. */
struct heap_frame {
	uint64_t address;	/* as it ran; 0: not known */
	uint64_t module_offset;	/* in its module's file */
	uint64_t offset;	/* from the symbol's begin */
	uint32_t module;	/* string: path; 0 not known */
	uint32_t symbol;	/* string, demangled; 0 not known */
	uint32_t file;		/* string: of the source; 0 not known */
	uint32_t line;		/* 0: not known */
	uint32_t tag;		/* string: the system that a memory tracker's
				 * program names for what is allocated here */
	uint32_t stopped;	/* true: no frame; `symbol` says why there are no
				 * more, "(stopped: no frame pointer)" */
};

_Static_assert(sizeof(struct heap_frame) == 48, "padding");

struct heap_stack {
	uint32_t parent;	/* stack of the caller; 0: none */
	uint32_t frame;		/* number of its frame */
	uint32_t depth;		/* frames from here to the outermost */
};

struct heap_trace {
	struct heap_strings strings;
	struct heap_frame *frames;	/* 0: none */
	size_t frame_count, frame_room;
	struct heap_stack *stacks;	/* 0: the empty stack */
	size_t stack_count, stack_room;
	struct key_map frame_numbers;	/* by hash */
	struct key_map stack_numbers;	/* by parent and frame */
	bool failed;		/* out of memory: something is missing */

	/* of the file */
	uint32_t command;	/* string: command line, or a process' name */
	uint32_t host;		/* string */
	uint64_t sample;	/* --sample bytes: a block of n bytes is here with
				 * the chance 1 - exp(-n / sample); 0: all are */
	uint64_t min_size;	/* smaller blocks are not here */
	uint64_t page;		/* bytes; 0: not known */
	unsigned int bits;	/* of a pointer; 0: not known */
	bool big_endian;	/* of the machine it is of */
	bool no_time, no_stack;	/* the format has none */
	bool tagged;		/* frames may have tags */
	int64_t begin, end;	/* wall clock, ns; HEAP_NO_TIME */
	uint64_t lost;		/* events in all; HEAP_LOST_UNKNOWN: some */
	uint64_t damaged;	/* places where the file couldn't be read */
};

void heap_trace_init(struct heap_trace *trace);
void heap_trace_free(struct heap_trace *trace);
/* An event was at that time, or HEAP_NO_TIME. */
void heap_trace_widen(struct heap_trace *trace, int64_t time);

/* The number of a frame that is like this one; equal ones are one. */
uint32_t heap_trace_frame(struct heap_trace *trace,
			  const struct heap_frame *frame);
/* The number of the stack of `frame` called from `parent`. 0: no memory. */
uint32_t heap_trace_stack(struct heap_trace *trace, uint32_t parent,
			  uint32_t frame);

static inline const char *heap_text(const struct heap_trace *trace,
				    uint32_t string)
{
	return heap_strings_get(&trace->strings, string);
}

/* "work+0x14 app.c:33 (app) [tag]" without what isn't known; "0x7f.." when
 * nothing is; text for the terminal (lib/text.h). */
void heap_frame_print(const struct heap_trace *trace, uint32_t frame,
		      char *text, size_t size);
/* The name alone: symbol, else module+offset, else the address; and "[tag]". */
void heap_frame_name(const struct heap_trace *trace, uint32_t frame,
		     char *text, size_t size);
/* The same without the tag; "" when there is nothing but the tag. */
void heap_frame_place(const struct heap_trace *trace, uint32_t frame,
		      char *text, size_t size);
/* The tag of what a stack allocates; 0: none. */
static inline uint32_t heap_stack_tag(const struct heap_trace *trace,
				      uint32_t stack)
{
	return trace->frames && stack < trace->stack_count ?
		trace->frames[trace->stacks[stack].frame].tag : 0;
}

/* How many blocks one of `size` bytes represents: 1 without sampling. */
double heap_trace_weight(const struct heap_trace *trace, uint64_t size);

#endif
