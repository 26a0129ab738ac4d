// SPDX-License-Identifier: GPL-2.0
/*
 * What heapmon takes the first instruction of an allocator's function for is
 * what trcust takes it for: any word of A64 has a probe, and is fast, for both
 * or for neither.
 */
#include <rastrace/tdf.h>
#include <stdlib.h>
#include "tap.h"
#include "heapmon/record/allocator.h"
#include "lib/debug/arch/arch.h"

#define WORDS	2000000

static bool is_same(uint32_t word)
{
	uint8_t code[ENTRY_CODE] = {
		word, word >> 8, word >> 16, word >> 24,
	};
	struct allocator_place place = { 0 };
	struct arch_insn insn;
	bool probe = entry_read_a64(&place, code);

	if (arch_insn_decode(&arch_aarch64, code, 4, &insn))
		return true;
	if (probe == !insn.user_refused &&
	    (!probe || place.fast == (insn.cost == TDF_COST_EMULATED)))
		return true;
	tap_diag("%08x: probe %d fast %d, trcust: refused %d cost %d", word,
	       probe, place.fast, insn.user_refused, insn.cost);
	return false;
}

/* Words of all groups, and more of the one of branches, hints and system
 * instructions, whose classes are small. */
int main(void)
{
	unsigned long others = 0;

	tap_start();
	srandom(1);
	for (int i = 0; i < WORDS && others < 10; i++)
		others += !is_same((uint32_t)random() << 16 ^
				   (uint32_t)random());
	tap_ok(!others, "words as they come");
	others = 0;
	for (uint32_t top = 0xd400; top < 0xd700 && others < 10; top++)
		for (uint32_t low = 0; low < 0x10000 && others < 10; low += 31)
			others += !is_same(top << 16 | low);
	tap_ok(!others, "branches and system instructions");
	return tap_done();
}
