// SPDX-License-Identifier: GPL-2.0
/* What a site's statements need, found before anything is generated. */
#include "scan.h"

#include <errno.h>

#include <rastrace/buffer.h>
#include "lib/formats/rpn.h"
#include "lib/formats/tdf.h"
#include "gen.h"

/* Everything that the statements of the site use. */
static unsigned int site_uses(const struct tdf *tdf,
			      const struct tdf_site *site, uint16_t machine)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;
	unsigned int uses = 0;

	for (__u32 i = 0; i < site->stmts; i++, stmt++) {
		uses |= rpn_uses(machine, tdf->rpn + stmt->rpn,
				 stmt->rpn_length);
		if (stmt->flags & (TDF_STMT_SEGMENT | TDF_STMT_LEN_SEGMENT))
			uses |= RPN_USES_XDEREF;
		if (stmt->flags & TDF_STMT_LEN)
			uses |= rpn_uses(machine, tdf->rpn + stmt->len_rpn,
					 stmt->len_rpn_length);
	}
	return uses;
}

/* Does an expression read memory? */
static bool rpn_reads(const uint8_t *rpn, size_t size)
{
	struct rpn_op op = { 0 };

	while (rpn_next(rpn, size, &op))
		if (rpn_is_deref(&op))
			return true;
	return false;
}

/* Does a statement read memory of the program? STACK does, but looks only at
 * what is resident. */
static bool stmt_reads(const struct tdf *tdf, const struct tdf_stmt *stmt)
{
	if (stmt->kind == TDF_STMT_STACK)
		return false;
	return stmt->kind == TDF_STMT_MEM || stmt->kind == TDF_STMT_ASCIIZ ||
	       rpn_reads(tdf->rpn + stmt->rpn, stmt->rpn_length);
}

static bool site_reads(const struct tdf *tdf, const struct tdf_site *site)
{
	const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;

	for (__u32 i = 0; i < site->stmts; i++, stmt++)
		if (stmt_reads(tdf, stmt))
			return true;
	return false;
}

struct body_needs body_needs_find(const struct tdf *tdf,
				  const struct tdf_point *point,
				  const struct tdf_site *site)
{
	const struct tdf_module *module = &tdf->modules[point->module];
	unsigned int uses = site_uses(tdf, site, module->machine);
	bool returned = site->flags & TDF_SITE_RETURN &&
			module->kind == TDF_MODULE_USER;

	return (struct body_needs){
		.limits = point->maxhits || point->passcount,
		.func_ip = returned,
		.layout = returned ||
			  (module->kind != TDF_MODULE_USER &&
			   site_reads(tdf, site)) ||
			  uses & (RPN_USES_BASE | RPN_USES_XDEREF) ||
			  point->flags & (TDF_POINT_CALL | TDF_POINT_RELEASE),
		.segments = uses & (RPN_USES_STALE | RPN_USES_LATE) &&
			    module->kind == TDF_MODULE_USER,
		.vectors = uses & RPN_USES_VECTOR &&
			   module->kind == TDF_MODULE_USER,
	};
}

/* What can't be done here is refused. */
static void scan_uses(struct gen *gen)
{
	const struct body_target *target = gen->target;
	const struct tdf_site *site = gen->site;
	const struct tdf_stmt *stmt = gen->tdf->stmts + site->first_stmt;
	unsigned int uses = site_uses(gen->tdf, site, gen->machine);
	bool reads = site_reads(gen->tdf, site);

	gen->relocated = uses & RPN_USES_ADDR;
	gen->fresh = uses & (RPN_USES_STALE | RPN_USES_LATE) &&
		     target->segments_save && target->context == BODY_UPROBE;
	for (__u32 i = 0; i < site->stmts; i++, stmt++)
		if (stmt->rpn_length)
			gen->faults = true;
	if (reads && target->context == BODY_KPROBE) {
		gen->own = gen->slots;
		gen->slots -= 8;
	}
	kept_scan(gen);
	gen->bring_in = reads && target->bring_in && target->layout &&
			target->layout->vma && target->context != BODY_KPROBE;
	if (gen->relocated && site->flags & TDF_SITE_RETURN &&
	    target->context == BODY_UPROBE && !target->func_ip &&
	    !returned_known(target->layout))
		gen_fail(gen, -EOPNOTSUPP,
			 "static data can't be read at a return probe: this "
			 "kernel doesn't report which function returns");
}

