// SPDX-License-Identifier: GPL-2.0
/*
 * Which values data processing on A64's general registers makes (Arm ARM C4.1,
 * Data Processing -- Immediate, -- Register).
 */
#include "arch_a64_effect.h"

static bool is_wide(uint32_t code)
{
	return a64_bit(code, 31);
}

static unsigned int a64_width(uint32_t code)
{
	return is_wide(code) ? 8 : 4;
}

struct arch_transfer a64_constant(int64_t number)
{
	return (struct arch_transfer) {
		.source = ARCH_SOURCE_CONSTANT, .number = number, .bytes = 8,
	};
}

static int64_t a64_cut(uint64_t number, unsigned int bytes)
{
	return bytes == 8 ? number : number & ((1ULL << bytes * 8) - 1);
}

struct arch_transfer a64_sum(int reg, int64_t number, unsigned int bytes)
{
	if (reg == A64_ZERO)
		return a64_constant(a64_cut(number, bytes));
	return (struct arch_transfer) {
		.source = ARCH_SOURCE_REGISTER, .reg = reg, .number = number,
		.bytes = bytes,
	};
}

void a64_set(struct arch_effect *effect, int reg, struct arch_transfer value)
{
	struct arch_transfer *transfer = &effect->transfers[effect->count];

	if (reg == A64_ZERO)
		return;
	if (effect->count == ARCH_TRANSFERS) {
		effect->known = false;
		return;
	}
	*transfer = value;
	transfer->to_memory = false;
	transfer->to = reg;
	effect->count++;
}

void a64_set_unknown(struct arch_effect *effect, int reg)
{
	a64_set(effect, reg, (struct arch_transfer){ 0 });
}

/* ADR, ADRP */
static bool a64_find_address(const struct a64_insn *insn,
			     struct arch_effect *effect)
{
	uint32_t code = insn->code;
	int64_t distance = a64_signed(code, 5, 19) * 4 + a64_bits(code, 29, 2);
	uint64_t address = insn->address + distance;

	if (a64_bit(code, 31))
		address = (insn->address & ~0xfffULL) + distance * 4096;
	a64_set(effect, a64_register(code, 0), (struct arch_transfer) {
		.source = ARCH_SOURCE_ADDRESS, .number = address, .bytes = 8,
	});
	return true;
}

/* What ADD or SUB writes: with flags there is no stack pointer. */
static int sum_register(uint32_t code, struct arch_effect *effect)
{
	if (!a64_bit(code, 29))
		return a64_register_or_stack(code, 0);
	effect->flags = true;
	return a64_register(code, 0);
}

static bool find_add_immediate(const struct a64_insn *insn,
			       struct arch_effect *effect)
{
	uint32_t code = insn->code;
	int64_t number = a64_bits(code, 10, 12);

	if (a64_bit(code, 22))
		number <<= 12;
	if (a64_bit(code, 30))
		number = -number;
	a64_set(effect, sum_register(code, effect),
		a64_sum(a64_register_or_stack(code, 5), number,
			a64_width(code)));
	return true;
}

bool a64_mask_find(uint32_t code, uint64_t *mask)
{
	unsigned int rotation = a64_bits(code, 16, 6);
	unsigned int ones = a64_bits(code, 10, 6);
	unsigned int pattern = a64_bit(code, 22) << 6 | (~ones & 63);
	unsigned int size = 64;
	uint64_t element;

	if (!is_wide(code) && a64_bit(code, 22))
		return false;
	while (size > 1 && !(pattern & size))
		size /= 2;
	if (size < 2)
		return false;
	ones &= size - 1;
	rotation &= size - 1;
	if (ones == size - 1)
		return false;
	element = (1ULL << (ones + 1)) - 1;
	if (rotation)
		element = element >> rotation | element << (size - rotation);
	if (size < 64)
		element &= (1ULL << size) - 1;
	for (; size < 64; size *= 2)
		element |= element << size;
	*mask = a64_cut(element, a64_width(code));
	return true;
}

/* AND, ORR, EOR, ANDS with a number: ORR makes one, AND keeps low bytes. */
static bool find_logical_immediate(const struct a64_insn *insn,
				   struct arch_effect *effect)
{
	uint32_t code = insn->code, operation = a64_bits(code, 29, 2);
	int from = a64_register(code, 5);
	struct arch_transfer value = { 0 };
	uint64_t mask;

