// SPDX-License-Identifier: GPL-2.0
#include "compile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "analysis.h"
#include "choose.h"
#include "choose_return.h"
#include "format_check.h"
#include "lib/formats/tff.h"
#include "lib/guard.h"
#include "lib/hash.h"
#include "review.h"
#include "site.h"
#include "stmts.h"

/*
 * What a tracepoint logs, as a number: trace data is printed only with the
 * rules of the same number. The hash is that of a text with names
 * as written, numbers are decimal and equal forms are one form, with the size
 * and type of what comes of it; DESC, FMT, comments, conditions, limits, minor
 * codes and addresses are not in it.
 */

static void address_text(struct bytes *text, const struct tsf_address *address)
{
	static const char *const flags[] = {
		[TSF_DIRECT] = "D", [TSF_INDIRECT] = "I",
		[TSF_IS] = "IS", [TSF_IF] = "IF",
	};
	bool symbol = address->form == TSF_ADDRESS_SYMBOL;
	uint64_t sum = 0;

	/* a sum, whatever its order; only a segment register is no part of
	 * it */
	for (size_t i = 0; i < address->register_count; i++) {
		const struct tsf_register *reg = &address->registers[i];
		bool segment = !i && address->form == TSF_ADDRESS_SEGMENT;

		sum += hash_fnv(hash_fnv(HASH_FNV_START, segment ? ":" :
					 reg->minus ? "-" : "+", 1),
				reg->name, strlen(reg->name));
	}
	bytes_print(text, " %s%s%+" PRId64 "%+" PRId64 " %s",
		    symbol ? "." : "", symbol ? address->name : "",
		    (int64_t)sum, address->displacement, flags[address->flag]);
	for (size_t i = 0; i < address->add_count; i++)
		bytes_print(text, "*%+" PRId64, address->add[i]);
}

static void stmt_text(struct bytes *text, const struct tsf_stmt *stmt,
		      const struct compile_item *item)
{
	switch (stmt->kind) {
	case TSF_REGS:
		bytes_print(text, "REGS %s%s", stmt->reg_is_variable ? "." : "",
			    stmt->reg.name);
		return;
	case TSF_VAR:
		bytes_print(text, stmt->at_exit ? "RESULT " : "VAR ");
		expr_print(stmt->expr, text);
		if (stmt->count) {
			bytes_print(text, "[:");
			expr_print(stmt->count, text);
			bytes_print(text, "]");
		}
		return;
	case TSF_STACK:
		bytes_print(text, "STACK");
		return;
	case TSF_ELAPSED:
		bytes_print(text, "CALL");
		return;
	default:
		break;
	}
	if (stmt->has_len) {
		bytes_print(text, "LEN");
		address_text(text, &stmt->len_address);
		bytes_print(text, "%+d\n", item->len_bytes);
	}
	bytes_print(text, "%s%s", stmt->kind == TSF_MEM ? "MEM" : "ASCIIZ",
		    stmt->segmented ? "" : "32");
	address_text(text, &stmt->address);
}

/* What the items of a shape are. */
static void layout_text(struct bytes *text, const struct ctypes *ctypes,
			uint32_t ctype)
{
	const struct ctype *type = &ctypes->types[ctype];

	bytes_print(text, " %u %u %u", type->kind, type->bytes, type->count);
	if (type->kind == TFF_CTYPE_LIST || type->kind == TFF_CTYPE_MAP)
		bytes_print(text, " %u", type->is_signed);
	if (tff_kind_has_elements(type->kind))
		layout_text(text, ctypes, type->target);
	for (size_t i = 0; i < type->member_count; i++) {
		bytes_print(text, " %" PRId64, type->members[i].value);
		if (!tff_member_is_number(type->kind, i) &&
		    ctypes->types[type->members[i].ctype].parts)
			layout_text(text, ctypes, type->members[i].ctype);
	}
}

/* A hash of the data statements of a tracepoint, normalised, with the sizes and
 * types of the items. False: no memory. */
