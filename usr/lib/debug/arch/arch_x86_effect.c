// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions of x86 do to general registers and memory (Intel SDM
 * volume 2): what is read and written is what the decoder lists as operands,
 * and which values, by instruction.
 */
#include "arch_x86_effect.h"

#include <string.h>
#include "arch_x86_insn.h"

/* All that instructions of these do is in their operands. */
static const bool listed[ZYDIS_CATEGORY_MAX_VALUE + 1] = {
	[ZYDIS_CATEGORY_ADOX_ADCX] = true, [ZYDIS_CATEGORY_AES] = true,
	[ZYDIS_CATEGORY_AVX] = true, [ZYDIS_CATEGORY_AVX2] = true,
	[ZYDIS_CATEGORY_AVX2GATHER] = true, [ZYDIS_CATEGORY_AVX512] = true,
	[ZYDIS_CATEGORY_AVX512_BITALG] = true,
	[ZYDIS_CATEGORY_AVX512_VBMI] = true, [ZYDIS_CATEGORY_BINARY] = true,
	[ZYDIS_CATEGORY_BITBYTE] = true, [ZYDIS_CATEGORY_BLEND] = true,
	[ZYDIS_CATEGORY_BMI1] = true, [ZYDIS_CATEGORY_BMI2] = true,
	[ZYDIS_CATEGORY_BROADCAST] = true, [ZYDIS_CATEGORY_CALL] = true,
	[ZYDIS_CATEGORY_CMOV] = true, [ZYDIS_CATEGORY_COMPRESS] = true,
	[ZYDIS_CATEGORY_COND_BR] = true, [ZYDIS_CATEGORY_CONFLICT] = true,
	[ZYDIS_CATEGORY_CONVERT] = true, [ZYDIS_CATEGORY_DATAXFER] = true,
	[ZYDIS_CATEGORY_DECIMAL] = true, [ZYDIS_CATEGORY_EXPAND] = true,
	[ZYDIS_CATEGORY_FCMOV] = true, [ZYDIS_CATEGORY_FLAGOP] = true,
	[ZYDIS_CATEGORY_FP16] = true, [ZYDIS_CATEGORY_GATHER] = true,
	[ZYDIS_CATEGORY_GFNI] = true, [ZYDIS_CATEGORY_IFMA] = true,
	[ZYDIS_CATEGORY_KMASK] = true, [ZYDIS_CATEGORY_LOGICAL] = true,
	[ZYDIS_CATEGORY_LOGICAL_FP] = true, [ZYDIS_CATEGORY_LZCNT] = true,
	[ZYDIS_CATEGORY_MMX] = true, [ZYDIS_CATEGORY_NOP] = true,
	[ZYDIS_CATEGORY_PCLMULQDQ] = true, [ZYDIS_CATEGORY_POP] = true,
	[ZYDIS_CATEGORY_PREFETCH] = true, [ZYDIS_CATEGORY_PUSH] = true,
	[ZYDIS_CATEGORY_RET] = true, [ZYDIS_CATEGORY_ROTATE] = true,
	[ZYDIS_CATEGORY_SCATTER] = true, [ZYDIS_CATEGORY_SEMAPHORE] = true,
	[ZYDIS_CATEGORY_SETCC] = true, [ZYDIS_CATEGORY_SHA] = true,
	[ZYDIS_CATEGORY_SHIFT] = true, [ZYDIS_CATEGORY_SSE] = true,
	[ZYDIS_CATEGORY_STRINGOP] = true, [ZYDIS_CATEGORY_STTNI] = true,
	[ZYDIS_CATEGORY_UNCOND_BR] = true, [ZYDIS_CATEGORY_VAES] = true,
	[ZYDIS_CATEGORY_VBMI2] = true, [ZYDIS_CATEGORY_VFMA] = true,
	[ZYDIS_CATEGORY_VPCLMULQDQ] = true, [ZYDIS_CATEGORY_WIDENOP] = true,
	[ZYDIS_CATEGORY_X87_ALU] = true,
};

