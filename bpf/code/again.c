// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that isn't resident. What a body reads is read without faulting; where
 * that fails, the record is given up as if it hadn't begun, and with no slice
 * taken and preemption on every statement is evaluated once more, which brings
 * in what it can. Then the record is taken again.
 *
 * What may wait is a subprogram, BODY_WALK, whose result is a register: while it
 * waits, kernels from 6.13 on let other hits on the CPU have the same memory
 * for their frames (struct plan, `alone`). So nothing that is in a frame is used
 * after it: context and cookie are in registers, which are kept on the thread's
 * own stack, and the record is taken again by BODY_AGAIN, with a frame of its own.
 */
#include "gen.h"

#define COOKIE	RECORD		/* while there is no record */
#define BIAS	RECORD
#define BITS	PLACE

/* SLICE is locked: the record that was begun is none. */
static void give_up(struct gen *gen)
{
	code_label missing = code_label_new(gen->c);
	struct code *c = gen->c;
	int recorded;

	if (gen->plan->enters) {	/* no record was begun */
		record_unlock(gen);
		return;
	}
	code_lookup(c, gen->plan->target->count_fd, gen->row, missing);
	recorded = temp_load(gen, 8, R0, COUNT_AT(recorded));
	code_alu_imm(c, BPF_SUB, recorded, 1);
	code_store(c, 8, R0, COUNT_AT(recorded), recorded);
	code_label_place(c, missing);
	record_unlock(gen);
}

/* r0 = the bits of the items, or of nothing: of the IF; keeps COOKIE. Preemption
 * is on. */
static void walk_call(struct gen *gen, bool condition)
{
	struct code *c = gen->c;

	code_move(c, COOKIE, cookie_reg(gen));
	code_move(c, R1, CONTEXT);
	code_move(c, R2, COOKIE);
	code_alu_imm(c, BPF_MOV, R3, condition);
	code_call_label(c, gen->shared->walk, 3);
}

/* A record whose items are absent, or that has no slice */
static void absent_generate(struct gen *gen)
{
	struct code *c = gen->c;

	code_rare_begin(c);
	code_label_place(c, gen->absent);
	give_up(gen);
	code_label_place(c, gen->elsewhere);
	start_preempt(gen, true);
	walk_call(gen, false);
	code_move(c, R1, CONTEXT);
	code_move(c, R2, COOKIE);
	code_move(c, R3, R0);
	code_call_label(c, gen->shared->again, 3);
	code_alu_imm(c, BPF_MOV, R0, 0);
	code_exit(c);
	code_rare_end(c);
}

/* An IF: it is evaluated again, now for good. */
static void absent_if_generate(struct gen *gen)
{
	struct gen final = *gen;
	struct code *c = gen->c;

	final.version = VERSION_ONLY;
	code_rare_begin(c);
	code_label_place(c, gen->absent_if);
	if (gen->plan->alone)
		start_preempt(gen, true);
	walk_call(gen, true);
	if (gen->plan->alone)
		start_preempt(gen, false);
	if (!gen->plan->known)
		code_slot_store(c, 8, gen->cookie, 0, COOKIE);
	start_bias_generate(gen);
	whole_find(gen, gen->out);
	filter_condition(&final);
	code_jump(c, gen->passed);
	code_rare_end(c);
}

/* Aggregates, of which none is added up yet: the same. The record is done. A call
 * that isn't found again was closed by another hit. */
static void absent_aggregate_generate(struct gen *gen)
{
	struct gen final = *gen;
	struct code *c = gen->c;
	code_label gone = code_label_new(c);

	final.version = VERSION_ONLY;
	code_rare_begin(c);
	code_label_place(c, gen->absent_aggregate);
	start_preempt(gen, true);
	walk_call(gen, false);
	start_preempt(gen, false);
	if (!gen->plan->known)
		code_slot_store(c, 8, gen->cookie, 0, COOKIE);
	start_bias_generate(gen);
	whole_find(gen, gone);
	aggregates_final(&final);
	code_jump(c, gen->aggregated);
	code_label_place(c, gone);
	if (!gen->plan->alone)
		start_preempt(gen, true);
	code_jump(c, gen->out);
	code_rare_end(c);
}

void again_generate(struct gen *gen)
{
	gen_note(gen, STMT_PROLOGUE);
	if (code_label_used(gen->c, gen->absent_if))
		absent_if_generate(gen);
	if (code_label_used(gen->c, gen->absent) ||
	    code_label_used(gen->c, gen->elsewhere))
		absent_generate(gen);
	if (code_label_used(gen->c, gen->absent_aggregate))
		absent_aggregate_generate(gen);
}

/* walk(context, cookie, condition) */
static void walk_function(struct gen *gen)
{
	struct code *c = gen->c;
	code_label items = code_label_new(c);
	int condition;

	gen->bits = BITS;
	gen->bias = BIAS;
	code_function_begin(c, BODY_WALK, gen->shared->walk);
	code_move(c, CONTEXT, R1);
	code_move(c, COOKIE, R2);
	code_alu_imm(c, BPF_MOV, BITS, 0);
	code_frame_touch(c);	/* before anything is kept in the frame */
	condition = code_copy(c, R3);
	if (!gen->plan->known)
		code_slot_store(c, 8, gen->cookie, 0, COOKIE);
	start_bias_generate(gen);
	whole_find(gen, gen->out);
	if (gen->plan->early && gen->plan->condition) {
		code_jump_imm(c, BPF_JEQ, condition, 0, items);
		walk_condition(gen);
		code_jump(c, gen->out);
		code_label_place(c, items);
	}
	walk_generate(gen);
	code_label_place(c, gen->out);
	code_move(c, R0, BITS);
	code_exit(c);
	code_function_end(c);
}

/* again(context, cookie, bits) */
static void again_function(struct gen *gen)
{
	struct code *c = gen->c;

	gen->bits = code_temp_new(c);
	code_function_begin(c, BODY_AGAIN, gen->shared->again);
	code_move(c, CONTEXT, R1);
	code_move(c, COOKIE, R2);
	code_move(c, BITS, R3);
	start_preempt(gen, false);
	code_frame_touch(c);
	if (!gen->plan->known)
		code_slot_store(c, 8, gen->cookie, 0, COOKIE);
	code_move(c, gen->bits, BITS);
	start_bias_generate(gen);
	whole_find(gen, gen->out);
	record_enter(gen);
	record_generate(gen);
	code_function_end(c);
}

void again_functions_generate(struct gen *gen)
{
	struct gen function;

	if (!code_label_used(gen->c, gen->shared->walk))
		return;
	gen_begin(&function, gen->plan, gen->c, gen->shared, VERSION_WALK);
	gen_note(&function, STMT_PROLOGUE);
	walk_function(&function);
	if (!code_label_used(gen->c, gen->shared->again))
		return;
	gen_begin(&function, gen->plan, gen->c, gen->shared, VERSION_AGAIN);
	gen_note(&function, STMT_PROLOGUE);
	again_function(&function);
}
