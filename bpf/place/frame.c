// SPDX-License-Identifier: GPL-2.0
/*
 * The frame: a slot is in use from its first mention on any way to its last one,
 * where a use of its address is a mention; the cell of a temp while the temp has
 * a value. Cells that are not in use at the same time share their place; those
 * that are used most are nearest to register 10.
 *
 * Which slot an address is of is known for r0 to r5 until the end of the block,
 * and for other names if it's always the same slot. Else nothing shares the
 * slot's place.
 */
#include "pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRAIGHT	16		/* weight of a mention; a rare one: 1 */
#define UNIT		4
#define UNITS		(512 / UNIT)	/* of the largest frame */

enum frame_event_kind {
	EVENT_SLOT,			/* a mention */
	EVENT_LOAD, EVENT_STORE,	/* of a temp */
	EVENT_TOUCH,			/* CODE_FRAME_TOUCH */
};

struct frame {
	const struct pass_text *text;
	/* where cells are mentioned, in the order of operations */
	struct frame_event {
		uint32_t kind, cell;
	} *events;
	uint32_t event_count;
	uint32_t *first_events;		/* of each block */
	uint32_t *points;		/* the slot that each name is an address
					 * of, + 1 */
	uint32_t held[6];		/* the same of registers, in a block */
	bool any_points, any_held;	/* are there any? */
	bool *pinned;			/* slots with addresses that are lost */
	/* sets of slots for each block: mentioned in it, before, after */
	uint64_t *mentioned, *before, *after;
	uint32_t slot_words;
	/* sets of cells: of each cell, those in use at the same time */
	uint64_t *rows, *live;
	uint64_t *framed;		/* a set of names */
	uint32_t words;
	uint32_t *first;		/* of each slot: event in the block */
};

/* Addresses */

static uint32_t cell_address(const struct pass *p, const struct frame *f,
			   uint32_t name)
{
	if (name < 6)
		return f->held[name];
	return f->points[p->names[name].parent ? p->names[name].parent : name];
}

/* The name becomes an address; is that news? */
static bool address_set(const struct pass *p, struct frame *f, uint32_t name,
			uint32_t address)
{
	uint32_t *points = &f->points[name];

	if (name < 6) {
		f->held[name] = address;
		f->any_held |= address != 0;
		return false;
	}
	if (p->names[name].parent)
		points = &f->points[p->names[name].parent];
	if (!address || *points == address)
		return false;
	if (*points) {
		f->pinned[*points - 1] = f->pinned[address - 1] = true;
		return false;
	}
	*points = address;
	f->any_points = true;
	return true;
}

static void address_lose(struct frame *f, uint32_t address)
{
	if (address)
		f->pinned[address - 1] = true;
}

static void event_add(struct frame *f, enum frame_event_kind kind,
		      uint32_t cell)
{
	f->events[f->event_count++] = (struct frame_event){ kind, cell };
}

static void slot_mention(struct frame *f, uint32_t address)
{
	if (address)
		event_add(f, EVENT_SLOT, address - 1);
}

/* What an operation mentions, and what it makes an address */
static bool op_addresses(const struct pass *p, struct frame *f, uint32_t at)
{
	const struct code_op *op = &f->text->ops[at];
	const struct pass_refs *refs = &f->text->refs[at];
	uint32_t result = 0, source = cell_address(p, f, refs->uses[1]);
	bool slot = refs->roles & ROLE_CELL && op->target < p->slot_count;

	if (refs->roles & ROLE_CALL) {
		for (int i = 1; i <= op->args; i++)
			slot_mention(f, f->held[i]);
		memset(f->held, 0, sizeof(f->held));
		f->any_held = false;
		return false;
	}
	if (slot)
		event_add(f, EVENT_SLOT, op->target);
	else if (refs->roles & ROLE_CELL)
		event_add(f, op->kind == CODE_SLOT_LOAD ? EVENT_LOAD :
			  EVENT_STORE, op->target);
	slot_mention(f, cell_address(p, f, refs->uses[0]));
	slot_mention(f, source);
	if (op->kind == CODE_MOVE || op->kind == CODE_ALU)
		result = source;
	else if (op->kind == CODE_STORE || op->kind == CODE_ATOMIC ||
		 (op->kind == CODE_SLOT_STORE && slot))
		address_lose(f, source);
	if (op->kind == CODE_SLOT_ADDRESS)
		result = op->target + 1;
	if (refs->def == NAME_NOTHING)
		return false;
	if (!result)
		result = cell_address(p, f, refs->uses[0]);
	return address_set(p, f, refs->def, result);
}

