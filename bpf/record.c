// SPDX-License-Identifier: GPL-2.0
/*
 * A record, from taking a slice to publishing it (the protocol of
 * rastrace/buffer.h). Rare cases are after the straight line.
 */
#include "gen.h"

#define SLICE(field)	((int)offsetof(struct ras_slice, field))
#define COUNT(field)	((int)offsetof(struct ras_count, field))
#define LIMIT(field)	((int)offsetof(struct ras_limit, field))

/* Ways through this version of the record. */
struct ways {
	emit_label busy, nested, locked, full, muted, finish;
};

void record_preempt(struct gen *gen, bool enable)
{
	const struct body_target *target = gen->target;

	if (target->preempt_disable && target->preempt_enable)
		emit_kfunc(&gen->e, enable ? target->preempt_enable :
					     target->preempt_disable);
}

/* Make r1 visible to others, and all that was written before. */
static void publish(struct gen *gen, int off)
{
	if (gen->cpu->strong)
		emit_atomic(&gen->e, BPF_XCHG, R8, off, R1);
	else
		emit_store(&gen->e, 8, R8, off, R1);
}

void record_flag_set(struct gen *gen, int flag)
{
	emit_load(&gen->e, 2, R1, R7, RECORD(flags));
	emit_alu_imm(&gen->e, BPF_OR, R1, flag);
	emit_store(&gen->e, 2, R7, RECORD(flags), R1);
}

void record_unlock(struct gen *gen)
{
	emit_alu_imm(&gen->e, BPF_MOV, R1, 0);
	publish(gen, SLICE(lock));
}

/* Taking a slice */

static __u32 slices(const struct body_target *target)
{
	return target->cpus * (1 + RAS_NEST_LEVELS);
}

/* r0 = row of (point, slice); `slice` is a key in the frame, `first` more */
static void load_row(struct gen *gen, int slice, __u32 first,
		     emit_label missing)
{
	struct emit *e = &gen->e;

	gen_point_get(gen, R1);
	emit_alu_imm(e, BPF_MUL, R1, slices(gen->target));
	emit_load(e, 4, R2, FP, slice);
	emit_alu(e, BPF_ADD, R1, R2);
	if (first)
		emit_alu_imm(e, BPF_ADD, R1, first);
	emit_store(e, 4, FP, FRAME_ROW, R1);
	emit_lookup(e, gen->target->count_fd, FRAME_ROW, missing);
}

void record_enter(struct gen *gen)
{
	struct emit *e = &gen->e;

	record_preempt(gen, false);
	gen_cpu_load(gen);
	emit_lookup(e, gen->target->buffer_fd, FRAME_CPU, gen->leave);
	emit_alu(e, BPF_MOV, R8, R0);
	load_row(gen, FRAME_CPU, 0, gen->leave);
	emit_alu(e, BPF_MOV, R9, R0);
}

/* Take the slice in `reg`; r0 != 0: it is busy. */
static void try_lock(struct emit *e, int reg)
{
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_CMPXCHG, reg, SLICE(lock), R1);
}

/* r7 = where the next record of the slice r8 goes */
static void load_record(struct emit *e, __u64 bytes)
{
	emit_load(e, 8, R7, R8, SLICE(head));
	emit_alu_imm(e, BPF_AND, R7, bytes - 8);
	emit_alu(e, BPF_ADD, R7, R8);
	emit_alu_imm(e, BPF_ADD, R7, RAS_SLICE_HEADER);
}

static void generate_take(struct gen *gen, const struct ways *w)
{
	struct emit *e = &gen->e;

	try_lock(e, R8);
	emit_jump_imm(e, BPF_JNE, R0, 0, w->busy);
	load_record(e, gen->target->slice_bytes);
	emit_label_place(e, w->locked);
}

/* Can this record be left to its second version? That doesn't count MAXHITS, nor
 * look at the rate. */
static bool record_left(const struct gen *gen)
{
	return emit_label_used(&gen->e, gen->absent) && !gen->is_static &&
	       !gen->point->maxhits && !gen->target->max_rate;
}

/* The main slice is busy: r8 is it, r9 its row. A record that can be taken again
 * is, there: the verifier then doesn't go through this one for both slices. */
