// SPDX-License-Identifier: GPL-2.0
/*
 * The order of operations: functions, in them the straight line and then the
 * rare paths, in them blocks; without blocks that no way leads to.
 */
#include "pass.h"

#include <errno.h>

#define CHAIN_MOST	16		/* jumps to jumps that are followed */

struct pass_order {
	/* operations of one path that were written one after another; in the
	 * order that they get */
	struct order_run { uint32_t first, end, path; } *runs;
	uint32_t run_count;
	uint32_t *label_blocks;		/* the block of each label */
	struct order_block {
		struct pass_block b;	/* indices of struct code's ops, blocks[] */
		uint32_t path;
		uint32_t number;	/* within its function */
		bool reached;
	} *blocks;
	uint32_t block_count;
	uint32_t *first_blocks;		/* of each function */
	struct order_callee { uint32_t block, label; } *callees;
	uint32_t callee_count;
	uint32_t *reached;		/* functions */
	uint32_t *ranks;		/* of functions in it, + 1 */
	uint32_t reached_count;
	uint32_t *label_functions;	/* that begin there, + 1 */
	uint32_t *names;		/* of registers and temps */
	uint32_t *owners;		/* the function that it's in, + 1 */
	uint32_t *slot_cells, *slot_owners;
	struct order_visit { uint32_t block, next; } *stack;
	uint8_t *colors;		/* 1 being visited, 2 visited */
};

static const struct code_op *op_at(const struct pass *p, uint32_t i)
{
	return &p->code->ops[i];
}

/* As they were written */
static struct order_run *runs_find(struct pass *p, struct pass_order *o)
{
	const struct code *c = p->code;
	/* a path begins and ends once, and so interrupts another one */
	uint32_t first = 0, most = 2 * c->path_count;
	struct order_run *runs;

	if (!PASS_ROOM(p, runs, most))
		return NULL;
	for (uint32_t i = 1; i <= c->count; i++) {
		if (i < c->count && c->ops[i].path == c->ops[first].path)
			continue;
		runs[o->run_count++] = (struct order_run){
			first, i, c->ops[first].path,
		};
		first = i;
	}
	return runs;
}

/* Paths by function, then runs by path, both stable */
static void order_sort(struct pass *p, struct pass_order *o)
{
	const struct code *c = p->code;
	const struct order_run *runs = runs_find(p, o);
	uint32_t *functions, *ranks, *paths, at = 0;

	PASS_TAKE(p, functions, c->function_count + 1);
	PASS_ROOM(p, ranks, c->path_count);
	PASS_TAKE(p, paths, c->path_count);
	PASS_ROOM(p, o->runs, o->run_count);
	if (p->error)
		return;
	for (uint32_t i = 0; i < c->path_count; i++)
		functions[c->paths[i].function + 1]++;
	for (uint32_t i = 0; i < c->function_count; i++)
		functions[i + 1] += functions[i];
	for (uint32_t i = 0; i < c->path_count; i++)
		ranks[i] = functions[c->paths[i].function]++;
	for (uint32_t i = 0; i < o->run_count; i++)
		paths[ranks[runs[i].path]]++;
	for (uint32_t i = 0; i < c->path_count; i++) {
		uint32_t count = paths[i];

		paths[i] = at;
		at += count;
	}
	for (uint32_t i = 0; i < o->run_count; i++)
		o->runs[paths[ranks[runs[i].path]]++] = runs[i];
}

static struct order_block *order_block_begin(struct pass *p, struct pass_order *o,
				       const struct order_run *run, uint32_t at)
{
	const struct code *c = p->code;
	uint32_t function = c->paths[run->path].function;
	struct order_block *block = &o->blocks[o->block_count++];

	*block = (struct order_block){
		.b = {
			.first = at, .fall = PASS_NONE, .jump = PASS_NONE,
			.rare = c->functions[function].path != run->path,
		},
		.path = run->path,
	};
	if (o->first_blocks[function] == PASS_NONE)
		o->first_blocks[function] = o->block_count - 1;
	return block;
}

/* Blocks begin at labels that are used, after jumps, and with runs. */
static void run_blocks(struct pass *p, struct pass_order *o,
		       const struct order_run *run)
{
	const struct code *c = p->code;
	struct order_block *block = NULL;

	for (uint32_t i = run->first; i < run->end; i++) {
		const struct code_op *op = &c->ops[i];

		if (!block || (op->kind == CODE_LABEL &&
			       c->labels[op->target].used &&
			       block->b.first != i)) {
			if (block)
				block->b.end = i;
			block = order_block_begin(p, o, run, i);
		}
		if (op->kind < CODE_CALL_LABEL && op->kind != CODE_CALLBACK)
			continue;
		if (op->kind == CODE_LABEL) {
			o->label_blocks[op->target] = o->block_count - 1;
		} else if (op->kind <= CODE_CALL_LABEL) {
			o->callees[o->callee_count++] = (struct order_callee){
				o->block_count - 1, op->target,
			};
		} else {
			block->b.end = i + 1;
			block = NULL;
		}
	}
	if (block)
		block->b.end = run->end;
}

