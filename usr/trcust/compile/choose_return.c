// SPDX-License-Identifier: GPL-2.0
#include "choose_return.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/rpn.h"
#include "lib/debug/module/module.h"
#include "choose.h"
#include "site.h"

struct returning {
	struct compilation *c;
	struct compile_point *point;
	struct compile_site site;	/* the return probe */
	/* what it logs, and what the exit that is looked at does */
	struct tdf_stmt *stmts, *others;
	struct bytes rpn, others_rpn;
	const char *why;	/* it isn't to be */
	char text[MOVE_WHY];
};

/* 1: not a return probe, why. */
static int refuse(struct returning *r, const char *why)
{
	r->why = why;
	return 1;
}

/* A hit at each exit is cheap, too. */
static bool exits_are_cheap(const struct compile_point *point)
{
	for (size_t i = 0; i < point->site_count; i++)
		if (point->sites[i].cost >= TDF_COST_STEPPED)
			return false;
	return true;
}

static bool is_asked(const struct compilation *c,
		     const struct compile_point *point)
{
	return point->tsf->tp.retep == TSF_RETEP_ANY &&
	       c->mode != MOVE_NEVER && c->module->elf &&
	       c->module->kind == TDF_MODULE_USER && !exits_are_cheap(point);
}

/* What begins with the record of one exit, where there is no return value yet,
 * is another one behind the return. */
static int check_exits(struct returning *r)
{
	const struct compile_site *sites = r->point->sites;

	for (size_t i = 0; i < r->point->site_count; i++) {
		if (sites[i].flags & TDF_SITE_TAIL_CALL)
			return refuse(r, "it ends with the call of another "
					 "function");
		if (!sites[i].exit || sites[i].stmts != sites[0].stmts)
			return refuse(r, "its exits are not alike");
	}
	return 0;
}

/* Statements that show the frames of functions see the kernel's addresses. */
static int check_stacks(struct returning *r)
{
	const struct tsf *tsf = r->c->tsf;

	for (size_t i = 0; i < tsf->point_count; i++) {
		if ((r->c->lost && r->c->lost[i]) ||
		    !compile_has_stack(&tsf->points[i]))
			continue;
		if (&tsf->points[i] == r->point->tsf)
			return refuse(r, "STACK would come to the kernel's "
					 "address");
		snprintf(r->text, sizeof(r->text), "the STACK of the "
			 "tracepoint in line %u would come to the kernel's "
			 "address", tsf->points[i].pos.line);
		return 1;
	}
	return 0;
}

static bool leads_away(const struct arch *arch, const struct arch_transfer *t)
{
	return !t->to_memory &&
	       (t->to == arch->stack || (arch->link >= 0 &&
					 t->to == (unsigned int)arch->link));
}

/* Up to the instruction the address to return to is where the stack pointer
 * leads, or in the register for it: there the kernel looks for it. The stack
 * pointer tells it which call it was. */
static size_t find_reach(const struct compilation *c, const struct block *block)
{
	const struct arch *arch = c->module->arch;

	for (size_t i = 0; i < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];
		struct arch_effect effect;

		if (!arch_effect_find(arch, insn->bytes, insn->insn.length,
				      insn->address, &effect) ||
		    !effect.known || insn->insn.flow == ARCH_FLOW_CALL)
			return i + 1;
		for (uint8_t j = 0; j < effect.count; j++)
			if (leads_away(arch, &effect.transfers[j]))
				return i + 1;
	}
	return block->count;
}

/* Every call comes to the instructions that it begins with: the first one that
 * is cheap. */
static int place_probe(struct returning *r, const struct block *block)
{
	const struct block_insn *best = NULL;
	struct compile_site *site = &r->site;
	size_t available, reach = find_reach(r->c, block);

	for (size_t i = 0; i < reach && !best; i++)
		if (choose_is_cheap(r->c, &block->insns[i].insn))
			best = &block->insns[i];
	if (!best)
		return refuse(r, "no instruction that it begins with is cheap");
	*site = r->point->sites[0];
	site->address = best->address;
	site->cost = best->insn.cost;
	site->flags = TDF_SITE_RETURN;
	site->result_rpn = NULL;
	site->insn_length = best->insn.length;
	memset(site->insn, 0, sizeof(site->insn));
	memcpy(site->insn, best->bytes, best->insn.length);
	module_code(r->c->module, site->address, &available, &site->offset);
	return 0;
}

