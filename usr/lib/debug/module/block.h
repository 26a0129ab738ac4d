/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The straight line of code around an address: instructions of which either
 * all run, one after the other, or none (faults and signals left aside). No
 * jump leads to another one than the first, only the last may jump, call or
 * return.
 */
#ifndef TRCUST_BLOCK_H
#define TRCUST_BLOCK_H

#include "flow.h"
#include "labels.h"

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
