/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the events of a file refer to, and what is known of the file as a whole.
 * Frames are places in the code; a stack is a node in the tree of callers:
 * its frame called from its parent's.
 */
#ifndef HEAPMON_TRACE_H
#define HEAPMON_TRACE_H

#include <stdbool.h>
#include "event.h"
#include "strings.h"

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
	bool stopped;		/* no frame: `symbol` says why there are no more,
				 * "(stopped: no frame pointer)" */
};

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
 * nothing is; text for the terminal (lib/safe_text.h). */
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
