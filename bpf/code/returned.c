// SPDX-License-Identifier: GPL-2.0
/*
 * Which function has returned, where bpf_get_func_ip() doesn't work (6.1): the
 * kernel goes through the thread's list of pending return probes, whose first
 * one stays there meanwhile (handle_trampoline() in kernel/events/uprobes.c).
 * It is the one that is hit when it was entered with this stack pointer; unless
 * it is chained, when another function has returned to the same place.
 */
#include "gen.h"

#define NOWHERE	(0x40000000ULL << 32)	/* never an address */

int returned_generate(struct gen *gen)
{
	const struct body_layout *layout = gen->plan->target->layout;
	const struct processor *cpu = gen->plan->cpu;
	struct code *c = gen->c;
	code_label failed = code_label_new(c), done = code_label_new(c);
	int function = code_temp_new(c), first = code_temp_new(c);

	if (!plan_returned_known(layout)) {	/* the plan has reported it */
		code_const(c, function, NOWHERE);
		return function;
	}
	code_call(c, BPF_FUNC_get_current_task);
	member_load(gen, R0, 8, R0, layout->task_utask, failed);
	member_load(gen, first, 8, R0, layout->utask_returns, failed);
	/* It was entered with this stack pointer, from which returning takes
	 * what the call has pushed. */
	member_load(gen, R0, 8, first, layout->return_stack, failed);
	code_alu_imm(c, BPF_ADD, R0, cpu->call_bytes);
	code_load(c, 8, R2, CONTEXT, cpu->stack);
	code_jump_if(c, BPF_JNE, R0, R2, failed);
	member_load(gen, R0, 1, first, layout->return_chained, failed);
	code_jump_imm(c, BPF_JNE, R0, 0, failed);
	member_load(gen, function, 8, first, layout->return_func, failed);
	code_rare_begin(c);
	code_label_place(c, failed);
	code_const(c, function, NOWHERE);
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, done);
	return function;
}
