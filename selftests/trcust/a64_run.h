/* SPDX-License-Identifier: GPL-2.0 */
/* What a64_run reads and writes: a state, and how an instruction leaves it. */
#ifndef A64_RUN_H
#define A64_RUN_H

#include <stdint.h>

#define A64_DATA	0x10000000UL
#define A64_DATA_SIZE	0x1000UL
#define A64_CODE	0x20000000UL	/* traps but for the instruction */
#define A64_CODE_SIZE	0x10000UL
#define A64_PC		(A64_CODE + A64_CODE_SIZE / 2)
#define A64_TRAP	0xd4200000u	/* brk #0 */
#define A64_FLAGS	0xf0000000ULL

struct a64_state {
	uint64_t regs[32];	/* x0 to x30, sp */
	uint64_t pc;		/* in the code */
	uint64_t flags;
	uint64_t thread;	/* TPIDR_EL0 */
	uint64_t vectors[32][2];
	uint32_t fpcr, fpsr;
	uint32_t signal;	/* it ended in; 0: it was done */
	uint32_t code;
	uint8_t data[A64_DATA_SIZE];
};

#endif
