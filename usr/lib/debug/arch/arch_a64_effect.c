// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions of AArch64 do to general registers and memory, by class of
 * encoding (Arm ARM C4.1). What isn't in the table isn't known.
 */
#include "arch_a64_effect.h"

#include <string.h>

#define A64_LINK	30

struct a64_insn {
	uint32_t code;
	uint64_t address;
	unsigned int thread;	/* the thread pointer's number */
	struct arch_effect *effect;
	bool wide;		/* of 64 bits: `width` is 8 bytes, not 4 */
	unsigned int width;
	/* DWARF numbers of the registers in the fields Rd, Rn and Rm, A64_ZERO:
	 * the zero register; of Rn when it may be the stack pointer */
	int to, from, other, base;
};

static struct arch_transfer a64_constant(int64_t number)
{
	return (struct arch_transfer) {
		.source = ARCH_SOURCE_CONSTANT, .number = number, .bytes = 8,
	};
}

static int64_t a64_cut(uint64_t number, unsigned int bytes)
{
	return bytes == 8 ? number : number & ((1ULL << bytes * 8) - 1);
}

static struct arch_transfer a64_sum(int reg, int64_t number, unsigned int bytes)
{
	if (reg == A64_ZERO)
		return a64_constant(a64_cut(number, bytes));
	return (struct arch_transfer) {
		.source = ARCH_SOURCE_REGISTER, .reg = reg, .number = number,
		.bytes = bytes,
	};
}

/* The register gets the value; what isn't known with a value of zeros. */
static void a64_set(const struct a64_insn *insn, int reg,
		    struct arch_transfer value)
{
	struct arch_effect *effect = insn->effect;

	value.to = reg;
	if (reg != A64_ZERO && effect->count == ARCH_TRANSFERS)
		effect->known = false;
	else if (reg != A64_ZERO)
		effect->transfers[effect->count++] = value;
}

static void a64_set_unknown(const struct a64_insn *insn, int reg)
{
	a64_set(insn, reg, (struct arch_transfer){ 0 });
}

/* ADR, ADRP */
static bool a64_find_address(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	int64_t distance = a64_signed(code, 5, 19) * 4 + a64_bits(code, 29, 2);
	uint64_t address = insn->address + distance;

	if (a64_bit(code, 31))
		address = (insn->address & ~0xfffULL) + distance * 4096;
	a64_set(insn, insn->to, (struct arch_transfer) {
		.source = ARCH_SOURCE_ADDRESS, .number = address, .bytes = 8,
	});
	return true;
}

/* What ADD or SUB writes: with flags there is no stack pointer. */
static int sum_register(const struct a64_insn *insn)
{
	insn->effect->flags = a64_bit(insn->code, 29);
	return insn->effect->flags ? insn->to : (int)a64_bits(insn->code, 0, 5);
}

static bool find_add_immediate(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	int64_t number = a64_bits(code, 10, 12);

	if (a64_bit(code, 22))
		number <<= 12;
	if (a64_bit(code, 30))
		number = -number;
	a64_set(insn, sum_register(insn),
		a64_sum(insn->base, number, insn->width));
	return true;
}

bool a64_mask_find(uint32_t code, uint64_t *mask)
{
	unsigned int rotation = a64_bits(code, 16, 6);
	unsigned int ones = a64_bits(code, 10, 6);
	unsigned int pattern = a64_bit(code, 22) << 6 | (~ones & 63);
	unsigned int size = 64;
	uint64_t element;

	if (!a64_bit(code, 31) && a64_bit(code, 22))
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
	*mask = a64_cut(element, a64_bit(code, 31) ? 8 : 4);
	return true;
}

/* AND, ORR, EOR, ANDS with a number: ORR makes one, AND keeps low bytes. */
static bool find_logical_immediate(const struct a64_insn *insn)
{
	uint32_t code = insn->code, operation = a64_bits(code, 29, 2);
	int from = insn->from;
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
	insn->effect->flags = operation == 3;
	a64_set(insn, operation == 3 ? insn->to :
					 (int)a64_bits(code, 0, 5), value);
	return true;
}

/* MOVN, MOVZ, MOVK */
static bool find_move(const struct a64_insn *insn)
{
	uint32_t code = insn->code, operation = a64_bits(code, 29, 2);
	unsigned int shift = 16 * a64_bits(code, 21, 2);
	uint64_t number = (uint64_t)a64_bits(code, 5, 16) << shift;
	int to = insn->to;

	if (operation == 1 || (!insn->wide && shift > 16))
		return false;
	if (operation == 0)
		number = ~number;
	if (operation == 3)
		a64_set_unknown(insn, to);
	else
		a64_set(insn, to,
			a64_constant(a64_cut(number, insn->width)));
	return true;
}

