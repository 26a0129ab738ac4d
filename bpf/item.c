// SPDX-License-Identifier: GPL-2.0
/*
 * The items of a record: data statements -> instructions, and the stubs for
 * what is unreadable, empty or cut.
 *
 * Where a stub comes back, the verifier must have walked the straight line
 * with the wider bounds before: it follows the fall through first, and then
 * has nothing new to walk. Else 20 strings were 2^20 ways.
 */
#include "gen.h"

#include <errno.h>

#include <rastrace/buffer.h>
#include "../usr/lib/tdf.h"

#define ITEM(field)	((int)offsetof(struct ras_item, field))
#define COUNT(field)	((int)offsetof(struct ras_count, field))

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct stub *stub_new(struct gen *gen, enum stub_kind kind)
{
	struct emit *e = &gen->e;
	struct stub *stub;

	if (!e->error)
		e->error = emit_array_grow(&gen->stubs, &gen->stub_room,
					   gen->stub_count,
					   sizeof(*gen->stubs));
	if (e->error)
		return NULL;
	stub = &gen->stubs[gen->stub_count++];
	*stub = (struct stub){
		.kind = kind, .place = gen->place, .stmt = gen->stmt,
		.enter = emit_label_new(e), .back = emit_label_new(e),
	};
	return stub;
}

void item_fault_if(struct gen *gen, int op, int dst, int32_t imm,
		  const struct value *value)
{
	struct stub *stub = stub_new(gen, STUB_FAULT);

	if (!stub)
		return;
	stub->value = *value;
	emit_jump_imm(&gen->e, op, dst, imm, stub->enter);
}

static void read_call(struct gen *gen, bool string, const struct value *address)
{
	bool kernel = gen->target->context == BODY_KPROBE;

	rpn_address_load(gen, address, R3);
	if (string)
		emit_call(&gen->e, kernel ? BPF_FUNC_probe_read_kernel_str :
					    BPF_FUNC_probe_read_user_str);
	else
		emit_call(&gen->e, kernel ? BPF_FUNC_probe_read_kernel :
					    BPF_FUNC_probe_read_user);
}

void item_read(struct gen *gen, uint32_t size, const struct value *address)
{
	if (size)
		emit_alu_imm(&gen->e, BPF_MOV, R2, size);
	read_call(gen, false, address);
	item_fault_if(gen, BPF_JNE, R0, 0, address);
}

static void place_load(struct emit *e, const struct place *place, int more,
		       int reg)
{
	int off = place->off + more;

	if (place->spilled)
		emit_load(e, 8, reg, FP, FRAME_ITEM);
	else if (reg != place->base)
		emit_alu(e, BPF_MOV, reg, place->base);
	if (off)
		emit_alu_imm(e, BPF_ADD, reg, off);
}

static void item_status(struct gen *gen, const struct place *place, int status)
{
	emit_store_imm(&gen->e, 1, place->base, place->off + ITEM(status),
		       status);
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
	place_load(e, &gen->place, 0, R2);
	emit_alu(e, BPF_SUB, R2, R7);
	emit_alu_imm(e, BPF_MOV, R1,
		     gen->budget + RAS_RECORD_HEADER + gen->fixed);
	emit_alu(e, BPF_SUB, R1, R2);
	emit_jump_imm(e, BPF_JEQ, R1, 0, none->enter);
	emit_jump_imm(e, BPF_JLE, R1, limit, small);
	emit_alu_imm(e, BPF_MOV, R1, limit);
	emit_label_place(e, small);
	emit_store(e, 8, FP, FRAME_LIMIT, R1);
}

/*
 * An item of `length` bytes (a register) has been placed: the next one's place
 * depends on it.
 */
static void place_advance(struct gen *gen, int length)
{
	struct emit *e = &gen->e;

	if (gen->place.base != R9)
		emit_alu(e, BPF_MOV, R9, gen->place.base);
	emit_alu(e, BPF_ADD, R9, length);
	gen->place = (struct place){
		.base = R9, .off = gen->place.off + RAS_ITEM_PREFIX,
	};
}

/*
 * Where items may be cut by the budget, the sum of their limits is more than
 * the record has room for: tell the verifier what they came to.
 */
