/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions of the module: where they begin, which can be probed. */
#ifndef TRCUST_CODE_H
#define TRCUST_CODE_H

#include "lib/debug/arch/arch.h"
#include "module_elf.h"

enum code_verdict {
	CODE_GOOD,
	CODE_REFUSED,		/* insn->why */
	CODE_INSIDE,		/* not where an instruction begins */
	CODE_UNDECODABLE,	/* bytes that are no instruction on the way */
};

struct code_site {
	uint64_t address;
	const uint8_t *bytes;
	uint64_t offset;	/* in the file */
	struct arch_insn insn;
	uint64_t before, after;	/* nearest good addresses; 0 none */
};

/*
 * Look at the instruction at site->address, decoding from the start of the
 * function around it, or from `label` where no function is known. When that is
 * the address itself, data on the way there don't matter. The address must be
 * in code (module_code()). Negative errno: -ENOMEM.
 */
int code_check(struct module *module, uint64_t label, struct code_site *site);
/* The same where an instruction is known to begin. */
int code_look(struct module *module, struct code_site *site);

/* The instruction at code + at, of `size` bytes, at the address. It is refused
 * where it must not be interrupted, or (`held`) where one before it, the first
 * of which is at code, holds it. False: there is none. */
bool code_decode(struct module *module, const uint8_t *code, size_t size,
		 size_t at, uint64_t address, bool held,
		 struct arch_insn *insn);
/* Why no probe may be at the address; NULL: it is in no section that a
 * descriptor in the file has. */
const char *rseq_refuses(struct module *module, uint64_t address);
/* A probe may be on this instruction. */
bool code_is_good(const struct module *module, const struct arch_insn *insn);

/*
 * Does every call of the function that begins at start come to the address,
 * and once only? False, too, when its code can't be followed.
 */
bool code_reached_once(struct module *module, uint64_t start, uint64_t address);

/* Does the function around the address jump to it, as far as it can be decoded? */
bool code_jumps_to(struct module *module, uint64_t address);

/*
 * Of a function of Go: the address after the check that it has enough stack,
 * which it comes back to when the stack has grown; else `start`.
 */
uint64_t code_after_stack_check(struct module *module, uint64_t start);

/* Free what was decoded. */
void code_forget(struct module *module);

#endif