/* SBFM, BFM, UBFM: those that extend whole bytes are sxtb, uxtb and so on. */
static bool find_bitfield(const struct a64_insn *insn)
{
	uint32_t code = insn->code, operation = a64_bits(code, 29, 2);
	unsigned int rotation = a64_bits(code, 16, 6);
	unsigned int last = a64_bits(code, 10, 6), whole = insn->width;
	struct arch_transfer value = { 0 };

	if (operation == 3 || a64_bit(code, 22) != insn->wide ||
	    (!insn->wide && (rotation | last) & 32))
		return false;
	if (operation != 1 && !rotation &&
	    (last == 7 || last == 15 || last == 31 || last == 63)) {
		unsigned int bytes = (last + 1) / 8;

		value = a64_sum(insn->from, 0, bytes);
		value.is_signed = operation == 0 && bytes < whole &&
				  value.source == ARCH_SOURCE_REGISTER;
		value.part = value.is_signed && whole == 4 ? 4 : 0;
	}
	a64_set(insn, insn->to, value);
	return true;
}

/* Shifted by more than there is. */
static bool shifts_too_far(const struct a64_insn *insn)
{
	return !insn->wide && a64_bit(insn->code, 15);
}

/* AND, BIC, ORR, ORN, EOR, EON, ANDS, BICS; mov is an ORR. */
static bool find_logical(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	bool negated = a64_bit(code, 21), shifted = a64_bits(code, 10, 6);
	struct arch_transfer value = { 0 };

	if (shifts_too_far(insn))
		return false;
	if (a64_bits(code, 29, 2) == 1 && !negated && insn->from == A64_ZERO &&
	    (!shifted || insn->other == A64_ZERO))
		value = a64_sum(insn->other, 0, insn->width);
	insn->effect->flags = a64_bits(code, 29, 2) == 3;
	a64_set(insn, insn->to, value);
	return true;
}

/* What a sum comes to without its second operand, or without its first one. */
static struct arch_transfer sum_value(const struct a64_insn *insn, int first,
				      bool plain)
{
	if (insn->other == A64_ZERO)
		return a64_sum(first, 0, insn->width);
	if (first == A64_ZERO && plain && !a64_bit(insn->code, 30))
		return a64_sum(insn->other, 0, insn->width);
	return (struct arch_transfer){ 0 };
}

static bool find_add_shifted(const struct a64_insn *insn)
{
	if (a64_bits(insn->code, 22, 2) == 3 || shifts_too_far(insn))
		return false;
	insn->effect->flags = a64_bit(insn->code, 29);
	a64_set(insn, insn->to,
		sum_value(insn, insn->from, !a64_bits(insn->code, 10, 6)));
	return true;
}

static bool find_add_extended(const struct a64_insn *insn)
{
	if (a64_bits(insn->code, 10, 3) > 4)
		return false;
	a64_set(insn, sum_register(insn), sum_value(insn, insn->base, false));
	return true;
}

/* Loads and stores */

/* How much, and whether to a general register. */
struct a64_access {
	unsigned int bytes;
	bool load, vector, hint;
	bool is_signed;
	uint8_t part;		/* as in struct arch_transfer */
};

static struct arch_memory memory_at(const struct a64_insn *insn,
				    int64_t distance, unsigned int bytes)
{
	return (struct arch_memory) {
		.space = ARCH_SPACE_BASE, .base = insn->base,
		.number = distance, .bytes = bytes,
	};
}

static void load_add(const struct a64_insn *insn, int to,
		     const struct arch_memory *memory,
		     const struct a64_access *access)
{
	insn->effect->reads[insn->effect->read_count++] = *memory;
	if (access->vector)
		return;
	a64_set(insn, to, (struct arch_transfer) {
		.source = ARCH_SOURCE_MEMORY, .memory = *memory,
		.bytes = memory->bytes, .is_signed = access->is_signed,
		.part = access->part,
	});
}

/* `from`: as a64_register(); unknown: A64_UNKNOWN */
#define A64_UNKNOWN	-2

static void a64_store_add(const struct a64_insn *insn, int from,
			  const struct arch_memory *memory)
{
	struct arch_effect *effect = insn->effect;
	struct arch_transfer *transfer = &effect->transfers[effect->count++];

	effect->writes[effect->write_count++] = *memory;
	if (from != A64_UNKNOWN)
		*transfer = a64_sum(from, 0, memory->bytes);
	transfer->bytes = memory->bytes;
	transfer->memory = *memory;
	transfer->to_memory = true;
}

static void access_add(const struct a64_insn *insn, int reg,
		       const struct arch_memory *memory,
		       const struct a64_access *access)
{
	if (access->load && !access->hint)
		load_add(insn, reg, memory, access);
	else if (!access->hint)
		a64_store_add(insn, access->vector ? A64_UNKNOWN : reg, memory);
}