static bool data_hash(const struct ctypes *ctypes,
		      const struct compile_point *point, uint64_t *result)
{
	struct bytes text = {0};
	bool failed;

	for (size_t i = 0; i < point->item_count; i++) {
		const struct compile_item *item = &point->items[i];
		const struct ctype *type;

		stmt_text(&text, item->tsf, item);
		/* what a reader of the record takes it for */
		bytes_print(&text, "%s%+d%s", item->variable ? " up to " : " ",
			    item->bytes, item->raw ? " raw" : "");
		if (item->ctype < ctypes->count) {
			type = &ctypes->types[item->ctype];
			bytes_print(&text, "%+d%+d%+" PRId64, type->kind,
				    type->is_signed, (int64_t)type->bytes);
		}
		if (item->items)
			layout_text(&text, ctypes, item->ctype);
		bytes_print(&text, "\n");
	}
	*result = hash_fnv(HASH_FNV_START, text.data, text.size);
	failed = text.failed;
	bytes_free(&text);
	return !failed;
}

/* What lasts from one tracepoint to the next. */
struct passes {
	struct compilation *c;
	struct compiled *out;
	struct site_taken taken;
	uint32_t *minor_lines;	/* by minor: line of the TRACE, 0 free */
	struct choose_return_state returns;
};

static void compile_point_free(struct compile_point *point)
{
	free(point->items);
	free(point->sites);
	free(point->fmt);
}

/* Warns when the items exceed MAXDATALENGTH because of variables, whose sizes
 * are known only now. The parser has warned of the sizes in the TSF. */
static void check_maxdata(const struct compilation *c,
			  const struct compile_point *point)
{
	const struct compile_item *exceeding = NULL;
	uint32_t all = 0, early = 0;

	for (size_t i = 0; i < point->item_count; i++) {
		const struct compile_item *item = &point->items[i];
		uint32_t bytes = item->bytes +
				 (item->raw ? 0 : RAS_ITEM_PREFIX);

		if (item->items)	/* what is cut of it is marked */
			continue;
		all += bytes;
		if (item->tsf->kind != TSF_VAR && !(item->raw &&
						    item->tsf->reg_is_variable))
			early += bytes;
		if (all > c->tsf->maxdata && !exceeding)
			exceeding = item;
	}
	if (!exceeding || early > c->tsf->maxdata)
		return;
	diag_report(c->diag, exceeding->tsf->pos, TRCERR_MAXLEN_EXCEED);
	diag_hint(c->diag, "up to %u bytes, of which %u are recorded", all,
		  c->tsf->maxdata);
}

static int compile_dynamic(struct passes *p, struct compile_point *point)
{
	struct compiled *out = p->out;
	size_t stmts = out->stmt_count, rpn = out->rpn.size;
	struct compilation *c = p->c;
	int code = site_resolve(c, &p->taken, point->tsf, point);

	if (!code)
		code = stmts_compile(c, out, point);
	if (!code && site_remember(c, &p->taken, point))
		code = diag_no_memory(c->diag, point->tsf->pos);
	if (!code)
		code = choose_return(c, out, &p->returns, point, stmts, rpn);
	if (!code)
		check_maxdata(c, point);
	if (!code && point->tsf->fmt_count) {
		format_check(c, &out->ctypes, point);
	} else if (!code && point->item_count) {
		point->fmt = format_default(&out->ctypes, point);
		if (!point->fmt)
			code = diag_no_memory(c->diag, point->tsf->pos);
	}
	/* a return probe that was chosen has another address than the exits */
	if (!code && (site_remember(c, &p->taken, point) ||
		      !data_hash(&out->ctypes, point, &point->hash)))
		code = diag_no_memory(c->diag, point->tsf->pos);
	if (!code) {
		out->dynamic_count++;
		return 0;
	}
	out->stmt_count = stmts;
	out->rpn.size = rpn;
	compile_point_free(point);
	return code;
}

