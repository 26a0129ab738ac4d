/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Critical sections of restartable sequences (rseq(2)): the kernel has a thread
 * that it interrupts in one begin again. It single-steps a probed instruction
 * elsewhere, where it does not see the section any more.
 */
#ifndef TRCUST_RSEQ_H
#define TRCUST_RSEQ_H

#include "module_elf.h"

struct rseq {
	struct rseq_range {
		struct module_range range;
		bool signature;		/* what the kernel compares before it
					 * goes to the abort handler */
	} *list;
	size_t count, room;
};

/* Why no probe may be at the address; NULL: it is in no section that a
 * descriptor in the file has. */
const char *rseq_refuses(struct module *module, uint64_t address);
void rseq_forget(struct module *module);

#endif
