// SPDX-License-Identifier: GPL-2.0
/*
 * Which hits are recorded: the processes asked for, the IF, limits, the ceiling of
 * records per second; and where hits that aren't are counted.
 */
#include "gen.h"

#include <string.h>

#define SECOND		1000000000

/* r0 is none of the user ids: filtered. */
static void filter_uids(struct gen *gen, const struct body_filter *filter)
{
	code_label found = code_label_new(gen->c);
	struct code *c = gen->c;

	code_call(c, BPF_FUNC_get_current_uid_gid);
	code_zext32(c, R0);
	for (unsigned int i = 0; i < filter->uid_count; i++)
		code_jump_if(c, BPF_JEQ, R0, temp_const(gen, filter->uids[i]),
			     found);
	code_jump(c, gen->filtered[RAS_FILTERED_PROCESS]);
	code_label_place(c, found);
}

/* Levels repeat: one call for those that follow each other. */
static void filter_cgroups(struct gen *gen, const struct body_filter *filter)
{
	code_label found = code_label_new(gen->c);
	struct code *c = gen->c;

	for (unsigned int i = 0; i < filter->cgroup_count; i++) {
		int level = filter->cgroups[i].level;

		if (!i || level != filter->cgroups[i - 1].level) {
			code_alu_imm(c, BPF_MOV, R1, level);
			code_call(c, BPF_FUNC_get_current_ancestor_cgroup_id);
		}
		code_jump_if(c, BPF_JEQ, R0,
			     temp_const(gen, filter->cgroups[i].id), found);
	}
	code_jump(c, gen->filtered[RAS_FILTERED_PROCESS]);
	code_label_place(c, found);
}

/* A name is two words. */
static void filter_comms(struct gen *gen, const struct body_filter *filter)
{
	code_label found = code_label_new(gen->c);
	struct code *c = gen->c;
	code_slot name = code_slot_new(c, GEN_COMM_BYTES);
	int low = code_temp_new(c), high = code_temp_new(c);

	comm_to_slot(gen, name, 0);
	code_slot_load(c, 8, low, name, 0);
	code_slot_load(c, 8, high, name, 8);
	for (unsigned int i = 0; i < filter->comm_count; i++) {
		code_label next = code_label_new(c);
		uint64_t words[2];

		memcpy(words, filter->comms[i], sizeof(words));
		code_jump_if(c, BPF_JNE, low, temp_const(gen, words[0]), next);
		code_jump_if(c, BPF_JEQ, high, temp_const(gen, words[1]),
			     found);
		code_label_place(c, next);
	}
	code_jump(c, gen->filtered[RAS_FILTERED_PROCESS]);
	code_label_place(c, found);
}

static void filter_pids(struct gen *gen, const struct body_filter *filter)
{
	struct code *c = gen->c;

	code_call(c, BPF_FUNC_get_current_pid_tgid);
	code_alu_imm(c, BPF_RSH, R0, 32);
	code_lookup(c, filter->pids_fd, key_new(gen, R0),
		    gen->filtered[RAS_FILTERED_PROCESS]);
}

void filter_processes(struct gen *gen)
{
	const struct body_filter *filter = gen->plan->target->filter;

	if (!filter)
		return;
	if (filter->uid_count)
		filter_uids(gen, filter);
	if (filter->cgroup_count)
		filter_cgroups(gen, filter);
	if (filter->pids_fd >= 0)
		filter_pids(gen, filter);
	if (filter->comm_count)
		filter_comms(gen, filter);
}

