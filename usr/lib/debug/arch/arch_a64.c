// SPDX-License-Identifier: GPL-2.0
/*
 * AArch64: its registers (aadwarf64 4.1, aapcs64 6), the operands that compilers
 * have in notes of static probes, its instructions and which of them the kernel
 * can probe, and the relocations of object files.
 */
#include "arch.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <rastrace/tdf.h>
#include "arch_a64_effect.h"
#include "arch_a64_jump.h"
#include "arch_a64_text.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))
#define NAME_SIZE	8
#define TEXT_SIZE	256

struct a64_reader {
	const struct arch *arch;
	const char *at, *end;
};

static void skip_spaces(struct a64_reader *r)
{
	while (r->at < r->end && *r->at == ' ')
		r->at++;
}

static bool a64_take(struct a64_reader *r, const char *text)
{
	size_t length = strlen(text);

	skip_spaces(r);
	if ((size_t)(r->end - r->at) < length ||
	    strncasecmp(r->at, text, length))
		return false;
	r->at += length;
	return true;
}

static bool at_end(struct a64_reader *r)
{
	skip_spaces(r);
	return r->at == r->end;
}

/* A name of letters and digits, as the register that it is; NULL: none. */
static const struct arch_register *a64_take_register(struct a64_reader *r)
{
	const struct arch_register *reg;
	char name[NAME_SIZE];
	size_t length = 0;

	skip_spaces(r);
	while (r->at + length < r->end && isalnum(r->at[length]))
		length++;
	if (!length || length >= sizeof(name))
		return NULL;
	memcpy(name, r->at, length);
	name[length] = 0;
	reg = arch_register_find(r->arch, name);
	if (!reg || reg->pt_regs < 0 || reg->dwarf < 0 ||
	    (reg->kind != ARCH_GPR))
		return NULL;
	r->at += length;
	return reg;
}

/* With or without the # of the assembler. */
static bool a64_take_number(struct a64_reader *r, int64_t *number)
{
	char digits[24];
	size_t length = 0;
	bool minus;
	char *end;

	a64_take(r, "#");
	minus = a64_take(r, "-");
	while (r->at + length < r->end && isalnum(r->at[length]))
		length++;
	if (!length || length >= sizeof(digits) || !isdigit(*r->at))
		return false;
	memcpy(digits, r->at, length);
	digits[length] = 0;
	*number = strtoull(digits, &end, 0);
	if (*end)
		return false;
	if (minus)
		*number = -(uint64_t)*number;
	r->at += length;
	return true;
}

/* "[x0]", "[sp, 12]", "[x0, x1, lsl 3]", "[x0, #:lo12:sym]" */
static bool memory_parse(struct a64_reader *r, struct arch_operand *operand)
{
	const struct arch_register *reg = a64_take_register(r);
	int64_t shift;

	operand->kind = ARCH_MEMORY;
	if (!reg || reg->bytes != 8)
		return false;
	operand->base = reg->dwarf;
	if (!a64_take(r, ","))
		return a64_take(r, "]") && at_end(r);
	if (a64_take(r, "#:lo12:") || a64_take(r, ":lo12:")) {
		/*
		 * The symbol's place in its page, whose address is in the
		 * register before. Both together are the symbol's address, and
		 * the register isn't needed.
		 */
		operand->symbol = r->at;
		while (r->at < r->end && !strchr("+-] ", *r->at))
			r->at++;
		operand->symbol_length = r->at - operand->symbol;
		operand->base = -1;
		if (!operand->symbol_length)
			return false;
		if ((a64_take(r, "+") || (r->at < r->end && *r->at == '-')) &&
		    !a64_take_number(r, &operand->number))
			return false;
	} else if (!a64_take_number(r, &operand->number)) {
		reg = a64_take_register(r);
		if (!reg || reg->bytes != 8 ||
		    !arch_register_is_index(r->arch, reg))
			return false;
		operand->index = reg->dwarf;
		if (a64_take(r, ",")) {
			if (!a64_take(r, "lsl") ||
			    !a64_take_number(r, &shift) || shift < 0 ||
			    shift > 3)
				return false;
			operand->scale = 1 << shift;
		}
	}
	return a64_take(r, "]") && at_end(r);
}

