/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What bodies must know to read the memory of processes without a call: where
 * the kernel has all physical memory. Offsets in its structures are in struct
 * body_layout. code/direct.c explains why such reads are sound.
 */
#ifndef BPF_PLAN_DIRECT_H
#define BPF_PLAN_DIRECT_H

#include <linux/types.h>

struct body_direct {
	__u64 base;		/* where the first byte is (PAGE_OFFSET) */
	__u64 end;		/* physical address after the last byte */
	__u64 key;		/* random: hides addresses of the kernel from those
				 * who may read the buffer */
};

/* Of entries of page tables (x86-64, four levels) */
#define DIRECT_PRESENT	0x001
#define DIRECT_USER	0x004
#define DIRECT_YOUNG	0x060		/* accessed and dirty */
#define DIRECT_LARGE	0x080		/* in tables above the last */
#define DIRECT_SPECIAL	0x200		/* in the last: no ordinary page */
/* Where it leads to, and the protection key of a page, which has to be 0 */
#define DIRECT_ADDRESS	0x780ffffffffff000ULL
#define DIRECT_LEVELS	4
#define DIRECT_TOP	39		/* bits of an address that an entry of the
					 * first table translates */
#define DIRECT_INDEX	9		/* that each further table translates */
#define DIRECT_PAGE	12
#define DIRECT_LOW	0x100000	/* nothing below belongs to processes: it
					 * may be memory of devices */

#endif