void filter_condition(struct gen *gen)
{
	const struct plan *plan = gen->plan;
	const struct tdf_stmt *stmt = plan->condition;
	struct gen_value value;

	if (!stmt)
		return;
	gen_note(gen, stmt - plan->tdf->stmts);
	gen->fault = (struct gen_fault){
		gen->version == VERSION_FIRST && plan->early ?
		gen->absent_if : gen->unknown, false,
	};
	rpn_generate(gen, plan->tdf->rpn + stmt->rpn, stmt->rpn_length, &value);
	code_jump_imm(gen->c, BPF_JEQ, value_reg(gen, &value), 0,
		      gen->filtered[RAS_FILTERED_CONDITION]);
	gen_note(gen, STMT_PROLOGUE);
}

static void filter_passcount(struct gen *gen)
{
	code_label passed = code_label_new(gen->c);
	struct code *c = gen->c;
	int hits = temp_load(gen, 8, gen->limits, LIMIT_AT(passed));
	int most = temp_const(gen, gen->plan->point->passcount);

	code_jump_if(c, BPF_JGE, hits, most, passed);
	code_alu_imm(c, BPF_MOV, hits, 1);
	code_atomic(c, BPF_ADD | BPF_FETCH, gen->limits, LIMIT_AT(passed),
		    hits);
	code_jump_if(c, BPF_JLT, hits, most,
		     gen->filtered[RAS_FILTERED_PASSED]);
	code_label_place(c, passed);
}

/* A second is over: another one begins. */
static void rate_restart(struct gen *gen)
{
	code_label running = code_label_new(gen->c);
	int second = temp_load(gen, 8, gen->limits, LIMIT_AT(second));
	struct code *c = gen->c;
	int passed = code_copy(c, gen->time);

	code_alu(c, BPF_SUB, passed, second);
	code_jump_imm(c, BPF_JSLT, passed, SECOND, running);
	code_move(c, R0, second);
	code_atomic(c, BPF_CMPXCHG, gen->limits, LIMIT_AT(second),
		    code_copy(c, gen->time));
	code_jump_if(c, BPF_JNE, R0, second, running);
	code_store_imm(c, 8, gen->limits, LIMIT_AT(rate), 0);
	code_label_place(c, running);
}

/* Far above the rate its line is read only: the CPUs share it. */
static void filter_rate(struct gen *gen)
{
	code_label filtered = gen->filtered[RAS_FILTERED_RATE];
	code_label below = code_label_new(gen->c);
	struct code *c = gen->c;
	int rate, most;

	code_call(c, BPF_FUNC_ktime_get_boot_ns);
	code_move(c, gen->time, R0);
	code_const(c, gen->muted, 0);
	rate_restart(gen);
	most = temp_const(gen, gen->plan->target->max_rate);
	rate = temp_load(gen, 8, gen->limits, LIMIT_AT(rate));
	code_jump_if(c, BPF_JGT, rate, most, filtered);
	code_alu_imm(c, BPF_MOV, rate, 1);
	code_atomic(c, BPF_ADD | BPF_FETCH, gen->limits, LIMIT_AT(rate), rate);
	code_jump_if(c, BPF_JLT, rate, most, below);
	code_jump_if(c, BPF_JNE, rate, most, filtered);
	code_const(c, gen->muted, 1);
	code_label_place(c, below);
}

/* A hit that makes no record counts here. */
static void filter_silent(struct gen *gen)
{
	struct code *c = gen->c;
	int hits = temp_const(gen, 1);

	code_atomic(c, BPF_ADD | BPF_FETCH, gen->limits, LIMIT_AT(recorded),
		    hits);
	code_jump_if(c, BPF_JGE, hits,
		     temp_const(gen, gen->plan->maxhits),
		     gen->filtered[RAS_FILTERED_MAXHITS]);
}

