// SPDX-License-Identifier: GPL-2.0
/*
 * What is added up in the kernel, under the key that the BY have: struct
 * ras_aggregate of the running CPU. It is the last that a hit does, with
 * preemption off, whether it made a record or not.
 *
 * Where nothing interrupts that is traced, too (a hit in user space, on kernels
 * that let programs disable preemption), additions are plain; else atomic.
 */
#include "gen.h"


#define AGGREGATE_AT(field)	((int)offsetof(struct ras_aggregate, field))
#define AGGREGATED_AT(field)	((int)offsetof(struct ras_aggregated, field))
#define KEY_AT(field)		((int)offsetof(struct ras_aggregate_key, field))
#define STATE_AT(field)		((int)offsetof(struct ras_state, field))
#define TRIES	4		/* of a MIN or MAX: interrupts nest so deep */

static const struct tdf_stmt *aggregate_stmt(const struct gen *gen, uint32_t i)
{
	return &gen->plan->tdf->stmts[gen->plan->aggregate_first + i];
}

static bool interrupted(const struct gen *gen)
{
	const struct body_target *target = gen->plan->target;

	return target->context == BODY_KPROBE || !target->preempt_disable ||
	       !target->preempt_enable;
}

static void add(struct gen *gen, int row, int off, int value)
{
	struct code *c = gen->c;
	int sum;

	if (interrupted(gen)) {
		code_atomic(c, BPF_ADD, row, off, value);
		return;
	}
	sum = temp_load(gen, 8, row, off);
	code_alu(c, BPF_ADD, sum, value);
	code_store(c, 8, row, off, sum);
}

/* One more of what the point counts in `aggregated` */
static void aggregated_count(struct gen *gen, int off)
{
	code_label missing = code_label_new(gen->c);
	struct code *c = gen->c;
	int row = point_reg(gen);

	code_alu_imm(c, BPF_MUL, row, gen->plan->target->cpus);
	code_call(c, BPF_FUNC_get_smp_processor_id);
	code_alu(c, BPF_ADD, R0, row);
	code_lookup(c, gen->plan->target->aggregated_fd, key_new(gen, R0),
		    missing);
	add(gen, R0, off, temp_const(gen, 1));
	code_label_place(c, missing);
}

/* A text: a byte more than it may have is read, and the zero. */
static void key_text(struct gen *gen, const struct tdf_stmt *stmt,
		     code_slot key, int off)
{
	int bytes = plan_by_bytes(stmt);
	code_label cut = code_label_new(gen->c), done = code_label_new(gen->c);
	struct gen_value address;
	struct code *c = gen->c;

	item_value_generate(gen, stmt, &address);
	for (int i = 0; i < bytes; i += 8)
		code_slot_store_imm(c, 8, key, off + i, 0);
	code_slot_address(c, R1, key, off);
	code_alu_imm(c, BPF_MOV, R2, stmt->length + 2);
	read_call(gen, true, &address);
	code_jump_imm(c, BPF_JSLT, R0, 0, gen->fault.to);
	code_jump_imm(c, BPF_JGT, R0, stmt->length + 1, cut);
	code_rare_begin(c);
	code_label_place(c, cut);
	code_slot_store_imm(c, 1, key, off + stmt->length, 0);
	code_slot_store_imm(c, 1, key, off + bytes - 1, 1);
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, done);
}

/* The parts of the key but its stack, after each other */
static code_slot key_generate(struct gen *gen)
{
	const struct plan *plan = gen->plan;
	const struct tdf_stmt *stmt = &plan->tdf->stmts[plan->by_first];
	int bytes = plan->aggregate_key, off = sizeof(__u64);
	struct code *c = gen->c;
	struct gen_value value;
	code_slot key;

	_Static_assert(sizeof(struct ras_aggregate_key) == sizeof(__u64),
		       "a word");
	if (plan->by_stack)
		bytes = plan_aggregate_key(plan->tdf, plan->site) -
			plan_by_bytes(plan->by_stack);
	key = code_slot_new(c, bytes);
	for (uint32_t i = 0; i < plan->by_count; i++, stmt++) {
		if (stmt == plan->by_stack)
			continue;
		gen_note(gen, plan->by_first + i);
		if (stmt->reg == TDF_BY_TEXT) {
			key_text(gen, stmt, key, off);
		} else {
			item_value_generate(gen, stmt, &value);
			code_slot_store(c, 8, key, off,
					value_reg(gen, &value));
		}
		off += plan_by_bytes(stmt);
	}
	for (; off < bytes; off += 8)
		code_slot_store_imm(c, 8, key, off, 0);
	return key;
}

