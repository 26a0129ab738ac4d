/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read address expressions (include/rastrace/rpn.def): one operation at a time,
 * and the check that makes an expression safe to generate code from.
 */
#ifndef LIB_RPN_H
#define LIB_RPN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "bytes.h"

enum rpn_operand {
	RPN_NONE, RPN_U1, RPN_S1, RPN_U2, RPN_S2, RPN_U4, RPN_S4, RPN_U8,
	RPN_S8, RPN_ULEB, RPN_SLEB, RPN_ULEB_SLEB, RPN_ADDR, RPN_SIZE, RPN_JUMP,
	RPN_ENTRY, RPN_TREE,
};

/* DW_OP_ codes by name: RPN_plus_uconst = 0x23 ...; ranges by their first */
enum rpn_code {
#define RPN_OP(name, code, operand, pops, pushes) RPN_##name = code,
#define RPN_OP_RANGE(name, first, last, operand, pops, pushes) \
	RPN_##name = first, RPN_##name##_last = last,
#include <rastrace/rpn.def>
#undef RPN_OP
#undef RPN_OP_RANGE
};

#define RPN_STEPS_MAX	32	/* of tree_next */

struct rpn_op {
	size_t at;		/* offset of the operation */
	size_t next;		/* offset after its operands */
	uint8_t code;		/* as in the bytes (lit5 = 0x35) */
	uint8_t index;		/* code - first code of a range, else 0 */
	uint8_t pops, pushes;
	enum rpn_operand operand;
	const char *name;	/* "plus_uconst", "lit", "breg" */
	uint64_t a;		/* first operand; sign-extended when signed; for
				 * jumps the absolute offset of the target;
				 * entry_value: the register */
	int64_t b;		/* second operand of bregx and vector;
				 * entry_value: the offset, where it's memory */
	uint8_t bytes;		/* entry_value: of the memory; 0: none, but the
				 * register itself */
	struct rpn_tree {	/* tree_next: see rpn.def */
		uint32_t left, right, parent;
		uint8_t steps;
	} tree;
};

/*
 * Decode the operation at `at`. 0, or -EINVAL: unknown operation, operand cut
 * off, LEB128 longer than 64 bits, jump backwards or past the end.
 */
int rpn_decode(const uint8_t *rpn, size_t size, size_t at, struct rpn_op *op);

/*
 * The operations of an expression, one at each call: begin with a zeroed *op.
 * false: no more, and then op->next == size, or the operation at op->next is
 * bad.
 */
bool rpn_next(const uint8_t *rpn, size_t size, struct rpn_op *op);

/* Decode an expression of exactly one operation; false: it isn't. */
bool rpn_single(const uint8_t *rpn, size_t size, struct rpn_op *op);

/* Does it push a constant? */
bool rpn_is_constant(const struct rpn_op *op, int64_t *value);
/* Does it push a register plus an offset? */
bool rpn_is_register(const struct rpn_op *op, uint64_t *number,
		     int64_t *offset);
/* Does it read memory? */
bool rpn_is_deref(const struct rpn_op *op);
/* The numbers of what is kept that an expression uses, as bits. */
unsigned int rpn_kept(const uint8_t *rpn, size_t size);
/* Does it use what the call's entry has left (elapsed, cputime, at_entry)? *values: as many
 * of its values. */
bool rpn_has_entry(const uint8_t *rpn, size_t size, unsigned int *values);

/*
 * Check a whole expression: every operation decodes, jumps land on
 * operations and agree in stack depth, the depth stays within 0 and
 * TDF_RPN_STACK, `entries` are left: one, or two (selector and offset) of a
 * far address. 0 or -EINVAL with err set.
 */
int rpn_check(const uint8_t *rpn, size_t size, int entries, struct error *err);

/* "breg7+8; deref; plus_uconst 6" into text, cut to its size. */
void rpn_print(const uint8_t *rpn, size_t size, char *text, size_t text_size);

/* Append operations of expressions (include/rastrace/rpn.def). */

void rpn_emit_op(struct bytes *rpn, uint8_t code);
void rpn_emit_uleb(struct bytes *rpn, uint64_t value);
void rpn_emit_sleb(struct bytes *rpn, int64_t value);
/* Low `bytes` bytes of value, as an operand. */
void rpn_emit_fixed(struct bytes *rpn, uint64_t value, int bytes);

/* Push a constant, in the shortest form. */
void rpn_emit_const(struct bytes *rpn, int64_t value);
/* Push an address as linked: it moves with the load bias. */
void rpn_emit_addr(struct bytes *rpn, uint64_t address);
/* Push register + displacement. */
void rpn_emit_register(struct bytes *rpn, unsigned int number,
		       int64_t displacement);
/* Push 8 bytes of a vector register, from the low or the high half. */
void rpn_emit_vector(struct bytes *rpn, unsigned int number, bool high);
/* Push a value as of the call's entry. */
void rpn_emit_at_entry(struct bytes *rpn, unsigned int number);
/* Push what an earlier statement kept; the node after the one on top. */
void rpn_emit_kept(struct bytes *rpn, unsigned int number);
void rpn_emit_tree_next(struct bytes *rpn, const struct rpn_tree *tree);
/* Add to the top; in a module of 32 bits (!wide) the sum is cut to 32. */
void rpn_emit_add(struct bytes *rpn, int64_t value, bool wide);
/* The top is an address: load 1, 2, 4 or 8 bytes there, zero-extended. */
void rpn_emit_deref(struct bytes *rpn, unsigned int bytes);
/* Keep the low bytes of the top, zero- or sign-extended. */
void rpn_emit_extend(struct bytes *rpn, unsigned int bytes, bool is_signed);

#endif