static bool addresses_follow(const struct pass *p, struct frame *f)
{
	const struct pass_text *text = f->text;
	bool more = false;

	f->event_count = 0;
	for (uint32_t b = 0; b < p->block_count; b++) {
		uint64_t out = p->live_out[(size_t)b * p->in.words];

		f->first_events[b] = f->event_count;
		memset(f->held, 0, sizeof(f->held));
		f->any_held = false;
		for (uint32_t i = text->blocks[b].first;
		     i < text->blocks[b].end; i++) {
			if (text->refs[i].roles & ROLE_CELL || f->any_held ||
			    f->any_points)
				more |= op_addresses(p, f, i);
			else if (text->ops[i].kind == CODE_FRAME_TOUCH)
				event_add(f, EVENT_TOUCH, 0);
		}
		for (int reg = 0; reg < 6; reg++)
			if (out >> reg & 1)
				address_lose(f, f->held[reg]);
	}
	f->first_events[p->block_count] = f->event_count;
	return more;
}

static void slots_mention(struct pass *p, struct frame *f)
{
	for (uint32_t b = 0; b < p->block_count; b++) {
		uint64_t *set = f->mentioned + (size_t)b * f->slot_words;

		for (uint32_t i = f->first_events[b];
		     i < f->first_events[b + 1]; i++)
			if (f->events[i].kind == EVENT_SLOT)
				set_add(set, f->events[i].cell);
	}
}

/* to |= a | b; did it become more? */
static bool set_join(uint64_t *to, const uint64_t *a, const uint64_t *b,
		     uint32_t words)
{
	bool more = false;

	for (uint32_t w = 0; w < words; w++) {
		uint64_t joined = to[w] | a[w] | b[w];

		more |= joined != to[w];
		to[w] = joined;
	}
	return more;
}

static void frame_slots_find(struct pass *p, struct frame *f)
{
	uint32_t words = f->slot_words, count = p->block_count;
	bool more;

	do {
		more = false;
		for (uint32_t i = 0; i < count; i++) {
			uint32_t b = p->postorder[i];
			const uint32_t next[] = { p->in.blocks[b].fall,
						  p->in.blocks[b].jump };

			for (int n = 0; n < 2; n++) {
				size_t at = (size_t)next[n] * words;

				if (next[n] != PASS_NONE)
					more |= set_join(f->after + b * words,
							 f->after + at,
							 f->mentioned + at,
							 words);
			}
		}
		for (uint32_t i = count; i--; ) {
			size_t b = (size_t)p->postorder[i] * words;
			const struct pass_block *block =
				&p->in.blocks[p->postorder[i]];

			if (block->fall != PASS_NONE)
				more |= set_join(f->before + block->fall * words,
						 f->before + b,
						 f->mentioned + b, words);
			if (block->jump != PASS_NONE)
				more |= set_join(f->before + block->jump * words,
						 f->before + b,
						 f->mentioned + b, words);
		}
	} while (more && p->loops);
}

static void cell_begin(struct frame *f, uint32_t cell)
{
	uint64_t *row = f->rows + (size_t)cell * f->words;

	set_add(f->live, cell);
	for (uint32_t w = 0; w < f->words; w++)
		row[w] |= f->live[w];
}

static void cell_end(struct frame *f, uint32_t cell)
{
	set_remove(f->live, cell);
}

/* What is in use where the block ends */
static void block_end_cells(struct pass *p, struct frame *f, uint32_t b)
{
	const uint64_t *out = p->live_out + (size_t)b * p->in.words;
	size_t at = (size_t)b * f->slot_words;

	memset(f->live, 0, f->words * sizeof(*f->live));
	for (uint32_t w = 0; w < f->slot_words; w++)
		f->live[w] = (f->before[at + w] | f->mentioned[at + w]) &
			     f->after[at + w];
	for (uint32_t w = 0; w < p->in.words; w++)
		for (uint64_t bits = out[w] & f->framed[w]; bits;
		     bits &= bits - 1)
			set_add(f->live, p->names[64 * w +
				__builtin_ctzll(bits)].cell);
}

static bool frame_used(const struct frame *f)
{
	uint64_t any = 0;

	for (uint32_t w = 0; w < f->words; w++)
		any |= f->live[w];
	return any;
}

/* A slot's first mention in the block may be where its use begins. */
static void block_cells(struct pass *p, struct frame *f, uint32_t b)
{
	const uint64_t *before = f->before + (size_t)b * f->slot_words;
	uint32_t weight = f->text->blocks[b].rare ? 1 : STRAIGHT;
	uint32_t first = f->first_events[b], end = f->first_events[b + 1];

	if (first == end)
		return;
	for (uint32_t i = end; i-- > first; )
		if (f->events[i].kind == EVENT_SLOT)
			f->first[f->events[i].cell] = i;
	block_end_cells(p, f, b);
	for (uint32_t i = end; i-- > first; ) {
		uint32_t cell = f->events[i].cell;

		if (f->events[i].kind == EVENT_TOUCH) {
			if (frame_used(f))
				p->error = -EINVAL;
			continue;
		}
		p->cells[cell].weight += weight;
		cell_begin(f, cell);
		if (f->events[i].kind == EVENT_SLOT ?
		    f->first[cell] == i && !set_has(before, cell) :
		    f->events[i].kind == EVENT_STORE)
			cell_end(f, cell);
	}
}

