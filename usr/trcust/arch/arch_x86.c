// SPDX-License-Identifier: GPL-2.0
/* Instructions of x86, and which of them the kernel can probe. */
#include "arch.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <Zydis/Zydis.h>
#include <rastrace/tdf.h>

uint16_t arch_machine(uint8_t elf_class)
{
	switch (elf_class) {
	case ELFCLASS64:
		return EM_X86_64;
	case ELFCLASS32:
		return EM_386;
	default:
		return 0;
	}
}

const char *arch_machine_name(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "AArch64";
	case EM_ARM:
		return "ARM";
	case EM_PPC64:
		return "PowerPC64";
	case EM_S390:
		return "S/390";
	case EM_RISCV:
		return "RISC-V";
	default:
		return "another machine";
	}
}

/*
 * What a uprobe cannot stand on, by opcode: the kernel copies the instruction
 * to a page of the traced program and single-steps it there. Most of these
 * fault in user space anyway; the rest enter the kernel or hide the step.
 */
static const struct {
	uint8_t map;		/* ZYDIS_OPCODE_MAP_* */
	uint8_t first, last;
	bool everywhere;	/* a kprobe can't stand there either */
	const char *why;
} refused[] = {
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0x07, 0x07, false, "pops a segment" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0x17, 0x17, true, "hides the single step" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0x1f, 0x1f, false, "pops a segment" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0x6c, 0x6f, false, "does port I/O" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0x9c, 0x9c, true,
	  "pushes the flags, the trap flag of the single step included" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xcc, 0xcc, true, "is a breakpoint" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xcd, 0xce, true,
	  "is a software interrupt" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xcf, 0xcf, true,
	  "returns from an interrupt" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xe4, 0xe7, false, "does port I/O" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xec, 0xef, false, "does port I/O" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xf1, 0xf1, true, "is a breakpoint" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xf4, 0xf4, false, "is privileged" },
	{ ZYDIS_OPCODE_MAP_DEFAULT, 0xfa, 0xfb, false, "is privileged" },
	{ ZYDIS_OPCODE_MAP_0F, 0x00, 0x01, false, "is a system instruction" },
	{ ZYDIS_OPCODE_MAP_0F, 0x05, 0x09, false,
	  "enters or leaves the kernel" },
	{ ZYDIS_OPCODE_MAP_0F, 0x0b, 0x0b, true,
	  "raises invalid opcode" },
	{ ZYDIS_OPCODE_MAP_0F, 0x30, 0x30, false, "is privileged" },
	{ ZYDIS_OPCODE_MAP_0F, 0x34, 0x35, false, "enters the kernel" },
	{ ZYDIS_OPCODE_MAP_0F, 0x37, 0x37, false, "is privileged" },
	{ ZYDIS_OPCODE_MAP_0F, 0x78, 0x79, false, "is a system instruction" },
	{ ZYDIS_OPCODE_MAP_0F, 0xae, 0xae, false,
	  "is a fence or saves state, which the kernel does not probe" },
};

static void insn_check_opcode(const ZydisDecodedInstruction *zi,
			      struct arch_insn *insn)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (zi->opcode_map != refused[i].map ||
		    zi->opcode < refused[i].first ||
		    zi->opcode > refused[i].last)
			continue;
		insn->refused = refused[i].everywhere;
		insn->user_refused = true;
		insn->why = refused[i].why;
		return;
	}
	if (zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && zi->opcode == 0x8e &&
	    zi->raw.modrm.reg == 2) {
		insn->refused = insn->user_refused = true;
		insn->why = "loads SS, which hides the single step";
	}
}

/* The kernel takes the opcode bytes inside VEX instructions for branches, and
 * lets probes on instructions with these prefixes never fire. */
static void insn_check_form(const ZydisDecodedInstruction *zi,
			    struct arch_insn *insn)
{
	const char *why = NULL;

	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    zi->encoding != ZYDIS_INSTRUCTION_ENCODING_3DNOW)
		why = "is a VEX, EVEX or XOP instruction, which a uprobe would spoil";
	for (int i = 0; i < zi->raw.prefix_count && !why; i++)
		switch (zi->raw.prefixes[i].value) {
		case 0x26: case 0x2e: case 0x36: case 0x3e:
			why = "has a segment prefix, where a uprobe never fires";
			break;
		case 0xf0:
			why = "has a lock prefix, where a uprobe never fires";
			break;
		}
	if (!why)
		return;
	insn->user_refused = true;
	insn->why = why;
}

