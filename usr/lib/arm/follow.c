// SPDX-License-Identifier: GPL-2.0
#include "follow.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include "raw_tracepoint.h"

/* Frame of both programs, offsets from r10 */
#define FRAME_CHILD	(-4)	/* process id */
#define FRAME_CURRENT	(-8)	/* likewise */
#define FRAME_VALUE	(-12)	/* of an entry */
#define FRAME_LIVE	(-16)	/* threads that live */
#define FRAME_SIGNAL	(-24)	/* pointer */

struct offsets {
	uint32_t tgid, signal, live;
};

static int offsets_find(struct offsets *offsets, struct error *err)
{
	const struct btf_want wants[] = {
		{ "task_struct.tgid", &offsets->tgid },
		{ "task_struct.signal", &offsets->signal },
		{ "signal_struct.live", &offsets->live },
	};

	return raw_tracepoint_offsets(wants, 3, err);
}

/* sched_process_fork(parent, child): in the one that forks */
static void fork_emit(struct emit *e, int pids, const struct offsets *offsets)
{
	emit_label end = emit_label_new(e);

	raw_tracepoint_member(e, BPF_REG_1, 1, offsets->tgid, FRAME_CHILD, 4);
	raw_tracepoint_current(e, FRAME_CURRENT);
	/* a thread */
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_CHILD);
	emit_jump_if(e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);
	emit_map(e, BPF_REG_1, pids);
	raw_tracepoint_frame(e, BPF_REG_2, FRAME_CURRENT);
	emit_call(e, BPF_FUNC_map_lookup_elem);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_0, 0, end);
	emit_store_imm(e, 4, BPF_REG_10, FRAME_VALUE, 0);
	emit_map(e, BPF_REG_1, pids);
	raw_tracepoint_frame(e, BPF_REG_2, FRAME_CHILD);
	raw_tracepoint_frame(e, BPF_REG_3, FRAME_VALUE);
	emit_alu_imm(e, BPF_MOV, BPF_REG_4, BPF_ANY);
	emit_call(e, BPF_FUNC_map_update_elem);
	raw_tracepoint_end(e, end);
}

/* sched_process_exit(task): in each thread; its number is still taken */
static void exit_emit(struct emit *e, int pids, const struct offsets *offsets)
{
	emit_label end = emit_label_new(e);

	raw_tracepoint_member(e, BPF_REG_1, 0, offsets->signal, FRAME_SIGNAL, 8);
	emit_load(e, 8, BPF_REG_3, BPF_REG_10, FRAME_SIGNAL);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, offsets->live);
	raw_tracepoint_read(e, FRAME_LIVE, 4);
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_LIVE);
	emit_jump_imm(e, BPF_JNE, BPF_REG_1, 0, end);
	raw_tracepoint_current(e, FRAME_CURRENT);
	emit_map(e, BPF_REG_1, pids);
	raw_tracepoint_frame(e, BPF_REG_2, FRAME_CURRENT);
	emit_call(e, BPF_FUNC_map_delete_elem);
	raw_tracepoint_end(e, end);
}

static int tracepoint_follow(void (*emit)(struct emit *e, int pids,
					  const struct offsets *offsets),
			     int pids, const struct offsets *offsets,
			     const char *name, const struct run_dir *run,
			     const char *dir, struct error *err)
{
	struct emit e = { 0 };
	char path[PATH_MAX];
	int link, code;

	emit(&e, pids, offsets);
	link = raw_tracepoint_attach(&e, name, err);
	if (link < 0)
		return link;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	code = run_dir_pin(run, path, link, RUN_PIN_PRIVATE, err);
	close(link);
	return code;
}

int follow_start(int pids, const struct run_dir *run, const char *dir,
		 struct error *err)
{
	struct offsets offsets;
	int code = offsets_find(&offsets, err);

	if (code)
		return code;
	code = tracepoint_follow(exit_emit, pids, &offsets,
				 "sched_process_exit", run, dir, err);
	return code ? code :
	       tracepoint_follow(fork_emit, pids, &offsets,
				 "sched_process_fork", run, dir, err);
}
