// SPDX-License-Identifier: GPL-2.0
/*
 * A record, from taking a slice to publishing it (the protocol of
 * rastrace/buffer.h).
 */
#include "gen.h"

/* Ways through this version of the record. */
struct ways {
	code_label busy, nested, locked, full, muted, finish;
};

void record_unlock(struct gen *gen)
{
	gen_publish(gen, SLICE, SLICE_AT(lock), temp_const(gen, 0));
}

/* Taking a slice */

/* PLACE = row of (point, slice); `slice` is a key, `first` more; none: to
 * `missing` */
static void count_row_load(struct gen *gen, code_slot slice, __u32 first,
		     code_label missing)
{
	const struct body_target *target = gen->plan->target;
	int row = point_reg(gen), number = code_temp_new(gen->c);
	struct code *c = gen->c;

	code_alu_imm(c, BPF_MUL, row, target->cpus * (1 + RAS_NEST_LEVELS));
	code_slot_load(c, 4, number, slice, 0);
	code_alu(c, BPF_ADD, row, number);
	if (first)
		code_alu_imm(c, BPF_ADD, row, first);
	code_slot_store(c, 4, gen->row, 0, row);
	code_lookup(c, target->count_fd, gen->row, missing);
	code_move(c, PLACE, R0);
}

/* An entry whose call has a slot needs nothing of that. */
static bool in_slot(const struct gen *gen)
{
	return gen->plan->enters && gen->plan->slotted;
}

static void slice_enter(struct gen *gen)
{
	struct code *c = gen->c;
	code_slot cpu;

	if (!gen->plan->alone && gen->version != VERSION_AGAIN)
		start_preempt(gen, false);
	cpu = cpu_key(gen);
	code_lookup(c, gen->plan->target->buffer_fd, cpu, gen->leave);
	code_move(c, SLICE, R0);
	count_row_load(gen, cpu, 0, gen->leave);
}

void record_enter(struct gen *gen)
{
	if (!in_slot(gen))
		slice_enter(gen);
}

/* Take the slice in `reg`; r0 != 0: it is busy. */
static void try_lock(struct gen *gen, int reg)
{
	code_alu_imm(gen->c, BPF_MOV, R0, 0);
	code_atomic(gen->c, BPF_CMPXCHG, reg, SLICE_AT(lock),
		    temp_const(gen, 1));
}

/* RECORD = where the next record of SLICE goes */
static void load_record(struct code *c, __u64 bytes)
{
	code_load(c, 8, RECORD, SLICE, SLICE_AT(head));
	code_alu_imm(c, BPF_AND, RECORD, bytes - 8);
	code_alu(c, BPF_ADD, RECORD, SLICE);
	code_alu_imm(c, BPF_ADD, RECORD, RAS_SLICE_HEADER);
}

static void record_slice_take(struct gen *gen, const struct ways *w)
{
	struct code *c = gen->c;
	code_label taken = code_label_new(c);

	if (in_slot(gen)) {
		whole_slot_take(gen, taken);
		code_label_place(c, w->locked);
		code_rare_begin(c);
		code_label_place(c, taken);
		code_const(c, gen->slot, 0);
		slice_enter(gen);
	}
	try_lock(gen, SLICE);
	code_jump_imm(c, BPF_JNE, R0, 0, w->busy);
	load_record(c, gen->plan->target->slice_bytes);
	if (in_slot(gen)) {
		code_jump(c, w->locked);
		code_rare_end(c);
	} else {
		code_label_place(c, w->locked);
	}
}

/* Can this record be left to its second version? That doesn't count MAXHITS, nor
 * look at the rate. */
static bool record_left(const struct gen *gen)
{
	const struct plan *plan = gen->plan;

	return code_label_used(gen->c, gen->absent) &&
	       plan->kind == PLAN_RECORD && !plan->maxhits &&
	       !plan->target->max_rate;
}

/* RECORD is a nesting slice, locked. */
static void slice_nest(struct gen *gen, const struct ways *w, code_slot nest)
{
	code_label missing = code_label_new(gen->c);
	struct code *c = gen->c;

	code_label_place(c, w->nested);
	code_move(c, SLICE, RECORD);
	count_row_load(gen, nest, gen->plan->target->cpus, missing);
	load_record(c, gen->plan->target->nest_bytes);
	code_jump(c, w->locked);
	code_label_place(c, missing);
	record_unlock(gen);
	code_jump(c, gen->leave);
}

/* The main slice is busy. A record that can be taken again is, there: the
 * verifier then doesn't go through this one for both slices. */
