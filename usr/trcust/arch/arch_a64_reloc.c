// SPDX-License-Identifier: GPL-2.0
/* Relocations of object files (aaelf64 5.7). */
#include "arch_a64.h"


bool a64_relocation_find(const struct arch *arch, uint32_t type,
			 struct arch_relocation *relocation)
{
	return false;
}
