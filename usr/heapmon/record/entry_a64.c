// SPDX-License-Identifier: GPL-2.0
/* A64 (Arm ARM, C4.1), as the kernel sorts it for probes
 * (arch/arm64/kernel/probes/decode-insn.c). */
#include "entry.h"

#include <string.h>

#define BTI		0xd503241f	/* of all four kinds */
#define BTI_MASK	0xffffff3f

enum kind { SIMULATED, STEPPED, REFUSED };

/*
 * What becomes of an instruction under a probe: the first of these that it is
 * like. Refused is also what would be stepped and do something else there.
 * trcust has the same with flow and reasons (arch_a64_insn.c there);
 * selftests/heapmon/test_entry.c compares them.
 */
static const struct class {
	uint32_t mask, value;
	enum kind kind;
} classes[] = {
	{ 0x7c000000, 0x14000000, SIMULATED },	/* b, bl */
	{ 0xff000010, 0x54000000, SIMULATED },	/* b.cond */
	{ 0x7c000000, 0x34000000, SIMULATED },	/* cbz, cbnz, tbz, tbnz */
	{ 0xffdffc1f, 0xd61f0000, SIMULATED },	/* br, blr */
	{ 0xfffffc1f, 0xd65f0000, SIMULATED },	/* ret */
	{ 0x1f000000, 0x10000000, SIMULATED },	/* adr, adrp */

	{ BTI_MASK, BTI, STEPPED },
	{ 0xffffffff, 0xd503201f, STEPPED },	/* nop */
	{ 0xffffffff, 0xd50320ff, STEPPED },	/* xpaclri */
	{ 0xffffffbf, 0xd503211f, STEPPED },	/* pacia1716, pacib1716 */
	{ 0xffffff9f, 0xd503231f, STEPPED },	/* paciaz ... pacibsp */
	{ 0xfffff01f, 0xd503201f, REFUSED },	/* other hints */

	{ 0xfff8f01f, 0xd500401f, REFUSED },	/* msr of an immediate */
	{ 0xfff00000, 0xd5100000, REFUSED },	/* msr */
	{ 0xffffffe0, 0xd53b4220, REFUSED },	/* mrs of DAIF */
	{ 0xffdfff80, 0xd50b7700, REFUSED },	/* guarded control stack */
	{ 0xffffffe0, 0xd5233060, REFUSED },	/* tstart */
	{ 0xffc00000, 0xd5000000, STEPPED },	/* other system instructions */
	{ 0x1c000000, 0x14000000, REFUSED },	/* other branches, exceptions */

	{ 0x3b000000, 0x18000000, REFUSED },	/* ldr, prfm of a literal */
	{ 0xffff83ff, 0xdac183fe, REFUSED },	/* paciasppc ... */
	{ 0xffc0001f, 0xf380001f, REFUSED },	/* autiasppc */
	{ 0x3e800000, 0x08000000, REFUSED },	/* exclusives, casp */
	{ 0x3b200c00, 0x19000400, REFUSED },	/* cpyp, setp ... */
	{ 0xffff0000, 0x00000000, REFUSED },	/* udf */
};

static enum kind kind_of(uint32_t insn)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if ((insn & classes[i].mask) == classes[i].value)
			return classes[i].kind;
	return STEPPED;
}

static uint32_t entry_insn_at(const uint8_t *code)
{
	return code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
}

bool entry_read_a64(struct allocator_place *place, const uint8_t *code)
{
	uint32_t insn = entry_insn_at(code);

	if ((insn & BTI_MASK) == BTI &&
	    kind_of(entry_insn_at(code + 4)) == SIMULATED) {
		place->skip = 4;
		insn = entry_insn_at(code + 4);
	}
	place->fast = kind_of(insn) == SIMULATED;
	place->insn_length = 4;
	memcpy(place->insn, code + place->skip, 4);
	return kind_of(insn) != REFUSED;
}
