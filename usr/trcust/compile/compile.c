// SPDX-License-Identifier: GPL-2.0
#include "compile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "lib/formats/rpn.h"
#include "lib/guard.h"
#include "choose.h"
#include "choose_return.h"
#include "format_check.h"
#include "format_default.h"

/* Bytes of the registers and prefixes, which are in every record: beside them
 * there must be room for a failing pointer. */
#define FIXED_MAX	(RAS_RECORD_MAX - RAS_RECORD_HEADER - 16)

void compile_hint_debug(struct compilation *c)
{
	const char *why = dwarf_refusal(c->module, c->dwarf);

	if (why)
		diag_hint(c->diag, "%s", why);
	else if (!c->dwarf && c->module->elf)
		diag_hint(c->diag, "no debug information was found: --debug "
				   "FILE names it");
}

void compile_hint_imported(struct compilation *c)
{
	char text[256];

	module_libraries(c->module, text, sizeof(text));
	diag_hint(c->diag, text[0] ? "the module only uses it, it is defined "
			   "in another one; this one loads %s" :
			   "the module only uses it, it is defined in another "
			   "one%s", text);
}

struct tdf_stmt *compile_stmt_add(struct compilation *c, struct srcpos pos,
				  const char *source)
{
	struct tdf_stmt *stmt;

	if (c->stmt_count == c->stmt_room) {
		size_t room = c->stmt_room ? c->stmt_room * 2 : 256;
		void *stmts = realloc(c->stmts, room * sizeof(*c->stmts));
		void *sources = stmts ? realloc(c->sources,
						room * sizeof(*c->sources)) :
					NULL;

		c->stmts = stmts ? stmts : c->stmts;
		c->sources = sources ? sources : c->sources;
		if (!sources) {
			diag_no_memory(c->diag, pos);
			return NULL;
		}
		c->stmt_room = room;
	}
	snprintf(c->sources[c->stmt_count], sizeof(*c->sources), "%s", source);
	stmt = &c->stmts[c->stmt_count++];
	memset(stmt, 0, sizeof(*stmt));
	return stmt;
}

int compile_rpn_end(struct compilation *c, struct srcpos pos, uint32_t start,
		    uint32_t *rpn, uint32_t *rpn_length)
{
	char limit[32];

	*rpn = start;
	*rpn_length = c->rpn.size - start;
	if (c->rpn.failed)
		return diag_no_memory(c->diag, pos);
	if (*rpn_length > TDF_RPN_MAX) {
		snprintf(limit, sizeof(limit), "%d bytes", TDF_RPN_MAX);
		diag_report(c->diag, pos, TRCERR_TPRTOOBIG, limit);
		diag_hint(c->diag, "it takes %u bytes", *rpn_length);
		return 1;
	}
	/* all that can be wrong with what was put together is its depth */
	if (!rpn_check(c->rpn.data + start, *rpn_length, 1, NULL) ||
	    !rpn_check(c->rpn.data + start, *rpn_length, 2, NULL))
		return 0;
	diag_report(c->diag, pos, TRCERR_RPN_OVER);
	return 1;
}

/* Bytes of the registers and prefixes that a site's statements log. */
static uint32_t fixed_bytes(const struct tdf_stmt *stmt)
{
	switch (stmt->kind) {
	case TDF_STMT_REG:
		return stmt->reg_bytes;
	case TDF_STMT_IF:
		return 0;
	default:
		if (stmt->flags & TDF_STMT_RAW)
			return stmt->length;
		return stmt->flags & TDF_STMT_MORE ? 0 : RAS_ITEM_PREFIX;
	}
}

