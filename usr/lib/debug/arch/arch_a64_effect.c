// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions of AArch64 do to general registers and memory, by class of
 * encoding (Arm ARM C4.1). What isn't in the tables isn't known. Data
 * processing on general registers is in arch_a64_value.c, loads and stores are
 * in arch_a64_memory.c.
 */
#include "arch_a64_effect.h"

#include <string.h>

static bool find_nothing(const struct a64_insn *insn,
			 struct arch_effect *effect)
{
	return true;
}

static bool a64_find_cfinv(const struct a64_insn *insn,
			   struct arch_effect *effect)
{
	effect->flags = true;
	return true;
}

/* BL, BLR */
static bool find_call(const struct a64_insn *insn, struct arch_effect *effect)
{
	a64_set(effect, A64_LINK, (struct arch_transfer) {
		.source = ARCH_SOURCE_ADDRESS, .number = insn->address + 4,
		.bytes = 8,
	});
	return true;
}

/* BRAA, RETAA and so on: what they check may be wrong */
static bool a64_find_checked(const struct a64_insn *insn,
			     struct arch_effect *effect)
{
	effect->traps = true;
	return true;
}

static bool find_checked_call(const struct a64_insn *insn,
			      struct arch_effect *effect)
{
	effect->traps = true;
	return find_call(insn, effect);
}

/* An address that is signed, or was: its low bytes stay as they are (Arm ARM
 * D8.10: addresses have 36 bits at least). */
static void sign(struct arch_effect *effect, unsigned int number)
{
	struct arch_transfer value = a64_sum(number, 0, 8);

	value.part = 4;
	a64_set(effect, number, value);
}

/*
 * HINT, by CRm and op2: those that pointer authentication uses write x30 or
 * x17, and where it isn't there they don't. BTI and PACIASP, which jumps lead
 * to, clear PSTATE.BTYPE, as the next instruction does of any other.
 */
static bool find_hint(const struct a64_insn *insn, struct arch_effect *effect)
{
	uint32_t number = a64_bits(insn->code, 5, 7);

	switch (number) {
	case 0: case 1: case 2: case 3: case 4: case 5:	/* NOP to SEVL */
	case 16: case 17: case 18: case 20: case 22:	/* ESB to CLRBHB */
		return true;
	case 32: case 34: case 36: case 38:		/* BTI */
		effect->flags = true;
		return true;
	case 7:						/* XPACLRI */
	case 24: case 26:				/* PACIAZ, PACIBZ */
		sign(effect, A64_LINK);
		return true;
	case 25: case 27:				/* PACIASP, PACIBSP */
		effect->flags = true;
		sign(effect, A64_LINK);
		return true;
	case 28: case 29: case 30: case 31:		/* AUTIAZ to AUTIBSP */
		effect->traps = true;
		sign(effect, A64_LINK);
		return true;
	case 8: case 10:				/* PACIA1716 */
		sign(effect, 17);
		return true;
	case 12: case 14:				/* AUTIA1716 */
		effect->traps = true;
		sign(effect, 17);
		return true;
	default:
		return false;
	}
}

/* MRS of what programs may read, and SP_EL0, which is the kernel's current
 * task. op0, op1, CRn, CRm and op2 together are 15 bits. */
static bool find_system_register(const struct a64_insn *insn,
				 struct arch_effect *effect)
{
	int to = a64_register(insn->code, 0);

	switch (a64_bits(insn->code, 5, 15)) {
	case 0x5e82:	/* TPIDR_EL0: 3, 3, 13, 0, 2 */
		a64_set(effect, to, (struct arch_transfer) {
			.source = ARCH_SOURCE_REGISTER, .reg = insn->thread,
			.bytes = 8,
		});
		return true;
	case 0x4208:	/* SP_EL0 */
	case 0x5801:	/* CTR_EL0 */
	case 0x5807:	/* DCZID_EL0 */
	case 0x5a10:	/* NZCV */
	case 0x5a20:	/* FPCR */
	case 0x5a21:	/* FPSR */
	case 0x5e83:	/* TPIDRRO_EL0 */
	case 0x5f00:	/* CNTFRQ_EL0 */
	case 0x5f02:	/* CNTVCT_EL0 */
		a64_set_unknown(effect, to);
		return true;
	default:
		return false;
	}
}

