/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace buffer: what eBPF programs and the kernel module write, and what
 * every reader (trace, tracefmt, a crash dump reader) maps or finds in memory.
 *
 * Four BPF maps make a buffer. All are BPF_F_MMAPABLE arrays:
 *
 *   buffer    one struct ras_slice per possible CPU; frozen: user space can
 *             only read it. Pin: RUN/buffer
 *   nest      RAS_NEST_LEVELS small slices per possible CPU, taken when the
 *             CPU's main slice is busy (an interrupt's hit inside a hit);
 *             index = cpu * RAS_NEST_LEVELS + level - 1; frozen. RUN/nest
 *   control   one struct ras_control: geometry, key, clear marks; written by
 *             user space only. RUN/control
 *   sessions  one entry: a log of struct ras_session, append-only, written
 *             by user space only. RUN/sessions
 *
 * and three or four for every armed TDF (a session), under RUN/armed/NAME/;
 * `count` moves to RUN/past/INDEX/ when it is off, because its figures outlive
 * it:
 *
 *   count     struct ras_count per (point, slice):
 *             index = point * slices + slice, where slices =
 *             cpus * (1 + RAS_NEST_LEVELS) and slice = cpu for the main
 *             slices, cpus + (index in nest) for the others
 *   state     one struct ras_state; written by user space only
 *   sites     one u64 per site: the site's address as linked (user space;
 *             bias = probed address - this) or the bias itself (kernel)
 *   limits    where a tracepoint has PASSCOUNT or MAXHITS: one struct
 *             ras_limit per point
 *
 * Writer's protocol: disable preemption where the kernel offers it. Take a
 * slice by a fully ordered cmpxchg of lock 0 -> 1, the next nesting level when
 * it is busy; with all busy count one `dropped` (atomically) and leave. Write
 * the record in place at data[head & (size - 1)]; write its stamp; publish
 * head (a plain store on x86, a release store elsewhere); release the lock.
 * The lock alone keeps the bytes of the next record behind the previous head.
 *
 * Reader's protocol: read head (acquire) = h1, copy, fence, read head = h2.
 * What lies in [h2 + RAS_RECORD_MAX - size, h1) is whole (from 0 while h2 is
 * smaller than size). The first record in there is found by its stamp:
 * every record starts 8-byte aligned with (its position ^ key). Then records
 * follow each other without gaps, each padded to 8 bytes.
 */
#ifndef RASTRACE_BUFFER_H
#define RASTRACE_BUFFER_H

#include <linux/types.h>

#define RAS_LAYOUT		2	/* of everything in this file */
#define RAS_NEST_LEVELS		3	/* softirq, hardirq, NMI */
#define RAS_RECORD_MAX		2048	/* bytes of the longest record */
#define RAS_SLICE_MIN		(64u << 10)
#define RAS_SLICE_MAX		(1u << 28)	/* the verifier's BPF_MAX_VAR_OFF is
					 * 1 << 29, for position and length */
#define RAS_SLICE_DEFAULT	(1u << 20)
#define RAS_NEST_BYTES		(16u << 10)	/* data bytes of a nesting slice */
#define RAS_SESSIONS_BYTES	(2u << 20)	/* of the session log */
#define RAS_STATIC_SESSION	0	/* session of static records: no TDF */

/*
 * data holds size + RAS_RECORD_MAX bytes, size a power of two: a record that
 * starts before `size` may run into the slack behind it and never wraps.
 */
struct ras_slice {
	__u64 lock;		/* 0 free, 1 taken */
	__u64 head;		/* bytes ever published; a multiple of 8 */
	__u64 records;		/* records ever published */
	__u64 dropped;		/* hits of this CPU that found all slices busy;
				 * main slices only; atomic */
	__u64 reserved[4];
	__u8 data[];
};

#define RAS_SLICE_HEADER	64

/*
 * Record header; the data follows in the order of the TSF's statements.
 * REGS: the register's bytes, no prefix (16-bit registers 2, E-registers 4,
 * R-registers 8). Every memory statement: struct ras_item, then its bytes.
 */
struct ras_record {
	__u64 stamp;		/* position in the slice ^ key */
	__u32 length;		/* header and data, without the padding to 8 */
	__u16 flags;		/* RAS_RECORD_* */
	__u16 major;
	/* the next 8 bytes are the link's cookie, see RAS_COOKIE */
	__u16 minor;
	__u16 point;		/* index of the tracepoint in its TDF */
	__u32 site;		/* index of the site in its TDF */
	__u64 time;		/* CLOCK_BOOTTIME, ns */
	__u32 tid;		/* thread id; the kernel's "pid" */
	__u32 pid;		/* process id; the kernel's "tgid" */
	__u32 seq;		/* counts records of this (point, slice) from 0 */
	__u16 session;		/* index into the session log */
	__u16 reserved;
};

