/* SPDX-License-Identifier: GPL-2.0 */
/* What mpatrol keeps of where an event was: the function that called. */
#ifndef HEAPMON_CALLER_H
#define HEAPMON_CALLER_H

#include "heapmon/core/trace.h"

#define CALLER_NAME_SIZE	1024	/* of mptrace's buffer for a name */

struct caller {
	char function[CALLER_NAME_SIZE];	/* or module+offset; "" */
	const char *file;			/* "" not known */
	uint32_t line;				/* 0 not known */
};

/* The innermost frame of the stack; all empty when there is none. */
void caller_find(const struct heap_trace *trace, uint32_t stack,
		 struct caller *caller);

#endif
