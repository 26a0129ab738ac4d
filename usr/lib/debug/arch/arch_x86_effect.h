/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions of x86 with their operands, for the files that tell effects. */
#ifndef TRCUST_ARCH_X86_EFFECT_H
#define TRCUST_ARCH_X86_EFFECT_H

#include <Zydis/Zydis.h>
#include "arch_x86.h"

struct x86_insn {
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address;
	bool wide;		/* of a 64-bit module */
};

/* DWARF number of the general register that it is, or is a part of; -1. */
int x86_register_number(const struct x86_insn *insn, ZydisRegister reg);
struct arch_memory x86_memory(const struct x86_insn *insn,
			      const ZydisDecodedOperand *operand);
/* Bytes that the instruction pushes (negative) or pops, but for what `ret`
 * drops. */
int x86_stack_bytes(const struct x86_insn *insn);

/* arch_x86_value.c: fill in what the transfers' values come from. */
void x86_value_find(const struct x86_insn *insn, struct arch_effect *effect);

#endif