static bool a64_operand_parse(const struct arch *arch, const char *text,
			      size_t length, struct arch_operand *operand)
{
	struct a64_reader r = { arch, text, text + length };
	const struct arch_register *reg;

	*operand = (struct arch_operand){
		.kind = ARCH_IMMEDIATE, .base = -1, .index = -1, .scale = 1,
	};
	if (length > TEXT_SIZE)
		return false;
	if (a64_take(&r, "["))
		return memory_parse(&r, operand);
	/* these two are numbers: they read as 0 */
	if (a64_take(&r, "xzr") || a64_take(&r, "wzr") ||
	    a64_take_number(&r, &operand->number))
		return at_end(&r);
	reg = a64_take_register(&r);
	if (!reg)
		return false;
	operand->kind = ARCH_REGISTER;
	operand->base = reg->dwarf;
	operand->bytes = reg->bytes;
	return at_end(&r);
}

/* Instructions of AArch64, and which of them the kernel can probe. */

/* Which probes can't be placed there. */
enum refusal { REFUSED_NOT, REFUSED_USER, REFUSED_ALL };

struct a64_insn_class {
	uint32_t mask, value;
	enum arch_flow flow;
	/* how many bits the distance of a jump has, in instructions; they begin
	 * at bit 0 when they are 26, else at bit 5 */
	uint8_t field;
	uint8_t cost;
	enum refusal refusal;
	const char *why;
};

#define SIMULATED(flow, field)						\
	ARCH_FLOW_##flow, field, TDF_COST_EMULATED, REFUSED_NOT, NULL
#define STEPPED	\
	ARCH_FLOW_NEXT, 0, TDF_COST_STEPPED, REFUSED_NOT, NULL
#define REFUSED_JUMP(flow, field, why)					\
	ARCH_FLOW_##flow, field, TDF_COST_STEPPED, REFUSED_ALL, why
#define REFUSED(flow, why)	REFUSED_JUMP(flow, 0, why)

static const char breakpoint[] = "is a breakpoint";
static const char trap[] = "is a trap";
static const char leaves[] = "enters or leaves the kernel";
static const char authenticates[] =
	"checks a signed address, which the kernel can't do in its place";
static const char unknown_branch[] =
	"is a branch that the kernel doesn't know, which a probe would corrupt";
static const char signs_pc[] =
	"signs or checks with its own address, which a probe would corrupt";
static const char literal[] =
	"reads memory at its own address, which a probe would corrupt";
static const char exclusive[] =
	"is an exclusive access, which a probe would make fail";
static const char control_stack[] = "changes the guarded control stack";

/*
 * What the kernel makes of an instruction: the first of these that it is like.
 * Masks and decisions of arch/arm64/kernel/probes/decode-insn.c and
 * arch/arm64/include/asm/insn.h; refused is also what the kernel takes for one
 * that it may copy to another page and step there, and that wouldn't do there
 * what it does in its place. Encodings: Arm ARM, C4.1.
 */
