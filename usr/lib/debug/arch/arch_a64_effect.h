/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Effects of A64's instructions, by class of encoding (Arm ARM C4.1): which of
 * them write which registers and what memory (arch_a64_effect.c, of
 * loads and stores arch_a64_memory.c), and which values (arch_a64_value.c).
 */
#ifndef TRCUST_ARCH_A64_EFFECT_H
#define TRCUST_ARCH_A64_EFFECT_H

#include "arch_a64.h"

#define A64_LINK	30
#define A64_ZERO	-1	/* register 31 that isn't the stack pointer */

struct a64_insn {
	uint32_t code;
	uint64_t address;
	unsigned int thread;	/* the thread pointer's number */
};

/* DWARF number of the register in the field; 31 is the zero register, or the
 * stack pointer. */
static inline int a64_register(uint32_t code, unsigned int low)
{
	uint32_t number = a64_bits(code, low, 5);

	return number == 31 ? A64_ZERO : (int)number;
}

static inline int a64_register_or_stack(uint32_t code, unsigned int low)
{
	return a64_bits(code, low, 5);
}

/* The number of a logical immediate (Arm ARM DecodeBitMasks); false: it is
 * reserved. */
bool a64_mask_find(uint32_t code, uint64_t *mask);

/* The class's function: false, the encoding is reserved, or what it does isn't
 * known. */
struct a64_class {
	uint32_t mask, code;
	bool (*find)(const struct a64_insn *insn, struct arch_effect *effect);
};

/* They end with a mask of 0. */
extern const struct a64_class a64_immediate_classes[];
extern const struct a64_class a64_register_classes[];
extern const struct a64_class a64_memory_classes[];

/* Values, to be put somewhere. */
struct arch_transfer a64_constant(int64_t number);
struct arch_transfer a64_sum(int reg, int64_t number, unsigned int bytes);

/* The register gets the value; what isn't known with a value of zeros. */
void a64_set(struct arch_effect *effect, int reg, struct arch_transfer value);
void a64_set_unknown(struct arch_effect *effect, int reg);

#endif
