// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of AArch64: on which of them a probe may be, what it costs
 * there, where they lead, and their text. What may be probed is something that
 * the kernel takes, and does right.
 */
#include "tap.h"

#include "rastrace/tdf.h"
#include "a64_kernel.h"
#include "lib/debug/arch/arch.h"

enum { FAST = TDF_COST_EMULATED, STEP = TDF_COST_STEPPED, USER = 10, ALL = 11,
       BAD = 12 };

#define NEXT	ARCH_FLOW_NEXT
#define CALL	ARCH_FLOW_CALL
#define BRANCH	ARCH_FLOW_BRANCH
#define JUMP	ARCH_FLOW_JUMP
#define COMPUTED ARCH_FLOW_COMPUTED
#define RETURN	ARCH_FLOW_RETURN
#define STOP	ARCH_FLOW_STOP
#define EPILOGUE true, false
#define PADDING	false, true

/* at address 0x1000 */
static const struct {
	uint32_t word;
	const char *text;
	int expected;
	enum arch_flow flow;
	int64_t jump;
	bool epilogue, padding;
} table[] = {
	/* branches */
	{ 0x14000003, "b 0x100c", FAST, JUMP, 12 },
	{ 0x17ffffff, "b 0xffc", FAST, JUMP, -4 },
	{ 0x16000000, "b 0xfffffffff8001000", FAST, JUMP, -0x8000000 },
	{ 0x94000002, "bl 0x1008", FAST, CALL, 8 },
	{ 0x54000041, "b.ne 0x1008", FAST, BRANCH, 8 },
	{ 0x54ffffe3, "b.cc 0xffc", FAST, BRANCH, -4 },
	{ 0xb4000060, "cbz x0, 0x100c", FAST, BRANCH, 12 },
	{ 0x35ffffe1, "cbnz w1, 0xffc", FAST, BRANCH, -4 },
	{ 0x36180043, "tbz w3, #3, 0x1008", FAST, BRANCH, 8 },
	{ 0xb7fffff5, "tbnz x21, #63, 0xffc", FAST, BRANCH, -4 },
	{ 0xd61f0200, "br x16", FAST, COMPUTED },
	{ 0xd61f03c0, "br x30", FAST, RETURN },
	{ 0xd63f0060, "blr x3", FAST, CALL },
	{ 0xd65f03c0, "ret", FAST, RETURN },
	{ 0xd65f0220, "ret x17", FAST, RETURN },
	{ 0xd65f0bff, "retaa", ALL, RETURN },
	{ 0xd65f0fff, "retab", ALL, RETURN },
	{ 0xd71f0a11, "braa x16, x17", ALL, COMPUTED },
	{ 0xd61f0c1f, "brabz x0", ALL, COMPUTED },
	{ 0xd73f0c3f, "blrab x1, sp", ALL, CALL },
	{ 0xd63f081f, "blraaz x0", ALL, CALL },
	{ 0xd65f0be3, ".inst 0xd65f0be3", ALL, RETURN },  /* retaasppc x3 */
	{ 0x5500005f, ".inst 0x5500005f", ALL, RETURN },  /* retaasppc */
	{ 0x54000051, ".inst 0x54000051", ALL, BRANCH, 8 },	/* bc.ne */
	{ 0x74210040, ".inst 0x74210040", ALL, BRANCH, 8 },	/* cbhs */
	{ 0xd69f03e0, "eret", ALL, STOP },
	{ 0xd69f0bff, "eretaa", ALL, STOP },
	{ 0xd6bf03e0, "drps", ALL, STOP },

	/* exceptions */
	{ 0xd4200000, "brk #0x0", ALL, NEXT, 0, PADDING },
	{ 0xd4210000, "brk #0x800", ALL, NEXT, 0, PADDING },
	{ 0xd4207d00, "brk #0x3e8", ALL, STOP, 0, PADDING },
	{ 0xd4200020, "brk #0x1", ALL, STOP, 0, PADDING },
	{ 0xd4400000, "hlt #0x0", ALL, NEXT },
	{ 0xd4000001, "svc #0x0", ALL, NEXT },
	{ 0xd4000002, "hvc #0x0", ALL, NEXT },
	{ 0xd4000003, "smc #0x0", ALL, NEXT },
	{ 0x00000000, "udf #0", ALL, STOP, 0, PADDING },
	{ 0x0000002a, "udf #42", ALL, STOP, 0, PADDING },

	/* hints */
	{ 0xd503201f, "nop", STEP, NEXT, 0, PADDING },
	{ 0xd503241f, "bti", STEP, NEXT, 0, PADDING },
	{ 0xd503245f, "bti c", STEP, NEXT, 0, PADDING },
	{ 0xd503249f, "bti j", STEP, NEXT, 0, PADDING },
	{ 0xd50324df, "bti jc", STEP, NEXT, 0, PADDING },
	{ 0xd503233f, "paciasp", STEP },
	{ 0xd503237f, "pacibsp", STEP },
	{ 0xd503231f, "paciaz", STEP },
	{ 0xd503211f, "pacia1716", STEP },
	{ 0xd503215f, "pacib1716", STEP },
	{ 0xd50320ff, "xpaclri", STEP },
	{ 0xd50323bf, "autiasp", ALL, NEXT, 0, EPILOGUE },
	{ 0xd50323ff, "autibsp", ALL, NEXT, 0, EPILOGUE },
	{ 0xd503239f, "autiaz", ALL },
	{ 0xd503219f, "autia1716", ALL },
	{ 0xd503203f, "yield", ALL, NEXT, 0, PADDING },
	{ 0xd503205f, "wfe", ALL, NEXT, 0, PADDING },
	{ 0xd503207f, "wfi", ALL, NEXT, 0, PADDING },
	{ 0xd503209f, "sev", ALL, NEXT, 0, PADDING },
	{ 0xd503221f, "esb", ALL, NEXT, 0, PADDING },
	{ 0xd503229f, "csdb", ALL, NEXT, 0, PADDING },
	{ 0xd503251f, "hint #0x28", ALL },		/* chkfeat */

	/* system */
	{ 0xd53bd040, "mrs x0, tpidr_el0", STEP },
	{ 0xd53b4220, "mrs x0, daif", ALL },
	{ 0xd51bd040, "msr tpidr_el0, x0", ALL },
	{ 0xd50342df, "msr daifset, #0x2", ALL },
	{ 0xd500401f, ".inst 0xd500401f", ALL },	/* cfinv */
	{ 0xd5033bbf, "dmb ish", STEP },
	{ 0xd5033fdf, "isb", STEP },
	{ 0xd503305f, "clrex #0x0", STEP },
	{ 0xd50b7420, "dc zva, x0", STEP },
	{ 0xd52b7720, "sysl x0, #3, C7, C7, #1", ALL },	/* gcspopm */
	{ 0xd5233060, "mrs x0, s0_3_c3_c0_3", ALL },	/* tstart */

	/* what depends on its own address */
	{ 0x10000040, "adr x0, 0x1008", FAST },
	{ 0xb0000000, "adrp x0, 0x2000", FAST },
	{ 0x58000040, "ldr x0, 0x1008", USER },
	{ 0x18000040, "ldr w0, 0x1008", USER },
	{ 0x98000040, "ldrsw x0, 0x1008", USER },
	{ 0xd8000040, "prfm pldl1keep, 0x1008", ALL },
	{ 0x1c000040, "ldr s0, 0x1008", ALL },
	{ 0x5c000040, "ldr d0, 0x1008", ALL },
	{ 0x9c000040, "ldr q0, 0x1008", ALL },
	{ 0xdac1a3fe, ".inst 0xdac1a3fe", ALL },	/* paciasppc */
	{ 0xf380005f, ".inst 0xf380005f", ALL },	/* autiasppc */

	/* what must be done in one go */
	{ 0xc85f7c20, "ldxr x0, [x1]", ALL },
	{ 0x885ffc20, "ldaxr w0, [x1]", ALL },
	{ 0xc8027c20, "stxr w2, x0, [x1]", ALL },
	{ 0xc87f0440, "ldxp x0, x1, [x2]", ALL },
	{ 0x48207c82, "casp x0, x1, x2, x3, [x4]", ALL },
	{ 0x1d010440, ".inst 0x1d010440", ALL },	/* cpyfm */

	/* atomic ones that are a single access */
	{ 0xc8dffc20, "ldar x0, [x1]", STEP },
	{ 0xc89ffc20, "stlr x0, [x1]", STEP },
	{ 0x88a17c02, "cas w1, w2, [x0]", STEP },
	{ 0x48e1fc02, "casalh w1, w2, [x0]", STEP },
	{ 0xb8e10002, "ldaddal w1, w2, [x0]", STEP },
	{ 0x3821001f, "staddb w1, [x0]", STEP },
	{ 0xf8a18002, "swpa x1, x2, [x0]", STEP },
	{ 0xf8bfc020, "ldapr x0, [x1]", STEP },

	/* the frame */
	{ 0xa9be7bfd, "stp x29, x30, [sp, #-32]!", STEP },
	{ 0xa8c27bfd, "ldp x29, x30, [sp], #32", STEP, NEXT, 0, EPILOGUE },
	{ 0xa94153f3, "ldp x19, x20, [sp, #16]", STEP, NEXT, 0, EPILOGUE },
	{ 0x6d4127e8, "ldp d8, d9, [sp, #16]", STEP, NEXT, 0, EPILOGUE },
	{ 0xf84107fe, "ldr x30, [sp], #16", STEP, NEXT, 0, EPILOGUE },
	{ 0xf9400bf3, "ldr x19, [sp, #16]", STEP, NEXT, 0, EPILOGUE },
	{ 0x910083ff, "add sp, sp, #0x20", STEP, NEXT, 0, EPILOGUE },
	{ 0x8b3063ff, "add sp, sp, x16", STEP, NEXT, 0, EPILOGUE },
	{ 0x910003bf, "mov sp, x29", STEP, NEXT, 0, EPILOGUE },
	{ 0xd10043bf, "sub sp, x29, #0x10", STEP, NEXT, 0, EPILOGUE },
	{ 0xf85f8e5e, "ldr x30, [x18, #-8]!", STEP, NEXT, 0, EPILOGUE },
	{ 0xd10083ff, "sub sp, sp, #0x20", STEP },
	{ 0x910003fd, "mov x29, sp", STEP },
	{ 0xf9400be0, "ldr x0, [sp, #16]", STEP },
	{ 0xa94107e0, "ldp x0, x1, [sp, #16]", STEP },
	{ 0xf9400013, "ldr x19, [x0]", STEP },
	{ 0xb9400ff3, "ldr w19, [sp, #12]", STEP },
	{ 0x6d4107e0, "ldp d0, d1, [sp, #16]", STEP },
	{ 0xa90153f3, "stp x19, x20, [sp, #16]", STEP },

	/* text */
	{ 0xaa0003e0, "mov x0, x0", STEP },
	{ 0x52800020, "mov w0, #0x1", STEP },
	{ 0x92800000, "mov x0, #0xffffffffffffffff", STEP },
	{ 0x12800000, "mov w0, #0xffffffff", STEP },
	{ 0x129fffe0, "movn w0, #0xffff", STEP },
	{ 0xd2a24680, "mov x0, #0x12340000", STEP },
	{ 0xd2a00000, "movz x0, #0x0, lsl #16", STEP },
	{ 0xf2c00020, "movk x0, #0x1, lsl #32", STEP },
	{ 0xb27f03e0, "orr x0, xzr, #0x2", STEP },
	{ 0xb200c3e0, "mov x0, #0x101010101010101", STEP },
	{ 0x91401020, "add x0, x1, #0x4, lsl #12", STEP },
	{ 0x8b040c20, "add x0, x1, x4, lsl #3", STEP },
	{ 0x7a418001, "ccmp w0, w1, #0x1, hi", STEP },
	{ 0xfa453820, "ccmp x1, #0x5, #0x0, cc", STEP },
	{ 0x9a9f37e0, "cset x0, cs", STEP },
	{ 0xd3607c00, "lsl x0, x0, #32", STEP },
	{ 0x33041c20, "bfxil w0, w1, #4, #4", STEP },
	{ 0x331c0fe0, "bfc w0, #4, #4", STEP },
	{ 0xb8647820, "ldr w0, [x1, x4, lsl #2]", STEP },
	{ 0xb864d820, "ldr w0, [x1, w4, sxtw #2]", STEP },
	{ 0xf85f0422, "ldr x2, [x1], #-16", STEP },
	{ 0xf98007e0, "prfm pldl1keep, [sp, #8]", STEP },
	{ 0x1e6e1000, "fmov d0, #1.000000000000000000e+00", STEP },
	{ 0x1e602008, "fcmp d0, #0.0", STEP },
	{ 0x6f00e400, "movi v0.2d, #0x0", STEP },
	{ 0x4cdf2020, "ld1 {v0.16b-v3.16b}, [x1], #64", STEP },
	{ 0x4c40a020, "ld1 {v0.16b, v1.16b}, [x1]", STEP },
	{ 0x6e0c0420, "mov v0.s[1], v1.s[0]", STEP },
	{ 0x0420e3e7, ".inst 0x0420e3e7", STEP },	/* cntb: SVE */
	{ 0xdac10020, "pacia x0, x1", STEP },
	{ 0xdac123e0, "paciza x0", STEP },
	{ 0x9ac33041, "pacga x1, x2, x3", STEP },
	{ 0xf8201c20, "ldraa x0, [x1, #8]!", STEP },

	{ 0x02000000, "none", BAD },
	{ 0x06123456, "none", BAD },
	{ 0x00010000, "none", BAD },
};

