/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the computed jumps of a function lead: a switch by a table, gotos by
 * tables of labels. Jumps that stay inside are marked FLOW_SWITCH, what they
 * may lead to FLOW_TARGET. A table's end isn't known, and of addresses all that
 * the module has are taken: some labels too many, none too few.
 */
#ifndef TRCUST_LABELS_H
#define TRCUST_LABELS_H

#include "flow.h"

struct labels;

/* NULL: no memory. The flow must last longer. */
struct labels *labels_find(struct flow *flow);
void labels_free(struct labels *labels);

/* A way that isn't seen may lead to the address: from a jump whose labels
 * aren't known and that has the frame as it is there. */
bool labels_may_be(const struct labels *labels, uint64_t address);
/* There are jumps that stay inside. */
bool labels_any(const struct labels *labels);

/*
 * The straight line of code around an address: instructions of which either
 * all run, one after the other, or none (faults and signals left aside). No
 * jump leads to another one than the first, only the last may jump, call or
 * return.
 */
struct block_insn {
	uint64_t address;
	const uint8_t *bytes;
	struct arch_insn insn;
};

struct block {
	struct block_insn *insns;
	size_t count;
	size_t at;		/* index of the address asked for */
	bool entry;		/* the first is where the function is entered:
				 * below the stack pointer is nothing yet */
	const char *before;	/* why it doesn't begin earlier, "a jump leads
				 * to its start" */
	const char *after;	/* why it doesn't end later */
};

/*
 * The block around address in the function whose code was decoded; at least
 * the instruction itself. One that goes on for very long is cut. 0; -ENOENT: no
 * instruction is known to begin there; -ENOMEM.
 */
int block_find(struct flow *flow, const struct labels *labels, uint64_t entry,
	       uint64_t address, struct block *block);
void block_free(struct block *block);

#endif
