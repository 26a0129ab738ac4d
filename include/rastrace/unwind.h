/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables for unwinding stacks of code that keeps no frame pointers: what a BPF
 * program needs of .eh_frame (DWARF 5, 6.4; LSB Core, "Exception Frames"), made
 * before the recording, and what lies where in the processes. Maps of the session:
 *
 *   unwind_rows      struct unwind_row: the tables of all modules, one after
 *                    the other: its rows in ascending order of pc, then its
 *                    struct unwind_blocks
 *   unwind_segments  struct unwind_segment: those of an address space, one after
 *                    the other in ascending order of start
 *   unwind_spaces    process id -> struct unwind_process
 *   unwind_cache     struct unwind_cached, of each CPU: rows that were found
 *   unwind_asks      a ring of process ids (u32): hits in processes whose tables
 *                    are to be made; not in heap recordings
 *
 * A row holds from its pc up to the next one's. Who has a process id that isn't
 * in the hash, or code that lies in no segment, is followed by frame pointers.
 */
#ifndef RASTRACE_UNWIND_H
#define RASTRACE_UNWIND_H

#include <linux/types.h>

#define UNWIND_SEGMENTS	512	/* executable mappings of a process */
#define UNWIND_SPACES	4096	/* processes at a time */

struct unwind_row {
	__u32 pc;		/* address as linked less the module's lowest */
	__s32 cfa;		/* CFA = stack or frame pointer + this */
	__s32 fp;		/* the caller's frame pointer is at CFA + this; 0:
				 * still in its register */
	__u16 kind;		/* UNWIND_* */
	__s16 link;		/* where calls leave the address to return to in a
				 * register (AArch64: x30): it is at CFA + fp + 8
				 * times this; 0: still there. Farther away is
				 * UNWIND_NONE. Elsewhere it is the word below the
				 * CFA. */
};

#define UNWIND_NONE	0	/* a rule that is none of these: the stack ends
				 * here, unknown */
#define UNWIND_SP	1	/* CFA from the stack pointer */
#define UNWIND_FP	2	/* CFA from the frame pointer */
#define UNWIND_END	3	/* outermost: no address to return to */
#define UNWIND_PLT	4	/* CFA = sp + word + ((ip & 15) >= 11) * word */
#define UNWIND_SIGNAL	5	/* frame of a signal: struct sigcontext is at sp +
				 * cfa */
#define UNWIND_REALIGNED 6	/* the CFA is at frame pointer + cfa, the
				 * caller's frame pointer at frame pointer + fp */
#define UNWIND_FRAME	7	/* no table has this code: by frame pointers */

/*
 * For each 256 bytes of the module's code, from its lowest address on, where to
 * look: index of the row that holds at their beginning << 8 | rows that begin
 * after it and before their end.
 */
#define UNWIND_BLOCK_SHIFT	8

struct unwind_blocks {
	__u32 entries[4];
};

struct unwind_segment {
	__u64 start, end;	/* addresses in the process */
	__u64 base;		/* address - base = pc of a row */
	__u32 first, rows;	/* of unwind_rows; 0 rows: none are known */
};

struct unwind_space {
	__u16 first;		/* of unwind_segments */
	__u16 segments;
	__u32 generation;	/* another one of other segments */
};

/* A process of which the program has asked for tables has no segments until these
 * are made. */
/* Where threads have OpenTelemetry's otel_thread_ctx_v1 */
#define UNWIND_OTEL_UNKNOWN	0
#define UNWIND_OTEL_NONE	1	/* the process has no such variable */
#define UNWIND_OTEL_DISTANCE	2	/* thread pointer + offset */
#define UNWIND_OTEL_TABLE	3	/* in the block that the table at the thread
					 * pointer + `table` leads to */

struct unwind_otel {
	__u32 kind;		/* UNWIND_OTEL_* */
	__u32 table;
	__u64 entry;		/* offset of the block's address in the table */
	__u64 offset;		/* signed */
};

struct unwind_process {
	struct unwind_space space;
	__u64 stack;	/* mm_struct.start_stack, another one after an execve */
	__u64 code;	/* mm_struct.exec_vm, the pages that had code then; of one
			 * that waits for them those that it had when it asked */
	__u64 asked;	/* ... when tables were asked for */
	struct unwind_otel otel;
};

#define UNWIND_ASKS	(64 << 10)	/* bytes of the ring */

/*
 * The row of the code at `pc` in a space. Who writes one stores `pc` last, and 0
 * there before; who reads one looks at it before and after.
 */
#define UNWIND_CACHE	1024	/* entries: by hash of the address */

struct unwind_cached {
	__u64 pc;
	struct unwind_space space;
	struct unwind_row row;
};

#endif