static void a64_write_back(const struct a64_insn *insn, int64_t distance)
{
	a64_set(insn, insn->base, a64_sum(insn->base, distance, 8));
}

/* LDP, STP, LDNP, STNP. Where what is loaded and the base are one register
 * the result may be any. */
static bool find_pair(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	int first = insn->to, second = a64_register(code, 10);
	bool writes_back = a64_bit(code, 23), after = writes_back &&
		!a64_bit(code, 24);
	unsigned int size = a64_bits(code, 30, 2);
	struct arch_memory low, high;
	struct a64_access access;
	int64_t distance;

	access = (struct a64_access) {
		.vector = a64_bit(code, 26), .load = a64_bit(code, 22),
		.bytes = a64_bit(code, 26) ? 4 << size : size == 2 ? 8 : 4,
		.is_signed = !a64_bit(code, 26) && size == 1,	/* LDPSW */
	};
	if (size == 3 ||
	    (access.is_signed && (!access.load || !a64_bits(code, 23, 2))) ||
	    (access.load && a64_bits(code, 0, 5) == a64_bits(code, 10, 5)))
		return false;
	if (writes_back && !access.vector &&
	    (first == insn->base || second == insn->base))
		return false;
	distance = a64_signed(code, 15, 7) * access.bytes;
	low = memory_at(insn, after ? 0 : distance, access.bytes);
	high = low;
	high.number += access.bytes;
	access_add(insn, first, &low, &access);
	access_add(insn, second, &high, &access);
	if (writes_back)
		a64_write_back(insn, distance);
	return true;
}

static bool single_access(uint32_t code, struct a64_access *access)
{
	unsigned int size = a64_bits(code, 30, 2);
	unsigned int operation = a64_bits(code, 22, 2);

	*access = (struct a64_access) {
		.bytes = 1 << size, .vector = a64_bit(code, 26),
		.load = operation != 0,
	};
	if (access->vector) {
		access->load = operation & 1;
		if (operation & 2)
			access->bytes = 16;
		return !(operation & 2) || !size;
	}
	access->hint = operation == 2 && size == 3;	/* PRFM */
	access->is_signed = operation >= 2;
	access->part = operation == 3 ? 4 : 0;
	return operation != 3 || size < 2;
}

/*
 * At the base and a number, which is multiplied, or isn't (LDUR, LDTR), or
 * which the base is changed by, before or after. At the base and another
 * register: where that is isn't known, but for the zero register.
 */
static bool find_single(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	bool scaled = (code & 0x3b000000) == 0x39000000;
	bool element = !scaled && a64_bit(code, 21), option = a64_bit(code, 11);
	bool indexed = !scaled && !element && a64_bit(code, 10);
	int64_t distance = a64_signed(code, 12, 9);
	struct arch_memory memory;
	struct a64_access access;

	if (!single_access(code, &access))
		return false;
	if (scaled) {
		distance = (int64_t)a64_bits(code, 10, 12) * access.bytes;
	} else if (element) {
		distance = 0;
		if (!a64_bit(code, 14))
			return false;
	} else if (indexed) {
		if (access.hint || (!access.vector && insn->to == insn->base))
			return false;
	} else if (option && (access.vector || access.hint)) {
		return false;
	}
	memory = memory_at(insn, indexed && !option ? 0 : distance,
			   access.bytes);
	if (element && insn->other != A64_ZERO)
		memory = (struct arch_memory){ .bytes = access.bytes };
	access_add(insn, insn->to, &memory, &access);
	if (indexed)
		a64_write_back(insn, distance);
	return true;
}

static bool find_literal(const struct a64_insn *insn)
{
	uint32_t code = insn->code, size = a64_bits(code, 30, 2);
	struct a64_access access = { .load = true,
				     .vector = a64_bit(code, 26) };
	struct arch_memory memory = {
		.space = ARCH_SPACE_FIXED,
		.number = insn->address + a64_signed(code, 5, 19) * 4,
	};

	if (access.vector) {
		memory.bytes = 4 << size;
		if (size == 3)
			return false;
	} else {
		memory.bytes = size == 1 ? 8 : 4;
		access.is_signed = size == 2;
		access.hint = size == 3;
	}
	access_add(insn, insn->to, &memory, &access);
	return true;
}

/* LDAPUR, STLUR; what is ordered must be aligned, more or less. */
static bool find_ordered(const struct a64_insn *insn)
{
	return !(a64_bits(insn->code, 30, 2) == 3 &&
		 a64_bits(insn->code, 22, 2) == 2) &&
	       find_single(insn);
}

static const struct a64_access general_load = { .load = true };

