/* SPDX-License-Identifier: GPL-2.0 */
/* A64's instructions and their fields. This needs no other file of the
 * folder. */
#ifndef DEBUG_ARCH_A64_INSN_H
#define DEBUG_ARCH_A64_INSN_H

#include <endian.h>
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

/* Members of struct arch; of these the first one is not asked for anything. */
int a64_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn);
const char *a64_insn_held(const uint8_t *code, size_t at, bool user);

#endif