/* The no-operations that the kernel knows, by length; a 5-byte one may be
 * turned into a call of the kernel (64-bit tasks only). */
static int insn_nop_cost(const uint8_t *code, uint8_t length, uint8_t elf_class)
{
	static const char nops[9][9] = {
		"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00",
		"\x0f\x1f\x44\x00\x00", "\x66\x0f\x1f\x44\x00\x00",
		"\x0f\x1f\x80\x00\x00\x00\x00",
		"\x0f\x1f\x84\x00\x00\x00\x00\x00",
	};

	if (!length || length > 8 || memcmp(code, nops[length], length))
		return -1;
	return length == 5 && elf_class == ELFCLASS64 ? TDF_COST_NOP5 :
							TDF_COST_EMULATED;
}

static bool insn_is_branch(const ZydisDecodedInstruction *zi)
{
	if (zi->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
		return false;
	if (zi->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return (zi->opcode & 0xf0) == 0x80;
	if (zi->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return false;
	return zi->opcode == 0xe8 || zi->opcode == 0xe9 ||
	       zi->opcode == 0xeb || (zi->opcode & 0xf0) == 0x70;
}

static bool insn_is_push(const ZydisDecodedInstruction *zi, const uint8_t *code)
{
	return zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (zi->opcode & 0xf8) == 0x50 &&
	       (zi->length == 1 || (zi->length == 2 && code[0] == 0x41));
}

static uint8_t insn_cost(const ZydisDecodedInstruction *zi, const uint8_t *code,
			 uint8_t elf_class)
{
	int cost = insn_nop_cost(code, zi->length, elf_class);

	if (cost >= 0)
		return cost;
	if (insn_is_branch(zi) || insn_is_push(zi, code))
		return TDF_COST_EMULATED;
	return TDF_COST_STEPPED;
}

static void insn_find_flow(const ZydisDecodedInstruction *zi,
			   struct arch_insn *insn)
{
	bool known = zi->raw.imm[0].is_relative;

	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_RET:
		insn->flow = zi->opcode == 0xcf ? ARCH_FLOW_STOP :
						  ARCH_FLOW_RETURN;
		break;
	case ZYDIS_CATEGORY_SYSRET:
		insn->flow = ARCH_FLOW_STOP;
		break;
	case ZYDIS_CATEGORY_CALL:
		insn->flow = ARCH_FLOW_CALL;
		break;
	case ZYDIS_CATEGORY_COND_BR:
		insn->flow = ARCH_FLOW_BRANCH;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		insn->flow = known ? ARCH_FLOW_JUMP : ARCH_FLOW_COMPUTED;
		break;
	default:
		if (zi->opcode_map == ZYDIS_OPCODE_MAP_0F &&
		    zi->opcode == 0x0b)
			insn->flow = ARCH_FLOW_STOP;
		break;
	}
	if (known)
		insn->jump = zi->length + zi->raw.imm[0].value.s;
}

/* Numbers as in the instruction's encoding, 0 to 15. */
static unsigned int modrm_reg(const ZydisDecodedInstruction *zi)
{
	return zi->raw.modrm.reg | zi->raw.rex.R << 3;
}

static unsigned int modrm_rm(const ZydisDecodedInstruction *zi)
{
	return zi->raw.modrm.rm | zi->raw.rex.B << 3;
}

static bool modrm_is_register(const ZydisDecodedInstruction *zi)
{
	return zi->raw.modrm.mod == 3;
}

enum { REG_AX = 0, REG_SP = 4, REG_BP = 5 };

/* lea distance(base),%rsp: upwards in the frame, or back to it by another
 * register */
static bool insn_is_lea_up(const ZydisDecodedInstruction *zi)
{
	bool sib = zi->raw.modrm.rm == 4;
	unsigned int base = modrm_rm(zi);

	if (sib)
		base = zi->raw.sib.base | zi->raw.rex.B << 3;
	if (sib && (zi->raw.sib.index | zi->raw.rex.X << 3) != REG_SP)
		return false;
	return base != REG_SP || zi->raw.disp.value > 0;
}

static bool insn_is_epilogue(const ZydisDecodedInstruction *zi)
{
	int64_t imm = zi->raw.imm[0].value.s;

	if (zi->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT ||
	    zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    (zi->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE))
		return false;
	switch (zi->opcode) {
	case 0x58 ... 0x5f:	/* pop */
		return (zi->opcode != 0x58 && zi->opcode != 0x5c) ||
		       zi->raw.rex.B;
	case 0xc9:		/* leave */
		return true;
	case 0x81: case 0x83:	/* add, sub */
		return modrm_is_register(zi) && modrm_rm(zi) == REG_SP &&
		       ((zi->raw.modrm.reg == 0 && imm > 0) ||
			(zi->raw.modrm.reg == 5 && imm < 0));
	case 0x89:		/* mov */
		return modrm_is_register(zi) && modrm_rm(zi) == REG_SP &&
		       modrm_reg(zi) == REG_BP;
	case 0x8b:
		return modrm_is_register(zi) && modrm_reg(zi) == REG_SP &&
		       modrm_rm(zi) == REG_BP;
	case 0x8d:
		return modrm_reg(zi) == REG_SP && insn_is_lea_up(zi);
	default:
		return false;
	}
}

static bool insn_is_padding(const ZydisDecodedInstruction *zi)
{
	return zi->meta.category == ZYDIS_CATEGORY_NOP ||
	       zi->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       zi->mnemonic == ZYDIS_MNEMONIC_INT3 ||
	       zi->mnemonic == ZYDIS_MNEMONIC_HLT;
}

static int insn_decode(const uint8_t *code, size_t size, uint8_t elf_class,
		       ZydisDecodedInstruction *zi)
{
	bool wide = elf_class == ELFCLASS64;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder,
			 wide ? ZYDIS_MACHINE_MODE_LONG_64 :
				ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code,
						       size, zi)))
		return 0;
	return -EINVAL;
}