	if (!a64_mask_find(code, &mask))
		return false;
	if (operation == 1 && from == A64_ZERO)
		value = a64_constant(mask);
	if (operation == 0 || operation == 3)
		for (unsigned int bytes = 1; bytes <= 4; bytes *= 2)
			if (mask == (1ULL << 8 * bytes) - 1)
				value = a64_sum(from, 0, bytes);
	effect->flags = operation == 3;
	a64_set(effect, operation == 3 ? a64_register(code, 0) :
					 a64_register_or_stack(code, 0), value);
	return true;
}

/* MOVN, MOVZ, MOVK */
static bool find_move(const struct a64_insn *insn, struct arch_effect *effect)
{
	uint32_t code = insn->code, operation = a64_bits(code, 29, 2);
	unsigned int shift = 16 * a64_bits(code, 21, 2);
	uint64_t number = (uint64_t)a64_bits(code, 5, 16) << shift;
	int to = a64_register(code, 0);

	if (operation == 1 || (!is_wide(code) && shift > 16))
		return false;
	if (operation == 0)
		number = ~number;
	if (operation == 3)
		a64_set_unknown(effect, to);
	else
		a64_set(effect, to,
			a64_constant(a64_cut(number, a64_width(code))));
	return true;
}

/* SBFM, BFM, UBFM: those that extend whole bytes are sxtb, uxtb and so on. */
static bool find_bitfield(const struct a64_insn *insn,
			  struct arch_effect *effect)
{
	uint32_t code = insn->code, operation = a64_bits(code, 29, 2);
	unsigned int rotation = a64_bits(code, 16, 6);
	unsigned int last = a64_bits(code, 10, 6), whole = a64_width(code);
	struct arch_transfer value = { 0 };

	if (operation == 3 || a64_bit(code, 22) != is_wide(code) ||
	    (!is_wide(code) && (rotation | last) & 32))
		return false;
	if (operation != 1 && !rotation &&
	    (last == 7 || last == 15 || last == 31 || last == 63)) {
		unsigned int bytes = (last + 1) / 8;

		value = a64_sum(a64_register(code, 5), 0, bytes);
		value.is_signed = operation == 0 && bytes < whole &&
				  value.source == ARCH_SOURCE_REGISTER;
		value.part = value.is_signed && whole == 4 ? 4 : 0;
	}
	a64_set(effect, a64_register(code, 0), value);
	return true;
}

static bool find_extract(const struct a64_insn *insn,
			 struct arch_effect *effect)
{
	uint32_t code = insn->code;

	if (a64_bit(code, 22) != is_wide(code) ||
	    (!is_wide(code) && a64_bit(code, 15)))
		return false;
	a64_set_unknown(effect, a64_register(code, 0));
	return true;
}

const struct a64_class a64_immediate_classes[] = {
	{ 0x1f000000, 0x10000000, a64_find_address },
	{ 0x1f800000, 0x11000000, find_add_immediate },
	{ 0x1f800000, 0x12000000, find_logical_immediate },
	{ 0x1f800000, 0x12800000, find_move },
	{ 0x1f800000, 0x13000000, find_bitfield },
	{ 0x7fa00000, 0x13800000, find_extract },
	{ 0 }
};

/* Shifted by more than there is. */
static bool shifts_too_far(uint32_t code)
{
	return !is_wide(code) && a64_bit(code, 15);
}

/* AND, BIC, ORR, ORN, EOR, EON, ANDS, BICS; mov is an ORR. */
static bool find_logical(const struct a64_insn *insn,
			 struct arch_effect *effect)
{
	uint32_t code = insn->code;
	bool negated = a64_bit(code, 21), shifted = a64_bits(code, 10, 6);
	int from = a64_register(code, 5), other = a64_register(code, 16);
	struct arch_transfer value = { 0 };

	if (shifts_too_far(code))
		return false;
	if (a64_bits(code, 29, 2) == 1 && !negated && from == A64_ZERO &&
	    (!shifted || other == A64_ZERO))
		value = a64_sum(other, 0, a64_width(code));
	effect->flags = a64_bits(code, 29, 2) == 3;
	a64_set(effect, a64_register(code, 0), value);
	return true;
}

/* What a sum comes to without its second operand, or without its first one. */
static struct arch_transfer sum_value(uint32_t code, int first, int second,
				      bool plain)
{
	if (second == A64_ZERO)
		return a64_sum(first, 0, a64_width(code));
	if (first == A64_ZERO && plain && !a64_bit(code, 30))
		return a64_sum(second, 0, a64_width(code));
	return (struct arch_transfer){ 0 };
}

