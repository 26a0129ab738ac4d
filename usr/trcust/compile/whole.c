// SPDX-License-Identifier: GPL-2.0
/*
 * Entry and exit of a call have the canonical frame address in common, which no
 * other call has while it runs: each thread has a stack of its own in the kernel,
 * too, and interrupts have theirs. In Go its stack may be moved meanwhile: goroutine
 * and distance from the end of the stack take its place.
 */
#include "whole.h"

#include <errno.h>
#include <stdio.h>
#include "analysis.h"
#include "evaluate.h"
#include "lib/debug/arch/arch.h"
#include "lib/debug/dwarf/dwarf_go.h"
#include "lib/formats/rpn.h"

int whole_sites_check(const struct compilation *c,
		      const struct compile_point *point)
{
	size_t entries = 0;

	for (size_t i = 0; i < point->site_count; i++)
		entries += whole_is_entry(&point->sites[i]);
	if (!point->tsf->tp.whole ||
	    (entries && entries < point->site_count))
		return 0;
	diag_report(c->diag, point->tsf->tp.pos, TRCERR_BADOPCODE);
	diag_hint(c->diag, "the function %s only at sites that are left out",
		  entries ? "returns" : "begins");
	return 1;
}

static int entry_add(const struct compilation *c, struct compile_point *point,
		     const struct expr *expr)
{
	char limit[32];

	for (size_t i = 0; i < point->entry_count; i++)
		if (point->entries[i] == expr->a)
			return 0;
	if (point->entry_count < TDF_ENTRY_VALUES_MAX) {
		point->entries[point->entry_count++] = expr->a;
		return 0;
	}
	snprintf(limit, sizeof(limit), "%d times entry()",
		 TDF_ENTRY_VALUES_MAX);
	diag_report(c->diag, expr->pos, TRCERR_TPRTOOBIG, limit);
	return 1;
}

/* `e`: of an exit */
static int expr_entries_find(struct evaluation *e, struct compile_point *point,
			     const struct expr *expr)
{
	const struct expr *operands[] = { expr->a, expr->b, expr->c };
	int code = 0;

	if (expr->kind == EXPR_EITHER)
		return expr_entries_find(e, point, evaluate_either(e, expr));
	if (expr->kind == EXPR_ENTRY)
		return entry_add(e->c, point, expr);
	for (int i = 0; i < 3 && !code; i++)
		if (operands[i])
			code = expr_entries_find(e, point, operands[i]);
	return code;
}

static int exit_entries_find(struct evaluation *e, struct compile_point *point)
{
	const struct tsf_point *tsf = point->tsf;
	int code = 0;

	if (tsf->condition)
		code = expr_entries_find(e, point, tsf->condition);
	for (size_t i = 0; i < tsf->stmt_count && !code; i++)
		if (tsf->stmts[i].at_exit)
			code = expr_entries_find(e, point, tsf->stmts[i].expr);
	for (size_t i = 0; i < tsf->by_count && !code; i++)
		if (tsf->by[i].expr)
			code = expr_entries_find(e, point, tsf->by[i].expr);
	for (size_t i = 0; i < tsf->aggregate_count && !code; i++)
		if (tsf->aggregates[i].expr)
			code = expr_entries_find(e, point,
						 tsf->aggregates[i].expr);
	return code;
}

/* What a name means may differ from exit to exit. */
int whole_entries_find(const struct compilation *c,
		       struct compile_point *point)
{
	struct evaluation e;
	int code = 0;

	for (size_t i = 0; i < point->site_count && !code; i++) {
		if (whole_is_entry(&point->sites[i]))
			continue;
		e = evaluation_begin(c, &point->sites[i]);
		code = exit_entries_find(&e, point);
	}
	return code;
}

#define GOROUTINE_BITS	42	/* of the address of a g */
#define STACK_BITS	27	/* of a distance */

static void emit_shift(struct bytes *rpn, uint8_t op, int bits)
{
	rpn_emit_const(rpn, bits);
	rpn_emit_op(rpn, op);
}

/* Both are multiples of 8. What has no room is a fault: the call isn't kept.
 * 0, -ENODATA, -ENOMEM */
