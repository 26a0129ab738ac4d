// SPDX-License-Identifier: GPL-2.0
#include "sharing.h"

#include "../../lib/buffer/pin.h"
#include "../../trace/arm/raw_tracepoint.h"

/* Frame, offsets from r10 */
#define FRAME_PARENT_MEMORY	(-8)	/* pointer */
#define FRAME_CHILD_MEMORY	(-16)	/* pointer */
#define FRAME_DATA		(-24)	/* struct sharing_data */

struct offsets {
	uint32_t mm, tgid;
};

/* frame[off] = member of the task that is an argument of the context at r6 */
static void emit_member(struct emit *e, int argument, uint32_t member, int off,
			int bytes)
{
	emit_load(e, 8, BPF_REG_3, BPF_REG_6, 8 * argument);
	emit_alu_imm(e, BPF_ADD, BPF_REG_3, member);
	raw_tracepoint_read(e, off, bytes);
}

/* sched_process_fork(parent, child): in the parent, before the child runs */
static void program_emit(struct emit *e, int rings,
			 const struct offsets *offsets)
{
	emit_label end = emit_label_new(e);

	emit_alu(e, BPF_MOV, BPF_REG_6, BPF_REG_1);
	emit_member(e, 0, offsets->mm, FRAME_PARENT_MEMORY, 8);
	emit_member(e, 1, offsets->mm, FRAME_CHILD_MEMORY, 8);
	emit_load(e, 8, BPF_REG_1, BPF_REG_10, FRAME_PARENT_MEMORY);
	emit_load(e, 8, BPF_REG_2, BPF_REG_10, FRAME_CHILD_MEMORY);
	emit_jump_if(e, BPF_JNE, BPF_REG_1, BPF_REG_2, end);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_1, 0, end);	/* the kernel's */
	emit_member(e, 1, offsets->tgid, FRAME_DATA, 4);
	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(e, BPF_RSH, BPF_REG_0, 32);
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_DATA);
	emit_jump_if(e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);	/* a thread */
	emit_alu(e, BPF_MOV, BPF_REG_1, BPF_REG_6);
	emit_map(e, BPF_REG_2, rings);
	emit_const(e, BPF_REG_3, BPF_F_CURRENT_CPU);
	raw_tracepoint_frame(e, BPF_REG_4, FRAME_DATA);
	emit_alu_imm(e, BPF_MOV, BPF_REG_5, sizeof(struct sharing_data));
	emit_call(e, BPF_FUNC_perf_event_output);
	raw_tracepoint_end(e, end);
}

int sharing_start(struct perf_rings *rings, struct error *err)
{
	struct emit e = { 0 };
	struct offsets offsets;
	const struct btf_want wants[] = {
		{ "task_struct.mm", &offsets.mm },
		{ "task_struct.tgid", &offsets.tgid },
	};
	int map = raw_tracepoint_offsets(wants, 2, err);

	if (map)
		return map;
	map = perf_rings_map(rings);
	if (map < 0)
		return pin_refused(err, map, "cannot make the map 'rings'");
	program_emit(&e, map, &offsets);
	return raw_tracepoint_attach(&e, "sched_process_fork", err);
}
