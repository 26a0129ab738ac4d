/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The .ras file: what `trace get` writes and `tracefmt` reads. The live buffer
 * is read through the same form, made in memory.
 *
 *   struct ras_file
 *   struct ras_chunk, payload, padding to 8
 *   ...
 *   struct ras_chunk of kind RAS_CHUNK_END
 *
 * Byte order is the writer's; `order` tells. A chunk of an unknown kind is
 * skipped. A file without an END chunk was cut short: what is there is read.
 */
#ifndef RASTRACE_RASFILE_H
#define RASTRACE_RASFILE_H

#include <linux/types.h>

#define RAS_FILE_MAGIC		"RASTRACE"	/* 8 bytes, no zero */
#define RAS_FILE_VERSION	1
#define RAS_FILE_ORDER		0x01020304

struct ras_file {
	char magic[8];
	__u32 order;		/* RAS_FILE_ORDER */
	__u16 version;		/* RAS_FILE_VERSION */
	__u16 size;		/* of this header */
	__u32 crc;		/* CRC-32 of this header with crc = 0 */
	__u16 machine;		/* ELF e_machine of the traced kernel */
	__u16 layout;		/* RAS_LAYOUT (buffer.h) of the records */
	__u32 cpus;
	__u32 flags;		/* 0; unknown flags are refused */
	__u64 key;		/* stamp = position ^ key */
	__u64 slice_bytes;
	__u64 taken;		/* CLOCK_BOOTTIME when the snapshot was taken */
	__s64 wall_offset;	/* CLOCK_REALTIME - CLOCK_BOOTTIME then, ns */
	char kernel[72];	/* uname release */
	char host[72];		/* uname nodename */
};

struct ras_chunk {
	__u32 kind;		/* RAS_CHUNK_* */
	__u32 crc;		/* CRC-32 of this header with crc = 0 and of
				 * the payload */
	__u64 length;		/* of the payload, without the padding */
};

#define RAS_CHUNK_END		0
#define RAS_CHUNK_SESSIONS	1	/* the session log as in memory */
#define RAS_CHUNK_COUNTS	2	/* struct ras_counts, per session;
					 * behind the sessions */
#define RAS_CHUNK_SLICE		3	/* struct ras_slice_copy, records */

/* One session's figures, summed over the slices. */
struct ras_counts {
	__u32 session;
	__u32 points;		/* number of struct ras_count_total behind */
};

struct ras_count_total {
	__u64 recorded;
	__u64 filtered;
	__u64 dropped;
	__u64 faults;
	__u64 missed;		/* RAS_MISSED_UNKNOWN: the kernel doesn't tell */
};

#define RAS_MISSED_UNKNOWN	(~0ULL)

/*
 * The records of one slice, unrolled: the record at position p lies at
 * payload + sizeof(struct ras_slice_copy) + (p - first).
 */
struct ras_slice_copy {
	__u32 cpu;
	__u32 level;		/* 0 main slice, 1.. nesting */
	__u64 first;		/* position of the first record */
	__u64 head;		/* position behind the last one */
	__u64 records;		/* ever published in this slice */
	__u64 dropped;
};

#endif
