/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tracepoint's body: its data statements as eBPF instructions that take a
 * slice of the buffer, write the record and publish it (rastrace/buffer.h).
 * A pure function: no system calls, the same instructions on every host.
 *
 * Everything that differs between two tracepoints of one session and is not
 * in the statements comes from the link's cookie, so bodies that come out
 * equal, instruction by instruction, are one program.
 */
#ifndef BPF_BODY_H
#define BPF_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/bpf.h>
#include "../usr/lib/error.h"
#include "../usr/lib/tdf.h"

enum body_context {
	BODY_UPROBE,	/* ctx is struct pt_regs; ip = probed address */
	BODY_KPROBE,	/* ctx is struct pt_regs; ip = probed address + 1;
			 * memory is the kernel's */
	BODY_TEST,	/* for test runs: a map holds the cookie and pt_regs */
};

/* Registers that pt_regs doesn't have: members of task_struct.thread, by name
 * (of fs.base, gs.base). */
#define BODY_THREAD_BASES	2
extern const char *const body_thread_bases[BODY_THREAD_BASES];

/* Where the program runs and which maps it finds there. */
struct body_target {
	enum body_context context;
	int buffer_fd, nest_fd;		/* buffer.h; map fds go into the code */
	int count_fd, state_fd, sites_fd;
	int limits_fd;
	int test_fd;			/* BODY_TEST: one entry, u64 cookie,
					 * then struct pt_regs */
	__u64 key;
	__u64 slice_bytes, nest_bytes;
	__u32 cpus;			/* possible CPUs */
	__u16 session, major;
	/* BTF ids of the kfuncs bpf_preempt_disable and _enable in vmlinux;
	 * 0: the kernel has none */
	__u32 preempt_disable, preempt_enable;
	bool strong;			/* publish with an exchange, not a plain
					 * store: not x86 */
	bool func_ip;			/* bpf_get_func_ip tells at a return probe
					 * of user space where its function is */
	/* offsets in struct task_struct of body_thread_bases; 0: unknown */
	__u32 thread_base[BODY_THREAD_BASES];
};

struct body_note {		/* which statement made an instruction */
	__u32 insn;		/* index of its first instruction */
	int stmt;		/* index in the TDF; -1 prologue, -2 epilogue */
};

struct body {
	struct bpf_insn *insns;
	size_t count;
	struct body_note *notes;
	size_t note_count;
};

/* What the body of a site needs beside the session's maps. */
struct body_needs {
	bool limits;		/* limits_fd: MAXHITS or PASSCOUNT */
	bool func_ip;		/* static data at a return probe of user space */
	bool thread_base;	/* a register of body_thread_bases */
};

struct body_needs body_needs_find(const struct tdf *tdf,
				  const struct tdf_point *point,
				  const struct tdf_site *site);

/*
 * Generate the body of one site of a tracepoint. 0, or a negative errno with
 * err set; -EOPNOTSUPP: the target hasn't what it needs (a register that is
 * not in pt_regs, segments). The caller frees with body_free().
 */
int body_generate(struct body *body, const struct tdf *tdf,
		  const struct tdf_point *point, const struct tdf_site *site,
		  const struct body_target *target, struct error *err);
void body_free(struct body *body);

/* Print one instruction ("r1 = *(u64 *)(r6 +112)") into text; returns how
 * many struct bpf_insn it takes (2 for 64-bit immediates). */
int disasm_print(const struct bpf_insn *insn, char *text, size_t size);

#endif