static bool insn_is_listed(const ZydisDecodedInstruction *zi)
{
	bool narrow = (zi->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) &&
		      !zi->raw.rex.W;

	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_ENDBR32: case ZYDIS_MNEMONIC_ENDBR64:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_LFENCE: case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_SFENCE: case ZYDIS_MNEMONIC_XLAT:
		return true;
	case ZYDIS_MNEMONIC_LEAVE:
		return !narrow;
	case ZYDIS_MNEMONIC_PAUSE:	/* else that is xchg %rax, %r8 */
		return !zi->raw.rex.B;
	case ZYDIS_MNEMONIC_POPF: case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:	/* the trap flag */
	case ZYDIS_MNEMONIC_IRET: case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ: case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_FXRSTOR: case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_FXSAVE: case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_STI: case ZYDIS_MNEMONIC_CLI:
		return false;
	default:
		break;
	}
	/* a narrow branch is taken by some processors as a wide one */
	if (zi->meta.branch_type != ZYDIS_BRANCH_TYPE_NONE &&
	    (narrow || zi->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR))
		return false;
	return listed[zi->meta.category];
}

/*
 * By class of exceptions (SDM volume 2, 2.4 and 2.8): arithmetic, whose
 * exceptions may be unmasked; operands in memory that must be aligned.
 */
static bool insn_traps(const ZydisDecodedInstruction *zi, bool memory)
{
	bool aligned = false;

	if (zi->meta.category == ZYDIS_CATEGORY_X87_ALU ||
	    zi->meta.category == ZYDIS_CATEGORY_MMX)
		return true;
	switch (zi->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_SSE1: case ZYDIS_EXCEPTION_CLASS_SSE4:
	case ZYDIS_EXCEPTION_CLASS_AVX1: case ZYDIS_EXCEPTION_CLASS_E1:
	case ZYDIS_EXCEPTION_CLASS_E1NF:
		aligned = true;
		break;
	case ZYDIS_EXCEPTION_CLASS_NONE: case ZYDIS_EXCEPTION_CLASS_SSE5:
	case ZYDIS_EXCEPTION_CLASS_SSE7: case ZYDIS_EXCEPTION_CLASS_AVX4:
	case ZYDIS_EXCEPTION_CLASS_AVX5: case ZYDIS_EXCEPTION_CLASS_AVX6:
	case ZYDIS_EXCEPTION_CLASS_AVX7: case ZYDIS_EXCEPTION_CLASS_AVX8:
	case ZYDIS_EXCEPTION_CLASS_AVX12: case ZYDIS_EXCEPTION_CLASS_E4:
	case ZYDIS_EXCEPTION_CLASS_E4NF: case ZYDIS_EXCEPTION_CLASS_E5:
	case ZYDIS_EXCEPTION_CLASS_E5NF: case ZYDIS_EXCEPTION_CLASS_E6:
	case ZYDIS_EXCEPTION_CLASS_E6NF: case ZYDIS_EXCEPTION_CLASS_E7NM:
	case ZYDIS_EXCEPTION_CLASS_E7NM128: case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10: case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E12: case ZYDIS_EXCEPTION_CLASS_E12NP:
	case ZYDIS_EXCEPTION_CLASS_K20: case ZYDIS_EXCEPTION_CLASS_K21:
		break;
	default:
		return true;
	}
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_CVTPI2PS: case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR: case ZYDIS_MNEMONIC_CMPXCHG16B:
		return true;
	/* these take an operand that isn't aligned */
	case ZYDIS_MNEMONIC_MOVUPS: case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQU: case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_PCMPESTRI: case ZYDIS_MNEMONIC_PCMPESTRM:
	case ZYDIS_MNEMONIC_PCMPISTRI: case ZYDIS_MNEMONIC_PCMPISTRM:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
		return false;
	default:
		return aligned && memory;
	}
}

