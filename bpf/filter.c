// SPDX-License-Identifier: GPL-2.0
/*
 * Which hits are recorded: the processes asked for, the ceiling of records per
 * second; and where hits that aren't are counted.
 */
#include "gen.h"

#include <string.h>

#define LIMIT(field)	((int)offsetof(struct ras_limit, field))
#define SECOND		1000000000

/* The kinds whose hits come here before preemption is off. */
#define KIND_EARLY(kind)	((kind) < RAS_FILTERED_CONDITION || \
				 (kind) == RAS_FILTERED_NESTED)

/* r0 is none of the user ids: filtered. */
static void filter_uids(struct gen *gen, const struct body_filter *filter)
{
	emit_label found = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_call(e, BPF_FUNC_get_current_uid_gid);
	emit_zext32(e, R0);
	for (unsigned int i = 0; i < filter->uid_count; i++) {
		emit_const(e, R1, filter->uids[i]);
		emit_jump_if(e, BPF_JEQ, R0, R1, found);
	}
	emit_jump(e, gen->filtered[RAS_FILTERED_PROCESS]);
	emit_label_place(e, found);
}

/* Levels repeat: one call for those that follow each other. */
static void filter_cgroups(struct gen *gen, const struct body_filter *filter)
{
	emit_label found = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	for (unsigned int i = 0; i < filter->cgroup_count; i++) {
		int level = filter->cgroups[i].level;

		if (!i || level != filter->cgroups[i - 1].level) {
			emit_alu_imm(e, BPF_MOV, R1, level);
			emit_call(e, BPF_FUNC_get_current_ancestor_cgroup_id);
		}
		emit_const(e, R1, filter->cgroups[i].id);
		emit_jump_if(e, BPF_JEQ, R0, R1, found);
	}
	emit_jump(e, gen->filtered[RAS_FILTERED_PROCESS]);
	emit_label_place(e, found);
}

/* A name is two words. */
static void filter_comms(struct gen *gen, const struct body_filter *filter)
{
	emit_label found = emit_label_new(&gen->e);
	struct emit *e = &gen->e;
	int name = gen_frame_take(gen, 2);

	gen_comm_store(gen, FP, name);
	emit_load(e, 8, R3, FP, name);
	emit_load(e, 8, R4, FP, name + 8);
	for (unsigned int i = 0; i < filter->comm_count; i++) {
		emit_label next = emit_label_new(e);
		uint64_t words[2];

		memcpy(words, filter->comms[i], sizeof(words));
		emit_const(e, R1, words[0]);
		emit_jump_if(e, BPF_JNE, R3, R1, next);
		emit_const(e, R1, words[1]);
		emit_jump_if(e, BPF_JEQ, R4, R1, found);
		emit_label_place(e, next);
	}
	emit_jump(e, gen->filtered[RAS_FILTERED_PROCESS]);
	emit_label_place(e, found);
}

static void filter_pids(struct gen *gen, const struct body_filter *filter)
{
	struct emit *e = &gen->e;

	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_alu_imm(e, BPF_RSH, R0, 32);
	emit_store(e, 4, FP, FRAME_ROW, R0);
	emit_lookup(e, filter->pids_fd, FRAME_ROW,
		    gen->filtered[RAS_FILTERED_PROCESS]);
}

void filter_processes(struct gen *gen)
{
	const struct body_filter *filter = gen->target->filter;

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

/* r3 = the point's struct ras_limit, r0 = now */
static void rate_restart(struct gen *gen)
{
	emit_label running = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 8, R2, R3, LIMIT(second));
	emit_alu(e, BPF_MOV, R1, R0);
	emit_alu(e, BPF_SUB, R1, R2);
	emit_jump_imm(e, BPF_JSLT, R1, SECOND, running);
	emit_alu(e, BPF_MOV, R1, R0);
	emit_alu(e, BPF_MOV, R0, R2);
	emit_atomic(e, BPF_CMPXCHG, R3, LIMIT(second), R1);
	emit_jump_if(e, BPF_JNE, R0, R2, running);
	emit_store_imm(e, 8, R3, LIMIT(rate), 0);
	emit_label_place(e, running);
}

