// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions of x86 do to general registers and memory (Intel SDM
 * volume 2). What is read and written is what the decoder lists as operands;
 * arch_x86_value.c tells which values.
 */
#include "arch_x86.h"

#include <elf.h>
#include <string.h>
#include "arch_x86_effect.h"

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

/* Their memory operand is a hint. */
static bool insn_is_hint(const ZydisDecodedInstruction *zi)
{
	return zi->meta.category == ZYDIS_CATEGORY_NOP ||
	       zi->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       zi->meta.category == ZYDIS_CATEGORY_PREFETCH;
}

static bool insn_changes_flags(const ZydisDecodedInstruction *zi)
{
	const ZydisAccessedFlags *flags = zi->cpu_flags;

	return flags && (flags->modified | flags->set_0 | flags->set_1 |
			 flags->undefined);
}

/*
 * By class of exceptions (SDM volume 2, 2.4 and 2.8): arithmetic, whose
 * exceptions may be unmasked; operands in memory that must be aligned.
 */
enum faulting { FAULTS_ALWAYS, FAULTS_ALIGNED, FAULTS_NEVER };

static enum faulting class_faulting(ZydisExceptionClass exceptions)
{
	switch (exceptions) {
	case ZYDIS_EXCEPTION_CLASS_SSE1: case ZYDIS_EXCEPTION_CLASS_SSE4:
	case ZYDIS_EXCEPTION_CLASS_AVX1: case ZYDIS_EXCEPTION_CLASS_E1:
	case ZYDIS_EXCEPTION_CLASS_E1NF:
		return FAULTS_ALIGNED;
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
		return FAULTS_NEVER;
	default:
		return FAULTS_ALWAYS;
	}
}

static bool insn_is_unaligned(const ZydisDecodedInstruction *zi)
{
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_MOVUPS: case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQU: case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_PCMPESTRI: case ZYDIS_MNEMONIC_PCMPESTRM:
	case ZYDIS_MNEMONIC_PCMPISTRI: case ZYDIS_MNEMONIC_PCMPISTRM:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
		return true;
	default:
		return false;
	}
}

static bool insn_traps(const ZydisDecodedInstruction *zi, bool memory)
{
	enum faulting faulting = class_faulting(zi->meta.exception_class);

	if (zi->meta.category == ZYDIS_CATEGORY_X87_ALU ||
	    zi->meta.category == ZYDIS_CATEGORY_MMX)
		return true;
	switch (zi->mnemonic) {
	case ZYDIS_MNEMONIC_CVTPI2PS: case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR: case ZYDIS_MNEMONIC_CMPXCHG16B:
		return true;
	default:
		return faulting == FAULTS_ALWAYS ||
		       (faulting == FAULTS_ALIGNED && memory &&
			!insn_is_unaligned(zi));
	}
}

static bool insn_faults(const ZydisDecodedInstruction *zi)
{
	/* XEND outside a transaction: SDM volume 2, XEND, #GP(0) */
	return zi->mnemonic == ZYDIS_MNEMONIC_DIV ||
	       zi->mnemonic == ZYDIS_MNEMONIC_IDIV ||
	       zi->mnemonic == ZYDIS_MNEMONIC_XEND ||
	       zi->meta.category == ZYDIS_CATEGORY_DECIMAL ||
	       zi->meta.category == ZYDIS_CATEGORY_STRINGOP;
}

int x86_register_number(const struct x86_insn *insn, ZydisRegister reg)
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

int x86_stack_bytes(const struct x86_insn *insn)
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

/* What is pushed is written below the stack pointer as it was; an address that
 * is popped to is as of after the pop. */
static int64_t stack_moves(const struct x86_insn *insn,
			   const ZydisDecodedOperand *operand)
{
	bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
	int bytes = x86_stack_bytes(insn);

	if (bytes < 0 && hidden)
		return bytes;
	return bytes > 0 && !hidden &&
	       insn->zi.mnemonic == ZYDIS_MNEMONIC_POP &&
	       operand->mem.base == (insn->wide ? ZYDIS_REGISTER_RSP :
						  ZYDIS_REGISTER_ESP) ?
		       bytes : 0;
}

/* Where, and how much, depends on more than the operand tells. */
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
		/* a bit anywhere behind it, or before */
		return insn->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return false;
	}
}

