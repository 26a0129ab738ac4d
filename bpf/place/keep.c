// SPDX-License-Identifier: GPL-2.0
/*
 * Temps that are kept across calls. Those that find none of the registers 6 to 9
 * are in the frame. What is between two calls works with a copy, which is loaded
 * where it is used first; what a comparison shows the verifier of it holds for
 * what follows. A block goes on with the copies of the one before it when there
 * is no other way to it. In each block the copy is stored after its last change
 * if something may load it later.
 *
 * A temp that only rare paths keep across calls is saved around these.
 */
#include "pass.h"

#include <stdlib.h>
#include <string.h>

#define CANDIDATES	64		/* for registers 6 to 9 */

static bool crosses(const struct pass *p, uint32_t name, uint32_t call)
{
	return set_has(p->in.conflicts + (size_t)call * p->in.words, name);
}

/* An operation that can be repeated where its result is wanted */
static bool is_constant(const struct pass *p, const struct pass_name *n)
{
	return n->defs == 1 && (p->in.ops[n->def].kind == CODE_CONST ||
				p->in.ops[n->def].kind == CODE_MAP ||
				p->in.ops[n->def].kind == CODE_MAP_VALUE);
}

bool keep_more(struct pass *p, uint32_t name)
{
	struct pass_name *n = &p->names[name];

	if (n->parent) {
		name = n->parent;
		n = &p->names[name];
	}
	switch (n->keep) {
	case KEEP_NOT:
		if (is_constant(p, n)) {
			n->keep = KEEP_CONST;
			return true;
		}
		n->cell = p->cell_count;
		p->cells[p->cell_count++] = (struct pass_cell){ .bytes = 8 };
		n->keep = crosses(p, name, NAME_CALL_RARE) &&
			  !crosses(p, name, NAME_CALL) ?
			  KEEP_SAVED : KEEP_FRAME;
		return true;
	case KEEP_SAVED:
		n->keep = KEEP_FRAME;
		return true;
	}
	if (n->single)
		return false;
	n->single = true;
	return true;
}

/* The registers that have a value while the temp has one */
static uint32_t regs_taken(const struct pass *p, uint32_t name)
{
	uint32_t words = p->in.words;
	uint32_t taken = p->in.conflicts[(size_t)name * words];

	for (uint32_t reg = 6; reg < PASS_REGS; reg++)
		if (set_has(p->in.conflicts + (size_t)reg * words, name))
			taken |= 1u << reg;
	return taken;
}

/* A temp that may have some of the registers 6 to 9 */
struct keep_candidate {
	uint32_t weight, name, choice;
};

static int candidate_compare(const void *a, const void *b)
{
	const struct keep_candidate *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static bool in_conflict(const struct pass *p, uint32_t a, uint32_t b)
{
	return set_has(p->in.conflicts + (size_t)a * p->in.words, b) ||
	       set_has(p->in.conflicts + (size_t)b * p->in.words, a);
}

/* The most important ones first; color.c finds them registers, and these may be
 * others. */
static bool candidates_choose(struct pass *p, struct keep_candidate *all,
			      uint32_t count)
{
	bool any = false;

	qsort(all, count, sizeof(*all), candidate_compare);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < i; k++)
			if (in_conflict(p, all[i].name, all[k].name))
				all[i].choice &= ~all[k].choice;
		/* one of them is it */
		all[i].choice &= -all[i].choice;
		if (all[i].choice)
			continue;
		keep_more(p, all[i].name);
		any = true;
	}
	return any;
}

bool keep_choose(struct pass *p)
{
	const uint64_t *call = p->in.conflicts +
			       (size_t)NAME_CALL * p->in.words;
	const uint64_t *rare = call + p->in.words;
	struct keep_candidate *candidates;
	uint32_t count = 0;
	bool any = false;

	PASS_ROOM(p, candidates, CANDIDATES);
	if (p->error)
		return false;
	for (uint32_t w = 0; w < p->in.words; w++) {
		uint64_t bits = call[w] | rare[w];

		if (!w)
			bits &= ~0ull << NAME_FIRST;
		for (; bits; bits &= bits - 1) {
			uint32_t name = 64 * w + __builtin_ctzll(bits);
			uint32_t choice = ~regs_taken(p, name) & PASS_CALLEE;

			if (choice && count < CANDIDATES) {
				candidates[count++] = (struct keep_candidate){
					p->names[name].weight, name, choice,
				};
				continue;
			}
			keep_more(p, name);
			any = true;
		}
	}
	return candidates_choose(p, candidates, count) || any;
}

