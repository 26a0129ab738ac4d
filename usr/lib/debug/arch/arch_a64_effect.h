/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of A64's instructions, and what these do. */
#ifndef DEBUG_ARCH_A64_EFFECT_H
#define DEBUG_ARCH_A64_EFFECT_H

#include <endian.h>
#include <string.h>
#include "arch.h"

/* Instructions are little-endian, whatever data is (Arm ARM, B2.6.2). */
static inline uint32_t a64_word(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	return le32toh(word);
}

static inline uint32_t a64_bits(uint32_t code, unsigned int low,
				unsigned int count)
{
	return code >> low & ((1u << count) - 1);
}

static inline bool a64_bit(uint32_t code, unsigned int at)
{
	return code >> at & 1;
}

static inline int64_t a64_signed(uint32_t code, unsigned int low,
				 unsigned int count)
{
	return (int64_t)((uint64_t)code << (64 - low - count)) >> (64 - count);
}

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