static void memory_set_thread(const struct x86_insn *insn,
			      const ZydisDecodedOperand *operand,
			      struct arch_memory *memory)
{
	if (operand->mem.base != ZYDIS_REGISTER_NONE ||
	    operand->mem.segment != (insn->wide ? ZYDIS_REGISTER_FS :
						  ZYDIS_REGISTER_GS))
		return;
	memory->space = ARCH_SPACE_THREAD;
	memory->number = operand->mem.disp.value;
}

struct arch_memory x86_memory(const struct x86_insn *insn,
			      const ZydisDecodedOperand *operand)
{
	struct arch_memory memory = { .space = ARCH_SPACE_UNKNOWN };
	int64_t number = operand->mem.disp.value;
	int base = x86_register_number(insn, operand->mem.base);

	if (memory_is_open(insn, operand))
		return memory;
	memory.bytes = operand->size / 8;
	if (operand->mem.index != ZYDIS_REGISTER_NONE ||
	    insn->zi.address_width != (insn->wide ? 64 : 32) ||
	    (!insn->wide && operand->mem.segment == ZYDIS_REGISTER_CS))
		return memory;
	if (operand->mem.segment == ZYDIS_REGISTER_FS ||
	    operand->mem.segment == ZYDIS_REGISTER_GS) {
		memory_set_thread(insn, operand, &memory);
	} else if (operand->mem.base == ZYDIS_REGISTER_NONE) {
		memory.space = ARCH_SPACE_FIXED;
		memory.number = insn->wide ? number : (uint32_t)number;
	} else if (operand->mem.base == ZYDIS_REGISTER_RIP) {
		memory.space = ARCH_SPACE_FIXED;
		memory.number = insn->address + insn->zi.length + number;
	} else if (base >= 0) {
		memory.space = ARCH_SPACE_BASE;
		memory.base = base;
		memory.number = number + stack_moves(insn, operand);
	}
	return memory;
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

	for (int i = 0; i < effect->count; i++)
		if (!effect->transfers[i].to_memory &&
		    effect->transfers[i].to == number)
			return;
	transfer = effect_add(effect);
	if (transfer)
		transfer->to = number;
}

static void effect_add_register(const struct x86_insn *insn,
				const ZydisDecodedOperand *operand,
				struct arch_effect *effect)
{
	bool written = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	int number = x86_register_number(insn, operand->reg.value);

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
	default:
		break;
	}
	if (number >= 0 && written)
		effect_add_write(effect, number);
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
	     !x86_stack_bytes(insn)))
		effect_use(insn, operand->reg.value, effect);
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	     x86_memory(insn, operand).space == ARCH_SPACE_UNKNOWN)) {
		effect_use(insn, operand->mem.base, effect);
		effect_use(insn, operand->mem.index, effect);
	}
}

static void effect_add_operand(const struct x86_insn *insn,
			       const ZydisDecodedOperand *operand,
			       struct arch_effect *effect)
{
	struct arch_memory memory;

	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		effect_add_register(insn, operand, effect);
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	    insn_is_hint(&insn->zi))
		return;
	memory = x86_memory(insn, operand);
	effect_add_memory(effect, &memory, operand->actions);
	if (insn->zi.meta.category == ZYDIS_CATEGORY_STRINGOP)
		effect_add_write(effect, x86_register_number(
						 insn, operand->mem.base));
}

static bool insn_decode(const struct arch *arch, const uint8_t *code,
			size_t size, struct x86_insn *insn)
{
	ZydisDecoder decoder;

	insn->wide = x86_is_wide(arch);
	ZydisDecoderInit(&decoder, insn->wide ?
				 ZYDIS_MACHINE_MODE_LONG_64 :
				 ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 insn->wide ? ZYDIS_STACK_WIDTH_64 :
				      ZYDIS_STACK_WIDTH_32);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size,
						   &insn->zi, insn->operands));
}

bool x86_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect)
{
	struct x86_insn insn = { .address = address };
	bool memory;

	memset(effect, 0, sizeof(*effect));
	if (!insn_decode(arch, code, size, &insn))
		return false;
	effect->known = insn_is_listed(&insn.zi);
	effect->flags = insn_changes_flags(&insn.zi);
	for (int i = 0; i < insn.zi.operand_count && effect->known; i++) {
		effect_add_operand(&insn, &insn.operands[i], effect);
		effect_use_operand(&insn, &insn.operands[i], effect);
	}
	memory = effect->read_count || effect->write_count;
	effect->faults = insn_faults(&insn.zi);
	effect->traps |= insn_traps(&insn.zi, memory);
	if (effect->known)
		x86_value_find(&insn, effect);
	else
		*effect = (struct arch_effect){ .flags = true, .faults = true };
	return true;
}
