// SPDX-License-Identifier: GPL-2.0
/*
 * A probe is fast on an instruction that the kernel emulates, slow on one that
 * it single-steps. A nop of 5 bytes may do harm: Linux turns it into a call
 * from 6.18 on, which writes below the stack pointer, where a leaf function may
 * keep data, and leads a forked child to a page that it doesn't have.
 * A value in a vector register can only be read with the help of the kernel
 * module: then a place where something else has it is better than any other.
 */
#include "choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "emit.h"
#include "lib/formats/rpn.h"

#define TRIES_MAX	16

struct choice {
	size_t index;		/* in the block */
	size_t distance;
	uint8_t cost;
	bool pushes;
	bool nop;		/* a long one: slow before Linux 6.16 */
};

struct chooser {
	const struct compilation *c;
	struct compiled *out;
	const struct compile_point *point;
	/* sites that record where they are, by nominal address */
	const struct compile_site **order;
	size_t order_count;
	/* statements for the nominal addresses; their expressions are in
	 * `table` */
	struct tdf_stmt *stmts;
	char (*sources)[64];
	uint8_t *table;
	bool vector;		/* the site reads vector registers, and is not
				 * to do so elsewhere */
	/* of a site that is moved */
	struct tdf_stmt *moved;
	struct bytes moved_rpn;
};

static int chooser_no_memory(const struct chooser *ch)
{
	return diag_no_memory(ch->c->diag, ch->point->tsf->pos);
}

/* Which class of cost is preferred: less is better. */
static const int cost_ranks[] = {
	[TDF_COST_EMULATED] = 0, [TDF_COST_STEPPED] = 1, [TDF_COST_NOP5] = 2,
};

static int nominal_compare(const void *a, const void *b)
{
	const struct compile_site *const *x = a, *const *y = b;
	uint64_t left = (*x)->nominal, right = (*y)->nominal;

	return (left > right) - (left < right);
}

/* Where the site may be without changing the order in which tracepoints are
 * hit, whether the others move or not: [*low, *high). */
static void find_bounds(const struct chooser *ch,
			const struct compile_site *site, uint64_t *low,
			uint64_t *high)
{
	const struct compile_site **at =
		bsearch(&site, ch->order, ch->order_count, sizeof(*ch->order),
			nominal_compare);

	*low = 0;
	*high = UINT64_MAX;
	if (at > ch->order) {
		*low = at[-1]->address > at[-1]->nominal ? at[-1]->address :
							   at[-1]->nominal;
		++*low;
	}
	if (at + 1 < ch->order + ch->order_count)
		*high = at[1]->address < at[1]->nominal ? at[1]->address :
							  at[1]->nominal;
}

static int choice_compare(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->cost != y->cost)
		return cost_ranks[x->cost] - cost_ranks[y->cost];
	if (x->nop != y->nop)
		return y->nop ? -1 : 1;
	if (x->pushes != y->pushes)
		return y->pushes ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* The expressions of a statement read vector registers. */
static bool reads_vector(const struct tdf_stmt *stmt, const uint8_t *table)
{
	const uint32_t at[] = { stmt->rpn, stmt->len_rpn };
	const uint32_t length[] = { stmt->rpn_length, stmt->len_rpn_length };

	for (int i = 0; i < 2; i++) {
		struct rpn_op op = { 0 };

		while (rpn_next(table + at[i], length[i], &op))
			if (op.code == RPN_vector)
				return true;
	}
	return false;
}

/* All statements of the site, for the instruction `to`: 0; 1, why; -ENOMEM. */
static int site_move(struct chooser *ch, const struct compile_site *site,
		     const struct block *block, size_t to, char *why)
{
	const struct tdf_stmt *in = ch->stmts + site->first_stmt;
	struct move *move = move_begin(block, ch->c->module, ch->c->dwarf,
				       ch->c->mode, block->at, to, why);
	int code = 0;

	if (!move)
		return *why ? 1 : -ENOMEM;
	ch->moved_rpn.size = 0;
	for (uint32_t i = 0; i < site->stmts && !code; i++) {
		code = move_stmt(move, &in[i], ch->table, &ch->moved[i],
				 &ch->moved_rpn, why);
		if (!code && ch->vector && !ch->moved_rpn.failed)
			code = reads_vector(&ch->moved[i], ch->moved_rpn.data);
	}
	move_end(move);
	return code ? code : ch->moved_rpn.failed ? -ENOMEM : 0;
}