/*
 * A key with a stack has no room in the frame. It is in the CPU's entry of a map,
 * after the unwinder's state, which is where it is in a record, and a word that is
 * not 0 while the entry is in use. RECORD and PLACE are free by now.
 */
#define ENTRY_AT	UNWIND_STATE	/* from RECORD */
#define ENTRY_BUSY	(ENTRY_AT + 64)
#define ENTRY_KEY	(ENTRY_AT + BODY_BY_STACK_BYTES)
#define BY_STACK(field)	((int)offsetof(struct ras_by_stack, field))

static void by_stack_generate(struct gen *gen, int off)
{
	const struct plan *plan = gen->plan;
	int bytes = plan_by_bytes(plan->by_stack);
	struct code *c = gen->c;

	gen_note(gen, plan->by_stack - plan->tdf->stmts);
	for (int i = 0; i < bytes; i += 8)
		code_store_imm(c, 8, RECORD, off + i, 0);
	if (plan->target->context != BODY_KPROBE) {
		code_call(c, BPF_FUNC_get_current_pid_tgid);
		code_alu_imm(c, BPF_RSH, R0, 32);
		code_store(c, 4, RECORD, off + BY_STACK(pid), R0);
	}
	gen->place = (struct gen_place){ RECORD, off + BY_STACK(item) };
	stack_generate(gen, plan->by_stack, plan->by_stack->length, -1);
}

/* The whole key in the entry; there is none, or it is in use by a hit that this one
 * interrupts: to `lost`. No fault comes between this and key_release(). */
static void key_with_stack(struct gen *gen, code_slot parts, code_label lost)
{
	const struct plan *plan = gen->plan;
	const struct tdf_stmt *stmt = &plan->tdf->stmts[plan->by_first];
	int off = ENTRY_KEY + sizeof(__u64), from = sizeof(__u64);
	struct code *c = gen->c;

	code_lookup(c, plan->target->by_stack_fd,
		    key_new(gen, temp_const(gen, 0)), lost);
	code_move(c, RECORD, R0);
	code_alu_imm(c, BPF_SUB, RECORD, ENTRY_AT);
	if (interrupted(gen)) {
		code_alu_imm(c, BPF_MOV, R0, 0);
		code_atomic(c, BPF_CMPXCHG, RECORD, ENTRY_BUSY,
			    temp_const(gen, 1));
		code_jump_imm(c, BPF_JNE, R0, 0, lost);
	}
	for (uint32_t i = 0; i < plan->by_count; i++, stmt++) {
		int bytes = plan_by_bytes(stmt);

		for (int k = 0; k < bytes && stmt != plan->by_stack;
		     k += 8, from += 8) {
			code_slot_load(c, 8, R1, parts, from);
			code_store(c, 8, RECORD, off + k, R1);
		}
		if (stmt == plan->by_stack)
			by_stack_generate(gen, off);
		off += bytes;
	}
	for (; off < ENTRY_KEY + (int)plan->aggregate_key; off += 8)
		code_store_imm(c, 8, RECORD, off, 0);
}

static void key_release(struct gen *gen)
{
	if (gen->plan->by_stack && interrupted(gen))
		code_store_imm(gen->c, 8, RECORD, ENTRY_BUSY, 0);
}

static void key_address(struct gen *gen, code_slot key)
{
	if (gen->plan->by_stack) {
		code_move(gen->c, R2, RECORD);
		code_alu_imm(gen->c, BPF_ADD, R2, ENTRY_KEY);
	} else {
		code_slot_address(gen->c, R2, key, 0);
	}
}

static void key_lookup(struct gen *gen, code_slot key, code_label missing)
{
	struct code *c = gen->c;

	code_map(c, R1, gen->plan->target->aggregates_fd);
	key_address(gen, key);
	code_call(c, BPF_FUNC_map_lookup_elem);
	code_jump_imm(c, BPF_JEQ, R0, 0, missing);
}

/*
 * A temp with the bucket of a value, without branches: 2^n with n of
 * RAS_BUCKET_SHIFT at least, and the value's highest bits below that.
 */
static int bucket_generate(struct gen *gen, int value)
{
	struct code *c = gen->c;
	int negative = code_copy(c, value), bucket = code_temp_new(c);
	int number = code_temp_new(c), shift;

	code_alu_imm(c, BPF_ARSH, negative, 63);
	code_move(c, number, negative);
	code_alu_imm(c, BPF_XOR, number, -1);
	code_alu(c, BPF_AND, number, value);
	code_move(c, bucket, number);
	code_alu_imm(c, BPF_OR, bucket, 1 << RAS_BUCKET_SHIFT);
	shift = highest_bit(gen, bucket);
	code_alu_imm(c, BPF_SUB, shift, RAS_BUCKET_SHIFT);
	code_alu_imm(c, BPF_AND, shift, 63);
	code_alu(c, BPF_RSH, number, shift);
	code_alu_imm(c, BPF_LSH, shift, RAS_BUCKET_SHIFT);
	code_alu(c, BPF_ADD, number, shift);
	code_alu_imm(c, BPF_AND, negative, RAS_BUCKET_NEGATIVE);
	code_alu(c, BPF_ADD, number, negative);
	return number;
}

