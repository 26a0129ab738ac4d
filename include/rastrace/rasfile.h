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
 * Byte order is the writer's; see `order`. A chunk of an unknown kind is
 * skipped. A file without an END chunk was cut short: what is there is read.
 *
 * `trace get` writes the records of a slice in pieces. `trace spool` writes
 * chunks as it goes: several of one slice, each going on
 * where the one before ended (a gap between head and the next first is what was
 * overwritten before it could be read), and sessions, processes and maps again
 * when there are more; the last of a kind (of each session, of counts per
 * session, of maps per process) holds. Each time it has been through all
 * slices it writes a PASS; a file's last one has the time of that before, and
 * what was lost since (where the disk was full it may be missing). Each file of
 * a cycle can be read alone: before its first PASS is what was at its
 * start, the counts as they were, and where in every slice it goes on (a SLICE
 * without records); the first file of a cycle has no counts there, and begins
 * with what was in the buffer. The first PASS has the time at which the file
 * begins. That may be in the middle of a pass, whose PASS has the time at which
 * it began: what comes between both may be older than the first one.
 */
#ifndef RASTRACE_RASFILE_H
#define RASTRACE_RASFILE_H

#include <linux/types.h>
#include "buffer.h"

#define RAS_FILE_MAGIC		"RASTRACE"	/* 8 bytes, no zero */
#define RAS_FILE_VERSION	2
#define RAS_FILE_ORDER		0x01020304
#define RAS_LAYOUT_FULL		4	/* no stacks by number */
#define RAS_LAYOUT_SHORT	3	/* also at most 2048 bytes each */

struct ras_file {
	char magic[8];
	__u32 order;		/* RAS_FILE_ORDER */
	__u16 version;		/* RAS_FILE_VERSION */
	__u16 size;		/* of this header */
	__u32 crc;		/* CRC-32 of this header with crc = 0 */
	__u16 machine;		/* ELF e_machine of the traced kernel */
	__u16 layout;		/* RAS_LAYOUT (buffer.h) of the records, or an
				 * older one, see above */
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
					 * after the sessions */
#define RAS_CHUNK_SLICE		3	/* struct ras_slice_copy, records */

#define RAS_CHUNK_PROCESSES	4	/* array of struct ras_process_entry */
#define RAS_CHUNK_MAPS		5	/* struct ras_maps */
#define RAS_CHUNK_FORMATS	6	/* struct ras_formats: a TFF */
#define RAS_CHUNK_PACKED	7	/* struct ras_packed: a compressed chunk */
#define RAS_CHUNK_PASS		8	/* struct ras_pass */
#define RAS_CHUNK_HEAP		10	/* array of struct ras_heap_note (heap.h) */
#define RAS_CHUNK_AGGREGATES	11	/* struct ras_aggregates, per session; after
					 * the sessions */
#define RAS_CHUNK_STACKS	12	/* struct ras_stacks */
#define RAS_CHUNK_NAMES		13	/* struct ras_names: functions of a module */
#define RAS_CHUNK_LAST		13
#define RAS_CHUNK_PANIC		9	/* struct ras_panic: what ended it all */

/* One session's figures, summed over the slices. */
struct ras_counts {
	__u32 session;		/* RAS_STATIC_SESSION: points are majors */
	__u32 points;		/* number of struct ras_count_total after it */
};

struct ras_count_total {
	__u64 recorded;
	__u64 dropped;
	__u64 missed;		/* RAS_MISSED_UNKNOWN: the kernel doesn't report it */
	struct ras_why why;
};

/* What one session has added up in the kernel; of a session the last one holds. */
struct ras_aggregates {
	__u32 session;
	__u32 points;		/* number of struct ras_aggregates_point after it */
	__u32 legends;		/* then of struct ras_legend (buffer.h), in the order
				 * of points and statements */
	__u32 key_bytes;	/* of struct ras_aggregate_key and the values of BY:
				 * a multiple of 8 */
	__u64 entries;		/* then of such a key and struct ras_aggregate,
				 * which has all CPUs together */
	/* older files end the header here, as the length shows */
	__u64 since;		/* CLOCK_BOOTTIME, ns: armed, or cleared after that */
	__u64 taken;		/* when it was read */
};

struct ras_aggregates_point {
	__u32 point;
	__u32 minor;
	struct ras_aggregated sum;
};

struct ras_process_entry {
	struct ras_process_key key;
	struct ras_process process;
};

/*
 * What lay where in the memory of a process that was traced, when the file was
 * written or the process appeared: its executable mappings. pid 0: the kernel
 * and its modules.
 */
struct ras_maps {
	__u32 pid;
	__u32 mappings;		/* number of struct ras_mapping after it */
	__u64 taken;		/* CLOCK_BOOTTIME, ns */
	char comm[16];
};

struct ras_mapping {
	__u64 start, end;	/* addresses */
	__u64 offset;		/* in the file, of start */
	__u8 id_kind;		/* TDF_ID_* (tdf.h) */
	__u8 id_length;
	__u8 id[30];
	char path[256];		/* cut at the left if longer; "[vdso]", for the
				 * kernel "vmlinux" or the module's name */
};

struct ras_formats {
	char name[64];		/* of the TFF, without its directory */
	/* the file follows */
};

/* Functions of a module that are in stacks */
struct ras_names {
	__u8 id_kind;		/* TDF_ID_* (tdf.h) */
	__u8 id_length;
	__u8 id[30];
	__u32 count;		/* number of struct ras_name after it, ascending */
	__u32 bytes;		/* then of their texts, each with a zero */
};

struct ras_name {
	__u64 offset;		/* in the file, of its first byte */
	__u32 length;		/* bytes */
	__u32 text;		/* where its name begins in the texts */
};

/*
 * Stacks that records in this file name by number (RAS_ITEM_STACK_ID). In a spool
 * they come before the PASS that follows the first such record.
 */
struct ras_stacks {
	__u32 session;
	__u32 reserved;
	/* any number of struct ras_stack_copy follow, each with its addresses */
};

struct ras_stack_copy {
	__u32 id;
	__u16 count;		/* number of u64 addresses after it */
	struct ras_stack stack;
};

#define RAS_PACKED_ZLIB		1
#define RAS_PACKED_ZSTD		2
#define RAS_PACKED_MAX		(16u << 20)	/* bytes of an unpacked payload */

struct ras_packed {
	__u32 kind;		/* RAS_CHUNK_* of what is in it */
	__u32 method;		/* RAS_PACKED_* */
	__u64 length;		/* of its payload, unpacked */
	__u64 plain;		/* so many bytes of it follow as they are (of a
				 * SLICE its struct ras_slice_copy) */
	/* the rest follows, packed */
};

/* What was published before has been written, or can't be any more. */
struct ras_pass {
	__u64 time;		/* CLOCK_BOOTTIME, ns */
	__u64 lost;		/* records so far that were overwritten before they
				 * could be written; over all files of a cycle */
};

struct ras_panic {
	__u64 time;		/* CLOCK_BOOTTIME, ns */
	char reason[128];	/* panic()'s message, cut; ends with a zero */
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
	__u64 head;		/* position after the last one */
	__u64 records;		/* ever published in this slice */
	__u64 dropped;
};

#endif