static bool find_add_shifted(const struct a64_insn *insn,
			     struct arch_effect *effect)
{
	uint32_t code = insn->code;

	if (a64_bits(code, 22, 2) == 3 || shifts_too_far(code))
		return false;
	effect->flags = a64_bit(code, 29);
	a64_set(effect, a64_register(code, 0),
		sum_value(code, a64_register(code, 5), a64_register(code, 16),
			  !a64_bits(code, 10, 6)));
	return true;
}

static bool find_add_extended(const struct a64_insn *insn,
			      struct arch_effect *effect)
{
	uint32_t code = insn->code;

	if (a64_bits(code, 10, 3) > 4)
		return false;
	a64_set(effect, sum_register(code, effect),
		sum_value(code, a64_register_or_stack(code, 5),
			  a64_register(code, 16), false));
	return true;
}

/* ADC, SBC */
static bool find_carry(const struct a64_insn *insn, struct arch_effect *effect)
{
	effect->flags = a64_bit(insn->code, 29);
	a64_set_unknown(effect, a64_register(insn->code, 0));
	return true;
}

/* RMIF, SETF8, SETF16, CCMN, CCMP */
static bool a64_find_flags(const struct a64_insn *insn,
			   struct arch_effect *effect)
{
	effect->flags = true;
	return true;
}

static bool find_computed(const struct a64_insn *insn,
			  struct arch_effect *effect)
{
	a64_set_unknown(effect, a64_register(insn->code, 0));
	return true;
}

/* RBIT, REV16, REV32, REV, CLZ, CLS; of pointer authentication those that
 * check may fault, where FEAT_FPAC is there. */
static bool find_one_source(const struct a64_insn *insn,
			    struct arch_effect *effect)
{
	uint32_t code = insn->code, operation = a64_bits(code, 10, 6);

	switch (a64_bits(code, 16, 5)) {
	case 0:
		if (operation > 5 || (operation == 3 && !is_wide(code)))
			return false;
		break;
	case 1:
		if (operation > 17 || !is_wide(code))
			return false;
		effect->traps = operation < 16 && operation & 4;
		break;
	default:
		return false;
	}
	return find_computed(insn, effect);
}

/* UDIV, SDIV (of which none faults), shifts, PACGA, CRC32 */
static bool find_two_sources(const struct a64_insn *insn,
			     struct arch_effect *effect)
{
	uint32_t code = insn->code, operation = a64_bits(code, 10, 6);

	switch (operation) {
	case 2: case 3: case 8: case 9: case 10: case 11:
		break;
	case 12:
		if (!is_wide(code))
			return false;
		break;
	case 16: case 17: case 18: case 19: case 20: case 21: case 22:
	case 23:
		if (is_wide(code) != ((operation & 3) == 3))
			return false;
		break;
	default:
		return false;
	}
	return find_computed(insn, effect);
}

/* MADD, MSUB, and those with a product of 64 or 128 bits */
static bool find_three_sources(const struct a64_insn *insn,
			       struct arch_effect *effect)
{
	switch (a64_bits(insn->code, 21, 3)) {
	case 0:
		break;
	case 1: case 5:
		if (!is_wide(insn->code))
			return false;
		break;
	case 2: case 6:
		if (!is_wide(insn->code) || a64_bit(insn->code, 15))
			return false;
		break;
	default:
		return false;
	}
	return find_computed(insn, effect);
}

const struct a64_class a64_register_classes[] = {
	{ 0x1f000000, 0x0a000000, find_logical },
	{ 0x1f200000, 0x0b000000, find_add_shifted },
	{ 0x1fe00000, 0x0b200000, find_add_extended },
	{ 0x1fe0fc00, 0x1a000000, find_carry },
	{ 0xffe07c10, 0xba000400, a64_find_flags },	/* RMIF */
	{ 0xffffbc1f, 0x3a00080d, a64_find_flags },	/* SETF8, SETF16 */
	{ 0x3fe00410, 0x3a400000, a64_find_flags },	/* CCMN, CCMP */
	{ 0x3fe00800, 0x1a800000, find_computed },	/* CSEL and its like */
	{ 0x7fe00000, 0x5ac00000, find_one_source },
	{ 0x7fe00000, 0x1ac00000, find_two_sources },
	{ 0x7f000000, 0x1b000000, find_three_sources },
	{ 0 }
};