/* DWARF number of the general register that it is, or is a part of; -1. */
static int x86_register_number(const struct x86_insn *insn, ZydisRegister reg)
{
	/* in the order of the encoding: psABI of x86-64, figure 3.36 */
	static const uint8_t wide[16] = {
		0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15,
	};
	ZyanI8 id;

	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_GPR8: case ZYDIS_REGCLASS_GPR16:
	case ZYDIS_REGCLASS_GPR32: case ZYDIS_REGCLASS_GPR64:
		break;
	default:
		return -1;
	}
	id = ZydisRegisterGetId(ZydisRegisterGetLargestEnclosing(
		insn->zi.machine_mode, reg));
	if (id < 0 || id > (insn->wide ? 15 : 7))
		return -1;
	return insn->wide ? wide[id] : id;
}

/* Bytes that the instruction pushes (negative) or pops, but for what `ret`
 * drops. */
static int stack_bytes(const struct x86_insn *insn)
{
	const ZydisDecodedOperand *operand = insn->operands;
	int bytes = 0;

	for (int i = 0; i < insn->zi.operand_count; i++, operand++)
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
			bytes = operand->size / 8;
	switch (insn->zi.meta.category) {
	case ZYDIS_CATEGORY_PUSH: case ZYDIS_CATEGORY_CALL:
		return -bytes;
	case ZYDIS_CATEGORY_POP: case ZYDIS_CATEGORY_RET:
		return bytes;
	default:
		return 0;
	}
}

/* Where, and how much, depends on more than the operand. */
static bool memory_is_open(const struct x86_insn *insn,
			   const ZydisDecodedOperand *operand)
{
	const ZydisDecodedInstruction *zi = &insn->zi;

	if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
	    (zi->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
			       ZYDIS_ATTRIB_HAS_REPNE)))
		return true;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_XLAT:	/* + al */
		return true;
	case ZYDIS_MNEMONIC_BT: case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_BTR: case ZYDIS_MNEMONIC_BTS:
		/* a bit anywhere after it, or before */
		return insn->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return false;
	}
}

static struct arch_memory operand_memory(const struct x86_insn *insn,
					 const ZydisDecodedOperand *operand)
{
	struct arch_memory memory = { .space = ARCH_SPACE_UNKNOWN };
	bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	int64_t number = operand->mem.disp.value;
	ZydisRegister segment = operand->mem.segment;
	int base = x86_register_number(insn, operand->mem.base);
	int bytes = stack_bytes(insn);

	if (memory_is_open(insn, operand))
		return memory;
	memory.bytes = operand->size / 8;
	if (operand->mem.index != ZYDIS_REGISTER_NONE ||
	    insn->zi.address_width != (insn->wide ? 64 : 32) ||
	    (!insn->wide && segment == ZYDIS_REGISTER_CS))
		return memory;
	memory.number = number;
	if (segment == ZYDIS_REGISTER_FS || segment == ZYDIS_REGISTER_GS) {
		if (operand->mem.base == ZYDIS_REGISTER_NONE &&
		    segment == (insn->wide ? ZYDIS_REGISTER_FS :
					     ZYDIS_REGISTER_GS))
			memory.space = ARCH_SPACE_THREAD;
		else
			memory.number = 0;
	} else if (operand->mem.base == ZYDIS_REGISTER_NONE) {
		memory.space = ARCH_SPACE_FIXED;
		memory.number = insn->wide ? number : (uint32_t)number;
	} else if (operand->mem.base == ZYDIS_REGISTER_RIP) {
		memory.space = ARCH_SPACE_FIXED;
		memory.number += insn->address + insn->zi.length;
	} else if (base >= 0) {
		memory.space = ARCH_SPACE_BASE;
		memory.base = base;

		/* What is pushed is written below the stack pointer as it was;
		 * an address that is popped to is as of after the pop. */
		if ((bytes < 0 && hidden) ||
		    (bytes > 0 && !hidden &&
		     insn->zi.mnemonic == ZYDIS_MNEMONIC_POP &&
		     operand->mem.base == (insn->wide ? ZYDIS_REGISTER_RSP :
							ZYDIS_REGISTER_ESP)))
			memory.number += bytes;
	} else {
		memory.number = 0;
	}
	return memory;
}

