// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rastrace/buffer.h>
#include "bpf/emit.h"
#include "lib/buffer/pin.h"
#include "lib/sysbpf.h"

#define CONTEXT		BPF_REG_6
#define THREAD		BPF_REG_7
#define THREAD_AT(field)	((int)offsetof(struct ras_thread, field))
#define SWITCH		"sched_switch"

/* sched_switch(preempt, prev, next): r7 = the thread of an argument; without a
 * call: to `none` */
static void thread_emit(struct emit *e, int fd, int argument, emit_label none)
{
	emit_map(e, BPF_REG_1, fd);
	emit_load(e, 8, BPF_REG_2, CONTEXT, 8 * argument);
	emit_alu_imm(e, BPF_MOV, BPF_REG_3, 0);
	emit_alu_imm(e, BPF_MOV, BPF_REG_4, 0);
	emit_call(e, BPF_FUNC_task_storage_get);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_0, 0, none);
	emit_alu(e, BPF_MOV, THREAD, BPF_REG_0);
}

/* A switch that was missed is one that `switches` doesn't have. */
static void switch_emit(struct emit *e, int fd)
{
	emit_label next = emit_label_new(e), end = emit_label_new(e);

	emit_alu(e, BPF_MOV, CONTEXT, BPF_REG_1);
	thread_emit(e, fd, 1, next);
	emit_call(e, BPF_FUNC_ktime_get_boot_ns);
	emit_store(e, 8, THREAD, THREAD_AT(left), BPF_REG_0);
	emit_label_place(e, next);
	thread_emit(e, fd, 2, end);
	emit_call(e, BPF_FUNC_ktime_get_boot_ns);
	emit_load(e, 8, BPF_REG_1, THREAD, THREAD_AT(left));
	emit_jump_imm(e, BPF_JEQ, BPF_REG_1, 0, end);
	emit_alu(e, BPF_SUB, BPF_REG_0, BPF_REG_1);
	emit_load(e, 8, BPF_REG_1, THREAD, THREAD_AT(off_cpu));
	emit_alu(e, BPF_ADD, BPF_REG_1, BPF_REG_0);
	emit_store(e, 8, THREAD, THREAD_AT(off_cpu), BPF_REG_1);
	emit_load(e, 8, BPF_REG_1, THREAD, THREAD_AT(switches));
	emit_alu_imm(e, BPF_ADD, BPF_REG_1, 1);
	emit_store(e, 8, THREAD, THREAD_AT(switches), BPF_REG_1);
	emit_store_imm(e, 8, THREAD, THREAD_AT(left), 0);
	emit_label_place(e, end);
	emit_alu_imm(e, BPF_MOV, BPF_REG_0, 0);
	emit_exit(e);
}

/* A program whose context is typed: task_storage_get takes no other task. */
static int switch_load(int threads)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = BPF_TRACE_RAW_TP);
	struct emit e = { 0 };
	int fd = libbpf_find_vmlinux_btf_id(SWITCH, BPF_TRACE_RAW_TP);

	if (fd < 0)
		return fd;
	opts.attach_btf_id = fd;
	switch_emit(&e, threads);
	fd = emit_finish(&e);
	if (!fd)
		fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "rastrace", "GPL",
				   e.insns, e.count, &opts);
	free(e.insns);
	emit_free(&e);
	return fd;
}

static int switch_attach(int threads, const struct run_dir *run,
			 const char *dir, struct error *err)
{
	int program = switch_load(threads), link, code;
	char path[PATH_MAX];

	if (program < 0)
		return pin_refused(err, program,
				   "cannot load a program for " SWITCH);
	link = bpf_raw_tracepoint_open(NULL, program);
	close(program);
	if (link < 0)
		return pin_refused(err, link, "cannot attach to " SWITCH);
	snprintf(path, sizeof(path), "%s/" SWITCH, dir);
	code = run_dir_pin(run, path, link, RUN_PIN_PRIVATE, err);
	close(link);
	return code;
}

int threads_make(int *fd, const struct run_dir *run, const char *dir, bool dry,
		 struct error *err)
{
	char path[PATH_MAX];
	int code;

	*fd = sysbpf_task_storage_create("threads", sizeof(struct ras_thread));
	if (*fd < 0)
		return pin_refused(err, *fd, "cannot make the map 'threads'");
	snprintf(path, sizeof(path), "%s/threads", dir);
	code = run_dir_pin(run, path, *fd, RUN_PIN_PRIVATE, err);
	return code || dry ? code : switch_attach(*fd, run, dir, err);
}