/*
 * The head of the key, in one store: of several the kernel's hash would have to
 * wait. The epoch is of now, so what is cleared while this waits is not added to.
 */
static void key_finish(struct gen *gen, code_slot key, uint32_t i, int value)
{
	struct code *c = gen->c;
	int epoch = code_temp_new(c), head = point_reg(gen), bucket;

	if (i)
		code_alu_imm(c, BPF_OR, head,
			     (int)i << 8 * KEY_AT(statement));
	if (aggregate_stmt(gen, i)->reg == TDF_AGGREGATE_HIST) {
		bucket = bucket_generate(gen, value);
		code_alu_imm(c, BPF_LSH, bucket, 8 * KEY_AT(bucket));
		code_alu(c, BPF_OR, head, bucket);
	}
	code_map_value(c, epoch, gen->plan->target->state_fd, 0);
	code_load(c, 4, epoch, epoch, STATE_AT(epoch));
	code_alu_imm(c, BPF_LSH, epoch, 8 * KEY_AT(epoch));
	code_alu(c, BPF_OR, head, epoch);
	if (gen->plan->by_stack)
		code_store(c, 8, RECORD, ENTRY_KEY, head);
	else
		code_slot_store(c, 8, key, 0, head);
}

/* r0 = the value of the key, which is a new one; there is no room: to `lost` */
static void value_new(struct gen *gen, code_slot key, code_label lost)
{
	const int bytes = sizeof(struct ras_aggregate);
	code_slot zeros = code_slot_new(gen->c, bytes);
	struct code *c = gen->c;

	for (int off = 0; off < bytes; off += 8)
		code_slot_store_imm(c, 8, zeros, off, 0);
	code_map(c, R1, gen->plan->target->aggregates_fd);
	key_address(gen, key);
	code_slot_address(c, R3, zeros, 0);
	code_alu_imm(c, BPF_MOV, R4, BPF_NOEXIST);
	code_call(c, BPF_FUNC_map_update_elem);
	if (gen->plan->by_stack)
		process_current_keep(gen);
	key_lookup(gen, key, lost);
}

/* The higher one, unsigned */
static void raise(struct gen *gen, int row, int off, int value)
{
	code_label done = code_label_new(gen->c);
	struct code *c = gen->c;

	for (int i = 0; i < (interrupted(gen) ? TRIES : 1); i++) {
		int before = temp_load(gen, 8, row, off);

		code_jump_if(c, BPF_JLE, value, before, done);
		if (!interrupted(gen)) {
			code_store(c, 8, row, off, value);
			break;
		}
		code_move(c, R0, before);
		code_atomic(c, BPF_CMPXCHG, row, off, code_copy(c, value));
		code_jump_if(c, BPF_JEQ, R0, before, done);
	}
	code_label_place(c, done);
}

/* A new temp with it as an unsigned number of the same order */
static int ordered(struct gen *gen, int value)
{
	int reg = temp_const(gen, 1ULL << 63);

	code_alu(gen->c, BPF_XOR, reg, value);
	return reg;
}

static void aggregate_add(struct gen *gen, code_slot key, uint32_t i, int value)
{
	code_label missing = code_label_new(gen->c);
	code_label found = code_label_new(gen->c);
	code_label lost = code_label_new(gen->c);
	code_label done = code_label_new(gen->c);
	struct code *c = gen->c;
	int row = code_temp_new(c), reg;

	gen_note(gen, gen->plan->aggregate_first + i);
	key_finish(gen, key, i, value);
	key_lookup(gen, key, missing);
	code_label_place(c, found);
	code_move(c, row, R0);
	add(gen, row, AGGREGATE_AT(count), temp_const(gen, 1));
	switch (aggregate_stmt(gen, i)->reg) {
	case TDF_AGGREGATE_SUM: case TDF_AGGREGATE_HIST:
		add(gen, row, AGGREGATE_AT(sum), value);
		break;
	case TDF_AGGREGATE_MIN:
		reg = ordered(gen, value);
		code_alu_imm(c, BPF_XOR, reg, -1);
		raise(gen, row, AGGREGATE_AT(least), reg);
		break;
	case TDF_AGGREGATE_MAX:
		raise(gen, row, AGGREGATE_AT(most), ordered(gen, value));
		break;
	}
	code_rare_begin(c);
	code_label_place(c, missing);
	value_new(gen, key, lost);
	code_jump(c, found);
	code_label_place(c, lost);
	aggregated_count(gen, AGGREGATED_AT(lost));
	code_jump(c, done);
	code_rare_end(c);
	code_label_place(c, done);
}

