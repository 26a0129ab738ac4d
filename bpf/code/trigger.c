// SPDX-License-Identifier: GPL-2.0
/*
 * What stops the recording: struct ras_trigger. Its state is tested before
 * anything else is done; a record of a point that stops claims it before it is
 * published, and lets the records after it count when it is.
 */
#include "gen.h"

#define TRIGGER(field)	((int)offsetof(struct ras_trigger, field))

static int trigger_reg(struct gen *gen)
{
	int trigger = code_temp_new(gen->c);

	code_map_value(gen->c, trigger, gen->plan->target->trigger_fd, 0);
	return trigger;
}

void trigger_test(struct gen *gen)
{
	int state = temp_load(gen, 8, trigger_reg(gen), TRIGGER(state));

	code_jump_imm(gen->c, BPF_JEQ, state, RAS_TRIGGER_FROZEN,
		      gen->filtered[RAS_FILTERED_FROZEN]);
}

void trigger_claim(struct gen *gen)
{
	code_label late = code_label_new(gen->c);
	struct code *c = gen->c;
	int trigger;

	if (!gen->plan->target->trigger)
		return;
	trigger = trigger_reg(gen);
	code_alu_imm(c, BPF_MOV, R0, RAS_TRIGGER_IDLE);
	code_atomic(c, BPF_CMPXCHG, trigger, TRIGGER(state),
		    temp_const(gen, RAS_TRIGGER_CLAIMED));
	code_jump_imm(c, BPF_JNE, R0, RAS_TRIGGER_IDLE, late);
	record_flag_set(gen, RAS_RECORD_TRIGGER);
	code_label_place(c, late);
}

/* The record is the trigger's when its flag says so. */
static void trigger_set(struct gen *gen, code_label done)
{
	const struct body_target *target = gen->plan->target;
	code_label other = code_label_new(gen->c);
	struct code *c = gen->c;
	int flags = temp_load(gen, 2, RECORD, RECORD_AT(flags)), trigger;

	code_alu_imm(c, BPF_AND, flags, RAS_RECORD_TRIGGER);
	code_jump_imm(c, BPF_JEQ, flags, 0, other);
	trigger = trigger_reg(gen);
	code_store(c, 8, trigger, TRIGGER(left),
		   temp_const(gen, target->trigger_after));
	code_store(c, 8, trigger, TRIGGER(time),
		   temp_load(gen, 8, RECORD, RECORD_AT(time)));
	code_store_imm(c, 4, trigger, TRIGGER(session), target->session);
	code_store(c, 4, trigger, TRIGGER(point), point_reg(gen));
	code_atomic(c, BPF_XCHG, trigger, TRIGGER(state),
		    temp_const(gen, target->trigger_after ?
			       RAS_TRIGGER_COUNTING : RAS_TRIGGER_FROZEN));
	code_jump(c, done);
	code_label_place(c, other);
}

void trigger_count(struct gen *gen)
{
	code_label done = code_label_new(gen->c);
	struct code *c = gen->c;
	int trigger, left;

	if (gen->plan->target->trigger)
		trigger_set(gen, done);
	trigger = trigger_reg(gen);
	code_jump_imm(c, BPF_JNE, temp_load(gen, 8, trigger, TRIGGER(state)),
		      RAS_TRIGGER_COUNTING, done);
	left = temp_const(gen, -1);
	code_atomic(c, BPF_ADD | BPF_FETCH, trigger, TRIGGER(left), left);
	code_jump_imm(c, BPF_JSGT, left, 1, done);
	code_alu_imm(c, BPF_MOV, R0, RAS_TRIGGER_COUNTING);
	code_atomic(c, BPF_CMPXCHG, trigger, TRIGGER(state),
		    temp_const(gen, RAS_TRIGGER_FROZEN));
	code_label_place(c, done);
}