static int site_put(struct chooser *ch, struct compile_site *site,
		    const struct block_insn *insn)
{
	size_t available;

	if (insn->address >= site->address - site->symbol_offset)
		site->symbol_offset += insn->address - site->address;
	else
		site->symbol = analysis_symbol(ch->c, ch->point->tsf->tp.pos,
					       insn->address,
					       &site->symbol_offset);
	if (!site->symbol)
		return -1;
	site->address = insn->address;
	site->cost = insn->insn.cost;
	site->insn_length = insn->insn.length;
	memset(site->insn, 0, sizeof(site->insn));
	memcpy(site->insn, insn->bytes, insn->insn.length);
	module_code(ch->c->module, site->address, &available, &site->offset);
	return 0;
}

/* Is it better than the one that the site is at? A long nop is no better than a
 * push where it is slow. */
static bool insn_is_better(const struct arch_insn *insn,
			   const struct arch_insn *at)
{
	if (cost_ranks[insn->cost] != cost_ranks[at->cost])
		return cost_ranks[insn->cost] < cost_ranks[at->cost];
	return at->pushes && !insn->pushes &&
	       !(insn->padding && insn->length > 2);
}

/* Instructions that are better than the nominal one, the best first; with
 * ch->vector all. */
static size_t choices_find(struct chooser *ch, const struct compile_site *site,
			   const struct block *block,
			   struct choice choices[2 * CHOOSE_DISTANCE + 1])
{
	uint64_t low, high;
	size_t count = 0;

	find_bounds(ch, site, &low, &high);
	for (size_t i = 0; i < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];
		size_t distance = i < block->at ? block->at - i : i - block->at;

		if (distance > CHOOSE_DISTANCE ||
		    (!ch->vector &&
		     !insn_is_better(&insn->insn, &block->insns[block->at].insn)) ||
		    !code_is_good(ch->c->module, &insn->insn) ||
		    insn->address < low || insn->address >= high)
			continue;
		choices[count++] = (struct choice) {
			.index = i, .distance = distance,
			.cost = insn->insn.cost,
			.pushes = insn->insn.pushes,
			.nop = insn->insn.padding && insn->insn.length > 2,
		};
	}
	qsort(choices, count, sizeof(*choices), choice_compare);
	return count;
}

/* 0: moved, or it stays; -1. *moved: its statements are in ch->moved. */
static int choose_in(struct chooser *ch, struct compile_site *site,
		     const struct block *block, bool *moved)
{
	struct choice choices[2 * CHOOSE_DISTANCE + 1];
	char why[MOVE_WHY] = "", first[MOVE_WHY] = "", name[320];
	size_t count = choices_find(ch, site, block, choices);
	uint64_t tried = site->nominal;
	int code = 1;

	for (size_t i = 0; i < count && i < TRIES_MAX && code > 0; i++) {
		const struct block_insn *insn = &block->insns[choices[i].index];

		code = site_move(ch, site, block, choices[i].index, why);
		if (!code && site_put(ch, site, insn))
			return -1;
		if (code > 0 && !i) {
			tried = insn->address;
			strcpy(first, why);
		}
	}
	if (code < 0)
		return chooser_no_memory(ch);
	*moved = !code;
	if (*moved || ch->vector || site->cost == TDF_COST_EMULATED)
		return 0;
	analysis_name(ch->c, tried, name, sizeof(name));
	if (*first)
		site->stays = tsf_format(ch->c->tsf, "not at %s: %s", name,
					 first);
	else
		site->stays = tsf_format(ch->c->tsf, "no cheap instruction "
					 "beside it: %s, %s", block->before,
					 block->after);
	return site->stays ? 0 : chooser_no_memory(ch);
}