static const struct a64_insn_class classes[] = {
	/* branches; those of later processors the kernel would step */
	{ 0xfc000000, 0x14000000, SIMULATED(JUMP, 26) },   /* b */
	{ 0xfc000000, 0x94000000, SIMULATED(CALL, 26) },   /* bl */
	{ 0x7e000000, 0x34000000, SIMULATED(BRANCH, 19) }, /* cbz */
	{ 0x7e000000, 0x36000000, SIMULATED(BRANCH, 14) }, /* tbz */
	{ 0xff000010, 0x54000000, SIMULATED(BRANCH, 19) }, /* b.eq */
	/* bc.eq */
	{ 0xff000010, 0x54000010, REFUSED_JUMP(BRANCH, 19, unknown_branch) },
	/* cbeq ... */
	{ 0x7e000000, 0x74000000, REFUSED_JUMP(BRANCH, 9, unknown_branch) },
	/* retaasppc label */
	{ 0xffc0001f, 0x5500001f, REFUSED(RETURN, authenticates) },
	{ 0xffffffff, 0xd61f03c0, SIMULATED(RETURN, 0) },
	{ 0xfffffc1f, 0xd61f0000, SIMULATED(COMPUTED, 0) },
	{ 0xfffffc1f, 0xd63f0000, SIMULATED(CALL, 0) }, /* blr */
	{ 0xfffffc1f, 0xd65f0000, SIMULATED(RETURN, 0) },
	{ 0xfefff800, 0xd61f0800, REFUSED(COMPUTED, authenticates) }, /* braa */
	{ 0xfefff800, 0xd63f0800, REFUSED(CALL, authenticates) }, /* blraa */
	/* retaa, retaasppc */
	{ 0xfffff800, 0xd65f0800, REFUSED(RETURN, authenticates) },
	{ 0xffe00000, 0xd6800000, REFUSED(STOP, leaves) },
	{ 0xffe00000, 0xd6a00000, REFUSED(STOP, leaves) },

	/* exceptions: the second one is what compilers end a program with, and
	 * others a program may go on after */
	{ 0xffe0001f, 0xd4200000, REFUSED(NEXT, breakpoint) },
	{ 0xffe0001f, 0xd4400000, REFUSED(NEXT, trap) },
	{ 0xffe00000, 0xd4a00000, REFUSED(NEXT, trap) },
	{ 0xff000000, 0xd4000000, REFUSED(NEXT, leaves) },

	/* hints: those that may be stepped, and the rest */
	{ 0xffffffff, 0xd503201f, STEPPED },			/* nop */
	{ 0xffffffff, 0xd50320ff, STEPPED },			/* xpaclri */
	{ 0xffffffbf, 0xd503211f, STEPPED },			/* pacia1716 */
	{ 0xffffff9f, 0xd503231f, STEPPED },			/* paciasp */
	{ 0xffffff3f, 0xd503241f, STEPPED },			/* bti */
	{ 0xfffff01f, 0xd503201f,
	  REFUSED(NEXT, "is a hint that the kernel doesn't step") },

	/* system registers and instructions */
	{ 0xfff8f01f, 0xd500401f,
	  REFUSED(NEXT, "changes the state of the processor") },
	{ 0xfff00000, 0xd5100000, REFUSED(NEXT, "writes a system register") },
	{ 0xffffffe0, 0xd53b4220,
	  REFUSED(NEXT, "reads the interrupt mask, which a "
		  "probe changes") },
	{ 0xffdfff80, 0xd50b7700, REFUSED(NEXT, control_stack) },
	{ 0xffffffe0, 0xd5233060,	/* tstart */
	  REFUSED(NEXT, "begins a transaction, which a probe would end") },
	{ 0xffc00000, 0xd5000000, STEPPED },
	{ 0x1c000000, 0x14000000,
	  REFUSED(NEXT, "is a branch or a system instruction "
		  "that the kernel doesn't know") },

	/* what depends on its own address */
	{ 0x1f000000, 0x10000000, SIMULATED(NEXT, 0) }, /* adr */
	{ 0xbf000000, 0x18000000, ARCH_FLOW_NEXT, 0,	/* ldr */
	  TDF_COST_EMULATED, REFUSED_USER, literal },
	{ 0xff000000, 0x98000000, ARCH_FLOW_NEXT, 0,	/* ldrsw */
	  TDF_COST_EMULATED, REFUSED_USER, literal },
	/* prfm; of vector registers */
	{ 0x3b000000, 0x18000000, REFUSED(NEXT, literal) },
	/* paciasppc, autiasppc ... */
	{ 0xffff83ff, 0xdac183fe, REFUSED(NEXT, signs_pc) },
	{ 0xffc0001f, 0xf380001f, REFUSED(NEXT, signs_pc) },

	/* what must be done in one go */
	{ 0x3e800000, 0x08000000, REFUSED(NEXT, exclusive) },
	{ 0x3b200c00, 0x19000400,
	  REFUSED(NEXT, "is a part of copying or filling memory, which a "
		  "probe would tear from the others") },

	/* permanently undefined */
	{ 0xffff0000, 0x00000000, REFUSED(STOP, trap) },
};

