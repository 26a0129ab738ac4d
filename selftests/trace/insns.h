/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between live_insns, which knows what instructions there are, and the programs
 * insns and insns32, which run them. Each has a slot in a file of code:
 *
 *	the instruction
 *	jmp next		after it
 *	...
 *	jmp jumped		where its jumps lead
 *
 * It is run from random states; what it made of them is the result.
 */
#ifndef SELFTESTS_TRACE_INSNS_H
#define SELFTESTS_TRACE_INSNS_H

#include <stdint.h>

#define INSNS_CODE	0x10000000	/* the slots */
#define INSNS_DATA	0x20000000	/* what instructions read and write;
					 * nothing is mapped around it */
#define INSNS_EXITS	0x30000000	/* next: a jump of 5 bytes; jumped */
#define INSNS_DATA_SIZE	4096
#define INSNS_SLOT	64
#define INSNS_JUMPED	48		/* in the slot */
#define INSNS_RED_ZONE	128
#define INSNS_STATES	12		/* of each form */

/* Registers have the numbers of the instruction encoding. */
#define INSNS_REGISTERS	16
#define INSNS_SP	4

/* What is in a register before. */
enum {
	INSNS_RANDOM,
	INSNS_POINTER,		/* into the data */
	INSNS_OFFSET,		/* the same from the data's start */
	INSNS_INDEX,		/* 0, 8, ... 120 */
	INSNS_TARGET,		/* where jumps lead */
	INSNS_FEW,		/* 0 or 1 */
	INSNS_NUMBER,		/* form->number */
};

/* What is in the data before. */
enum {
	INSNS_FILL_RANDOM,
	INSNS_FILL_TARGET,	/* where jumps lead */
	INSNS_FILL_NUMBER,	/* form->number */
	INSNS_FILL_FAR,		/* where jumps lead, and the code segment, each
				 * of 32 bits */
	INSNS_FILL_FAR_WIDE,	/* of 64 bits */
};

struct insns_form {
	uint8_t bytes[15];
	uint8_t length;
	uint8_t kinds[INSNS_REGISTERS];
	uint8_t fill;
	uint8_t varies;		/* has another result each time */
	uint8_t reserved[6];
	uint64_t number;
};

enum {
	INSNS_NOT_RUN,
	INSNS_NEXT,		/* came out after it */
	INSNS_CAME_JUMPED,	/* where jumps lead */
	INSNS_SIGNAL,
	INSNS_DIED,		/* the process, by `signal` */
};

struct insns_result {
	uint8_t exit, signal;
	uint8_t code;		/* si_code, its low byte */
	uint8_t reserved[5];
	uint64_t fault;		/* si_addr */
	uint64_t ip;		/* of a signal */
	uint64_t registers[INSNS_REGISTERS], flags;
	uint64_t sse;		/* hash of these registers, and x87 */
	uint64_t data;		/* hash of the data ... */
	uint64_t data_kept;	/* ... but those below the stack pointer, as it
				 * is then */
	uint64_t cycles;
};

#endif
