// SPDX-License-Identifier: GPL-2.0
#include "arch_operations.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "lib/machine.h"

const struct arch *const arch_all[] = {
	&arch_x86_64, &arch_i386, &arch_aarch64, NULL,
};

const struct arch *arch_find(uint16_t machine, uint8_t elf_class)
{
	for (size_t i = 0; arch_all[i]; i++)
		if (arch_all[i]->machine == machine &&
		    arch_all[i]->elf_class == elf_class)
			return arch_all[i];
	return NULL;
}

const struct arch *arch_own(void)
{
	const struct arch *own = arch_find(MACHINE_OWN, ELFCLASS64);

	return own ? own : arch_all[0];
}

const struct arch *arch_find_named(const char *name)
{
	for (size_t i = 0; arch_all[i]; i++) {
		const char *const *others = arch_all[i]->others;

		if (!strcasecmp(arch_all[i]->name, name) ||
		    (others[0] && !strcasecmp(others[0], name)) ||
		    (others[1] && !strcasecmp(others[1], name)))
			return arch_all[i];
	}
	return NULL;
}

const char *arch_machine_name(uint16_t machine)
{
	for (size_t i = 0; arch_all[i]; i++)
		if (arch_all[i]->machine == machine)
			return arch_all[i]->name;
	switch (machine) {
	case EM_ARM:
		return "ARM";
	case EM_PPC64:
		return "PowerPC64";
	case EM_S390:
		return "S/390";
	case EM_RISCV:
		return "RISC-V";
	default:
		return "another machine";
	}
}

const struct arch_register *arch_register_find(const struct arch *arch,
					       const char *name)
{
	for (size_t i = 0; i < arch->register_count; i++)
		if (arch->registers[i].kind != ARCH_BASE &&
		    !strcasecmp(name, arch->registers[i].name))
			return &arch->registers[i];
	return NULL;
}

static bool arch_is_vector(const char *name)
{
	static const char *const starts[] = {
		"XMM", "YMM", "ZMM", "MM", "ST", "V", "Q", "D", "S",
	};
	size_t letters = strcspn(name, "0123456789");

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (name[letters] && letters == strlen(starts[i]) &&
		    !strncasecmp(name, starts[i], letters))
			return true;
	return false;
}

/* One letter differs, or is there in one of them only. */
static bool arch_is_near(const char *name, const char *other)
{
	while (*name && toupper(*name) == toupper(*other)) {
		name++;
		other++;
	}
	return (*name && *other && !strcasecmp(name + 1, other + 1)) ||
	       (*name && !strcasecmp(name + 1, other)) ||
	       (*other && !strcasecmp(name, other + 1));
}

bool arch_register_foreign(const struct arch *arch, const char *name,
			   char *text, size_t size)
{
	size_t used = 0;

	if (arch_register_find(arch, name))
		return false;
	for (size_t i = 0; arch_all[i]; i++) {
		if (arch_all[i]->machine == arch->machine ||
		    !arch_register_find(arch_all[i], name))
			continue;
		snprintf(text, size, "a register of %s, the module is for %s",
			 arch_all[i]->name, arch->name);
		return true;
	}
	if (*name == '%') {
		snprintf(text, size, "registers are written without '%%'");
		return true;
	}
	if (arch_is_vector(name)) {
		snprintf(text, size, "floating point and vector registers "
				     "can't be logged");
		return true;
	}
	for (size_t i = 0; i < arch->register_count && strlen(name) > 2; i++)
		if (arch_is_near(name, arch->registers[i].name) && used < size)
			used += snprintf(text + used, size - used, "%s%s",
					 used ? ", " : "near names: ",
					 arch->registers[i].name);
	return used;
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
