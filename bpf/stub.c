// SPDX-License-Identifier: GPL-2.0
/*
 * After the straight line: what is unreadable, empty or cut.
 *
 * Where a stub comes back, the verifier must have walked the straight line
 * with the wider bounds before: it follows the fall through first, and then
 * has nothing new to walk. Else 20 strings were 2^20 ways.
 */
#include "gen.h"

#include <rastrace/buffer.h>

struct stub *stub_new(struct gen *gen, enum stub_kind kind)
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
		.fault = gen->fault, .stale = gen->stale,
		.walking = gen->walking, .item = gen->item,
		.enter = emit_label_new(e), .back = emit_label_new(e),
	};
	return stub;
}

/* Absent memory is brought in, then all begins again. */
static emit_label absent_label(const struct gen *gen)
{
	return gen->item ? gen->absent : gen->absent_if;
}

void stub_fault_if(struct gen *gen, int op, int dst, int32_t imm,
		   const struct gen_value *value)
{
	struct stub *stub;

	if (gen->walking || (gen->bring_in && !gen->walked)) {
		emit_jump_imm(&gen->e, op, dst, imm, gen->walking ?
			      gen->fault : absent_label(gen));
		return;
	}
	stub = stub_new(gen, STUB_FAULT);
	if (!stub)
		return;
	stub->value = *value;
	emit_jump_imm(&gen->e, op, dst, imm, stub->enter);
}

/* Rare, so it may read what it changes. */
static void record_flag(struct gen *gen, int flag)
{
	emit_load(&gen->e, 2, R3, R7, RECORD(flags));
	emit_alu_imm(&gen->e, BPF_OR, R3, flag);
	emit_store(&gen->e, 2, R7, RECORD(flags), R3);
}

/* Four bits for each combination of WALK_LEFT and WALK_UNREADABLE; none of them:
 * it was not tried. */
#define STATUS_BY_WALK	(RAS_ITEM_NOT_TRIED | \
			 RAS_ITEM_LEFT << 4 * WALK_LEFT | \
			 RAS_ITEM_FAULT << 4 * WALK_UNREADABLE | \
			 RAS_ITEM_LEFT << 4 * (WALK_LEFT | WALK_UNREADABLE))

/* r2 = why memory couldn't be read */
static void fault_status(struct gen *gen, uint32_t item)
{
	struct emit *e = &gen->e;

	if (!gen->walked) {
		emit_alu_imm(e, BPF_MOV, R2,
			     gen->target->context == BODY_KPROBE ?
			     RAS_ITEM_FAULT : RAS_ITEM_NOT_TRIED);
		return;
	}
	walk_bits_load(gen, item, R3);
	emit_alu_imm(e, BPF_AND, R3, WALK_LEFT | WALK_UNREADABLE);
	emit_alu_imm(e, BPF_MUL, R3, 4);
	emit_alu_imm(e, BPF_MOV, R2, STATUS_BY_WALK);
	emit_alu(e, BPF_RSH, R2, R3);
	emit_alu_imm(e, BPF_AND, R2, 0x0f);
}

/* r1 = the failing pointer, r2 = the status; those of an IF aren't stored. */
static void stub_leave(struct gen *gen, const struct stub *stub)
{
	if (stub->item)
		item_place_load(gen, &stub->place, 0, R9);
	if (stub->item && stub->stale)
		emit_alu_imm(&gen->e, BPF_OR, R2, stub->stale);
	emit_jump(&gen->e, stub->fault);
}

static void stub_fault(struct gen *gen, const struct stub *stub)
{
	if (!stub->item) {
		emit_jump(&gen->e, stub->fault);
		return;
	}
	rpn_address_load(gen, &stub->value, R1);
	fault_status(gen, stub->item);
	stub_leave(gen, stub);
}

/* Bad selector: the far pointer is kept; division by zero: `value`, 0 for most.
 * A record that may still be given up isn't gone on with: what is skipped may
 * have been read for others, and the fault would be counted twice. */
static void stub_raise(struct gen *gen, const struct stub *stub)
{
	struct emit *e = &gen->e;

	if (stub->item && gen->bring_in && gen->go_on && !gen->walked &&
	    !stub->walking) {
		emit_jump(e, gen->absent);
		return;
	}
	if (stub->item && !stub->walking) {
		rpn_value_load(gen, &stub->value, R1);
		emit_alu_imm(e, BPF_MOV, R2, stub->kind == STUB_SELECTOR ?
			     RAS_ITEM_SELECTOR : RAS_ITEM_ARITHMETIC);
		stub_leave(gen, stub);
		return;
	}
	emit_jump(e, stub->fault);
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
	if (gen->bring_in && !gen->walked) {
		emit_jump(e, gen->absent);
		return;
	}
	item_place_load(gen, &stub->place, RAS_ITEM_PREFIX, R1);
	if (stub->budget)
		emit_load(e, 8, R2, FP, FRAME_LIMIT);
	else
		emit_alu_imm(e, BPF_MOV, R2, stub->limit);
	item_read_call(gen, false, &stub->value);
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

	item_state_store(gen, &stub->place, RAS_ITEM_STRING | RAS_ITEM_CUT |
			 stub->stale, stub->item);
	if (stub->budget) {
		emit_alu(e, BPF_MOV, R0, R1);
		emit_jump_imm(e, BPF_JEQ, R0, stub->limit, stub->back);
		record_flag(gen, RAS_RECORD_CUT);
	} else {
		emit_alu_imm(e, BPF_MOV, R0, stub->limit);
	}
	emit_jump(e, stub->back);
}

