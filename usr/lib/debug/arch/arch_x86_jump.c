// SPDX-License-Identifier: GPL-2.0
/* Computed jumps of x86: how compilers write switches and computed gotos. */
#include "arch_x86.h"

#include <elf.h>
#include <string.h>
#include <Zydis/Zydis.h>

#define LINKED_MIN	0x10000		/* vm.mmap_min_addr */

/* Instructions that stand one behind the other, up to the jump. */
struct trail {
	const struct arch_code *insns;
	bool wide;
};

struct decoded {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static ZydisRegister whole(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						reg);
}

static bool decode(const struct arch_code *code, bool wide,
		   struct decoded *decoded)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder,
			 wide ? ZYDIS_MACHINE_MODE_LONG_64 :
				ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code->bytes,
						   code->length, &decoded->insn,
						   decoded->operands));
}

static bool is_register(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_memory(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
}

static bool writes(const struct decoded *decoded, ZydisRegister reg)
{
	for (uint8_t i = 0; i < decoded->insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];

		if (is_register(operand) &&
		    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    whole(operand->reg.value) == whole(reg))
			return true;
	}
	return false;
}

/* The last of the first `count` instructions that writes the register: its
 * index, -1 none. */
static int find_writer(const struct trail *trail, size_t count,
		       ZydisRegister reg, struct decoded *decoded)
{
	while (count--)
		if (!decode(&trail->insns[count], trail->wide, decoded) ||
		    writes(decoded, reg))
			return count;
	return -1;
}

/* mov of one register to all of another one, or its sign or zeros extended */
static bool is_copy(const struct decoded *decoded)
{
	switch (decoded->insn.mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVSXD:
		return is_register(&decoded->operands[0]) &&
		       is_register(&decoded->operands[1]) &&
		       decoded->operands[0].size >= 32;
	case ZYDIS_MNEMONIC_CDQE:
		return true;
	default:
		return false;
	}
}

static ZydisRegister copy_source(const struct decoded *decoded)
{
	return decoded->insn.mnemonic == ZYDIS_MNEMONIC_CDQE ?
		       ZYDIS_REGISTER_RAX : decoded->operands[1].reg.value;
}

/* lea distance(%rip), mov $address */
static bool has_address(const struct arch_code *code,
			const struct decoded *decoded, bool wide,
			uint64_t *address)
{
	const ZydisDecodedOperand *from = &decoded->operands[1];
	ZyanU64 absolute;

	if (decoded->insn.mnemonic == ZYDIS_MNEMONIC_LEA) {
		if (from->mem.base != ZYDIS_REGISTER_RIP ||
		    ZYAN_FAILED(ZydisCalcAbsoluteAddress(&decoded->insn, from,
							 code->address,
							 &absolute)))
			return false;
		*address = absolute;
		return true;
	}
	if (decoded->insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
	    !is_register(&decoded->operands[0]) ||
	    from->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    decoded->operands[0].size < 32)
		return false;
	*address = wide ? from->imm.value.u : (uint32_t)from->imm.value.u;
	return true;
}

/* The address that the register has behind the first `count` instructions. */
static bool find_address(const struct trail *trail, size_t count,
			 ZydisRegister reg, uint64_t *address)
{
	struct decoded decoded;
	int writer;

	while ((writer = find_writer(trail, count, reg, &decoded)) >= 0) {
		if (has_address(&trail->insns[writer], &decoded, trail->wide,
				address))
			return true;
		if (decoded.insn.mnemonic != ZYDIS_MNEMONIC_MOV ||
		    !is_copy(&decoded) ||
		    decoded.operands[0].size != (trail->wide ? 64 : 32))
			return false;
		reg = copy_source(&decoded);
		count = writer;
	}
	return false;
}

/* An element of an array: its address has two registers, or one that is
 * multiplied. */
static bool is_element(const ZydisDecodedOperand *operand)
{
	return is_memory(operand) && operand->mem.index != ZYDIS_REGISTER_NONE;
}

