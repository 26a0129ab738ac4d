// SPDX-License-Identifier: GPL-2.0
/* Instructions of AArch64, and which of them the kernel can probe. */
#include "arch_a64_insn.h"

#include <errno.h>
#include <rastrace/tdf.h>

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

int a64_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn)
{
	const struct a64_insn_class *class = NULL;
	uint32_t word, group, hint;

	if (size < sizeof(word))
		return -EINVAL;
	word = a64_word(code);
	for (size_t i = 0; !class && i < sizeof(classes) / sizeof(*classes); i++)
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
const char *a64_insn_held(const uint8_t *code, size_t at, bool user)
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
