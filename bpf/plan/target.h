/* SPDX-License-Identifier: GPL-2.0 */
/* Where a body's program runs: the kernel's structures, the maps, what is asked. */
#ifndef BPF_PLAN_TARGET_H
#define BPF_PLAN_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include "direct.h"

enum body_context {
	BODY_UPROBE,	/* ctx is struct pt_regs; ip = probed address */
	BODY_KPROBE,	/* ctx is struct pt_regs; ip = probed address, on x86
			 * that + 1; memory is the kernel's */
	BODY_TEST,	/* for test runs: a map holds the cookie and pt_regs */
};

/* What the kernel's structures look like: offsets in bytes from its BTF. */
struct body_layout {
	/* of task_struct.thread: those of body_thread_bases, the selectors ds,
	 * es and what else segments need (segment.c); 0: unknown */
	__u32 thread_base[2];
	__u32 thread_ds, thread_es, thread_fsindex, thread_gsindex;
	__u32 tls_array;		/* task_struct.thread.tls_array */
	__u32 task_mm, mm_ldt;		/* task_struct.mm, mm_struct.context.ldt */
	__u32 ldt_entries, ldt_count;	/* struct ldt_struct */
	__u32 task_parent, task_tgid;	/* task_struct.real_parent, tgid */
	/* of what bpf_find_vma shows; all or none, but vma_uffd (of struct
	 * vm_area_struct.vm_userfaultfd_ctx.ctx; 0: the kernel has no
	 * userfaultfd) */
	__u32 vma_flags, vma_file, vma_ops, vma_uffd;
	__u32 file_inode, inode_mode, inode_sb, sb_magic, sb_bdev;
	__u32 mm_xol, xol_vaddr;	/* where the process's return probes wait:
					 * mm_struct.uprobes_state.xol_area,
					 * xol_area.vaddr */
	/* of the return probe that is hit: task_struct.utask,
	 * uprobe_task.return_instances, struct return_instance */
	__u32 task_utask, utask_returns;
	__u32 return_func, return_stack, return_chained;
	__u32 task_btf;			/* BTF id of struct task_struct */
	__u32 task_waits, task_yields;	/* its counts of switches from it: nvcsw,
					 * nivcsw */
	/* the count of what is interrupted: task_struct.thread_info's, or of the
	 * CPU: BTF id of the variable, and offset in it; 0: not that one */
	__u32 task_count, cpu_count, cpu_count_at;
	bool vma;			/* these are known */
	/* of direct reads: mm_struct.pgd, mm_struct.context.tlb_gen; BTF ids of
	 * bpf_rdonly_cast and of struct pt_regs, whose words it reads */
	__u32 mm_pgd, mm_flushes;
	__u32 mm_stack, mm_code;	/* mm_struct.start_stack, exec_vm */
	__u32 cast_kfunc, cast_type;
};

#define BODY_FILTERS	8		/* most of a kind */

/* Which processes are traced: any of each kind that is given. */
struct body_filter {
	int pids_fd;			/* set of process ids; -1 none */
	__u32 uids[BODY_FILTERS];
	char comms[BODY_FILTERS][16];	/* padded with zeros */
	struct { __u64 id; int level; } cgroups[BODY_FILTERS];
	unsigned int uid_count, comm_count, cgroup_count;
};

/* Run-time address of a section, for the DW_OP_addr in it. */
struct body_section {
	__u64 address, size;		/* as in the TDF */
	__u64 run;			/* of its first byte */
	bool percpu;			/* run + offset of the running CPU */
};

/* Registers that pt_regs doesn't have: members of task_struct.thread, and which
 * thread_base they are. A kernel has those of its processor. */
#define BODY_THREAD_BASES	3
extern const struct body_thread_base {
	const char *member;
	int index;
} body_thread_bases[BODY_THREAD_BASES];

/* Of points that are CALL or RELEASE (tdf.h), and stacks without frame pointers
 * (unwind.h). */
struct body_heap {
	int calls_fd;		/* buffer.h; -1: there are no such points */
	int blocks_fd;		/* -1: all blocks are recorded */
	int owners_fd;		/* a hash: process -> whose memory it works in;
				 * who isn't there has its own. -1: all have */
	__u64 min_size;		/* smaller blocks aren't recorded */
	__u64 sample;		/* a block of n bytes is recorded with the chance
				 * 1 - exp(-n / sample); 0: always */
	int rows_fd, segments_fd, spaces_fd;	/* unwind.h; -1: there are no
						 * tables */
	int cache_fd;		/* unwind.h; -1: rows are searched each time */
	int asks_fd;		/* unwind.h; -1: tables are made without being
				 * asked for, and replaced when they change */
};

/* An offset in an expression ("plus_uconst", "addr" of user space, that of "breg")
 * that is not the same in all sites of the program. */