static bool has_exits(const struct flow *flow,
		      const struct compile_point *point)
{
	for (size_t i = 0; i < point->site_count; i++)
		if (point->sites[i].entry != point->sites[0].entry ||
		    !flow_part_find(flow, point->sites[i].exit))
			return false;
	return true;
}

static int find_entry(struct returning *r)
{
	const struct flow *flow;
	struct block block;
	uint64_t entry;
	int code = site_flow_find(r->c, r->point->sites[0].entry, &flow,
				  &entry);

	if (!code && (entry != r->point->sites[0].entry ||
		      !has_exits(flow, r->point)))
		code = -ENOENT;
	if (!code)
		code = site_block_find(r->c, entry, &block);
	if (code)
		return code == -ENOENT ?
		       refuse(r, "not all of its code is known") : code;
	if (block.at || !block.entry)
		code = refuse(r, "it jumps to where it is entered");
	else
		code = place_probe(r, &block);
	r->site.entry = entry;
	block_free(&block);
	return code;
}

static bool same_rpn(const struct bytes *a, uint32_t a_at, uint32_t a_length,
		     const struct bytes *b, uint32_t b_at, uint32_t b_length)
{
	return a_length == b_length &&
	       (!a_length || !memcmp(a->data + a_at, b->data + b_at, a_length));
}

/* The same in the record, and read in the same way. */
static bool same_stmt(const struct tdf_stmt *a, const struct bytes *a_rpn,
		      const struct tdf_stmt *b, const struct bytes *b_rpn)
{
	return a->kind == b->kind && a->flags == b->flags &&
	       a->reg == b->reg && a->reg_bytes == b->reg_bytes &&
	       a->length == b->length && a->len_bytes == b->len_bytes &&
	       same_rpn(a_rpn, a->rpn, a->rpn_length, b_rpn, b->rpn,
			b->rpn_length) &&
	       same_rpn(a_rpn, a->len_rpn, a->len_rpn_length, b_rpn,
			b->len_rpn, b->len_rpn_length);
}

static int take_moved(struct returning *r, struct move *move,
		      const struct tdf_stmt *in, struct tdf_stmt *out,
		      struct bytes *rpn)
{
	int code = move_stmt(move, in, r->c->rpn.data, out, rpn, r->text);

	return rpn->failed ? -ENOMEM : code;
}

/* An exit, with the code around it. */
struct leaving {
	const struct compile_site *site;
	struct block block;
	struct move *move;	/* from the nominal address to behind it */
	struct move *late;	/* ... from the exit itself */
	uint32_t plain;		/* first of the statements in which the result
				 * is what its register has at the exit */
};

static bool reads_result(const struct leaving *exit, const struct bytes *rpn,
			 uint32_t at, uint32_t length)
{
	struct rpn_op op;

	for (size_t i = 0; i < length; i = op.next) {
		if (rpn_decode(rpn->data + at, length, i, &op) ||
		    op.operand == RPN_ENTRY || op.code == RPN_bregx ||
		    (op.code >= RPN_breg && op.code <= RPN_breg_last &&
		     op.index != exit->site->result))
			return false;
	}
	return true;
}

/* Of all registers it has but the one with the result. */
static bool is_of_result(const struct returning *r, const struct leaving *exit,
			 const struct tdf_stmt *stmt)
{
	const struct bytes *rpn = &r->c->rpn;

	if (stmt->kind == TDF_STMT_REG)
		return stmt->reg == exit->site->result;
	return reads_result(exit, rpn, stmt->rpn, stmt->rpn_length) &&
	       reads_result(exit, rpn, stmt->len_rpn, stmt->len_rpn_length);
}

/*
 * Where an instruction behind the nominal address sets the result, each exit
 * has an expression of its own for it; behind the return it is in its register
 * whatever the exit.
 */
