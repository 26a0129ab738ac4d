// SPDX-License-Identifier: GPL-2.0
/* Relocations of object files (aaelf64 5.7.4 to 5.7.8), as far as kernel
 * modules have them (arch/arm64/kernel/module.c). */
#include "arch_a64.h"

#include <elf.h>

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
/* adr, adrp: the lowest two bits stand for themselves (Arm ARM C6.2.12) */
#define ADR(name, round, low)						\
	{ R_AARCH64_##name, { .bytes = 4, .relative = true,		\
			      .pages = round, .first = low, .count = 21,	\
			      .at = 5, .low_at = 29 } }

static const struct {
	uint32_t type;
	struct arch_relocation relocation;
} known[] = {
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

bool a64_relocation_find(const struct arch *arch, uint32_t type,
			 struct arch_relocation *relocation)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].type != type)
			continue;
		*relocation = known[i].relocation;
		return true;
	}
	return false;
}
