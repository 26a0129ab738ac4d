// SPDX-License-Identifier: GPL-2.0
/*
 * Where computed jumps of AArch64 lead to: how compilers write switches and
 * computed gotos. Numbers of a table are 1, 2 or 4 bytes, and count
 * instructions or bytes.
 */
#include "arch_a64_jump.h"

#include <string.h>
#include "arch_a64_effect.h"

/* Instructions that run one after the other, up to the jump. */
struct a64_trail {
	const struct arch *arch;
	const struct arch_code *insns;
};

static uint32_t code_at(const struct a64_trail *trail, size_t i)
{
	return a64_word(trail->insns[i].bytes);
}

static bool a64_effect_at(const struct a64_trail *trail, size_t i,
			  struct arch_effect *effect)
{
	const struct arch_code *insn = &trail->insns[i];

	return a64_effect_find(trail->arch, insn->bytes, insn->length,
			       insn->address, effect) && effect->known;
}

/* The last of the first `count` instructions that writes the register: its
 * index, -1 none; *value: what it writes, unknown where that isn't. */
static int find_writer(const struct a64_trail *trail, size_t count, int reg,
		       struct arch_transfer *value)
{
	while (count--) {
		const struct arch_transfer *transfer;
		struct arch_effect effect;

		memset(value, 0, sizeof(*value));
		if (!a64_effect_at(trail, count, &effect))
			return count;
		transfer = arch_transfer_to(&effect, reg);
		if (!transfer)
			continue;
		*value = *transfer;
		return count;
	}
	return -1;
}

static bool is_copy(const struct arch_transfer *value)
{
	return value->source == ARCH_SOURCE_REGISTER && !value->number &&
	       value->bytes >= 4;
}

/* The address that the register has after the first `count` instructions.
 * False, and *reg isn't -1: none of them writes it, to which *address is added.
 */
static bool a64_jump_address(const struct a64_trail *trail, size_t count,
			     int *reg, uint64_t *address)
{
	struct arch_transfer value;
	int writer;

	*address = 0;
	while ((writer = find_writer(trail, count, *reg, &value)) >= 0) {
		*address += value.number;
		if (value.source == ARCH_SOURCE_ADDRESS)
			return true;
		*reg = -1;
		if (value.source != ARCH_SOURCE_REGISTER || value.bytes != 8)
			return false;
		*reg = value.reg;
		count = writer;
	}
	return false;
}

static bool a64_has_address(const struct a64_trail *trail, size_t count,
			    int reg, uint64_t *address)
{
	return a64_jump_address(trail, count, &reg, address);
}

/* What the register has is an element: by which of the instructions, -1 none.
 */
static int find_load(const struct a64_trail *trail, size_t count, int reg)
{
	struct arch_transfer value;
	uint32_t code;
	int writer;

	while ((writer = find_writer(trail, count, reg, &value)) >= 0) {
		/* a load with a base and an index in registers */
		code = code_at(trail, writer);
		if ((code & 0x3f200c00) == 0x38200800 &&
		    a64_bits(code, 22, 2) &&
		    !(code >> 30 == 3 && a64_bits(code, 22, 2) != 1))
			return writer;
		if (!is_copy(&value))
			return -1;
		reg = value.reg;
		count = writer;
	}
	return -1;
}

/* The condition that a branch is taken by, or not, on the way: LS (9) and CC
 * (3) limit a number; -1: another one. */
static int condition_at(const struct a64_trail *trail, size_t i)
{
	const struct arch_code *insn = &trail->insns[i];
	uint32_t code = code_at(trail, i);
	uint64_t jump = insn->address + a64_signed(code, 5, 19) * 4;
	bool taken = insn[1].address == jump && jump != insn->address + 4;
	uint32_t condition = (code & 15) ^ !taken;

	if ((code & 0xff000010) != 0x54000000 ||
	    (!taken && insn[1].address != insn->address + 4))
		return -1;
	return condition == 9 || condition == 3 ? (int)condition : -1;
}

/* What an index is, on the way back from where it's used: in a register, or in
 * memory of the stack. */
struct a64_index {
	int reg;		/* -1: in memory */
	struct arch_memory slot;
	int condition;		/* of a branch after it; -1 none */
	/* a comparison of what may turn out to be the same */
	int compared;		/* its register, -1 none */
	uint32_t limit;
	uint32_t count;		/* found: it's less; 0 not known */
	bool lost;
};

