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
#define LISTED(category)	[ZYDIS_CATEGORY_##category] = true,
static const bool listed[ZYDIS_CATEGORY_MAX_VALUE + 1] = {
	LISTED(ADOX_ADCX) LISTED(AES) LISTED(AVX) LISTED(AVX2)
	LISTED(AVX2GATHER) LISTED(AVX512) LISTED(AVX512_BITALG)
	LISTED(AVX512_VBMI) LISTED(BINARY) LISTED(BITBYTE) LISTED(BLEND)
	LISTED(BMI1) LISTED(BMI2) LISTED(BROADCAST) LISTED(CALL) LISTED(CMOV)
	LISTED(COMPRESS) LISTED(COND_BR) LISTED(CONFLICT) LISTED(CONVERT)
	LISTED(DATAXFER) LISTED(DECIMAL) LISTED(EXPAND) LISTED(FCMOV)
	LISTED(FLAGOP) LISTED(FP16) LISTED(GATHER) LISTED(GFNI) LISTED(IFMA)
	LISTED(KMASK) LISTED(LOGICAL) LISTED(LOGICAL_FP) LISTED(LZCNT)
	LISTED(MMX) LISTED(NOP) LISTED(PCLMULQDQ) LISTED(POP) LISTED(PREFETCH)
	LISTED(PUSH) LISTED(RET) LISTED(ROTATE) LISTED(SCATTER)
	LISTED(SEMAPHORE) LISTED(SETCC) LISTED(SHA) LISTED(SHIFT) LISTED(SSE)
	LISTED(STRINGOP) LISTED(STTNI) LISTED(UNCOND_BR) LISTED(VAES)
	LISTED(VBMI2) LISTED(VFMA) LISTED(VPCLMULQDQ) LISTED(WIDENOP)
	LISTED(X87_ALU)
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
enum { TRAPS, TRAPS_UNALIGNED, TRAPS_NOT };

#define ALIGNED(class)	[ZYDIS_EXCEPTION_CLASS_##class] = TRAPS_UNALIGNED,
#define CALM(class)	[ZYDIS_EXCEPTION_CLASS_##class] = TRAPS_NOT,
static const uint8_t traps[ZYDIS_EXCEPTION_CLASS_MAX_VALUE + 1] = {
	ALIGNED(SSE1) ALIGNED(SSE4) ALIGNED(AVX1) ALIGNED(E1) ALIGNED(E1NF)
	CALM(NONE) CALM(SSE5) CALM(SSE7) CALM(AVX4) CALM(AVX5) CALM(AVX6)
	CALM(AVX7) CALM(AVX8) CALM(AVX12) CALM(E4) CALM(E4NF) CALM(E5)
	CALM(E5NF) CALM(E6) CALM(E6NF) CALM(E7NM) CALM(E7NM128) CALM(E9NF)
	CALM(E10) CALM(E10NF) CALM(E12) CALM(E12NP) CALM(K20) CALM(K21)
};

static bool insn_traps(const ZydisDecodedInstruction *zi, bool memory)
{
	uint8_t class = traps[zi->meta.exception_class];

	if (zi->meta.category == ZYDIS_CATEGORY_X87_ALU ||
	    zi->meta.category == ZYDIS_CATEGORY_MMX || class == TRAPS)
		return true;
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
		return class == TRAPS_UNALIGNED && memory;
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

/* Of XMM0 to XMM15, also as parts of wider ones; -1: none of these. */
static int x86_vector_number(ZydisRegister reg)
{
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return ZydisRegisterGetId(reg) < ARCH_VECTORS ?
			       ZydisRegisterGetId(reg) : -1;
	default:
		return -1;
	}
}

static void effect_add(struct arch_effect *effect,
		       const struct arch_transfer *transfer)
{
	if (effect->count < ARCH_TRANSFERS)
		effect->transfers[effect->count++] = *transfer;
	else
		effect->known = false;
}

static void effect_add_memory(struct arch_effect *effect,
			      const struct arch_memory *memory, uint8_t actions)
{
	struct arch_transfer transfer = {
		.to_memory = true, .memory = *memory, .bytes = memory->bytes,
	};

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
	effect_add(effect, &transfer);
}

static void effect_add_write(struct arch_effect *effect, unsigned int number)
{
	struct arch_transfer transfer = { .to = number };

	if (!arch_transfer_to(effect, number))
		effect_add(effect, &transfer);
}

static void effect_use(const struct x86_insn *insn, ZydisRegister reg)
{
	int number = x86_register_number(insn, reg);

	if (number >= 0)
		insn->effect->uses |= 1u << number;
}

/* What is read and written, and what the operand's value or, where that is
 * computed, its address is made of. The stack pointer of push, pop and call has
 * transfers of its own. */
static void effect_add_operand(const struct x86_insn *insn,
			       const ZydisDecodedOperand *operand)
{
	bool written = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	ZydisInstructionCategory category = insn->zi.meta.category;
	struct arch_effect *effect = insn->effect;
	struct arch_memory memory;
	int number;

	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ &&
		    (!hidden || !stack_bytes(insn)))
			effect_use(insn, operand->reg.value);
		switch (ZydisRegisterGetClass(operand->reg.value)) {
		case ZYDIS_REGCLASS_X87: case ZYDIS_REGCLASS_MMX:
			effect->traps = true;
			return;
		case ZYDIS_REGCLASS_SEGMENT:
			effect->known &= !written;
			return;
		case ZYDIS_REGCLASS_TEST: case ZYDIS_REGCLASS_CONTROL:
		case ZYDIS_REGCLASS_DEBUG: case ZYDIS_REGCLASS_TABLE:
		case ZYDIS_REGCLASS_BOUND: case ZYDIS_REGCLASS_TMM:
			effect->known = false;
			return;
		case ZYDIS_REGCLASS_XMM: case ZYDIS_REGCLASS_YMM:
		case ZYDIS_REGCLASS_ZMM:
			number = x86_vector_number(operand->reg.value);
			if (number >= 0 && written)
				effect->vectors |= 1u << number;
			return;
		default:
			number = x86_register_number(insn, operand->reg.value);
			if (number >= 0 && written)
				effect_add_write(effect, number);
			return;
		}
	}
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
		return;
	memory = operand_memory(insn, operand);
	if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	    memory.space == ARCH_SPACE_UNKNOWN) {
		effect_use(insn, operand->mem.base);
		effect_use(insn, operand->mem.index);
	}

	/* The memory operand of these categories is a hint. */
	if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	    category == ZYDIS_CATEGORY_NOP ||
	    category == ZYDIS_CATEGORY_WIDENOP ||
	    category == ZYDIS_CATEGORY_PREFETCH)
		return;
	effect_add_memory(effect, &memory, operand->actions);
	if (category == ZYDIS_CATEGORY_STRINGOP)
		effect_add_write(effect,
				 x86_register_number(insn, operand->mem.base));
}

