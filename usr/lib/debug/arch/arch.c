// SPDX-License-Identifier: GPL-2.0
#include "arch_operations.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct arch_register *arch_register_find(const struct arch *arch,
					       const char *name)
{
	for (size_t i = 0; i < arch->register_count; i++)
		if (arch->registers[i].kind != ARCH_BASE &&
		    !strcasecmp(name, arch->registers[i].name))
			return &arch->registers[i];
	return NULL;
}

bool arch_register_is_index(const struct arch *arch,
			    const struct arch_register *reg)
{
	return reg->kind == ARCH_GPR &&
	       (reg->dwarf < 0 || (unsigned int)reg->dwarf != arch->stack);
}

bool arch_register_print(const struct arch *arch, unsigned int number,
			 char *text, size_t size)
{
	for (size_t i = 0; i < arch->register_count; i++) {
		const struct arch_register *reg = &arch->registers[i];

		if (reg->dwarf < 0 || (unsigned int)reg->dwarf != number)
			continue;
		snprintf(text, size, "%s", reg->name);
		for (char *p = text; *p; p++)
			*p = tolower(*p);
		return reg->kind == ARCH_BASE ? !arch->thread_is_selector :
						reg->pt_regs >= 0;
	}
	if (!arch->operations->bank_print(arch, number, text, size))
		snprintf(text, size, "register %u", number);
	return false;
}

bool arch_register_is_kept(const struct arch *arch, unsigned int number)
{
	return arch->operations->register_is_kept(arch, number);
}

bool arch_operand_parse(const struct arch *arch, const char *text,
			size_t length, struct arch_operand *operand)
{
	return arch->operations->operand_parse(arch, text, length, operand);
}

bool arch_relocation_find(const struct arch *arch, uint32_t type,
			  struct arch_relocation *relocation)
{
	return arch->operations->relocation_find(arch, type, relocation);
}

int arch_insn_decode(const struct arch *arch, const uint8_t *code, size_t size,
		     struct arch_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	return arch->operations->insn_decode(arch, code, size, insn);
}

const char *arch_insn_held(const struct arch *arch, const uint8_t *code,
			   size_t at, bool user)
{
	return arch->operations->insn_held ?
		       arch->operations->insn_held(code, at, user) : NULL;
}

int arch_insn_print(const struct arch *arch, const uint8_t *code, size_t size,
		    uint64_t address, char *text, size_t text_size)
{
	return arch->operations->insn_print(arch, code, size, address, text,
					    text_size);
}

bool arch_effect_find(const struct arch *arch, const uint8_t *code, size_t size,
		      uint64_t address, struct arch_effect *effect)
{
	return arch->operations->effect_find(arch, code, size, address, effect);
}

void arch_computed_find(const struct arch *arch, const struct arch_code *insns,
			size_t count, struct arch_computed *computed)
{
	arch->operations->computed_find(arch, insns, count, computed);
}

void arch_address_find(const struct arch *arch, const struct arch_code *insns,
		       size_t count, struct arch_address *address)
{
	arch->operations->address_find(arch, insns, count, address);
}

bool arch_name_is_mark(const struct arch *arch, const char *name)
{
	return arch->marks && name[0] == '$' && name[1] &&
	       strchr(arch->marks, name[1]) && (!name[2] || name[2] == '.');
}

bool arch_name_returns(const struct arch *arch, const char *name, size_t length)
{
	const char *thunk = arch->operations->return_thunk;

	return thunk && length == strlen(thunk) && !memcmp(name, thunk, length);
}
