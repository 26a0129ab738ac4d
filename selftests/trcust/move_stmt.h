/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random statements, with expressions of what code has. STMT_ARCH,
 * STMT_REGISTERS: of another processor than x86, and numbers of its registers.
 */
#ifndef TRCUST_MOVE_STMT_H
#define TRCUST_MOVE_STMT_H

#include <elf.h>
#include <rastrace/tdf.h>
#include "random.h"
#ifndef STMT_ARCH
#include "arch_x86.h"
#endif
#include "lib/formats/rpn.h"

#ifdef STMT_REGISTERS
static const uint8_t stmt_registers[] = { STMT_REGISTERS };
#endif

static const struct arch *stmt_arch(bool wide)
{
#ifdef STMT_ARCH
	return STMT_ARCH;
#else
	return x86_of(wide ? ELFCLASS64 : ELFCLASS32);
#endif
}

static unsigned int random_number(bool wide)
{
#ifdef STMT_REGISTERS
	return stmt_registers[random_below(sizeof(stmt_registers))];
#else
	return random_below(wide ? 14 : 8);
#endif
}

static void add_choice(struct bytes *rpn, bool wide, uint64_t variable,
		       int nesting);

/* The same in several steps. */
static void add_steps(struct bytes *rpn)
{
	unsigned int distance = random_below(8) * 4;

	switch (random_below(5)) {
	case 0:
		rpn_emit_const(rpn, distance);
		rpn_emit_op(rpn, random_below(3) ? RPN_plus : RPN_minus);
		break;
	case 1:
		rpn_emit_const(rpn, distance);
		rpn_emit_op(rpn, RPN_swap);
		rpn_emit_op(rpn, RPN_plus);
		break;
	case 2:
		rpn_emit_const(rpn, distance);
		rpn_emit_op(rpn, RPN_over);
		rpn_emit_op(rpn, RPN_plus);
		rpn_emit_op(rpn, RPN_swap);
		rpn_emit_op(rpn, RPN_drop);
		break;
	case 3:
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_const(rpn, 3);
		rpn_emit_op(rpn, RPN_and);
		rpn_emit_op(rpn, RPN_plus);
		break;
	default:
		rpn_emit_add(rpn, distance, true);
	}
}

/* An address that something lies at, mostly. */
static void add_address(struct bytes *rpn, bool wide, uint64_t variable,
			int nesting)
{
	unsigned int frame = stmt_arch(wide)->frame;
	int64_t slot = (int)random_below(44) * 4 - 80;
	int64_t far = (int)random_below(80) * 4;

	switch (random_below(nesting ? 11 : 7)) {
	case 0:
	case 1:
		rpn_emit_register(rpn, stmt_arch(wide)->stack,
				  random_below(4) ? slot + 16 : far);
		break;
	case 2:
	case 3:
		rpn_emit_register(rpn, frame, slot);
		break;
	case 4:
		rpn_emit_addr(rpn, variable + random_below(8) * 4);
		break;
	case 5:
		if (wide && random_below(4) == 0) {
			rpn_emit_register(rpn, stmt_arch(wide)->thread,
					  random_below(8) * 4);
			break;
		}
		/* fall through */
	case 6:
		rpn_emit_register(rpn, random_number(wide),
				  (int)random_below(8) * 4 - 12);
		break;
	case 7:
		add_address(rpn, wide, variable, nesting - 1);
		add_steps(rpn);
		break;
	case 8:
		add_choice(rpn, wide, variable, nesting - 1);
		break;
	default:
		add_address(rpn, wide, variable, nesting - 1);
		rpn_emit_deref(rpn, wide ? 8 : 4);
		rpn_emit_add(rpn, random_below(6) * 4, wide);
	}
}

/* One address or the other. */
static void add_choice(struct bytes *rpn, bool wide, uint64_t variable,
		       int nesting)
{
	size_t other, end;

	rpn_emit_register(rpn, random_number(wide), 0);
	rpn_emit_op(rpn, RPN_lit + 4);
	rpn_emit_op(rpn, RPN_and);
	rpn_emit_op(rpn, RPN_bra);
	other = rpn->size;
	rpn_emit_fixed(rpn, 0, 2);
	add_address(rpn, wide, variable, nesting);
	rpn_emit_op(rpn, RPN_skip);
	end = rpn->size;
	rpn_emit_fixed(rpn, 0, 2);
	rpn->data[other] = rpn->size - other - 2;
	add_address(rpn, wide, variable, nesting);
	rpn->data[end] = rpn->size - end - 2;
}

