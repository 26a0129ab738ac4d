// SPDX-License-Identifier: GPL-2.0
/*
 * What statements keep for later ones, by a number. It is 0 before the statement
 * that sets it, and stays so if that one faults or isn't reached. So the n-th
 * node of a list costs one read, from the one before.
 */
#include "gen.h"

static bool kept_is_set(const struct tdf_stmt *stmt)
{
	return stmt->kind == TDF_STMT_VALUE && stmt->reg;
}

void kept_begin(struct gen *gen)
{
	for (unsigned int i = 0; i < gen->plan->kept_count; i++) {
		gen->kept[i] = code_temp_new(gen->c);
		code_const(gen->c, gen->kept[i], 0);
	}
}

void kept_clear(struct gen *gen, const struct tdf_stmt *stmt)
{
	if (kept_is_set(stmt))
		code_const(gen->c, gen->kept[stmt->reg - 1], 0);
}

void kept_store(struct gen *gen, const struct tdf_stmt *stmt,
		struct gen_value *value)
{
	if (!kept_is_set(stmt))
		return;
	gen_value_load(gen, value, gen->kept[stmt->reg - 1]);
	*value = kept_value(gen, stmt->reg);
}

struct gen_value kept_value(const struct gen *gen, unsigned int number)
{
	return value_temp(gen->kept[number - 1]);
}
