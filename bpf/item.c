// SPDX-License-Identifier: GPL-2.0
/* The items of a record: data statements -> instructions. */
#include "gen.h"

#include <errno.h>

#include <rastrace/buffer.h>
#include "lib/formats/tdf.h"

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Faults of the item go to a label of its own when the record goes on. */
static void fault_begin(struct gen *gen)
{
	gen->item_stubs = gen->stub_count;
	if (gen->go_on)
		gen->fault = emit_label_new(&gen->e);
}

/* Has the item such a fault so far? Then the next one's place depends on it. */
static bool fault_goes_on(const struct gen *gen)
{
	return gen->go_on && gen->stub_count > gen->item_stubs;
}

/* At the end of an item with a prefix: all ways through it come here. */
static void fault_end(struct gen *gen, emit_label done)
{
	struct stub *stub;

	if (fault_goes_on(gen)) {
		stub = stub_new(gen, STUB_ITEM_FAULT);
		if (!stub)
			return;
		stub->enter = gen->fault;
		stub->back = done;
		stub->place.off -= RAS_ITEM_PREFIX;
	}
	gen->fault = gen->fault_ends;
}

static void read_user(struct gen *gen, bool string)
{
	emit_call(&gen->e, string ? BPF_FUNC_probe_read_user_str :
				    BPF_FUNC_probe_read_user);
}

static void read_kernel(struct gen *gen, bool string)
{
	emit_call(&gen->e, string ? BPF_FUNC_probe_read_kernel_str :
				    BPF_FUNC_probe_read_kernel);
}

/* include/linux/preempt.h; an int3, which may be the probe's own, counts once in
 * both of the first two. */
#define COUNT_NMI_SHIFT		20
#define COUNT_HARDIRQ_SHIFT	16
#define COUNT_NEST_MASK		0xf
#define COUNT_SOFTIRQ		0x100

/* Interrupts have to do with any process, and kernel threads with none: of these
 * only those that have taken one's memory (kthread_use_mm) have task->mm. */
void item_own_generate(struct gen *gen)
{
	const struct body_layout *l = gen->target->layout;
	struct emit *e = &gen->e;
	emit_label other;

	if (!gen->own)
		return;
	if (gen->deepest > gen->own)
		gen->deepest = gen->own;
	emit_store_imm(e, 8, FP, gen->own, 0);
	if (!l || !l->task_mm || (!l->task_count && !l->cpu_count))
		return;
	other = emit_label_new(e);
	emit_call(e, BPF_FUNC_get_current_task_btf);
	emit_load(e, 8, R1, R0, l->task_mm);
	emit_jump_imm(e, BPF_JEQ, R1, 0, other);
	if (l->cpu_count) {
		emit_variable(e, R1, l->cpu_count);
		emit_call(e, BPF_FUNC_this_cpu_ptr);
	}
	emit_load(e, 4, R1, R0,
		  l->cpu_count ? l->cpu_count_at : l->task_count);
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu_imm(e, BPF_AND, R2, COUNT_SOFTIRQ);
	emit_jump_imm(e, BPF_JNE, R2, 0, other);
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu_imm(e, BPF_RSH, R1, COUNT_HARDIRQ_SHIFT);
	emit_alu_imm(e, BPF_AND, R1, COUNT_NEST_MASK);
	emit_alu_imm(e, BPF_RSH, R2, COUNT_NMI_SHIFT);
	emit_alu_imm(e, BPF_AND, R2, COUNT_NEST_MASK);
	emit_jump_if(e, BPF_JNE, R1, R2, other);
	emit_store_imm(e, 8, FP, gen->own, 1);
	emit_label_place(e, other);
}

/* Kernel code handles addresses of the process as well, which a system call was
 * given. No type shows that: the address itself does. */
static void read_either(struct gen *gen, bool string)
{
	emit_label kernel = emit_label_new(&gen->e);
	emit_label done = emit_label_new(&gen->e);

	arch_kernel_test(gen, R3, R4, kernel);
	emit_alu_imm(&gen->e, BPF_MOV, R0, -EFAULT);
	emit_load(&gen->e, 8, R4, FP, gen->own);
	emit_jump_imm(&gen->e, BPF_JEQ, R4, 0, done);
	read_user(gen, string);
	emit_jump(&gen->e, done);
	emit_label_place(&gen->e, kernel);
	read_kernel(gen, string);
	emit_label_place(&gen->e, done);
}

