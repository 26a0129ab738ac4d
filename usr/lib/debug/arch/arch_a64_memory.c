// SPDX-License-Identifier: GPL-2.0
/* What loads and stores of AArch64 do (Arm ARM C4.1, Loads and Stores). */
#include "arch_a64_effect.h"

/* How much, and whether to a general register. */
struct a64_access {
	unsigned int bytes;
	bool load, vector, hint;
	bool is_signed;
	uint8_t part;		/* as in struct arch_transfer */
};

static int base_register(uint32_t code)
{
	return a64_register_or_stack(code, 5);
}

static struct arch_memory memory_at(uint32_t code, int64_t distance,
				    unsigned int bytes)
{
	return (struct arch_memory) {
		.space = ARCH_SPACE_BASE, .base = base_register(code),
		.number = distance, .bytes = bytes,
	};
}

static void load_add(struct arch_effect *effect, int to,
		     const struct arch_memory *memory,
		     const struct a64_access *access)
{
	effect->reads[effect->read_count++] = *memory;
	if (access->vector)
		return;
	a64_set(effect, to, (struct arch_transfer) {
		.source = ARCH_SOURCE_MEMORY, .memory = *memory,
		.bytes = memory->bytes, .is_signed = access->is_signed,
		.part = access->part,
	});
}

/* `from`: as a64_register(); unknown: A64_UNKNOWN */
#define A64_UNKNOWN	-2

static void a64_store_add(struct arch_effect *effect, int from,
			  const struct arch_memory *memory)
{
	struct arch_transfer *transfer = &effect->transfers[effect->count++];

	effect->writes[effect->write_count++] = *memory;
	if (from != A64_UNKNOWN)
		*transfer = a64_sum(from, 0, memory->bytes);
	transfer->bytes = memory->bytes;
	transfer->memory = *memory;
	transfer->to_memory = true;
}

static void access_add(struct arch_effect *effect, int reg,
		       const struct arch_memory *memory,
		       const struct a64_access *access)
{
	if (access->hint)
		return;
	if (access->load)
		load_add(effect, reg, memory, access);
	else
		a64_store_add(effect, access->vector ? A64_UNKNOWN : reg,
			      memory);
}

/* Write-back */
static void a64_write_back(struct arch_effect *effect, uint32_t code,
			   int64_t distance)
{
	a64_set(effect, base_register(code),
		a64_sum(base_register(code), distance, 8));
}

/* LDP, STP, LDNP, STNP. Where what is loaded and the base are one register
 * the result may be any. */
static bool find_pair(const struct a64_insn *insn, struct arch_effect *effect)
{
	uint32_t code = insn->code;
	int first = a64_register(code, 0), second = a64_register(code, 10);
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
	    (first == base_register(code) || second == base_register(code)))
		return false;
	distance = a64_signed(code, 15, 7) * access.bytes;
	low = memory_at(code, after ? 0 : distance, access.bytes);
	high = low;
	high.number += access.bytes;
	access_add(effect, first, &low, &access);
	access_add(effect, second, &high, &access);
	if (writes_back)
		a64_write_back(effect, code, distance);
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

static bool find_unsigned(const struct a64_insn *insn,
			  struct arch_effect *effect)
{
	struct arch_memory memory;
	struct a64_access access;

	if (!single_access(insn->code, &access))
		return false;
	memory = memory_at(insn->code,
			   (int64_t)a64_bits(insn->code, 10, 12) * access.bytes,
			   access.bytes);
	access_add(effect, a64_register(insn->code, 0), &memory, &access);
	return true;
}

/* LDUR, LDTR and their like */
static bool find_unscaled(const struct a64_insn *insn,
			  struct arch_effect *effect)
{
	bool unprivileged = a64_bit(insn->code, 11);
	struct arch_memory memory;
	struct a64_access access;

	if (!single_access(insn->code, &access) ||
	    (unprivileged && (access.vector || access.hint)))
		return false;
	memory = memory_at(insn->code, a64_signed(insn->code, 12, 9),
			   access.bytes);
	access_add(effect, a64_register(insn->code, 0), &memory, &access);
	return true;
}

