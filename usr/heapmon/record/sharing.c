// SPDX-License-Identifier: GPL-2.0
#include "sharing.h"

#include <unistd.h>
#include <bpf/bpf.h>
#include "lib/buffer/pin.h"
#include "lib/arm/arm.h"

/* Frame, offsets from r10 */
#define FRAME_PARENT_MEMORY	(-8)	/* pointer */
#define FRAME_CHILD_MEMORY	(-16)	/* pointer */
#define FRAME_DATA		(-24)	/* struct sharing_data: a key of owners */
#define FRAME_PARENT		(-28)	/* process id: another */
#define FRAME_OWNER		(-32)	/* process id: its value */

#define OWNERS_MAX		4096	/* at a time; then the oldest goes */

struct sharing_offsets {
	uint32_t mm, tgid;
};

static void emit_owners_call(struct emit *e, int owners, int helper, int key)
{
	emit_map(e, BPF_REG_1, owners);
	raw_tracepoint_frame(e, BPF_REG_2, key);
	emit_call(e, helper);
}

/* sched_process_fork(parent, child): in the parent, before the child runs, whose
 * process id may have been another's */
static void sharing_fork_emit(struct emit *e, int rings, int owners,
			      const struct sharing_offsets *offsets)
{
	emit_label end = emit_label_new(e), apart = emit_label_new(e);
	emit_label known;

	emit_alu(e, BPF_MOV, BPF_REG_6, BPF_REG_1);
	raw_tracepoint_member(e, BPF_REG_6, 1, offsets->tgid, FRAME_DATA, 4);
	raw_tracepoint_current(e, FRAME_PARENT);
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_DATA);
	emit_jump_if(e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);	/* a thread */
	raw_tracepoint_member(e, BPF_REG_6, 0, offsets->mm, FRAME_PARENT_MEMORY,
			      8);
	raw_tracepoint_member(e, BPF_REG_6, 1, offsets->mm, FRAME_CHILD_MEMORY,
			      8);
	emit_load(e, 8, BPF_REG_1, BPF_REG_10, FRAME_PARENT_MEMORY);
	emit_load(e, 8, BPF_REG_2, BPF_REG_10, FRAME_CHILD_MEMORY);
	emit_jump_if(e, BPF_JNE, BPF_REG_1, BPF_REG_2, apart);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_1, 0, end);	/* the kernel's */
	if (owners >= 0) {
		/* The child works in the memory that its parent works in. */
		known = emit_label_new(e);
		emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_PARENT);
		emit_store(e, 4, BPF_REG_10, FRAME_OWNER, BPF_REG_1);
		emit_lookup(e, owners, FRAME_PARENT, known);
		emit_load(e, 4, BPF_REG_1, BPF_REG_0, 0);
		emit_store(e, 4, BPF_REG_10, FRAME_OWNER, BPF_REG_1);
		emit_label_place(e, known);
		raw_tracepoint_frame(e, BPF_REG_3, FRAME_OWNER);
		emit_alu_imm(e, BPF_MOV, BPF_REG_4, BPF_ANY);
		emit_owners_call(e, owners, BPF_FUNC_map_update_elem,
				 FRAME_DATA);
	}
	emit_alu(e, BPF_MOV, BPF_REG_1, BPF_REG_6);
	emit_map(e, BPF_REG_2, rings);
	emit_const(e, BPF_REG_3, BPF_F_CURRENT_CPU);
	raw_tracepoint_frame(e, BPF_REG_4, FRAME_DATA);
	emit_alu_imm(e, BPF_MOV, BPF_REG_5, sizeof(struct sharing_data));
	emit_call(e, BPF_FUNC_perf_event_output);
	emit_jump(e, end);
	emit_label_place(e, apart);
	if (owners >= 0)
		emit_owners_call(e, owners, BPF_FUNC_map_delete_elem,
				 FRAME_DATA);
	raw_tracepoint_end(e, end);
}

int sharing_owners_make(struct error *err)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "owners",
				sizeof(uint32_t), sizeof(uint32_t), OWNERS_MAX,
				NULL);

	return fd < 0 ? pin_refused(err, fd, "cannot make the map 'owners'") :
			fd;
}

int sharing_start(struct sharing *sharing, struct perf_rings *rings, int owners,
		  struct error *err)
{
	struct emit e = { 0 };
	struct sharing_offsets offsets;
	const struct btf_want wants[] = {
		{ "task_struct.mm", &offsets.mm },
		{ "task_struct.tgid", &offsets.tgid },
	};
	int code = raw_tracepoint_offsets(wants, 2, err);
	emit_label end;

	if (code)
		return code;
	code = perf_rings_map(rings);
	if (code < 0)
		return pin_refused(err, code, "cannot make the map 'rings'");
	sharing_fork_emit(&e, code, owners, &offsets);
	sharing->fork = raw_tracepoint_attach(&e, "sched_process_fork", err);
	if (sharing->fork < 0)
		return sharing->fork;
	if (owners < 0)
		return 0;
	e = (struct emit){ 0 };

	/* sched_process_exec(task, ...): in the one that has a memory of its
	 * own now */
	end = emit_label_new(&e);
	raw_tracepoint_current(&e, FRAME_DATA);
	emit_owners_call(&e, owners, BPF_FUNC_map_delete_elem, FRAME_DATA);
	raw_tracepoint_end(&e, end);

	sharing->exec = raw_tracepoint_attach(&e, "sched_process_exec", err);
	return sharing->exec < 0 ? sharing->exec : 0;
}

void sharing_stop(struct sharing *sharing)
{
	if (sharing->fork >= 0)
		close(sharing->fork);
	if (sharing->exec >= 0)
		close(sharing->exec);
	*sharing = SHARING_NONE;
}