void item_read_call(struct gen *gen, bool string, const struct gen_value *address)
{
	gen->reads.calls += !gen->walking && !gen->walked;
	rpn_address_load(gen, address, R3);
	if (gen->target->context != BODY_KPROBE)
		read_user(gen, string);
	else if (address->kind == VALUE_CONST && (int64_t)address->add < 0)
		read_kernel(gen, string);
	else
		read_either(gen, string);
}

/* Keeps r1 and r2, of which r2 is `size`. */
static void read_walking(struct gen *gen, uint32_t size,
			 const struct gen_value *address)
{
	struct emit *e = &gen->e;

	emit_alu(e, BPF_MOV, R7, R1);
	rpn_address_load(gen, address, R1);
	emit_alu_imm(e, BPF_MOV, R3, 0);
	walk_bring_in(gen);
	emit_alu(e, BPF_MOV, R1, R7);
	emit_alu_imm(e, BPF_MOV, R2, size);
}

void item_read(struct gen *gen, uint32_t size, const struct gen_value *address)
{
	if (size)
		emit_alu_imm(&gen->e, BPF_MOV, R2, size);
	if (gen->walking)
		read_walking(gen, size, address);
	item_read_call(gen, false, address);
	stub_fault_if(gen, BPF_JNE, R0, 0, address);
}

void item_place_load(struct gen *gen, const struct gen_place *place, int more,
		     int reg)
{
	int off = place->off + more;
	struct emit *e = &gen->e;

	if (place->spilled)
		emit_load(e, 8, reg, FP, FRAME_ITEM);
	else if (reg != place->base)
		emit_alu(e, BPF_MOV, reg, place->base);
	if (off)
		emit_alu_imm(e, BPF_ADD, reg, off);
}

void item_status_store(struct gen *gen, const struct gen_place *place, int status)
{
	emit_store_imm(&gen->e, 1, place->base, place->off + ITEM(status),
		       status);
}

void item_state_store(struct gen *gen, const struct gen_place *place, int status,
		      uint32_t item)
{
	struct emit *e = &gen->e;

	if (!gen->walked) {
		item_status_store(gen, place, status);
		return;
	}
	walk_bits_load(gen, item, R4);
	emit_alu_imm(e, BPF_AND, R4, WALK_PAGED_IN);
	emit_alu_imm(e, BPF_MUL, R4, RAS_ITEM_PAGED_IN / WALK_PAGED_IN);
	emit_alu_imm(e, BPF_OR, R4, status);
	emit_store(e, 1, place->base, place->off + ITEM(status), R4);
}

/* A register that the data is data_off after: r7, or where it moves r3 */
static int data_load(struct gen *gen)
{
	if (!gen->data_moves)
		return R7;
	emit_load(&gen->e, 8, R3, FP, FRAME_DATA);
	return R3;
}

/*
 * FRAME_LIMIT = what this item may take: its limit, or what the items before
 * left of the budget. Nothing left: the item is not looked at any more.
 */
static void item_limit(struct gen *gen, int status, uint32_t limit,
		       emit_label done)
{
	struct stub *none = stub_new(gen, STUB_BUDGET_NONE);
	emit_label small = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (!none)
		return;
	none->status = status;
	none->back = done;
	item_place_load(gen, &gen->place, 0, R2);
	emit_alu(e, BPF_SUB, R2, data_load(gen));
	emit_alu_imm(e, BPF_MOV, R1,
		     gen->budget + gen->data_off + gen->fixed);
	emit_alu(e, BPF_SUB, R1, R2);
	emit_jump_imm(e, BPF_JSLE, R1, 0, none->enter);
	emit_jump_imm(e, BPF_JLE, R1, limit, small);
	emit_alu_imm(e, BPF_MOV, R1, limit);
	emit_label_place(e, small);
	emit_store(e, 8, FP, FRAME_LIMIT, R1);
}

/*
 * An item of `length` bytes (a register) has been placed: the next one's place
 * depends on it.
 */
static void item_place_advance(struct gen *gen, int length)
{
	struct emit *e = &gen->e;

	if (gen->place.base != R9)
		emit_alu(e, BPF_MOV, R9, gen->place.base);
	emit_alu(e, BPF_ADD, R9, length);
	gen->place = (struct gen_place){
		.base = R9, .off = gen->place.off + RAS_ITEM_PREFIX,
	};
}

