// SPDX-License-Identifier: GPL-2.0
#include "rpn_emit.h"

void rpn_emit_op(struct bytes *rpn, uint8_t code)
{
	bytes_add(rpn, &code, 1);
}

void rpn_emit_uleb(struct bytes *rpn, uint64_t value)
{
	do {
		rpn_emit_op(rpn, (value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

void rpn_emit_sleb(struct bytes *rpn, int64_t value)
{
	bool more;

	do {
		uint8_t low = value & 0x7f;

		value >>= 7;
		more = value != (low & 0x40 ? -1 : 0);
		rpn_emit_op(rpn, low | (more ? 0x80 : 0));
	} while (more);
}

void rpn_emit_fixed(struct bytes *rpn, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		rpn_emit_op(rpn, value >> (8 * i));
}

void rpn_emit_const(struct bytes *rpn, int64_t value)
{
	if (value >= 0 && value < 32) {
		rpn_emit_op(rpn, RPN_lit + value);
	} else if (value >> 56 && value >> 55 != -1) {
		rpn_emit_op(rpn, RPN_const8u);
		rpn_emit_fixed(rpn, value, 8);
	} else if (value >= 0) {
		rpn_emit_op(rpn, RPN_constu);
		rpn_emit_uleb(rpn, value);
	} else {
		rpn_emit_op(rpn, RPN_consts);
		rpn_emit_sleb(rpn, value);
	}
}

void rpn_emit_addr(struct bytes *rpn, uint64_t address)
{
	rpn_emit_op(rpn, RPN_addr);
	rpn_emit_fixed(rpn, address, 8);
}

void rpn_emit_register(struct bytes *rpn, unsigned int number,
		       int64_t displacement)
{
	if (number < 32) {
		rpn_emit_op(rpn, RPN_breg + number);
	} else {
		rpn_emit_op(rpn, RPN_bregx);
		rpn_emit_uleb(rpn, number);
	}
	rpn_emit_sleb(rpn, displacement);
}

void rpn_emit_add(struct bytes *rpn, int64_t value, bool wide)
{
	if (value > 0) {
		rpn_emit_op(rpn, RPN_plus_uconst);
		rpn_emit_uleb(rpn, value);
	} else if (value < 0) {
		rpn_emit_op(rpn, RPN_constu);
		rpn_emit_uleb(rpn, -(uint64_t)value);
		rpn_emit_op(rpn, RPN_minus);
	}
	if (value && !wide)
		rpn_emit_extend(rpn, 4, false);
}

void rpn_emit_deref(struct bytes *rpn, unsigned int bytes)
{
	if (bytes == 8) {
		rpn_emit_op(rpn, RPN_deref);
		return;
	}
	rpn_emit_op(rpn, RPN_deref_size);
	rpn_emit_op(rpn, bytes);
}

void rpn_emit_extend(struct bytes *rpn, unsigned int bytes, bool is_signed)
{
	unsigned int bits = 64 - 8 * bytes;

	if (!bits)
		return;
	if (!is_signed) {
		rpn_emit_op(rpn, bytes > 4 ? RPN_const8u : RPN_const4u);
		rpn_emit_fixed(rpn, UINT64_MAX >> bits, bytes > 4 ? 8 : 4);
		rpn_emit_op(rpn, RPN_and);
		return;
	}
	rpn_emit_const(rpn, bits);
	rpn_emit_op(rpn, RPN_shl);
	rpn_emit_const(rpn, bits);
	rpn_emit_op(rpn, RPN_shra);
}