/* A value of a few bits */
static uint32_t value_limit(const struct arch_transfer *value, uint32_t code)
{
	uint64_t mask;

	if (value->source != ARCH_SOURCE_UNKNOWN)
		return value->is_signed ? 0 : value->bytes == 1 ? 1 << 8 :
		       value->bytes == 2 ? 1 << 16 : 0;
	if ((code & 0x7f800000) == 0x12000000 && a64_mask_find(code, &mask) &&
	    mask < 1 << 16 && !(mask & (mask + 1)))
		return mask + 1;			/* AND */
	if ((code & 0x7f800000) == 0x53000000 &&	/* UBFX */
	    a64_bits(code, 10, 6) >= a64_bits(code, 16, 6) &&
	    a64_bits(code, 10, 6) - a64_bits(code, 16, 6) < 16)
		return 2u << (a64_bits(code, 10, 6) - a64_bits(code, 16, 6));
	return 0;
}

static void index_step(const struct a64_trail *trail, size_t i,
		       struct a64_index *index)
{
	const struct arch_memory *memory, *slot = &index->slot;
	const struct arch_transfer *value;
	uint32_t code = code_at(trail, i);
	struct arch_effect effect;
	bool in_memory = index->reg < 0;

	if (!a64_effect_at(trail, i, &effect)) {
		index->lost = true;
		return;
	}
	if (condition_at(trail, i) >= 0)
		index->condition = condition_at(trail, i);

	/* The index is in memory: does the instruction put it there? */
	for (int k = 0; in_memory && index->reg < 0 && k < effect.count; k++) {
		bool same_base;

		value = &effect.transfers[k];
		memory = &value->memory;
		same_base = memory->space == ARCH_SPACE_BASE &&
			    memory->base == slot->base;
		if (!value->to_memory)
			index->lost |= value->to == slot->base;
		else if (same_base && memory->number == slot->number &&
			 memory->bytes >= slot->bytes &&
			 value->source == ARCH_SOURCE_REGISTER)
			index->reg = value->reg;
		else if (!same_base ||
			 (memory->number + memory->bytes > slot->number &&
			  memory->number < slot->number + slot->bytes))
			index->lost = true;	/* not another slot */
	}

	/* The instruction may write the register that the index is in. */
	value = in_memory ? NULL : arch_transfer_to(&effect, index->reg);
	if (value)
		index->count = value_limit(value, code);
	if (value && !index->count) {
		memory = &value->memory;
		if (is_copy(value)) {
			index->reg = value->reg;
		} else if (value->source == ARCH_SOURCE_MEMORY &&
			   !value->is_signed && memory->bytes >= 4 &&
			   memory->space == ARCH_SPACE_BASE &&
			   (memory->base == trail->arch->stack ||
			    memory->base == trail->arch->frame)) {
			index->reg = -1;
			index->slot = *memory;
		} else {
			index->lost = true;
		}
	}
	if (index->compared >= 0 && arch_transfer_to(&effect, index->compared))
		index->compared = -1;

	/* cmp of a register with a number */
	if (effect.flags) {
		if (index->condition >= 0 &&
		    (code & 0x7f800000) == 0x71000000) {
			index->compared = a64_bits(code, 5, 5);
			index->limit = a64_bits(code, 10, 12)
				       << (a64_bit(code, 22) ? 12 : 0);
			index->limit += index->condition == 9;
		}
		index->condition = -1;
	}
	if (index->compared >= 0 && index->compared == index->reg)
		index->count = index->limit;
}

/* Where the table begins that the instruction loads an element of. */
static void take_table(const struct a64_trail *trail, size_t load,
		       struct arch_computed *computed)
{
	uint32_t code = code_at(trail, load);
	int base = a64_bits(code, 5, 5), index = a64_register(code, 16);
	bool plain = a64_bits(code, 12, 4) == 6;	/* neither extended nor
							 * shifted */
	struct a64_index back = { .condition = -1, .compared = -1 };