static const struct a64_insn_class other = { 0, 0, STEPPED };

enum { HINT_XPACLRI = 0x07, HINT_AUTIASP = 0x1d, HINT_AUTIBSP = 0x1f };

static bool insn_is_hint(uint32_t word)
{
	return (word & 0xfffff01f) == 0xd503201f;
}

enum { A64_FP = 29, A64_SP = 31 };

/* A function gives them back as it found them (aapcs64 6.1.1, 6.1.2). */
static bool register_is_saved(unsigned int number, bool vector)
{
	return vector ? number >= 8 && number <= 15 :
			number >= 19 && number <= 30;
}

/* ldp and ldr of such registers from the frame */
static bool insn_restores(uint32_t word)
{
	bool vector = word >> 26 & 1;
	unsigned int size = word >> 30;
	unsigned int base = word >> 5 & 31;
	unsigned int first = word & 31, second = word >> 10 & 31;

	if (word == 0xf85f8e5e)		/* ldr x30, [x18, #-8]! */
		return true;
	if (base != A64_SP && base != A64_FP)
		return false;
	if (!register_is_saved(first, vector))
		return false;
	if ((word & 0x3a400000) == 0x28400000)	/* ldp */
		return size == (vector ? 1 : 2) &&
		       register_is_saved(second, vector);
	if (size != 3)
		return false;
	return (word & 0x3bc00000) == 0x39400000 ||	/* ldr, offset */
	       (word & 0x3be00c00) == 0x38400400;	/* after it */
}

static bool a64_insn_is_epilogue(uint32_t word)
{
	unsigned int to = word & 31, from = word >> 5 & 31;
	unsigned int hint = word >> 5 & 0x7f;

	if (insn_is_hint(word))
		return hint == HINT_AUTIASP || hint == HINT_AUTIBSP;
	if (insn_restores(word))
		return true;
	if (to != A64_SP || (from != A64_SP && from != A64_FP))
		return false;
	if ((word & 0xff800000) == 0x91000000)		/* add, number */
		return true;
	if ((word & 0xff800000) == 0xd1000000)		/* sub, number */
		return from == A64_FP;
	return (word & 0xffe00000) == 0x8b200000;	/* add, register */
}

static int a64_insn_decode(const struct arch *arch, const uint8_t *code,
			   size_t size, struct arch_insn *insn)
{
	const struct a64_insn_class *class = NULL;
	uint32_t word, group, hint;

	if (size < sizeof(word))
		return -EINVAL;
	word = a64_word(code);
	for (size_t i = 0; !class && i < COUNT(classes); i++)
		if ((word & classes[i].mask) == classes[i].value)
			class = &classes[i];

	/* Nothing has this encoding: A64 has no group of instructions there. */
	group = word >> 25 & 0xf;
	if (!class && (group == 1 || group == 3 || (!group && word >> 31 == 0)))
		return -EINVAL;
	if (!class)
		class = &other;

	insn->length = sizeof(word);
	insn->flow = class->flow;
	/* brk as compilers have it where a program can't go on: 1000 of gcc and
	 * 1 of clang. The kernel goes on after others (WARN() and the
	 * sanitizers). */
	if (word == 0xd4207d00 || word == 0xd4200020)
		insn->flow = ARCH_FLOW_STOP;
	if (class->field)
		insn->jump = a64_signed(word, class->field == 26 ? 0 : 5,
					class->field) * 4;
	insn->cost = class->cost;
	insn->epilogue = a64_insn_is_epilogue(word);

	/* Hints of pointer authentication change a register, others nothing;
	 * brk and udf are never come to. */
	hint = word >> 5 & 0x7f;
	if (insn_is_hint(word))
		insn->padding = !(hint == HINT_XPACLRI ||
				  (hint >= 0x08 && hint <= 0x0e &&
				   !(hint & 1)) ||
				  (hint >= 0x18 && hint <= 0x1f) ||
				  hint == 0x27 || hint == 0x28);
	else
		insn->padding = (word & 0xffe0001f) == 0xd4200000 ||
				!(word & 0xffff0000);
	insn->refused = class->refusal == REFUSED_ALL;
	insn->user_refused = class->refusal != REFUSED_NOT;
	insn->why = class->why;
	if ((word & 0xfe000000) == 0xd6000000 &&	/* br, blr */
	    (insn->flow == ARCH_FLOW_CALL || insn->flow == ARCH_FLOW_COMPUTED))
		insn->target = (word >> 5 & 31) + 1;
	return 0;
}