/* Two values in memory, in one order or the other. */
static void add_two(struct bytes *rpn, bool wide, uint64_t variable)
{
	add_address(rpn, wide, variable, 1);
	add_address(rpn, wide, variable, 0);
	if (random_below(2))
		rpn_emit_op(rpn, RPN_swap);
	rpn_emit_deref(rpn, 1 << random_below(4));
	if (random_below(2))
		rpn_emit_op(rpn, RPN_swap);
	rpn_emit_deref(rpn, 1 << random_below(4));
	if (!random_below(3)) {
		rpn_emit_op(rpn, RPN_dup);
		rpn_emit_op(rpn, RPN_rot);
		rpn_emit_op(rpn, RPN_xor);
	}
	rpn_emit_op(rpn, RPN_minus);
}

static void add_value(struct bytes *rpn, bool wide, uint64_t variable,
		      int nesting)
{
	static const uint8_t binary[] = {
		RPN_plus, RPN_minus, RPN_mul, RPN_and, RPN_or, RPN_xor, RPN_gt,
		RPN_shl, RPN_shra, RPN_eq,
	};

	switch (random_below(nesting ? 9 : 4)) {
	case 0:
	case 1:
		rpn_emit_register(rpn, random_number(wide),
				  random_below(3) ? 0 : random_below(99));
		break;
	case 8:
		add_two(rpn, wide, variable);
		break;
	case 2:
		add_address(rpn, wide, variable, 2);
		rpn_emit_deref(rpn, 1 << random_below(4));
		break;
	case 3:
		rpn_emit_const(rpn, (int)random_below(100) - 30);
		break;
	case 4:
		add_value(rpn, wide, variable, nesting - 1);
		rpn_emit_extend(rpn, 1 << random_below(3), random_below(2));
		break;
	case 5:
		add_value(rpn, wide, variable, 0);
		rpn_emit_op(rpn, random_below(2) ? RPN_dup : RPN_lit + 3);
		rpn_emit_op(rpn, RPN_swap);
		rpn_emit_op(rpn, binary[random_below(sizeof(binary))]);
		break;
	case 6:
		add_value(rpn, wide, variable, nesting - 1);
		add_value(rpn, wide, variable, nesting - 1);
		rpn_emit_op(rpn, binary[random_below(sizeof(binary))]);
		break;
	default: {
		size_t at;

		add_value(rpn, wide, variable, nesting - 1);
		rpn_emit_op(rpn, RPN_bra);
		rpn_emit_fixed(rpn, 4, 2);
		rpn_emit_op(rpn, RPN_lit + 9);
		rpn_emit_op(rpn, RPN_skip);
		at = rpn->size;
		rpn_emit_fixed(rpn, 0, 2);
		add_value(rpn, wide, variable, nesting - 1);
		if (rpn->failed)
			return;
		rpn->data[at] = rpn->size - at - 2;
		rpn->data[at + 1] = (rpn->size - at - 2) >> 8;
	}
	}
}

/* What a tracepoint may log, its expressions appended to rpn. */
static struct tdf_stmt stmt_random(struct bytes *rpn, bool wide,
				   uint64_t variable)
{
	struct tdf_stmt stmt = { .rpn = rpn->size };

	switch (random_below(10)) {
	case 0:
	case 1:
		stmt.kind = TDF_STMT_REG;
		stmt.reg_bytes = 2 << random_below(wide ? 3 : 2);
		stmt.reg = random_number(wide);
		if (!random_below(12))
			stmt.reg = random_below(2) ? stmt_arch(wide)->ip :
						     stmt_arch(wide)->flags;
		return stmt;
	case 2:
	case 3:
	case 4:
		stmt.kind = TDF_STMT_VALUE;
		stmt.length = 1 + random_below(8);
		add_value(rpn, wide, variable, 3);
		break;
	case 5:
		stmt.kind = TDF_STMT_IF;
		add_value(rpn, wide, variable, 3);
		break;
	case 6:
		stmt.kind = TDF_STMT_ASCIIZ;
		stmt.length = 1 + random_below(16);
		add_address(rpn, wide, variable, 2);
		break;
	case 7:
		stmt.kind = TDF_STMT_MEM;
		stmt.flags = TDF_STMT_LEN;
		stmt.length = 24;
		stmt.len_bytes = 1 << random_below(3);
		add_address(rpn, wide, variable, 1);
		stmt.rpn_length = rpn->size - stmt.rpn;
		stmt.len_rpn = rpn->size;
		add_address(rpn, wide, variable, 1);
		stmt.len_rpn_length = rpn->size - stmt.len_rpn;
		return stmt;
	default:
		stmt.kind = TDF_STMT_MEM;
		stmt.length = 1 + random_below(24);
		if (random_below(5))
			stmt.length = 1 << random_below(4);
		add_address(rpn, wide, variable, 2);
	}
	stmt.rpn_length = rpn->size - stmt.rpn;
	return stmt;
}

#endif
