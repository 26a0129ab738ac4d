// SPDX-License-Identifier: GPL-2.0
/*
 * What the record of a call takes from the thread's struct ras_call (gen->call):
 * the name and size that the functions which led to it gave it, its stack without
 * them, the blocks that its statements name.
 */
#include "gen.h"

#define FRAMES_MOST	4	/* of functions that give names */

static bool point_is_call(const struct gen *gen)
{
	return gen->plan->point->flags & TDF_POINT_CALL;
}

const struct tdf_stmt *call_stmt_find(const struct gen *gen,
				      const struct tdf_site *site, int flags)
{
	const struct tdf_stmt *stmt = gen->plan->tdf->stmts + site->first_stmt;

	for (__u32 i = 0; i < site->stmts; i++)
		if ((stmt[i].flags & TDF_STMT_OLD) == flags)
			return &stmt[i];
	return NULL;
}

void call_stmt_load(struct gen *gen, const struct tdf_stmt *stmt,
		    code_label fault, int reg)
{
	struct gen_value value;

	gen->item = NULL;
	gen->fault = (struct gen_fault){ .to = fault };
	rpn_generate(gen, gen->plan->tdf->rpn + stmt->rpn, stmt->rpn_length,
		     &value);
	gen_value_load(gen, &value, reg);
}

void call_name_generate(struct gen *gen)
{
	struct code *c = gen->c;
	code_label own = code_label_new(c);

	if (!point_is_call(gen))
		return;
	code_load(c, 2, R1, gen->call, CALL_AT(name));
	code_jump_imm(c, BPF_JEQ, R1, 0, own);
	code_store(c, 2, RECORD, RECORD_AT(minor), R1);
	record_flag_set(gen, RAS_RECORD_NAMED);
	code_label_place(c, own);
}

/*
 * The stack item's first addresses are in functions that gave names: remove them.
 * The ones after `depth` that take the last places are in the record, too, but
 * no reader uses them.
 */
void call_frames_drop(struct gen *gen, int addresses, uint32_t depth)
{
	const struct gen_place *place = &gen->place;
	int at = place->off + ITEM_AT(length);
	struct code *c = gen->c;
	code_label done = code_label_new(c);
	int bytes, length, from;

	if (!point_is_call(gen))
		return;
	bytes = temp_load(gen, 8, gen->call, CALL_AT(frames));
	code_jump_imm(c, BPF_JEQ, bytes, 0, done);
	code_jump_imm(c, BPF_JGT, bytes, FRAMES_MOST, done);
	code_alu_imm(c, BPF_LSH, bytes, 3);
	length = temp_load(gen, 2, place->base, at);
	code_alu(c, BPF_SUB, length, bytes);
	code_jump_imm(c, BPF_JSLT, length, (int)sizeof(struct ras_stack), done);
	code_store(c, 2, place->base, at, length);
	from = code_copy(c, place->base);
	code_alu(c, BPF_ADD, from, bytes);
	for (uint32_t i = 0; i + 1 < depth; i++) {
		int off = place->off + addresses + (int)i * STACK_FRAME_BYTES;

		code_load(c, 8, R1, from, off);
		code_store(c, 8, place->base, off, R1);
	}
	code_label_place(c, done);
}

void call_size_load(struct gen *gen, int reg)
{
	struct code *c = gen->c;
	code_label own = code_label_new(c);
	int named;

	if (!point_is_call(gen))
		return;
	named = temp_load(gen, 2, gen->call, CALL_AT(name));
	code_jump_imm(c, BPF_JEQ, named, 0, own);
	named = temp_load(gen, 8, gen->call, CALL_AT(size));
	code_jump_imm(c, BPF_JEQ, named, CALL_SIZE_OWN, own);
	code_move(c, reg, named);
	code_label_place(c, own);
}

bool call_old_load(struct gen *gen, const struct tdf_site *site, int reg)
{
	const struct tdf_stmt *old = call_stmt_find(gen, site, TDF_STMT_OLD);

	if (old)
		call_stmt_load(gen, old, gen->out, reg);
	return old;
}

void call_bytes_load(struct gen *gen, const struct tdf_site *site)
{
	const struct tdf_stmt *size = call_stmt_find(gen, site, TDF_STMT_SIZE);

	if (size) {
		call_stmt_load(gen, size, gen->unknown, gen->size);
		call_size_load(gen, gen->size);
	} else {
		code_const(gen->c, gen->size, 0);
	}
}

void call_block_load(struct gen *gen)
{
	const struct tdf_stmt *block =
		call_stmt_find(gen, gen->plan->site, TDF_STMT_BLOCK);

	if (block)
		call_stmt_load(gen, block, gen->unknown, gen->block);
	else
		code_const(gen->c, gen->block, 0);
	call_bytes_load(gen, gen->plan->site);
}