/*
 * Where items may be cut by the budget, the sum of their limits is more than
 * the record has room for: show the verifier what they came to. It also makes
 * the ways through an item, faults and all, one again.
 */
static void place_bound(struct gen *gen)
{
	struct emit *e = &gen->e;
	int data = data_load(gen);

	emit_alu(e, BPF_MOV, R1, R9);
	emit_alu(e, BPF_SUB, R1, data);
	emit_alu_imm(e, BPF_AND, R1, gen->spread);
	emit_alu(e, BPF_MOV, R9, data);
	emit_alu(e, BPF_ADD, R9, R1);
}

/* An item of constant length has been placed. */
static void place_step(struct gen *gen, uint32_t length)
{
	struct emit *e = &gen->e;

	if (!fault_goes_on(gen)) {
		gen->place.off += RAS_ITEM_PREFIX + length;
		return;
	}
	if (gen->place.base != R9)
		emit_alu(e, BPF_MOV, R9, gen->place.base);
	emit_alu_imm(e, BPF_ADD, R9, length);
	gen->place.base = R9;
	gen->place.off += RAS_ITEM_PREFIX;
}

void item_value_generate(struct gen *gen, const struct tdf_stmt *stmt,
			 struct gen_value *result)
{
	const uint8_t *rpn = gen->tdf->rpn + stmt->rpn;
	bool whole = stmt->kind == TDF_STMT_MEM &&
		     !(stmt->flags & TDF_STMT_LEN);

	kept_clear(gen, stmt);
	if (stmt->flags & TDF_STMT_SEGMENT)
		rpn_far_generate(gen, rpn, stmt->rpn_length,
				 whole ? stmt->length : 1, result);
	else
		rpn_generate(gen, rpn, stmt->rpn_length, result);
	kept_store(gen, stmt, result);
}

void item_length_generate(struct gen *gen, const struct tdf_stmt *stmt,
			  struct gen_value *result)
{
	const uint8_t *rpn = gen->tdf->rpn + stmt->len_rpn;
	struct emit *e = &gen->e;

	if (stmt->flags & TDF_STMT_LEN_SEGMENT)
		rpn_far_generate(gen, rpn, stmt->len_rpn_length,
				 stmt->len_bytes, result);
	else
		rpn_generate(gen, rpn, stmt->len_rpn_length, result);
	if (stmt->flags & TDF_STMT_LEN_VALUE)
		return;
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_LENGTH);
	item_read(gen, stmt->len_bytes, result);
	*result = (struct gen_value){
		.kind = VALUE_MEMORY, .base = FP, .off = FRAME_LENGTH,
		.bytes = stmt->len_bytes,
	};
}

/* Status and length, four bytes at once: the data overwrites the fourth. */
static void item_prefix(struct gen *gen, uint8_t status, uint32_t length)
{
	emit_store_imm(&gen->e, 4, gen->place.base, gen->place.off,
		       status | length << 8);
	if (gen->walked)
		item_state_store(gen, &gen->place, status, gen->item);
}

/*
 * Where in a lean frame `bytes` bytes can be read to, and copied from: the
 * kernel is quicker to see that it may write there than that it may in a map.
 * 0: nowhere. What fails is taken again, so the address may be overwritten.
 */
static int detour_find(const struct gen *gen, uint32_t bytes)
{
	int off = gen->slots + 8 - (int)((bytes + 7) & ~7u);

	return gen->lean && gen->bring_in && !gen->walking &&
	       off >= -FRAME_LEAN ? off : 0;
}

/* r1 = where the bytes of the item at `place` are read to, of an address that
 * has been generated */
static void read_begin(struct gen *gen, const struct gen_place *place, int detour)
{
	struct emit *e = &gen->e;

	if (!detour) {
		item_place_load(gen, place, RAS_ITEM_PREFIX, R1);
		return;
	}
	if (gen->deepest > detour)
		gen->deepest = detour;
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, detour);
}

/* What has been read to FP + from, `more` bytes after the item's place. Loads of
 * the frame are aligned. Uses r1. */
