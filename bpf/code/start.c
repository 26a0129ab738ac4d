// SPDX-License-Identifier: GPL-2.0
/* How a body begins and ends: who hits, whether it is on, where. */
#include "gen.h"

void gen_begin(struct gen *gen, const struct plan *plan, struct code *c,
	       struct gen_shared *shared, enum version version)
{
	*gen = (struct gen){
		.plan = plan, .c = c, .shared = shared, .version = version,
		.cookie = code_slot_new(c, 8), .row = code_slot_new(c, 4),
		.bias = code_temp_new(c), .own = code_temp_new(c),
		.offsets = code_temp_new(c),
		.limits = code_temp_new(c), .time = code_temp_new(c),
		.muted = code_temp_new(c), .data = code_temp_new(c),
		.call = code_temp_new(c), .level = code_temp_new(c),
		.block = code_temp_new(c), .size = code_temp_new(c),
		.old = code_temp_new(c), .open = code_temp_new(c),
		.slot = code_temp_new(c), .thread = code_temp_new(c),
		.absent = code_label_new(c), .absent_if = code_label_new(c),
		.elsewhere = code_label_new(c), .passed = code_label_new(c),
		.absent_aggregate = code_label_new(c),
		.aggregated = code_label_new(c),
		.unknown = code_label_new(c), .leave = code_label_new(c),
		.out = code_label_new(c),
	};
	for (int i = 0; i < RAS_FILTERED_KINDS; i++)
		gen->filtered[i] = code_label_new(c);
}

/*
 * Also where the kernel doesn't preempt itself: most kernels are built so that
 * this can change while a probe is armed (PREEMPT_DYNAMIC), and two calls that
 * count take 1 to 2 ns.
 */
void start_preempt(struct gen *gen, bool enable)
{
	const struct body_target *target = gen->plan->target;

	if (target->preempt_disable && target->preempt_enable)
		code_kfunc(gen->c, enable ? target->preempt_enable :
					    target->preempt_disable, 0);
}

/*
 * Touch the frame's deepest word. The verifier of 6.18 else refuses, now and
 * then, programs that reach a known state with less frame in use ("verifier
 * bug: stack slot").
 */
void start_generate(struct gen *gen)
{
	const struct body_target *target = gen->plan->target;
	struct code *c = gen->c;

	if (target->context == BODY_TEST)
		code_map_value(c, CONTEXT, target->test_fd, 8);
	else
		code_move(c, CONTEXT, R1);
	if (gen->plan->alone)
		start_preempt(gen, false);
	code_frame_touch(c);
}

void start_state_generate(struct gen *gen)
{
	struct code *c = gen->c;
	int state = code_temp_new(c);

	code_map_value(c, state, gen->plan->target->state_fd, 0);
	code_load(c, 4, state, state, offsetof(struct ras_state, state));
	code_jump_imm(c, BPF_JEQ, state, RAS_STATE_SUSPENDED,
		      gen->filtered[RAS_FILTERED_SUSPENDED]);
	code_jump_imm(c, BPF_JNE, state, RAS_STATE_ON, gen->out);
	trigger_test(gen);
}

/* The level is not in records. */
static void level_split(struct gen *gen)
{
	struct code *c = gen->c;

	code_move(c, gen->level, R0);
	code_alu_imm(c, BPF_RSH, gen->level, RAS_COOKIE_LEVEL_SHIFT);
	code_alu_imm(c, BPF_LSH, R0, 64 - RAS_COOKIE_LEVEL_SHIFT);
	code_alu_imm(c, BPF_RSH, R0, 64 - RAS_COOKIE_LEVEL_SHIFT);
}

void start_cookie_generate(struct gen *gen)
{
	const struct body_target *target = gen->plan->target;
	struct code *c = gen->c;

	if (gen->plan->known) {
		code_const(c, gen->level,
			   target->cookie >> RAS_COOKIE_LEVEL_SHIFT);
		return;
	}
	if (target->context == BODY_TEST) {
		code_map_value(c, R0, target->test_fd, 0);
		code_load(c, 8, R0, R0, 0);
	} else {
		code_move(c, R1, CONTEXT);
		code_call(c, BPF_FUNC_get_attach_cookie);
	}
	if (gen->plan->point->level)
		level_split(gen);
	code_slot_store(c, 8, gen->cookie, 0, R0);
}

/* A temp with the probed address, at a return probe its function's */
static int probed_load(struct gen *gen)
{
	const struct plan *plan = gen->plan;

	if (plan->target->context != BODY_UPROBE ||
	    !(plan->site->flags & TDF_SITE_RETURN))
		return temp_load(gen, 8, CONTEXT, plan->cpu->ip);
	if (!plan->target->func_ip)
		return returned_generate(gen);
	code_move(gen->c, R1, CONTEXT);
	code_call(gen->c, BPF_FUNC_get_func_ip);
	return code_copy(gen->c, R0);
}

static void start_offsets_generate(struct gen *gen)
{
	const struct body_target *target = gen->plan->target;

	if (!target->offset_count && !target->length_count &&
	    !target->register_count)
		return;
	code_lookup(gen->c, target->offsets_fd, key_new(gen, site_reg(gen)),
		    gen->out);
	code_move(gen->c, gen->offsets, R0);
}

/* Kernel: sites[] holds the bias. User: the address as linked. */
void start_bias_generate(struct gen *gen)
{
	const struct plan *plan = gen->plan;
	struct code *c = gen->c;
	int linked;

	start_offsets_generate(gen);
	if (plan->kind == PLAN_STATIC)
		code_const(c, gen->bias, 0);
	if ((!plan->relocated && !plan->process) || plan->bias_known ||
	    plan->kind == PLAN_STATIC)
		return;
	code_lookup(c, plan->target->sites_fd, key_new(gen, site_reg(gen)),
		    gen->out);
	if (plan->target->context == BODY_KPROBE) {
		code_load(c, 8, gen->bias, R0, 0);
		return;
	}
	linked = temp_load(gen, 8, R0, 0);
	code_move(c, gen->bias, probed_load(gen));
	code_alu(c, BPF_SUB, gen->bias, linked);
}

void start_exits_generate(struct gen *gen, int result)
{
	bool off = gen->plan->alone || gen->version == VERSION_AGAIN;
	struct code *c = gen->c;

	code_label_place(c, gen->leave);
	aggregates_generate(gen);
	whole_close_generate(gen);
	if (off)
		code_label_place(c, gen->out);
	start_preempt(gen, true);
	if (!off)
		code_label_place(c, gen->out);
	code_alu_imm(c, BPF_MOV, R0, result);
	code_exit(c);
}
