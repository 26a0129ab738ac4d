// SPDX-License-Identifier: GPL-2.0
/* What instructions of AArch64 do to registers and memory. */
#include "arch_a64.h"


bool a64_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect)
{
	return false;
}