static void item_copy(struct gen *gen, const struct gen_place *place, uint32_t more,
		      int from, uint32_t bytes)
{
	int to = place->off + (int)more, size;

	for (uint32_t at = 0; at < bytes; at += size) {
		size = 8;
		while ((uint32_t)size > bytes - at || (from + (int)at) % size)
			size /= 2;
		emit_load(&gen->e, size, R1, FP, from + at);
		emit_store(&gen->e, size, place->base, to + at, R1);
	}
}

/* Constant length */
static void generate_plain(struct gen *gen, const struct tdf_stmt *stmt)
{
	int detour = detour_find(gen, stmt->length), there;
	struct gen_value address;

	item_value_generate(gen, stmt, &address);
	item_prefix(gen, RAS_ITEM_VALUE | gen->stale, stmt->length);
	there = reads_take(gen, READS_BYTES, &address);
	if (!there) {
		read_begin(gen, &gen->place, detour);
		item_read(gen, stmt->length, &address);
		there = detour;
	}
	if (there)
		item_copy(gen, &gen->place, RAS_ITEM_PREFIX, there,
			  stmt->length);
	place_step(gen, stmt->length);
}

/* r1 = the length that LEN yields, at most `limit` */
static void item_generate_length(struct gen *gen, const struct tdf_stmt *stmt,
				 uint32_t limit)
{
	struct emit *e = &gen->e;
	struct gen_value length;
	struct stub *cut;

	item_length_generate(gen, stmt, &length);
	item_state_store(gen, &gen->place, RAS_ITEM_VALUE | gen->stale,
			 gen->item);
	rpn_value_load(gen, &length, R1);
	cut = stub_new(gen, STUB_LENGTH_CUT);
	if (!cut)
		return;
	cut->limit = limit;
	emit_jump_imm(e, BPF_JGT, R1, limit, cut->enter);
	emit_label_place(e, cut->back);
}

/*
 * r1 = its part that the budget leaves. What may be a constant is on the
 * right: on the left the verifier of 6.1 doesn't compare it with the other's
 * bounds, and goes ways that can't be gone.
 */
static void generate_budget(struct gen *gen)
{
	struct stub *cut = stub_new(gen, STUB_BUDGET_CUT);
	struct emit *e = &gen->e;

	if (!cut)
		return;
	emit_load(e, 8, R2, FP, FRAME_LIMIT);
	emit_jump_if(e, BPF_JLT, R2, R1, cut->enter);
	emit_label_place(e, cut->back);
}

/* The segment has r2 bytes from the address on, or it is a bad one. */
static void item_room_check(struct gen *gen)
{
	struct stub *bad = stub_new(gen, STUB_SELECTOR);
	struct emit *e = &gen->e;

	if (!bad)
		return;
	bad->value = (struct gen_value){
		.kind = VALUE_MEMORY, .base = FP, .off = FRAME_FAR(gen),
		.bytes = 8,
	};
	emit_load(e, 8, R3, FP, FRAME_ROOM(gen));
	emit_jump_if(e, BPF_JLT, R3, R2, bad->enter);
}

/*
 * A length known at run time only. Zero is an empty item, its address isn't
 * looked at. r9 is advanced before that is tested, so that both ways have the
 * same bounds. One byte above the limit is enough to see that the budget cuts.
 */
static void generate_variable(struct gen *gen, const struct tdf_stmt *stmt,
			      uint32_t limit, bool budget, emit_label done)
{
	uint32_t most = min_u32(stmt->length, limit + 1);
	struct emit *e = &gen->e;
	struct gen_place item = gen->place, next;
	struct gen_value address;

	if (budget)
		item_limit(gen, RAS_ITEM_VALUE, limit, done);
	if (stmt->flags & TDF_STMT_LEN) {
		item_generate_length(gen, stmt, most);
	} else {
		item_state_store(gen, &item, RAS_ITEM_VALUE | gen->stale,
				 gen->item);
		emit_alu_imm(e, BPF_MOV, R1, most);
	}
	if (budget)
		generate_budget(gen);
	emit_store(e, 2, item.base, item.off + ITEM(length), R1);
	emit_store(e, 8, FP, FRAME_LENGTH, R1);
	if (item.base == R9) {
		emit_store(e, 8, FP, FRAME_ITEM, R9);
		item.spilled = true;
	}
	item_place_advance(gen, R1);
	emit_jump_imm(e, BPF_JEQ, R1, 0, done);

	next = gen->place;
	gen->place = item;
	item_value_generate(gen, stmt, &address);
	item_place_load(gen, &item, RAS_ITEM_PREFIX, R1);
	emit_load(e, 8, R2, FP, FRAME_LENGTH);
	if (stmt->flags & TDF_STMT_SEGMENT)
		item_room_check(gen);
	item_read(gen, 0, &address);
	gen->place = next;
}

