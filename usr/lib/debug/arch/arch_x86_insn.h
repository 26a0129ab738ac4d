/* SPDX-License-Identifier: GPL-2.0 */
/* Instructions of x86, 64 and 32 bits. */
#ifndef DEBUG_ARCH_X86_INSN_H
#define DEBUG_ARCH_X86_INSN_H

#include <elf.h>
#include <Zydis/Zydis.h>
#include "arch.h"

static inline bool x86_is_wide(const struct arch *arch)
{
	return arch->elf_class == ELFCLASS64;
}

struct x86_insn {
	ZydisDecodedInstruction zi;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address;
	bool wide;		/* of a 64-bit module */
	struct arch_effect *effect;	/* while it is found */
};

/* The instruction with its operands; false: it isn't valid. */
bool x86_decode(const struct arch *arch, const uint8_t *code, size_t size,
		uint64_t address, struct x86_insn *insn);
/* Members of struct arch */
int x86_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn);
void x86_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed);
void x86_address_find(const struct arch *arch, const struct arch_code *insns,
		      size_t count, struct arch_address *address);

#endif