static void place_bound(struct gen *gen)
{
	emit_label right = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_alu(e, BPF_MOV, R1, R9);
	emit_alu(e, BPF_SUB, R1, R7);
	emit_jump_imm(e, BPF_JLE, R1, gen->budget, right);
	emit_alu_imm(e, BPF_MOV, R1, gen->budget);
	emit_label_place(e, right);
	emit_alu(e, BPF_MOV, R9, R7);
	emit_alu(e, BPF_ADD, R9, R1);
}

/* Constant length: four bytes at once, the data overwrites the fourth. */
static void generate_plain(struct gen *gen, const struct tdf_stmt *stmt,
			   uint32_t length)
{
	struct place *place = &gen->place;
	struct emit *e = &gen->e;
	struct value address;

	rpn_generate(gen, gen->tdf->rpn + stmt->rpn, stmt->rpn_length,
		     &address);
	emit_store_imm(e, 4, place->base, place->off,
		       RAS_ITEM_VALUE | length << 8);
	place_load(e, place, RAS_ITEM_PREFIX, R1);
	item_read(gen, length, &address);
	place->off += RAS_ITEM_PREFIX + length;
}

/* r1 = the length from memory, at most `limit` */
static void generate_length(struct gen *gen, const struct tdf_stmt *stmt,
			    uint32_t limit)
{
	struct emit *e = &gen->e;
	struct value address;
	struct stub *cut;

	rpn_generate(gen, gen->tdf->rpn + stmt->len_rpn, stmt->len_rpn_length,
		     &address);
	emit_alu(e, BPF_MOV, R1, FP);
	emit_alu_imm(e, BPF_ADD, R1, FRAME_LENGTH);
	item_read(gen, stmt->len_bytes, &address);
	item_status(gen, &gen->place, RAS_ITEM_VALUE);
	emit_load(e, stmt->len_bytes, R1, FP, FRAME_LENGTH);
	cut = stub_new(gen, STUB_LENGTH_CUT);
	if (!cut)
		return;
	cut->limit = limit;
	emit_jump_imm(e, BPF_JGT, R1, limit, cut->enter);
	emit_label_place(e, cut->back);
}

/* r1 = its part that the budget leaves */
static void generate_budget(struct gen *gen)
{
	struct stub *cut = stub_new(gen, STUB_BUDGET_CUT);
	struct emit *e = &gen->e;

	if (!cut)
		return;
	emit_load(e, 8, R2, FP, FRAME_LIMIT);
	emit_jump_if(e, BPF_JGT, R1, R2, cut->enter);
	emit_label_place(e, cut->back);
}

/*
 * A length known at run time only. Zero is an empty item, its address isn't
 * looked at. r9 is advanced before that is tested, so that both ways have the
 * same bounds. One byte above the limit is enough to see that the budget cuts.
 */
static void generate_variable(struct gen *gen, const struct tdf_stmt *stmt,
			      uint32_t limit, bool budget)
{
	uint32_t most = min_u32(stmt->length, limit + 1);
	emit_label done = emit_label_new(&gen->e);
	struct emit *e = &gen->e;
	struct place item = gen->place, next;
	struct value address;

	if (budget)
		item_limit(gen, RAS_ITEM_VALUE, limit, done);
	if (stmt->flags & TDF_STMT_LEN) {
		generate_length(gen, stmt, most);
	} else {
		item_status(gen, &item, RAS_ITEM_VALUE);
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
	place_advance(gen, R1);
	emit_jump_imm(e, BPF_JEQ, R1, 0, done);

	next = gen->place;
	gen->place = item;
	rpn_generate(gen, gen->tdf->rpn + stmt->rpn, stmt->rpn_length,
		     &address);
	place_load(e, &item, RAS_ITEM_PREFIX, R1);
	emit_load(e, 8, R2, FP, FRAME_LENGTH);
	item_read(gen, 0, &address);
	gen->place = next;
	emit_label_place(e, done);
	if (budget)
		place_bound(gen);
}

/* r0 = length without the zero, at most FRAME_LIMIT or `most` */
static void generate_string_length(struct gen *gen, uint32_t most, bool budget,
				   const struct value *address)
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
		emit_jump_if(e, BPF_JGT, R0, R1, stub->enter);
	} else {
		emit_jump_imm(e, BPF_JGT, R0, most, stub->enter);
	}
	emit_label_place(e, stub->back);
}