/* Where copies are stored, and which temps are saved */
struct keep_marks {
	bool *stored;			/* after each operation */
	struct keep_save {
		uint32_t op, name;
	} *saves;			/* the last one first */
	uint32_t save_count;
};

static void saves_mark(struct pass *p, struct keep_marks *marks, uint32_t op,
		       const uint64_t *live, const uint64_t *saved)
{
	for (uint32_t w = 0; w < p->in.words; w++)
		for (uint64_t bits = live[w] & saved[w]; bits;
		     bits &= bits - 1)
			marks->saves[marks->save_count++] = (struct keep_save){
				op, 64 * w + __builtin_ctzll(bits),
			};
}

/* Between two calls, in a block: what has a value at its end is stored after the
 * last operation that changes it. */
static void marks_find(struct pass *p, struct keep_marks *marks,
		       const uint64_t *saved)
{
	uint32_t words = p->in.words;
	size_t bytes = words * sizeof(uint64_t);
	uint64_t *live, *later;

	PASS_ROOM(p, live, words);
	PASS_ROOM(p, later, words);
	if (p->error)
		return;
	for (uint32_t b = p->block_count; b--; ) {
		const struct pass_block *block = &p->in.blocks[b];

		memcpy(live, p->live_out + (size_t)b * words, bytes);
		memcpy(later, live, bytes);
		for (uint32_t i = block->end; i-- > block->first; ) {
			const struct pass_refs *refs = &p->in.refs[i];

			if (refs->roles & ROLE_CALL) {
				memcpy(later, live, bytes);
				saves_mark(p, marks, i, live, saved);
			}
			marks->stored[i] = set_has(later, refs->def) ||
				(p->names[refs->def].single &&
				 set_has(live, refs->def));
			set_remove(later, refs->def);
			live_step(live, refs, words);
		}
	}
}

/* Writing */

struct keep_writer {
	uint32_t segment;
	uint32_t *copies, *segments;	/* of each name: the copy of a segment */
	bool *copied;			/* names that have copies */
	uint32_t block;
	bool rare;
	const struct code_op *op;	/* being written */
	uint32_t *ways;			/* to each block */
};

static void out_add(struct pass *p, const struct keep_writer *w,
		    const struct code_op *op)
{
	struct pass_text *out = &p->out;

	out->ops[out->count] = *op;
	refs_find(&out->refs[out->count++], op, w->rare);
}

static void out_cell(struct pass *p, const struct keep_writer *w, int kind,
		     uint32_t name, uint32_t cell)
{
	struct code_op op = {
		.kind = kind, .bytes = 8, .target = cell,
		.path = w->op->path, .stmt = w->op->stmt,
	};

	if (kind == CODE_SLOT_LOAD)
		op.dst = name;
	else
		op.src = name;
	out_add(p, w, &op);
}

static uint32_t copy_new(struct pass *p, struct keep_writer *w, uint32_t name)
{
	uint32_t copy = p->out.names++;

	p->names[copy] = (struct pass_name){
		.parent = name, .block = w->block,
	};
	w->copies[name] = copy;
	w->segments[name] = p->names[name].single ? 0 : w->segment;
	return copy;
}

/* Blocks that the copy is used after have it at their ends. */
static void copy_span(struct pass *p, const struct keep_writer *w,
		      uint32_t copy)
{
	uint32_t *block = &p->names[copy].block;
	struct pass_span *span;

	for (; *block < w->block; ++*block) {
		if (!PASS_ROOM(p, span, 1))
			return;
		*span = (struct pass_span){ p->spans[*block], copy };
		p->spans[*block] = span;
	}
}

static uint32_t copy_get(struct pass *p, struct keep_writer *w, uint32_t name)
{
	const struct pass_name *n = &p->names[name];
	uint32_t copy;

	if (w->segments[name] == w->segment) {
		copy_span(p, w, w->copies[name]);
		return w->copies[name];
	}
	copy = copy_new(p, w, name);
	if (n->keep == KEEP_CONST) {
		struct code_op op = p->in.ops[n->def];

		op.dst = copy;
		op.path = w->op->path;
		op.stmt = w->op->stmt;
		out_add(p, w, &op);
	} else {
		out_cell(p, w, CODE_SLOT_LOAD, copy, n->cell);
	}
	return copy;
}