/* r1 = 1 if it isn't 0; without a branch, as there are many of them */
static void emit_is_set(struct emit *e)
{
	emit_alu(e, BPF_MOV, R2, R1);
	emit_alu_imm(e, BPF_NEG, R2, 0);
	emit_alu(e, BPF_OR, R1, R2);
	emit_alu_imm(e, BPF_RSH, R1, 63);
}

/* `more` bytes after the item's place */
static void generate_piece(struct gen *gen, const struct tdf_stmt *stmt,
			   uint32_t more)
{
	const struct gen_place *place = &gen->place;
	struct emit *e = &gen->e;
	uint32_t bytes = stmt->length;
	struct gen_value value;
	int there;

	if (stmt->kind == TDF_STMT_MEM) {
		item_value_generate(gen, stmt, &value);
		there = reads_take(gen, READS_BYTES, &value);
		if (there) {
			item_copy(gen, place, more, there, bytes);
			return;
		}
		item_place_load(gen, place, more, R1);
		item_read(gen, bytes, &value);
		return;
	}
	if (bytes & (bytes - 1))	/* what follows overwrites the rest */
		bytes = VALUE_BYTES;
	if (!choose_block_value(gen, stmt)) {
		item_value_generate(gen, stmt, &value);
		rpn_value_load(gen, &value, R1);
		if ((stmt->flags & TDF_STMT_OLD) == TDF_STMT_SIZE)
			call_size_load(gen);
		if (stmt->reg && bytes == 1)
			emit_is_set(e);
	}
	emit_store(e, bytes, place->base, place->off + more, R1);
}

static void generate_pieces(struct gen *gen, uint32_t index, uint32_t end,
			    uint32_t more)
{
	const struct tdf_stmt *stmts = gen->tdf->stmts;

	for (; index < end; index++) {
		gen_note(gen, index);
		generate_piece(gen, &stmts[index], more);
		more += stmts[index].length;
	}
}

/* Pieces are read whole, then cut; faults leave nothing of them. */
static void generate_sum(struct gen *gen, uint32_t index, uint32_t end,
			 uint32_t bytes, bool budget, emit_label done)
{
	struct emit *e = &gen->e;
	struct gen_place *place = &gen->place;

	if (!budget) {
		item_prefix(gen, RAS_ITEM_VALUE | gen->stale, bytes);
		generate_pieces(gen, index, end, RAS_ITEM_PREFIX);
		place_step(gen, bytes);
		return;
	}
	item_limit(gen, RAS_ITEM_VALUE, min_u32(bytes, gen->budget), done);
	item_state_store(gen, place, RAS_ITEM_VALUE | gen->stale,
			 gen->item);
	generate_pieces(gen, index, end, RAS_ITEM_PREFIX);
	emit_alu_imm(e, BPF_MOV, R1, bytes);
	generate_budget(gen);
	emit_store(e, 2, place->base, place->off + ITEM(length), R1);
	item_place_advance(gen, R1);
}

/* r0 = length without the zero, at most FRAME_LIMIT or `most` */
static void generate_string_length(struct gen *gen, uint32_t most, bool budget,
				   const struct gen_value *address)
{
	struct emit *e = &gen->e;
	struct stub *stub = stub_new(gen, STUB_EMPTY_OR_FAULT);

	if (!stub)
		return;
	stub->value = *address;
	stub->limit = most;
	stub->budget = budget;
	emit_jump_imm(e, BPF_JSLE, R0, 0, stub->enter);
	emit_label_place(e, stub->back);
	stub = stub_new(gen, STUB_STRING_CUT);
	if (!stub)
		return;
	stub->limit = most;
	stub->budget = budget;
	emit_alu_imm(e, BPF_SUB, R0, 1);
	if (budget) {
		emit_load(e, 8, R1, FP, FRAME_LIMIT);
		emit_jump_if(e, BPF_JLT, R1, R0, stub->enter);
	} else {
		emit_jump_imm(e, BPF_JGT, R0, most, stub->enter);
	}
	emit_label_place(e, stub->back);
}