static int compile_point(struct passes *p, const struct tsf_point *in)
{
	struct compiled *out = p->out;
	struct compile_point *point = &out->points[out->point_count];
	uint32_t *line = &p->minor_lines[in->minor];
	struct diag *diag = p->c->diag;
	char text[16];
	int code = 0;

	guard_step();
	if (*line) {
		snprintf(text, sizeof(text), "%u", in->minor);
		diag_report(diag, in->minor_pos, TRCERR_DUP_MINOR, text);
		diag_hint_discarded(diag, TRCERR_DUP_MINOR);
		diag_hint(diag, "the tracepoint in line %u has it", *line);
		return 1;
	}
	memset(point, 0, sizeof(*point));
	point->tsf = in;
	point->is_static = in->tp.kind == TSF_TP_STATIC;
	if (point->is_static)
		format_check(p->c, &out->ctypes, point);
	else
		code = compile_dynamic(p, point);
	if (code)
		return code;
	*line = in->pos.line;
	out->point_count++;
	return 0;
}

static int compiled_point_compare(const void *a, const void *b)
{
	const struct compile_point *x = a, *y = b;

	return (int)x->tsf->minor - (int)y->tsf->minor;
}

/* `lost` as in struct choose_return_state. */
static int compile_all(struct compilation *c, struct compiled *out,
		       const bool *lost)
{
	struct passes p = { .c = c, .out = out, .returns = { .lost = lost } };
	const struct tsf *tsf = c->tsf;
	int code = 0;

	out->points = calloc(tsf->point_count + 1, sizeof(*out->points));
	p.minor_lines = calloc(UINT16_MAX + 1, sizeof(*p.minor_lines));
	if (!out->points || !p.minor_lines)
		code = diag_no_memory(c->diag, (struct srcpos){ 0 });
	for (size_t i = 0; i < tsf->point_count && code >= 0; i++)
		if (!tsf->points[i].discarded)
			code = compile_point(&p, &tsf->points[i]);
	site_forget(&p.taken);
	free(p.minor_lines);
	if (code < 0 || choose_sites(c, out))
		return -1;
	slow_report(c, out);
	qsort(out->points, out->point_count, sizeof(*out->points),
	      compiled_point_compare);
	return 0;
}

/* Compiles without messages to find the tracepoints that will be discarded; by
 * index, malloc'd. NULL: no memory. */
static bool *find_discarded(const struct compilation *c)
{
	struct compilation trial = *c;
	struct compiled out = { 0 };
	bool exhausted;
	size_t size;
	const char *text = diag_text(c->diag, &size);
	bool *lost = calloc(c->tsf->point_count, sizeof(*lost));

	trial.analysis = NULL;
	if (!lost || diag_open_text(&trial.diag, diag_path(c->diag), text,
				    size, 0, NULL)) {
		free(lost);
		return NULL;
	}
	compile_all(&trial, &out, NULL);
	memset(lost, true, c->tsf->point_count * sizeof(*lost));
	for (size_t i = 0; i < out.point_count; i++)
		lost[out.points[i].tsf - c->tsf->points] = false;
	exhausted = diag_exhausted(trial.diag);
	compile_free(&trial, &out);
	diag_close(trial.diag);
	if (!exhausted)
		return lost;
	free(lost);
	return NULL;
}

int compile_points(struct compilation *c, struct compiled *out)
{
	const struct tsf *tsf = c->tsf;
	bool stack = false, returns = false, *lost = NULL;
	int code;

	/* STACK in any tracepoint rules out return probes on all functions,
	 * unless that tracepoint is discarded */
	for (size_t i = 0; i < tsf->point_count; i++) {
		stack |= stmts_have_stack(&tsf->points[i]);
		returns |= !tsf->points[i].discarded &&
			   !tsf->points[i].tp.whole &&
			   tsf->points[i].tp.retep == TSF_RETEP_ANY;
	}
	if (stack && returns) {
		lost = find_discarded(c);
		if (!lost)
			return diag_no_memory(c->diag, (struct srcpos){ 0 });
	}
	code = compile_all(c, out, lost);
	free(lost);
	return code;
}

void compile_free(struct compilation *c, struct compiled *out)
{
	analysis_end(c);
	for (size_t i = 0; i < out->point_count; i++)
		compile_point_free(&out->points[i]);
	ctypes_free(&out->ctypes);
	free(out->points);
	free(out->stmts);
	free(out->sources);
	bytes_free(&out->rpn);
}
