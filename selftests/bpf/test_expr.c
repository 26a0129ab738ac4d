// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation of an expression, run as eBPF and by the interpreter, comes
 * to the value in the table; where it can't be computed, that is
 * what is stored in its place.
 */
#include "bed.h"
#include "lib/formats/rpn.h"

static struct {
	uint64_t word;
	int32_t small;
	uint8_t byte;
	uint64_t *to_word;
} memory = { 0x8877665544332211ULL, -2, 0x91, &memory.word };

#define N(...)		{ __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ })
#define MIN		OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80
#define MIN_VALUE	0x8000000000000000ULL
#define BYTES(x)	(uint8_t)(x), (uint8_t)((x) >> 8), \
			(uint8_t)((x) >> 16), (uint8_t)((x) >> 24)
/* rbx = 1000, rcx = -7, rdx = 3, rsi = 64, rdi = &memory, r8 = -2^63 */
#define RBX	OP_breg + 3, 0
#define RCX	OP_breg + 2, 0
#define RDX	OP_breg + 1, 0
#define RSI	OP_breg + 4, 0
#define RDI	OP_breg + 5, 0
#define R8	OP_breg + 8, 0

struct row {
	const char *name;
	uint8_t rpn[64];
	size_t size;
	uint64_t value;
};

static const struct row rows[] = {
	{ "lit0", N(OP_lit), 0 },
	{ "lit31", N(OP_lit + 31), 31 },
	{ "const1u", N(OP_const1u, 0xff), 255 },
	{ "const1s", N(OP_const1s, 0xff), -1ULL },
	{ "const2u", N(OP_const2u, 0xfe, 0xff), 0xfffe },
	{ "const2s", N(OP_const2s, 0xfe, 0xff), -2ULL },
	{ "const4u", N(OP_const4u, 1, 0, 0, 0x80), 0x80000001 },
	{ "const4s", N(OP_const4s, 1, 0, 0, 0x80), 0xffffffff80000001ULL },
	{ "const8u", N(OP_const8u, 1, 2, 3, 4, 5, 6, 7, 0x88),
	  0x8807060504030201ULL },
	{ "const8s", N(OP_const8s, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		       0xff), -1ULL },
	{ "constu", N(OP_constu, 0xe5, 0x8e, 0x26), 624485 },
	{ "constu of 64 bits", N(OP_constu, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
				 0xff, 0xff, 0xff, 1), -1ULL },
	{ "consts", N(OP_consts, 0xc0, 0xbb, 0x78), -123456ULL },
	{ "consts of 64 bits", N(OP_consts, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
				 0x80, 0x80, 0x80, 0x7f), MIN_VALUE },
	{ "breg", N(OP_breg + 3, 0x7f), 999 },
	{ "bregx", N(OP_bregx, 3, 0x82, 0x01), 1130 },
	{ "addr", N(OP_addr, BYTES(0x5000), 0, 0, 0, 0), 0x401000 + 0x5000 },
	{ "dup", N(RBX, OP_dup, OP_plus), 2000 },
	{ "dup of a sum", N(RBX, RCX, OP_plus, OP_dup, OP_mul), 993 * 993 },
	{ "drop", N(RBX, RCX, OP_drop), 1000 },
	{ "over", N(RBX, RDX, OP_over, OP_minus, OP_minus), 1997 },
	{ "pick 2", N(RBX, RCX, RDX, OP_pick, 2, OP_mul, OP_plus, OP_plus),
	  3993 },
	{ "swap", N(RBX, RDX, OP_swap, OP_minus), -997ULL },
	{ "rot", N(RBX, RCX, RDX, OP_rot, OP_drop, OP_minus), 3 - 1000ULL },
	{ "abs", N(RCX, OP_abs), 7 },
	{ "abs of a positive", N(RBX, OP_abs), 1000 },
	{ "abs of the smallest", N(R8, OP_abs), MIN_VALUE },
	{ "abs of a constant", N(OP_const1s, 0x80, OP_abs), 128 },
	{ "and", N(RBX, RCX, OP_and), 1000 & -7 },
	{ "and with a constant", N(RBX, OP_lit + 15, OP_and), 8 },
	{ "or", N(RBX, RDX, OP_or), 1003 },
	{ "xor", N(RBX, RCX, OP_xor), (uint64_t)(1000 ^ -7) },
	{ "xor with a wide constant", N(RBX, MIN, OP_xor),
	  1000 ^ MIN_VALUE },
	{ "plus", N(RBX, RCX, OP_plus), 993 },
	{ "plus wide constants", N(RBX, MIN, OP_plus, RDX, OP_mul),
	  (1000 + MIN_VALUE) * 3 },
	{ "minus", N(RDX, RBX, OP_minus), -997ULL },
	{ "constant minus register", N(OP_lit + 1, RBX, OP_minus), -999ULL },
	{ "mul", N(RBX, RCX, OP_mul), -7000ULL },
	{ "neg", N(RBX, OP_neg), -1000ULL },
	{ "not", N(RCX, OP_not), 6 },
	{ "plus_uconst", N(RBX, OP_plus_uconst, 0x80, 0x01), 1128 },
	{ "plus_uconst of 64 bits",
	  N(RBX, OP_plus_uconst, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 1), 999 },
	{ "div", N(RBX, RDX, OP_div), 333 },
	{ "div rounds to zero", N(RBX, RCX, OP_div), -142ULL },
	{ "div of a negative", N(RCX, RDX, OP_div), -2ULL },
	{ "div of two negatives", N(RCX, RCX, OP_div), 1 },
	{ "div of the smallest", N(R8, RDX, OP_div), -3074457345618258602ULL },
	{ "div of the smallest by -1", N(R8, OP_const1s, 0xff, OP_div),
	  MIN_VALUE },
	{ "div by the smallest", N(RBX, R8, OP_div), 0 },
	{ "div of constants", N(OP_const1s, 0xf9, OP_lit + 2, OP_div), -3ULL },
	{ "div by zero", N(RBX, OP_lit, OP_div), 1000 },
	{ "div by a zero register", N(RBX, RDX, RDX, OP_minus, OP_div), 0 },
	{ "mod", N(RBX, RDX, OP_mod), 1 },
	{ "mod is unsigned", N(RCX, OP_lit + 10, OP_mod), 9 },
	{ "mod by zero", N(RCX, OP_lit, OP_mod), 0 },
	{ "shl", N(RBX, RDX, OP_shl), 8000 },
	{ "shl by a constant", N(RBX, OP_lit + 4, OP_shl), 16000 },
	{ "shl by 64", N(RBX, RSI, OP_shl), 0 },
	{ "shl by a constant 64", N(RBX, OP_const1u, 64, OP_shl), 0 },
	{ "shl by a negative", N(RBX, RCX, OP_shl), 0 },
	{ "shl by the smallest", N(RBX, R8, OP_shl), 0 },
	{ "shr", N(RCX, RDX, OP_shr), 0x1fffffffffffffffULL },
	{ "shr by 64", N(RCX, RSI, OP_shr), 0 },
	{ "shr by a constant 63", N(RCX, OP_const1u, 63, OP_shr), 1 },
	{ "shra", N(RCX, RDX, OP_shra), -1ULL },
	{ "shra by 64", N(RCX, RSI, OP_shra), -1ULL },
	{ "shra by 64, positive", N(RBX, RSI, OP_shra), 0 },
	{ "shra by a constant 65", N(R8, OP_const1u, 65, OP_shra), -1ULL },
	{ "shra by a negative", N(R8, RCX, OP_shra), -1ULL },
	{ "shifts of constants", N(OP_lit + 3, OP_lit + 2, OP_shl,
				   OP_const1u, 200, OP_shl), 0 },
	{ "eq", N(RBX, OP_const2u, 0xe8, 3, OP_eq), 1 },
	{ "eq, not", N(RBX, RCX, OP_eq), 0 },
	{ "ne", N(RBX, RCX, OP_ne), 1 },
	{ "lt is signed", N(RCX, RBX, OP_lt), 1 },
	{ "lt, not", N(RBX, RCX, OP_lt), 0 },
	{ "lt, equal", N(RBX, OP_dup, OP_lt), 0 },
	{ "le", N(RBX, OP_dup, OP_le), 1 },
	{ "gt", N(RBX, R8, OP_gt), 1 },
	{ "gt, not", N(RDX, RDX, OP_gt), 0 },
	{ "ge", N(RDX, RDX, OP_ge), 1 },
	{ "ge, wide constant", N(RCX, MIN, OP_ge), 1 },
	{ "comparison of constants", N(OP_lit + 1, OP_lit + 2, OP_lt), 1 },
	{ "skip", N(RBX, OP_skip, 2, 0, RDX, OP_neg), -1000ULL },
	{ "skip to the end", N(RBX, OP_skip, 1, 0, OP_neg), 1000 },
	{ "skip over nothing", N(RBX, OP_skip, 0, 0, OP_neg), -1000ULL },
	{ "bra taken", N(RBX, RDX, OP_bra, 1, 0, OP_neg), 1000 },
	{ "bra not taken", N(RBX, OP_lit, OP_bra, 1, 0, OP_neg), -1000ULL },
	{ "if else, if", N(RCX, OP_lit, OP_lt, OP_bra, 5, 0, RBX,
			   OP_skip, 2, 0, RDX, OP_nop), 3 },
	{ "if else, else", N(RBX, OP_lit, OP_lt, OP_bra, 5, 0, RBX,
			     OP_skip, 2, 0, RDX, OP_nop), 1000 },
	{ "join with swapped entries",
	  N(RBX, RCX, RDX, OP_bra, 1, 0, OP_swap, RDX, OP_bra, 1, 0, OP_swap,
	    OP_over, OP_over, OP_mul, OP_plus, OP_minus), 1000 - -7007ULL },
	{ "join after a rotation",
	  N(RBX, RCX, RDX, OP_lit, OP_bra, 1, 0, OP_rot, OP_lit, OP_bra, 1, 0,
	    OP_rot, OP_minus, OP_minus), -7 - 3 - -1000ULL },
	{ "deref", N(RDI, OP_deref), 0x8877665544332211ULL },
	{ "deref_size 4 is unsigned", N(RDI, OP_plus_uconst, 8, OP_deref_size,
					4), 0xfffffffe },
	{ "deref_size 2", N(RDI, OP_deref_size, 2), 0x2211 },
	{ "deref_size 1", N(RDI, OP_plus_uconst, 12, OP_deref_size, 1), 0x91 },
	{ "deref_size 8", N(RDI, OP_deref_size, 8), 0x8877665544332211ULL },
	{ "two pointers", N(RDI, OP_plus_uconst, 16, OP_deref, OP_deref),
	  0x8877665544332211ULL },
	{ "temps live through a deref",
	  N(RBX, RCX, OP_mul, RBX, RDX, OP_mul, RDI, OP_deref_size, 1,
	    OP_plus, OP_plus), -7000 + 3000 + 0x11ULL },
	{ "deref of NULL", N(OP_lit, OP_deref), 0 },
	{ "deref of a bad sum", N(RBX, RCX, OP_plus, OP_plus_uconst, 7,
				  OP_deref), 1000 },
	{ "deref of a bad pointer", N(RDI, OP_deref, OP_plus_uconst, 1,
				      OP_deref), 0x8877665544332212ULL },
	{ "all 16 entries",
	  N(RBX, RCX, OP_mul, RBX, RDX, OP_mul, RBX, RSI, OP_mul,
	    RCX, RDX, OP_mul, RCX, RSI, OP_mul, RDX, RSI, OP_mul,
	    OP_pick, 5, OP_pick, 5, OP_pick, 5, OP_pick, 5, OP_pick, 5,
	    OP_pick, 5, OP_dup, OP_dup, OP_dup, RDI, OP_deref_size, 1,
	    OP_plus, OP_plus, OP_plus, OP_plus, OP_plus, OP_plus, OP_plus,
	    OP_plus, OP_plus, OP_plus, OP_plus, OP_plus, OP_plus, OP_plus,
	    OP_plus), 2 * (-7000 + 3000 + 64000 - 21 - 448 + 192) + 3 * 192 +
	  0x11 },
};