static struct arch_transfer *x86_transfer_to(struct arch_effect *effect,
					     int number)
{
	for (int i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory &&
		    (int)effect->transfers[i].to == number)
			return &effect->transfers[i];
	return NULL;
}

static struct arch_transfer *effect_add(struct arch_effect *effect)
{
	if (effect->count < ARCH_TRANSFERS)
		return &effect->transfers[effect->count++];
	effect->known = false;
	return NULL;
}

static void effect_add_memory(struct arch_effect *effect,
			      const struct arch_memory *memory, uint8_t actions)
{
	struct arch_transfer *transfer;

	if (actions & ZYDIS_OPERAND_ACTION_MASK_READ) {
		if (effect->read_count < 2)
			effect->reads[effect->read_count++] = *memory;
		else
			effect->known = false;
	}
	if (!(actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (effect->write_count < 2)
		effect->writes[effect->write_count++] = *memory;
	else
		effect->known = false;
	transfer = effect_add(effect);
	if (!transfer)
		return;
	transfer->to_memory = true;
	transfer->memory = *memory;
	transfer->bytes = memory->bytes;
}

static void effect_add_write(struct arch_effect *effect, unsigned int number)
{
	struct arch_transfer *transfer;

	if (x86_transfer_to(effect, number))
		return;
	transfer = effect_add(effect);
	if (transfer)
		transfer->to = number;
}

static void effect_add_operand(const struct x86_insn *insn,
			       const ZydisDecodedOperand *operand,
			       struct arch_effect *effect)
{
	bool written = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	bool reg = operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
	int number = reg ? x86_register_number(insn, operand->reg.value) : -1;
	struct arch_memory memory;

	switch (reg ? ZydisRegisterGetClass(operand->reg.value) :
		      ZYDIS_REGCLASS_INVALID) {
	case ZYDIS_REGCLASS_X87: case ZYDIS_REGCLASS_MMX:
		effect->traps = true;
		break;
	case ZYDIS_REGCLASS_SEGMENT:
		effect->known &= !written;
		break;
	case ZYDIS_REGCLASS_TEST: case ZYDIS_REGCLASS_CONTROL:
	case ZYDIS_REGCLASS_DEBUG: case ZYDIS_REGCLASS_TABLE:
	case ZYDIS_REGCLASS_BOUND: case ZYDIS_REGCLASS_TMM:
		effect->known = false;
		break;
	default:
		if (number >= 0 && written)
			effect_add_write(effect, number);
		break;
	}

	/* The memory operand of the categories below is a hint. */
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	    insn->zi.meta.category == ZYDIS_CATEGORY_NOP ||
	    insn->zi.meta.category == ZYDIS_CATEGORY_WIDENOP ||
	    insn->zi.meta.category == ZYDIS_CATEGORY_PREFETCH)
		return;
	memory = operand_memory(insn, operand);
	effect_add_memory(effect, &memory, operand->actions);
	if (insn->zi.meta.category == ZYDIS_CATEGORY_STRINGOP)
		effect_add_write(effect,
				 x86_register_number(insn, operand->mem.base));
}

static void effect_use(const struct x86_insn *insn, ZydisRegister reg,
		       struct arch_effect *effect)
{
	int number = x86_register_number(insn, reg);

	if (number >= 0)
		effect->uses |= 1u << number;
}

/* What the operand's value or, where that is computed, its address is made of.
 * The stack pointer of push, pop and call has transfers of its own. */
static void effect_use_operand(const struct x86_insn *insn,
			       const ZydisDecodedOperand *operand,
			       struct arch_effect *effect)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
	    (operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
	     !stack_bytes(insn)))
		effect_use(insn, operand->reg.value, effect);
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	     operand_memory(insn, operand).space == ARCH_SPACE_UNKNOWN)) {
		effect_use(insn, operand->mem.base, effect);
		effect_use(insn, operand->mem.index, effect);
	}
}