static int move_one(struct returning *r, struct leaving *exit, uint32_t index,
		    struct tdf_stmt *out, struct bytes *rpn)
{
	const struct bytes *all = &r->c->rpn;
	const struct tdf_stmt *in = r->c->stmts + exit->site->first_stmt +
				    index;
	const struct tdf_stmt *plain = r->c->stmts + exit->plain + index;

	if (!exit->late || same_stmt(in, all, plain, all))
		return take_moved(r, exit->move, in, out, rpn);
	if (!is_of_result(r, exit, plain))
		return refuse(r, "a value is made of the result and others");
	return take_moved(r, exit->late, plain, out, rpn);
}

static int move_stmts(struct returning *r, struct leaving *exit,
		      struct tdf_stmt *stmts, struct bytes *rpn)
{
	int code = 0;

	for (uint32_t i = 0; i < exit->site->stmts && !code; i++)
		code = move_one(r, exit, i, &stmts[i], rpn);
	return code;
}

/* Nothing is written between the nominal address and the exit: what the result
 * leads to is the same at both. */
static bool writes_nothing(const struct returning *r,
			   const struct block *block)
{
	for (size_t i = block->at; i + 1 < block->count; i++) {
		const struct block_insn *insn = &block->insns[i];
		struct arch_effect effect;

		if (!arch_effect_find(r->c->module->arch, insn->bytes,
				      insn->insn.length, insn->address,
				      &effect) ||
		    !effect.known || effect.write_count)
			return false;
	}
	return true;
}

/* The statements once more, the result being what its register has. */
static int compile_plain(struct returning *r, struct leaving *exit)
{
	struct compile_site plain = *exit->site;
	struct compilation *c = r->c;
	int code;

	exit->plain = c->stmt_count;
	plain.result_rpn = NULL;
	c->current = r->point;
	c->quiet = true;
	code = compile_site_stmts(c, r->point->tsf, r->point, &plain);
	c->current = NULL;
	c->quiet = false;
	if (code < 0)
		return -ENOMEM;
	return code || plain.stmts != exit->site->stmts ?
		refuse(r, "its exits are not alike") : 0;
}

static int begin_late(struct returning *r, struct leaving *exit)
{
	const struct block *block = &exit->block;
	struct compilation *c = r->c;

	if (!exit->site->result_rpn)
		return 0;
	if (!writes_nothing(r, block))
		return refuse(r, "memory is written behind an exit");
	exit->late = move_begin(block, c->module, c->dwarf, MOVE_FAST,
				block->count - 1, block->count, r->text);
	if (!exit->late)
		return *r->text ? 1 : -ENOMEM;
	return compile_plain(r, exit);
}

static int begin_move(struct returning *r, struct leaving *exit)
{
	const struct block *block = &exit->block;
	struct compilation *c = r->c;

	if (block->insns[block->count - 1].address != exit->site->exit)
		return refuse(r, "an exit isn't known");
	exit->move = move_begin(block, c->module, c->dwarf, MOVE_FAST,
				block->at, block->count, r->text);
	if (!exit->move)
		return *r->text ? 1 : -ENOMEM;
	return begin_late(r, exit);
}

/* What the exit logs as it is to be had behind its return. */
static int move_exit(struct returning *r, const struct compile_site *site,
		     struct tdf_stmt *stmts, struct bytes *rpn)
{
	size_t count = r->c->stmt_count, size = r->c->rpn.size;
	struct leaving exit = { .site = site };
	int code = site_block_find(r->c, site->nominal, &exit.block);

	if (code)
		return code == -ENOENT ? refuse(r, "an exit isn't known") : code;
	code = begin_move(r, &exit);
	if (!code)
		code = move_stmts(r, &exit, stmts, rpn);
	if (exit.move)
		move_end(exit.move);
	if (exit.late)
		move_end(exit.late);
	block_free(&exit.block);
	r->c->stmt_count = count;
	r->c->rpn.size = size;
	return code;
}

