/* SPDX-License-Identifier: GPL-2.0 */
/* Operations of arch_operations.h on AArch64. */
#ifndef TRCUST_ARCH_A64_H
#define TRCUST_ARCH_A64_H

#include "arch_operations.h"

bool a64_operand_parse(const struct arch *arch, const char *text, size_t length,
		       struct arch_operand *operand);
bool a64_relocation_find(const struct arch *arch, uint32_t type,
			 struct arch_relocation *relocation);
int a64_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		    struct arch_insn *insn);
int a64_insn_print(const struct arch *arch, const uint8_t *code, size_t size,
		   uint64_t address, char *text, size_t text_size);
bool a64_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		     uint64_t address, struct arch_effect *effect);
void a64_computed_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_computed *computed);
bool a64_address_find(const struct arch *arch, const struct arch_code *insn,
		      uint64_t *address);

#endif
