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

/* Where the program runs and which maps it finds there. */
struct body_target {
	enum body_context context;
	int buffer_fd, nest_fd;		/* buffer.h; map fds go into the code */
	int count_fd, state_fd, sites_fd;
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

/*
 * Generate the body of one tracepoint. 0, or a negative errno with err set
 * (a register that is not in pt_regs, segments, too many instructions). The
 * caller frees with body_free().
 */
int body_generate(struct body *body, const struct tdf *tdf,
		  const struct tdf_point *point,
		  const struct body_target *target, struct error *err);
void body_free(struct body *body);

/* Print one instruction ("r1 = *(u64 *)(r6 +112)") into text; returns how
 * many struct bpf_insn it takes (2 for 64-bit immediates). */
int disasm_print(const struct bpf_insn *insn, char *text, size_t size);

#endif