/* DC ZVA: as many bytes as the processor likes */
static bool find_clear(const struct a64_insn *insn, struct arch_effect *effect)
{
	effect->writes[effect->write_count++] = (struct arch_memory){ 0 };
	effect->transfers[effect->count++].to_memory = true;
	return true;
}

/* Branches, Exception Generating and System instructions */
static const struct a64_class branch_classes[] = {
	{ 0xff000000, 0x54000000, find_nothing },	/* B.cond, BC.cond */
	{ 0xfc000000, 0x14000000, find_nothing },	/* B */
	{ 0xfc000000, 0x94000000, find_call },
	{ 0x7e000000, 0x34000000, find_nothing },	/* CBZ, CBNZ */
	{ 0x7e000000, 0x36000000, find_nothing },	/* TBZ, TBNZ */
	{ 0xfffffc1f, 0xd61f0000, find_nothing },	/* BR */
	{ 0xfffffc1f, 0xd63f0000, find_call },		/* BLR */
	{ 0xfffffc1f, 0xd65f0000, find_nothing },	/* RET */
	{ 0xfffff81f, 0xd61f081f, a64_find_checked },	/* BRAAZ */
	{ 0xfffff81f, 0xd63f081f, find_checked_call },	/* BLRAAZ */
	{ 0xfffffbff, 0xd65f0bff, a64_find_checked },	/* RETAA */
	{ 0xfffff800, 0xd71f0800, a64_find_checked },	/* BRAA */
	{ 0xfffff800, 0xd73f0800, find_checked_call },	/* BLRAA */
	{ 0xfffff01f, 0xd503201f, find_hint },
	{ 0xfffff0ff, 0xd503305f, find_nothing },	/* CLREX */
	{ 0xfffff0ff, 0xd503309f, find_nothing },	/* DSB */
	{ 0xfffff0ff, 0xd50330bf, find_nothing },	/* DMB */
	{ 0xfffff0ff, 0xd50330df, find_nothing },	/* ISB */
	{ 0xffffffff, 0xd50330ff, find_nothing },	/* SB */
	{ 0xffffffff, 0xd500401f, a64_find_cfinv },	/* CFINV */
	{ 0xffffffff, 0xd500403f, a64_find_cfinv },	/* XAFLAG */
	{ 0xffffffff, 0xd500405f, a64_find_cfinv },	/* AXFLAG */
	{ 0xfff00000, 0xd5300000, find_system_register },
	{ 0xffffffe0, 0xd50b7420, find_clear },
	{ 0 }
};

/*
 * Of vectors only those move something to a general register that are below
 * with a function of their own. Arithmetic of floating point may trap, where
 * the processor has that and it's switched on (FPCR).
 */
static bool find_arithmetic(const struct a64_insn *insn,
			    struct arch_effect *effect)
{
	effect->traps = true;
	return true;
}

static bool find_three_same(const struct a64_insn *insn,
			    struct arch_effect *effect)
{
	effect->traps = a64_bits(insn->code, 11, 5) >= 0x18;
	return true;
}

static bool find_two_registers(const struct a64_insn *insn,
			       struct arch_effect *effect)
{
	effect->traps = a64_bits(insn->code, 12, 5) >= 0x0c;
	return true;
}

static bool find_across(const struct a64_insn *insn, struct arch_effect *effect)
{
	uint32_t operation = a64_bits(insn->code, 12, 5);

	effect->traps = operation == 0x0c || operation == 0x0f;
	return true;
}

