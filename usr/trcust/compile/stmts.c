// SPDX-License-Identifier: GPL-2.0
#include "stmts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "data.h"
#include "emit.h"
#include "variable.h"

/* Bytes of the registers and prefixes, which are in every record: beside them
 * there must be room for a failing pointer. */
#define FIXED_MAX	(RAS_RECORD_MAX - RAS_RECORD_HEADER - 16)

bool stmts_have_stack(const struct tsf_point *point)
{
	for (size_t i = 0; i < point->stmt_count && !point->discarded; i++)
		if (point->stmts[i].kind == TSF_STACK)
			return true;
	return false;
}

static int check_room(const struct compilation *c, const struct compiled *out,
		      const struct tsf_stmt *stmt,
		      const struct compile_site *site)
{
	uint32_t count = out->stmt_count - site->first_stmt, fixed = 0;
	char limit[64];

	for (uint32_t i = site->first_stmt; i < out->stmt_count; i++) {
		const struct tdf_stmt *s = &out->stmts[i];

		if (s->kind == TDF_STMT_REG)
			fixed += s->reg_bytes;
		else if (s->flags & TDF_STMT_RAW)
			fixed += s->length;
		else if (s->kind != TDF_STMT_IF && !(s->flags & TDF_STMT_MORE))
			fixed += RAS_ITEM_PREFIX;
	}
	if (count <= TDF_STMTS_MAX && fixed <= FIXED_MAX)
		return 0;
	if (count > TDF_STMTS_MAX)
		snprintf(limit, sizeof(limit),
			 "%d registers and data statements", TDF_STMTS_MAX);
	else
		snprintf(limit, sizeof(limit),
			 "%d bytes of registers and prefixes", FIXED_MAX);
	diag_report(c->diag, stmt->kind == TSF_REGS ? stmt->reg.pos : stmt->pos,
		    TRCERR_TPRTOOBIG, limit);
	return 1;
}

/* The next statement at a site; the first site determines what is logged. */
static int compile_stmt(const struct compilation *c, struct compiled *out,
			const struct compile_site *site,
			const struct tsf_stmt *in, struct compile_point *point)
{
	struct compile_item item = { .tsf = in, .ctype = CTYPE_NONE };
	struct compile_item *first = &point->items[in - point->tsf->stmts];
	const struct site_stmt s = {
		.c = c, .out = out, .site = site, .in = in, .item = &item,
	};
	int code = in->kind == TSF_VAR ? variable_compile(&s) :
					 data_compile(&s);

	if (site == point->sites) {
		free(first->label);	/* of a site that was left out */
		*first = item;
		return code;
	}
	if (!code && (first->kind != item.kind || first->raw != item.raw ||
		      first->variable != item.variable ||
		      first->bytes != item.bytes)) {
		diag_report(c->diag, in->pos, TRCERR_LAYOUT, item.label);
		diag_hint(c->diag, "it has another type or size at %#" PRIx64,
			  site->nominal);
		code = 1;
	}
	free(item.label);
	return code;
}

/* All statements are compiled, so that all their errors are reported. */
int stmts_compile_site(const struct compilation *c, struct compiled *out,
		       struct compile_point *point, struct compile_site *site)
{
	const struct tsf_point *tsf = point->tsf;
	const struct site_stmt s = { .c = c, .out = out, .site = site };
	int code = 0;

	site->point = point;
	site->first_stmt = out->stmt_count;
	if (tsf->condition)
		code = condition_compile(&s, tsf->condition);
	for (size_t i = 0; i < tsf->stmt_count && code >= 0 &&
			   code != COMPILE_LEAVE_OUT; i++) {
		int more = compile_stmt(c, out, site, &tsf->stmts[i], point);

		if (!code || more < 0)
			code = more;
		if (!code)
			code = check_room(c, out, &tsf->stmts[i], site);
	}
	site->stmts = out->stmt_count - site->first_stmt;
	return code;
}

/* Each statement of a site begins an item, but for IF and further pieces. */
static bool begins_item(const struct tdf_stmt *stmt)
{
	return stmt->kind != TDF_STMT_IF && !(stmt->flags & TDF_STMT_MORE);
}

/* The statement of the site that begins the item. */
static uint32_t item_stmt(const struct compiled *out,
			  const struct compile_site *site, size_t item)
{
	uint32_t stmt = site->first_stmt;

	while (!begins_item(&out->stmts[stmt]) || item--)
		stmt++;
	return stmt;
}

/* Is every item available at one of the sites at least? */
static int check_absent(const struct compilation *c, const struct compiled *out,
			const struct compile_point *point)
{
	int code = 0;

	for (size_t i = 0; i < point->item_count; i++) {
		const struct tsf_stmt *tsf = point->items[i].tsf;
		size_t site = 0;

		while (site < point->site_count &&
		       out->stmts[item_stmt(out, &point->sites[site], i)].kind
			       == TDF_STMT_ABSENT)
			site++;
		if (site < point->site_count)
			continue;
		diag_report(c->diag, tsf->kind == TSF_VAR ? tsf->pos :
							    tsf->address.pos,
			    TRCERR_BADADDRESS);
		diag_hint(c->diag, "'%s' at none of %zu sites: %s",
			  point->items[i].label, point->site_count,
			  out->sources[item_stmt(out, point->sites, i)]);
		code = 1;
	}
	return code;
}

int stmts_compile(const struct compilation *c, struct compiled *out,
		  struct compile_point *point)
{
	bool alone = point->site_count == 1;

	point->items = calloc(point->tsf->stmt_count + 1,
			      sizeof(*point->items));
	if (!point->items)
		return diag_no_memory(c->diag, point->tsf->pos);
	point->item_count = point->tsf->stmt_count;
	for (size_t i = 0; i < point->site_count;) {
		struct compile_site *site = &point->sites[i];
		size_t rpn = out->rpn.size;
		int code;

		site->alone = alone;
		site->repeated = i > 0;
		code = stmts_compile_site(c, out, point, site);
		if (code && code != COMPILE_LEAVE_OUT)
			return code;
		if (!code) {
			i++;
			continue;
		}
		out->stmt_count = site->first_stmt;
		out->rpn.size = rpn;
		point->site_count--;
		memmove(site, site + 1,
			(point->site_count - i) * sizeof(*site));
	}
	return check_absent(c, out, point);
}