/* Far above the rate its line is read only: the CPUs share it. */
void filter_rate(struct gen *gen)
{
	emit_label filtered = gen->filtered[RAS_FILTERED_RATE];
	emit_label below = emit_label_new(&gen->e);
	uint32_t max = gen->target->max_rate;
	struct emit *e = &gen->e;

	if (!max)
		return;
	emit_call(e, BPF_FUNC_ktime_get_boot_ns);
	emit_store(e, 8, FP, FRAME_TIME, R0);
	emit_store_imm(e, 4, FP, FRAME_MUTED, 0);
	emit_load(e, 8, R3, FP, FRAME_LIMITS);
	rate_restart(gen);
	emit_const(e, R2, max);
	emit_load(e, 8, R1, R3, LIMIT(rate));
	emit_jump_if(e, BPF_JGT, R1, R2, filtered);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD | BPF_FETCH, R3, LIMIT(rate), R1);
	emit_jump_if(e, BPF_JLT, R1, R2, below);
	emit_jump_if(e, BPF_JNE, R1, R2, filtered);
	emit_store_imm(e, 4, FP, FRAME_MUTED, 1);
	emit_label_place(e, below);
}

/* r9 = which word of the row of `why` counts this kind */
static void way_generate(struct gen *gen, int kind, emit_label count)
{
	struct emit *e = &gen->e;

	if (!emit_label_used(e, gen->filtered[kind]))
		return;
	emit_label_place(e, gen->filtered[kind]);
	if (kind == RAS_FILTERED_CONDITION)
		choose_block_undo(gen);
	emit_alu_imm(e, BPF_MOV, R9, WHY_FILTERED(kind));
	emit_jump(e, count);
}

/* An IF that can't be evaluated is a fault, too. */
static void unknown_generate(struct gen *gen)
{
	if (!emit_label_used(&gen->e, gen->unknown))
		return;
	emit_label_place(&gen->e, gen->unknown);
	why_count(gen, WHY_FAULT(RAS_FAULT_UNREADABLE));
	emit_jump(&gen->e, gen->filtered[RAS_FILTERED_CONDITION]);
}

/* The same where preemption isn't off. */
static void undecided_generate(struct gen *gen)
{
	if (!emit_label_used(&gen->e, gen->undecided))
		return;
	emit_label_place(&gen->e, gen->undecided);
	gen_cpu_load(gen);
	why_count(gen, WHY_FAULT(RAS_FAULT_UNREADABLE));
	emit_jump(&gen->e, gen->refused);
}

static void refused_generate(struct gen *gen, emit_label count)
{
	if (!emit_label_used(&gen->e, gen->refused))
		return;
	emit_label_place(&gen->e, gen->refused);
	emit_alu_imm(&gen->e, BPF_MOV, R9,
		     WHY_FILTERED(RAS_FILTERED_CONDITION));
	emit_jump(&gen->e, count);
}

void filter_ways_generate(struct gen *gen)
{
	emit_label first = emit_label_new(&gen->e);
	emit_label early = emit_label_new(&gen->e);
	emit_label late = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	unknown_generate(gen);
	undecided_generate(gen);
	refused_generate(gen, early);
	for (int kind = 0; kind < RAS_FILTERED_KINDS; kind++)
		way_generate(gen, kind, kind < RAS_FILTERED_PROCESS ? first :
			     KIND_EARLY(kind) ? early : late);
	if (emit_label_used(e, late)) {
		emit_label_place(e, late);
		record_preempt(gen, true);
		emit_jump(e, early);
	}
	emit_label_place(e, first);
	if (!gen->is_static)
		gen_cookie_load(gen);
	emit_label_place(e, early);
	gen_cpu_load(gen);
	why_row_load(gen, gen->out);
	emit_alu(e, BPF_ADD, R0, R9);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R0, 0, R1);
	emit_jump(e, gen->out);
}