/* FRAME_LIMIT: not more than the segment has from the address on */
static void generate_room(struct gen *gen)
{
	emit_label enough = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 8, R1, FP, FRAME_LIMIT);
	emit_load(e, 8, R2, FP, FRAME_ROOM(gen));
	emit_jump_if(e, BPF_JLE, R1, R2, enough);
	/* for the verifier of 6.1, which goes there though it can't be */
	emit_alu_imm(e, BPF_AND, R2, TDF_DATA_MAX - 1);
	emit_store(e, 8, FP, FRAME_LIMIT, R2);
	emit_label_place(e, enough);
}

/*
 * All of the detour is copied: what the string doesn't fill is zeros, nothing of
 * the kernel's. The address may be there: it goes to r3.
 */
static void string_clear(struct gen *gen, int detour, struct gen_value *address)
{
	if (!detour)
		return;
	rpn_address_load(gen, address, R3);
	*address = (struct gen_value){ .kind = VALUE_TEMP, .base = R3 };
	for (int off = detour; off < gen->slots + 8; off += 8)
		emit_store_imm(&gen->e, 8, FP, off, 0);
}

/*
 * Two bytes more than the limit are read: one for the zero, one to
 * distinguish a string that fits exactly from a longer one.
 */
static void generate_string(struct gen *gen, const struct tdf_stmt *stmt,
			    uint32_t limit, bool budget, emit_label done)
{
	int detour = budget ? 0 : detour_find(gen, limit + 2);
	struct emit *e = &gen->e;
	struct gen_place item = gen->place;
	struct gen_value address;

	if (budget)
		item_limit(gen, RAS_ITEM_STRING, limit, done);
	item_value_generate(gen, stmt, &address);
	if (stmt->flags & TDF_STMT_SEGMENT)
		generate_room(gen);
	string_clear(gen, detour, &address);
	read_begin(gen, &item, detour);
	if (budget) {
		emit_load(e, 8, R2, FP, FRAME_LIMIT);
		emit_alu_imm(e, BPF_ADD, R2, 2);
	} else {
		emit_alu_imm(e, BPF_MOV, R2, limit + 2);
	}
	item_read_call(gen, true, &address);
	item_state_store(gen, &item, RAS_ITEM_STRING | gen->stale,
			 gen->item);
	generate_string_length(gen, min_u32(stmt->length, limit + 1), budget,
			       &address);
	if (detour)
		item_copy(gen, &item, RAS_ITEM_PREFIX, detour, limit);
	emit_store(e, 2, item.base, item.off + ITEM(length), R0);
	item_place_advance(gen, R0);
}

static void generate_reg(struct gen *gen, const struct tdf_stmt *stmt)
{
	struct emit *e = &gen->e;
	struct arch_reg reg = arch_reg_find(gen, stmt->reg);

	if (reg.bytes < stmt->reg_bytes)
		gen_fail(gen, -EINVAL, "register %u is not that wide",
			 stmt->reg);
	if (reg.ip && gen_ip_excess(gen)) {
		emit_load(e, 8, R1, R6, reg.offset);
		emit_alu_imm(e, BPF_SUB, R1, gen_ip_excess(gen));
	} else {
		emit_load(e, stmt->reg_bytes, R1, R6, reg.offset);
	}
	emit_store(e, stmt->reg_bytes, gen->place.base, gen->place.off, R1);
	gen->place.off += stmt->reg_bytes;
	gen->fixed += stmt->reg_bytes;
}

static void generate_memory(struct gen *gen, uint32_t index, uint32_t end,
			    uint32_t bytes)
{
	const struct tdf_stmt *stmt = &gen->tdf->stmts[index];
	uint32_t limit = min_u32(bytes, gen->budget);
	bool far = stmt->kind == TDF_STMT_ASCIIZ &&
		   stmt->flags & TDF_STMT_SEGMENT;
	bool budget = far || gen->used + bytes > gen->budget;
	emit_label done = emit_label_new(&gen->e);

	fault_begin(gen);
	if (stmt->kind == TDF_STMT_ASCIIZ)
		generate_string(gen, stmt, limit, budget, done);
	else if (stmt->kind == TDF_STMT_VALUE || end > index + 1)
		generate_sum(gen, index, end, bytes, budget, done);
	else if (budget || (stmt->flags & TDF_STMT_LEN))
		generate_variable(gen, stmt, limit, budget, done);
	else
		generate_plain(gen, stmt);
	emit_label_place(&gen->e, done);
	if (budget || fault_goes_on(gen))
		place_bound(gen);
	if (fault_goes_on(gen) && bytes < FAULT_BYTES)
		bytes = FAULT_BYTES;
	fault_end(gen, done);
	gen->used = min_u32(gen->used + bytes, gen->budget);
	gen->fixed += RAS_ITEM_PREFIX;
}

