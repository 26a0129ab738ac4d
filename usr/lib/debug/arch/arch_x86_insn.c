// SPDX-License-Identifier: GPL-2.0
/* Instructions of x86, and which of them the kernel can probe. */
#include "arch_x86_insn.h"

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
	insn->pushes = insn->cost == TDF_COST_EMULATED &&
		       (zi.meta.category == ZYDIS_CATEGORY_PUSH ||
			zi.meta.category == ZYDIS_CATEGORY_CALL);
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

/* Computed jumps of x86: how compilers write switches and computed gotos. */

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

/* Instruction `at` is an ADD or LEA: it computes a + b, or a + number. One is
 * an element, the other one what it is the distance from. */
static void addition_take(const struct x86_trail *trail, size_t at,
			  const struct x86_insn *insn,
			  struct arch_computed *computed)
{
	const ZydisDecodedOperand *to = &insn->operands[0];
	const ZydisDecodedOperand *from = &insn->operands[1];
	ZydisRegister a = to->reg.value, b = ZYDIS_REGISTER_NONE;
	struct x86_insn load_insn;
	uint64_t number = 0;
	int load;

	if (insn->zi.mnemonic == ZYDIS_MNEMONIC_LEA) {
		a = from->mem.base;
		b = from->mem.index;
		number = from->mem.disp.value;
		if (operand_is_element(from) &&
		    (from->mem.scale != 1 || number ||
		     a == ZYDIS_REGISTER_NONE))
			return;
	} else if (!operand_is_register(to)) {
		return;
	} else if (operand_is_element(from)) {
		distance_take(trail, at, insn, computed);
		computed->known &= x86_base_find(trail, at, a, computed,
						 &computed->base);
		return;
	} else if (operand_is_register(from)) {
		b = from->reg.value;
	} else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		number = from->imm.value.u;
	} else {
		return;
	}
	load = load_find(trail, at, a, &load_insn);
	if (load < 0 && b != ZYDIS_REGISTER_NONE) {
		load = load_find(trail, at, b, &load_insn);
		b = a;
	}
	if (load < 0)
		return;
	distance_take(trail, load, &load_insn, computed);
	if (b == ZYDIS_REGISTER_NONE)
		computed->base = number;
	else
		computed->known &= x86_base_find(trail, at, b, computed,
						 &computed->base);
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