/* What an operand has. */
struct x86_value {
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

static struct x86_value x86_operand_value(const struct x86_insn *insn,
					  const ZydisDecodedOperand *operand)
{
	struct x86_value value = { .bytes = operand->size / 8 };
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
		value.memory = operand_memory(insn, operand);
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
			 const struct x86_value *value)
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

static int64_t constant_cut(int64_t number, unsigned int bytes)
{
	return bytes == 8 ? number :
			    (int64_t)(number & ((1ULL << bytes * 8) - 1));
}

/* Writing 32 bits clears those above; fewer leave the others alone. */
static void register_set(const struct x86_insn *insn,
			 const ZydisDecodedOperand *operand,
			 const struct x86_value *value,
			 struct arch_effect *effect)
{
	unsigned int whole = insn->wide ? 8 : 4, bytes = operand->size / 8;
	int number = x86_register_number(insn, operand->reg.value);
	struct arch_transfer *transfer;
	struct x86_value put = *value;

	if (number < 0 || register_is_high(operand->reg.value) ||
	    put.source == ARCH_SOURCE_UNKNOWN)
		return;
	transfer = x86_transfer_to(effect, number);
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

static void memory_set(const struct x86_value *value,
		       struct arch_effect *effect)
{
	for (int i = 0; i < effect->count; i++) {
		struct arch_transfer *transfer = &effect->transfers[i];
		struct x86_value put = *value;

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
			const struct x86_value *value,
			struct arch_effect *effect)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		register_set(insn, operand, value, effect);
	else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		memory_set(value, effect);
}

static void value_lea(const struct x86_insn *insn, struct arch_effect *effect)
{
	ZydisDecodedOperand address = insn->operands[1];
	struct x86_value value = { .bytes = insn->wide ? 8 : 4 };
	struct arch_memory memory;

	address.mem.type = ZYDIS_MEMOP_TYPE_MEM;
	memory = operand_memory(insn, &address);
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
static void x86_value_add(const struct x86_insn *insn, int64_t number,
			  struct arch_effect *effect)
{
	struct x86_value value = x86_operand_value(insn, &insn->operands[0]);

	if (value.source != ARCH_SOURCE_REGISTER)
		return;
	value.number = number;
	register_set(insn, &insn->operands[0], &value, effect);
}

/* Subtracted from itself, or exclusive or with itself */
static bool value_zero(const struct x86_insn *insn, struct arch_effect *effect)
{
	struct x86_value zero = { .source = ARCH_SOURCE_CONSTANT, .bytes = 8 };
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
	struct x86_value value = x86_operand_value(insn, &insn->operands[0]);
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

/* What the instruction pushes or pops */
static void value_stack(const struct x86_insn *insn, struct arch_effect *effect)
{
	struct x86_value value = { .source = ARCH_SOURCE_REGISTER,
				   .bytes = insn->wide ? 8 : 4 };
	unsigned int sp = insn->wide ? 7 : 4;
	struct arch_transfer *transfer = x86_transfer_to(effect, sp);
	const ZydisDecodedOperand *first = insn->operands;

	value.reg = sp;
	value.number = stack_bytes(insn);
	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_RET &&
	    first->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		value.number += first->imm.value.u;
	transfer_set(transfer, &value);
	switch (insn->zi.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		value = x86_operand_value(insn, first);
		memory_set(&value, effect);
		break;
	case ZYDIS_MNEMONIC_CALL:
		value.source = ARCH_SOURCE_ADDRESS;
		value.number = insn->address + insn->zi.length;
		memory_set(&value, effect);
		break;
	case ZYDIS_MNEMONIC_POP:
		if (first->type != ZYDIS_OPERAND_TYPE_REGISTER)
			break;
		if (x86_register_number(insn, first->reg.value) == (int)sp)
			transfer->source = ARCH_SOURCE_UNKNOWN;
		value = (struct x86_value){ .source = ARCH_SOURCE_MEMORY,
					    .memory = effect->reads[0],
					    .bytes = effect->reads[0].bytes };
		register_set(insn, first, &value, effect);
		break;
	default:
		break;
	}
}

static void x86_value_find(const struct x86_insn *insn,
			   struct arch_effect *effect)
{
	struct x86_value first = x86_operand_value(insn, &insn->operands[0]);
	struct x86_value second = x86_operand_value(insn, &insn->operands[1]);
	unsigned int bytes = insn->wide ? 8 : 4;

	if (stack_bytes(insn)) {
		value_stack(insn, effect);
		return;
	}
	switch (insn->zi.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CDQE: case ZYDIS_MNEMONIC_CWDE:
		second.is_signed = true;
		operand_set(insn, &insn->operands[0], &second, effect);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		operand_set(insn, &insn->operands[0], &second, effect);
		operand_set(insn, &insn->operands[1], &first, effect);
		break;
	case ZYDIS_MNEMONIC_OR:		/* with all ones */
		if (second.source != ARCH_SOURCE_CONSTANT ||
		    second.number != -1)
			break;
		/* fall through */
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVNTI:
		operand_set(insn, &insn->operands[0], &second, effect);
		break;
	case ZYDIS_MNEMONIC_LEA:
		value_lea(insn, effect);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		first = (struct x86_value){ .source = ARCH_SOURCE_REGISTER,
					    .reg = insn->wide ? 6 : 5,
					    .number = bytes, .bytes = bytes };
		second = (struct x86_value){ .source = ARCH_SOURCE_MEMORY,
					     .memory = effect->reads[0],
					     .bytes = bytes };
		transfer_set(x86_transfer_to(effect, insn->wide ? 7 : 4),
			     &first);
		transfer_set(x86_transfer_to(effect, first.reg), &second);
		break;
	case ZYDIS_MNEMONIC_INC:
		x86_value_add(insn, 1, effect);
		break;
	case ZYDIS_MNEMONIC_DEC:
		x86_value_add(insn, -1, effect);
		break;
	case ZYDIS_MNEMONIC_ADD:
		if (second.source == ARCH_SOURCE_CONSTANT)
			x86_value_add(insn, second.number, effect);
		break;
	case ZYDIS_MNEMONIC_SUB:
		if (!value_zero(insn, effect) &&
		    second.source == ARCH_SOURCE_CONSTANT)
			x86_value_add(insn, -(uint64_t)second.number, effect);
		break;
	case ZYDIS_MNEMONIC_XOR:
		value_zero(insn, effect);
		break;
	case ZYDIS_MNEMONIC_AND:
		value_and(insn, effect);
		break;
	default:
		break;
	}
}

bool x86_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect)
{
	const ZydisAccessedFlags *flags;
	struct x86_insn insn;
	bool memory;

	memset(effect, 0, sizeof(*effect));
	if (!x86_decode(arch, code, size, address, &insn))
		return false;
	effect->known = insn_is_listed(&insn.zi);
	flags = insn.zi.cpu_flags;
	effect->flags = flags && (flags->modified | flags->set_0 |
				  flags->set_1 | flags->undefined);
	for (int i = 0; i < insn.zi.operand_count && effect->known; i++) {
		effect_add_operand(&insn, &insn.operands[i], effect);
		effect_use_operand(&insn, &insn.operands[i], effect);
	}
	memory = effect->read_count || effect->write_count;
	/* XEND outside a transaction: SDM volume 2, XEND, #GP(0) */
	effect->faults = insn.zi.mnemonic == ZYDIS_MNEMONIC_DIV ||
			 insn.zi.mnemonic == ZYDIS_MNEMONIC_IDIV ||
			 insn.zi.mnemonic == ZYDIS_MNEMONIC_XEND ||
			 insn.zi.meta.category == ZYDIS_CATEGORY_DECIMAL ||
			 insn.zi.meta.category == ZYDIS_CATEGORY_STRINGOP;
	effect->traps |= insn_traps(&insn.zi, memory);
	if (effect->known)
		x86_value_find(&insn, effect);
	else
		*effect = (struct arch_effect){ .flags = true, .faults = true };
	return true;
}
