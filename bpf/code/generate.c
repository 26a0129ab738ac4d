// SPDX-License-Identifier: GPL-2.0
/* The code of a body. */
#include "generate.h"

#include "gen.h"

/* Who hits, before preemption is off */
static void hit_generate(struct gen *gen)
{
	const struct plan *plan = gen->plan;

	if (plan->kind == PLAN_STATIC) {
		static_begin_generate(gen);
		start_state_generate(gen);
		filter_processes(gen);
	} else {
		start_state_generate(gen);
		start_cookie_generate(gen);
		filter_processes(gen);
		call_join_generate(gen);
		whole_join_generate(gen);
	}
	if (plan->fresh)
		code_module_kfunc(gen->c, BODY_MODULE_PLACE,
				  plan->target->segments_save, 0);
	start_bias_generate(gen);
	read_own_generate(gen);
}

/* Nothing of the buffer is needed. */
static void silent_enter(struct gen *gen)
{
	if (!gen->plan->alone)
		start_preempt(gen, false);
}

static void record_body_generate(struct gen *gen)
{
	const struct plan *plan = gen->plan;

	gen_note(gen, STMT_PROLOGUE);
	start_generate(gen);
	hit_generate(gen);
	if (!plan->early)
		record_enter(gen);
	filter_condition(gen);
	code_label_place(gen->c, gen->passed);
	if (plan->silent)
		silent_enter(gen);
	else if (plan->early)
		record_enter(gen);
	choose_block_generate(gen);
	filter_limits(gen);
	if (plan->silent)
		start_exits_generate(gen, 0);
	else
		record_generate(gen);
	again_generate(gen);
	filter_ways_generate(gen);
}

/* The program is called where the call begins, and where it returns. Goes on with
 * the return. */
static void session_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label returns = code_label_new(c);
	struct gen begins;

	gen_begin(&begins, gen->plan->begins, c, gen->shared, VERSION_ONLY);
	gen_note(gen, STMT_PROLOGUE);
	code_move(c, CONTEXT, R1);
	code_kfunc(c, gen->plan->target->is_return, 1);
	code_move(c, R1, CONTEXT);
	code_jump_imm(c, BPF_JNE, R0, 0, returns);
	call_begin_generate(&begins);
	code_label_place(c, returns);
}

/* Each is there if it is called by what is before it. */
static void functions_generate(struct gen *gen)
{
	process_keep_generate(gen);
	again_functions_generate(gen);
	trees_generate(gen);
	vma_generate(gen);
	unwind_steps_generate(gen);
}

int code_generate(struct code *c, const struct plan *plan)
{
	struct gen_shared shared = { 0 };
	struct gen gen;

	code_begin(c);
	shared.keep = code_label_new(c);
	shared.walk = code_label_new(c);
	shared.again = code_label_new(c);
	shared.tree[0] = code_label_new(c);
	shared.tree[1] = code_label_new(c);
	shared.bring = code_label_new(c);
	shared.touch = code_label_new(c);
	shared.mapping = code_label_new(c);
	gen_begin(&gen, plan, c, &shared,
		  plan->bring_in ? VERSION_FIRST : VERSION_ONLY);
	if (plan->begins)
		session_generate(&gen);
	if (plan->kind == PLAN_CALL)
		call_begin_generate(&gen);
	else
		record_body_generate(&gen);
	functions_generate(&gen);
	return code_finish(c);
}
