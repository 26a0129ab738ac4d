// SPDX-License-Identifier: GPL-2.0
/*
 * What stops the recording: struct ras_trigger. Its state is tested before
 * anything else is done; a record of a point that stops claims it before it is
 * published, and lets the records after it count when it is.
 */
#include "gen.h"

#define TRIGGER(field)	((int)offsetof(struct ras_trigger, field))

/* r2 = the trigger, r1 = its state */
static void state_load(struct gen *gen)
{
	emit_map_value(&gen->e, R2, gen->target->trigger_fd, 0);
	emit_load(&gen->e, 8, R1, R2, TRIGGER(state));
}

void trigger_test(struct gen *gen)
{
	state_load(gen);
	emit_jump_imm(&gen->e, BPF_JEQ, R1, RAS_TRIGGER_FROZEN,
		      gen->filtered[RAS_FILTERED_FROZEN]);
}

void trigger_claim(struct gen *gen)
{
	emit_label late = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!gen->target->trigger)
		return;
	emit_map_value(e, R2, gen->target->trigger_fd, 0);
	emit_alu_imm(e, BPF_MOV, R0, RAS_TRIGGER_IDLE);
	emit_alu_imm(e, BPF_MOV, R1, RAS_TRIGGER_CLAIMED);
	emit_atomic(e, BPF_CMPXCHG, R2, TRIGGER(state), R1);
	emit_jump_imm(e, BPF_JNE, R0, RAS_TRIGGER_IDLE, late);
	record_flag_set(gen, RAS_RECORD_TRIGGER);
	emit_label_place(e, late);
}

/* The record at r7 is the trigger's when its flag says so. */
static void trigger_set(struct gen *gen, emit_label done)
{
	const struct body_target *target = gen->target;
	emit_label other = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 2, R1, R7, RECORD(flags));
	emit_alu_imm(e, BPF_AND, R1, RAS_RECORD_TRIGGER);
	emit_jump_imm(e, BPF_JEQ, R1, 0, other);
	emit_map_value(e, R2, target->trigger_fd, 0);
	emit_const(e, R1, target->trigger_after);
	emit_store(e, 8, R2, TRIGGER(left), R1);
	emit_load(e, 8, R1, R7, RECORD(time));
	emit_store(e, 8, R2, TRIGGER(time), R1);
	emit_store_imm(e, 4, R2, TRIGGER(session), target->session);
	gen_point_get(gen, R1);
	emit_store(e, 4, R2, TRIGGER(point), R1);
	emit_alu_imm(e, BPF_MOV, R1, target->trigger_after ?
		     RAS_TRIGGER_COUNTING : RAS_TRIGGER_FROZEN);
	emit_atomic(e, BPF_XCHG, R2, TRIGGER(state), R1);
	emit_jump(e, done);
	emit_label_place(e, other);
}

void trigger_count(struct gen *gen)
{
	emit_label done = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (gen->target->trigger)
		trigger_set(gen, done);
	state_load(gen);
	emit_jump_imm(e, BPF_JNE, R1, RAS_TRIGGER_COUNTING, done);
	emit_alu_imm(e, BPF_MOV, R1, -1);
	emit_atomic(e, BPF_ADD | BPF_FETCH, R2, TRIGGER(left), R1);
	emit_jump_imm(e, BPF_JSGT, R1, 1, done);
	emit_alu_imm(e, BPF_MOV, R0, RAS_TRIGGER_COUNTING);
	emit_alu_imm(e, BPF_MOV, R1, RAS_TRIGGER_FROZEN);
	emit_atomic(e, BPF_CMPXCHG, R2, TRIGGER(state), R1);
	emit_label_place(e, done);
}