static const struct row rows32[] = {
	{ "i386: eax", N(OP_breg, 0), 0xfffffff0 },
	{ "i386: ecx", N(OP_breg + 1, 1), 0xfffffffaULL },
	{ "i386: flat addresses wrap", N(OP_breg, 0, OP_plus_uconst, 0x20,
					 OP_deref), 0x10 },
};

static void prepare(struct bed *bed)
{
	struct pt_regs *r = &bed->input.regs;

	bed->input.cookie = RAS_COOKIE(0x1234, 2, 3);
	r->rax = 0xfffffff0;
	r->rbx = 1000;
	r->rcx = -7;
	r->rdx = 3;
	r->rsi = 64;
	r->rdi = (uintptr_t)&memory;
	r->r8 = MIN_VALUE;
	r->rip = 0x402000;
	bed_site(bed, 3, 0x1000);
}

static bool row_passes(struct bed *bed, const struct row *row)
{
	struct interpreter in = {
		.regs = &bed->input.regs, .bias = 0x401000,
		.is32 = bed->module.machine == EM_386,
	};
	uint64_t position = bed_slice(bed)->head, value, stored;
	const struct ras_record *r;

	interpret(&in, row->rpn, row->size, false, &value);
	if (value != row->value) {
		tap_diag("interpreter: %#lx, expected %#lx", value, row->value);
		return false;
	}
	if (rpn_check(row->rpn, row->size, 1, NULL))
		return false;
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_VALUE, 8, row->rpn, row->size);
	if (bed_check(bed))
		return false;
	r = (const void *)(bed_slice(bed)->data +
			   (position & (bed->target.slice_bytes - 1)));
	memcpy(&stored, (const uint8_t *)(r + 1) + RAS_ITEM_PREFIX, 8);
	return stored == row->value;
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	prepare(&bed);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		tap_ok(row_passes(&bed, &rows[i]), "%s", rows[i].name);
	bed.module.machine = EM_386;
	bed.module.elf_class = ELFCLASS32;
	for (size_t i = 0; i < sizeof(rows32) / sizeof(rows32[0]); i++)
		tap_ok(row_passes(&bed, &rows32[i]), "%s", rows32[i].name);
	return tap_done();
}