static int choose_site(struct chooser *ch, struct compile_site *site,
		       bool *moved)
{
	struct block block;
	int code = 0;

	ch->vector = false;

	for (uint32_t i = 0; i < site->stmts && !ch->vector; i++)
		ch->vector = reads_vector(&ch->stmts[site->first_stmt + i],
					  ch->table);
	if (site->flags & TDF_SITE_RETURN ||
	    (site->cost == TDF_COST_EMULATED && !site->pushes && !ch->vector))
		return 0;
	if (module_is_relocated(ch->c->module, 0, 0))
		site->stays = "the loader changes the code";
	else
		code = analysis_block(ch->c, site->nominal, &block);
	if (code == -ENOENT)
		site->stays = "the function around it isn't known";
	if (site->stays) {
		/* a push is fast enough to be no news */
		if (site->cost == TDF_COST_EMULATED)
			site->stays = NULL;
		return 0;
	}
	if (code)
		return chooser_no_memory(ch);
	if (ch->vector)
		code = choose_in(ch, site, &block, moved);
	ch->vector = false;
	if (!code && !*moved &&
	    (site->cost != TDF_COST_EMULATED || site->pushes))
		code = choose_in(ch, site, &block, moved);
	block_free(&block);
	return code;
}

static int choose_point(struct chooser *ch, struct compile_point *point)
{
	ch->point = point;
	for (size_t i = 0; i < point->site_count; i++) {
		struct compile_site *site = &point->sites[i];
		size_t first = site->first_stmt;
		const struct tdf_stmt *stmts = ch->stmts + first;
		const uint8_t *table = ch->table;
		bool moved = false;

		if (ch->c->mode != MOVE_NEVER && choose_site(ch, site, &moved))
			return -1;
		if (moved) {
			stmts = ch->moved;
			table = ch->moved_rpn.data;
		}
		/* append its statements to those of the sites before */
		site->first_stmt = ch->out->stmt_count;
		for (uint32_t j = 0; j < site->stmts; j++)
			if (emit_copy(ch->c, ch->out, point->tsf->pos,
				      &stmts[j], table, ch->sources[first + j]))
				return -1;
		if (ch->out->rpn.failed)
			return chooser_no_memory(ch);
	}
	return 0;
}

/* Orders the sites, and takes statements and expressions out of what was
 * compiled. False: no memory. */
static bool chooser_begin(struct chooser *ch)
{
	struct compiled *out = ch->out;
	size_t sites = 0;

	for (size_t i = 0; i < out->point_count; i++)
		sites += out->points[i].site_count;
	ch->order = calloc(sites + 1, sizeof(*ch->order));
	ch->moved = calloc(TDF_STMTS_MAX + 1, sizeof(*ch->moved));
	if (!ch->order || !ch->moved)
		return false;
	for (size_t i = 0; i < out->point_count; i++)
		for (size_t j = 0; j < out->points[i].site_count; j++)
			if (!(out->points[i].sites[j].flags & TDF_SITE_RETURN))
				ch->order[ch->order_count++] =
					&out->points[i].sites[j];
	qsort(ch->order, ch->order_count, sizeof(*ch->order), nominal_compare);
	ch->stmts = out->stmts;
	ch->sources = out->sources;
	ch->table = out->rpn.data;
	out->stmts = NULL;
	out->sources = NULL;
	out->stmt_count = out->stmt_room = out->source_room = 0;
	out->rpn = (struct bytes) { 0 };
	return true;
}

int choose_sites(const struct compilation *c, struct compiled *out)
{
	struct chooser ch = { .c = c, .out = out };
	int code = 0;

	if (!c->module || c->module->kind != TDF_MODULE_USER || !c->module->elf)
		return 0;
	if (!chooser_begin(&ch))
		code = diag_no_memory(c->diag, (struct srcpos){ 0 });
	for (size_t i = 0; i < out->point_count && !code; i++)
		if (!out->points[i].is_static)
			code = choose_point(&ch, &out->points[i]);
	free(ch.order);
	free(ch.stmts);
	free(ch.moved);
	free(ch.sources);
	free(ch.table);
	bytes_free(&ch.moved_rpn);
	return code;
}
