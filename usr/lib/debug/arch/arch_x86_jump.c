// SPDX-License-Identifier: GPL-2.0
/* Computed jumps of x86: how compilers write switches and computed gotos. */
#include "arch_x86.h"

#include <string.h>

#define LINKED_MIN	0x10000		/* vm.mmap_min_addr */

/* Instructions that run one after the other, up to the jump. */
struct x86_trail {
	const struct arch *arch;
	const struct arch_code *insns;
};

static bool x86_insn_at(const struct x86_trail *trail, size_t i,
			struct x86_insn *insn)
{
	const struct arch_code *code = &trail->insns[i];

	return x86_decode(trail->arch, code->bytes, code->length, code->address,
			  insn);
}

static bool operand_is_register(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* An element of an array: its address has two registers, or one that is
 * multiplied. */
static bool operand_is_element(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       operand->mem.index != ZYDIS_REGISTER_NONE;
}

static ZydisRegister register_whole(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						reg);
}

/* The last of the first `count` instructions that writes the register: its
 * index, -1 none. */
static int writer_find(const struct x86_trail *trail, size_t count,
		       ZydisRegister reg, struct x86_insn *insn)
{
	while (count--) {
		if (!x86_insn_at(trail, count, insn))
			return count;
		for (uint8_t i = 0; i < insn->zi.operand_count; i++) {
			const ZydisDecodedOperand *to = &insn->operands[i];

			if (operand_is_register(to) &&
			    to->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
			    register_whole(to->reg.value) ==
				    register_whole(reg))
				return count;
		}
	}
	return -1;
}

/* The instruction copies one register to all of another one, or extends its
 * sign or zeros: *source is the one it comes from. */
static bool insn_copies(const struct x86_insn *insn, ZydisRegister *source)
{
	switch (insn->zi.mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVSXD:
		*source = insn->operands[1].reg.value;
		return operand_is_register(&insn->operands[0]) &&
		       operand_is_register(&insn->operands[1]) &&
		       insn->operands[0].size >= 32;
	case ZYDIS_MNEMONIC_CDQE:
		*source = ZYDIS_REGISTER_RAX;
		return true;
	default:
		return false;
	}
}

/* lea distance(%rip), mov $address */
static bool insn_has_address(const struct x86_insn *insn, uint64_t *address)
{
	const ZydisDecodedOperand *from = &insn->operands[1];

	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_LEA)
		return from->mem.base == ZYDIS_REGISTER_RIP &&
		       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(
			       &insn->zi, from, insn->address, address));
	if (insn->zi.mnemonic != ZYDIS_MNEMONIC_MOV ||
	    !operand_is_register(&insn->operands[0]) ||
	    from->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    insn->operands[0].size < 32)
		return false;
	*address = insn->wide ? from->imm.value.u : (uint32_t)from->imm.value.u;
	return true;
}

/* The address that the register has after the first `count` instructions. */
static bool address_find(const struct x86_trail *trail, size_t count,
			 ZydisRegister reg, uint64_t *address)
{
	struct x86_insn insn;
	int writer;

	while ((writer = writer_find(trail, count, reg, &insn)) >= 0) {
		if (insn_has_address(&insn, address))
			return true;
		if (insn.zi.mnemonic != ZYDIS_MNEMONIC_MOV ||
		    !insn_copies(&insn, &reg) ||
		    insn.operands[0].size != (insn.wide ? 64 : 32))
			return false;
		count = writer;
	}
	return false;
}

/* In position-independent 32-bit code a register has the address of the global
 * offset table, by which all others are found (i386 psABI 2.6). */
static bool x86_base_find(const struct x86_trail *trail, size_t count,
			  ZydisRegister reg, struct arch_computed *computed,
			  uint64_t *address)
{
	struct x86_insn insn;

	if (address_find(trail, count, reg, address))
		return true;
	if (x86_is_wide(trail->arch) ||
	    computed->kind != ARCH_COMPUTED_DISTANCES)
		return false;
	computed->from_got = true;
	*address = 0;
	if (writer_find(trail, count, reg, &insn) >= 0 &&
	    insn.zi.mnemonic == ZYDIS_MNEMONIC_LEA &&
	    !operand_is_element(&insn.operands[1]))
		*address = insn.operands[1].mem.disp.value;
	return true;
}

/* Where the table begins that the operand of instruction `at` is an element
 * of. */
static bool x86_table_find(const struct x86_trail *trail, size_t at,
			   const ZydisDecodedOperand *element,
			   struct arch_computed *computed)
{
	uint64_t displacement = element->mem.disp.value;
	uint64_t address = 0;

	computed->bytes = element->size / 8;
	if (element->mem.base == ZYDIS_REGISTER_NONE) {
		computed->table = x86_is_wide(trail->arch) ?
					  displacement : (uint32_t)displacement;
		return true;
	}
	if (!x86_base_find(trail, at, element->mem.base, computed, &address) &&
	    (element->mem.scale != 1 ||
	     !x86_base_find(trail, at, element->mem.index, computed, &address)))
		return false;
	computed->table = address + displacement;
	return true;
}

/* The register has an element: the index of the instruction that loads it, -1
 * none. */
static int load_find(const struct x86_trail *trail, size_t count,
		     ZydisRegister reg, struct x86_insn *insn)
{
	int writer;

	while ((writer = writer_find(trail, count, reg, insn)) >= 0) {
		if (insn_copies(insn, &reg)) {
			count = writer;
			continue;
		}
		switch (insn->zi.mnemonic) {
		case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVSXD:
		case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVZX:
			if (operand_is_element(&insn->operands[1]))
				return writer;
			return -1;
		default:
			return -1;
		}
	}
	return -1;
}