/* The base is changed, before or after */
static bool find_indexed(const struct a64_insn *insn,
			 struct arch_effect *effect)
{
	uint32_t code = insn->code;
	int64_t distance = a64_signed(code, 12, 9);
	int reg = a64_register(code, 0);
	struct arch_memory memory;
	struct a64_access access;

	if (!single_access(code, &access) || access.hint ||
	    (!access.vector && reg == base_register(code)))
		return false;
	memory = memory_at(code, a64_bit(code, 11) ? distance : 0,
			   access.bytes);
	access_add(effect, reg, &memory, &access);
	a64_write_back(effect, code, distance);
	return true;
}

/* Base and index: where that is isn't known, but for an index of 0. */
static bool find_element(const struct a64_insn *insn,
			 struct arch_effect *effect)
{
	uint32_t code = insn->code;
	struct arch_memory memory;
	struct a64_access access;

	if (!single_access(code, &access) || !a64_bit(code, 14))
		return false;
	memory = a64_register(code, 16) == A64_ZERO ?
			 memory_at(code, 0, access.bytes) :
			 (struct arch_memory){ .bytes = access.bytes };
	access_add(effect, a64_register(code, 0), &memory, &access);
	return true;
}

static bool find_literal(const struct a64_insn *insn,
			 struct arch_effect *effect)
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
	access_add(effect, a64_register(code, 0), &memory, &access);
	return true;
}

/* LDAPUR, STLUR; what is ordered must be aligned, more or less. */
static bool find_ordered(const struct a64_insn *insn,
			 struct arch_effect *effect)
{
	effect->traps = true;
	return !(a64_bits(insn->code, 30, 2) == 3 &&
		 a64_bits(insn->code, 22, 2) == 2) &&
	       find_unscaled(insn, effect);
}

static const struct a64_access general_load = { .load = true };

/* LDXP, STXP: whether the store is done is in a register of its own. */
static bool find_exclusive_pair(const struct a64_insn *insn,
				struct arch_effect *effect)
{
	uint32_t code = insn->code;
	int first = a64_register(code, 0), second = a64_register(code, 10);
	unsigned int bytes = a64_bit(code, 30) ? 8 : 4;
	struct arch_memory low = memory_at(code, 0, bytes);
	struct arch_memory high = memory_at(code, bytes, bytes);

	if (a64_bit(code, 22)) {
		load_add(effect, first, &low, &general_load);
		load_add(effect, second, &high, &general_load);
		return first != second;
	}
	a64_store_add(effect, A64_UNKNOWN, &low);
	a64_store_add(effect, A64_UNKNOWN, &high);
	a64_set_unknown(effect, a64_register(code, 16));
	return true;
}

/* CASP: two registers that follow each other */
static bool find_compare_pair(const struct a64_insn *insn,
			      struct arch_effect *effect)
{
	uint32_t code = insn->code;
	int old = a64_bits(code, 16, 5);
	unsigned int bytes = a64_bit(code, 30) ? 8 : 4;
	struct arch_memory low = memory_at(code, 0, bytes);
	struct arch_memory high = memory_at(code, bytes, bytes);

	if (old & 1 || code & 1)
		return false;
	load_add(effect, old, &low, &general_load);
	load_add(effect, old == 30 ? A64_ZERO : old + 1, &high, &general_load);
	a64_store_add(effect, A64_UNKNOWN, &low);
	a64_store_add(effect, A64_UNKNOWN, &high);
	return true;
}

/* LDXR, STXR, LDAR, STLR, CAS and their like */
static bool find_exclusive(const struct a64_insn *insn,
			   struct arch_effect *effect)
{
	uint32_t code = insn->code;
	bool load = a64_bit(code, 22), exclusive = !a64_bit(code, 23);
	int reg = a64_register(code, 0), other = a64_register(code, 16);
	struct arch_memory memory =
		memory_at(code, 0, 1 << a64_bits(code, 30, 2));