static bool find_shift(const struct a64_insn *insn, struct arch_effect *effect)
{
	effect->traps = a64_bits(insn->code, 11, 5) >= 0x1c &&
			a64_bits(insn->code, 19, 4);
	return true;
}

/* DUP, INS; SMOV and UMOV write a general register. */
static bool find_copy(const struct a64_insn *insn, struct arch_effect *effect)
{
	uint32_t operation = a64_bits(insn->code, 11, 4);

	if (!a64_bit(insn->code, 29) && (operation == 5 || operation == 7))
		a64_set_unknown(effect, a64_register(insn->code, 0));
	return true;
}

/* FCVTZS and its like, SCVTF, FMOV */
static bool find_conversion(const struct a64_insn *insn,
			    struct arch_effect *effect)
{
	uint32_t code = insn->code, rounding = a64_bits(code, 19, 2);
	uint32_t operation = a64_bits(code, 16, 3);
	uint32_t type = a64_bits(code, 22, 2);
	bool moves = rounding == 0 || (rounding == 1 && type == 2);

	effect->traps = operation < 6;
	switch (operation) {
	case 0: case 1:
		break;
	case 2: case 3:		/* from a general register */
		return rounding == 0;
	case 4: case 5:
		if (rounding)
			return false;
		break;
	case 6:			/* FJCVTZS has flags */
		if (!moves && (rounding != 3 || type != 1 || code >> 31))
			return false;
		effect->flags = effect->traps = !moves;
		break;
	default:
		return moves;
	}
	a64_set_unknown(effect, a64_register(code, 0));
	return true;
}

/* The same of numbers with a fixed point */
static bool find_fixed(const struct a64_insn *insn, struct arch_effect *effect)
{
	uint32_t rounding = a64_bits(insn->code, 19, 2);
	uint32_t operation = a64_bits(insn->code, 16, 3);

	effect->traps = true;
	if (operation < 2 && rounding == 3)
		a64_set_unknown(effect, a64_register(insn->code, 0));
	else if ((operation & 6) != 2 || rounding)
		return false;
	return true;
}

/* FCMP, FCMPE, FCCMP */
static bool find_comparison(const struct a64_insn *insn,
			    struct arch_effect *effect)
{
	effect->flags = effect->traps = true;
	return true;
}

/* FMOV, FABS, FNEG don't calculate. */
static bool find_float_one(const struct a64_insn *insn,
			   struct arch_effect *effect)
{
	effect->traps = a64_bits(insn->code, 15, 6) > 2;
	return true;
}

