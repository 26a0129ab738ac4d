// SPDX-License-Identifier: GPL-2.0
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pass.h"

#define ROUNDS		64		/* of registers for a function */

/* Each round leaves more temps in the frame. */
static void pass_names_place(struct pass *p)
{
	struct pass_mark mark = pass_mark(p);
	bool kept = keep_choose(p);

	p->spans = NULL;
	for (int round = 0; round < ROUNDS && !p->error; round++) {
		pass_reuse(p, &mark);
		if (kept)
			keep_write(p);
		if (p->error || color_names(p))
			return;
		kept = true;
	}
	if (!p->error)
		p->error = -E2BIG;
}

static void op_finish(struct pass *p, const struct pass_order *order,
		      struct code_op *op)
{
	op->dst = p->names[op->dst].reg;
	op->src = p->names[op->src].reg;
	if (pass_roles[op->kind] & ROLE_CELL) {
		op->off += p->cells[op->target].off;
		op->target = 0;
	}
	if (op->kind == CODE_CALL_LABEL || op->kind == CODE_CALLBACK)
		op->target = order_rank(order, op->target);
	if (op->kind == CODE_FRAME_TOUCH) {
		op->kind = CODE_SLOT_STORE_IMM;
		op->bytes = 8;
		op->off = -(int32_t)p->frame;
	}
}

/* Is it nothing any more? */
static bool op_is_void(const struct pass *p, const struct code_op *op,
		       uint32_t block)
{
	return op->kind == CODE_LABEL ||
	       (op->kind == CODE_FRAME_TOUCH && !p->frame) ||
	       (op->kind == CODE_JUMP && op->target == block + 1) ||
	       (op->kind == CODE_MOVE &&
		p->names[op->dst].reg == p->names[op->src].reg);
}

/* Add the function's operations to the others'. */
static void function_finish(struct pass *p, const struct pass_order *order,
			    struct placed *placed)
{
	const struct pass_text *text = p->spans ? &p->out : &p->in;
	size_t first = placed->count;
	struct code_op *grown;
	uint32_t *starts;

	if (!PASS_TAKE(p, starts, p->block_count))
		return;
	grown = realloc(placed->ops, (first + text->count) * sizeof(*grown));
	if (!grown) {
		p->error = -ENOMEM;
		return;
	}
	placed->ops = grown;
	for (uint32_t b = 0; b < p->block_count; b++) {
		starts[b] = placed->count;
		for (uint32_t i = text->blocks[b].first;
		     i < text->blocks[b].end; i++) {
			if (op_is_void(p, &text->ops[i], b))
				continue;
			grown[placed->count] = text->ops[i];
			op_finish(p, order, &grown[placed->count++]);
		}
	}
	for (size_t i = first; i < placed->count; i++)
		if (pass_roles[grown[i].kind] & ROLE_JUMP)
			grown[i].target = starts[grown[i].target];
}

static void function_order(struct pass *p, struct pass_order *order,
			   struct placed *placed, uint32_t rank)
{
	struct pass_mark mark = pass_mark(p);
	uint32_t function = order_function(p, order, rank);

	if (!p->error)
		live_find(p);
	if (!p->error)
		pass_names_place(p);
	if (!p->error)
		frame_lay_out(p);
	if (p->error)
		return;
	placed->functions[rank] = (struct placed_function){
		.kind = p->code->functions[function].kind,
		.first = placed->count, .frame = p->frame,
	};
	function_finish(p, order, placed);
	pass_reuse(p, &mark);
}

int place_code(struct placed *placed, const struct code *code)
{
	struct pass p = { .code = code, .error = code->error };
	struct pass_order *order;

	memset(placed, 0, sizeof(*placed));
	order = order_make(&p);
	if (order) {
		placed->function_count = order_functions(order);
		placed->functions = calloc(placed->function_count,
					   sizeof(*placed->functions));
		if (!placed->functions)
			p.error = -ENOMEM;
		for (uint32_t i = 0; i < placed->function_count && !p.error; i++)
			function_order(&p, order, placed, i);
	}
	pass_free(&p);
	if (p.error)
		placed_free(placed);
	return p.error;
}

void placed_free(struct placed *placed)
{
	free(placed->ops);
	free(placed->functions);
	memset(placed, 0, sizeof(*placed));
}