/* Without a prefix a fault can't be reported: the record ends before the item. */
static void generate_raw(struct gen *gen, uint32_t index, uint32_t end,
			 uint32_t bytes)
{
	gen->fault = gen->raw_fault;
	generate_pieces(gen, index, end, 0);
	gen->fault = gen->fault_ends;
	gen->place.off += bytes;
	gen->fixed += bytes;
}

static void generate_absent(struct gen *gen, int flag)
{
	emit_store_imm(&gen->e, 4, gen->place.base, gen->place.off,
		       RAS_ITEM_ABSENT | flag);
	gen->place.off += RAS_ITEM_PREFIX;
	gen->fixed += RAS_ITEM_PREFIX;
}

/* As many frames as the budget is sure to have room for. */
static void item_generate_stack(struct gen *gen, const struct tdf_stmt *stmt)
{
	uint32_t rest = gen->budget - gen->used;
	uint32_t depth = min_u32(stmt->length, rest / STACK_FRAME_BYTES);

	stack_generate(gen, stmt, depth);
	gen->used += depth * STACK_FRAME_BYTES;
	gen->fixed += STACK_ITEM_BYTES(0);
}

bool item_is_read(const struct gen *gen, uint32_t index)
{
	switch (gen->tdf->stmts[index].kind) {
	case TDF_STMT_MEM: case TDF_STMT_ASCIIZ: case TDF_STMT_VALUE:
		return true;
	default:
		return false;
	}
}

static unsigned int stmt_uses(const struct gen *gen,
			      const struct tdf_stmt *stmt)
{
	const uint8_t *rpn = gen->tdf->rpn;
	unsigned int uses = rpn_uses(gen->machine, rpn + stmt->rpn,
				     stmt->rpn_length);

	if (stmt->flags & TDF_STMT_LEN)
		uses |= rpn_uses(gen->machine, rpn + stmt->len_rpn,
				 stmt->len_rpn_length);
	return uses;
}

uint32_t item_end(const struct gen *gen, uint32_t index, uint32_t *bytes)
{
	const struct tdf_stmt *stmts = gen->tdf->stmts;
	uint32_t end = gen->site->first_stmt + gen->site->stmts;

	*bytes = 0;
	do {
		*bytes += stmts[index++].length;
	} while (index < end && stmts[index].flags & TDF_STMT_MORE);
	return index;
}

uint32_t item_generate(struct gen *gen, uint32_t index)
{
	const struct tdf_stmt *stmt = &gen->tdf->stmts[index];
	uint32_t bytes, end = item_end(gen, index, &bytes);
	unsigned int uses = 0;

	gen_note(gen, index);
	gen->stale = 0;
	if (stmt->kind == TDF_STMT_REG) {
		generate_reg(gen, stmt);
		return end;
	}
	if (stmt->kind == TDF_STMT_ABSENT) {
		generate_absent(gen, 0);
		return end;
	}
	if (stmt->kind == TDF_STMT_STACK) {
		item_generate_stack(gen, stmt);
		return end;
	}
	gen->item++;
	for (uint32_t i = index; i < end; i++)
		uses |= stmt_uses(gen, &gen->tdf->stmts[i]);
	if (!gen->fresh && uses & RPN_USES_STALE)
		gen->stale = RAS_ITEM_STALE;
	if (uses & RPN_USES_VECTOR && !gen->target->vector_read &&
	    !(stmt->flags & TDF_STMT_RAW)) {
		kept_clear(gen, stmt);
		generate_absent(gen, RAS_ITEM_MODULE);
		return end;
	}
	if (stmt->flags & TDF_STMT_RAW)
		generate_raw(gen, index, end, bytes);
	else
		generate_memory(gen, index, end, bytes);
	return end;
}
