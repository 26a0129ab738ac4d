// SPDX-License-Identifier: GPL-2.0
#include "arch.h"

#include <strings.h>

static const struct arch_register registers[] = {
#define RAS_REG(reg, size, dw64, dw32, regs_offset, reg_kind)		\
	{ .name = #reg, .bytes = size, .dwarf64 = dw64, .dwarf32 = dw32, \
	  .pt_regs = regs_offset, .kind = ARCH_##reg_kind },
#include <rastrace/arch-x86.def>
#undef RAS_REG
};

const struct arch_register *arch_register_find(const char *name)
{
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (!strcasecmp(name, registers[i].name))
			return &registers[i];
	return NULL;
}

bool arch_register_is_index(const struct arch_register *reg)
{
	return reg->kind == ARCH_GPR && reg->dwarf64 != 7;
}