struct body_offset {
	__u32 at;		/* of the operation in the TDF's table */
	__u32 word;		/* of the site's in the map; BODY_OFFSET_NONE:
				 * it's the operation's operand */
	__u64 rest;		/* what is added to it */
};
#define BODY_OFFSET_NONE	((__u32)-1)

/* The same of a register, which struct pt_regs has. The layout has what reads it. */
struct body_register {
	bool item;		/* of a REGS */
	__u32 at;		/* of the operation in the TDF's table; of an item
				 * index of the statement */
	__u32 word;		/* of the site's in the map: where pt_regs has it */
};

/* The same of the length of a MEM that is an item by itself */
struct body_length {
	__u32 stmt;		/* index in the TDF's table */
	__u32 word;		/* of the site's in the map */
	__u32 most;		/* what it is at most: a multiple of 8 */
};

/* Where the program runs and which maps it finds there. */
struct body_target {
	enum body_context context;
	/* buffer.h; map fds go into the code */
	int buffer_fd, nest_fd, trigger_fd;
	int processes_fd;		/* -1: who hits isn't kept */
	int count_fd, why_fd, state_fd, sites_fd;
	int limits_fd;
	int aggregates_fd, aggregated_fd;	/* where a point has aggregates */
	int by_stack_fd;		/* one entry for each CPU, of
					 * BODY_BY_STACK_BYTES and a key, where one
					 * has a BY of a stack */
	__u32 aggregate_key;		/* bytes of a key, which the site may need
					 * fewer of (plan_aggregate_key()); 0: so
					 * many */
	int open_fd;			/* of whole calls; what an entry takes */
	__u32 open_bytes;
	int slots_fd;			/* with so many entries, 2^n; 0: none */
	__u32 slots;
	int threads_fd;			/* where one has its CPU time */
	int offsets_fd;			/* words of 8 bytes, by site */
	const struct body_offset *offsets;	/* those that are there */
	const struct body_length *lengths;
	const struct body_register *registers;
	__u32 offset_count, length_count, register_count;
	int test_fd;			/* BODY_TEST: one entry, u64 cookie,
					 * then struct pt_regs */
	bool single;			/* the program has one link, with this
					 * cookie: it goes into the code */
	__u64 cookie;
	__u64 key;
	__u64 slice_bytes, nest_bytes;
	__u32 cpus;			/* possible CPUs */
	__u16 session, major;
	/* BTF ids of the kfuncs bpf_preempt_disable and _enable in vmlinux;
	 * 0: the kernel has none */
	__u32 preempt_disable, preempt_enable;
	/* The same of bpf_session_is_return; 0: a call's two sites are two
	 * programs */
	__u32 is_return;
	/* BTF id of the kernel module's kfunc rastrace_segments_save;
	 * 0: it isn't there, and segment registers are as of the last context
	 * switch */
	__u32 segments_save;
	/* The same of rastrace_vector_read; 0: what is in vector registers is
	 * absent */
	__u32 vector_read;
	int module_fd;			/* of their BTF */
	int address_bits;		/* of user space; 0: what is usual with
					 * the processor */
	bool func_ip;			/* bpf_get_func_ip works at a return probe
					 * of user space where its function is */
	bool bring_in;			/* absent memory is brought in; the program
					 * becomes sleepable where it reads any */
	const struct body_layout *layout;
	const struct body_direct *direct;	/* NULL: memory is read by helpers */
	const struct body_filter *filter;	/* NULL: all processes */
	const struct body_heap *heap;	/* NULL: the TDF has no such points, and
					 * there are no tables */
	__u32 context_mask;		/* RAS_CONTEXT_* */
	__u32 context_depth;		/* frames of RAS_CONTEXT_STACK */
	int stack_table_fd;		/* so many sets, and frames of a stack there */
	__u32 stack_sets, stack_depth;	/* 0: there is none */
	__u32 max_rate;			/* records per second; 0: no ceiling */
	__u32 max_hits;			/* MAXHITS of points that have none, or
					 * more; 0: there is none */
	bool trigger;			/* this point stops the recording */
	__u64 trigger_after;		/* ... after so many more records */
	/* of a kernel's module, when arming; user space has none */
	const struct body_section *sections;
	__u32 section_count;
	__u64 percpu_offsets;		/* address of the kernel's __per_cpu_offset */
};

#define BODY_MODULE_PLACE	1	/* in the program's fd_array: BTF of the
					 * kernel module, when one of its kfuncs
					 * is called */
#define BODY_BY_STACK_BYTES	72	/* aggregate.c */
#define BODY_UNWINDS		8	/* stacks by tables, each has one */
/* A body's subprograms, in their order */
enum {
	BODY_KEEP, BODY_WALK, BODY_AGAIN, BODY_TREE, BODY_TREE_WALK,
	BODY_BRING_IN, BODY_TOUCH, BODY_MAPPING, BODY_UNWIND_FIRST,
};
#define BODY_SUBPROGRAMS	(BODY_UNWIND_FIRST + BODY_UNWINDS)

#endif
