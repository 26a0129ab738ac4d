/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stacks of a profile as mpatrol keeps them: call sites in ascending order
 * of address, each with its caller's.
 */
#ifndef HEAPMON_CALLSITES_H
#define HEAPMON_CALLSITES_H

#include "heapmon/core/profile.h"

struct callsite {
	uint64_t address;
	uint32_t index;		/* from 1, a caller's is lower */
	uint32_t parent;	/* index of the caller's; 0: none */
	uint32_t symbol;	/* from 1; 0: none */
	const struct heap_site *from;	/* NULL: nothing was allocated here */
};

struct callsite_symbol {
	uint64_t address;
	uint32_t name;		/* string */
};

struct callsites {
	struct callsite *items;
	size_t count;
	struct callsite_symbol *symbols;	/* by number - 1, in the order
						 * in which items need them */
	size_t symbol_count;
	bool made_up;		/* there are places whose address isn't known:
				 * they have got one each */
	bool stopped;		/* there are stacks that end early */
};

/* 0 or -ENOMEM; callsites_free() in any case. */
int callsites_make(struct callsites *callsites,
		   const struct heap_profile *profile);
void callsites_free(struct callsites *callsites);

#endif