static int outcome(const struct arch_insn *insn, int code)
{
	if (code)
		return BAD;
	if (insn->refused)
		return ALL;
	return insn->user_refused ? USER : insn->cost;
}

static void test_row(size_t i)
{
	const uint8_t *code = (const uint8_t *)&table[i].word;
	struct arch_insn insn;
	char text[80] = "none";
	int got = outcome(&insn,
			  arch_insn_decode(&arch_aarch64, code, 4, &insn));

	arch_insn_print(&arch_aarch64, code, 4, 0x1000, text, sizeof(text));
	if (!tap_ok(got == table[i].expected &&
		    !strcmp(text, table[i].text),
		    "%08x %s", table[i].word, table[i].text))
		tap_diag("got %d (expected %d), %s", got, table[i].expected,
			 text);
	if (got == BAD)
		return;
	if (insn.flow != table[i].flow || insn.jump != table[i].jump ||
	    insn.epilogue != table[i].epilogue ||
	    insn.padding != table[i].padding || insn.length != 4)
		tap_ok(false, "%s: flow %d to %lld, epilogue %d, padding %d",
		       text, insn.flow, (long long)insn.jump, insn.epilogue,
		       insn.padding);
}

/* Refused though some kernels take it: they would corrupt it. */
static bool is_spoiled(uint32_t word)
{
	return (word & 0xff000010) == 0x54000010 ||	/* bc.eq */
	       (word & 0x1c000000) == 0x14000000 ||	/* unknown system */
	       (word & 0x3f000000) == 0x1c000000 ||	/* ldr of vectors */
	       (word & 0xffffffe0) == 0xdac1a3e0 ||	/* paciasppc */
	       (word & 0xffff83ff) == 0xdac183fe ||
	       (word & 0xffc0001f) == 0xf380001f ||
	       (word & 0x3b200c00) == 0x19000400 ||	/* mops */
	       (word & 0x3f800000) == 0x09000000 ||	/* ldtxr */
	       (word & 0xffff0000) == 0;		/* udf */
}