static bool register_is_high(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
}

/* What an operand has */
static struct arch_transfer
x86_operand_value(const struct x86_insn *insn,
		  const ZydisDecodedOperand *operand)
{
	struct arch_transfer value = { .bytes = operand->size / 8 };
	int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER ?
		     x86_register_number(insn, operand->reg.value) : -1;

	if (number >= 0 && !register_is_high(operand->reg.value)) {
		value.source = ARCH_SOURCE_REGISTER;
		value.reg = number;
	} else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		value.source = ARCH_SOURCE_MEMORY;
		value.memory = operand_memory(insn, operand);
	} else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		value.source = ARCH_SOURCE_CONSTANT;
		value.number = operand->imm.value.s;
		value.bytes = 8;
	}
	return value;
}

static int64_t constant_cut(int64_t number, unsigned int bytes)
{
	return bytes == 8 ? number :
			    (int64_t)(number & ((1ULL << bytes * 8) - 1));
}

/* The destination stays. */
static void transfer_set(struct arch_transfer *transfer,
			 struct arch_transfer value)
{
	value.to_memory = transfer->to_memory;
	value.to = transfer->to;
	if (value.to_memory)
		value.memory = transfer->memory;
	*transfer = value;
}

/* Writing 32 bits clears those above; fewer leave the others alone. */
static void register_set(const struct x86_insn *insn,
			 const ZydisDecodedOperand *operand,
			 struct arch_transfer value)
{
	unsigned int whole = insn->wide ? 8 : 4, bytes = operand->size / 8;
	struct arch_transfer *transfer = arch_transfer_to(
		insn->effect, x86_register_number(insn, operand->reg.value));

	if (!transfer || register_is_high(operand->reg.value) ||
	    value.source == ARCH_SOURCE_UNKNOWN)
		return;
	if (value.source == ARCH_SOURCE_CONSTANT) {
		value.number = constant_cut(value.number, bytes);
		value.bytes = whole;
	}
	if (value.bytes > bytes)
		value.bytes = bytes;
	value.is_signed &= value.bytes < bytes;
	if (bytes < 4 || (value.is_signed && bytes < whole))
		value.part = bytes;
	transfer_set(transfer, value);
}

static void memory_set(const struct x86_insn *insn, struct arch_transfer value)
{
	struct arch_transfer *transfer = insn->effect->transfers;
	int count = value.source == ARCH_SOURCE_MEMORY ? 0 :
						insn->effect->count;

	for (int i = 0; i < count; i++, transfer++) {
		if (!transfer->to_memory)
			continue;
		value.bytes = transfer->memory.bytes;
		if (value.source == ARCH_SOURCE_CONSTANT)
			value.number = constant_cut(value.number, value.bytes);
		transfer_set(transfer, value);
	}
}