static void generate_busy(struct gen *gen, const struct ways *w)
{
	struct emit *e = &gen->e;

	emit_label_place(e, w->busy);
	if (!gen->walked && record_left(gen)) {
		emit_jump(e, gen->elsewhere);
		return;
	}
	for (int level = 1; level <= RAS_NEST_LEVELS; level++) {
		emit_load(e, 4, R1, FP, FRAME_CPU);
		emit_alu_imm(e, BPF_MUL, R1, RAS_NEST_LEVELS);
		emit_alu_imm(e, BPF_ADD, R1, level - 1);
		emit_store(e, 4, FP, FRAME_NEST, R1);
		emit_lookup(e, gen->target->nest_fd, FRAME_NEST, gen->leave);
		emit_alu(e, BPF_MOV, R7, R0);
		try_lock(e, R7);
		emit_jump_imm(e, BPF_JEQ, R0, 0, w->nested);
	}
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R8, SLICE(dropped), R1);
	emit_atomic(e, BPF_ADD, R9, COUNT(dropped), R1);
	emit_jump(e, gen->leave);
}

/* r7 is a nesting slice, locked. */
static void generate_nested(struct gen *gen, const struct ways *w)
{
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!emit_label_used(e, w->nested))
		return;
	emit_label_place(e, w->nested);
	emit_alu(e, BPF_MOV, R8, R7);
	load_row(gen, FRAME_NEST, gen->target->cpus, missing);
	emit_alu(e, BPF_MOV, R9, R0);
	load_record(e, gen->target->nest_bytes);
	emit_jump(e, w->locked);
	emit_label_place(e, missing);
	record_unlock(gen);
	emit_jump(e, gen->leave);
}

static bool muting(const struct gen *gen)
{
	return gen->target->max_rate && !gen->walked;
}

/* To `muted` when it's this record that says that the point is. */
static void test_muted(struct gen *gen, emit_label muted)
{
	if (!muting(gen))
		return;
	emit_load(&gen->e, 4, R1, FP, FRAME_MUTED);
	emit_jump_imm(&gen->e, BPF_JNE, R1, 0, muted);
}

/* MAXHITS counts what has a slice, so that nothing that is dropped counts, and
 * the record that is taken again doesn't a second time. */
static void generate_maxhits(struct gen *gen, const struct ways *w)
{
	emit_label muted = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!gen->point->maxhits || gen->walked)
		return;
	test_muted(gen, muted);
	emit_load(e, 8, R0, FP, FRAME_LIMITS);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD | BPF_FETCH, R0, LIMIT(recorded), R1);
	emit_const(e, R2, gen->point->maxhits);
	emit_jump_if(e, BPF_JGE, R1, R2, w->full);
	emit_label_place(e, muted);
}

static void generate_full(struct gen *gen, const struct ways *w)
{
	if (!emit_label_used(&gen->e, w->full))
		return;
	emit_label_place(&gen->e, w->full);
	record_unlock(gen);
	emit_jump(&gen->e, gen->filtered[RAS_FILTERED_MAXHITS]);
}

/* The record */

static void generate_flags(struct gen *gen)
{
	const struct body_target *target = gen->target;
	struct emit *e = &gen->e;
	int flags = 0;

	if (gen->site->flags & TDF_SITE_TAIL_CALL)
		flags |= RAS_RECORD_TAIL_CALL;
	if (gen->is_static) {
		emit_store_imm(e, 2, R7, RECORD(flags), flags);
		emit_load(e, 2, R1, FP, FRAME_POINT);
		emit_store(e, 2, R7, RECORD(major), R1);
	} else {
		emit_store_imm(e, 4, R7, RECORD(flags),
			       target->major << 16 | flags);
	}
	emit_store_imm(e, 4, R7, RECORD(session), target->session);
}

