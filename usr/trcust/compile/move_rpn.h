/* SPDX-License-Identifier: GPL-2.0 */
/* What has a value of the nominal address at the site: one value, and the
 * expressions of statements. */
#ifndef TRCUST_MOVE_RPN_H
#define TRCUST_MOVE_RPN_H

#include "move.h"
#include "state.h"

struct move {
	const struct block *block;
	struct module *module;
	struct dwarf_file *dwarf;
	enum move_mode mode;
	bool wide;
	size_t nominal, site;	/* indices in the block */
	size_t low, high;	/* the same, in order */
	struct state state;	/* at `high` */
	bool entry;		/* it begins where the function does */
	struct state_value registers_low[ARCH_REGISTERS];
	struct state_value vectors_low[ARCH_VECTORS];
	/* of the two addresses */
	const struct state_value *at_nominal, *at_site;
	const struct state_value *vectors_nominal, *vectors_site;
	size_t flags;		/* of those between, the first that changes the
				 * flags; SIZE_MAX none */
	bool gone;		/* what was above the stack pointer may be below
				 * it at the site */
	char *why;		/* MOVE_WHY bytes of the caller */
	struct bytes *rpn;	/* to which those for the site are appended */
};

/* What the instruction does; false: not known. */
bool move_effect_find(const struct move *move, size_t index,
		      struct arch_effect *effect);
/* Sets move->why: "'xor %edi, %edi' changes rdi". Returns 1. */
int move_report(const struct move *move, const char *before, size_t insn,
		const char *after) __attribute__((nonnull(2, 4)));
int move_report_text(const struct move *move, const char *text);
/* The register's value is not available. */
int move_report_register(const struct move *move, unsigned int number);

/* A value that an expression has come to, as of the nominal address. */
struct move_entry {
	struct state_value value;	/* STATE_NONE: not known */
	bool clean;		/* see struct state_other */
	bool outside;		/* as an address it doesn't point to a frame
				 * that is gone at the site */
	int missing;		/* a register that is not available; -1 */
	size_t start, end;	/* what pushes it and does nothing else, in the
				 * output; no longer known: SIZE_MAX */
};

/* What the memory at an address has at the nominal one: 0 it has the same at
 * the site; 1 *value has it from its byte *from on; -1 neither. */
int move_memory_find(const struct move *move, const struct move_entry *entry,
		     unsigned int bytes, struct state_value *value,
		     unsigned int *from);
/* Appends that as a value, of 1 to 8 bytes, of which `need` are wanted. */
bool move_memory_emit(const struct move *move, const struct state_value *value,
		      unsigned int from, unsigned int bytes, unsigned int need);

/*
 * Appends the expression, which leaves one value, or two (`far`), for the site;
 * of the last the low `need` bytes are wanted. *entry: what that is, which may
 * be missing. 0, 1, -ENOMEM as move_stmt().
 */
int move_rpn(const struct move *move, const uint8_t *bytes, size_t size,
	     bool far, unsigned int need, struct move_entry *entry);

#endif