	computed->bytes = 1 << (code >> 30);
	computed->is_signed = a64_bit(code, 23);
	computed->known = a64_has_address(trail, load, base, &computed->table);
	if (!computed->known && plain && index >= 0 &&
	    a64_has_address(trail, load, index, &computed->table)) {
		computed->known = true;
		index = base;
	}
	if (index < 0 || (!computed->known && plain))
		return;

	/* How many elements the table has is known by what the index is
	 * compared with. */
	back.reg = index;
	for (size_t i = load; i-- && !back.count && !back.lost;)
		index_step(trail, i, &back);
	computed->count = back.count;
}

/* The instruction `at` is an ADD of registers: an element, extended and
 * shifted, and what it is the distance from. False: it is none. */
static bool a64_sum_take(const struct a64_trail *trail, size_t at,
			 struct arch_computed *computed)
{
	uint32_t code = code_at(trail, at);
	int element = a64_register(code, 16), base = a64_bits(code, 5, 5), load;
	bool extended = (code & 0xffe00000) == 0x8b200000;
	unsigned int shift = a64_bits(code, 10, extended ? 3 : 6);
	unsigned int bytes = extended ? 1 << a64_bits(code, 13, 2) : 8;

	if ((!extended && (code & 0xffe00000) != 0x8b000000) || element < 0)
		return false;
	load = find_load(trail, at, element);
	if (load < 0 && !shift && bytes == 8) {
		load = find_load(trail, at, base);
		base = element;
	}
	if (load < 0)
		return true;
	computed->kind = ARCH_COMPUTED_DISTANCES;
	computed->any_form = false;
	take_table(trail, load, computed);
	computed->shift = shift;
	if (bytes < computed->bytes)
		computed->known = false;
	else if (bytes == computed->bytes && bytes < 8)
		computed->is_signed = a64_bit(code, 15);
	computed->known &= a64_has_address(trail, at, base, &computed->base);
	return true;
}

static void a64_jump_register(const struct a64_trail *trail, size_t count,
			      int reg, struct arch_computed *computed)
{
	struct arch_transfer value;
	int writer = find_writer(trail, count, reg, &value);
	uint64_t address;

	while (writer >= 0 && is_copy(&value)) {
		count = writer;
		reg = value.reg;
		writer = find_writer(trail, count, reg, &value);
	}
	if (writer < 0)
		return;
	if (a64_sum_take(trail, writer, computed))
		return;
	/* from memory, or one that code has */
	computed->any_form = value.source != ARCH_SOURCE_MEMORY &&
			     !a64_has_address(trail, count, reg, &address);
	writer = find_load(trail, count, reg);
	if (writer < 0)
		return;
	computed->kind = ARCH_COMPUTED_ADDRESSES;
	computed->any_form = false;
	take_table(trail, writer, computed);
}

void a64_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed)
{
	struct a64_trail trail = { arch, insns };
	uint32_t jump;

	memset(computed, 0, sizeof(*computed));
	computed->any_form = true;
	if (!count)
		return;
	jump = code_at(&trail, count - 1);
	if ((jump & 0xfffffc1f) == 0xd61f0000)		/* BR */
		a64_jump_register(&trail, count - 1, a64_bits(jump, 5, 5),
				  computed);
}

/* ADR; ADRP and an ADD of the low 12 bits, which may be apart */
void a64_address_find(const struct arch *arch, const struct arch_code *insns,
		      size_t count, struct arch_address *address)
{
	struct a64_trail trail = { arch, insns };
	uint32_t code = code_at(&trail, count - 1);
	struct arch_effect effect;
	int reg;

	memset(address, 0, sizeof(*address));
	if (!a64_effect_at(&trail, count - 1, &effect) || effect.count != 1)
		return;
	reg = address->reg = effect.transfers[0].to;
	if ((code & 0x1f000000) == 0x10000000) {
		address->kind = code >> 31 ? ARCH_ADDRESS_HIGH :
					     ARCH_ADDRESS_WHOLE;
		address->number = effect.transfers[0].number;
	} else if ((code & 0xffc00000) == 0x91000000 &&
		   a64_register(code, 5) != A64_ZERO) {
		if (a64_jump_address(&trail, count, &reg, &address->number))
			address->kind = ARCH_ADDRESS_WHOLE;
		else if (reg >= 0)
			address->kind = ARCH_ADDRESS_LOW;
		address->reg = reg;
	}
}