static void slice_busy(struct gen *gen, const struct ways *w)
{
	code_slot nest = code_slot_new(gen->c, 4);
	struct code *c = gen->c;
	int one;

	code_label_place(c, w->busy);
	if (record_left(gen)) {
		code_jump(c, gen->elsewhere);
		return;
	}
	for (int level = 1; level <= RAS_NEST_LEVELS; level++) {
		code_call(c, BPF_FUNC_get_smp_processor_id);
		code_alu_imm(c, BPF_MUL, R0, RAS_NEST_LEVELS);
		code_alu_imm(c, BPF_ADD, R0, level - 1);
		code_slot_store(c, 4, nest, 0, R0);
		code_lookup(c, gen->plan->target->nest_fd, nest, gen->leave);
		code_move(c, RECORD, R0);
		try_lock(gen, RECORD);
		code_jump_imm(c, BPF_JEQ, R0, 0, w->nested);
	}
	one = temp_const(gen, 1);
	code_atomic(c, BPF_ADD, SLICE, SLICE_AT(dropped), one);
	code_atomic(c, BPF_ADD, PLACE, COUNT_AT(dropped), one);
	whole_none_generate(gen);
	code_jump(c, gen->leave);
	slice_nest(gen, w, nest);
}

static bool muting(const struct gen *gen)
{
	return gen->plan->kind == PLAN_RECORD && !gen->plan->enters &&
	       gen->plan->target->max_rate &&
	       gen->version != VERSION_AGAIN;
}

/* To `muted` when it's this record that says that the point is. */
static void test_muted(struct gen *gen, code_label muted)
{
	if (muting(gen))
		code_jump_imm(gen->c, BPF_JNE, gen->muted, 0, muted);
}

/* MAXHITS counts what has a slice, so that nothing that is dropped counts, and
 * the record that is taken again doesn't a second time. */
static void maxhits_count(struct gen *gen, const struct ways *w)
{
	code_label muted = code_label_new(gen->c);
	struct code *c = gen->c;
	int hits;

	if (!gen->plan->maxhits || gen->plan->enters ||
	    gen->version == VERSION_AGAIN)
		return;
	test_muted(gen, muted);
	hits = temp_const(gen, 1);
	code_atomic(c, BPF_ADD | BPF_FETCH, gen->limits, LIMIT_AT(recorded),
		    hits);
	code_jump_if(c, BPF_JGE, hits,
		     temp_const(gen, gen->plan->maxhits), w->full);
	code_label_place(c, muted);
}

/* The record */

static void flags_store(struct gen *gen)
{
	const struct body_target *target = gen->plan->target;
	struct code *c = gen->c;
	int flags = 0;

	if (gen->plan->site->flags & TDF_SITE_TAIL_CALL)
		flags |= RAS_RECORD_TAIL_CALL;
	if (gen->plan->leaves)
		flags |= RAS_RECORD_WHOLE;
	if (gen->plan->kind == PLAN_STATIC) {
		code_store_imm(c, 2, RECORD, RECORD_AT(flags), flags);
		code_store(c, 2, RECORD, RECORD_AT(major), point_reg(gen));
	} else {
		code_store_imm(c, 4, RECORD, RECORD_AT(flags),
			       target->major << 16 | flags);
	}
	code_store_imm(c, 4, RECORD, RECORD_AT(session), target->session);
}

/*
 * All of the header but stamp and length. The time goes on during suspend: a
 * monotonic clock with an offset from when the probe was armed would be wrong
 * after it, and isn't measurably faster.
 */
static void header_store(struct gen *gen)
{
	struct code *c = gen->c;
	int recorded;

	if (!gen->plan->enters) {
		recorded = temp_load(gen, 8, PLACE, COUNT_AT(recorded));
		code_store(c, 4, RECORD, RECORD_AT(seq), recorded);
		code_alu_imm(c, BPF_ADD, recorded, 1);
		code_store(c, 8, PLACE, COUNT_AT(recorded), recorded);
	}
	flags_store(gen);
	code_store(c, 8, RECORD, RECORD_AT(minor), cookie_reg(gen));
	if (muting(gen))
		code_move(c, R0, gen->time);
	else if (gen->plan->enters && gen->plan->cputime)
		whole_enter_time(gen);
	else
		code_call(c, BPF_FUNC_ktime_get_boot_ns);
	code_store(c, 8, RECORD, RECORD_AT(time), R0);
	if (!in_slot(gen)) {
		code_call(c, BPF_FUNC_get_current_pid_tgid);
		code_move(c, gen->thread, R0);
	}
	code_store(c, 8, RECORD, RECORD_AT(tid), gen->thread);
}

static void data_generate(struct gen *gen)
{
	if (gen->plan->kind == PLAN_STATIC) {
		static_data_generate(gen);
		return;
	}
	kept_begin(gen);
	for (uint32_t i = 0; i < gen->plan->item_count; i++)
		item_generate(gen, &gen->plan->items[i]);
}

