// SPDX-License-Identifier: GPL-2.0
#include "arch.h"

#include <ctype.h>
#include <elf.h>
#include <stdio.h>
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
	static const char *const vectors[] = {
		"XMM", "YMM", "ZMM", "MM", "ST", "V", "Q", "D", "S",
	};
	size_t letters = strcspn(name, "0123456789"), used = 0;

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
	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		if (!name[letters] || letters != strlen(vectors[i]) ||
		    strncasecmp(vectors[i], name, letters))
			continue;
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
	snprintf(text, size, "register %u", number);
	for (const struct arch_bank *bank = arch->banks; bank->count; bank++)
		if (number - bank->first < bank->count)
			snprintf(text, size, "%s%u", bank->name,
				 bank->index + number - bank->first);
	return false;
}