/* Behind the return nothing tells which exit it was. */
static int move_exits(struct returning *r)
{
	const struct compile_site *sites = r->point->sites;
	int code = move_exit(r, &sites[0], r->stmts, &r->rpn);

	for (size_t i = 1; i < r->point->site_count && !code; i++) {
		r->others_rpn.size = 0;
		code = move_exit(r, &sites[i], r->others, &r->others_rpn);
		for (uint32_t j = 0; j < sites[0].stmts && !code; j++)
			if (!same_stmt(&r->stmts[j], &r->rpn, &r->others[j],
				       &r->others_rpn))
				code = refuse(r, "a value is elsewhere at "
						 "another exit");
	}
	return code;
}

static int check_safe(struct returning *r)
{
	const struct flow *flow;
	uint64_t entry;
	int code = site_flow_find(r->c, r->site.entry, &flow, &entry);

	if (!code)
		code = choose_return_safe(r->c, entry, flow, &r->why);
	return code ? code : r->why != NULL;
}

static int take_symbol(struct returning *r)
{
	const struct module_symbol *symbol =
		symbol_index_find(&r->c->sites->symbols, r->site.address);

	r->site.symbol = symbol ? site_text(r->c, r->point->tsf, symbol->name,
					    symbol->name_length) : "";
	r->site.symbol_offset = symbol ? r->site.address - symbol->address : 0;
	return r->site.symbol ? 0 : -ENOMEM;
}

static uint32_t take_rpn(struct returning *r, uint32_t at, uint32_t length)
{
	uint32_t start = r->c->rpn.size;

	bytes_add(&r->c->rpn, r->rpn.data + at, length);
	return length ? start : 0;
}

/* The return probe in the place of the exits. */
static int take(struct returning *r, size_t stmts, size_t rpn)
{
	struct compilation *c = r->c;
	struct compile_point *point = r->point;
	char source[sizeof(*c->sources)];

	if (take_symbol(r) || site_remember(c, point))
		return -ENOMEM;
	r->site.first_stmt = stmts;
	c->stmt_count = stmts;
	c->rpn.size = rpn;
	for (uint32_t i = 0; i < r->site.stmts; i++) {
		struct tdf_stmt *out;

		memcpy(source, c->sources[stmts + i], sizeof(source));
		out = compile_stmt_add(c, point->tsf->pos, source);
		if (!out)
			return -ENOMEM;
		*out = r->stmts[i];
		out->rpn = take_rpn(r, out->rpn, out->rpn_length);
		out->len_rpn = take_rpn(r, out->len_rpn, out->len_rpn_length);
	}
	point->sites[0] = r->site;
	point->site_count = 1;
	return c->rpn.failed ? -ENOMEM : 0;
}

/* 0: a return probe has the same values, and nothing is seen that it would
 * harm; 1: why not; -ENOMEM. */
static int consider(struct returning *r)
{
	size_t count = r->point->sites[0].stmts + 1;
	int code = check_exits(r);

	if (!code)
		code = check_stacks(r);
	if (code)
		return code;
	r->stmts = calloc(count, sizeof(*r->stmts));
	r->others = calloc(count, sizeof(*r->others));
	if (!r->stmts || !r->others)
		return -ENOMEM;
	code = find_entry(r);
	if (!code)
		code = move_exits(r);
	return code ? code : check_safe(r);
}

int choose_return(struct compilation *c, struct compile_point *point,
		  size_t stmts, size_t rpn)
{
	struct returning r = { .c = c, .point = point };
	int code;

	if (!is_asked(c, point))
		return 0;
	code = consider(&r);
	if (!code)
		code = c->mode == MOVE_FAST ? take(&r, stmts, rpn) :
		       refuse(&r, "--site=fast takes one, as RETEP=CALLER "
			      "does: a hit is cheap, but a program that "
			      "unwinds, walks or switches its stack may crash");
	if (code == 1) {
		point->no_return = strdup(r.why ? r.why : r.text);
		code = point->no_return ? 0 : -ENOMEM;
	}
	free(r.stmts);
	free(r.others);
	bytes_free(&r.rpn);
	bytes_free(&r.others_rpn);
	if (!code)
		return 0;
	return diag_no_memory(c->diag, point->tsf->pos);
}