#define RAS_RECORD_HEADER	48
#define RAS_RECORD_FAULT	0x0001	/* an item could not be read; no data
					 * follows that item unless the
					 * tracepoint says ONFAULT=CONTINUE */
#define RAS_RECORD_CUT		0x0002	/* MAXDATALENGTH was reached */
#define RAS_RECORD_TAIL_CALL	0x0004	/* at an exit that calls another function
					 * in place of returning: there is no
					 * return value yet */

#define RAS_COOKIE(minor, point, site) \
	((__u64)(__u16)(minor) | (__u64)(__u16)(point) << 16 | \
	 (__u64)(__u32)(site) << 32)

/*
 * The prefix of logged memory (manual 1.4): not aligned. The bytes follow.
 * After a fault they are the failing pointer (8 bytes).
 */
struct ras_item {
	__u8 status;		/* one RAS_ITEM_ kind, with flags */
	__u16 length;		/* bytes that follow */
} __attribute__((packed));

#define RAS_ITEM_PREFIX		3
#define RAS_ITEM_KIND(status)	((status) & 0x0f)
#define RAS_ITEM_VALUE		0x00
#define RAS_ITEM_STRING		0x01	/* ASCIIZ; length without the zero */
#define RAS_ITEM_FAULT		0x02	/* not readable: the failing pointer */
#define RAS_ITEM_SELECTOR	0x03	/* bad selector: the far pointer */
#define RAS_ITEM_ABSENT		0x04	/* a variable that this site doesn't have;
					 * no bytes, and the record goes on */
#define RAS_ITEM_CUT		0x10	/* truncated */
#define RAS_ITEM_PAGED_IN	0x20	/* was absent and has been brought in */
#define RAS_ITEM_STALE		0x40	/* as of the last context switch */

/* hits = recorded + filtered + dropped. `recorded` is plain, under the slice's
 * lock; the others are counted atomically, what is filtered or dropped before
 * a slice was taken in the row of the CPU's main slice. */
struct ras_count {
	__u64 recorded;
	__u64 filtered;
	__u64 dropped;
	__u64 faults;		/* items that could not be read */
};

/* Of one point, on all CPUs; counted atomically, from 0 when it is armed. */
struct ras_limit {
	__u64 passed;		/* hits passed over, as far as PASSCOUNT */
	__u64 recorded;		/* records, as far as MAXHITS; more are tried */
};

struct ras_state {
	__u32 state;		/* RAS_STATE_* */
	__u32 session;		/* index in the session log */
	__u32 reserved[14];
};

#define RAS_STATE_OFF		0	/* being armed or disarmed: not counted */
#define RAS_STATE_ON		1
#define RAS_STATE_SUSPENDED	2	/* hits count as filtered */

#define RAS_CONTROL_MAGIC	0x4c525443	/* "CTRL" */

struct ras_control {
	__u32 magic;
	__u32 layout;		/* RAS_LAYOUT */
	__u64 key;		/* random: stamp = position ^ key */
	__u64 slice_bytes;	/* data bytes of a main slice, power of two */
	__u64 nest_bytes;	/* data bytes of a nesting slice */
	__u32 cpus;		/* possible CPUs */
	__u32 nest_levels;
	__u64 created;		/* CLOCK_BOOTTIME, ns */
	__s64 wall_offset;	/* CLOCK_REALTIME - CLOCK_BOOTTIME then, ns */
	__u32 next_session;	/* index that the next session gets, from 1 */
	__u32 sessions_used;	/* bytes of the session log in use */
	__u64 reserved[8];
	__u64 tail[];		/* per slice (order of `count`): records that
				 * start before this position are cleared */
};

/* One armed TDF. Entries follow each other; size is a multiple of 8. */
struct ras_session {
	__u32 size;		/* of this entry with its points; 0 ends the
				 * log; written last */
	__u16 index;		/* what records carry, from 1 */
	__u16 major;
	__u32 points;		/* number of struct ras_session_point behind */
	__u32 flags;		/* RAS_SESSION_* */
	__u64 armed;		/* CLOCK_BOOTTIME, ns */
	__u64 disarmed;		/* the same; 0 while armed */
	__u8 id_kind;		/* TDF_ID_* (tdf.h) */
	__u8 id_length;
	__u8 id[30];		/* build-id of the module */
	char tdf[256];		/* path of the TDF, cut at the left if longer */
	char module[256];	/* path of the module as armed, likewise */
};

#define RAS_SESSION_MULTI	0x0001	/* uprobe_multi links, else perf_event */
#define RAS_SESSION_PREEMPT	0x0002	/* programs disable preemption */
#define RAS_SESSION_KERNEL	0x0004	/* has kprobes */

struct ras_session_point {
	__u64 hash;		/* data hash of the tracepoint */
	__u16 minor;
	__u16 type;		/* type mask */
	__u16 group;
	__u16 reserved;
};

#endif
