/* SPDX-License-Identifier: GPL-2.0 */
/* Append operations of expressions (include/rastrace/rpn.def). */
#ifndef LIB_RPN_EMIT_H
#define LIB_RPN_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include "rpn.h"
#include "bytes.h"

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
/* Add to the top; in a module of 32 bits (!wide) the sum is cut to 32. */
void rpn_emit_add(struct bytes *rpn, int64_t value, bool wide);
/* The top is an address: load 1, 2, 4 or 8 bytes there, zero-extended. */
void rpn_emit_deref(struct bytes *rpn, unsigned int bytes);
/* Keep the low bytes of the top, zero- or sign-extended. */
void rpn_emit_extend(struct bytes *rpn, unsigned int bytes, bool is_signed);

#endif
