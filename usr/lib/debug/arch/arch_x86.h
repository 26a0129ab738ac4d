/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of arch_operations.h on x86, 64 and 32 bits. */
#ifndef TRCUST_ARCH_X86_H
#define TRCUST_ARCH_X86_H

#include <elf.h>
#include "arch_operations.h"

static inline bool x86_is_wide(const struct arch *arch)
{
	return arch->elf_class == ELFCLASS64;
}

bool x86_operand_parse(const struct arch *arch, const char *text, size_t length,
		       struct arch_operand *operand);
bool x86_relocation_find(const struct arch *arch, uint32_t type,
			 struct arch_relocation *relocation);
int x86_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn);
int x86_insn_print(const struct arch *arch, const uint8_t *code, size_t size,
		   uint64_t address, char *text, size_t text_size);
bool x86_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect);
void x86_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed);
void x86_address_find(const struct arch *arch, const struct arch_code *insns,
		      size_t count, struct arch_address *address);

#endif
