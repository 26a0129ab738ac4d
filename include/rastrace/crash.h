/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What outlives a panic.
 *
 * In a memory dump: struct ras_anchor, in the module's data, says where the
 * buffer's parts lie. It begins at a multiple of RAS_ANCHOR_ALIGN and never
 * crosses a page; it is found by its magic in the kernel's own memory, and is
 * genuine when `self` is its virtual address.
 *
 * In memory that the next boot doesn't touch: struct ras_crash, followed by a
 * .ras file (rastrace/rasfile.h) that the panicking kernel has written.
 */
#ifndef RASTRACE_CRASH_H
#define RASTRACE_CRASH_H

#include <linux/types.h>
#include <rastrace/device.h>

#define RAS_ANCHOR_MAGIC	"\x7frastrace-anchor"	/* with its zero */
#define RAS_ANCHOR_ALIGN	512
#define RAS_ANCHOR_SPACE	0xffffffff80000000ULL	/* x86-64: image and modules
							 * lie from there on */
#define RAS_ANCHOR_SPACE_END	0xffffffffff000000ULL
#define RAS_ANCHOR_AROUND	0x100000000ULL	/* AArch64: that near to the image */

struct ras_anchor_part {
	__u64 base;		/* virtual address of entry 0; 0: none */
	__u64 stride;		/* bytes from one entry to the next */
	__u64 entries;
};

/* The processes, for their names: offsets in struct task_struct */
struct ras_anchor_tasks {
	__u64 first;		/* virtual address of one */
	__u16 next;		/* u64: where that of the next one lies; a ring */
	__u16 pid;		/* u32: process id; the kernel's "tgid" */
	__u16 comm;		/* char[16] */
	__u16 started;		/* u64: CLOCK_BOOTTIME, ns */
};

struct ras_anchor {
	char magic[24];		/* empty: there is no buffer */
	__u64 self;
	__u32 size;		/* of this structure with its parts */
	__u32 layout;		/* RAS_LAYOUT */
	__u64 uts;		/* virtual address of struct new_utsname */
	/* when panic notifiers have run; kdump goes before them */
	__u64 panicked;		/* CLOCK_BOOTTIME, ns; 0: they haven't */
	__s64 wall_offset;	/* CLOCK_REALTIME - CLOCK_BOOTTIME then, ns */
	char reason[128];	/* panic()'s message, cut */
	struct ras_anchor_tasks tasks;
	struct ras_anchor_part parts[RASTRACE_PARTS];
};

#define RAS_CRASH_MAGIC		"RASCRASH"	/* 8 bytes, no zero */
#define RAS_CRASH_VERSION	1

struct ras_crash {
	char magic[8];
	__u32 version;
	__u32 crc;		/* CRC-32 of this header with crc = 0 */
	__u64 length;		/* of the file after this header */
	__u64 reserved[5];
};

#endif