static int check_room(struct compilation *c, const struct tsf_stmt *stmt,
		      const struct compile_site *site)
{
	uint32_t count = c->stmt_count - site->first_stmt, fixed = 0;
	char limit[64];

	for (uint32_t i = site->first_stmt; i < c->stmt_count; i++)
		fixed += fixed_bytes(&c->stmts[i]);
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

static bool same_layout(const struct compile_item *a,
			const struct compile_item *b)
{
	return a->kind == b->kind && a->raw == b->raw &&
	       a->variable == b->variable && a->bytes == b->bytes;
}

static int check_layout(struct compilation *c, const struct compile_site *site,
			const struct compile_item *first,
			const struct compile_item *item)
{
	if (same_layout(first, item))
		return 0;
	diag_report(c->diag, item->tsf->pos, TRCERR_LAYOUT, item->label);
	diag_hint(c->diag, "it has another type or size at %#" PRIx64,
		  site->nominal);
	return 1;
}

/* The next statement at a site; the first site says what it logs. */
static int compile_stmt(struct compilation *c, const struct compile_site *site,
			const struct tsf_stmt *in, struct compile_point *out)
{
	struct compile_item item = { .tsf = in, .ctype = CTYPE_NONE };
	struct compile_item *first = &out->items[in - out->tsf->stmts];
	int code = in->kind == TSF_VAR ?
			   variable_compile(c, site, in, &item) :
			   data_compile(c, site, in, &item);

	if (site == out->sites) {
		free(first->label);	/* of a site that was left out */
		*first = item;
		return code;
	}
	if (!code)
		code = check_layout(c, site, first, &item);
	free(item.label);
	return code;
}

/* All statements are looked at, so that all their errors are told. */
int compile_site_stmts(struct compilation *c, const struct tsf_point *point,
		       struct compile_point *out, struct compile_site *site)
{
	int code = 0;

	site->first_stmt = c->stmt_count;
	if (point->condition)
		code = condition_compile(c, site, point);
	for (size_t i = 0; i < point->stmt_count && code >= 0 &&
			   code != COMPILE_LEAVE_OUT; i++) {
		int more = compile_stmt(c, site, &point->stmts[i], out);

		if (!code || more < 0)
			code = more;
		if (!code)
			code = check_room(c, &point->stmts[i], site);
	}
	site->stmts = c->stmt_count - site->first_stmt;
	return code;
}

static void leave_out(struct compilation *c, struct compile_point *out,
		      struct compile_site *site, size_t rpn)
{
	c->stmt_count = site->first_stmt;
	c->rpn.size = rpn;
	memmove(site, site + 1, (out->sites + out->site_count - (site + 1)) *
				sizeof(*site));
	out->site_count--;
}

static int compile_sites(struct compilation *c, const struct tsf_point *point,
			 struct compile_point *out)
{
	bool alone = out->site_count == 1;
	int code = 0;

	c->current = out;
	for (size_t i = 0; i < out->site_count && !code;) {
		struct compile_site *site = &out->sites[i];
		size_t rpn = c->rpn.size;

		site->alone = alone;
		c->quiet = i > 0;
		code = compile_site_stmts(c, point, out, site);
		if (code != COMPILE_LEAVE_OUT) {
			i++;
			continue;
		}
		leave_out(c, out, site, rpn);
		code = 0;
	}
	c->current = NULL;
	c->quiet = false;
	return code;
}

static int compile_stmts(struct compilation *c, const struct tsf_point *point,
			 struct compile_point *out)
{
	int code;

	out->items = calloc(point->stmt_count + 1, sizeof(*out->items));
	if (!out->items)
		return diag_no_memory(c->diag, point->pos);
	out->item_count = point->stmt_count;
	code = compile_sites(c, point, out);
	return code ? code : data_check_absent(c, out);
}

static void compile_point_free(struct compile_point *point)
{
	for (size_t i = 0; i < point->item_count; i++)
		free(point->items[i].label);
	for (size_t i = 0; i < point->site_count; i++)
		free(point->sites[i].stays);
	free(point->items);
	free(point->sites);
	free(point->fmt);
	free(point->no_return);
}

/* What is known only now: variables by their types. */
static bool is_sized_late(const struct compile_item *item)
{
	return item->tsf->kind == TSF_VAR ||
	       (item->tsf->kind == TSF_REGS && item->tsf->reg_is_variable);
}

/* The parser has warned of what the TSF says in numbers. */
static void check_maxdata(struct compilation *c,
			  const struct compile_point *point)
{
	const struct compile_item *exceeding = NULL;
	uint32_t all = 0, early = 0;

	for (size_t i = 0; i < point->item_count; i++) {
		const struct compile_item *item = &point->items[i];
		uint32_t bytes = item->bytes +
				 (item->raw ? 0 : RAS_ITEM_PREFIX);

		all += bytes;
		early += is_sized_late(item) ? 0 : bytes;
		if (all > c->tsf->maxdata && !exceeding)
			exceeding = item;
	}
	if (!exceeding || early > c->tsf->maxdata)
		return;
	diag_report(c->diag, exceeding->tsf->pos, TRCERR_MAXLEN_EXCEED);
	diag_hint(c->diag, "up to %u bytes, of which %u are recorded", all,
		  c->tsf->maxdata);
}

static int compile_format(struct compilation *c, struct compile_point *point)
{
	if (point->tsf->fmt_count) {
		format_check(c, point);
		return 0;
	}
	if (!point->item_count)
		return 0;
	point->fmt = format_default(c, point);
	if (point->fmt)
		return 0;
	return diag_no_memory(c->diag, point->tsf->pos);
}

static int compile_dynamic(struct compilation *c, const struct tsf_point *in,
			   struct compile_point *out)
{
	size_t stmts = c->stmt_count, rpn = c->rpn.size;
	int code = site_resolve(c, in, out);

	if (!code)
		code = compile_stmts(c, in, out);
	if (!code)
		code = choose_return(c, out, stmts, rpn);
	if (!code) {
		check_maxdata(c, out);
		code = compile_format(c, out);
	}
	if (!code && (site_remember(c, out) ||
		      !data_hash(c, out, &out->hash))) {
		diag_no_memory(c->diag, in->pos);
		code = -1;
	}
	if (code) {
		c->stmt_count = stmts;
		c->rpn.size = rpn;
		compile_point_free(out);
		return code;
	}
	c->dynamic_count++;
	return 0;
}

static int compile_minor(struct compilation *c, const struct tsf_point *point)
{
	char text[16];

	if (!c->minor_lines[point->minor])
		return 0;
	snprintf(text, sizeof(text), "%u", point->minor);
	diag_report(c->diag, point->minor_pos, TRCERR_DUP_MINOR, text);
	diag_hint_discarded(c->diag, TRCERR_DUP_MINOR);
	diag_hint(c->diag, "the tracepoint in line %u has it",
		  c->minor_lines[point->minor]);
	return 1;
}

static int compile_point(struct compilation *c, const struct tsf_point *in)
{
	struct compile_point *out = &c->points[c->point_count];
	int code = compile_minor(c, in);

	guard_step();
	memset(out, 0, sizeof(*out));
	out->tsf = in;
	out->is_static = in->tp.kind == TSF_TP_STATIC;
	if (!code && out->is_static)
		format_check(c, out);
	else if (!code)
		code = compile_dynamic(c, in, out);
	if (code)
		return code;
	c->minor_lines[in->minor] = in->pos.line;
	c->point_count++;
	return 0;
}

static int compile_compare(const void *a, const void *b)
{
	const struct compile_point *x = a, *y = b;

	return (int)x->tsf->minor - (int)y->tsf->minor;
}

static int compile_all(struct compilation *c)
{
	int code = 0;

	c->points = calloc(c->tsf->point_count + 1, sizeof(*c->points));
	c->minor_lines = calloc(UINT16_MAX + 1, sizeof(*c->minor_lines));
	if (!c->points || !c->minor_lines) {
		return diag_no_memory(c->diag, (struct srcpos){ 0 });
	}
	for (size_t i = 0; i < c->tsf->point_count && code >= 0; i++)
		if (!c->tsf->points[i].discarded)
			code = compile_point(c, &c->tsf->points[i]);
	if (code < 0 || choose_sites(c))
		return -1;
	qsort(c->points, c->point_count, sizeof(*c->points), compile_compare);
	return 0;
}

bool compile_has_stack(const struct tsf_point *point)
{
	for (size_t i = 0; i < point->stmt_count && !point->discarded; i++)
		if (point->stmts[i].kind == TSF_STACK)
			return true;
	return false;
}

/* What STACK logs bars return probes from all functions: when its tracepoint
 * is discarded it doesn't. */
static bool needs_trial(const struct tsf *tsf)
{
	bool stack = false, returns = false;

	for (size_t i = 0; i < tsf->point_count; i++) {
		stack |= compile_has_stack(&tsf->points[i]);
		returns |= !tsf->points[i].discarded &&
			   tsf->points[i].tp.retep == TSF_RETEP_ANY;
	}
	return stack && returns;
}

/* Compile in silence: which tracepoints will be discarded. 0, or -1: no
 * memory. */
static int find_lost(struct compilation *c)
{
	struct compilation trial = {
		.tsf = c->tsf, .module = c->module, .dwarf = c->dwarf,
		.map = c->map, .mode = c->mode,
	};
	size_t size;
	const char *text = diag_text(c->diag, &size);
	bool exhausted;

	c->lost = calloc(c->tsf->point_count, sizeof(*c->lost));
	if (!c->lost || diag_open_text(&trial.diag, diag_path(c->diag), text,
				       size, 0, NULL))
		return -1;
	compile_all(&trial);
	memset(c->lost, true, c->tsf->point_count * sizeof(*c->lost));
	for (size_t i = 0; i < trial.point_count; i++)
		c->lost[trial.points[i].tsf - c->tsf->points] = false;
	exhausted = diag_exhausted(trial.diag);
	compile_free(&trial);
	diag_close(trial.diag);
	return exhausted ? -1 : 0;
}

int compile_points(struct compilation *c)
{
	if (needs_trial(c->tsf) && find_lost(c)) {
		return diag_no_memory(c->diag, (struct srcpos){ 0 });
	}
	return compile_all(c);
}

void compile_free(struct compilation *c)
{
	site_forget(c);
	for (size_t i = 0; i < c->point_count; i++)
		compile_point_free(&c->points[i]);
	ctypes_free(&c->ctypes);
	free(c->minor_lines);
	free(c->lost);
	free(c->points);
	free(c->stmts);
	free(c->sources);
	bytes_free(&c->rpn);
}
