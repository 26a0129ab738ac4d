/* SPDX-License-Identifier: GPL-2.0 */
/* The places that a TP means, and whether a probe can be at each. */
#ifndef TRCUST_SITE_PLACE_H
#define TRCUST_SITE_PLACE_H

#include "compile.h"

/* A candidate for a site. */
struct site_place {
	uint64_t address;
	uint64_t named;		/* as in compile_site; 0: the address */
	const char *symbol;	/* NULL: the nearest one */
	uint64_t base;		/* address of the symbol */
	uint64_t end;		/* of the function; 0 unknown */
	uint8_t flags;		/* TDF_SITE_* */
	bool function;		/* a function begins here: its prologue may be
				 * skipped */
	struct dwarf_from from;	/* its pc is the address */
	bool claimed;		/* the debug information or a note says that
				 * an instruction begins here */
	bool decoded;		/* the code up to here was decoded: an
				 * instruction begins here */
	uint64_t semaphore;	/* USDT: address */
	const char *arguments;
	bool loop;		/* it is hit again while the call runs */
	uint64_t entry, exit;	/* of a return point, as in compile_site */
	const struct bytes *result_rpn;
};

/* The places of one tracepoint. */
struct site_search {
	const struct compilation *c;
	const struct tsf_point *point;
	bool all;		/* "name(*)": every function of the name */
	struct site_place *places;
	size_t count, room;
};

/* An empty place; NULL after a message: no memory. */
struct site_place *site_place_add(struct site_search *s, uint64_t address);

#define SITE_LEFT_OUT	2
/* Can a probe be there? Fills the site. Of several places one that can't have
 * a probe is left out after a warning: SITE_LEFT_OUT. */
int site_place_check(const struct site_search *s,
		     const struct site_place *place, struct compile_site *site);
/* False, after a message: the segment can have no probe. */
bool site_place_check_page(const struct site_search *s,
			   const struct compile_site *site);

/* The functions, label or inlined copies that the name means; 0, 1, -1 as in
 * compile.h. */
int site_symbol_find(struct site_search *s);
/* The places of TP=.name in these. */
int site_symbol_places(struct site_search *s);
/* What the debug information has of that name, inlined copies included. 0, the
 * caller frees it; -ENOMEM. */
int site_symbol_functions(const struct compilation *c,
			  const struct tsf_point *point,
			  struct dwarf_functions *found);

#endif