/* Registers, prefixes and what has none are in every record. */
static uint32_t scan_fixed_bytes(const struct gen *gen)
{
	uint32_t i = gen->site->first_stmt, end = i + gen->site->stmts;
	uint32_t bytes, fixed = 0;

	while (i < end) {
		const struct tdf_stmt *stmt = &gen->tdf->stmts[i];

		i = item_end(gen, i, &bytes);
		if (stmt->kind == TDF_STMT_REG)
			fixed += stmt->reg_bytes;
		else if (stmt->flags & TDF_STMT_RAW)
			fixed += bytes;
		else if (stmt->kind == TDF_STMT_STACK)
			fixed += STACK_ITEM_BYTES(0);
		else if (stmt->kind != TDF_STMT_IF)
			fixed += RAS_ITEM_PREFIX;
	}
	return fixed;
}

/* The most that is written after an item's prefix. */
static uint32_t widest_item(const struct gen *gen)
{
	uint32_t i = gen->site->first_stmt, end = i + gen->site->stmts;
	uint32_t bytes, widest = FAULT_BYTES;

	while (i < end) {
		const struct tdf_stmt *stmt = &gen->tdf->stmts[i];
		uint32_t next = item_end(gen, i, &bytes);

		if (stmt->kind == TDF_STMT_STACK)
			bytes = STACK_ITEM_BYTES(stmt->length);
		else if (stmt->kind == TDF_STMT_VALUE || next > i + 1)
			bytes += VALUE_BYTES;
		else
			bytes = (bytes < gen->budget ? bytes : gen->budget) + 2;
		if (bytes > widest)
			widest = bytes;
		i = next;
	}
	return widest;
}

/*
 * MAXDATALENGTH less what is in every record is the budget of the other items.
 * A failing pointer comes on top of it. The sum is the verifier's: an item at
 * the end of the budget, not cut yet.
 */
static void scan_sizes(struct gen *gen)
{
	uint32_t fixed = scan_fixed_bytes(gen),
		 maxdata = gen->tdf->header->maxdata;
	uint32_t most = unwind_possible(gen) ? UNWIND_STATE : RAS_RECORD_MAX;

	if (maxdata > TDF_DATA_MAX)
		maxdata = TDF_DATA_MAX;
	gen->budget = fixed < maxdata ? maxdata - fixed : 0;
	while (gen->spread < gen->budget + (gen->go_on ? FAULT_BYTES : 0))
		gen->spread = 2 * gen->spread + 1;
	if (RAS_RECORD_HEADER + gen->context_most + fixed + gen->spread +
	    RAS_ITEM_PREFIX + widest_item(gen) > most)
		gen_fail(gen, -E2BIG, "the record exceeds %u bytes", most);
}

uint32_t scan_string_bytes(const struct gen *gen, const struct tdf_stmt *stmt)
{
	return (stmt->length < gen->budget ? stmt->length : gen->budget) + 2;
}

uint32_t scan_strings_bytes(const struct gen *gen)
{
	const struct tdf_stmt *stmt = gen->tdf->stmts + gen->site->first_stmt;
	uint32_t most = 0;

	for (__u32 i = 0; i < gen->site->stmts; i++, stmt++)
		if (stmt->kind == TDF_STMT_ASCIIZ &&
		    most < scan_string_bytes(gen, stmt))
			most = scan_string_bytes(gen, stmt);
	return most;
}

bool scan_budget_suffices(const struct gen *gen)
{
	uint32_t i = gen->site->first_stmt, end = i + gen->site->stmts;
	uint32_t bytes, sum = 0;

	while (i < end) {
		const struct tdf_stmt *stmt = &gen->tdf->stmts[i];
		bool sized = item_is_read(gen, i) &&
			     !(stmt->flags & TDF_STMT_RAW);

		i = item_end(gen, i, &bytes);
		if (stmt->kind == TDF_STMT_STACK)
			sum += stmt->length * STACK_FRAME_BYTES;
		if (sized)
			sum += bytes < FAULT_BYTES ? FAULT_BYTES : bytes;
	}
	return sum <= gen->budget;
}

/* Of a context these are written where they are. */
#define NAMES	(RAS_CONTEXT_COMM | RAS_CONTEXT_NAME)

/* Does it need nothing of the frame but what a lean one has? */
static bool scan_lean(const struct gen *gen)
{
	const struct tdf_stmt *stmt = gen->tdf->stmts + gen->site->first_stmt;
	const struct tdf_point *point = gen->point;

	for (__u32 i = 0; i < gen->site->stmts; i++, stmt++) {
		if (stmt->kind == TDF_STMT_STACK ||
		    stmt->flags & (TDF_STMT_LEN | TDF_STMT_SEGMENT |
				   TDF_STMT_LEN_SEGMENT))
			return false;
	}
	return gen->early && !gen->own && !gen->kept_count && !point->maxhits &&
	       !point->passcount && !gen->target->max_rate &&
	       !(gen->target->context_mask & ~NAMES) &&
	       scan_budget_suffices(gen);
}

void scan_site(struct gen *gen)
{
	scan_sizes(gen);
	scan_uses(gen);
	gen->lean = scan_lean(gen);
}