static void operand_set(const struct x86_insn *insn,
			const ZydisDecodedOperand *operand,
			struct arch_transfer value)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		register_set(insn, operand, value);
	else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		memory_set(insn, value);
}

static void value_lea(const struct x86_insn *insn)
{
	ZydisDecodedOperand address = insn->operands[1];
	struct arch_transfer value = { .bytes = insn->wide ? 8 : 4 };
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
	register_set(insn, &insn->operands[0], value);
}

/* register += number */
static void x86_value_add(const struct x86_insn *insn, int64_t number)
{
	struct arch_transfer value =
		x86_operand_value(insn, &insn->operands[0]);

	value.number = number;
	if (value.source == ARCH_SOURCE_REGISTER)
		register_set(insn, &insn->operands[0], value);
}

/* Subtracted from itself, or exclusive or with itself */
static bool value_zero(const struct x86_insn *insn)
{
	struct arch_transfer zero = { .source = ARCH_SOURCE_CONSTANT,
				      .bytes = 8 };
	const ZydisDecodedOperand *operands = insn->operands;

	if (operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    operands[0].reg.value != operands[1].reg.value)
		return false;
	register_set(insn, &operands[0], zero);
	return true;
}

/* What the instruction pushes or pops */
static void value_stack(const struct x86_insn *insn)
{
	struct arch_effect *effect = insn->effect;
	struct arch_transfer value = { .source = ARCH_SOURCE_REGISTER,
				       .bytes = insn->wide ? 8 : 4 };
	unsigned int sp = insn->wide ? 7 : 4;
	struct arch_transfer *transfer = arch_transfer_to(effect, sp);
	const ZydisDecodedOperand *first = insn->operands;

	value.reg = sp;
	value.number = stack_bytes(insn);
	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_RET &&
	    first->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		value.number += first->imm.value.u;
	transfer_set(transfer, value);
	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_PUSH) {
		memory_set(insn, x86_operand_value(insn, first));
	} else if (insn->zi.mnemonic == ZYDIS_MNEMONIC_CALL) {
		value.source = ARCH_SOURCE_ADDRESS;
		value.number = insn->address + insn->zi.length;
		memory_set(insn, value);
	} else if (insn->zi.mnemonic == ZYDIS_MNEMONIC_POP &&
		   first->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		if (x86_register_number(insn, first->reg.value) == (int)sp)
			transfer->source = ARCH_SOURCE_UNKNOWN;
		register_set(insn, first, (struct arch_transfer) {
			.source = ARCH_SOURCE_MEMORY,
			.memory = effect->reads[0],
			.bytes = effect->reads[0].bytes,
		});
	}
}