/* LDXP, STXP: whether the store is done is in a register of its own. */
static bool find_exclusive_pair(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	int first = insn->to, second = a64_register(code, 10);
	unsigned int bytes = a64_bit(code, 30) ? 8 : 4;
	struct arch_memory low = memory_at(insn, 0, bytes);
	struct arch_memory high = memory_at(insn, bytes, bytes);

	if (a64_bit(code, 22)) {
		load_add(insn, first, &low, &general_load);
		load_add(insn, second, &high, &general_load);
		return first != second;
	}
	a64_store_add(insn, A64_UNKNOWN, &low);
	a64_store_add(insn, A64_UNKNOWN, &high);
	a64_set_unknown(insn, insn->other);
	return true;
}

/* CASP: two registers that follow each other */
static bool find_compare_pair(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	int old = a64_bits(code, 16, 5);
	unsigned int bytes = a64_bit(code, 30) ? 8 : 4;
	struct arch_memory low = memory_at(insn, 0, bytes);
	struct arch_memory high = memory_at(insn, bytes, bytes);

	if (old & 1 || code & 1)
		return false;
	load_add(insn, old, &low, &general_load);
	load_add(insn, old == 30 ? A64_ZERO : old + 1, &high, &general_load);
	a64_store_add(insn, A64_UNKNOWN, &low);
	a64_store_add(insn, A64_UNKNOWN, &high);
	return true;
}

/* LDXR, STXR, LDAR, STLR, CAS and their like */
static bool find_exclusive(const struct a64_insn *insn)
{
	uint32_t code = insn->code;
	bool load = a64_bit(code, 22), exclusive = !a64_bit(code, 23);
	struct arch_memory memory =
		memory_at(insn, 0, 1 << a64_bits(code, 30, 2));

	if (a64_bit(code, 21) && exclusive)
		return a64_bit(code, 31) ? find_exclusive_pair(insn) :
		       a64_bits(code, 10, 5) == 31 && find_compare_pair(insn);
	if (a64_bit(code, 21)) {
		load_add(insn, insn->other, &memory, &general_load);
		a64_store_add(insn, A64_UNKNOWN, &memory);
		return a64_bits(code, 10, 5) == 31;
	}
	if (load) {
		load_add(insn, insn->to, &memory, &general_load);
		return true;
	}
	a64_store_add(insn, exclusive ? A64_UNKNOWN : insn->to, &memory);
	if (exclusive)
		a64_set_unknown(insn, insn->other);
	return true;
}

/* LDADD to LDUMIN, SWP, LDAPR */
static bool find_atomic(const struct a64_insn *insn)
{
	uint32_t code = insn->code, operation = a64_bits(code, 12, 4);
	struct arch_memory memory =
		memory_at(insn, 0, 1 << a64_bits(code, 30, 2));
	bool loads = operation == 12;

	if (operation > 8 && !(loads && (code & 0xdf0000) == 0x9f0000))
		return false;
	load_add(insn, insn->to, &memory, &general_load);
	if (!loads)
		a64_store_add(insn, operation == 8 ? insn->other : A64_UNKNOWN,
			      &memory);
	return true;
}

/* LDRAA, LDRAB: where the address leads that they check */
static bool a64_find_checked_load(const struct a64_insn *insn)
{
	struct arch_memory memory = { .bytes = 8 };
	bool writes_back = a64_bit(insn->code, 11);

	load_add(insn, insn->to, &memory, &general_load);
	if (writes_back)
		a64_set_unknown(insn, insn->base);
	return !writes_back || insn->to != insn->base;
}

static void structure_add(const struct a64_insn *insn, unsigned int bytes)
{
	struct a64_access access = {
		.vector = true, .load = a64_bit(insn->code, 22),
	};
	struct arch_memory memory = memory_at(insn, 0, bytes);
	bool after = a64_bit(insn->code, 23);

	access_add(insn, A64_UNKNOWN, &memory, &access);
	if (after && a64_bits(insn->code, 16, 5) == 31)
		a64_write_back(insn, bytes);
	else if (after)
		a64_set_unknown(insn, insn->base);
}

/* LD1 to LD4, ST1 to ST4 of whole registers */
static bool find_structures(const struct a64_insn *insn)
{
	static const uint8_t registers[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2,
	};
	unsigned int count = registers[a64_bits(insn->code, 12, 4)];

	structure_add(insn, count * (a64_bit(insn->code, 30) ? 16 : 8));
	return count;
}

/* ... of an element of each, or of one that all elements get */
static bool find_structure(const struct a64_insn *insn)
{
	uint32_t code = insn->code, size = a64_bits(code, 10, 2);
	unsigned int count = 2 * a64_bit(code, 13) + a64_bit(code, 21) + 1;
	unsigned int bytes = 1 << a64_bits(code, 14, 2);

	if (bytes == 8) {
		if (!a64_bit(code, 22) || a64_bit(code, 12))
			return false;
		bytes = 1 << size;
	} else if (bytes == 4 && size == 1) {
		if (a64_bit(code, 12))
			return false;
		bytes = 8;
	} else if ((bytes == 2 && size & 1) || (bytes == 4 && size)) {
		return false;
	}
	structure_add(insn, count * bytes);
	return true;
}