/* Of a whole call: nothing is published. */
static void entry_finish(struct gen *gen)
{
	struct code *c = gen->c;
	code_label full = code_label_new(c);

	whole_keep_generate(gen, full);
	record_unlock(gen);
	start_exits_generate(gen, 0);
	code_rare_begin(c);
	code_label_place(c, full);
	record_unlock(gen);
	why_dropped_count(gen);
	whole_none_generate(gen);
	code_jump(c, gen->leave);
	code_rare_end(c);
}

/* PLACE = end of the record */
static void record_finish(struct gen *gen, const struct ways *w)
{
	struct code *c = gen->c;
	code_label hashed = code_label_new(c);
	int records, head, stamp;

	code_label_place(c, w->finish);
	if (in_slot(gen)) {
		code_jump_imm(c, BPF_JEQ, gen->slot, 0, hashed);
		whole_slot_keep(gen);
		if (gen->plan->alone)
			start_preempt(gen, true);
		code_alu_imm(c, BPF_MOV, R0, 0);
		code_exit(c);
		code_rare_begin(c);
		code_label_place(c, hashed);
		entry_finish(gen);
		code_rare_end(c);
		return;
	}
	if (gen->plan->enters) {
		entry_finish(gen);
		return;
	}
	trigger_claim(gen);
	code_alu(c, BPF_SUB, PLACE, RECORD);
	code_store(c, 4, RECORD, RECORD_AT(length), PLACE);
	code_alu_imm(c, BPF_ADD, PLACE, 7);
	code_alu_imm(c, BPF_AND, PLACE, -8);
	records = temp_load(gen, 8, SLICE, SLICE_AT(records));
	code_alu_imm(c, BPF_ADD, records, 1);
	code_store(c, 8, SLICE, SLICE_AT(records), records);
	head = temp_load(gen, 8, SLICE, SLICE_AT(head));
	stamp = temp_const(gen, gen->plan->target->key);
	code_alu(c, BPF_XOR, stamp, head);
	code_store(c, 8, RECORD, RECORD_AT(stamp), stamp);
	code_alu(c, BPF_ADD, head, PLACE);
	gen_publish(gen, SLICE, SLICE_AT(head), head);
	trigger_count(gen);
	record_unlock(gen);
	start_exits_generate(gen, 0);
}

/* The header is all. */
static void muted_generate(struct gen *gen, const struct ways *w)
{
	struct code *c = gen->c;

	code_label_place(c, w->muted);
	record_flag_set(gen, RAS_RECORD_MUTED);
	code_move(c, PLACE, RECORD);
	code_alu_imm(c, BPF_ADD, PLACE, RAS_RECORD_HEADER);
	code_jump(c, w->finish);
}

static void full_generate(struct gen *gen, const struct ways *w)
{
	code_label_place(gen->c, w->full);
	record_unlock(gen);
	code_jump(gen->c, gen->filtered[RAS_FILTERED_MAXHITS]);
}

static void rare_generate(struct gen *gen, const struct ways *w)
{
	fault_ends_generate(gen, w->finish);
	code_rare_begin(gen->c);
	gen_note(gen, STMT_PROLOGUE);
	if (code_label_used(gen->c, w->muted))
		muted_generate(gen, w);
	if (code_label_used(gen->c, w->full))
		full_generate(gen, w);
	slice_busy(gen, w);
	code_rare_end(gen->c);
}

void record_generate(struct gen *gen)
{
	struct code *c = gen->c;
	struct ways w = {
		.busy = code_label_new(c), .nested = code_label_new(c),
		.locked = code_label_new(c), .full = code_label_new(c),
		.muted = code_label_new(c), .finish = code_label_new(c),
	};

	gen->fault_ends = code_label_new(c);
	gen->raw_fault = code_label_new(c);
	gen->fault_pointer = code_temp_new(c);
	gen->fault_status = code_temp_new(c);
	record_slice_take(gen, &w);
	maxhits_count(gen, &w);
	header_store(gen);
	call_name_generate(gen);
	process_generate(gen);
	if (gen->version == VERSION_AGAIN)
		paging_note(gen);
	test_muted(gen, w.muted);
	gen->place = (struct gen_place){ RECORD, RAS_RECORD_HEADER };
	direct_begin(gen);
	context_generate(gen);
	whole_copy_generate(gen, w.finish);
	data_generate(gen);
	direct_end(gen);
	gen_note(gen, STMT_EPILOGUE);
	item_place_load(gen, &gen->place, 0, PLACE);
	record_finish(gen, &w);
	rare_generate(gen, &w);
}