static int goroutine_key_emit(const struct site_stmt *s, struct bytes *rpn)
{
	const struct compilation *c = s->c;
	unsigned int g = c->module->arch->go.goroutine;
	uint64_t end;
	int code;

	if (!dwarf_go_stack_end(c->dwarf, &s->site->from, &end))
		return -ENODATA;
	rpn_emit_register(rpn, g, 0);
	rpn_emit_register(rpn, g, end);
	rpn_emit_op(rpn, RPN_deref);
	code = dwarf_frame_address_emit(c->dwarf, c->module, s->site->address,
					rpn, NULL);
	if (code)
		return code;
	rpn_emit_op(rpn, RPN_minus);
	/* g, distance: do they have room? */
	rpn_emit_op(rpn, RPN_over);
	emit_shift(rpn, RPN_shr, GOROUTINE_BITS);
	rpn_emit_op(rpn, RPN_over);
	emit_shift(rpn, RPN_shr, STACK_BITS);
	rpn_emit_op(rpn, RPN_or);
	emit_shift(rpn, RPN_eq, 0);
	rpn_emit_op(rpn, RPN_rot);
	/* that, g, distance */
	emit_shift(rpn, RPN_shr, 3);
	rpn_emit_op(rpn, RPN_swap);
	emit_shift(rpn, RPN_shr, 3);
	emit_shift(rpn, RPN_shl, STACK_BITS - 3);
	rpn_emit_op(rpn, RPN_plus);
	rpn_emit_const(rpn, (int64_t)TDF_KEY_GOROUTINE);
	rpn_emit_op(rpn, RPN_or);
	rpn_emit_op(rpn, RPN_swap);
	rpn_emit_op(rpn, RPN_div);
	return 0;
}

/* Where a function begins, and where it leaves, the return address is on top of the
 * stack. */
static bool frame_is_bare(const struct compile_site *site)
{
	return !site->symbol_offset || site->address == site->entry ||
	       site->address == site->exit;
}

static int whole_key_compile(const struct site_stmt *s, struct srcpos pos)
{
	const struct compilation *c = s->c;
	const struct compile_site *site = s->site;
	const struct arch *arch = c->module->arch;
	struct bytes rpn = {0};
	struct error err = {0};
	int code = 0;

	if (analysis_runtime(c) & RUNTIME_GO)
		code = goroutine_key_emit(s, &rpn);
	else if (site->flags & TDF_SITE_RETURN)
		rpn_emit_register(&rpn, arch->stack, 0);
	else if (c->module->elf)
		code = dwarf_frame_address_emit(c->dwarf, c->module,
						site->address, &rpn, &err);
	else
		code = -ENODATA;
	if (code && code != -ENOMEM) {
		code = 0;
		rpn.size = 0;
		if (frame_is_bare(site) &&
		    !(analysis_runtime(c) & RUNTIME_GO))
			rpn_emit_register(&rpn, arch->stack, arch->call_bytes);
	}
	if (code || rpn.failed)
		code = diag_no_memory(c->diag, pos);
	else if (!rpn.size)
		code = message_absent(c, site, pos, "CALL", "the module has no "
				      "description of the frame", NULL);
	else
		code = emit_value(s, pos, "the frame", TDF_STMT_KEY, 0, 0,
				  &rpn);
	bytes_free(&rpn);
	return code;
}

/* As 8 bytes without a prefix */
static int entry_value_compile(const struct site_stmt *s,
			       const struct expr *expr)
{
	struct evaluation e = evaluation_begin(s->c, s->site);
	struct bytes rpn = {0};
	struct value value;
	int code;

	if (!evaluate(&e, expr, &value) ||
	    !value_load(&e, expr->pos, "entry", &value)) {
		code = e.code;
	} else if (e.absent) {
		code = message_absent(s->c, s->site, expr->pos, "entry",
				      e.absent_why, NULL);
	} else {
		value_push(&value, &rpn);
		code = emit_value(s, expr->pos, value.where, TDF_STMT_VALUE,
				  TDF_STMT_RAW, 8, &rpn);
	}
	bytes_free(&rpn);
	value_free(&value);
	return code;
}

int whole_site_begin(const struct site_stmt *s,
		     const struct compile_point *point)
{
	int code;

	if (!point->tsf->tp.whole)
		return 0;
	code = whole_key_compile(s, point->tsf->tp.pos);
	if (!whole_is_entry(s->site))
		return code;
	for (size_t i = 0; i < point->entry_count && !code; i++)
		code = entry_value_compile(s, point->entries[i]);
	return code;
}
