/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace buffer: what eBPF programs and the kernel module write, and what
 * every reader (trace, tracefmt, a crash dump reader) maps or finds in memory.
 *
 * These BPF maps make a buffer. All but `processes` are BPF_F_MMAPABLE arrays:
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
 *   trigger   one struct ras_trigger: stops everything that records. RUN/trigger
 *   processes struct ras_process by struct ras_process_key: who was traced,
 *             and where the module lay there; an LRU hash. RUN/processes
 *
 * and these for every armed TDF (a session), under RUN/armed/NAME/; `count`,
 * `why` and what belongs to aggregates move to RUN/past/INDEX/ when it is off,
 * because their figures outlive it:
 *
 *   count     struct ras_count per (point, slice):
 *             index = point * slices + slice, where slices =
 *             cpus * (1 + RAS_NEST_LEVELS) and slice = cpu for the main
 *             slices, cpus + (index in nest) for the others
 *   why       struct ras_why per (point, CPU): index = point * cpus + cpu
 *   state     one struct ras_state; written by user space only
 *   sites     one u64 per site: the site's address as linked (user space;
 *             bias = probed address - this) or the bias itself (kernel)
 *   limits    where a tracepoint has PASSCOUNT or MAXHITS, or the session a
 *             ceiling of records per second: one struct ras_limit per point
 *   calls     where points are CALL or RELEASE (tdf.h): struct ras_call per
 *             thread (BPF_MAP_TYPE_TASK_STORAGE); several TDFs may share it,
 *             and `blocks`
 *   open      where points are whole calls: what their entries logged, until the
 *             exits; a hash of struct ras_record and data by struct
 *             ras_open_key. `time` is that of the entry, `stamp` the ns that
 *             it has taken, at the exit. Where `threads` is: at the entry
 *             `stamp` and `seq` are ras_thread's `off_cpu` and the number of
 *             switches not seen, at the exit tid and pid are the ns on a CPU;
 *             -1: not known
 *   slots     where entries of such calls read no memory: struct ras_open_slot of
 *             most of those, one for each hash of a key; what finds its slot
 *             taken is in `open`
 *   threads   where calls have their CPU time: struct ras_thread per thread
 *             (BPF_MAP_TYPE_TASK_STORAGE), of a program at sched_switch
 *   blocks    where blocks are chosen by size or chance: those that were, a hash
 *             of struct ras_block
 *   aggregates  where points have aggregates (tdf.h): struct ras_aggregate by
 *             struct ras_aggregate_key and the values of BY, for each CPU (a
 *             BPF_MAP_TYPE_PERCPU_HASH)
 *   aggregated  ... struct ras_aggregated per (point, CPU), as `why`
 *   legend    ... one entry: struct ras_legend of each aggregate
 *   stack_table  where points have stacks: struct ras_stack_set. It moves as `count`
 *             does, because records need it; none where the kernel module was
 *             loaded at arming, which could not hand it on from a panic
 *   pids      where processes were asked for: the set of them (a hash of u32
 *             process ids); the fork of one adds its child when children are
 *             followed
 *
 * Static records have no session; what they need is under RUN/static/ while a
 * major is on: `state`, `count`, `why` and `pids` as above with the major for the
 * point (RAS_STATIC_MAJORS of them; `count` and `why` move to RUN/past/0/ with
 * the last major), and
 *
 *   majors    one entry: a byte for each major, not 0: it is recorded
 *
 * Writer's protocol: disable preemption where the kernel offers it. Take a
 * slice by a fully ordered cmpxchg of lock 0 -> 1, the next nesting level when
 * it is busy; with all busy count one `dropped` (atomically) and leave. Write
 * the record in place at data[head & (size - 1)]; write its stamp; publish
 * head (a plain store on x86, a release store elsewhere); release the lock.
 * The lock alone keeps the bytes of the next record after the previous head.
 *
 * Reader's protocol: read head (acquire) = h1, copy, fence, read head = h2.
 * What is in [h2 + RAS_RECORD_MAX - size, h1) is whole (from 0 while h2 is
 * smaller than size). The first record in there is found by its stamp:
 * every record starts 8-byte aligned with (its position ^ key). Then records
 * follow each other without gaps, each padded to 8 bytes. `records` and the
 * counts may be one ahead of the head, or one less, while the lock is taken.
 */