/* Branches and system instructions */

/* BL, BLR */
static bool find_call(const struct a64_insn *insn)
{
	a64_set(insn, A64_LINK, (struct arch_transfer) {
		.source = ARCH_SOURCE_ADDRESS, .number = insn->address + 4,
		.bytes = 8,
	});
	return true;
}

static void sign(const struct a64_insn *insn, unsigned int number)
{
	struct arch_transfer value = a64_sum(number, 0, 8);

	value.part = 4;
	a64_set(insn, number, value);
}

/* MRS of TPIDR_EL0 */
static bool find_thread(const struct a64_insn *insn)
{
	a64_set(insn, insn->to, (struct arch_transfer) {
		.source = ARCH_SOURCE_REGISTER, .reg = insn->thread,
		.bytes = 8,
	});
	return true;
}

/* DC ZVA: as many bytes as the processor likes */
static bool find_clear(const struct a64_insn *insn)
{
	struct arch_effect *effect = insn->effect;

	effect->writes[effect->write_count++] = (struct arch_memory){ 0 };
	effect->transfers[effect->count++].to_memory = true;
	return true;
}

/* What a class does besides what its function finds. */
#define A64_WRITES	1	/* Rd, with what isn't known */
#define A64_FLAGS	2
#define A64_TRAPS	4	/* may */
/* An address there is signed, or was: its low bytes stay as they are (Arm ARM
 * D8.10: addresses have 36 bits at least). */
#define A64_SIGNS_LINK	8
#define A64_SIGNS_17	16

/* The function: false, the encoding is reserved, or what it does isn't known.
 * Of several classes that an instruction is of, the first one counts. */