static void distance_take(const struct x86_trail *trail, size_t load,
			  const struct x86_insn *insn,
			  struct arch_computed *computed)
{
	computed->kind = ARCH_COMPUTED_DISTANCES;
	computed->is_signed = insn->zi.mnemonic != ZYDIS_MNEMONIC_MOVZX;
	computed->known =
		x86_table_find(trail, load, &insn->operands[1], computed);
}

/* Instruction `sum` computes a + b: an element, and what it is the distance
 * from. */
static void sum_take(const struct x86_trail *trail, size_t sum, ZydisRegister a,
		     ZydisRegister b, struct arch_computed *computed)
{
	struct x86_insn insn;
	int load = load_find(trail, sum, a, &insn);

	if (load < 0) {
		load = load_find(trail, sum, b, &insn);
		b = a;
	}
	if (load < 0)
		return;
	distance_take(trail, load, &insn, computed);
	computed->known &=
		x86_base_find(trail, sum, b, computed, &computed->base);
}

/* Instruction `sum` computes reg + number. */
static void constant_take(const struct x86_trail *trail, size_t sum,
			  ZydisRegister reg, uint64_t number,
			  struct arch_computed *computed)
{
	struct x86_insn insn;
	int load = load_find(trail, sum, reg, &insn);

	if (load < 0)
		return;
	distance_take(trail, load, &insn, computed);
	computed->base = number;
}

/* Instruction `at` is an ADD or LEA. */
static void addition_take(const struct x86_trail *trail, size_t at,
			  const struct x86_insn *insn,
			  struct arch_computed *computed)
{
	const ZydisDecodedOperand *to = &insn->operands[0];
	const ZydisDecodedOperand *from = &insn->operands[1];

	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_LEA) {
		if (!operand_is_element(from))
			constant_take(trail, at, from->mem.base,
				      from->mem.disp.value, computed);
		else if (from->mem.scale == 1 && !from->mem.disp.value &&
			 from->mem.base != ZYDIS_REGISTER_NONE)
			sum_take(trail, at, from->mem.base, from->mem.index,
				 computed);
		return;
	}
	if (!operand_is_register(to))
		return;
	if (operand_is_register(from)) {
		sum_take(trail, at, to->reg.value, from->reg.value, computed);
	} else if (operand_is_element(from)) {
		distance_take(trail, at, insn, computed);
		computed->known &= x86_base_find(trail, at, to->reg.value,
						 computed, &computed->base);
	} else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		constant_take(trail, at, to->reg.value, from->imm.value.u,
			      computed);
	}
}

void x86_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed)
{
	struct x86_trail trail = { arch, insns };
	const ZydisDecodedOperand *to;
	struct x86_insn jump, insn;
	int at;

	memset(computed, 0, sizeof(*computed));
	if (!count || !x86_insn_at(&trail, --count, &jump))
		return;
	computed->stays = jump.zi.attributes & ZYDIS_ATTRIB_HAS_NOTRACK;
	to = &jump.operands[0];
	if (operand_is_element(to)) {
		computed->kind = ARCH_COMPUTED_ADDRESSES;
		computed->known = x86_table_find(&trail, count, to, computed);
	}
	if (!operand_is_register(to))
		return;

	/* to a sum that is in a register */
	at = writer_find(&trail, count, to->reg.value, &insn);
	if (at < 0)
		return;
	if (insn.zi.mnemonic == ZYDIS_MNEMONIC_ADD ||
	    insn.zi.mnemonic == ZYDIS_MNEMONIC_LEA) {
		addition_take(&trail, at, &insn, computed);
		return;
	}

	/* to an address that is loaded to a register */
	at = load_find(&trail, count, to->reg.value, &insn);
	if (at < 0)
		return;
	computed->kind = ARCH_COMPUTED_ADDRESSES;
	computed->is_signed = insn.zi.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	computed->known =
		x86_table_find(&trail, at, &insn.operands[1], computed);
}

/* An address that the instruction adds to a register, or to which one is
 * added: where a program that isn't position-independent may be linked to. */
static bool insn_adds_address(const struct x86_insn *insn, uint64_t *address)
{
	ZydisMnemonic mnemonic = insn->zi.mnemonic;

	/* an immediate is the last one */
	for (int i = insn->zi.operand_count_visible - 1; i >= 0; i--) {
		const ZydisDecodedOperand *operand = &insn->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->mem.disp.has_displacement &&
		    operand->mem.base != ZYDIS_REGISTER_RIP)
			*address = operand->mem.disp.value;
		else if ((mnemonic == ZYDIS_MNEMONIC_ADD ||
			  mnemonic == ZYDIS_MNEMONIC_MOV) &&
			 operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			*address = operand->imm.value.u;
		else
			continue;
		if (!insn->wide)
			*address = (uint32_t)*address;
		if (*address >= LINKED_MIN)
			return true;
	}
	return false;
}

void x86_address_find(const struct arch *arch, const struct arch_code *insns,
		      size_t count, struct arch_address *address)
{
	struct x86_trail trail = { arch, insns };
	struct x86_insn insn;

	memset(address, 0, sizeof(*address));
	if (x86_insn_at(&trail, count - 1, &insn) &&
	    (insn_has_address(&insn, &address->number) ||
	     insn_adds_address(&insn, &address->number)))
		address->kind = ARCH_ADDRESS_WHOLE;
}
