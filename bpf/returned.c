// SPDX-License-Identifier: GPL-2.0
/*
 * Which function has returned, where bpf_get_func_ip() doesn't work (6.1): the
 * kernel goes through the thread's list of pending return probes, whose first
 * one stays there meanwhile (handle_trampoline() in kernel/events/uprobes.c).
 * It is the one that is hit when it was entered with this stack pointer; unless
 * it is chained, when another function has returned to the same place.
 */
#include "gen.h"

#define NOWHERE	0x40000000	/* times 2^32: never an address */

bool returned_known(const struct body_layout *layout)
{
	return layout && layout->task_utask && layout->utask_returns &&
	       layout->return_func && layout->return_stack &&
	       layout->return_chained;
}

/* It was entered with the stack pointer r0, from which returning takes what the
 * call has pushed. */
static void stack_check(struct gen *gen, emit_label failed)
{
	struct emit *e = &gen->e;

	emit_alu_imm(e, BPF_ADD, R0, gen->cpu->call_bytes);
	emit_load(e, 8, R2, R6, gen->cpu->stack);
	emit_jump_if(e, BPF_JNE, R0, R2, failed);
}

void returned_load(struct gen *gen)
{
	const struct body_layout *layout = gen->target->layout;
	int first = gen_frame_take(gen, 2), read = first + 8;
	struct emit *e = &gen->e;
	emit_label failed, done;

	if (!returned_known(layout))
		return;		/* scan.c reports it */
	failed = emit_label_new(e);
	done = emit_label_new(e);
	emit_call(e, BPF_FUNC_get_current_task);
	gen_member_load(gen, read, 8, layout->task_utask, failed);
	gen_member_load(gen, first, 8, layout->utask_returns, failed);
	gen_member_load(gen, read, 8, layout->return_stack, failed);
	stack_check(gen, failed);
	emit_load(e, 8, R0, FP, first);
	gen_member_load(gen, read, 1, layout->return_chained, failed);
	emit_jump_imm(e, BPF_JNE, R0, 0, failed);
	emit_load(e, 8, R0, FP, first);
	gen_member_load(gen, read, 8, layout->return_func, failed);
	emit_jump(e, done);
	emit_label_place(e, failed);
	emit_alu_imm(e, BPF_MOV, R0, NOWHERE);
	emit_alu_imm(e, BPF_LSH, R0, 32);
	emit_label_place(e, done);
}