int arch_insn_decode(const uint8_t *code, size_t size, uint8_t elf_class,
		     struct arch_insn *insn)
{
	ZydisDecodedInstruction zi;

	memset(insn, 0, sizeof(*insn));
	if (insn_decode(code, size, elf_class, &zi))
		return -EINVAL;
	insn->length = zi.length;
	insn->cost = insn_cost(&zi, code, elf_class);
	insn_find_flow(&zi, insn);
	insn->epilogue = insn_is_epilogue(&zi);
	insn->padding = insn_is_padding(&zi);
	insn_check_form(&zi, insn);
	if (!insn->why)
		insn_check_opcode(&zi, insn);
	return 0;
}

/* An index register times something is part of the address. */
static bool insn_has_index(const ZydisDecodedInstruction *zi)
{
	return !modrm_is_register(zi) && zi->raw.modrm.rm == 4 &&
	       (zi->raw.sib.index | zi->raw.rex.X << 3) != REG_SP;
}

enum table_step {
	STEP_OTHER,
	STEP_LOAD,		/* reg = table[index] */
	STEP_ADD,		/* reg += from */
	STEP_ADD_LOAD,		/* reg += table[index] */
	STEP_ADDRESS,		/* reg = address */
};

/* What an instruction before a computed jump does. */
static enum table_step insn_table_step(const struct arch_code *code,
				       const ZydisDecodedInstruction *zi,
				       unsigned int *reg, unsigned int *from,
				       uint64_t *address)
{
	if (zi->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return STEP_OTHER;
	*reg = modrm_reg(zi);
	*from = modrm_rm(zi);
	switch (zi->opcode) {
	case 0x63: case 0x8b:	/* movslq, mov */
		return insn_has_index(zi) ? STEP_LOAD : STEP_OTHER;
	case 0x01:		/* add */
		*reg = modrm_rm(zi);
		*from = modrm_reg(zi);
		return modrm_is_register(zi) ? STEP_ADD : STEP_OTHER;
	case 0x03:
		if (modrm_is_register(zi))
			return STEP_ADD;
		return insn_has_index(zi) ? STEP_ADD_LOAD : STEP_OTHER;
	case 0x8d:		/* lea distance(%rip) */
		*address = code->address + code->length + zi->raw.disp.value;
		return zi->raw.modrm.mod == 0 && zi->raw.modrm.rm == 5 ?
			       STEP_ADDRESS : STEP_OTHER;
	case 0xb8 ... 0xbf:	/* mov $address */
		*reg = (zi->opcode & 7) | zi->raw.rex.B << 3;
		*address = zi->raw.imm[0].value.u;
		return STEP_ADDRESS;
	default:
		return STEP_OTHER;
	}
}

/* Where the table begins that an address with an index is in. */
static uint64_t table_find(const struct arch_code *insns, size_t count,
			   const ZydisDecodedInstruction *user,
			   uint8_t elf_class)
{
	unsigned int base = user->raw.sib.base | user->raw.rex.B << 3;
	ZydisDecodedInstruction zi;

	if (user->raw.sib.base == REG_BP && user->raw.modrm.mod == 0)
		return elf_class == ELFCLASS64 ?
			       (uint64_t)user->raw.disp.value :
			       (uint32_t)user->raw.disp.value;
	while (count--) {
		unsigned int reg, from;
		uint64_t address;

		if (!insn_decode(insns[count].bytes, insns[count].length,
				 elf_class, &zi) &&
		    insn_table_step(&insns[count], &zi, &reg, &from,
				    &address) == STEP_ADDRESS && reg == base)
			return address + user->raw.disp.value;
	}
	return 0;
}

/* jmp *reg: how did the address get there? */
static enum arch_computed computed_register(const struct arch_code *insns,
					    size_t count, unsigned int jump,
					    uint8_t elf_class, uint64_t *table)
{
	unsigned int reg, from, other = jump;
	ZydisDecodedInstruction zi;
	bool added = false;
	uint64_t address;

	while (count--) {
		enum table_step step;

		if (insn_decode(insns[count].bytes, insns[count].length,
				elf_class, &zi))
			break;
		step = insn_table_step(&insns[count], &zi, &reg, &from,
				       &address);
		if (step == STEP_ADD_LOAD && reg == jump)
			return ARCH_COMPUTED_SWITCH;
		if (step == STEP_ADD && reg == jump) {
			added = true;
			other = from;
		} else if (step == STEP_LOAD && added &&
			   (reg == jump || reg == other)) {
			return ARCH_COMPUTED_SWITCH;
		} else if (step == STEP_LOAD && reg == jump) {
			*table = table_find(insns, count, &zi, elf_class);
			return ARCH_COMPUTED_TABLE;
		}
	}
	return ARCH_COMPUTED_ANY;
}

enum arch_computed arch_computed_find(const struct arch_code *insns,
				      size_t count, uint8_t elf_class,
				      uint64_t *table)
{
	ZydisDecodedInstruction zi;

	*table = 0;
	count--;
	if (insn_decode(insns[count].bytes, insns[count].length, elf_class,
			&zi))
		return ARCH_COMPUTED_ANY;
	if (zi.attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
		return ARCH_COMPUTED_SWITCH;
	if (modrm_is_register(&zi))
		return computed_register(insns, count, modrm_rm(&zi),
					 elf_class, table);
	if (!insn_has_index(&zi))
		return ARCH_COMPUTED_ANY;
	*table = table_find(insns, count, &zi, elf_class);
	return ARCH_COMPUTED_TABLE;
}

bool arch_address_find(const struct arch_code *insn, uint8_t elf_class,
		       uint64_t *address)
{
	ZydisDecodedInstruction zi;
	unsigned int reg, from;

	return !insn_decode(insn->bytes, insn->length, elf_class, &zi) &&
	       insn_table_step(insn, &zi, &reg, &from, address) == STEP_ADDRESS;
}

unsigned int arch_stack_register(uint8_t elf_class)
{
	return elf_class == ELFCLASS64 ? 7 : 4;
}

bool arch_name_returns(const char *name, size_t length)
{
	static const char thunk[] = "__x86_return_thunk";

	return length == strlen(thunk) && !memcmp(name, thunk, length);
}