static void stub_length_cut(struct gen *gen, const struct stub *stub)
{
	item_state_store(gen, &stub->place, RAS_ITEM_VALUE | RAS_ITEM_CUT |
			 stub->stale, stub->item);
	emit_alu_imm(&gen->e, BPF_MOV, R1, stub->limit);
	emit_jump(&gen->e, stub->back);
}

static void stub_budget_cut(struct gen *gen, const struct stub *stub)
{
	item_state_store(gen, &stub->place, RAS_ITEM_VALUE | RAS_ITEM_CUT |
			 stub->stale, stub->item);
	record_flag(gen, RAS_RECORD_CUT);
	emit_alu(&gen->e, BPF_MOV, R1, R2);
	emit_jump(&gen->e, stub->back);
}

static void stub_budget_none(struct gen *gen, const struct stub *stub)
{
	struct emit *e = &gen->e;
	const struct gen_place *place = &stub->place;

	item_status_store(gen, place, stub->status | RAS_ITEM_CUT);
	emit_store_imm(e, 2, place->base, place->off + ITEM(length), 0);
	record_flag(gen, RAS_RECORD_CUT);
	if (place->base != R9)
		emit_alu(e, BPF_MOV, R9, place->base);
	emit_jump(e, stub->back);
}

/* r2 = status, r9 = the item: the failing pointer instead of its data */
static void fault_store(struct emit *e)
{
	emit_store(e, 1, R9, ITEM(status), R2);
	emit_store_imm(e, 2, R9, ITEM(length), FAULT_BYTES);
	emit_store(e, 8, R9, RAS_ITEM_PREFIX, R1);
}

/* RAS_FAULT_* of each status, four bits each */
#define FAULT_BY_STATUS	(RAS_FAULT_UNREADABLE << 4 * RAS_ITEM_FAULT | \
			 RAS_FAULT_SELECTOR << 4 * RAS_ITEM_SELECTOR | \
			 RAS_FAULT_ABSENT << 4 * RAS_ITEM_LEFT | \
			 RAS_FAULT_ABSENT << 4 * RAS_ITEM_NOT_TRIED | \
			 RAS_FAULT_ARITHMETIC << 4 * RAS_ITEM_ARITHMETIC)

/* r2 = status; computed, not branched to: the ways stay one. */
static void stub_fault_note(struct gen *gen)
{
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (gen->deepest > FRAME_STATUS(gen))
		gen->deepest = FRAME_STATUS(gen);
	emit_store(e, 8, FP, FRAME_STATUS(gen), R2);
	record_flag(gen, RAS_RECORD_FAULT);
	why_row_load(gen, missing);
	emit_load(e, 8, R2, FP, FRAME_STATUS(gen));
	emit_alu_imm(e, BPF_AND, R2, RAS_ITEM_KIND(~0));
	emit_alu_imm(e, BPF_MUL, R2, 4);
	emit_alu_imm(e, BPF_MOV, R1, FAULT_BY_STATUS);
	emit_alu(e, BPF_RSH, R1, R2);
	emit_alu_imm(e, BPF_AND, R1, RAS_FAULT_KINDS - 1);
	emit_alu_imm(e, BPF_MUL, R1, 8);
	emit_alu(e, BPF_ADD, R0, R1);
	emit_alu_imm(e, BPF_MOV, R1, 1);
	emit_atomic(e, BPF_ADD, R0, WHY_FAULT(0), R1);
	emit_label_place(e, missing);
}

/* The next item's place is r9 + place.off + RAS_ITEM_PREFIX. */
static void stub_item_fault(struct gen *gen, const struct stub *stub)
{
	struct emit *e = &gen->e;

	fault_store(e);
	emit_alu_imm(e, BPF_ADD, R9, FAULT_BYTES - stub->place.off);
	stub_fault_note(gen);
	emit_jump(e, stub->back);
}

void stub_generate(struct gen *gen, const struct stub *stub)
{
	/* what no way leads to is refused by the verifier */
	if (!emit_label_used(&gen->e, stub->enter))
		return;
	emit_label_place(&gen->e, stub->enter);
	switch (stub->kind) {
	case STUB_FAULT:
		stub_fault(gen, stub);
		break;
	case STUB_SELECTOR:
	case STUB_ARITHMETIC:
		stub_raise(gen, stub);
		break;
	case STUB_ITEM_FAULT:
		stub_item_fault(gen, stub);
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

/* r1 = the failing pointer, r2 = the status, r9 = the item's place. Nothing
 * follows it. */
void stub_ends_generate(struct gen *gen, emit_label finish)
{
	struct emit *e = &gen->e;
	bool ends = emit_label_used(e, gen->fault_ends);

	if (!ends && !emit_label_used(e, gen->raw_fault))
		return;
	if (ends) {
		emit_label_place(e, gen->fault_ends);
		fault_store(e);
		emit_alu_imm(e, BPF_ADD, R9, RAS_ITEM_PREFIX + FAULT_BYTES);
	}
	emit_label_place(e, gen->raw_fault);
	stub_fault_note(gen);
	emit_jump(e, finish);
}
