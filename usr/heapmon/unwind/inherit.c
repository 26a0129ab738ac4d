// SPDX-License-Identifier: GPL-2.0
#include "inherit.h"

#include <rastrace/unwind.h>
#include "lib/arm/arm.h"

/* Frame, offsets from r10 */
#define FRAME_PARENT	(-4)	/* process id */
#define FRAME_CHILD	(-8)	/* process id */
#define FRAME_SPACE	(-16)	/* struct unwind_space */

int inherit_start(int spaces, struct error *err)
{
	struct emit e = { 0 };
	uint32_t tgid;
	const struct btf_want want = { "task_struct.tgid", &tgid };
	int code = raw_tracepoint_offsets(&want, 1, err);
	emit_label end;

	_Static_assert(sizeof(struct unwind_space) == 8, "it is copied as a word");
	if (code)
		return code;

	/* sched_process_fork(parent, child): in the parent, before the child
	 * runs */
	end = emit_label_new(&e);
	raw_tracepoint_member(&e, BPF_REG_1, 1, tgid, FRAME_CHILD, 4);
	raw_tracepoint_current(&e, FRAME_PARENT);
	emit_load(&e, 4, BPF_REG_1, BPF_REG_10, FRAME_CHILD);
	emit_jump_if(&e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);	/* a thread */
	emit_lookup(&e, spaces, FRAME_PARENT, end);
	emit_load(&e, 8, BPF_REG_1, BPF_REG_0, 0);
	emit_store(&e, 8, BPF_REG_10, FRAME_SPACE, BPF_REG_1);
	emit_map(&e, BPF_REG_1, spaces);
	raw_tracepoint_frame(&e, BPF_REG_2, FRAME_CHILD);
	raw_tracepoint_frame(&e, BPF_REG_3, FRAME_SPACE);
	emit_alu_imm(&e, BPF_MOV, BPF_REG_4, BPF_ANY);
	emit_call(&e, BPF_FUNC_map_update_elem);
	raw_tracepoint_end(&e, end);

	return raw_tracepoint_attach(&e, "sched_process_fork", err);
}
