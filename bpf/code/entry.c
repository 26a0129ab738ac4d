// SPDX-License-Identifier: GPL-2.0
/* DW_OP_entry_value where a call returns: what was kept as it began. */
#include "gen.h"

#include <errno.h>
#include <inttypes.h>

/* Which argument, or -1: the stack pointer; -2: none of these */
static int argument_find(struct gen *gen, const struct rpn_op *op)
{
	const struct plan *plan = gen->plan;
	int offset = gen_register_find(gen, op->a).offset;

	if (op->bytes) {
		if (!plan->flat32 || op->bytes != 4 || op->b % 4 ||
		    offset != plan->cpu->stack)
			return -2;
		return op->b >= 4 && op->b <= 4 * RAS_CALL_ARGUMENTS ?
		       (int)op->b / 4 - 1 : -2;
	}
	if (offset == plan->cpu->stack)
		return -1;
	for (int i = 0; i < RAS_CALL_ARGUMENTS; i++)
		if (offset == arch_argument_offset(plan->machine, i))
			return i;
	return -2;
}

void entry_value_load(struct gen *gen, const struct rpn_op *op, int reg)
{
	const struct plan *plan = gen->plan;
	int argument = argument_find(gen, op);

	if (!(plan->point->flags & TDF_POINT_CALL) || gen->call == NO_REG)
		gen_fail(gen, -EINVAL,
			 "there is no beginning of a call to take values of");
	else if (argument < -1)
		gen_fail(gen, -EINVAL,
			 "register %" PRIu64
			 " isn't kept where a call begins", op->a);
	else
		code_load(gen->c, 8, reg, gen->call, argument < 0 ?
			  CALL_AT(stack) : CALL_AT(arguments) + 8 * argument);
}
