// SPDX-License-Identifier: GPL-2.0
/*
 * All statements are evaluated without a record, and what they read is brought
 * in first (vma.c). A statement that can't be evaluated leaves the others alone.
 */
#include "gen.h"

/* A temp with what LEN yields */
static int walk_length(struct gen *gen, const struct tdf_stmt *stmt)
{
	struct gen_value value;
	int length = code_temp_new(gen->c);

	item_length_generate(gen, stmt, &value);
	gen_value_load(gen, &value, length);
	code_jump_imm(gen->c, BPF_JEQ, length, 0, gen->fault.to);
	return length;
}

/* `bytes`: not more than what is there */
static void bytes_bound(struct gen *gen, int bytes, int there)
{
	code_label enough = code_label_new(gen->c);

	code_jump_if(gen->c, BPF_JLE, bytes, there, enough);
	code_move(gen->c, bytes, there);
	code_label_place(gen->c, enough);
}

/* The bytes themselves */
static void walk_bytes(struct gen *gen, const struct tdf_stmt *stmt,
		       const struct gen_value *address, int length)
{
	const struct body_length *own =
		reads_length_find(gen->plan, stmt - gen->plan->tdf->stmts);
	bool string = stmt->kind == TDF_STMT_ASCIIZ;
	int bytes = own ? temp_load(gen, 8, gen->offsets, 8 * own->word) :
		    temp_const(gen, string ?
			       plan_string_bytes(gen->plan, stmt) :
			       stmt->length);

	if (stmt->flags & TDF_STMT_LEN)
		bytes_bound(gen, bytes, length);
	if (stmt->flags & TDF_STMT_SEGMENT)
		bytes_bound(gen, bytes, gen->room);
	paging_bring_in(gen, address, bytes, string);
}

static void walk_stmt(struct gen *gen, uint32_t index)
{
	const struct tdf_stmt *stmt = &gen->plan->tdf->stmts[index];
	struct gen_value value;
	int length = 0;

	gen_note(gen, index);
	gen->fault = (struct gen_fault){ code_label_new(gen->c), false };
	if (stmt->flags & TDF_STMT_LEN)
		length = walk_length(gen, stmt);
	item_value_generate(gen, stmt, &value);
	if (stmt->kind == TDF_STMT_MEM || stmt->kind == TDF_STMT_ASCIIZ)
		walk_bytes(gen, stmt, &value, length);
	code_label_place(gen->c, gen->fault.to);
}

void walk_condition(struct gen *gen)
{
	walk_stmt(gen, gen->plan->condition - gen->plan->tdf->stmts);
}

void walk_generate(struct gen *gen)
{
	const struct plan *plan = gen->plan;

	if (plan->kind == PLAN_STATIC) {
		static_walk_generate(gen);
		return;
	}
	kept_begin(gen);
	for (uint32_t i = 0; i < plan->item_count; i++) {
		gen->item = &plan->items[i];
		if (!gen->item->number || gen->item->kind == ITEM_ABSENT)
			continue;
		for (uint32_t k = gen->item->first; k < gen->item->end; k++)
			walk_stmt(gen, k);
	}
	gen->item = NULL;
	aggregates_walk(gen);
	gen_note(gen, STMT_PROLOGUE);
}