static void write_op(struct pass *p, struct keep_writer *w,
		     const struct pass_refs *refs, bool stored)
{
	struct code_op op = *w->op;

	if (w->copied[refs->uses[1]])
		op.src = copy_get(p, w, refs->uses[1]);
	if (w->copied[refs->uses[0]])
		op.dst = refs->uses[0] == refs->uses[1] ? op.src :
			 (int32_t)copy_get(p, w, refs->uses[0]);
	else if (refs->roles & ROLE_DEF_DST && w->copied[refs->def])
		op.dst = copy_new(p, w, refs->def);
	out_add(p, w, &op);
	if (stored && w->copied[refs->def])
		out_cell(p, w, CODE_SLOT_STORE,
			 refs->roles & ROLE_DEF_DST ? op.dst : op.src,
			 p->names[refs->def].cell);
}

static void write_call(struct pass *p, struct keep_writer *w,
		       struct keep_marks *marks, uint32_t at)
{
	uint32_t first = marks->save_count;

	while (marks->save_count && marks->saves[marks->save_count - 1].op == at)
		marks->save_count--;
	for (uint32_t i = first; i > marks->save_count; i--)
		out_cell(p, w, CODE_SLOT_STORE, marks->saves[i - 1].name,
			 p->names[marks->saves[i - 1].name].cell);
	out_add(p, w, w->op);
	for (uint32_t i = first; i > marks->save_count; i--)
		out_cell(p, w, CODE_SLOT_LOAD, marks->saves[i - 1].name,
			 p->names[marks->saves[i - 1].name].cell);
	w->segment++;
}

static void write_block(struct pass *p, struct keep_writer *w,
			struct keep_marks *marks, uint32_t b)
{
	const struct pass_block *block = &p->in.blocks[b];
	struct pass_text *out = &p->out;

	if (!b || p->in.blocks[b - 1].fall != b || w->ways[b] > 1)
		w->segment++;
	w->block = b;
	w->rare = block->rare;
	out->blocks[b] = *block;
	out->blocks[b].first = out->count;
	for (uint32_t i = block->first; i < block->end; i++) {
		const struct pass_refs *refs = &p->in.refs[i];

		w->op = &p->in.ops[i];
		if (refs->roles & ROLE_CALL) {
			write_call(p, w, marks, i);
		} else if (!(w->copied[refs->def] | w->copied[refs->uses[0]] |
			     w->copied[refs->uses[1]])) {
			out->ops[out->count] = *w->op;
			out->refs[out->count++] = *refs;
		} else if (p->names[refs->def].keep != KEEP_CONST) {
			write_op(p, w, refs, marks->stored[i]);
		}
	}
	out->blocks[b].end = out->count;
}

void keep_write(struct pass *p)
{
	uint32_t names = p->in.names, more = 0, saved_count = 0;
	struct keep_marks marks = { 0 };
	struct keep_writer w = { 0 };
	uint64_t *saved;

	p->out = (struct pass_text){ .names = names };
	PASS_TAKE(p, saved, p->in.words);
	PASS_TAKE(p, w.copied, names);
	PASS_TAKE(p, w.segments, names);
	if (p->error)
		return;
	for (uint32_t name = NAME_FIRST; name < names; name++) {
		const struct pass_name *n = &p->names[name];

		if (n->keep >= KEEP_FRAME) {
			w.copied[name] = true;
		} else if (n->keep == KEEP_SAVED) {
			set_add(saved, name);
			saved_count++;
		}
	}
	/* a load and a store for each copy */
	for (uint32_t i = 0; i < p->in.count; i++) {
		const struct pass_refs *refs = &p->in.refs[i];

		more += w.copied[refs->def] + w.copied[refs->uses[0]] +
			w.copied[refs->uses[1]];
	}
	more += 2 * saved_count * p->calls;
	PASS_TAKE(p, marks.stored, p->in.count);
	PASS_ROOM(p, marks.saves, saved_count * p->calls);
	PASS_ROOM(p, w.copies, names);
	PASS_ROOM(p, p->out.ops, p->in.count + more);
	PASS_ROOM(p, p->out.refs, p->in.count + more);
	PASS_ROOM(p, p->out.blocks, p->block_count);
	PASS_TAKE(p, p->spans, p->block_count);
	PASS_TAKE(p, w.ways, p->block_count);
	if (p->error)
		return;
	for (uint32_t b = 0; b < p->block_count; b++) {
		const struct pass_block *block = &p->in.blocks[b];

		if (block->fall != PASS_NONE)
			w.ways[block->fall]++;
		if (block->jump != PASS_NONE)
			w.ways[block->jump]++;
	}
	marks_find(p, &marks, saved);
	for (uint32_t b = 0; b < p->block_count && !p->error; b++)
		write_block(p, &w, &marks, b);
	live_room(p, &p->out, p->out.names);
}
