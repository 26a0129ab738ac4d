/* SPDX-License-Identifier: GPL-2.0 */
/* From an exit of a function back to where its epilogue begins. */
#ifndef TRCUST_EPILOGUE_H
#define TRCUST_EPILOGUE_H

#include "exits.h"
#include "lib/debug/module/module.h"

struct epilogue_jump {
	uint64_t target, from;
	bool only;		/* it always jumps, and a probe may stand there
				 */
};

struct epilogues {
	struct flow *flow;
	const struct labels *labels;
	struct dwarf_file *dwarf;	/* NULL: none */
	uint64_t entry;			/* of the function */
	struct exits *exits;

	struct epilogue_jump *jumps;	/* ascending by target */
	size_t jump_count, jump_room;
	bool jumps_known;
};

/*
 * Add the site of the exit, at that offset of the part. Where jumps lead into
 * the middle of its epilogue, sites on these jumps as well.
 */
void epilogue_add(struct epilogues *epilogues, const struct flow_part *part,
		  uint32_t exit, bool tail_call);
void epilogue_forget(struct epilogues *epilogues);

#endif
