/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between processors: one table for each, in arch_x86.c and
 * arch_a64.c.
 */
#ifndef BPF_PLAN_PROCESSOR_H
#define BPF_PLAN_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "target.h"

/* What a selector was read from: an empty one means something else in each. */
enum arch_segment {
	SEGMENT_NONE,		/* memory, or no selector at all */
	SEGMENT_FLAT,		/* CS, SS, DS, ES */
	SEGMENT_FS, SEGMENT_GS,
};

enum processor_reg_kind { REG_GPR, REG_IP, REG_FLAGS, REG_SEG, REG_BASE };

struct processor_reg {
	const char *name;
	int bytes;		/* of the widest name */
	int dwarf;		/* -1: not with this processor */
	int offset;		/* in struct pt_regs, -1: not in there */
	enum processor_reg_kind kind;
};

/* A register that the kernel keeps elsewhere, in task_struct. */
struct processor_thread {
	const char *name;
	size_t layout;		/* where struct body_layout has its offset */
	bool stale;		/* see struct arch_thread */
	bool late;
	enum arch_segment segment;	/* that it selects */
};

/* Where a signal's handler has the interrupted registers: offsets in struct
 * sigcontext (asm/sigcontext.h) */
struct processor_context {
	int fp, sp, ip, link;
};

/* Thread-local variables: types of the loader's relocations, whose slots get the
 * distance from the thread pointer; a function and its argument; the module's number
 * and an offset in its block. */
struct processor_tls {
	uint32_t distance, descriptor, module;
	unsigned int header;	/* a program's block begins so many bytes after the
				 * thread pointer; 0: it ends there */
	unsigned int table;	/* where the thread's table of blocks is from the
				 * thread pointer on (glibc) */
};

#define PROCESSOR_ARGUMENTS	8

struct processor {
	uint16_t machine;	/* ELF e_machine */
	const struct processor_reg *regs;
	size_t reg_count;
	const struct processor_thread *threads;	/* of all that regs have */
	/* Offsets of 8 bytes in struct pt_regs: instruction, stack and frame
	 * pointer; link: what has the address to return to, where a function
	 * has built no frame; -1: it is on the stack, by a call */
	int ip, stack, frame, link;
	int call_bytes;		/* that a call pushes */
	/* Offsets in struct pt_regs of a C function's arguments */
	int arguments[PROCESSOR_ARGUMENTS];
	unsigned int argument_count;	/* 0: they are on the stack, words of 4
					 * bytes above the address to return to */
	struct processor_context context;
	struct processor_tls tls;
	int kprobe_excess;	/* of ip over the probed address of a kprobe */
	int address_bits;	/* of user space; target->address_bits is better */
	bool is_signed;		/* above these an address may have a signature,
				 * and a tag; bit 55 is the kernel's (Arm ARM,
				 * D8.10) */
	bool strong;		/* a plain store doesn't publish what was written
				 * before */
	bool segments;		/* addresses may have selectors */
	int vector_first;	/* DWARF number of the first vector register */
	int vector_count;	/* that the kernel module reads */
};

extern const struct processor processor_x86_64, processor_i386, processor_a64;

/* NULL: none that is known */
const struct processor *processor_find(uint16_t machine);
/* The register with this DWARF number; NULL: there is none */
const struct processor_reg *processor_reg_find(uint16_t machine,
					       uint64_t dwarf);

/* Where struct pt_regs has a register whose value is what is there, of so many
 * bytes; -1: it isn't one. */
int processor_reg_offset(uint16_t machine, uint64_t dwarf, int *bytes);

/* A register that pt_regs doesn't have, in task_struct. False: none of these. */
struct arch_thread {
	uint32_t offset;	/* 0: not known */
	int bytes;
	bool stale;		/* the program may have changed it since its
				 * thread was switched to */
	bool late;		/* set once, but 0 until its thread was switched
				 * to afterwards */
};

bool arch_thread_find(const struct body_layout *layout, uint16_t machine,
		      uint64_t dwarf, struct arch_thread *thread);
enum arch_segment arch_segment_find(uint16_t machine, uint64_t dwarf);
/* Where struct pt_regs has the n-th argument of a C function, of 8 bytes; -1: it
 * is on the stack, n + 1 words of 4 bytes above the stack pointer. */
int arch_argument_offset(uint16_t machine, unsigned int n);

#endif