#ifndef RASTRACE_BUFFER_H
#define RASTRACE_BUFFER_H

#include <linux/types.h>

#define RAS_LAYOUT		5	/* of everything in this file */
#define RAS_NEST_LEVELS		3	/* softirq, hardirq, NMI */
#define RAS_RECORD_MAX		12800	/* bytes of the longest record. The verifier
					 * doesn't see that items share MAXDATALENGTH,
					 * and adds up more than it lets through */
#define RAS_SLICE_MIN		(64u << 10)
#define RAS_SLICE_MAX		(1u << 28)	/* the verifier's BPF_MAX_VAR_OFF is
					 * 1 << 29, for position and length */
#define RAS_SLICE_DEFAULT	(1u << 20)
#define RAS_NEST_BYTES		(32u << 10)	/* data bytes of a nesting slice */
#define RAS_CPUS_MAX		65535	/* highest CPU number + 1 */
#define RAS_SESSIONS_BYTES	(2u << 20)	/* of the session log */
#define RAS_STATIC_SESSION	0	/* session of static records: no TDF */
#define RAS_STATIC_MAJORS	256
#define RAS_STATIC_DATA_MAX	512	/* bytes of a static record's data */
#define RAS_PROCESSES_MAX	8192	/* entries of `processes` */

/*
 * data holds size + RAS_RECORD_MAX bytes, size a power of two: a record that
 * starts before `size` may run into the slack after it and never wraps.
 */
struct ras_slice {
	__u64 lock;		/* 0 free, 1 taken */
	__u64 head;		/* bytes ever published; a multiple of 8 */
	__u64 records;		/* records ever published */
	__u64 dropped;		/* hits of this CPU that found all slices busy;
				 * main slices only; atomic */
	__u64 process;		/* of the last record: pid << 32 | session << 16 |
				 * module, and its bias: who else comes is looked */
	__u64 bias;		/* up in `processes`, and put there */
	__u64 reserved[2];
	__u8 data[];
};

#define RAS_SLICE_HEADER	64

/*
 * Record header; then what the session's `context` asks for (RAS_CONTEXT_*);
 * the data follows in the order of the TSF's statements.
 * REGS: the register's bytes, no prefix (16-bit registers 2, E-registers 4,
 * R-registers 8). Every memory statement: struct ras_item, then its bytes.
 *
 * Whole calls (RAS_RECORD_WHOLE): after the context u64 is when it began
 * (CLOCK_BOOTTIME, ns). The data begins with u64 ns that it took, then what the
 * entry logged, then the exit.
 *
 * Static records: the program's bytes, no prefix; `point` is the major, `site`
 * 0. More than RAS_STATIC_DATA_MAX of them are cut (RAS_RECORD_CUT); when any
 * can't be read there are none (RAS_RECORD_FAULT).
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
	__u16 stack;		/* where its RAS_ITEM_STACK_ID is, in bytes from
				 * here on; 0: it has none */
};

#define RAS_RECORD_HEADER	48
#define RAS_RECORD_FAULT	0x0001	/* an item could not be read; no data
					 * follows that item unless the
					 * tracepoint says ONFAULT=CONTINUE */
#define RAS_RECORD_CUT		0x0002	/* MAXDATALENGTH was reached */
#define RAS_RECORD_TAIL_CALL	0x0004	/* at an exit that calls another function
					 * instead of returning: there is no
					 * return value yet */

#define RAS_RECORD_PAGED_IN	0x0008	/* taken again after absent memory was
					 * brought in; the items say which */
#define RAS_RECORD_MUTED	0x0010	/* no context, no data: this hit of the point
					 * and more are passed over for the rest
					 * of the second (--max-rate). It counts
					 * as recorded, not for MAXHITS */
#define RAS_RECORD_TRIGGER	0x0020	/* the one that stops the recording */
#define RAS_RECORD_NAMED	0x0040	/* minor is that of a CALL that made no record
					 * (tdf.h), maybe of another session; the
					 * rest of the header is this point's */
#define RAS_RECORD_WHOLE	0x0080	/* of a whole call, written at its exit */

#define RAS_COOKIE(minor, point, site) \
	((__u64)(__u16)(minor) | (__u64)(__u16)(point) << 16 | \
	 (__u64)(__u32)(site) << 32)