/* A temp with the value; COUNT has none. */
static int aggregate_value(struct gen *gen, uint32_t i)
{
	const struct tdf_stmt *stmt = aggregate_stmt(gen, i);
	struct gen_value value;

	gen_note(gen, gen->plan->aggregate_first + i);
	if (!stmt->rpn_length)
		return NO_REG;
	item_value_generate(gen, stmt, &value);
	return code_copy(gen->c, value_reg(gen, &value));
}

/* What can't be read is a fault, and goes on at `to`. */
static void aggregate_fault(struct gen *gen, code_label to)
{
	struct code *c = gen->c;

	if (!code_label_used(c, gen->fault.to))
		return;
	code_rare_begin(c);
	code_label_place(c, gen->fault.to);
	why_count(gen, WHY_FAULT(RAS_FAULT_UNREADABLE));
	code_jump(c, to);
	code_rare_end(c);
}

/* What has no key is not added. */
static void key_lost(struct gen *gen, code_label lost)
{
	struct code *c = gen->c;

	if (!code_label_used(c, lost))
		return;
	code_rare_begin(c);
	code_label_place(c, lost);
	aggregated_count(gen, AGGREGATED_AT(lost));
	code_jump(c, gen->aggregated);
	code_rare_end(c);
}

/* Without a key nothing is added up. */
void aggregates_final(struct gen *gen)
{
	code_label lost = code_label_new(gen->c);
	code_slot key;

	gen->fault = (struct gen_fault){ code_label_new(gen->c), false };
	key = key_generate(gen);
	aggregate_fault(gen, gen->aggregated);
	if (gen->plan->by_stack)
		key_with_stack(gen, key, lost);
	key_lost(gen, lost);
	for (uint32_t i = 0; i < gen->plan->aggregate_count; i++) {
		code_label next = code_label_new(gen->c);
		int value;

		gen->fault = (struct gen_fault){ code_label_new(gen->c),
						 false };
		value = aggregate_value(gen, i);
		aggregate_fault(gen, next);
		aggregate_add(gen, key, i, value);
		code_label_place(gen->c, next);
	}
	key_release(gen);
}

/* All are evaluated before any is added: the first fault begins them anew. */
static void aggregates_first(struct gen *gen)
{
	code_label lost = code_label_new(gen->c);
	int values[TDF_AGGREGATES_MAX];
	code_slot key;

	gen->fault = (struct gen_fault){ gen->absent_aggregate, false };
	key = key_generate(gen);
	for (uint32_t i = 0; i < gen->plan->aggregate_count; i++)
		values[i] = aggregate_value(gen, i);
	if (gen->plan->by_stack)
		key_with_stack(gen, key, lost);
	key_lost(gen, lost);
	for (uint32_t i = 0; i < gen->plan->aggregate_count; i++)
		aggregate_add(gen, key, i, values[i]);
	key_release(gen);
}

void aggregates_generate(struct gen *gen)
{
	if (!gen->plan->aggregate_count)
		return;
	if (gen->plan->silent)
		aggregated_count(gen, AGGREGATED_AT(hits));
	if (gen->version == VERSION_FIRST)
		aggregates_first(gen);
	else
		aggregates_final(gen);
	code_label_place(gen->c, gen->aggregated);
	gen_note(gen, STMT_EPILOGUE);
}

void aggregates_walk(struct gen *gen)
{
	const struct plan *plan = gen->plan;

	for (uint32_t i = plan->by_first;
	     i < plan->aggregate_first + plan->aggregate_count; i++) {
		const struct tdf_stmt *stmt = &plan->tdf->stmts[i];
		struct gen_value value;

		if (!stmt->rpn_length || stmt == plan->by_stack)
			continue;
		gen_note(gen, i);
		gen->fault = (struct gen_fault){ code_label_new(gen->c),
						 false };
		item_value_generate(gen, stmt, &value);
		if (stmt->kind == TDF_STMT_BY && stmt->reg == TDF_BY_TEXT)
			paging_bring_in(gen, &value,
					temp_const(gen, stmt->length + 2),
					true);
		code_label_place(gen->c, gen->fault.to);
	}
}
