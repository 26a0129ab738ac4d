/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of arch_operations.h on AArch64. */
#ifndef TRCUST_ARCH_A64_H
#define TRCUST_ARCH_A64_H

#include <endian.h>
#include <string.h>
#include "arch_operations.h"

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

bool a64_operand_parse(const struct arch *arch, const char *text, size_t length,
		       struct arch_operand *operand);
int a64_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn);
const char *a64_insn_held(const uint8_t *code, size_t at, bool user);
int a64_insn_print(const struct arch *arch, const uint8_t *code, size_t size,
		   uint64_t address, char *text, size_t text_size);
bool a64_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect);
void a64_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed);
void a64_address_find(const struct arch *arch, const struct arch_code *insns,
		      size_t count, struct arch_address *address);

#endif
