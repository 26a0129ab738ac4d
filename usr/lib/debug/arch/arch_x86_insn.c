// SPDX-License-Identifier: GPL-2.0
/* Instructions of x86, and which of them the kernel can probe. */
#include "arch_x86.h"

#include <errno.h>
#include <string.h>
#include <rastrace/tdf.h>

/*
 * Where a uprobe cannot be placed, by opcode: the kernel copies the instruction
 * to a page of the traced program and single-steps it there. Most of these
 * fault in user space anyway; the rest enter the kernel, which may do their
 * work itself (UMIP), or hide the step. selftests/trace/live_insns.c holds all
 * of this against the kernel.
 */
static const struct {
	uint8_t map;		/* ZYDIS_OPCODE_MAP_* */
	uint8_t first, last;
	bool everywhere;	/* a kprobe can't be there either */
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
	{ ZYDIS_OPCODE_MAP_0F, 0x34, 0x35, false,
	  "enters or leaves the kernel" },
	{ ZYDIS_OPCODE_MAP_0F, 0x37, 0x37, false, "is privileged" },
	{ ZYDIS_OPCODE_MAP_0F, 0x78, 0x79, false, "is a system instruction" },
};

static bool insn_has_prefix(const ZydisDecodedInstruction *zi, uint8_t value)
{
	for (int i = 0; i < zi->raw.prefix_count; i++)
		if (zi->raw.prefixes[i].value == value)
			return true;
	return false;
}

/* Why the kernel's uprobes corrupt an instruction of this form, or never fire
 * on it: it takes the opcode bytes inside VEX instructions for branches, and a
 * prefix for the opcode. */
