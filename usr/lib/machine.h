/* SPDX-License-Identifier: GPL-2.0 */
/* The machine that this program runs on: ELF's number of it. */
#ifndef LIB_MACHINE_H
#define LIB_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#define MACHINE_OWN	EM_X86_64
#elif defined(__aarch64__)
#define MACHINE_OWN	EM_AARCH64
#elif defined(__riscv)
#define MACHINE_OWN	EM_RISCV
#else
#define MACHINE_OWN	EM_NONE
#endif

/* Do programs of that machine run here? */
static inline bool machine_runs(uint16_t machine)
{
	return (machine == MACHINE_OWN && machine != EM_NONE) ||
	       (machine == EM_386 && MACHINE_OWN == EM_X86_64);
}

#endif