#define RAS_COOKIE_POINT(cookie)	((__u16)((cookie) >> 16))

/* Of links of CALL and RELEASE points: with their level (tdf.h), which isn't in
 * the record. */
#define RAS_COOKIE_LEVEL_SHIFT	56
#define RAS_COOKIE_LEVEL(level)	((__u64)(level) << RAS_COOKIE_LEVEL_SHIFT)

/*
 * Context of a record, in this order, each as long as it says here; a session's
 * mask is the same for all its records.
 */
#define RAS_CONTEXT_COMM	0x01	/* char[16]: name of the thread */
#define RAS_CONTEXT_UID		0x02	/* u32 uid, u32 gid */
#define RAS_CONTEXT_CGROUP	0x04	/* u64: id (inode) of its cgroup v2 */
#define RAS_CONTEXT_CPU		0x08	/* u32 CPU, u32 0 */
#define RAS_CONTEXT_PPID	0x10	/* u32 process id of the parent, u32 0 */
#define RAS_CONTEXT_STACK	0x20	/* an item RAS_ITEM_STACK, last */
#define RAS_CONTEXT_NAME	0x40	/* the bytes of COMM, which weren't asked for
					 * unless COMM is set, too: kernel code has
					 * no entries in `processes` */
#define RAS_CONTEXT_OTEL	0x80	/* struct ras_otel, before the stack */
#define RAS_CONTEXT_ALL		0xff

/* Bytes of what the mask asks for, without the stack. */
#define RAS_CONTEXT_BYTES(mask) \
	(((mask) & (RAS_CONTEXT_COMM | RAS_CONTEXT_NAME) ? 16 : 0) + \
	 ((mask) & RAS_CONTEXT_UID ? 8 : 0) + \
	 ((mask) & RAS_CONTEXT_CGROUP ? 8 : 0) + \
	 ((mask) & RAS_CONTEXT_CPU ? 8 : 0) + \
	 ((mask) & RAS_CONTEXT_PPID ? 8 : 0) + \
	 ((mask) & RAS_CONTEXT_OTEL ? 32 : 0))

/* What the thread has published for OpenTelemetry's readers (OTEP 4947) */
struct ras_otel {
	__u8 trace_id[16], span_id[8];
	__u8 status;		/* RAS_OTEL_* */
	__u8 flags;		/* W3C trace flags */
	__u8 reserved[6];
};

#define RAS_OTEL_NONE		0	/* nothing */
#define RAS_OTEL_VALID		1
#define RAS_OTEL_INVALID	2	/* it is being changed */
#define RAS_OTEL_UNKNOWN	3	/* the process was not looked at yet, or there
					 * is no keeper */
#define RAS_OTEL_UNREADABLE	4

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
#define RAS_ITEM_SELECTOR	0x03	/* bad selector: the far pointer, u32 offset
					 * and u32 selector */
#define RAS_ITEM_ABSENT		0x04	/* a variable that this site doesn't have;
					 * no bytes, and the record goes on */
#define RAS_ITEM_LEFT		0x05	/* not resident, and left alone: bringing it
					 * in would wait for somebody else (a
					 * userfaultfd, FUSE, a network): the
					 * failing pointer */
#define RAS_ITEM_NOT_TRIED	0x06	/* not readable as it is; that it may be
					 * absent only was not looked into
					 * (--resident-only, no task); 8 bytes, the
					 * failing pointer */
#define RAS_ITEM_ARITHMETIC	0x07	/* division by zero on the way to it: 8
					 * bytes 0 instead of the pointer; not
					 * 0: it comes from the caller, which
					 * isn't known: where it returns to */
#define RAS_ITEM_STACK		0x08	/* struct ras_stack, then u64 addresses,
					 * innermost first */
#define RAS_ITEM_UNKNOWN	0x09	/* a call's CPU time that isn't known: 8
					 * bytes 0 */
#define RAS_ITEM_STACK_ID	0x0a	/* u32: the number of such a stack in the
					 * session's `stack_table`. Of a record's
					 * stacks, one at most */
#define RAS_ITEM_CUT		0x10	/* truncated */
#define RAS_ITEM_PAGED_IN	0x20	/* was absent and has been brought in */
#define RAS_ITEM_STALE		0x40	/* as of the last context switch */
#define RAS_ITEM_MODULE		0x80	/* of RAS_ITEM_ABSENT: it is in a vector
					 * register, which only rastrace.ko
					 * reads, on 6.12 or later */

