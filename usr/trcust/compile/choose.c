// SPDX-License-Identifier: GPL-2.0
#include "choose.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/module.h"
#include "site.h"
#include "slow.h"

#define TRIES_MAX	16

struct candidate {
	size_t index;		/* in the block */
	size_t distance;
	uint8_t cost;
	bool nop;		/* a long one: dear before Linux 6.16 */
};

struct chooser {
	struct compilation *c;
	const struct compile_point *point;
	/* sites that record where they stand, by nominal address */
	const struct compile_site **order;
	size_t order_count;
	/* statements for the nominal addresses; their expressions are in
	 * `table` */
	struct tdf_stmt *stmts;
	char (*sources)[64];
	size_t count;
	uint8_t *table;
	/* of a site that is moved */
	struct tdf_stmt *moved;
	struct bytes moved_rpn;
};

static int report_no_memory(const struct chooser *ch)
{
	return diag_no_memory(ch->c->diag, ch->point->tsf->pos);
}

bool choose_is_cheap(const struct compilation *c, const struct arch_insn *insn)
{
	return insn->cost == TDF_COST_EMULATED && code_is_good(c->module, insn);
}

/* Which class a probe rather stands on: less is better. */
static int rank(uint8_t cost)
{
	static const int ranks[] = {
		[TDF_COST_EMULATED] = 0, [TDF_COST_STEPPED] = 1,
		[TDF_COST_NOP5] = 2,
	};

	return ranks[cost];
}

static int site_compare(const void *a, const void *b)
{
	const struct compile_site *const *x = a, *const *y = b;
	uint64_t left = (*x)->nominal, right = (*y)->nominal;

	return (left > right) - (left < right);
}

static bool is_ordered(const struct compile_site *site)
{
	return !(site->flags & TDF_SITE_RETURN);
}

/* False: no memory. */
static bool order_make(struct chooser *ch)
{
	const struct compilation *c = ch->c;
	size_t sites = 0;

	for (size_t i = 0; i < c->point_count; i++)
		sites += c->points[i].site_count;
	ch->order = calloc(sites + 1, sizeof(*ch->order));
	if (!ch->order)
		return false;
	for (size_t i = 0; i < c->point_count; i++)
		for (size_t j = 0; j < c->points[i].site_count; j++)
			if (is_ordered(&c->points[i].sites[j]))
				ch->order[ch->order_count++] =
					&c->points[i].sites[j];
	qsort(ch->order, ch->order_count, sizeof(*ch->order), site_compare);
	return true;
}

/* Where the site may stand without coming before or behind another tracepoint
 * that it is behind or before, whether that moves or not: [*low, *high). */
static void find_bounds(const struct chooser *ch,
			const struct compile_site *site, uint64_t *low,
			uint64_t *high)
{
	const struct compile_site **at =
		bsearch(&site, ch->order, ch->order_count, sizeof(*ch->order),
			site_compare);

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

static int candidate_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cost != y->cost)
		return rank(x->cost) - rank(y->cost);
	if (x->nop != y->nop)
		return y->nop ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* Instructions that are better than the nominal one, the best first. */
static size_t candidates_find(const struct chooser *ch,
			      const struct compile_site *site,
			      const struct block *block,
			      struct candidate *candidates)
{
	uint64_t low, high;
	size_t count = 0;

	find_bounds(ch, site, &low, &high);
	for (size_t i = 0; i < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];
		size_t distance = i < block->at ? block->at - i : i - block->at;

		if (distance > CHOOSE_DISTANCE ||
		    rank(insn->insn.cost) >= rank(site->cost) ||
		    !code_is_good(ch->c->module, &insn->insn) ||
		    insn->address < low || insn->address >= high)
			continue;
		candidates[count++] = (struct candidate) {
			.index = i, .distance = distance,
			.cost = insn->insn.cost,
			.nop = insn->insn.padding && insn->insn.length > 2,
		};
	}
	qsort(candidates, count, sizeof(*candidates), candidate_compare);
	return count;
}

