/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack machine of DWARF expressions: its operations become those of a TDF.
 * Functions return what dwarf_expression_emit() returns.
 */
#ifndef TRCUST_DWARF_MACHINE_H
#define TRCUST_DWARF_MACHINE_H

#include "lib/formats/bytes.h"
#include "dwarf_frame.h"

#define DWARF_STACK_MAX	24	/* rpn_check() allows the 16 of a TDF */
#define DWARF_JUMPS_MAX	32
#define NO_START	SIZE_MAX

struct expression_type {
	uint8_t bytes;
	bool is_signed, generic;
};

struct expression_entry {
	struct expression_type type;
	size_t start;		/* of the code that pushed it, or NO_START */
	bool uncut;		/* has more than 32 bits */
};

struct machine_jump {
	size_t target;		/* offset in the DWARF expression */
	size_t operand;		/* where in rpn */
	unsigned int depth;
	struct expression_entry stack[DWARF_STACK_MAX];
};

struct dwarf_machine {
	const struct dwarf_context *context;
	Dwarf_Attribute *attr;
	struct bytes *rpn;
	struct error *err;
	bool wide;
	bool dead;		/* after a skip */
	unsigned int depth;
	struct expression_entry stack[DWARF_STACK_MAX];
	unsigned int jump_count;
	struct machine_jump jumps[DWARF_JUMPS_MAX];
};

/* "its location is damaged"; -EINVAL. */
int dwarf_machine_damaged(struct dwarf_machine *m);
struct expression_entry *dwarf_machine_top(struct dwarf_machine *m);
/* Make an entry of the generic type, whose code the caller emits. */
int dwarf_machine_push(struct dwarf_machine *m);
/* Add to the top; what is one operation stays one. */
void dwarf_machine_add(struct dwarf_machine *m, int64_t value);

/* The base type at the offset in the operation's unit; 0: the generic one. */
int dwarf_machine_read_type(struct dwarf_machine *m, const Dwarf_Op *op,
			    uint64_t offset, struct expression_type *type);
/* The top becomes a value of the type; the low bytes are kept. */
void dwarf_machine_convert(struct dwarf_machine *m,
			   struct expression_type type);

/* An operation that reads neither registers nor frames. */
int dwarf_machine_run(struct dwarf_machine *m, const Dwarf_Op *op);

/* Jumps to `target` end here: after an unconditional one the stack is again as
 * it was at the jump. `last` takes those to the end. */
int dwarf_machine_land(struct dwarf_machine *m, size_t target, bool last);
/* The end of the expression, whose last operation is at the offset `last`. */
int dwarf_machine_end(struct dwarf_machine *m, size_t last);

#endif
