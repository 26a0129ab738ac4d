/* SPDX-License-Identifier: GPL-2.0 */
/* The x86 of an ELF class. */
#ifndef SELFTEST_ARCH_X86_H
#define SELFTEST_ARCH_X86_H

#include <elf.h>
#include "lib/debug/arch/arch.h"

static inline const struct arch *x86_of(uint8_t elf_class)
{
	return elf_class == ELFCLASS64 ? &arch_x86_64 : &arch_i386;
}

#endif
