// SPDX-License-Identifier: GPL-2.0
/*
 * What statements keep for later ones: each number has a word of the frame. It
 * is 0 before the statement that sets it, and stays so if that one faults or
 * isn't reached. So the n-th node of a list costs one read, from the one before.
 */
#include "gen.h"

static int kept_offset(const struct gen *gen, unsigned int number)
{
	return gen->kept - 8 * (int)(number - 1);
}

static bool kept_is_set(const struct tdf_stmt *stmt)
{
	return stmt->kind == TDF_STMT_VALUE && stmt->reg;
}

void kept_scan(struct gen *gen)
{
	const struct tdf_stmt *stmt = gen->tdf->stmts + gen->site->first_stmt;

	for (__u32 i = 0; i < gen->site->stmts; i++, stmt++)
		if (kept_is_set(stmt) && stmt->reg > gen->kept_count)
			gen->kept_count = stmt->reg;
	gen->kept = gen->slots;
	gen->slots -= 8 * (int)gen->kept_count;
}

void kept_begin(struct gen *gen)
{
	for (unsigned int i = 1; i <= gen->kept_count; i++)
		emit_store_imm(&gen->e, 8, FP, kept_offset(gen, i), 0);
	if (gen->kept_count && gen->deepest > kept_offset(gen, gen->kept_count))
		gen->deepest = kept_offset(gen, gen->kept_count);
}

void kept_clear(struct gen *gen, const struct tdf_stmt *stmt)
{
	if (kept_is_set(stmt))
		emit_store_imm(&gen->e, 8, FP, kept_offset(gen, stmt->reg), 0);
}

void kept_store(struct gen *gen, const struct tdf_stmt *stmt,
		struct gen_value *value)
{
	if (!kept_is_set(stmt))
		return;
	rpn_value_load(gen, value, R1);
	*value = kept_value(gen, stmt->reg);
	emit_store(&gen->e, 8, FP, value->off, R1);
}

struct gen_value kept_value(const struct gen *gen, unsigned int number)
{
	return (struct gen_value){
		.kind = VALUE_MEMORY, .base = FP,
		.off = kept_offset(gen, number), .bytes = 8,
	};
}