static void order_blocks(struct pass *p, struct pass_order *o)
{
	const struct code *c = p->code;
	uint32_t room = o->run_count;

	for (uint32_t i = 0; i < c->count; i++)
		room += c->ops[i].kind >= CODE_EXIT;
	PASS_ROOM(p, o->blocks, room);
	PASS_TAKE(p, o->label_blocks, c->label_count);
	PASS_ROOM(p, o->first_blocks, c->function_count);
	PASS_ROOM(p, o->callees, c->count);
	if (p->error)
		return;
	for (uint32_t i = 0; i < c->function_count; i++)
		o->first_blocks[i] = PASS_NONE;
	for (uint32_t i = 0; i < o->run_count; i++)
		run_blocks(p, o, &o->runs[i]);
}

/* The block's first operation that isn't a label, or its end */
static uint32_t skip_labels(const struct pass *p,
			    const struct order_block *block)
{
	uint32_t i = block->b.first;

	while (i < block->b.end && op_at(p, i)->kind == CODE_LABEL)
		i++;
	return i;
}

/* Where a jump to the label ends */
static uint32_t jump_end(const struct pass *p, const struct pass_order *o,
			 code_label label)
{
	uint32_t at = o->label_blocks[label];

	for (int i = 0; i < CHAIN_MOST; i++) {
		const struct order_block *block = &o->blocks[at];
		uint32_t first = skip_labels(p, block);

		if (first == block->b.end ||
		    op_at(p, first)->kind != CODE_JUMP)
			break;
		at = o->label_blocks[op_at(p, first)->target];
	}
	return at;
}

static void order_edges(struct pass *p, struct pass_order *o)
{
	for (uint32_t i = 0; i < o->block_count; i++) {
		struct order_block *block = &o->blocks[i];
		const struct code_op *last = op_at(p, block->b.end - 1);

		if (pass_roles[last->kind] & ROLE_JUMP)
			block->b.jump = jump_end(p, o, last->target);
		if (last->kind != CODE_JUMP && last->kind != CODE_EXIT &&
		    i + 1 < o->block_count &&
		    o->blocks[i + 1].path == block->path)
			block->b.fall = i + 1;
	}
}

/* Functions that blocks of this one refer to are reached, too. */
static void callees_reach(struct pass *p, struct pass_order *o)
{
	for (uint32_t i = 0; i < o->callee_count; i++) {
		uint32_t function = o->label_functions[o->callees[i].label];

		if (!o->blocks[o->callees[i].block].reached)
			continue;
		if (!function--) {
			p->error = -EINVAL;
		} else if (!o->ranks[function]) {
			o->reached[o->reached_count++] = function;
			o->ranks[function] = 1;
		}
	}
}

static void function_reach(struct pass *p, struct pass_order *o,
			   uint32_t function)
{
	uint32_t depth = 0, first = o->first_blocks[function];

	if (first == PASS_NONE) {
		p->error = -EINVAL;
		return;
	}
	o->blocks[first].reached = true;
	o->stack[depth++].block = first;
	while (depth && !p->error) {
		struct order_block *block = &o->blocks[o->stack[--depth].block];
		const struct code_op *last = op_at(p, block->b.end - 1);
		const uint32_t next[] = { block->b.jump, block->b.fall };

		if (block->b.fall == PASS_NONE && last->kind != CODE_JUMP &&
		    last->kind != CODE_EXIT)
			p->error = -EINVAL;
		for (int i = 0; i < 2; i++) {
			if (next[i] == PASS_NONE || o->blocks[next[i]].reached)
				continue;
			if (p->code->paths[o->blocks[next[i]].path].function !=
			    function)
				p->error = -EINVAL;
			o->blocks[next[i]].reached = true;
			o->stack[depth++].block = next[i];
		}
	}
}

struct pass_order *order_make(struct pass *p)
{
	const struct code *c = p->code;
	struct pass_order *o;
	uint32_t rank = 0;

	if (!PASS_TAKE(p, o, 1))
		return NULL;
	order_sort(p, o);
	if (!p->error)
		order_blocks(p, o);
	PASS_TAKE(p, o->reached, c->function_count);
	PASS_TAKE(p, o->ranks, c->function_count);
	PASS_TAKE(p, o->label_functions, c->label_count);
	PASS_TAKE(p, o->names, CODE_TEMP + c->temps);
	PASS_TAKE(p, o->owners, CODE_TEMP + c->temps);
	PASS_TAKE(p, o->slot_cells, c->slot_count);
	PASS_TAKE(p, o->slot_owners, c->slot_count);
	PASS_ROOM(p, o->stack, o->block_count);
	PASS_TAKE(p, o->colors, o->block_count);
	if (p->error)
		return NULL;
	order_edges(p, o);
	for (uint32_t i = 1; i < c->function_count; i++)
		o->label_functions[c->functions[i].label] = i + 1;
	o->reached[o->reached_count++] = 0;
	o->ranks[0] = 1;
	for (uint32_t i = 0; i < o->reached_count && !p->error; i++) {
		function_reach(p, o, o->reached[i]);
		callees_reach(p, o);
	}
	o->reached_count = 0;
	for (uint32_t i = 0; i < c->function_count; i++) {
		if (!o->ranks[i])
			continue;
		o->reached[o->reached_count++] = i;
		o->ranks[i] = ++rank;
	}
	return p->error ? NULL : o;
}