static void x86_value_find(const struct x86_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->operands[0];
	struct arch_transfer first = x86_operand_value(insn, to);
	struct arch_transfer second =
		x86_operand_value(insn, &insn->operands[1]);
	bool constant = second.source == ARCH_SOURCE_CONSTANT;
	struct arch_effect *effect = insn->effect;
	unsigned int bytes = insn->wide ? 8 : 4;

	if (stack_bytes(insn)) {
		value_stack(insn);
		return;
	}
	switch (insn->zi.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSX: case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CDQE: case ZYDIS_MNEMONIC_CWDE:
		second.is_signed = true;
		operand_set(insn, to, second);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		operand_set(insn, to, second);
		operand_set(insn, &insn->operands[1], first);
		break;
	case ZYDIS_MNEMONIC_OR:		/* with all ones */
		if (!constant || second.number != -1)
			break;
		/* fall through */
	case ZYDIS_MNEMONIC_MOV: case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVNTI:
		operand_set(insn, to, second);
		break;
	case ZYDIS_MNEMONIC_LEA:
		value_lea(insn);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		first = (struct arch_transfer){ .source = ARCH_SOURCE_REGISTER,
						.reg = insn->wide ? 6 : 5,
						.number = bytes,
						.bytes = bytes };
		second = (struct arch_transfer){ .source = ARCH_SOURCE_MEMORY,
						 .memory = effect->reads[0],
						 .bytes = bytes };
		transfer_set(arch_transfer_to(effect, insn->wide ? 7 : 4),
			     first);
		transfer_set(arch_transfer_to(effect, first.reg), second);
		break;
	case ZYDIS_MNEMONIC_INC:
		x86_value_add(insn, 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		x86_value_add(insn, -1);
		break;
	case ZYDIS_MNEMONIC_ADD:
		if (constant)
			x86_value_add(insn, second.number);
		break;
	case ZYDIS_MNEMONIC_SUB:
		if (!value_zero(insn) && constant)
			x86_value_add(insn, -(uint64_t)second.number);
		break;
	case ZYDIS_MNEMONIC_XOR:
		value_zero(insn);
		break;
	case ZYDIS_MNEMONIC_AND:
		/* with a number that keeps the low bytes, or nothing */
		if (first.source != ARCH_SOURCE_REGISTER || !constant)
			break;
		if (!second.number)
			first.source = ARCH_SOURCE_CONSTANT;
		else if (second.number == 0xff)
			first.bytes = 1;
		else if (second.number == 0xffff)
			first.bytes = 2;
		else
			break;
		register_set(insn, to, first);
		break;
	default:
		break;
	}
}

static bool is_vector_move(const struct x86_insn *insn)
{
	switch (insn->zi.mnemonic) {
	case ZYDIS_MNEMONIC_MOVSS: case ZYDIS_MNEMONIC_VMOVSS:
		/* between registers it leaves the bytes above alone */
		return insn->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
		       insn->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
	case ZYDIS_MNEMONIC_MOVSD:
		return insn->zi.meta.category == ZYDIS_CATEGORY_DATAXFER;
	case ZYDIS_MNEMONIC_VMOVSD: case ZYDIS_MNEMONIC_VMOVLPS:
	case ZYDIS_MNEMONIC_VMOVLPD:
		return insn->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
		       insn->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
	case ZYDIS_MNEMONIC_MOVAPS: case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPS: case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA: case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_MOVLPS: case ZYDIS_MNEMONIC_MOVLPD:
	case ZYDIS_MNEMONIC_MOVQ: case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_VMOVAPS: case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVUPS: case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_VMOVDQA: case ZYDIS_MNEMONIC_VMOVDQU:
	case ZYDIS_MNEMONIC_VMOVQ: case ZYDIS_MNEMONIC_VMOVD:
		return true;
	default:
		return false;
	}
}

static void vector_copy_find(const struct x86_insn *insn)
{
	const ZydisDecodedOperand *to = &insn->operands[0], *from = to + 1;
	struct arch_effect *effect = insn->effect;
	bool load = from->type == ZYDIS_OPERAND_TYPE_MEMORY;
	bool store = to->type == ZYDIS_OPERAND_TYPE_MEMORY;
	int vector_to, vector_from, number;
	unsigned int bytes;

	/* all of them, and no operand */
	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_VZEROALL)
		effect->vectors = UINT16_MAX;
	if (!is_vector_move(insn))
		return;
	vector_to = store ? -1 : x86_vector_number(to->reg.value);
	vector_from = load ? -1 : x86_vector_number(from->reg.value);
	bytes = (from->size < to->size ? from->size : to->size) / 8;
	effect->copy.bytes = bytes < 8 ? bytes : 8;
	effect->copy.to = vector_to;
	effect->copy.from = vector_from;
	if (vector_to >= 0 && load) {
		effect->copy.kind = ARCH_VECTOR_LOAD;
	} else if (vector_from >= 0 && store) {
		effect->copy.kind = ARCH_VECTOR_STORE;
	} else if (vector_to >= 0 && vector_from >= 0) {
		effect->copy.kind = ARCH_VECTOR_COPY;
		effect->copy.bytes = 8;
	} else if (vector_to >= 0) {
		number = x86_register_number(insn, from->reg.value);
		effect->copy.from = number;
		if (number >= 0)
			effect->copy.kind = ARCH_VECTOR_SET;
	} else if (vector_from >= 0) {
		number = x86_register_number(insn, to->reg.value);
		effect->copy.to = number;
		if (number >= 0)
			effect->copy.kind = ARCH_VECTOR_GET;
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
	insn.effect = effect;
	effect->known = insn_is_listed(&insn.zi);
	flags = insn.zi.cpu_flags;
	effect->flags = flags && (flags->modified | flags->set_0 |
				  flags->set_1 | flags->undefined);
	for (int i = 0; i < insn.zi.operand_count && effect->known; i++)
		effect_add_operand(&insn, &insn.operands[i]);
	memory = effect->read_count || effect->write_count;
	/* XEND outside a transaction: SDM volume 2, XEND, #GP(0) */
	effect->faults = insn.zi.mnemonic == ZYDIS_MNEMONIC_DIV ||
			 insn.zi.mnemonic == ZYDIS_MNEMONIC_IDIV ||
			 insn.zi.mnemonic == ZYDIS_MNEMONIC_XEND ||
			 insn.zi.meta.category == ZYDIS_CATEGORY_DECIMAL ||
			 insn.zi.meta.category == ZYDIS_CATEGORY_STRINGOP;
	effect->traps |= insn_traps(&insn.zi, memory);
	if (effect->known) {
		x86_value_find(&insn);
		vector_copy_find(&insn);
	} else {
		*effect = (struct arch_effect){
			.flags = true, .faults = true, .vectors = UINT16_MAX,
		};
	}
	return true;
}