static const struct {
	uint32_t mask, code;
	uint8_t does;
	bool (*find)(const struct a64_insn *insn);
} classes[] = {
	/* Data Processing -- Immediate */
	{ 0x1f000000, 0x10000000, 0, a64_find_address },
	{ 0x1f800000, 0x11000000, 0, find_add_immediate },
	{ 0x1f800000, 0x12000000, 0, find_logical_immediate },
	{ 0x1f800000, 0x12800000, 0, find_move },
	{ 0x1f800000, 0x13000000, 0, find_bitfield },
	{ 0xffe00000, 0x93c00000, A64_WRITES },	/* EXTR */
	{ 0xffe08000, 0x13800000, A64_WRITES },	/* EXTR */

	/* Data Processing -- Register */
	{ 0x1f000000, 0x0a000000, 0, find_logical },
	{ 0x1f200000, 0x0b000000, 0, find_add_shifted },
	{ 0x1fe00000, 0x0b200000, 0, find_add_extended },
	{ 0x3fe0fc00, 0x1a000000, A64_WRITES },	/* ADC, SBC */
	{ 0x3fe0fc00, 0x3a000000, A64_FLAGS | A64_WRITES }, /* ADCS, SBCS */
	{ 0xffe07c10, 0xba000400, A64_FLAGS },	/* RMIF */
	{ 0xffffbc1f, 0x3a00080d, A64_FLAGS },	/* SETF8, SETF16 */
	{ 0x3fe00410, 0x3a400000, A64_FLAGS },	/* CCMN, CCMP */
	{ 0x3fe00800, 0x1a800000, A64_WRITES },	/* CSEL and its like */
	{ 0x7ffff800, 0x5ac00000, A64_WRITES },	/* RBIT, REV16 */
	{ 0x7ffffc00, 0x5ac00800, A64_WRITES },	/* REV */
	{ 0xfffffc00, 0xdac00c00, A64_WRITES },	/* REV */
	{ 0x7ffff800, 0x5ac01000, A64_WRITES },	/* CLZ, CLS */
	{ 0xffffd000, 0xdac10000, A64_WRITES },	/* PACIA */
	{ 0xffffd000, 0xdac11000, A64_TRAPS | A64_WRITES }, /* AUTIA */
	{ 0xfffff800, 0xdac14000, A64_WRITES },	/* XPACI */
	{ 0x7fe0f800, 0x1ac00800, A64_WRITES },	/* UDIV: never faults */
	{ 0x7fe0f000, 0x1ac02000, A64_WRITES },	/* LSLV */
	{ 0xffe0fc00, 0x9ac03000, A64_WRITES },	/* PACGA */
	{ 0xffe0ec00, 0x9ac04c00, A64_WRITES },	/* CRC32X */
	{ 0xffe0e800, 0x1ac04000, A64_WRITES },	/* CRC32B */
	{ 0xffe0ec00, 0x1ac04800, A64_WRITES },	/* CRC32W */
	{ 0x7fe00000, 0x1b000000, A64_WRITES },	/* MADD, MSUB */
	{ 0xff600000, 0x9b200000, A64_WRITES },	/* SMADDL */
	{ 0xff608000, 0x9b400000, A64_WRITES },	/* SMULH */

	/* Loads and Stores */
	{ 0x3f000000, 0x08000000, A64_TRAPS, find_exclusive },
	{ 0x3a000000, 0x28000000, 0, find_pair },
	{ 0x3b000000, 0x39000000, 0, find_single },
	{ 0x3b200400, 0x38000000, 0, find_single },
	{ 0x3b200400, 0x38000400, 0, find_single },
	{ 0x3b200c00, 0x38200800, 0, find_single },
	{ 0x3f200c00, 0x38200000, A64_TRAPS, find_atomic },
	{ 0xff200400, 0xf8200400, A64_TRAPS, a64_find_checked_load },
	{ 0x3b000000, 0x18000000, 0, find_literal },
	{ 0x3f200c00, 0x19000000, A64_TRAPS, find_ordered },
	{ 0xbfbf0000, 0x0c000000, 0, find_structures },
	{ 0xbfa00000, 0x0c800000, 0, find_structures },
	{ 0xbf9f0000, 0x0d000000, 0, find_structure },
	{ 0xbf800000, 0x0d800000, 0, find_structure },

	/* Branches, Exception Generating and System instructions */
	{ 0xff000000, 0x54000000, 0 },		/* B.cond, BC.cond */
	{ 0xfc000000, 0x14000000, 0 },		/* B */
	{ 0xfc000000, 0x94000000, 0, find_call },
	{ 0x7e000000, 0x34000000, 0 },		/* CBZ, CBNZ */
	{ 0x7e000000, 0x36000000, 0 },		/* TBZ, TBNZ */
	{ 0xfffffc1f, 0xd61f0000, 0 },		/* BR */
	{ 0xfffffc1f, 0xd63f0000, 0, find_call }, /* BLR */
	{ 0xfffffc1f, 0xd65f0000, 0 },		/* RET */
	{ 0xfffff81f, 0xd61f081f, A64_TRAPS },	/* BRAAZ */
	{ 0xfffff81f, 0xd63f081f, A64_TRAPS, find_call }, /* BLRAAZ */
	{ 0xfffffbff, 0xd65f0bff, A64_TRAPS },	/* RETAA */
	{ 0xfffff800, 0xd71f0800, A64_TRAPS },	/* BRAA */
	{ 0xfffff800, 0xd73f0800, A64_TRAPS, find_call }, /* BLRAA */

	/* HINT: those that pointer authentication uses write x30 or x17, and
	 * where it isn't there they don't. BTI and PACIASP, which jumps lead
	 * to, clear PSTATE.BTYPE, as the next instruction does of any other. */
	{ 0xffffff9f, 0xd503201f, 0 },		/* NOP to WFI */
	{ 0xffffffdf, 0xd503209f, 0 },		/* SEV, SEVL */
	{ 0xffffffff, 0xd50320ff, A64_SIGNS_LINK }, /* XPACLRI */
	{ 0xffffffbf, 0xd503211f, A64_SIGNS_17 }, /* PACIA1716 */
	{ 0xffffffbf, 0xd503219f, A64_TRAPS | A64_SIGNS_17 }, /* AUTIA1716 */
	{ 0xffffff3f, 0xd503221f, 0 },		/* ESB to CLRBHB */
	{ 0xffffffff, 0xd503223f, 0 },		/* PSB */
	{ 0xffffffbf, 0xd503231f, A64_SIGNS_LINK }, /* PACIAZ */
	{ 0xffffffbf, 0xd503233f, A64_FLAGS | A64_SIGNS_LINK }, /* PACIASP */
	{ 0xffffff9f, 0xd503239f, A64_TRAPS | A64_SIGNS_LINK }, /* AUTIAZ */
	{ 0xffffff3f, 0xd503241f, A64_FLAGS },	/* BTI */

	{ 0xfffff0ff, 0xd503305f, 0 },		/* CLREX */
	{ 0xfffff0ff, 0xd503309f, 0 },		/* DSB */
	{ 0xfffff0ff, 0xd50330bf, 0 },		/* DMB */
	{ 0xfffff0ff, 0xd50330df, 0 },		/* ISB */
	{ 0xffffffff, 0xd50330ff, 0 },		/* SB */
	{ 0xffffffff, 0xd500401f, A64_FLAGS },	/* CFINV */
	{ 0xffffffff, 0xd500403f, A64_FLAGS },	/* XAFLAG */
	{ 0xffffffff, 0xd500405f, A64_FLAGS },	/* AXFLAG */

	/* MRS of what programs may read */
	{ 0xffffffe0, 0xd53bd040, 0, find_thread }, /* TPIDR_EL0 */
	{ 0xffffffe0, 0xd5384100, A64_WRITES },	/* SP_EL0: the kernel's task */
	{ 0xffffffe0, 0xd53b0020, A64_WRITES },	/* CTR_EL0 */
	{ 0xffffffe0, 0xd53b00e0, A64_WRITES },	/* DCZID_EL0 */
	{ 0xffffffe0, 0xd53b4200, A64_WRITES },	/* NZCV */
	{ 0xffffffe0, 0xd53b4400, A64_WRITES },	/* FPCR */
	{ 0xffffffe0, 0xd53b4420, A64_WRITES },	/* FPSR */
	{ 0xffffffe0, 0xd53bd060, A64_WRITES },	/* TPIDRRO_EL0 */
	{ 0xffffffe0, 0xd53be000, A64_WRITES },	/* CNTFRQ_EL0 */
	{ 0xffffffe0, 0xd53be040, A64_WRITES },	/* CNTVCT_EL0 */
	{ 0xffffffe0, 0xd50b7420, 0, find_clear },

	/* Data Processing -- Scalar Floating-Point and Advanced SIMD.
	 * Arithmetic of floating point may trap, where the processor has that
	 * and it's switched on (FPCR). */
	{ 0x5f26fc00, 0x1e200000, A64_TRAPS | A64_WRITES }, /* FCVTNS */
	{ 0x5f3efc00, 0x1e220000, A64_TRAPS },	/* SCVTF */
	{ 0x5f3efc00, 0x1e240000, A64_TRAPS | A64_WRITES }, /* FCVTAS */
	{ 0x5f3ffc00, 0x1e260000, A64_WRITES },	/* FMOV */
	{ 0x5f3ffc00, 0x1e270000, 0 },		/* FMOV */
	{ 0x5ffffc00, 0x1eae0000, A64_WRITES },	/* FMOV, upper half */
	{ 0x5ffffc00, 0x1eaf0000, 0 },		/* FMOV, upper half */
	/* FJCVTZS */
	{ 0xdffffc00, 0x1e7e0000, A64_TRAPS | A64_FLAGS | A64_WRITES },
	/* FCVTZS to, SCVTF of a number with a fixed point */
	{ 0x5f3e0000, 0x1e180000, A64_TRAPS | A64_WRITES },
	{ 0x5f3e0000, 0x1e020000, A64_TRAPS },
	{ 0xff3f7c00, 0x1e204000, 0 },		/* FMOV, FABS */
	{ 0xff3ffc00, 0x1e214000, 0 },		/* FNEG */
	{ 0xff207c00, 0x1e204000, A64_TRAPS },	/* FSQRT */
	{ 0xff203c00, 0x1e202000, A64_FLAGS | A64_TRAPS }, /* FCMP */
	{ 0xff201c00, 0x1e201000, 0 },		/* FMOV of a number */
	{ 0xff200c00, 0x1e200400, A64_FLAGS | A64_TRAPS }, /* FCCMP */
	{ 0xff200c00, 0x1e200800, A64_TRAPS },	/* FMUL, FADD */
	{ 0xff200c00, 0x1e200c00, 0 },		/* FCSEL */
	{ 0xff000000, 0x1f000000, A64_TRAPS },	/* FMADD */
	{ 0xbfe0ec00, 0x0e002c00, A64_WRITES },	/* SMOV, UMOV */
	{ 0x9fe08400, 0x0e000400, 0 },		/* DUP, INS */
	{ 0xdfe08400, 0x5e000400, 0 },		/* DUP */
	{ 0xff3e0c00, 0x4e280800, 0 },		/* AES */
	{ 0xffe08c00, 0x5e000000, 0 },		/* SHA */
	{ 0xff3e0c00, 0x5e280800, 0 },		/* SHA */
	{ 0xdf20c400, 0x5e20c400, A64_TRAPS },	/* FADD */
	{ 0xdf200400, 0x5e200400, 0 },		/* ADD */
	{ 0xdf3ecc00, 0x5e20c800, A64_TRAPS },	/* FCMGT */
	{ 0xdf3f0c00, 0x5e210800, A64_TRAPS },	/* FRINTN */
	{ 0xdf3e0c00, 0x5e200800, 0 },		/* REV64 */
	{ 0xdf3ffc00, 0x5e30c800, A64_TRAPS },	/* ADDP */
	{ 0xdf3ffc00, 0x5e30f800, A64_TRAPS },	/* FMAXV */
	{ 0xdf3e0c00, 0x5e300800, 0 },		/* ADDP */
	{ 0xdf200c00, 0x5e200000, 0 },		/* SQDMLAL */
	{ 0xdff80400, 0x5f000400, 0 },		/* MOVI */
	{ 0xdf80e400, 0x5f00e400, A64_TRAPS },	/* SCVTF, FCVTZS */
	{ 0xdf800400, 0x5f000400, 0 },		/* SSHR */
	{ 0xdf000400, 0x5f000000, A64_TRAPS },	/* by an element */
	{ 0xdf60c400, 0x5e400400, A64_TRAPS },	/* of half precision */
	{ 0xdf7e0c00, 0x5e780800, A64_TRAPS },	/* of half precision */
	{ 0xdf208400, 0x5e008400, 0 },		/* SQRDMLAH */
	{ 0xbf208c00, 0x0e000000, 0 },		/* TBL */
	{ 0xbf208c00, 0x0e000800, 0 },		/* ZIP1 */
	{ 0xbf208400, 0x2e000000, 0 },		/* EXT */
	{ 0x9f60c400, 0x0e400400, A64_TRAPS },	/* of half precision */
	{ 0x9f7e0c00, 0x0e780800, A64_TRAPS },	/* of half precision */
	{ 0x9f208400, 0x0e008400, A64_TRAPS },	/* SDOT, FCMLA */
	{ 0x9f3ecc00, 0x0e20c800, A64_TRAPS },	/* FCMGT */
	{ 0x9f3f0c00, 0x0e210800, A64_TRAPS },	/* FRINTN */
	{ 0x9f3e0c00, 0x0e200800, 0 },		/* REV64 */
	{ 0x9f3ffc00, 0x0e30c800, A64_TRAPS },	/* FMAXNMV */
	{ 0x9f3ffc00, 0x0e30f800, A64_TRAPS },	/* FMAXV */
	{ 0x9f3e0c00, 0x0e300800, 0 },		/* ADDV */
	{ 0x9f200c00, 0x0e200000, 0 },		/* SADDL */
	{ 0x9f20c400, 0x0e20c400, A64_TRAPS },	/* FADD */
	{ 0x9f200400, 0x0e200400, 0 },		/* ADD */
	{ 0x9ff80400, 0x0f000400, 0 },		/* MOVI */
	{ 0x9f80e400, 0x0f00e400, A64_TRAPS },	/* SCVTF, FCVTZS */
	{ 0x9f800400, 0x0f000400, 0 },		/* SSHR */
	{ 0x9f000400, 0x0f000000, A64_TRAPS },	/* by an element */
	{ 0xffe0c000, 0xce408000, 0 },		/* SM3 */
	{ 0xffe0b000, 0xce608000, 0 },		/* SHA512, RAX1, SM3 */
	{ 0xff808000, 0xce000000, 0 },		/* EOR3, BCAX */
	{ 0xffe00000, 0xce800000, 0 },		/* XAR */
	{ 0xfffff000, 0xcec08000, 0 },		/* SHA512, SM4 */
};

