// SPDX-License-Identifier: GPL-2.0
/* Which values instructions of x86 put into registers and memory. */
#include "arch_x86_effect.h"

/* What an operand has. */
struct value {
	enum arch_source source;
	unsigned int reg;
	int64_t number;
	struct arch_memory memory;
	uint8_t bytes, part;
	bool is_signed;
};

static bool register_is_high(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

static struct value operand_value(const struct x86_insn *insn,
				  const ZydisDecodedOperand *operand)
{
	struct value value = { .bytes = operand->size / 8 };
	int number;

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		number = x86_register_number(insn, operand->reg.value);
		if (number < 0 || register_is_high(operand->reg.value))
			break;
		value.source = ARCH_SOURCE_REGISTER;
		value.reg = number;
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		value.source = ARCH_SOURCE_MEMORY;
		value.memory = x86_memory(insn, operand);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		value.source = ARCH_SOURCE_CONSTANT;
		value.number = operand->imm.value.s;
		value.bytes = 8;
		break;
	default:
		break;
	}
	return value;
}

static void transfer_set(struct arch_transfer *transfer,
			 const struct value *value)
{
	transfer->source = value->source;
	transfer->reg = value->reg;
	transfer->number = value->number;
	transfer->bytes = value->bytes;
	transfer->is_signed = value->is_signed;
	transfer->part = value->part;
	if (value->source == ARCH_SOURCE_MEMORY)
		transfer->memory = value->memory;
}

static struct arch_transfer *transfer_to(struct arch_effect *effect,
					 unsigned int number)
{
	for (int i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory &&
		    effect->transfers[i].to == number)
			return &effect->transfers[i];
	return NULL;
}

static int64_t constant_cut(int64_t number, unsigned int bytes)
{
	return bytes == 8 ? number :
			    (int64_t)(number & ((1ULL << bytes * 8) - 1));
}

/* Writing 32 bits clears those above; fewer leave the others alone. */
static void register_set(const struct x86_insn *insn,
			 const ZydisDecodedOperand *operand,
			 const struct value *value, struct arch_effect *effect)
{
	unsigned int whole = insn->wide ? 8 : 4, bytes = operand->size / 8;
	int number = x86_register_number(insn, operand->reg.value);
	struct arch_transfer *transfer;
	struct value put = *value;

	if (number < 0 || register_is_high(operand->reg.value) ||
	    put.source == ARCH_SOURCE_UNKNOWN)
		return;
	transfer = transfer_to(effect, number);
	if (!transfer)
		return;
	if (put.source == ARCH_SOURCE_CONSTANT) {
		put.number = constant_cut(put.number, bytes);
		put.bytes = whole;
	}
	if (put.bytes > bytes)
		put.bytes = bytes;
	put.is_signed &= put.bytes < bytes;
	if (bytes < 4 || (put.is_signed && bytes < whole))
		put.part = bytes;
	transfer_set(transfer, &put);
}

static void memory_set(const struct value *value, struct arch_effect *effect)
{
	for (int i = 0; i < effect->count; i++) {
		struct arch_transfer *transfer = &effect->transfers[i];
		struct value put = *value;

		if (!transfer->to_memory || put.source == ARCH_SOURCE_MEMORY)
			continue;
		put.bytes = transfer->memory.bytes;
		if (put.source == ARCH_SOURCE_CONSTANT)
			put.number = constant_cut(put.number, put.bytes);
		transfer_set(transfer, &put);
	}
}

static void operand_set(const struct x86_insn *insn,
			const ZydisDecodedOperand *operand,
			const struct value *value, struct arch_effect *effect)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		register_set(insn, operand, value, effect);
	else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		memory_set(value, effect);
}

static void value_copy(const struct x86_insn *insn, bool is_signed,
		       struct arch_effect *effect)
{
	struct value value = operand_value(insn, &insn->operands[1]);

	value.is_signed = is_signed;
	operand_set(insn, &insn->operands[0], &value, effect);
}

static void value_exchange(const struct x86_insn *insn,
			   struct arch_effect *effect)
{
	struct value first = operand_value(insn, &insn->operands[0]);
	struct value second = operand_value(insn, &insn->operands[1]);

	operand_set(insn, &insn->operands[0], &second, effect);
	operand_set(insn, &insn->operands[1], &first, effect);
}

static void value_lea(const struct x86_insn *insn, struct arch_effect *effect)
{
	ZydisDecodedOperand address = insn->operands[1];
	struct value value = { .bytes = insn->wide ? 8 : 4 };
	struct arch_memory memory;

	address.mem.type = ZYDIS_MEMOP_TYPE_MEM;
	memory = x86_memory(insn, &address);
	value.number = memory.number;
	value.reg = memory.base;
	if (memory.space == ARCH_SPACE_BASE)
		value.source = ARCH_SOURCE_REGISTER;
	else if (memory.space != ARCH_SPACE_FIXED)
		return;
	else if (address.mem.base == ZYDIS_REGISTER_NONE)
		value.source = ARCH_SOURCE_CONSTANT;
	else if (insn->operands[0].size == 64)
		value.source = ARCH_SOURCE_ADDRESS;
	register_set(insn, &insn->operands[0], &value, effect);
}

/* register += number */
static void value_add(const struct x86_insn *insn, int64_t number,
		      struct arch_effect *effect)
{
	struct value value = operand_value(insn, &insn->operands[0]);