uint32_t order_functions(const struct pass_order *o)
{
	return o->reached_count;
}

uint32_t order_rank(const struct pass_order *o, code_label label)
{
	return o->ranks[o->label_functions[label] - 1] - 1;
}

/* One function */

static int32_t name_find(struct pass *p, struct pass_order *o, int32_t reg,
			 uint32_t owner)
{
	if (o->owners[reg] != owner) {
		o->owners[reg] = owner;
		o->names[reg] = p->in.names++;
	}
	return o->names[reg];
}

static uint32_t cell_find(struct pass *p, struct pass_order *o, code_slot slot,
			  uint32_t owner)
{
	if (o->slot_owners[slot] != owner) {
		o->slot_owners[slot] = owner;
		o->slot_cells[slot] = p->cell_count;
		p->cells[p->cell_count++] = (struct pass_cell){
			.bytes = p->code->slots[slot],
		};
	}
	return o->slot_cells[slot];
}

static void block_copy(struct pass *p, struct pass_order *o,
		       const struct order_block *from, uint32_t owner)
{
	struct pass_text *in = &p->in;

	for (uint32_t i = from->b.first; i < from->b.end; i++) {
		const struct code_op *op = op_at(p, i);
		uint8_t roles = pass_roles[op->kind];
		struct code_op *to = &in->ops[in->count];

		if (op->kind == CODE_LABEL)
			continue;
		*to = *op;
		to->dst = name_find(p, o, op->dst, owner);
		to->src = name_find(p, o, op->src, owner);
		if (roles & ROLE_CELL)
			to->target = cell_find(p, o, op->target, owner);
		else if (roles & ROLE_JUMP)
			to->target = o->blocks[from->b.jump].number;
		p->calls += roles / ROLE_CALL & 1;
		refs_find(&in->refs[in->count++], to, from->b.rare);
	}
}

/* Blocks after what follows them, but for loops */
static void function_postorder(struct pass *p, struct pass_order *o)
{
	uint32_t depth = 0, count = 0;

	for (uint32_t i = 0; i < p->block_count; i++)
		o->colors[i] = 0;
	o->stack[depth++] = (struct order_visit){ 0, 0 };
	o->colors[0] = 1;
	while (depth) {
		struct order_visit *visit = &o->stack[depth - 1];
		const struct pass_block *block = &p->in.blocks[visit->block];
		uint32_t next;

		if (visit->next == 2) {
			o->colors[visit->block] = 2;
			p->postorder[count++] = visit->block;
			depth--;
			continue;
		}
		next = visit->next++ ? block->jump : block->fall;
		if (next == PASS_NONE)
			continue;
		p->loops |= o->colors[next] == 1;
		if (o->colors[next])
			continue;
		o->colors[next] = 1;
		o->stack[depth++] = (struct order_visit){ next, 0 };
	}
}

static uint32_t min_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

uint32_t order_function(struct pass *p, struct pass_order *o, uint32_t rank)
{
	uint32_t function = o->reached[rank], first = o->first_blocks[function];
	uint32_t end, ops = 0, temps, owner = rank + 1;
	struct pass_text *in = &p->in;

	*in = (struct pass_text){ .names = NAME_FIRST };
	p->block_count = p->cell_count = p->calls = 0;
	p->loops = false;
	for (uint32_t i = 0; i < PASS_REGS; i++) {
		o->owners[i] = owner;
		o->names[i] = i;
	}
	for (end = first; end < o->block_count; end++) {
		struct order_block *block = &o->blocks[end];

		if (p->code->paths[block->path].function != function)
			break;
		if (!block->reached)
			continue;
		block->number = p->block_count++;
		ops += block->b.end - block->b.first;
	}
	temps = min_of(2 * ops, p->code->temps);
	PASS_ROOM(p, in->ops, ops);
	PASS_ROOM(p, in->refs, ops);
	PASS_ROOM(p, in->blocks, p->block_count);
	PASS_ROOM(p, p->postorder, p->block_count);
	PASS_ROOM(p, p->cells, min_of(ops, p->code->slot_count) + temps);
	/* with copies */
	PASS_ROOM(p, p->names, NAME_FIRST + temps + 2 * ops);
	if (NAME_FIRST + temps + 2 * ops > UINT16_MAX)
		p->error = -E2BIG;
	if (p->error)
		return function;
	for (uint32_t i = first; i < end; i++) {
		const struct order_block *from = &o->blocks[i];
		struct pass_block *to = &in->blocks[from->number];

		if (!from->reached)
			continue;
		*to = from->b;
		to->first = in->count;
		block_copy(p, o, from, owner);
		to->end = in->count;
		if (to->fall != PASS_NONE)
			to->fall = o->blocks[to->fall].number;
		if (to->jump != PASS_NONE)
			to->jump = o->blocks[to->jump].number;
	}
	p->slot_count = p->cell_count;
	live_room(p, in, in->names);
	function_postorder(p, o);
	return function;
}
