/* SPDX-License-Identifier: GPL-2.0 */
/*
 * /dev/rastrace, the kernel module's device: user space hands it the trace
 * buffer, and those who may read it map the buffer's parts from it.
 *
 * A structure begins with its size as the caller knows it; a module that knows
 * more takes what is missing for 0, and maps for -1; one that knows less refuses
 * what isn't 0 (-E2BIG). A reply has the module's own size: no more of it is
 * there than the smaller of both.
 */
#ifndef RASTRACE_DEVICE_H
#define RASTRACE_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The parts of a buffer: maps of rastrace/buffer.h */
#define RASTRACE_CONTROL	0
#define RASTRACE_BUFFER		1
#define RASTRACE_NEST		2
#define RASTRACE_SESSIONS	3
#define RASTRACE_TRIGGER	4
/* of the static tracepoints */
#define RASTRACE_STATE		5
#define RASTRACE_COUNT		6
#define RASTRACE_WHY		7
#define RASTRACE_MAJORS		8
#define RASTRACE_PIDS		9	/* optional: a hash, never mapped */
#define RASTRACE_PARTS		10

/* Part n is mapped from this offset on, read-only and shared. */
#define RASTRACE_OFFSET(part)	((__u64)(part) << 36)

struct rastrace_adopt {
	__u32 size;
	__u32 layout;			/* RAS_LAYOUT */
	__u32 flags;			/* RASTRACE_ADOPT_* */
	__s32 maps[RASTRACE_PARTS];	/* file descriptors; -1: none, allowed
					 * from RASTRACE_STATE on, all or none */
};

/* The buffer that is there, when its control map is the same, is replaced: it
 * has other parts now. */
#define RASTRACE_ADOPT_AGAIN	0x00000001

struct rastrace_info {
	__u32 size;
	__u32 layout;
	__u32 adopted;			/* 0: no buffer; else one of these */
#define RASTRACE_ADOPTED	1
#define RASTRACE_ORPHANED	2	/* no other user is left, and another
					 * one may take its place */
	__u32 crash;			/* bytes that outlive a panic, in KiB */
	struct {
		__u64 bytes;		/* to be mapped; 0: none */
		__u32 id;		/* of the map; 0: none */
		__u32 reserved;
	} parts[RASTRACE_PARTS];
};

/* Needs CAP_BPF and CAP_PERFMON. -EBUSY: there is one that isn't orphaned. */
#define RASTRACE_ADOPT		_IOW('r', 0x60, struct rastrace_adopt)
/* The same; nothing of it is used any more when this returns. */
#define RASTRACE_RELEASE	_IO('r', 0x61)
/* The same; switch the majors as the map says now. */
#define RASTRACE_SWITCH		_IO('r', 0x62)
/* For everybody who may open it. */
#define RASTRACE_INFO		_IOWR('r', 0x63, struct rastrace_info)
/* Needs them, too: what read() gives, the .ras file of a panic of the boot before,
 * is saved elsewhere. */
#define RASTRACE_FORGET		_IO('r', 0x64)

#endif