static const char *insn_why_corrupt(const ZydisDecodedInstruction *zi)
{
	static const char far[] = "is a far call, which a uprobe would corrupt";
	bool repeats = insn_has_prefix(zi, 0xf2) || insn_has_prefix(zi, 0xf3);

	if (zi->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	    zi->encoding != ZYDIS_INSTRUCTION_ENCODING_3DNOW)
		return "is a VEX, EVEX or XOP instruction, which a uprobe would corrupt";
	if (insn_has_prefix(zi, 0x26) || insn_has_prefix(zi, 0x2e) ||
	    insn_has_prefix(zi, 0x36) || insn_has_prefix(zi, 0x3e))
		return "has a segment prefix, where a uprobe never fires";
	if (insn_has_prefix(zi, 0xf0))
		return "has a lock prefix, where a uprobe never fires";

	/* The processor ignores a REX prefix in front of another prefix, the
	 * kernel doesn't. */
	for (int i = 0; i + 1 < zi->raw.prefix_count; i++)
		if (zi->machine_mode == ZYDIS_MACHINE_MODE_LONG_64 &&
		    (zi->raw.prefixes[i].value & 0xf0) == 0x40)
			return "has a REX prefix that the kernel misreads";
	if ((zi->meta.category == ZYDIS_CATEGORY_CALL ||
	     zi->meta.category == ZYDIS_CATEGORY_COND_BR ||
	     zi->meta.category == ZYDIS_CATEGORY_UNCOND_BR) &&
	    insn_has_prefix(zi, 0x66))
		return "is a branch with a 66 prefix, which a uprobe would corrupt";
	if (zi->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
		return "begins a transaction, which a uprobe would end";
	if (zi->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return NULL;
	switch (zi->opcode) {
	case 0x90:
		if (zi->raw.rex.B)
			return "is an exchange, which the kernel takes for a nop";
		break;
	case 0x9a:
		return far;
	case 0xff:
		if (zi->raw.modrm.reg == 3)
			return far;
		break;
	case 0xa4 ... 0xa7: case 0xaa ... 0xaf:
		if (repeats)
			return "repeats itself, and a uprobe is hit each time";
		break;
	}
	return NULL;
}

/*
 * The kernel emulates branches, pushes and the no-operations that it knows:
 * its own, by length, and 90 with any prefixes. It may turn each no-operation
 * of 5 bytes into a call of the kernel (insn_is_nop() of arch/x86/lib/insn.c,
 * 64-bit tasks only).
 */
static uint8_t insn_cost(const ZydisDecodedInstruction *zi, const uint8_t *code,
			 const struct arch *arch)
{
	static const char nops[9][9] = {
		"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00",
		"\x0f\x1f\x44\x00\x00", "\x66\x0f\x1f\x44\x00\x00",
		"\x0f\x1f\x80\x00\x00\x00\x00",
		"\x0f\x1f\x84\x00\x00\x00\x00\x00",
	};
	bool plain = zi->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;
	bool one = plain && zi->opcode == 0x90 && !zi->raw.rex.B;
	bool many = zi->opcode_map == ZYDIS_OPCODE_MAP_0F &&
		    zi->opcode == 0x1f && zi->raw.modrm.reg == 0;
	bool branch = plain ? zi->opcode == 0xe8 || zi->opcode == 0xe9 ||
			      zi->opcode == 0xeb || (zi->opcode & 0xf0) == 0x70 :
			      zi->opcode_map == ZYDIS_OPCODE_MAP_0F &&
			      (zi->opcode & 0xf0) == 0x80;
	bool push = plain && (zi->opcode & 0xf8) == 0x50 &&
		    (zi->length == 1 || (zi->length == 2 && code[0] == 0x41));

	if ((one || many) && zi->length == 5 && x86_is_wide(arch))
		return TDF_COST_NOP5;
	if (one || push || (many && zi->length <= 8 &&
			    !memcmp(code, nops[zi->length], zi->length)) ||
	    (branch && !(zi->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)))
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

enum { X86_SP = 4, X86_BP = 5 };

static bool x86_insn_is_epilogue(const ZydisDecodedInstruction *zi)
{
	int64_t imm = zi->raw.imm[0].value.s;
	bool sib = zi->raw.modrm.rm == 4;
	unsigned int base = modrm_rm(zi);

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
		return modrm_is_register(zi) && modrm_rm(zi) == X86_SP &&
		       ((zi->raw.modrm.reg == 0 && imm > 0) ||
			(zi->raw.modrm.reg == 5 && imm < 0));
	case 0x89:		/* mov */
		return modrm_is_register(zi) && modrm_rm(zi) == X86_SP &&
		       modrm_reg(zi) == X86_BP;
	case 0x8b:
		return modrm_is_register(zi) && modrm_reg(zi) == X86_SP &&
		       modrm_rm(zi) == X86_BP;
	case 0x8d:
		/* lea distance(base),%rsp: upwards in the frame, or back to it
		 * by another register */
		if (sib)
			base = zi->raw.sib.base | zi->raw.rex.B << 3;
		return modrm_reg(zi) == X86_SP &&
		       (!sib ||
			(zi->raw.sib.index | zi->raw.rex.X << 3) == X86_SP) &&
		       (base != X86_SP || zi->raw.disp.value > 0);
	default:
		return false;
	}
}

static void decoder_set(const struct arch *arch, ZydisDecoder *decoder)
{
	bool wide = x86_is_wide(arch);

	ZydisDecoderInit(decoder,
			 wide ? ZYDIS_MACHINE_MODE_LONG_64 :
				ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
}

bool x86_decode(const struct arch *arch, const uint8_t *code, size_t size,
		uint64_t address, struct x86_insn *insn)
{
	ZydisDecoder decoder;

	decoder_set(arch, &decoder);
	insn->address = address;
	insn->wide = x86_is_wide(arch);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, size,
						   &insn->zi, insn->operands));
}

int x86_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn)
{
	ZydisDecodedInstruction zi;
	ZydisDecoder decoder;

	decoder_set(arch, &decoder);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code,
						      size, &zi)))
		return -EINVAL;
	insn->length = zi.length;
	insn->cost = insn_cost(&zi, code, arch);
	insn_find_flow(&zi, insn);
	insn->epilogue = x86_insn_is_epilogue(&zi);
	insn->padding = zi.meta.category == ZYDIS_CATEGORY_NOP ||
			zi.meta.category == ZYDIS_CATEGORY_WIDENOP ||
			zi.mnemonic == ZYDIS_MNEMONIC_INT3 ||
			zi.mnemonic == ZYDIS_MNEMONIC_HLT;
	insn->why = insn_why_corrupt(&zi);
	insn->user_refused = insn->why;
	if (insn->why)
		return 0;

	/* by opcode, but for system instructions that every program may use */
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (zi.opcode_map == refused[i].map &&
		    zi.opcode >= refused[i].first &&
		    zi.opcode <= refused[i].last &&
		    zi.mnemonic != ZYDIS_MNEMONIC_RDTSCP &&
		    zi.mnemonic != ZYDIS_MNEMONIC_XGETBV) {
			insn->refused = refused[i].everywhere;
			insn->user_refused = true;
			insn->why = refused[i].why;
			return 0;
		}
	if (zi.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && zi.opcode == 0x8e &&
	    zi.raw.modrm.reg == 2) {
		insn->refused = insn->user_refused = true;
		insn->why = "loads SS, which hides the single step";
	}
	return 0;
}