struct ras_stack {
	__u8 end;		/* RAS_STACK_* */
	__u8 flags;		/* RAS_STACK_KERNEL, RAS_STACK_CHANGED */
} __attribute__((packed));

/* Why there are no more frames. */
#define RAS_STACK_DEPTH		0	/* as many as were asked for */
#define RAS_STACK_OUTERMOST	1	/* a frame says that it is the last */
#define RAS_STACK_UNREADABLE	2	/* the next frame can't be read */
#define RAS_STACK_NO_FRAME	3	/* the frame pointer leads to no frame:
					 * code that doesn't keep one */
#define RAS_STACK_UNWINDER	4	/* the kernel's unwinder found no more */
#define RAS_STACK_NO_TABLE	5	/* neither a frame pointer nor a table
					 * (unwind.h) for that code */
#define RAS_STACK_LOST		6	/* by readers: the RAS_ITEM_STACK_ID is there,
					 * but not its stack */
#define RAS_STACK_ENDS		7
#define RAS_STACK_KERNEL	0x01	/* kernel addresses */
#define RAS_STACK_CHANGED	0x02	/* code came or went in the process since its
					 * tables were made: frames may be wrong */

/*
 * The session's stacks so far, so that one that comes again takes 4 bytes in a
 * record: sets of RAS_STACK_WAYS. Which set a stack is looked for in, and the
 * `hash` in its head, are up to the writer; it is the same stack when its head and
 * all addresses are. Its number is that of the set times RAS_STACK_WAYS, plus the
 * place in it.
 *
 * A place is taken by a cmpxchg of its head RAS_STACK_FREE -> RAS_STACK_TAKEN; then
 * come the addresses, then the head (a plain store on x86, a release store
 * elsewhere). What has RAS_STACK_WHOLE is never changed. A stack that is in none
 * of the set's places, which are all used, stays in its record.
 */
#define RAS_STACK_WAYS		8

struct ras_stack_set {
	__u64 unplaced;		/* records with a stack for which there was no place
				 * here; atomic */
	__u64 heads[RAS_STACK_WAYS];	/* RAS_STACK_FREE, RAS_STACK_TAKEN, or
					 * length of the item | struct ras_stack
					 * << 16 | hash << 32 | RAS_STACK_WHOLE */
	__u64 addresses[];	/* of each place as many as the deepest STACK has */
};

#define RAS_STACK_SET_BYTES(depth)	(sizeof(struct ras_stack_set) + \
					 RAS_STACK_WAYS * 8 * (depth))
#define RAS_STACK_FREE		0
#define RAS_STACK_TAKEN		1	/* it is being written */
#define RAS_STACK_WHOLE		(1ULL << 63)

#define RAS_STACK_IDS_MAX	(1u << 20)	/* places of a session */
#define RAS_STACK_IDS_DEFAULT	8192

/*
 * hits = recorded + filtered + dropped, where filtered is the sum over
 * ras_why.filtered. `recorded` is plain, under the slice's lock; the others
 * are counted atomically, `dropped` in the row of the CPU's main slice.
 */
struct ras_count {
	__u64 recorded;
	__u64 dropped;
};

/* Why hits were not recorded, and items not read. */
#define RAS_FILTERED_SUSPENDED	0
#define RAS_FILTERED_FROZEN	1	/* after the trigger */
#define RAS_FILTERED_PROCESS	2	/* not of the processes asked for */
#define RAS_FILTERED_CONDITION	3	/* IF: zero, or not to be evaluated */
#define RAS_FILTERED_PASSED	4	/* PASSCOUNT */
#define RAS_FILTERED_MAXHITS	5
#define RAS_FILTERED_RATE	6	/* muted: above the records per second */
#define RAS_FILTERED_NESTED	7	/* a call inside another one (tdf.h) */
#define RAS_FILTERED_KINDS	8

#define RAS_FAULT_UNREADABLE	0	/* RAS_ITEM_FAULT, and of an IF */
#define RAS_FAULT_ABSENT	1	/* RAS_ITEM_LEFT, RAS_ITEM_NOT_TRIED */
#define RAS_FAULT_SELECTOR	2
#define RAS_FAULT_ARITHMETIC	3
#define RAS_FAULT_KINDS		4

