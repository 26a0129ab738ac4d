/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every way out of a function: returns and tail calls. The site is where the
 * epilogue before the exit begins: the frame is still there, and the return
 * value is set, or known. Every way through the function that ends in an exit
 * passes one site, once.
 */
#ifndef TRCUST_EXITS_H
#define TRCUST_EXITS_H

#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "lib/formats/bytes.h"

struct exits_site {
	uint64_t address;	/* of the site */
	uint64_t exit;		/* of the instruction that leaves */
	bool tail_call;		/* there is no return value yet */
	/* what the first register of results (arch.h) has at the exit, by what
	 * there is at the site; empty: it has it already */
	struct bytes result;
};

struct exits {
	struct exits_site *sites;	/* ascending */
	size_t count, room;
	struct flow_lost *lost;		/* ways out without a site */
	size_t lost_count;
};

/*
 * The exits of the function that begins at entry, which is in one of the
 * ranges. dwarf may be NULL. 0 or -ENOMEM.
 */
int exits_find(const struct flow_source *source, struct dwarf_file *dwarf,
	       uint64_t entry, const struct module_range *ranges,
	       size_t range_count, struct exits *exits);
void exits_free(struct exits *exits);

#endif