static bool agrees(uint32_t word)
{
	enum kernel_verdict user = kernel_decode(word, false);
	enum kernel_verdict kernel = kernel_decode(word, true);
	struct arch_insn insn;

	if (arch_insn_decode(&arch_aarch64, (const uint8_t *)&word, 4, &insn))
		return true;
	if (insn.user_refused != (user == KERNEL_REJECTED) &&
	    !(insn.user_refused && is_spoiled(word)))
		return false;
	if (insn.refused != (kernel == KERNEL_REJECTED) &&
	    !(insn.refused && is_spoiled(word)))
		return false;
	return insn.refused ||
	       (insn.cost == FAST) == (kernel == KERNEL_SIMULATED);
}

/* A word of each 16 bits above, with several below */
static void test_kernel(void)
{
	size_t wrong = 0;

	for (uint64_t word = 0; word <= UINT32_MAX; word += 1021) {
		if (agrees(word) || wrong++ > 10)
			continue;
		tap_diag("%08x", (uint32_t)word);
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		for (unsigned int bit = 0; bit < 32; bit++)
			if (!agrees(table[i].word ^ 1U << bit) && wrong++ < 10)
				tap_diag("%08x", table[i].word ^ 1U << bit);
	tap_ok(!wrong, "refused and cheap as the kernel has it");
}

#define LDXR	0xc85f7c20
#define STXR	0xc8027c20
#define LDAR	0xc8dffc20
#define STLR	0xc89ffc20
#define CLREX	0xd503305f
#define ADD	0x91000400

/* May a probe be on the last one? */
static const struct {
	const char *name;
	uint32_t words[5];
	bool user, kernel;
} held[] = {
	{ "between an exclusive load and its store", { LDXR, ADD, ADD },
	  false, false },
	{ "after the store", { LDXR, ADD, STXR, ADD }, true, true },
	{ "after clrex, which kprobes don't look for",
	  { LDXR, ADD, CLREX, ADD }, true, false },
	{ "after ldar, which kprobes take for an exclusive load",
	  { LDAR, ADD, ADD }, true, false },
	{ "after stlr", { LDAR, ADD, STLR, ADD }, true, true },
	{ "an exclusive load before stlr", { LDXR, STLR, ADD }, false, true },
	{ "first of its function", { ADD }, true, true },
};

static void test_held(void)
{
	uint32_t far[34] = { LDXR };

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		const uint8_t *code = (const uint8_t *)held[i].words;
		size_t at = 0;

		while (at < 4 && held[i].words[at + 1])
			at++;
		tap_ok(!arch_insn_held(&arch_aarch64, code, at * 4, true) ==
			       held[i].user &&
		       !arch_insn_held(&arch_aarch64, code, at * 4, false) ==
			       held[i].kernel, "%s", held[i].name);
	}
	for (size_t i = 1; i < 34; i++)
		far[i] = ADD;
	tap_ok(arch_insn_held(&arch_aarch64, (uint8_t *)far, 32 * 4, true) &&
	       !arch_insn_held(&arch_aarch64, (uint8_t *)far, 33 * 4, true),
	       "as far back as the kernel looks");
}

static void test_short(void)
{
	static const uint8_t ret[] = { 0xc0, 0x03, 0x5f, 0xd6 };
	struct arch_insn insn;
	char text[4];

	for (size_t i = 0; i < 4; i++)
		tap_ok(arch_insn_decode(&arch_aarch64, ret, i, &insn) &&
		       arch_insn_print(&arch_aarch64, ret, i, 0, text,
				       sizeof(text)), "%zu bytes of ret", i);
	tap_ok(!arch_insn_print(&arch_aarch64, ret, 4, 0, text, 4) &&
	       arch_insn_print(&arch_aarch64, ret, 4, 0, text, 3) &&
	       arch_insn_print(&arch_aarch64, ret, 4, 0, text, 0),
	       "text with and without room");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		test_row(i);
	test_kernel();
	test_held();
	test_short();
	return tap_done();
}