/* Conflicts are mutual. */
static void rows_mirror(struct pass *p, struct frame *f)
{
	for (uint32_t slot = 0; slot < p->slot_count; slot++)
		if (f->pinned[slot])
			memset(f->rows + (size_t)slot * f->words, 0xff,
			       f->words * sizeof(*f->rows));
	for (uint32_t cell = 0; cell < p->cell_count; cell++) {
		const uint64_t *row = f->rows + (size_t)cell * f->words;

		for (uint32_t w = 0; w < f->words; w++)
			for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
				size_t other = 64 * w + __builtin_ctzll(bits);

				if (other >= p->cell_count)
					break;
				f->rows[other * f->words + cell / 64] |=
					1ull << cell % 64;
			}
	}
}

/* Layout */

struct frame_cell {
	uint32_t weight, cell;
};

static int cell_compare(const void *a, const void *b)
{
	const struct frame_cell *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->cell < y->cell ? -1 : x->cell > y->cell;
}

static uint32_t cell_units(const struct pass_cell *cell)
{
	return (cell->bytes + UNIT - 1) / UNIT;
}

/* The first place that none of those that have one has, too */
static void cell_place(struct pass *p, const struct frame *f, uint32_t index)
{
	const uint64_t *row = f->rows + (size_t)index * f->words;
	struct pass_cell *cell = &p->cells[index];
	uint32_t units = cell_units(cell), step = cell->bytes > UNIT ? 2 : 1;
	uint32_t end = (units + step - 1) / step * step, free_units = 0;
	bool used[UNITS] = { 0 };

	for (uint32_t w = 0; w < f->words; w++)
		for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
			uint32_t n = 64 * w + __builtin_ctzll(bits);
			uint32_t from;

			if (n >= p->cell_count)
				break;
			if (!p->cells[n].off || n == index)
				continue;
			from = -p->cells[n].off / UNIT;
			for (uint32_t i = 0; i < cell_units(&p->cells[n]); i++)
				used[from - 1 - i] = true;
		}
	/* `end` units are between it and register 10: it's the units before. */
	for (; end <= UNITS; end += step) {
		for (free_units = 0; free_units < units; free_units++)
			if (used[end - 1 - free_units])
				break;
		if (free_units == units)
			break;
	}
	if (end > UNITS) {
		p->error = -E2BIG;
		return;
	}
	cell->off = -(int32_t)(end * UNIT);
	if (p->frame < end * UNIT)
		p->frame = (end * UNIT + 7) & ~7u;
}

static void cells_place(struct pass *p, const struct frame *f)
{
	struct frame_cell *order;
	uint32_t count = 0;

	if (!PASS_ROOM(p, order, p->cell_count))
		return;
	for (uint32_t i = 0; i < p->cell_count; i++)
		if (p->cells[i].weight)
			order[count++] = (struct frame_cell){
				p->cells[i].weight, i,
			};
	qsort(order, count, sizeof(*order), cell_compare);
	for (uint32_t i = 0; i < count && !p->error; i++)
		cell_place(p, f, order[i].cell);
}

void frame_lay_out(struct pass *p)
{
	struct frame f = {
		.text = p->spans ? &p->out : &p->in,
		.slot_words = (p->slot_count + 63) / 64,
		.words = (p->cell_count + 63) / 64,
	};
	size_t sets = (size_t)p->block_count * f.slot_words;

	p->frame = 0;
	if (!p->cell_count)
		return;
	PASS_ROOM(p, f.events, 3 * (f.text->count + p->calls));
	PASS_ROOM(p, f.first_events, p->block_count + 1);
	PASS_TAKE(p, f.points, f.text->names);
	PASS_TAKE(p, f.pinned, p->slot_count);
	PASS_TAKE(p, f.mentioned, sets);
	PASS_TAKE(p, f.before, sets);
	PASS_TAKE(p, f.after, sets);
	PASS_ROOM(p, f.first, p->cell_count);
	PASS_TAKE(p, f.live, f.words);
	PASS_TAKE(p, f.framed, p->in.words);
	PASS_TAKE(p, f.rows, (size_t)p->cell_count * f.words);
	if (p->error)
		return;
	for (uint32_t name = NAME_FIRST; name < p->in.names; name++)
		if (p->names[name].keep == KEEP_FRAME)
			set_add(f.framed, name);
	while (addresses_follow(p, &f))
		;
	slots_mention(p, &f);
	frame_slots_find(p, &f);
	for (uint32_t b = 0; b < p->block_count; b++)
		block_cells(p, &f, b);
	rows_mirror(p, &f);
	if (!p->error)
		cells_place(p, &f);
}