/*
 * Two bytes more than the limit are read: one for the zero, one to tell a
 * string that fits exactly from a longer one.
 */
static void generate_string(struct gen *gen, const struct tdf_stmt *stmt,
			    uint32_t limit, bool budget)
{
	emit_label done = emit_label_new(&gen->e);
	struct emit *e = &gen->e;
	struct place item = gen->place;
	struct value address;

	if (budget)
		item_limit(gen, RAS_ITEM_STRING, limit, done);
	rpn_generate(gen, gen->tdf->rpn + stmt->rpn, stmt->rpn_length,
		     &address);
	place_load(e, &item, RAS_ITEM_PREFIX, R1);
	if (budget) {
		emit_load(e, 8, R2, FP, FRAME_LIMIT);
		emit_alu_imm(e, BPF_ADD, R2, 2);
	} else {
		emit_alu_imm(e, BPF_MOV, R2, limit + 2);
	}
	read_call(gen, true, &address);
	item_status(gen, &item, RAS_ITEM_STRING);
	generate_string_length(gen, min_u32(stmt->length, limit + 1), budget,
			       &address);
	emit_store(e, 2, item.base, item.off + ITEM(length), R0);
	place_advance(gen, R0);
	emit_label_place(e, done);
	if (budget)
		place_bound(gen);
}

void item_place_load(struct gen *gen, int reg)
{
	place_load(&gen->e, &gen->place, 0, reg);
}

static void generate_reg(struct gen *gen, const struct tdf_stmt *stmt)
{
	bool kprobe = gen->target->context == BODY_KPROBE;
	struct emit *e = &gen->e;
	struct arch_reg reg = arch_reg_find(gen, stmt->reg);

	if (reg.bytes < stmt->reg_bytes)
		gen_fail(gen, -EINVAL, "register %u is not that wide",
			 stmt->reg);
	if (reg.ip && kprobe) {
		emit_load(e, 8, R1, R6, reg.offset);
		emit_alu_imm(e, BPF_SUB, R1, 1);
	} else {
		emit_load(e, stmt->reg_bytes, R1, R6, reg.offset);
	}
	emit_store(e, stmt->reg_bytes, gen->place.base, gen->place.off, R1);
	gen->place.off += stmt->reg_bytes;
	gen->fixed += stmt->reg_bytes;
}

static void generate_memory(struct gen *gen, const struct tdf_stmt *stmt)
{
	uint32_t limit = min_u32(stmt->length, gen->budget);
	bool budget = gen->used + stmt->length > gen->budget;

	if (stmt->kind == TDF_STMT_ASCIIZ)
		generate_string(gen, stmt, limit, budget);
	else if (budget || (stmt->flags & TDF_STMT_LEN))
		generate_variable(gen, stmt, limit, budget);
	else
		generate_plain(gen, stmt, limit);
	gen->used = min_u32(gen->used + stmt->length, gen->budget);
	gen->fixed += RAS_ITEM_PREFIX;
}

void item_generate(struct gen *gen, const struct tdf_stmt *stmt)
{
	if (stmt->kind == TDF_STMT_REG)
		generate_reg(gen, stmt);
	else
		generate_memory(gen, stmt);
}

static void record_cut(struct gen *gen)
{
	emit_store_imm(&gen->e, 2, R7, RECORD(flags), RAS_RECORD_CUT);
}

static void stub_fault(struct gen *gen, const struct stub *stub)
{
	rpn_address_load(gen, &stub->value, R1);
	place_load(&gen->e, &stub->place, 0, R9);
	emit_jump(&gen->e, gen->fault);
}

/*
 * The empty string: 6.1 and 6.12 return 0, 6.18 returns 1. A string that can't
 * be read may still have as many bytes as are wanted, up to the end of its
 * page: then it is one that goes on.
 */