struct ras_why {
	__u64 filtered[RAS_FILTERED_KINDS];	/* hits */
	__u64 faults[RAS_FAULT_KINDS];		/* items */
	__u64 paged_in;		/* records taken again after absent memory was
				 * brought in */
	/* of whole calls, which are hits, too, but for no_entry */
	__u64 never_returned;	/* another call began in its place, or its
				 * process has ended */
	__u64 no_entry;		/* exits of calls that were not in `open` */
	__u64 open;		/* calls in `open` when it was disarmed */
};

/*
 * What is added up in the kernel. The key goes on with the values of BY, each as
 * many bytes as the legend says, and zeros up to the size that all keys of the
 * session have. Of a text these are its characters, zeros, and in the last byte
 * whether it was cut; of a stack struct ras_by_stack.
 */
struct ras_aggregate_key {
	__u16 point;
	__u8 statement;		/* of the point's aggregates, from 0 */
	__u8 reserved;
	__u16 bucket;		/* of a HIST: RAS_BUCKET(); else 0 */
	__u16 epoch;		/* of struct ras_state, as far as 16 bits go; what
				 * has another one was cleared */
};

/* A process's stack: its addresses mean nothing in another one. The addresses are
 * as many as `item` says, and zeros up to as many as the BY has. */
struct ras_by_stack {
	__u32 pid;		/* 0: the kernel's */
	__u8 zeros[7];
	struct ras_item item;
	struct ras_stack stack;
	__u64 addresses[];
};

/* Of one CPU. All zeros is nothing; what the kind of aggregate has no use for is
 * 0. */
struct ras_aggregate {
	__u64 count;
	__u64 sum;		/* signed; modulo 2^64. SUM, HIST */
	__u64 least;		/* MIN: the least value, as ~(value ^ 1 << 63) */
	__u64 most;		/* MAX: the highest, as value ^ 1 << 63 */
};

#define RAS_AGGREGATES_MAX	(1u << 20)	/* keys of a session */
#define RAS_AGGREGATES_DEFAULT	16384
#define RAS_AGGREGATE_KEY_MAX	512		/* bytes: the kernel's limit */

/*
 * Buckets of a HIST: values below 2^RAS_BUCKET_SHIFT one each, from there on
 * every power of two in as many equal parts. Those of negative values are one.
 */
#define RAS_BUCKET_SHIFT	6
#define RAS_BUCKETS		3712
#define RAS_BUCKET_NEGATIVE	RAS_BUCKETS

struct ras_aggregated {
	__u64 hits;		/* that made no record, because the point has no
				 * data */
	__u64 lost;		/* additions that found no room for their key */
};

#define RAS_LEGEND_TEXT		56	/* bytes */
#define RAS_LEGEND_BY_TEXT	28

struct ras_legend {
	__u16 point, minor;
	__u8 statement;
	__u8 kind;		/* TDF_AGGREGATE_* */
	__u8 by_count;
	__u8 reserved;
	struct {
		__u8 kind;	/* TDF_BY_* */
		__u8 reserved;
		__u16 bytes;	/* of the key: a multiple of 8 */
		char text[RAS_LEGEND_BY_TEXT];	/* the expression */
	} by[4];
	char text[RAS_LEGEND_TEXT];	/* the expression, "" for hits; these end
					 * with a zero, and are cut */
	char name[64];			/* of the tracepoint: its TP clause */
};

/* Of one point, on all CPUs; counted atomically, from 0 when it is armed. */
struct ras_limit {
	__u64 passed;		/* hits passed over, as far as PASSCOUNT */
	__u64 recorded;		/* records, as far as MAXHITS; more are tried */
	__u64 second;		/* CLOCK_BOOTTIME ns at which the running second of
				 * the ceiling began */
	__u64 rate;		/* hits since then */
};

/*
 * The flight recorder stops around a trigger: the first record of a tracepoint
 * named by --stop-on claims it (IDLE to CLAIMED), has RAS_RECORD_TRIGGER, and
 * when it is published sets the other members and COUNTING with `left` records
 * to go (or FROZEN). Every record published while COUNTING counts `left` down;
 * the one that leaves 0 or less sets FROZEN. Hits that are under way then are
 * still recorded. User space sets IDLE again.
 */