/* All of the header but stamp and length; r0 = bpf_get_current_pid_tgid(). */
static void generate_header(struct gen *gen)
{
	struct emit *e = &gen->e;

	emit_load(e, 8, R1, R9, COUNT(recorded));
	emit_store(e, 4, R7, RECORD(seq), R1);
	emit_alu_imm(e, BPF_ADD, R1, 1);
	emit_store(e, 8, R9, COUNT(recorded), R1);
	if (gen->bring_in && !gen->lean)
		emit_store(e, 8, FP, FRAME_COUNT, R9);
	generate_flags(gen);
	gen_cookie_get(gen, R1);
	emit_store(e, 8, R7, RECORD(minor), R1);
	if (muting(gen))
		emit_load(e, 8, R0, FP, FRAME_TIME);
	else
		emit_call(e, BPF_FUNC_ktime_get_boot_ns);
	emit_store(e, 8, R7, RECORD(time), R0);
	emit_call(e, BPF_FUNC_get_current_pid_tgid);
	emit_store(e, 8, R7, RECORD(tid), R0);
}

/* The header is all. */
static void generate_muted(struct gen *gen, const struct ways *w)
{
	struct emit *e = &gen->e;

	if (!emit_label_used(e, w->muted))
		return;
	emit_label_place(e, w->muted);
	record_flag_set(gen, RAS_RECORD_MUTED);
	emit_alu(e, BPF_MOV, R9, R7);
	emit_alu_imm(e, BPF_ADD, R9, RAS_RECORD_HEADER);
	emit_jump(e, w->finish);
}

/* r9 = end of the record */
static void generate_finish(struct gen *gen, const struct ways *w)
{
	struct emit *e = &gen->e;

	emit_label_place(e, w->finish);
	trigger_claim(gen);
	emit_alu(e, BPF_SUB, R9, R7);
	emit_store(e, 4, R7, RECORD(length), R9);
	emit_alu_imm(e, BPF_ADD, R9, 7);
	emit_alu_imm(e, BPF_AND, R9, -8);
	emit_load(e, 8, R2, R8, SLICE(records));
	emit_alu_imm(e, BPF_ADD, R2, 1);
	emit_store(e, 8, R8, SLICE(records), R2);
	emit_load(e, 8, R1, R8, SLICE(head));
	emit_const(e, R2, gen->target->key);
	emit_alu(e, BPF_XOR, R2, R1);
	emit_store(e, 8, R7, RECORD(stamp), R2);
	emit_alu(e, BPF_ADD, R1, R9);
	publish(gen, SLICE(head));
	trigger_count(gen);
	record_unlock(gen);
	if (gen->walked) {
		emit_jump(e, gen->leave);
		return;
	}
	emit_label_place(e, gen->leave);
	record_preempt(gen, true);
	emit_label_place(e, gen->out);
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_exit(e);
}

static void generate_stubs(struct gen *gen, const struct ways *w)
{
	for (; gen->stubs_done < gen->stub_count && !gen->e.error;
	     gen->stubs_done++) {
		gen_note(gen, gen->stubs[gen->stubs_done].stmt);
		stub_generate(gen, &gen->stubs[gen->stubs_done]);
	}
	gen_note(gen, STMT_EPILOGUE);
	stub_ends_generate(gen, w->finish);
}

void record_generate(struct gen *gen)
{
	struct emit *e = &gen->e;
	struct ways w = {
		.busy = emit_label_new(e), .nested = emit_label_new(e),
		.locked = emit_label_new(e), .full = emit_label_new(e),
		.muted = emit_label_new(e), .finish = emit_label_new(e),
	};

	gen->fault_ends = emit_label_new(e);
	gen->raw_fault = emit_label_new(e);
	generate_take(gen, &w);
	generate_maxhits(gen, &w);
	generate_header(gen);
	call_name_generate(gen);
	process_generate(gen);
	if (gen->walked)
		walk_note(gen);
	test_muted(gen, w.muted);
	gen->place = (struct gen_place){ .base = R7, .off = RAS_RECORD_HEADER };
	context_generate(gen);
	body_data_generate(gen);
	gen_note(gen, STMT_EPILOGUE);
	item_place_load(gen, &gen->place, 0, R9);
	generate_finish(gen, &w);
	generate_stubs(gen, &w);
	gen_note(gen, STMT_PROLOGUE);
	generate_muted(gen, &w);
	generate_full(gen, &w);
	generate_busy(gen, &w);
	generate_nested(gen, &w);
}