	if (value.source != ARCH_SOURCE_REGISTER)
		return;
	value.number = number;
	register_set(insn, &insn->operands[0], &value, effect);
}

static void value_add_second(const struct x86_insn *insn, bool subtract,
			     struct arch_effect *effect)
{
	const ZydisDecodedOperand *second = &insn->operands[1];
	uint64_t number = second->imm.value.u;

	if (second->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		value_add(insn, subtract ? -number : number, effect);
}

/* Subtracted from itself, or exclusive or with itself */
static bool value_zero(const struct x86_insn *insn, struct arch_effect *effect)
{
	struct value zero = { .source = ARCH_SOURCE_CONSTANT, .bytes = 8 };
	const ZydisDecodedOperand *operands = insn->operands;

	if (operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    operands[0].reg.value != operands[1].reg.value)
		return false;
	register_set(insn, &operands[0], &zero, effect);
	return true;
}

/* And with a number that keeps the low bytes, or nothing */
static void value_and(const struct x86_insn *insn, struct arch_effect *effect)
{
	struct value value = operand_value(insn, &insn->operands[0]);
	const ZydisDecodedOperand *second = &insn->operands[1];

	if (value.source != ARCH_SOURCE_REGISTER ||
	    second->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return;
	switch (second->imm.value.s) {
	case 0:
		value.source = ARCH_SOURCE_CONSTANT;
		break;
	case 0xff:
		value.bytes = 1;
		break;
	case 0xffff:
		value.bytes = 2;
		break;
	default:
		return;
	}
	register_set(insn, &insn->operands[0], &value, effect);
}

static void value_or(const struct x86_insn *insn, struct arch_effect *effect)
{
	struct value value = operand_value(insn, &insn->operands[1]);

	if (value.source == ARCH_SOURCE_CONSTANT && value.number == -1)
		operand_set(insn, &insn->operands[0], &value, effect);
}

static void value_pop(const struct x86_insn *insn, struct arch_transfer *sp,
		      struct arch_effect *effect)
{
	const ZydisDecodedOperand *to = &insn->operands[0];
	struct value value = { .source = ARCH_SOURCE_MEMORY,
			       .memory = effect->reads[0],
			       .bytes = effect->reads[0].bytes };

	if (to->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return;
	if (x86_register_number(insn, to->reg.value) == (int)sp->to)
		sp->source = ARCH_SOURCE_UNKNOWN;
	register_set(insn, to, &value, effect);
}

/* What the instruction pushes or pops */
static void value_stack(const struct x86_insn *insn, struct arch_effect *effect)
{
	struct value value = { .source = ARCH_SOURCE_REGISTER,
			       .bytes = insn->wide ? 8 : 4 };
	unsigned int sp = insn->wide ? 7 : 4;
	struct arch_transfer *transfer = transfer_to(effect, sp);
	const ZydisDecodedOperand *first = insn->operands;

	value.reg = sp;
	value.number = x86_stack_bytes(insn);
	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_RET &&
	    first->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		value.number += first->imm.value.u;
	transfer_set(transfer, &value);
	switch (insn->zi.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		value = operand_value(insn, first);
		memory_set(&value, effect);
		break;
	case ZYDIS_MNEMONIC_CALL:
		value.source = ARCH_SOURCE_ADDRESS;
		value.number = insn->address + insn->zi.length;
		memory_set(&value, effect);
		break;
	case ZYDIS_MNEMONIC_POP:
		value_pop(insn, transfer, effect);
		break;
	default:
		break;
	}
}

static void value_leave(const struct x86_insn *insn, struct arch_effect *effect)
{
	unsigned int bytes = insn->wide ? 8 : 4;
	unsigned int bp = insn->wide ? 6 : 5, sp = insn->wide ? 7 : 4;
	struct value frame = { .source = ARCH_SOURCE_REGISTER, .reg = bp,
			       .number = bytes, .bytes = bytes };
	struct value saved = { .source = ARCH_SOURCE_MEMORY,
			       .memory = effect->reads[0], .bytes = bytes };

	transfer_set(transfer_to(effect, sp), &frame);
	transfer_set(transfer_to(effect, bp), &saved);
}

void x86_value_find(const struct x86_insn *insn, struct arch_effect *effect)
{
	if (x86_stack_bytes(insn)) {
		value_stack(insn, effect);
		return;
	}
	switch (insn->zi.mnemonic) {
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVNTI:
		value_copy(insn, false, effect);
		break;
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CDQE: case ZYDIS_MNEMONIC_CWDE:
		value_copy(insn, true, effect);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		value_exchange(insn, effect);
		break;
	case ZYDIS_MNEMONIC_LEA:
		value_lea(insn, effect);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		value_leave(insn, effect);
		break;
	case ZYDIS_MNEMONIC_INC:
		value_add(insn, 1, effect);
		break;
	case ZYDIS_MNEMONIC_DEC:
		value_add(insn, -1, effect);
		break;
	case ZYDIS_MNEMONIC_ADD:
		value_add_second(insn, false, effect);
		break;
	case ZYDIS_MNEMONIC_SUB:
		if (!value_zero(insn, effect))
			value_add_second(insn, true, effect);
		break;
	case ZYDIS_MNEMONIC_XOR:
		value_zero(insn, effect);
		break;
	case ZYDIS_MNEMONIC_AND:
		value_and(insn, effect);
		break;
	case ZYDIS_MNEMONIC_OR:
		value_or(insn, effect);
		break;
	default:
		break;
	}
}