struct ras_trigger {
	__u64 state;		/* RAS_TRIGGER_* */
	__s64 left;
	__u64 time;		/* CLOCK_BOOTTIME, ns: of the trigger's record */
	__u32 session;		/* whose point it was */
	__u32 point;
	__u64 reserved[4];
};

#define RAS_TRIGGER_IDLE	0
#define RAS_TRIGGER_COUNTING	1
#define RAS_TRIGGER_FROZEN	2	/* hits count as filtered */
#define RAS_TRIGGER_CLAIMED	3	/* for some ns: its record is published */

/* Of user space only: a kernel's bias is that of its session's sites. */
struct ras_process_key {
	__u32 pid;
	__u16 session;
	__u16 module;		/* index in the TDF */
};

struct ras_process {
	__u64 seen;		/* CLOCK_BOOTTIME, ns: of the first record with
				 * this bias */
	__u64 bias;		/* of the module there; 0 of static records */
	char comm[16];		/* of the thread that hit then */
};

#define RAS_CALL_ARGUMENTS	6

/* What a thread is doing. Written by its own programs only. */
struct ras_call {
	__u16 state;		/* RAS_CALL_* */
	__u16 level;
	__u16 minor;		/* CALLED: whose return probe waits */
	__u16 name;		/* minor that it is recorded with; 0: its own */
	__u64 stack;		/* stack pointer where it began */
	__u64 caller;		/* NAMED, RELEASED: the address to return to, that
				 * was there; another one: it is over */
	__u64 named;		/* NAMED: stack pointer of the last of the calls
				 * inside each other that give names */
	__u64 frames;		/* of these, with a name: as far as they are
				 * frames, and not jumped from */
	__u64 size;		/* bytes that one was called for */
	__u64 block;		/* RELEASED: its address. CALLED: the one that it
				 * takes in exchange, if that was chosen */
	__u64 trampoline;	/* where calls of this process return to while a
				 * return probe waits for them; 0: not known. A
				 * CALLED is over when this isn't at `stack`, or
				 * the thread is RAS_CALL_DEEPEST bytes below: it
				 * was left by longjmp() */
	__u64 began;		/* CALLED: jiffies; it is over after RAS_CALL_MOST
				 * of them, too */
	__u64 arguments[RAS_CALL_ARGUMENTS];
	__u64 left;		/* --sample: bytes to the next block; 0: none were
				 * drawn */
};

#define RAS_CALL_MOST		1000
#define RAS_CALL_DEEPEST	65536	/* bytes of stack that a call takes */

#define RAS_CALL_IDLE		0
#define RAS_CALL_CALLED		1
#define RAS_CALL_RELEASED	2
#define RAS_CALL_NAMED		3	/* by a CALL that makes no record */

/* A thread's off-CPU time, since a call of it was first seen */
struct ras_thread {
	__u64 off_cpu;		/* ns, until it was last switched to */
	__u64 left;		/* CLOCK_BOOTTIME when it was switched from; 0: it
				 * runs */
	__u64 switches;		/* how often it was, and back */
};

/* A call that has not returned */
struct ras_open_key {
	__u32 pid;		/* of kernel code: tid, or RAS_OPEN_IDLE for 0 */
	__u32 point;
	__u64 frame;		/* what the KEY yields */
};

#define RAS_OPEN_IDLE		0x7fffffff	/* an owner of a slot is not 0 */
#define RAS_OPEN_MAX		16384	/* in `open`, at a time */
#define RAS_OPEN_SLOTS		1024

/* The entry that changes `owner` from 0, or from its own key, has the slot. */
struct ras_open_slot {
	__u64 owner;		/* pid and point of the key as u64; 0: it is free;
				 * RAS_OPEN_BUSY: it is being written */
	__u64 frame;
	struct ras_record record;	/* and data */
};

#define RAS_OPEN_BUSY		((__u64)-1)
#define RAS_OPEN_SLOT_BYTES(open) \
	((sizeof(__u64) * 2 + (open) + 63) & ~63u)	/* of that many in `open` */

#define RAS_BLOCKS_MAX		(1u << 20)	/* blocks known at a time */

struct ras_block {
	__u32 pid;
	__u32 reserved;		/* 0 */
	__u64 address;
};