void filter_limits(struct gen *gen)
{
	const struct tdf_point *point = gen->plan->point;
	const struct body_target *target = gen->plan->target;
	bool rate = target->max_rate && !gen->plan->silent;
	struct code *c = gen->c;
	int most, recorded;

	if (gen->plan->kind == PLAN_STATIC ||
	    (!point->passcount && !gen->plan->maxhits && !rate) ||
	    (gen->plan->enters && !gen->plan->maxhits))
		return;
	code_lookup(c, target->limits_fd, key_new(gen, point_reg(gen)),
		    gen->leave);
	code_move(c, gen->limits, R0);
	if (point->passcount && !gen->plan->enters)
		filter_passcount(gen);
	if (gen->plan->maxhits) {
		/* one after the other: compilers differ in the order of
		 * arguments */
		most = temp_const(gen, gen->plan->maxhits);
		recorded = temp_load(gen, 8, gen->limits, LIMIT_AT(recorded));
		code_jump_if(c, BPF_JGE, recorded, most,
			     gen->filtered[RAS_FILTERED_MAXHITS]);
	}
	if (gen->plan->maxhits && gen->plan->silent)
		filter_silent(gen);
	if (rate && !gen->plan->enters)
		filter_rate(gen);
}

/* Where hits that aren't recorded are counted: before there is a cookie, with
 * preemption on, with preemption off. `way` is which word of the row of `why`. */
struct ways_out {
	code_label first, early, late, closed;
	int way;
};

static code_label way_find(const struct gen *gen, const struct ways_out *w,
			   int kind)
{
	switch (kind) {
	case RAS_FILTERED_SUSPENDED: case RAS_FILTERED_FROZEN:
		return w->first;
	case RAS_FILTERED_PROCESS: case RAS_FILTERED_NESTED:
		return w->early;
	case RAS_FILTERED_CONDITION:
		return gen->plan->early || gen->plan->kind == PLAN_CALL ? w->early : w->late;
	default:
		return w->late;
	}
}

static void way_generate(struct gen *gen, const struct ways_out *w, int kind)
{
	struct code *c = gen->c;

	code_label_place(c, gen->filtered[kind]);
	if (kind == RAS_FILTERED_CONDITION)
		choose_block_undo(gen);
	code_const(c, w->way, WHY_FILTERED(kind));
	if (kind == RAS_FILTERED_CONDITION && gen->plan->leaves) {
		whole_close_generate(gen);
		code_jump(c, w->closed);
		return;
	}
	code_jump(c, way_find(gen, w, kind));
}

/* An IF that can't be evaluated is a fault, too. */
static void unknown_generate(struct gen *gen)
{
	code_label_place(gen->c, gen->unknown);
	why_count(gen, WHY_FAULT(RAS_FAULT_UNREADABLE));
	code_jump(gen->c, gen->filtered[RAS_FILTERED_CONDITION]);
}

/* An exit counts if its call was kept, an entry in any case. */
static void whole_filtered(struct gen *gen)
{
	if (gen->plan->leaves)
		whole_forget(gen, gen->out);
	whole_none_generate(gen);
}

void filter_ways_generate(struct gen *gen)
{
	struct code *c = gen->c;
	struct ways_out w = {
		code_label_new(c), code_label_new(c), code_label_new(c),
		code_label_new(c), code_temp_new(c),
	};

	code_rare_begin(c);
	gen_note(gen, STMT_PROLOGUE);
	if (code_label_used(c, gen->unknown))
		unknown_generate(gen);
	for (int kind = 0; kind < RAS_FILTERED_KINDS; kind++)
		if (code_label_used(c, gen->filtered[kind]))
			way_generate(gen, &w, kind);
	code_label_place(c, w.late);
	if (!gen->plan->alone)
		start_preempt(gen, true);
	code_jump(c, w.early);
	code_label_place(c, w.first);
	if (gen->plan->kind != PLAN_STATIC)
		start_cookie_generate(gen);
	code_label_place(c, w.early);
	whole_filtered(gen);
	code_label_place(c, w.closed);
	why_row_load(gen, gen->out);
	code_alu(c, BPF_ADD, R0, w.way);
	code_atomic(c, BPF_ADD, R0, 0, temp_const(gen, 1));
	code_jump(c, gen->out);
	code_rare_end(c);
}
