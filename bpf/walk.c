// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that isn't resident. What a body reads is read without faulting; where
 * that fails, the record is given up as if it hadn't begun, and with no slice
 * taken and preemption on every statement is evaluated once more. Each read is
 * preceded by the subprogram of vma.c, which brings in what it can. Then the
 * record is taken again.
 *
 *	r6	struct pt_regs
 *	r7	where a read goes, over the call
 *	r9	WALK_* of the item so far
 *
 * A statement that can't be evaluated leaves the others alone.
 */
#include "gen.h"

#include <rastrace/buffer.h>

#define COUNT(field)	((int)offsetof(struct ras_count, field))
#define BITS		4	/* of an item */
#define PER_WORD	16

/* Items beyond the last share its bits. */
static uint32_t bits_index(uint32_t item)
{
	uint32_t most = FRAME_WALKS * PER_WORD;

	return (item < most ? item : most) - 1;
}

void walk_bits_load(struct gen *gen, uint32_t item, int reg)
{
	uint32_t index = bits_index(item);

	emit_load(&gen->e, 8, reg, FP, FRAME_WALK(index / PER_WORD));
	if (index % PER_WORD)
		emit_alu_imm(&gen->e, BPF_RSH, reg, BITS * (index % PER_WORD));
}

/* The words that the record's items have bits in. */
static int walk_words(const struct gen *gen)
{
	return gen->items ? bits_index(gen->items) / PER_WORD + 1 : 0;
}

void walk_bring_in(struct gen *gen)
{
	emit_call_label(&gen->e, gen->bring);
	emit_alu(&gen->e, BPF_OR, R9, R0);
}

/* FRAME_LENGTH = what LEN yields */
static void walk_length(struct gen *gen, const struct tdf_stmt *stmt)
{
	struct emit *e = &gen->e;
	struct gen_value length;

	item_length_generate(gen, stmt, &length);
	rpn_value_load(gen, &length, R1);
	emit_jump_imm(e, BPF_JEQ, R1, 0, gen->fault);
	emit_store(e, 8, FP, FRAME_LENGTH, R1);
}

/* r2 = not more than what is there */
static void bytes_bound(struct emit *e, int off)
{
	emit_label enough = emit_label_new(e);

	emit_load(e, 8, R3, FP, off);
	emit_jump_if(e, BPF_JLE, R2, R3, enough);
	emit_alu(e, BPF_MOV, R2, R3);
	emit_label_place(e, enough);
}

/* The bytes themselves */
static void walk_bytes(struct gen *gen, const struct tdf_stmt *stmt,
		       const struct gen_value *address)
{
	bool string = stmt->kind == TDF_STMT_ASCIIZ;
	struct emit *e = &gen->e;

	rpn_address_load(gen, address, R1);
	emit_alu_imm(e, BPF_MOV, R2,
		     string ? scan_string_bytes(gen, stmt) : stmt->length);
	if (stmt->flags & TDF_STMT_LEN)
		bytes_bound(e, FRAME_LENGTH);
	if (stmt->flags & TDF_STMT_SEGMENT)
		bytes_bound(e, FRAME_ROOM(gen));
	emit_alu_imm(e, BPF_MOV, R3, string);
	walk_bring_in(gen);
}

static void bpf_walk_stmt(struct gen *gen, uint32_t index)
{
	const struct tdf_stmt *stmt = &gen->tdf->stmts[index];
	struct gen_value value;

	gen_note(gen, index);
	gen->fault = emit_label_new(&gen->e);
	if (stmt->flags & TDF_STMT_LEN)
		walk_length(gen, stmt);
	item_value_generate(gen, stmt, &value);
	if (stmt->kind == TDF_STMT_MEM || stmt->kind == TDF_STMT_ASCIIZ)
		walk_bytes(gen, stmt, &value);
	emit_label_place(&gen->e, gen->fault);
}

/* FRAME_WALK |= r9 */
static void walk_bits_store(struct gen *gen)
{
	uint32_t index = bits_index(gen->item);
	int word = FRAME_WALK(index / PER_WORD);
	struct emit *e = &gen->e;

	if (index % PER_WORD)
		emit_alu_imm(e, BPF_LSH, R9, BITS * (index % PER_WORD));
	emit_load(e, 8, R1, FP, word);
	emit_alu(e, BPF_OR, R1, R9);
	emit_store(e, 8, FP, word, R1);
}

static uint32_t walk_item(struct gen *gen, uint32_t index)
{
	uint32_t bytes, end = item_end(gen, index, &bytes);

	if (!item_is_read(gen, index))
		return end;
	gen->item++;
	emit_alu_imm(&gen->e, BPF_MOV, R9, 0);
	for (; index < end; index++)
		bpf_walk_stmt(gen, index);
	walk_bits_store(gen);
	return end;
}