struct ras_state {
	__u32 state;		/* RAS_STATE_* */
	__u32 session;		/* index in the session log */
	__u32 epoch;		/* of aggregates: counts how often they were
				 * cleared */
	__u32 reserved[13];
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
	__u32 max_cpu;		/* --max-cpu: hundredths of a per cent of one
				 * CPU's time for all points; 0: no ceiling */
	__u32 used_cpu;		/* of these, in the second before `used_time` */
	__u64 used_time;	/* CLOCK_BOOTTIME, ns; 0: never measured */
	__u64 cleared;		/* CLOCK_BOOTTIME, ns; 0: never */
	__u64 reserved[5];
	__u64 tail[];		/* per slice (order of `count`): records that
				 * start before this position are cleared */
};

/* One armed TDF. Entries follow each other; size is a multiple of 8. */
struct ras_session {
	__u32 size;		/* of this entry with its points; 0 ends the
				 * log; written last */
	__u16 index;		/* what records carry, from 1 */
	__u16 major;
	__u32 points;		/* number of struct ras_session_point after it */
	__u32 flags;		/* RAS_SESSION_* */
	__u64 armed;		/* CLOCK_BOOTTIME, ns */
	__u64 disarmed;		/* the same; 0 while armed, and = armed before
				 * all of it is */
	__u8 id_kind;		/* TDF_ID_* (tdf.h) */
	__u8 id_length;
	__u8 id[30];		/* build-id of the module */
	__u32 context;		/* RAS_CONTEXT_* of its records */
	__u32 max_rate;		/* --max-rate: records per second of a point */
	__u64 device, inode;	/* of the module as armed; 0: the kernel */
	__u64 bytes;		/* its size; 0: not known, and the next two */
	__u64 mtime, ctime;	/* CLOCK_REALTIME, ns */
	__u64 changed;		/* CLOCK_BOOTTIME, ns, at which it was written to:
				 * later records may be of another build; 0: it
				 * wasn't */
	char tdf[256];		/* path of the TDF, cut at the left if longer; ends
				 * with a zero */
	char module[256];	/* path of the module as armed, cut at the left if
				 * longer; ends with a zero */
};

#define RAS_SESSION_MULTI	0x0001	/* uprobe_multi links, else perf_event */
#define RAS_SESSION_PREEMPT	0x0002	/* programs disable preemption */
#define RAS_SESSION_KERNEL	0x0004	/* has kprobes */
#define RAS_SESSION_BRINGS_IN	0x0008	/* absent memory is brought in */
#define RAS_SESSION_FILTERED	0x0010	/* processes were asked for */
#define RAS_SESSION_READS	0x0f00	/* RAS_READS_* */
#define RAS_SESSION_READS_SHIFT	8

/* How memory of processes is read: directly, or by helper calls, and why */
#define RAS_READS_NONE		0	/* not at all, or an older program armed */
#define RAS_READS_DIRECT	1
#define RAS_READS_ASKED		2	/* by helper: --reads=helper */
#define RAS_READS_PROCESSOR	3	/* not made for this processor */
#define RAS_READS_KERNEL	4	/* the kernel lacks functions or types */
#define RAS_READS_LOCKDOWN	5	/* the kernel is locked down */
#define RAS_READS_ADDRESSES	6	/* physical addresses are not shown */
#define RAS_READS_LEVELS	7	/* page tables have five levels */
#define RAS_READS_ENTRIES	8	/* of page tables: encrypted memory */
#define RAS_READS_UNPROVEN	9	/* the proof on pages of our own failed */
#define RAS_READS_KINDS		10

struct ras_session_point {
	__u64 hash;		/* data hash of the tracepoint */
	__u64 ended;		/* CLOCK_BOOTTIME, ns, by RAS_POINT_*; 0 armed */
	__u16 minor;
	__u16 type;		/* type mask */
	__u16 group;
	__u16 state;		/* RAS_POINT_* */
};

#define RAS_POINT_ARMED		0	/* as long as its session */
#define RAS_POINT_UNSELECTED	1	/* never armed in this session */
#define RAS_POINT_OFF		2	/* by `trace off` */
#define RAS_POINT_MAXHITS	3	/* has its MAXHITS, and disarmed itself */
#define RAS_POINT_MUTED		4	/* cost too much (--max-cpu) */

#endif