/* All statements of the site, for the instruction `to`: 0; 1, why; -ENOMEM. */
static int move_stmts(struct chooser *ch, const struct compile_site *site,
		      const struct block *block, size_t to, char *why)
{
	const struct tdf_stmt *in = ch->stmts + site->first_stmt;
	struct move *move = move_begin(block, ch->c->module, ch->c->dwarf,
				       ch->c->mode, block->at, to, why);
	int code = 0;

	if (!move)
		return *why ? 1 : -ENOMEM;
	ch->moved_rpn.size = 0;
	for (uint32_t i = 0; i < site->stmts && !code; i++)
		code = move_stmt(move, &in[i], ch->table, &ch->moved[i],
				 &ch->moved_rpn, why);
	move_end(move);
	return code ? code : ch->moved_rpn.failed ? -ENOMEM : 0;
}

static int name_symbol(struct chooser *ch, struct compile_site *site,
		       uint64_t address)
{
	const struct module_symbol *symbol;

	if (address >= site->address - site->symbol_offset) {
		site->symbol_offset += address - site->address;
		return 0;
	}
	symbol = symbol_index_find(&ch->c->sites->symbols, address);
	site->symbol = symbol ? site_text(ch->c, ch->point->tsf, symbol->name,
					  symbol->name_length) : "";
	site->symbol_offset = symbol ? address - symbol->address : 0;
	return site->symbol ? 0 : -1;
}

static int place_site(struct chooser *ch, struct compile_site *site,
		      const struct block_insn *insn)
{
	size_t available;

	if (name_symbol(ch, site, insn->address))
		return -1;
	site->address = insn->address;
	site->cost = insn->insn.cost;
	site->insn_length = insn->insn.length;
	memset(site->insn, 0, sizeof(site->insn));
	memcpy(site->insn, insn->bytes, insn->insn.length);
	module_code(ch->c->module, site->address, &available, &site->offset);
	return 0;
}

/* Why the site is where it is. */
static int report_stays(struct chooser *ch, struct compile_site *site,
			const struct block *block, uint64_t tried,
			const char *why)
{
	char name[320];
	int length;

	site_name_at(ch->c, tried, name, sizeof(name));
	if (*why)
		length = asprintf(&site->stays, "not at %s: %s", name, why);
	else
		length = asprintf(&site->stays, "no cheap instruction beside it: "
				  "%s, %s", block->before, block->behind);
	if (length >= 0)
		return 0;
	site->stays = NULL;
	return report_no_memory(ch);
}

/* 0: moved, or it stays; -1. *moved: its statements are in ch->moved. */
static int choose_in(struct chooser *ch, struct compile_site *site,
		     const struct block *block, bool *moved)
{
	struct candidate candidates[2 * CHOOSE_DISTANCE + 1];
	size_t count = candidates_find(ch, site, block, candidates);
	char why[MOVE_WHY] = "", first[MOVE_WHY] = "";
	uint64_t tried = site->nominal;
	int code = 1;

	for (size_t i = 0; i < count && i < TRIES_MAX && code > 0; i++) {
		const struct block_insn *insn =
			&block->insns[candidates[i].index];

		code = move_stmts(ch, site, block, candidates[i].index, why);
		if (!code && place_site(ch, site, insn))
			return -1;
		if (code > 0 && !i) {
			tried = insn->address;
			strcpy(first, why);
		}
	}
	if (code < 0)
		return report_no_memory(ch);
	*moved = !code;
	if (*moved)
		return 0;
	return report_stays(ch, site, block, tried, first);
}

static int choose_site(struct chooser *ch, struct compile_site *site,
		       bool *moved)
{
	struct block block;
	int code;

	*moved = false;
	if (site->cost == TDF_COST_EMULATED || site->flags & TDF_SITE_RETURN)
		return 0;
	if (module_is_relocated(ch->c->module, 0, 0)) {
		site->stays = strdup("the loader changes the code");
		return site->stays ? 0 : report_no_memory(ch);
	}
	code = site_block_find(ch->c, site->nominal, &block);
	if (code == -ENOENT) {
		site->stays = strdup("the function around it isn't known");
		return site->stays ? 0 : report_no_memory(ch);
	}
	if (code)
		return report_no_memory(ch);
	code = choose_in(ch, site, &block, moved);
	block_free(&block);
	return code;
}