/* All statements; those after an IF that isn't fulfilled aren't reached. */
static void walk_items(struct gen *gen)
{
	uint32_t i = gen->site->first_stmt, end = i + gen->site->stmts;

	for (int word = 0; word < walk_words(gen); word++)
		emit_store_imm(&gen->e, 8, FP, FRAME_WALK(word), 0);
	if (gen->deepest > FRAME_WALK(walk_words(gen) - 1))
		gen->deepest = FRAME_WALK(walk_words(gen) - 1);
	kept_begin(gen);
	gen->walking = true;
	gen->item = 0;
	while (i < end)
		i = walk_item(gen, i);
	gen->walking = false;
	gen_note(gen, STMT_PROLOGUE);
}

/* r8 is the locked slice: the record that was begun is none. */
static void give_up(struct gen *gen)
{
	emit_label missing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	if (gen->lean) {
		emit_lookup(e, gen->target->count_fd, FRAME_ROW, missing);
		emit_alu(e, BPF_MOV, R1, R0);
	} else {
		emit_load(e, 8, R1, FP, FRAME_COUNT);
	}
	emit_load(e, 8, R2, R1, COUNT(recorded));
	emit_alu_imm(e, BPF_SUB, R2, 1);
	emit_store(e, 8, R1, COUNT(recorded), R2);
	emit_label_place(e, missing);
	record_unlock(gen);
}

/* The second version of the record */
static void take_again(struct gen *gen)
{
	if (gen->is_static)
		static_walk_generate(gen);
	else
		walk_items(gen);
	record_enter(gen);
	gen->walked = true;
	gen->item = gen->used = gen->fixed = 0;
	record_generate(gen);
}

static void walk_condition(struct gen *gen)
{
	if (!emit_label_used(&gen->e, gen->absent_if))
		return;
	emit_label_place(&gen->e, gen->absent_if);
	if (!gen->early)
		record_preempt(gen, true);
	gen->walking = true;
	gen->item = 0;
	emit_alu_imm(&gen->e, BPF_MOV, R9, 0);
	bpf_walk_stmt(gen, gen->site->first_stmt);
	gen->walking = false;
	if (!gen->early)
		record_enter(gen);
	gen->walked = true;
	record_condition(gen);
	gen->walked = false;
	emit_jump(&gen->e, gen->passed);
	for (; gen->stubs_done < gen->stub_count && !gen->e.error;
	     gen->stubs_done++)
		stub_generate(gen, &gen->stubs[gen->stubs_done]);
}

void walk_generate(struct gen *gen)
{
	if (!gen->bring_in)
		return;
	gen->items = gen->item;
	walk_condition(gen);
	if (!emit_label_used(&gen->e, gen->absent))
		return;
	emit_label_place(&gen->e, gen->absent);
	give_up(gen);
	emit_label_place(&gen->e, gen->elsewhere);
	record_preempt(gen, true);
	if (!gen->lean) {
		take_again(gen);
		return;
	}
	emit_alu(&gen->e, BPF_MOV, R1, R6);
	emit_call_label(&gen->e, gen->again);
	emit_jump(&gen->e, gen->out);
}

void walk_again_generate(struct gen *gen)
{
	struct emit *e = &gen->e;

	if (!emit_label_used(e, gen->again))
		return;
	gen_frame_end(gen);
	emit_label_place(e, gen->again);
	gen->subprograms[BODY_AGAIN] = e->count;
	gen->lean = false;
	gen->slots = FRAME_SLOTS;
	gen->leave = emit_label_new(e);
	gen->out = emit_label_new(e);
	emit_alu(e, BPF_MOV, R6, R1);
	gen_frame_begin(gen);
	gen_cookie_load(gen);
	body_bias_generate(gen);
	take_again(gen);
	emit_label_place(e, gen->leave);
	record_preempt(gen, true);
	emit_label_place(e, gen->out);
	emit_alu_imm(e, BPF_MOV, R0, 0);
	emit_exit(e);
}

void walk_note(struct gen *gen)
{
	emit_label nothing = emit_label_new(&gen->e);
	struct emit *e = &gen->e;

	emit_load(e, 8, R1, FP, FRAME_WALK(0));
	for (int word = 1; word < walk_words(gen); word++) {
		emit_load(e, 8, R2, FP, FRAME_WALK(word));
		emit_alu(e, BPF_OR, R1, R2);
	}
	emit_const(e, R2, 0x1111111111111111 * WALK_PAGED_IN);
	emit_alu(e, BPF_AND, R1, R2);
	emit_jump_imm(e, BPF_JEQ, R1, 0, nothing);
	emit_load(e, 2, R1, R7, RECORD(flags));
	emit_alu_imm(e, BPF_OR, R1, RAS_RECORD_PAGED_IN);
	emit_store(e, 2, R7, RECORD(flags), R1);
	why_count(gen, WHY_PAGED_IN);
	emit_label_place(e, nothing);
}
