// SPDX-License-Identifier: GPL-2.0
#include "follow.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../../../bpf/emit.h"
#include "../../lib/buffer/pin.h"
#include "../../lib/sysbpf.h"
#include "../kernel/btf.h"

#define BTF_PATH	"/sys/kernel/btf/vmlinux"

/* Frame of both programs, offsets from r10 */
#define FRAME_CHILD	(-4)	/* process id */
#define FRAME_CURRENT	(-8)	/* likewise */
#define FRAME_VALUE	(-12)	/* of an entry */
#define FRAME_LIVE	(-16)	/* threads that live */
#define FRAME_SIGNAL	(-24)	/* pointer */

struct offsets {
	uint32_t tgid, signal, live;
};

static bool offsets_find(struct offsets *offsets)
{
	const struct btf_want wants[] = {
		{ "task_struct.tgid", &offsets->tgid },
		{ "task_struct.signal", &offsets->signal },
		{ "signal_struct.live", &offsets->live },
	};

	*offsets = (struct offsets){ 0 };
	return !btf_find(BTF_PATH, wants, 3) && offsets->tgid &&
	       offsets->signal && offsets->live;
}

static void emit_frame(struct emit *e, int dst, int off)
{
	emit_alu(e, BPF_MOV, dst, BPF_REG_10);
	emit_alu_imm(e, BPF_ADD, dst, off);
}

/* frame[off] = `bytes` bytes of the kernel at r3 */
static void emit_read(struct emit *e, int off, int bytes)
{
	emit_frame(e, BPF_REG_1, off);
	emit_alu_imm(e, BPF_MOV, BPF_REG_2, bytes);
	emit_call(e, BPF_FUNC_probe_read_kernel);
}

static void emit_current(struct emit *e)
{
	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(e, BPF_RSH, BPF_REG_0, 32);
	emit_store(e, 4, BPF_REG_10, FRAME_CURRENT, BPF_REG_0);
}

static void emit_end(struct emit *e, emit_label end)
{
	emit_label_place(e, end);
	emit_alu_imm(e, BPF_MOV, BPF_REG_0, 0);
	emit_exit(e);
}

/* sched_process_fork(parent, child): in the one that forks */
static void fork_emit(struct emit *e, int pids, const struct offsets *offsets)
{
	emit_label end = emit_label_new(e);

	emit_load(e, 8, BPF_REG_3, BPF_REG_1, 8);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, offsets->tgid);
	emit_read(e, FRAME_CHILD, 4);
	emit_current(e);
	/* a thread */
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_CHILD);
	emit_jump_if(e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);
	emit_map(e, BPF_REG_1, pids);
	emit_frame(e, BPF_REG_2, FRAME_CURRENT);
	emit_call(e, BPF_FUNC_map_lookup_elem);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_0, 0, end);
	emit_store_imm(e, 4, BPF_REG_10, FRAME_VALUE, 0);
	emit_map(e, BPF_REG_1, pids);
	emit_frame(e, BPF_REG_2, FRAME_CHILD);
	emit_frame(e, BPF_REG_3, FRAME_VALUE);
	emit_alu_imm(e, BPF_MOV, BPF_REG_4, BPF_ANY);
	emit_call(e, BPF_FUNC_map_update_elem);
	emit_end(e, end);
}

/* sched_process_exit(task): in each thread; its number is still taken */
static void exit_emit(struct emit *e, int pids, const struct offsets *offsets)
{
	emit_label end = emit_label_new(e);

	emit_load(e, 8, BPF_REG_3, BPF_REG_1, 0);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, offsets->signal);
	emit_read(e, FRAME_SIGNAL, 8);
	emit_load(e, 8, BPF_REG_3, BPF_REG_10, FRAME_SIGNAL);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, offsets->live);
	emit_read(e, FRAME_LIVE, 4);
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_LIVE);
	emit_jump_imm(e, BPF_JNE, BPF_REG_1, 0, end);
	emit_current(e);
	emit_map(e, BPF_REG_1, pids);
	emit_frame(e, BPF_REG_2, FRAME_CURRENT);
	emit_call(e, BPF_FUNC_map_delete_elem);
	emit_end(e, end);
}

static int program_load(void (*emit)(struct emit *e, int pids,
				     const struct offsets *offsets),
			int pids, const struct offsets *offsets)
{
	struct emit e = { 0 };
	int fd;

	emit(&e, pids, offsets);
	fd = emit_finish(&e);
	if (!fd)
		fd = sysbpf_program_load(&(struct sysbpf_program){
			.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
			.insns = e.insns, .count = e.count,
		}, NULL, 0);
	free(e.insns);
	emit_free(&e);
	return fd;
}

static int tracepoint_attach(int program, const char *name,
			     const struct run_dir *run, const char *dir,
			     struct error *err)
{
	char path[PATH_MAX];
	int link, code;

	if (program == -EINVAL) {
		/* the helpers that read aren't there */
		error_set(err, program, "cannot load a program for %s", name);
		error_hint(err, "programs may not read the kernel's memory under lockdown=confidentiality (/sys/kernel/security/lockdown)");
		return program;
	}
	if (program < 0)
		return pin_refused(err, program,
				   "cannot load a program for %s", name);
	link = sysbpf_raw_tracepoint_link(program, name);
	if (link < 0)
		return pin_refused(err, link, "cannot attach to %s", name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	code = run_dir_pin(run, path, link, RUN_PIN_PRIVATE, err);
	close(link);
	return code;
}

static int tracepoint_follow(void (*emit)(struct emit *e, int pids,
					  const struct offsets *offsets),
			     int pids, const struct offsets *offsets,
			     const char *name, const struct run_dir *run,
			     const char *dir, struct error *err)
{
	int program = program_load(emit, pids, offsets);
	int code = tracepoint_attach(program, name, run, dir, err);

	if (program >= 0)
		close(program);
	return code;
}

int follow_start(int pids, const struct run_dir *run, const char *dir,
		 struct error *err)
{
	struct offsets offsets;
	int code;

	if (!offsets_find(&offsets))
		return error_set(err, -EOPNOTSUPP,
				 "--follow needs a kernel with type information (CONFIG_DEBUG_INFO_BTF)");
	code = tracepoint_follow(exit_emit, pids, &offsets,
				 "sched_process_exit", run, dir, err);
	return code ? code :
	       tracepoint_follow(fork_emit, pids, &offsets,
				 "sched_process_fork", run, dir, err);
}