/* In position-independent 32-bit code a register has the address of the global
 * offset table, by which all others are found (i386 psABI 2.6). */
static bool find_base(const struct trail *trail, size_t count,
		      ZydisRegister reg, struct arch_computed *computed,
		      uint64_t *address)
{
	struct decoded decoded;

	if (find_address(trail, count, reg, address))
		return true;
	if (trail->wide || computed->kind != ARCH_COMPUTED_DISTANCES)
		return false;
	computed->from_got = true;
	*address = 0;
	if (find_writer(trail, count, reg, &decoded) >= 0 &&
	    decoded.insn.mnemonic == ZYDIS_MNEMONIC_LEA &&
	    !is_element(&decoded.operands[1]))
		*address = decoded.operands[1].mem.disp.value;
	return true;
}

/* Where the table begins that the operand is an element of. */
static bool find_table(const struct trail *trail, size_t at,
		       const ZydisDecodedOperand *element,
		       struct arch_computed *computed)
{
	uint64_t displacement = element->mem.disp.value;
	uint64_t address = 0;

	computed->bytes = element->size / 8;
	if (element->mem.base == ZYDIS_REGISTER_NONE) {
		computed->table = trail->wide ? displacement :
						(uint32_t)displacement;
		return true;
	}
	if (!find_base(trail, at, element->mem.base, computed, &address) &&
	    (element->mem.scale != 1 ||
	     !find_base(trail, at, element->mem.index, computed, &address)))
		return false;
	computed->table = address + displacement;
	return true;
}

/* What the register has is an element: by which of the instructions, -1 none.
 */
static int find_load(const struct trail *trail, size_t count,
		     ZydisRegister reg, struct decoded *decoded)
{
	int writer;

	while ((writer = find_writer(trail, count, reg, decoded)) >= 0) {
		if (is_copy(decoded)) {
			reg = copy_source(decoded);
			count = writer;
			continue;
		}
		switch (decoded->insn.mnemonic) {
		case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVSXD:
		case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVZX:
			return is_element(&decoded->operands[1]) ? writer : -1;
		default:
			return -1;
		}
	}
	return -1;
}

static void take_distance(const struct trail *trail, size_t load,
			  const struct decoded *decoded,
			  struct arch_computed *computed)
{
	computed->kind = ARCH_COMPUTED_DISTANCES;
	computed->is_signed = decoded->insn.mnemonic != ZYDIS_MNEMONIC_MOVZX;
	computed->known = find_table(trail, load, &decoded->operands[1],
				     computed);
}

/* a + b, computed by the instruction `sum`: an element, and what it is the
 * distance from. */
static void take_sum(const struct trail *trail, size_t sum, ZydisRegister a,
		     ZydisRegister b, struct arch_computed *computed)
{
	struct decoded decoded;
	int load = find_load(trail, sum, a, &decoded);

	if (load < 0) {
		load = find_load(trail, sum, b, &decoded);
		b = a;
	}
	if (load < 0)
		return;
	take_distance(trail, load, &decoded, computed);
	computed->known &= find_base(trail, sum, b, computed, &computed->base);
}

/* reg + number */
static void take_constant(const struct trail *trail, size_t sum,
			  ZydisRegister reg, uint64_t number,
			  struct arch_computed *computed)
{
	struct decoded decoded;
	int load = find_load(trail, sum, reg, &decoded);

	if (load < 0)
		return;
	take_distance(trail, load, &decoded, computed);
	computed->base = number;
}

static void take_lea(const struct trail *trail, size_t at,
		     const ZydisDecodedOperand *from,
		     struct arch_computed *computed)
{
	if (!is_element(from))
		take_constant(trail, at, from->mem.base, from->mem.disp.value,
			      computed);
	else if (from->mem.scale == 1 && !from->mem.disp.value &&
		 from->mem.base != ZYDIS_REGISTER_NONE)
		take_sum(trail, at, from->mem.base, from->mem.index, computed);
}