/* As far back as the kernel looks: MAX_ATOMIC_CONTEXT_SIZE of
 * arch/arm64/include/asm/kprobes.h. */
#define HELD_MAX	32

/*
 * After an exclusive load the processor watches what it has read, up to the
 * exclusive store: a probe's exception ends that, the store fails, and the
 * program begins again, for ever. Arm ARM, B2.12; the kernel asks bits that
 * ldar, stlr and their like have, too (is_probed_address_atomic()).
 */
static const char *a64_insn_held(const uint8_t *code, size_t at, bool user)
{
	for (size_t i = 0; i < HELD_MAX && at >= 4; i++) {
		uint32_t word = a64_word(code + (at -= 4));
		bool watched = !user || (word & 0x3f800000) == 0x08000000;

		if (user && (word & 0xfffff0ff) == 0xd503305f)	/* clrex */
			return NULL;
		if (watched && (word & 0x3f400000) == 0x08000000)
			return NULL;
		if (watched && (word & 0x3f400000) == 0x08400000)
			return "follows an exclusive load, whose store a "
			       "probe would make fail";
	}
	return NULL;
}

static const struct arch_register registers[] = {
#define RAS_REG(reg, size, dw, regs_offset, reg_kind)			\
	{ .name = #reg, .bytes = size, .dwarf = dw,			\
	  .pt_regs = regs_offset, .kind = ARCH_##reg_kind },
#include <rastrace/arch-a64.def>
#undef RAS_REG
};

static const struct arch_bank banks[] = { { 64, 32, 0, "v" }, { 0 } };

/* aaelf64 5.7.4 to 5.7.8, as far as kernel modules have them
 * (arch/arm64/kernel/module.c) */
#define DATA(name, size, from_here)					\
	{ R_AARCH64_##name, { .bytes = size, .relative = from_here } }
/* the number's bits [low, low + width) at bit `where` of an instruction */
#define FIELD(name, from_here, low, width, where)			\
	{ R_AARCH64_##name, { .bytes = 4, .relative = from_here,	\
			      .first = low, .count = width, .at = where } }
/* of a jump: the distance's bits from 2 on */
#define JUMP(name, width, where)					\
	{ R_AARCH64_##name, { .bytes = 4, .relative = true, .clamps = true, \
			      .first = 2, .count = width, .at = where } }
/* adr, adrp: the lowest two bits have a field of their own (Arm ARM C6.2.12) */
#define ADR(name, round, low)						\
	{ R_AARCH64_##name, { .bytes = 4, .relative = true,		\
			      .pages = round, .first = low, .count = 21,	\
			      .at = 5, .low_at = 29 } }

