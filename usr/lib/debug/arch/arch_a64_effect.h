/* SPDX-License-Identifier: GPL-2.0 */
/* What A64's instructions do. */
#ifndef DEBUG_ARCH_A64_EFFECT_H
#define DEBUG_ARCH_A64_EFFECT_H

#include "arch_a64_insn.h"

#define A64_ZERO	-1	/* register 31 that isn't the stack pointer */

/* DWARF number of the register in the field, which isn't the stack pointer */
static inline int a64_register(uint32_t code, unsigned int low)
{
	uint32_t number = a64_bits(code, low, 5);

	return number == 31 ? A64_ZERO : (int)number;
}

/* Member effect_find of struct arch */
bool a64_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect);
/* The number of a logical immediate (Arm ARM DecodeBitMasks); false: it is
 * reserved. */
bool a64_mask_find(uint32_t code, uint64_t *mask);

#endif
