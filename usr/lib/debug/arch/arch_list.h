/* SPDX-License-Identifier: GPL-2.0 */
/* All processors: which one is meant. */
#ifndef TRCUST_ARCH_LIST_H
#define TRCUST_ARCH_LIST_H

#include "arch.h"

/* Of ELF's e_machine and class; NULL: not one that is known here. */
const struct arch *arch_find(uint16_t machine, uint8_t elf_class);
/* The one that this program was built for, else the first. */
const struct arch *arch_own(void);
/* By any of its names, in either case; NULL: none. */
const struct arch *arch_find_named(const char *name);
/* Those that there are, zero-terminated: x86-64 is the first. */
extern const struct arch *const arch_all[];
/* Of any machine, for messages. */
const char *arch_machine_name(uint16_t machine);

/* Whose register that is, when it is none of arch's: "a register of AArch64,
 * the module is for x86-64" into text. False: of no processor. */
bool arch_register_foreign(const struct arch *arch, const char *name,
			   char *text, size_t size);

#endif