static void take_addition(const struct trail *trail, size_t at,
			  const struct decoded *decoded,
			  struct arch_computed *computed)
{
	const ZydisDecodedOperand *to = &decoded->operands[0];
	const ZydisDecodedOperand *from = &decoded->operands[1];

	if (decoded->insn.mnemonic == ZYDIS_MNEMONIC_LEA) {
		take_lea(trail, at, from, computed);
	} else if (is_register(to) && is_register(from)) {
		take_sum(trail, at, to->reg.value, from->reg.value, computed);
	} else if (is_register(to) && is_element(from)) {
		take_distance(trail, at, decoded, computed);
		computed->known &= find_base(trail, at, to->reg.value,
					     computed, &computed->base);
	} else if (is_register(to) &&
		   from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		take_constant(trail, at, to->reg.value, from->imm.value.u,
			      computed);
	}
}

static void take_register(const struct trail *trail, size_t count,
			  ZydisRegister reg, struct arch_computed *computed)
{
	struct decoded decoded;
	int writer = find_writer(trail, count, reg, &decoded);

	if (writer < 0)
		return;
	switch (decoded.insn.mnemonic) {
	case ZYDIS_MNEMONIC_ADD: case ZYDIS_MNEMONIC_LEA:
		take_addition(trail, writer, &decoded, computed);
		return;
	default:
		break;
	}
	writer = find_load(trail, count, reg, &decoded);
	if (writer < 0)
		return;
	computed->kind = ARCH_COMPUTED_ADDRESSES;
	computed->is_signed = decoded.insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD;
	computed->known = find_table(trail, writer, &decoded.operands[1],
				     computed);
}

void x86_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed)
{
	struct trail trail = {insns, x86_is_wide(arch)};
	const ZydisDecodedOperand *to;
	struct decoded jump;

	memset(computed, 0, sizeof(*computed));
	if (!count || !decode(&insns[count - 1], trail.wide, &jump))
		return;
	computed->stays = jump.insn.attributes & ZYDIS_ATTRIB_HAS_NOTRACK;
	to = &jump.operands[0];
	if (is_register(to)) {
		take_register(&trail, count - 1, to->reg.value, computed);
	} else if (is_element(to)) {
		computed->kind = ARCH_COMPUTED_ADDRESSES;
		computed->known = find_table(&trail, count - 1, to, computed);
	}
}

/* An address that the instruction adds to a register, or to which one is
 * added: where a program that isn't position-independent may be linked to. */
static bool adds_address(const struct decoded *decoded, bool wide,
			 uint64_t *address)
{
	ZydisMnemonic mnemonic = decoded->insn.mnemonic;

	/* an immediate is the last one */
	for (int i = decoded->insn.operand_count_visible - 1; i >= 0; i--) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];

		if (is_memory(operand) && operand->mem.disp.has_displacement &&
		    operand->mem.base != ZYDIS_REGISTER_RIP)
			*address = operand->mem.disp.value;
		else if ((mnemonic == ZYDIS_MNEMONIC_ADD ||
			  mnemonic == ZYDIS_MNEMONIC_MOV) &&
			 operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			*address = operand->imm.value.u;
		else
			continue;
		if (!wide)
			*address = (uint32_t)*address;
		if (*address >= LINKED_MIN)
			return true;
	}
	return false;
}

void x86_address_find(const struct arch *arch, const struct arch_code *insns,
		      size_t count, struct arch_address *address)
{
	const struct arch_code *insn = &insns[count - 1];
	bool wide = x86_is_wide(arch);
	struct decoded decoded;

	memset(address, 0, sizeof(*address));
	if (decode(insn, wide, &decoded) &&
	    (has_address(insn, &decoded, wide, &address->number) ||
	     adds_address(&decoded, wide, &address->number)))
		address->kind = ARCH_ADDRESS_WHOLE;
}
