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
	switch (zi->meta.category) {
	case ZYDIS_CATEGORY_RET:
		insn->flow = ARCH_FLOW_AWAY;
		break;
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
		insn->flow = zi->raw.imm[0].is_relative ? ARCH_FLOW_JUMP :
							  ARCH_FLOW_AWAY;
		insn->jump = zi->length + zi->raw.imm[0].value.s;
		break;
	default:
		break;
	}
}

int arch_insn_decode(const uint8_t *code, size_t size, uint8_t elf_class,
		     struct arch_insn *insn)
{
	bool wide = elf_class == ELFCLASS64;
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;

	memset(insn, 0, sizeof(*insn));
	ZydisDecoderInit(&decoder,
			 wide ? ZYDIS_MACHINE_MODE_LONG_64 :
				ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code,
							size, &zi)))
		return -EINVAL;
	insn->length = zi.length;
	insn->cost = insn_cost(&zi, code, elf_class);
	insn_find_flow(&zi, insn);
	insn_check_form(&zi, insn);
	if (!insn->why)
		insn_check_opcode(&zi, insn);
	return 0;
}
