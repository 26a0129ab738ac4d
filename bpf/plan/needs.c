// SPDX-License-Identifier: GPL-2.0
/* What a site's statements use and need, found before anything is planned. */
#include "needs.h"

#include "lib/formats/rpn.h"
#include "processor.h"

static unsigned int register_uses(uint16_t machine, uint64_t number)
{
	struct arch_thread thread;

	if (!arch_thread_find(NULL, machine, number, &thread))
		return 0;
	return RPN_USES_BASE | (thread.stale ? RPN_USES_STALE : 0) |
	       (thread.late ? RPN_USES_LATE : 0);
}

static unsigned int op_uses(uint16_t machine, const struct rpn_op *op)
{
	unsigned int uses = rpn_is_deref(op) ? RPN_USES_MEMORY : 0;

	switch (op->code) {
	case RPN_addr:
		return RPN_USES_ADDR;
	case RPN_xderef: case RPN_xderef_size:
		return uses | RPN_USES_XDEREF;
	case RPN_vector:
		return RPN_USES_VECTOR;
	case RPN_bregx:
		return register_uses(machine, op->a);
	case RPN_cputime:
		return uses | RPN_USES_RAISES | RPN_USES_CPUTIME;
	case RPN_div: case RPN_mod: case RPN_tree_next: case RPN_at_entry:
		return uses | RPN_USES_RAISES;
	default:
		return uses;
	}
}

static unsigned int rpn_uses(uint16_t machine, const uint8_t *rpn, size_t size)
{
	unsigned int uses = 0;
	struct rpn_op op = { 0 };

	while (rpn_next(rpn, size, &op))
		uses |= op_uses(machine, &op);
	return uses;
}

unsigned int stmt_uses_find(const struct tdf *tdf, const struct tdf_stmt *stmt,
			    uint16_t machine)
{
	unsigned int uses = rpn_uses(machine, tdf->rpn + stmt->rpn,
				     stmt->rpn_length);

	if (stmt->flags & (TDF_STMT_SEGMENT | TDF_STMT_LEN_SEGMENT))
		uses |= RPN_USES_XDEREF;
	if (stmt->flags & TDF_STMT_LEN)
		uses |= rpn_uses(machine, tdf->rpn + stmt->len_rpn,
				 stmt->len_rpn_length);
	return uses;
}

unsigned int site_uses_find(const struct tdf *tdf, const struct tdf_site *site,
			    uint16_t machine)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;
	unsigned int uses = 0;

	for (__u32 i = 0; i < site->stmts; i++, stmt++)
		uses |= stmt_uses_find(tdf, stmt, machine);
	return uses;
}

bool point_has_cputime(const struct tdf *tdf, const struct tdf_point *point)
{
	for (__u32 i = 0; i < point->sites; i++)
		if (site_uses_find(tdf, &tdf->sites[point->first_site + i], 0) &
		    RPN_USES_CPUTIME)
			return true;
	return false;
}

static bool stmt_is_by_stack(const struct tdf_stmt *stmt)
{
	return stmt->kind == TDF_STMT_BY && stmt->reg == TDF_BY_STACK;
}

static bool stmt_is_stack(const struct tdf_stmt *stmt)
{
	return stmt->kind == TDF_STMT_STACK || stmt_is_by_stack(stmt);
}

static bool stmt_reads(const struct tdf *tdf, const struct tdf_stmt *stmt)
{
	if (stmt_is_stack(stmt))
		return false;
	return stmt->kind == TDF_STMT_MEM || stmt->kind == TDF_STMT_ASCIIZ ||
	       (stmt->kind == TDF_STMT_BY && stmt->reg == TDF_BY_TEXT) ||
	       rpn_uses(0, tdf->rpn + stmt->rpn, stmt->rpn_length) &
	       RPN_USES_MEMORY;
}

bool site_reads(const struct tdf *tdf, const struct tdf_site *site)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;

	for (__u32 i = 0; i < site->stmts; i++, stmt++)
		if (stmt_reads(tdf, stmt))
			return true;
	return false;
}

/* They are after everything else. */
static bool site_aggregates(const struct tdf *tdf, const struct tdf_site *site)
{
	return site->stmts && tdf->stmts[site->first_stmt + site->stmts - 1]
				      .kind == TDF_STMT_AGGREGATE;
}

static bool site_has(const struct tdf *tdf, const struct tdf_site *site,
		     bool (*is_one)(const struct tdf_stmt *stmt))
{
	for (__u32 i = 0; i < site->stmts; i++)
		if (is_one(&tdf->stmts[site->first_stmt + i]))
			return true;
	return false;
}

static uint32_t site_depth(const struct tdf *tdf, const struct tdf_site *site)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;
	uint32_t depth = 0;

	for (__u32 i = 0; i < site->stmts; i++, stmt++)
		if (stmt->kind == TDF_STMT_STACK && stmt->length > depth)
			depth = stmt->length;
	return depth;
}

struct body_needs body_needs_find(const struct tdf *tdf,
				  const struct tdf_point *point,
				  const struct tdf_site *site)
{
	const struct tdf_module *module = &tdf->modules[point->module];
	unsigned int uses = site_uses_find(tdf, site, module->machine);
	bool user = module->kind == TDF_MODULE_USER;
	bool returned = site->flags & TDF_SITE_RETURN && user;

	return (struct body_needs){
		.aggregates = site_aggregates(tdf, site),
		.limits = point->maxhits || point->passcount,
		.func_ip = returned,
		.layout = returned || (!user && site_reads(tdf, site)) ||
			  uses & (RPN_USES_BASE | RPN_USES_XDEREF |
				  RPN_USES_CPUTIME) ||
			  point->flags & (TDF_POINT_CALL | TDF_POINT_RELEASE),
		.segments = uses & (RPN_USES_STALE | RPN_USES_LATE) && user,
		.vectors = uses & RPN_USES_VECTOR && user,
		.stack = user && site_has(tdf, site, stmt_is_stack),
		.depth = site_depth(tdf, site),
		.by_stack = site_has(tdf, site, stmt_is_by_stack),
		.direct = user && (site_reads(tdf, site) ||
				   site_has(tdf, site, stmt_is_stack)) &&
			  !(point->flags &
			  (TDF_POINT_CALL | TDF_POINT_RELEASE)),
		.cputime = uses & RPN_USES_CPUTIME,
	};
}