bool a64_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect)
{
	static const uint8_t fields[] = { 0, 5, 10, 16 };
	struct a64_insn insn = {
		.address = address, .thread = arch->thread, .effect = effect,
	};
	bool stack, found = false;
	size_t i = 0;

	memset(effect, 0, sizeof(*effect));
	if (size < arch->insn_bytes)
		return false;
	insn.code = a64_word(code);
	insn.wide = a64_bit(insn.code, 31);
	insn.width = insn.wide ? 8 : 4;
	insn.to = a64_register(insn.code, 0);
	insn.from = a64_register(insn.code, 5);
	insn.other = a64_register(insn.code, 16);
	insn.base = a64_bits(insn.code, 5, 5);
	effect->known = true;

	/*
	 * The registers in the fields Rd, Rn, Ra and Rm, whether the encoding
	 * has them or not. 31 is the stack pointer as the base of a load or
	 * store, and as Rn of ADD and SUB of an extended register.
	 */
	stack = (insn.code & 0x0a000000) == 0x08000000 ||
		(insn.code & 0x1fe00000) == 0x0b200000;
	for (size_t k = 0; k < sizeof(fields); k++)
		effect->uses |= 1u << a64_bits(insn.code, fields[k], 5);
	if (!stack || a64_bits(insn.code, 5, 5) != 31)
		effect->uses &= ~(1u << 31);

	while (i < sizeof(classes) / sizeof(classes[0]) &&
	       (insn.code & classes[i].mask) != classes[i].code)
		i++;
	if (i < sizeof(classes) / sizeof(classes[0])) {
		effect->flags = classes[i].does & A64_FLAGS;
		effect->traps = classes[i].does & A64_TRAPS;
		if (classes[i].does & A64_WRITES)
			a64_set_unknown(&insn, insn.to);
		if (classes[i].does & A64_SIGNS_LINK)
			sign(&insn, A64_LINK);
		if (classes[i].does & A64_SIGNS_17)
			sign(&insn, 17);
		found = !classes[i].find || classes[i].find(&insn);
	}
	if (!found || !effect->known)
		*effect = (struct arch_effect){ .flags = true, .faults = true };
	return true;
}