static void expression_add(struct chooser *ch, const uint8_t *table,
			   uint32_t *at, uint32_t length)
{
	const uint8_t *bytes = table + *at;

	*at = ch->c->rpn.size;
	bytes_add(&ch->c->rpn, bytes, length);
}

/* The site's statements behind those of the tracepoint's other sites. */
static int take_stmts(struct chooser *ch, struct compile_site *site,
		      const struct tdf_stmt *stmts, const uint8_t *table)
{
	size_t first = site->first_stmt;

	site->first_stmt = ch->c->stmt_count;
	for (uint32_t i = 0; i < site->stmts; i++) {
		struct tdf_stmt *out =
			compile_stmt_add(ch->c, ch->point->tsf->pos,
					 ch->sources[first + i]);

		if (!out)
			return -1;
		*out = stmts[i];
		expression_add(ch, table, &out->rpn, out->rpn_length);
		expression_add(ch, table, &out->len_rpn, out->len_rpn_length);
	}
	return ch->c->rpn.failed ? report_no_memory(ch) : 0;
}

/* Statements and expressions leave c; false: no memory. */
static bool chooser_take(struct chooser *ch)
{
	struct compilation *c = ch->c;

	ch->count = c->stmt_count;
	ch->stmts = calloc(ch->count + 1, sizeof(*ch->stmts));
	ch->moved = calloc(TDF_STMTS_MAX + 1, sizeof(*ch->moved));
	ch->sources = calloc(ch->count + 1, sizeof(*ch->sources));
	ch->table = malloc(c->rpn.size + 1);
	if (!ch->stmts || !ch->moved || !ch->sources || !ch->table)
		return false;
	if (ch->count) {
		memcpy(ch->stmts, c->stmts, ch->count * sizeof(*c->stmts));
		memcpy(ch->sources, c->sources,
		       ch->count * sizeof(*c->sources));
	}
	if (c->rpn.size)
		memcpy(ch->table, c->rpn.data, c->rpn.size);
	c->stmt_count = 0;
	c->rpn.size = 0;
	return true;
}

static void report_nop(struct compilation *c, const struct compile_point *point)
{
	for (size_t i = 0; i < point->site_count; i++) {
		const struct compile_site *site = &point->sites[i];
		char name[320];

		if (site->cost != TDF_COST_NOP5)
			continue;
		site_name_at(c, site->address, name, sizeof(name));
		diag_report(c->diag, point->tsf->tp.pos, TRCERR_NOP5SITE, name);
		diag_hint(c->diag, "Linux 6.18 and later turn it into a call: "
				   "a program that forks, or keeps data below "
				   "its stack pointer there, is harmed");
		if (site->stays)
			diag_hint(c->diag, "%s", site->stays);
		return;
	}
}

static int choose_point(struct chooser *ch, struct compile_point *point)
{
	ch->point = point;
	for (size_t i = 0; i < point->site_count; i++) {
		struct compile_site *site = &point->sites[i];
		const struct tdf_stmt *stmts = ch->stmts + site->first_stmt;
		const uint8_t *table = ch->table;
		bool moved = false;

		if (ch->c->mode != MOVE_NEVER && choose_site(ch, site, &moved))
			return -1;
		if (moved) {
			stmts = ch->moved;
			table = ch->moved_rpn.data;
		}
		if (take_stmts(ch, site, stmts, table))
			return -1;
	}
	report_nop(ch->c, point);
	slow_report(ch->c, point);
	return 0;
}

static int choose_all(struct chooser *ch)
{
	struct compilation *c = ch->c;

	if (!order_make(ch) || !chooser_take(ch)) {
		return diag_no_memory(c->diag, (struct srcpos){ 0 });
	}
	for (size_t i = 0; i < c->point_count; i++)
		if (!c->points[i].is_static &&
		    choose_point(ch, &c->points[i]))
			return -1;
	slow_report_rest(c);
	return 0;
}

int choose_sites(struct compilation *c)
{
	struct chooser ch = { .c = c };
	int code;

	if (!c->module || c->module->kind != TDF_MODULE_USER || !c->module->elf)
		return 0;
	code = choose_all(&ch);
	free(ch.order);
	free(ch.stmts);
	free(ch.moved);
	free(ch.sources);
	free(ch.table);
	bytes_free(&ch.moved_rpn);
	return code;
}
