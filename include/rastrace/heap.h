/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What heapmon record leaves in a .ras file (ras(5)): records of major
 * HEAP_MAJOR, whose minors are those of heap.def, and chunks RAS_CHUNK_HEAP.
 */
#ifndef RASTRACE_HEAP_H
#define RASTRACE_HEAP_H

#include <linux/types.h>

#define HEAP_MAJOR	0xF7

/*
 * Data of a record: this, of a RELEASE then an item (struct ras_item) with the
 * block's first word, as wide as a pointer; then an item RAS_ITEM_STACK, unless
 * the depth is 0, that begins with the caller of the traced function.
 */
struct ras_heap {
	__u64 address;		/* the block that came, or was released */
	__u64 size;		/* bytes asked for; RELEASE: 0; UNMAP: bytes */
	__u64 old;		/* RESIZE, MREMAP: the block before, or 0; realloc
				 * to 0 bytes that gave no block: address 0 */
};

/* Payload of RAS_CHUNK_HEAP: an array of these, in the order of time. */
struct ras_heap_note {
	__u64 time;		/* CLOCK_BOOTTIME, ns */
	__u32 kind;		/* RAS_HEAP_*; others are skipped */
	__u32 pid;		/* process; 0: of the whole recording */
	__u64 a, b;
};

#define RAS_HEAP_SETTINGS	1	/* a: --sample bytes, b: --min-size */
#define RAS_HEAP_BEGIN		2	/* the process is recorded from here on; a:
					 * its pointers' bytes, b: 1: from exec */
#define RAS_HEAP_FORK		3	/* a: process id of the parent */
#define RAS_HEAP_EXEC		4
#define RAS_HEAP_EXIT		5
#define RAS_HEAP_OLD		6	/* a block that was there; a: address, b:
					 * bytes that can be used */
#define RAS_HEAP_OLD_END	7	/* all old blocks are listed; a: how many, b:
					 * RAS_HEAP_OLD_* why there may be more */
#define RAS_HEAP_GROW		8	/* the heap's memory; a: address, b: bytes */
#define RAS_HEAP_PAGE		9	/* a: bytes of a page */
#define RAS_HEAP_SHARE		10	/* until its exec or exit it works in the
					 * memory of another process; a: its id */
#define RAS_HEAP_OLD_WORD	11	/* of the OLD that follows it, the first
					 * word; a: address of the block, b: the
					 * word. Without it the word is not known */

#define RAS_HEAP_OLD_WHOLE	0
#define RAS_HEAP_OLD_FOREIGN	1	/* not glibc's allocator */
#define RAS_HEAP_OLD_BROKEN	2	/* it doesn't look like a heap any more */
#define RAS_HEAP_OLD_REFUSED	3	/* the process can't be stopped or read */

#endif
