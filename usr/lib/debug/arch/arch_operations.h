/* SPDX-License-Identifier: GPL-2.0 */
/* What the functions of arch.h come to, by processor. */
#ifndef TRCUST_ARCH_OPERATIONS_H
#define TRCUST_ARCH_OPERATIONS_H

#include "arch.h"

struct arch_operations {
	/* the name of a DWARF register that isn't in arch->registers */
	bool (*bank_print)(const struct arch *arch, unsigned int number,
			   char *text, size_t size);
	bool (*register_is_kept)(const struct arch *arch, unsigned int number);
	bool (*operand_parse)(const struct arch *arch, const char *text,
			      size_t length, struct arch_operand *operand);
	bool (*relocation_find)(const struct arch *arch, uint32_t type,
				struct arch_relocation *relocation);
	int (*insn_decode)(const struct arch *arch, const uint8_t *code,
			   size_t size, struct arch_insn *insn);
	/* NULL: none is refused for those before it */
	const char *(*insn_held)(const uint8_t *code, size_t at, bool user);
	int (*insn_print)(const struct arch *arch, const uint8_t *code,
			  size_t size, uint64_t address, char *text,
			  size_t text_size);
	bool (*effect_find)(const struct arch *arch, const uint8_t *code,
			    size_t size, uint64_t address,
			    struct arch_effect *effect);
	void (*computed_find)(const struct arch *arch,
			      const struct arch_code *insns, size_t count,
			      struct arch_computed *computed);
	void (*address_find)(const struct arch *arch,
			     const struct arch_code *insns, size_t count,
			     struct arch_address *address);
	const char *return_thunk;	/* jumping there is returning; NULL */
};

#endif