static const struct arch_object_relocation relocations[] = {
	{ R_AARCH64_NONE, { 0 } },
	{ 256, { 0 } },		/* R_AARCH64_NONE of early tools */
	DATA(ABS64, 8, false),
	DATA(ABS32, 4, false),
	DATA(ABS16, 2, false),
	DATA(PREL64, 8, true),
	DATA(PREL32, 4, true),
	DATA(PREL16, 2, true),
	{ 314, { .bytes = 4, .relative = true } },	/* R_AARCH64_PLT32 */
	FIELD(MOVW_UABS_G0, false, 0, 16, 5),
	FIELD(MOVW_UABS_G0_NC, false, 0, 16, 5),
	FIELD(MOVW_UABS_G1, false, 16, 16, 5),
	FIELD(MOVW_UABS_G1_NC, false, 16, 16, 5),
	FIELD(MOVW_UABS_G2, false, 32, 16, 5),
	FIELD(MOVW_UABS_G2_NC, false, 32, 16, 5),
	FIELD(MOVW_UABS_G3, false, 48, 16, 5),
	FIELD(MOVW_SABS_G0, false, 0, 16, 5),
	FIELD(MOVW_SABS_G1, false, 16, 16, 5),
	FIELD(MOVW_SABS_G2, false, 32, 16, 5),
	FIELD(MOVW_PREL_G0, true, 0, 16, 5),
	FIELD(MOVW_PREL_G0_NC, true, 0, 16, 5),
	FIELD(MOVW_PREL_G1, true, 16, 16, 5),
	FIELD(MOVW_PREL_G1_NC, true, 16, 16, 5),
	FIELD(MOVW_PREL_G2, true, 32, 16, 5),
	FIELD(MOVW_PREL_G2_NC, true, 32, 16, 5),
	FIELD(MOVW_PREL_G3, true, 48, 16, 5),
	FIELD(LD_PREL_LO19, true, 2, 19, 5),
	ADR(ADR_PREL_LO21, false, 0),
	ADR(ADR_PREL_PG_HI21, true, 12),
	ADR(ADR_PREL_PG_HI21_NC, true, 12),
	FIELD(ADD_ABS_LO12_NC, false, 0, 12, 10),
	FIELD(LDST8_ABS_LO12_NC, false, 0, 12, 10),
	FIELD(LDST16_ABS_LO12_NC, false, 1, 11, 10),
	FIELD(LDST32_ABS_LO12_NC, false, 2, 10, 10),
	FIELD(LDST64_ABS_LO12_NC, false, 3, 9, 10),
	FIELD(LDST128_ABS_LO12_NC, false, 4, 8, 10),
	JUMP(TSTBR14, 14, 5),
	JUMP(CONDBR19, 19, 5),
	JUMP(JUMP26, 26, 0),
	JUMP(CALL26, 26, 0),
};

const struct arch arch_aarch64 = {
	.name = "AArch64", .others = { "arm64" },
	.machine = EM_AARCH64, .elf_class = ELFCLASS64,
	.registers = registers,
	.register_count = COUNT(registers),
	.ip = 32, .flags = 40, .stack = 31, .frame = 29, .thread = 36,
	.thread_header = 16,
	.slots = { .address = R_AARCH64_GLOB_DAT,
		   .distance = R_AARCH64_TLS_TPREL,
		   .descriptor = R_AARCH64_TLSDESC },
	.marks = "xdv",
	/* the fewest bits of an address (CONFIG_ARM64_VA_BITS_36) */
	.signed_from = 36,
	.results = { 0, 1 }, .result = "X0", .link = 30, .insn_bytes = 4,
	.rseq_signature = 0xd428bc00,
	.char_is_unsigned = true,
	/* x19 to x29, the stack pointer */
	.kept = 0xbff80000,
	.banks = banks,
	.relocations = relocations, .relocation_count = COUNT(relocations),
	.operand_parse = a64_operand_parse,
	.insn_decode = a64_insn_decode, .insn_held = a64_insn_held,
	.insn_print = a64_insn_print,
	.effect_find = a64_effect_find, .computed_find = a64_computed_find,
	.address_find = a64_address_find,
};