/* Data Processing -- Scalar Floating-Point and Advanced SIMD */
static const struct a64_class vector_classes[] = {
	{ 0x5f20fc00, 0x1e200000, find_conversion },
	{ 0x5f200000, 0x1e000000, find_fixed },
	{ 0xff207c00, 0x1e204000, find_float_one },
	{ 0xff203c00, 0x1e202000, find_comparison },
	{ 0xff201c00, 0x1e201000, find_nothing },	/* FMOV of a number */
	{ 0xff200c00, 0x1e200400, find_comparison },	/* FCCMP */
	{ 0xff200c00, 0x1e200800, find_arithmetic },
	{ 0xff200c00, 0x1e200c00, find_nothing },	/* FCSEL */
	{ 0xff000000, 0x1f000000, find_arithmetic },	/* FMADD */
	{ 0x9fe08400, 0x0e000400, find_copy },
	{ 0xdfe08400, 0x5e000400, find_nothing },	/* DUP */
	{ 0xff3e0c00, 0x4e280800, find_nothing },	/* AES */
	{ 0xffe08c00, 0x5e000000, find_nothing },	/* SHA */
	{ 0xff3e0c00, 0x5e280800, find_nothing },	/* SHA */
	{ 0xdf200400, 0x5e200400, find_three_same },
	{ 0xdf3e0c00, 0x5e200800, find_two_registers },
	{ 0xdf3e0c00, 0x5e300800, find_across },	/* ADDP */
	{ 0xdf200c00, 0x5e200000, find_nothing },	/* SQDMLAL */
	{ 0xdf800400, 0x5f000400, find_shift },
	{ 0xdf000400, 0x5f000000, find_arithmetic },	/* by an element */
	{ 0xdf60c400, 0x5e400400, find_arithmetic },	/* of half precision */
	{ 0xdf7e0c00, 0x5e780800, find_arithmetic },
	{ 0xdf208400, 0x5e008400, find_nothing },	/* SQRDMLAH */
	{ 0xbf208c00, 0x0e000000, find_nothing },	/* TBL */
	{ 0xbf208c00, 0x0e000800, find_nothing },	/* ZIP1 */
	{ 0xbf208400, 0x2e000000, find_nothing },	/* EXT */
	{ 0x9f60c400, 0x0e400400, find_arithmetic },	/* of half precision */
	{ 0x9f7e0c00, 0x0e780800, find_arithmetic },
	{ 0x9f208400, 0x0e008400, find_arithmetic },	/* SDOT, FCMLA */
	{ 0x9f3e0c00, 0x0e200800, find_two_registers },
	{ 0x9f3e0c00, 0x0e300800, find_across },
	{ 0x9f200c00, 0x0e200000, find_nothing },	/* SADDL */
	{ 0x9f200400, 0x0e200400, find_three_same },
	{ 0x9f800400, 0x0f000400, find_shift },		/* ... and MOVI */
	{ 0x9f000400, 0x0f000000, find_arithmetic },	/* by an element */
	{ 0xffe0c000, 0xce408000, find_nothing },	/* SM3 */
	{ 0xffe0b000, 0xce608000, find_nothing },	/* SHA512, RAX1, SM3 */
	{ 0xff808000, 0xce000000, find_nothing },	/* EOR3, BCAX */
	{ 0xffe00000, 0xce800000, find_nothing },	/* XAR */
	{ 0xfffff000, 0xcec08000, find_nothing },	/* SHA512, SM4 */
	{ 0 }
};

bool a64_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect)
{
	static const uint8_t fields[] = { 0, 5, 10, 16 };
	struct a64_insn insn = { .address = address, .thread = arch->thread };
	const struct a64_class *class = NULL;
	bool stack, found = false;

	memset(effect, 0, sizeof(*effect));
	if (size < arch->insn_bytes)
		return false;
	insn.code = a64_word(code);
	effect->known = true;

	/*
	 * The registers in the fields Rd, Rn, Ra and Rm, whether the encoding
	 * has them or not. 31 is the stack pointer as the base of a load or
	 * store, and as Rn of ADD and SUB of an extended register.
	 */
	stack = (insn.code & 0x0a000000) == 0x08000000 ||
		(insn.code & 0x1fe00000) == 0x0b200000;
	for (size_t i = 0; i < sizeof(fields); i++)
		effect->uses |= 1u << a64_bits(insn.code, fields[i], 5);
	if (!stack || a64_bits(insn.code, 5, 5) != 31)
		effect->uses &= ~(1u << 31);

	switch (a64_bits(insn.code, 25, 4)) {
	case 8: case 9:
		class = a64_immediate_classes;
		break;
	case 10: case 11:
		class = branch_classes;
		break;
	case 4: case 6: case 12: case 14:
		class = a64_memory_classes;
		break;
	case 5: case 13:
		class = a64_register_classes;
		break;
	case 7: case 15:
		class = vector_classes;
		break;
	}
	while (class && class->mask &&
	       (insn.code & class->mask) != class->code)
		class++;
	if (class && class->mask)
		found = class->find(&insn, effect);
	if (!found || !effect->known)
		*effect = (struct arch_effect){ .flags = true, .faults = true };
	return true;
}