static void stub_empty_or_fault(struct gen *gen, const struct stub *stub)
{
	emit_label fault = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_jump_imm(e, BPF_JSLT, R0, 0, fault);
	emit_alu_imm(e, BPF_MOV, R0, 1);
	emit_jump(e, stub->back);
	emit_label_place(e, fault);
	place_load(e, &stub->place, RAS_ITEM_PREFIX, R1);
	if (stub->budget)
		emit_load(e, 8, R2, FP, FRAME_LIMIT);
	else
		emit_alu_imm(e, BPF_MOV, R2, stub->limit);
	read_call(gen, false, &stub->value);
	fault = emit_label_new(e);
	emit_jump_imm(e, BPF_JNE, R0, 0, fault);
	if (stub->budget)
		emit_load(e, 8, R0, FP, FRAME_LIMIT);
	else
		emit_alu_imm(e, BPF_MOV, R0, stub->limit);
	emit_alu_imm(e, BPF_ADD, R0, 2);
	emit_jump(e, stub->back);
	emit_label_place(e, fault);
	stub_fault(gen, stub);
}

static void stub_string_cut(struct gen *gen, const struct stub *stub)
{
	struct emit *e = &gen->e;

	item_status(gen, &stub->place, RAS_ITEM_STRING | RAS_ITEM_CUT);
	if (stub->budget) {
		emit_alu(e, BPF_MOV, R0, R1);
		emit_jump_imm(e, BPF_JEQ, R0, stub->limit, stub->back);
		record_cut(gen);
	} else {
		emit_alu_imm(e, BPF_MOV, R0, stub->limit);
	}
	emit_jump(e, stub->back);
}

static void stub_length_cut(struct gen *gen, const struct stub *stub)
{
	item_status(gen, &stub->place, RAS_ITEM_VALUE | RAS_ITEM_CUT);
	emit_alu_imm(&gen->e, BPF_MOV, R1, stub->limit);
	emit_jump(&gen->e, stub->back);
}

static void stub_budget_cut(struct gen *gen, const struct stub *stub)
{
	item_status(gen, &stub->place, RAS_ITEM_VALUE | RAS_ITEM_CUT);
	record_cut(gen);
	emit_alu(&gen->e, BPF_MOV, R1, R2);
	emit_jump(&gen->e, stub->back);
}

static void stub_budget_none(struct gen *gen, const struct stub *stub)
{
	struct emit *e = &gen->e;
	const struct place *place = &stub->place;

	item_status(gen, place, stub->status | RAS_ITEM_CUT);
	emit_store_imm(e, 2, place->base, place->off + ITEM(length), 0);
	record_cut(gen);
	if (place->base != R9)
		emit_alu(e, BPF_MOV, R9, place->base);
	emit_jump(e, stub->back);
}

void item_stub_generate(struct gen *gen, const struct stub *stub)
{
	emit_label_place(&gen->e, stub->enter);
	switch (stub->kind) {
	case STUB_FAULT:
		stub_fault(gen, stub);
		break;
	case STUB_EMPTY_OR_FAULT:
		stub_empty_or_fault(gen, stub);
		break;
	case STUB_STRING_CUT:
		stub_string_cut(gen, stub);
		break;
	case STUB_LENGTH_CUT:
		stub_length_cut(gen, stub);
		break;
	case STUB_BUDGET_CUT:
		stub_budget_cut(gen, stub);
		break;
	case STUB_BUDGET_NONE:
		stub_budget_none(gen, stub);
		break;
	}
}

/* r1 = the failing pointer, r9 = the item's place. Nothing follows it. */
void item_fault_generate(struct gen *gen, emit_label finish)
{
	struct emit *e = &gen->e;

	emit_label_place(e, gen->fault);
	emit_store_imm(e, 1, R9, ITEM(status), RAS_ITEM_FAULT);
	emit_store_imm(e, 2, R9, ITEM(length), FAULT_BYTES);
	emit_store(e, 8, R9, RAS_ITEM_PREFIX, R1);
	emit_alu_imm(e, BPF_ADD, R9, RAS_ITEM_PREFIX + FAULT_BYTES);
	emit_load(e, 8, R1, FP, FRAME_COUNT);
	emit_load(e, 8, R2, R1, COUNT(faults));
	emit_alu_imm(e, BPF_ADD, R2, 1);
	emit_store(e, 8, R1, COUNT(faults), R2);
	emit_load(e, 2, R1, R7, RECORD(flags));
	emit_alu_imm(e, BPF_OR, R1, RAS_RECORD_FAULT);
	emit_store(e, 2, R7, RECORD(flags), R1);
	emit_jump(e, finish);
}
