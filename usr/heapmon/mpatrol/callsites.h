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
	uint32_t *place;	/* of an item, by index */
	struct callsite_symbol *symbols;	/* by number - 1, in the order
						 * in which items need them */
	size_t symbol_count;
	bool apart;		/* set by the caller: those of a symbol are
				 * different places */
	bool made_up;		/* there are places whose address isn't known:
				 * they have got one each */
	bool stopped;		/* there are stacks that end early */
};

/* Zero but for `apart` before. 0 or -ENOMEM; callsites_free() in any case. */
int callsites_make(struct callsites *callsites,
		   const struct heap_profile *profile);
void callsites_free(struct callsites *callsites);

static inline const struct callsite *
callsites_caller(const struct callsites *sites, const struct callsite *site)
{
	return &sites->items[sites->place[site->parent]];
}

/* A call site's place is its symbol, if it has one, unless they are `apart`. */
static inline bool callsites_by_symbol(const struct callsites *sites,
				       const struct callsite *site)
{
	return !sites->apart && site->symbol;
}

static inline bool callsites_same_place(const struct callsites *sites,
					const struct callsite *a,
					const struct callsite *b)
{
	return a->address == b->address ||
	       (callsites_by_symbol(sites, a) && a->symbol == b->symbol);
}

static inline uint64_t callsites_place_key(const struct callsites *sites,
					   const struct callsite *site)
{
	return callsites_by_symbol(sites, site) ? UINT64_MAX - site->symbol :
						  site->address;
}

/* Call sites at one place with the same callers, taken together. */
struct callsite_group {
	const struct callsite *site;	/* the first one */
	struct heap_sums sums;
};

/* Those where something was allocated, for free(). Callers are compared up to
 * `depth` frames in all; 0: all. NULL: no memory. */
struct callsite_group *callsites_groups(const struct callsites *sites,
					unsigned int depth, size_t *count);

#endif