	effect->traps = true;
	if (a64_bit(code, 21) && exclusive)
		return a64_bit(code, 31) ? find_exclusive_pair(insn, effect) :
		       a64_bits(code, 10, 5) == 31 &&
		       find_compare_pair(insn, effect);
	if (a64_bit(code, 21)) {
		load_add(effect, other, &memory, &general_load);
		a64_store_add(effect, A64_UNKNOWN, &memory);
		return a64_bits(code, 10, 5) == 31;
	}
	if (load) {
		load_add(effect, reg, &memory, &general_load);
		return true;
	}
	a64_store_add(effect, exclusive ? A64_UNKNOWN : reg, &memory);
	if (exclusive)
		a64_set_unknown(effect, other);
	return true;
}

/* LDADD to LDUMIN, SWP, LDAPR */
static bool find_atomic(const struct a64_insn *insn, struct arch_effect *effect)
{
	uint32_t code = insn->code, operation = a64_bits(code, 12, 4);
	struct arch_memory memory =
		memory_at(code, 0, 1 << a64_bits(code, 30, 2));
	bool loads = operation == 12;

	if (operation > 8 && !(loads && (code & 0xdf0000) == 0x9f0000))
		return false;
	effect->traps = true;
	load_add(effect, a64_register(code, 0), &memory, &general_load);
	if (!loads)
		a64_store_add(effect,
			      operation == 8 ? a64_register(code, 16) :
					       A64_UNKNOWN,
			      &memory);
	return true;
}

/* LDRAA, LDRAB: where the address leads that they check */
static bool a64_find_checked_load(const struct a64_insn *insn,
				  struct arch_effect *effect)
{
	uint32_t code = insn->code;
	int to = a64_register(code, 0);
	struct arch_memory memory = { .bytes = 8 };

	effect->traps = true;
	load_add(effect, to, &memory, &general_load);
	if (a64_bit(code, 11)) {
		a64_set_unknown(effect, base_register(code));
		return to != base_register(code);
	}
	return true;
}

static void structure_add(const struct a64_insn *insn,
			  struct arch_effect *effect, unsigned int bytes)
{
	struct a64_access access = {
		.vector = true, .load = a64_bit(insn->code, 22),
	};
	struct arch_memory memory = memory_at(insn->code, 0, bytes);
	bool after = a64_bit(insn->code, 23);

	access_add(effect, A64_UNKNOWN, &memory, &access);
	if (after && a64_bits(insn->code, 16, 5) == 31)
		a64_write_back(effect, insn->code, bytes);
	else if (after)
		a64_set_unknown(effect, base_register(insn->code));
}

/* LD1 to LD4, ST1 to ST4 of whole registers */
static bool find_structures(const struct a64_insn *insn,
			    struct arch_effect *effect)
{
	static const uint8_t registers[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2,
	};
	unsigned int count = registers[a64_bits(insn->code, 12, 4)];

	structure_add(insn, effect, count * (a64_bit(insn->code, 30) ? 16 : 8));
	return count;
}

/* ... of an element of each, or of one that all elements get */
static bool find_structure(const struct a64_insn *insn,
			   struct arch_effect *effect)
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
	structure_add(insn, effect, count * bytes);
	return true;
}

const struct a64_class a64_memory_classes[] = {
	{ 0x3f000000, 0x08000000, find_exclusive },
	{ 0x3a000000, 0x28000000, find_pair },
	{ 0x3b000000, 0x39000000, find_unsigned },
	{ 0x3b200400, 0x38000000, find_unscaled },
	{ 0x3b200400, 0x38000400, find_indexed },
	{ 0x3b200c00, 0x38200800, find_element },
	{ 0x3f200c00, 0x38200000, find_atomic },
	{ 0xff200400, 0xf8200400, a64_find_checked_load },
	{ 0x3b000000, 0x18000000, find_literal },
	{ 0x3f200c00, 0x19000000, find_ordered },
	{ 0xbfbf0000, 0x0c000000, find_structures },
	{ 0xbfa00000, 0x0c800000, find_structures },
	{ 0xbf9f0000, 0x0d000000, find_structure },
	{ 0xbf800000, 0x0d800000, find_structure },
	{ 0 }
};
