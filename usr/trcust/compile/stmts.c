// SPDX-License-Identifier: GPL-2.0
#include "stmts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "aggregate.h"
#include "data.h"
#include "evaluate.h"
#include "lib/formats/rpn.h"
#include "shape.h"
#include "whole.h"

/*
 * VARS and IF as statements of a TDF. What is logged of an expression follows
 * from its type; ":n" is the number of values of that type from there on, or of
 * what a pointer points at, and of a string the most characters.
 */

#define STRING_MAX	128	/* characters, when nothing limits them */

struct variable {
	const struct site_stmt *s;
	struct evaluation e;
	struct value value;
};

/* One statement, with what the value yields as its value or address. */
static int log_rpn(struct variable *v, uint8_t kind, uint16_t length)
{
	const struct site_stmt *s = v->s;
	struct bytes rpn = {0};
	int code;

	if (v->e.absent)
		return emit_absent(s, s->in->pos, "", v->e.absent_why, false);
	value_push(&v->value, &rpn);
	code = emit_value(s, s->in->pos, v->value.where, kind, 0, length, &rpn);
	bytes_free(&rpn);
	return code;
}

/* As many as MAXDATALENGTH has room for; a part of one, if it must be. */
static uint64_t count_limit(struct variable *v, uint64_t count, uint64_t bytes)
{
	const struct compilation *c = v->s->c;
	uint64_t most = c->tsf->maxdata;

	if (count <= most / bytes)
		return count;
	if (!v->s->site->repeated)
		diag_report(c->diag, v->s->in->pos, TRCERR_MAXLEN_EXCEED);
	return bytes <= most ? most / bytes : 1;
}

static int log_string(struct variable *v, uint64_t most)
{
	struct compile_item *item = v->s->item;

	if (!value_load(&v->e, v->s->in->pos, "VARS", &v->value))
		return v->e.code;
	item->kind = TDF_STMT_ASCIIZ;
	item->variable = true;
	item->bytes = count_limit(v, most, 1);
	return log_rpn(v, TDF_STMT_ASCIIZ, item->bytes);
}

/* `count` of the type from the value's place on. */
static int log_place(struct variable *v, struct value_type type, uint64_t count,
		     bool is_array)
{
	const struct site_stmt *s = v->s;
	const struct tsf_stmt *in = s->in;
	struct compile_item *item = s->item;
	bool is_void = value_type_kind(&type) == DWARF_TYPE_VOID;
	uint64_t bytes = 1, most;

	if (!is_void && !value_type_bytes(s->c, &type, &bytes)) {
		value_report_size(&v->e, in->pos, &type);
		return v->e.code;
	}
	if (!bytes || !count) {
		diag_report(s->c->diag, in->pos, TRCERR_ZEROLENGTH);
		if (!in->length)
			diag_hint(s->c->diag, "how many elements it has is not "
					      "known: '%s:n' logs n",
				  in->expr_text);
		return 1;
	}
	most = count_limit(v, count, bytes);
	if (!is_void)
		item->ctype = value_type_ctype(s->c, &s->out->ctypes, &type);
	if (is_array && item->ctype != CTYPE_NONE)
		item->ctype = ctypes_put_array(&s->out->ctypes, item->ctype,
					       most);
	bytes *= most;
	item->bytes = bytes > s->c->tsf->maxdata ? s->c->tsf->maxdata : bytes;
	if (v->e.absent)
		return emit_absent(s, in->pos, "", v->e.absent_why, false);
	return emit_place(
		s, in->pos, *v->value.name ? v->value.name : in->expr_text,
		&v->value.place, v->value.bit_offset / 8, item->bytes, false);
}

/* A bit-field, or what was computed: its value in the type's bytes. */
static int log_value(struct variable *v)
{
	const struct site_stmt *s = v->s;
	struct diag *diag = s->c->diag;
	struct srcpos pos = s->in->pos;
	uint64_t bytes;
	char text[24];

	if (s->in->length) {
		snprintf(text, sizeof(text), ":%u", s->in->length);
		diag_report(diag, pos, TRCERR_BADPARM, text);
		diag_hint_discarded(diag, TRCERR_BADPARM);
		diag_hint(diag, "what is computed is one value");
		return 1;
	}
	if (!value_load(&v->e, pos, "VARS", &v->value) ||
	    !value_scalar_bytes(&v->e, pos, &v->value.type, &bytes))
		return v->e.code;
	s->item->ctype = value_type_ctype(s->c, &s->out->ctypes,
					  &v->value.type);
	s->item->bytes = bytes;
	return log_rpn(v, TDF_STMT_VALUE, bytes);
}

static int log_by_type(struct variable *v)
{
	const struct tsf_stmt *in = v->s->in;
	struct value *value = &v->value;
	enum dwarf_type_kind kind = value_type_kind(&value->type);
	struct value_type target = value_type_target(&value->type);
	bool is_text = value_type_is_text(&target), in_memory;
	struct diag *diag = v->s->c->diag;
	uint64_t count = in->length;
	struct bytes rpn = {0};

	v->s->item->kind = TDF_STMT_MEM;
	if (kind == DWARF_TYPE_POINTER && is_text)
		return log_string(v, count ? count : STRING_MAX);
	if (kind == DWARF_TYPE_POINTER && count)
		return value_dereference(&v->e, in->pos, "*", value) ?
		       log_place(v, target, count, true) : v->e.code;
	if (value->kind != VALUE_PLACE || value->bits ||
	    kind == DWARF_TYPE_FUNCTION ||
	    (value_type_is_integer(&value->type) && !count &&
	     (value->reversed || value_type_is_reversed(&value->type) ||
	      value_type_bits(&value->type))))
		return log_value(v);
	if (kind == DWARF_TYPE_ARRAY) {
		if (!count)
			count = value_type_count(&value->type);
		in_memory = is_text && value_in_memory(value, 1, &rpn);
		bytes_free(&rpn);
		return in_memory ? log_string(v, count ? count : STRING_MAX) :
				   log_place(v, target, count, true);
	}
	if (kind != DWARF_TYPE_VOID || count)	/* of void bytes */
		return log_place(v, value->type, count ? count : 1, count);
	/* a symbol without debug information, or what a void pointer points
	 * at */
	v->e.code = 1;
	if (in->expr->kind == EXPR_NAME)
		diag_report(diag, in->pos, TRCERR_NOSIZE, in->expr->name);
	else
		value_report_size(&v->e, in->pos, &value->type);
	diag_hint(diag, "'%s:n' logs n bytes, a cast gives it a type",
		  in->expr_text);
	return v->e.code;
}

int variable_compile(const struct site_stmt *s)
{
	struct variable v = {
		.s = s, .e = evaluation_begin(s->c, s->site),
	};
	struct value count = { 0 };
	int code;

	v.e.view = shape_view;
	s->item->label = s->in->expr_name ? s->in->expr_name : s->in->expr_text;
	if (!evaluate(&v.e, s->in->expr, &v.value) ||
	    (s->in->count && !evaluate(&v.e, s->in->count, &count)))
		code = v.e.code;
	else if (s->in->count)
		code = shape_log_counted(s, &v.e, &v.value, &count);
	else
		code = shape_log(s, &v.e, &v.value, s->in->length);
	if (code == SHAPE_NOT)
		code = log_by_type(&v);
	value_free(&count);
	value_free(&v.value);
	if (!code && s->out->ctypes.failed)
		return diag_no_memory(s->c->diag, s->in->pos);
	return code;
}

int condition_compile(const struct site_stmt *s, const struct expr *condition)
{
	struct evaluation e = evaluation_begin(s->c, s->site);
	struct bytes rpn = {0};
	struct value value;
	int code;

	e.view = shape_view;
	if (!evaluate(&e, condition, &value) ||
	    !value_load(&e, condition->pos, "IF", &value)) {
		value_free(&value);
		return e.code;
	}
	if (e.absent) {
		/* a condition that this site can't evaluate faults there (a
		 * division by zero), and records nothing */
		rpn_emit_const(&rpn, 1);
		rpn_emit_const(&rpn, 0);
		rpn_emit_op(&rpn, RPN_div);
	} else {
		value_push(&value, &rpn);
	}
	code = emit_value(s, condition->pos, value.where, TDF_STMT_IF, 0, 0,
			  &rpn);
	bytes_free(&rpn);
	value_free(&value);
	return code;
}

/* Bytes of the registers and prefixes, which are in every record, whatever
 * MAXDATALENGTH is. */
#define FIXED_MAX	TDF_DATA_MAX

bool stmts_have_stack(const struct tsf_point *point)
{
	for (size_t i = 0; i < point->stmt_count && !point->discarded; i++)
		if (point->stmts[i].kind == TSF_STACK)
			return true;
	for (size_t i = 0; i < point->by_count && !point->discarded; i++)
		if (!point->by[i].expr)
			return true;
	return false;
}

static int check_room(const struct site_stmt *of, const struct tsf_stmt *stmt)
{
	const struct compiled *out = of->out;
	uint32_t first = of->site->first_stmt, fixed = 0;
	uint32_t count = out->stmt_count - first;
	char limit[64];

	for (uint32_t i = first; i < out->stmt_count; i++) {
		const struct tdf_stmt *s = &out->stmts[i];

		if (s->kind == TDF_STMT_REG)
			fixed += s->reg_bytes;
		else if (s->flags & TDF_STMT_RAW)
			fixed += s->length;
		else if (s->kind != TDF_STMT_IF && s->kind != TDF_STMT_KEY &&
			 !(s->flags & TDF_STMT_MORE))
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
	diag_report(of->c->diag, stmt->kind == TSF_REGS ? stmt->reg.pos :
							  stmt->pos,
		    TRCERR_TPRTOOBIG, limit);
	return 1;
}

/* Of those of a CALL that are like it, the entries or the exits */
static bool is_first_site(const struct compile_point *point,
			  const struct compile_site *site)
{
	for (const struct compile_site *s = point->sites; s < site; s++)
		if (whole_is_entry(s) == whole_is_entry(site))
			return false;
	return true;
}

static bool is_alone(const struct compile_point *point,
		     const struct compile_site *site)
{
	size_t count = 0;

	for (size_t i = 0; i < point->site_count; i++)
		count += whole_is_entry(&point->sites[i]) ==
			 whole_is_entry(site);
	return count == 1;
}

/* The next statement at a site; the first site determines what is logged. */
static int compile_stmt(const struct site_stmt *of, const struct tsf_stmt *in,
			struct compile_point *point)
{
	struct compile_item item = { .tsf = in, .ctype = CTYPE_NONE };
	struct compile_item *first = &point->items[in - point->tsf->stmts];
	const struct site_stmt s = {
		.c = of->c, .out = of->out, .site = of->site, .in = in,
		.item = &item,
	};
	int code = in->kind == TSF_VAR ? variable_compile(&s) :
					 data_compile(&s);

	if (is_first_site(point, s.site) || !first->tsf) {
		*first = item;
		return code;
	}
	if (!code && (first->kind != item.kind || first->raw != item.raw ||
		      first->items != item.items ||
		      (item.items && first->ctype != item.ctype) ||
		      first->variable != item.variable ||
		      first->bytes != item.bytes)) {
		diag_report(s.c->diag, in->pos, TRCERR_LAYOUT, item.label);
		diag_hint(s.c->diag, "it has another type or size at %#" PRIx64,
			  s.site->nominal);
		code = 1;
	}
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
	code = whole_site_begin(&s, point);
	if (!code && tsf->condition && !whole_is_entry(site))
		code = condition_compile(&s, tsf->condition);
	for (size_t i = 0; i < tsf->stmt_count && code >= 0 &&
			   code != COMPILE_LEAVE_OUT; i++) {
		int more;

		if (!whole_logs(point, site, &tsf->stmts[i]))
			continue;
		more = compile_stmt(&s, &tsf->stmts[i], point);

		if (!code || more < 0)
			code = more;
		if (!code)
			code = check_room(&s, &tsf->stmts[i]);
	}
	if (!code && !whole_is_entry(site))
		code = aggregates_compile(&s, tsf);
	site->stmts = out->stmt_count - site->first_stmt;
	return code;
}

/* The statement of the site that begins the item, or the first one of it: each
 * does, but for IF and further pieces. */
static uint32_t item_stmt(const struct compiled *out,
			  const struct compile_point *point,
			  const struct compile_site *site, size_t item)
{
	uint32_t stmt = site->first_stmt;
	size_t before = 0;

	if (whole_is_entry(site))
		before += point->entry_count;
	for (size_t i = 0; i < item; i++)
		if (whole_logs(point, site, point->items[i].tsf))
			before += point->items[i].items ?
				  point->items[i].items : 1;
	while (out->stmts[stmt].kind == TDF_STMT_IF ||
	       out->stmts[stmt].kind == TDF_STMT_KEY ||
	       out->stmts[stmt].flags & TDF_STMT_MORE || before--)
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
		size_t site = 0, last = point->site_count;

		if (tsf->kind == TSF_ELAPSED)
			continue;
		while (site < point->site_count) {
			const struct compile_site *s = &point->sites[site];

			if (whole_logs(point, s, tsf)) {
				last = site;
				if (out->stmts[item_stmt(out, point, s, i)]
					    .kind != TDF_STMT_ABSENT)
					break;
			}
			site++;
		}
		if (site < point->site_count)
			continue;
		diag_report(c->diag, tsf->kind == TSF_VAR ? tsf->pos :
							    tsf->address.pos,
			    TRCERR_BADADDRESS);
		diag_hint(c->diag, "'%s' at none of %zu sites: %s",
			  point->items[i].label, point->site_count,
			  out->sources[item_stmt(out, point, &point->sites[last],
						 i)]);
		code = 1;
	}
	return code;
}

int stmts_compile(const struct compilation *c, struct compiled *out,
		  struct compile_point *point)
{
	int code = 0;

	point->items = calloc(point->tsf->stmt_count + 1,
			      sizeof(*point->items));
	if (!point->items)
		return diag_no_memory(c->diag, point->tsf->pos);
	point->item_count = point->tsf->stmt_count;
	if (point->tsf->tp.whole) {
		point->items[0] = (struct compile_item){
			.tsf = point->tsf->stmts, .kind = TDF_STMT_MEM,
			.raw = true, .bytes = 8, .ctype = CTYPE_NONE,
			.label = "elapsed",
		};
		code = whole_sites_check(c, point);
		if (!code)
			code = whole_entries_find(c, point);
		if (code)
			return code;
	}
	for (size_t i = 0; i < point->site_count;) {
		struct compile_site *site = &point->sites[i];
		size_t rpn = out->rpn.size;

		site->alone = is_alone(point, site);
		site->repeated = !is_first_site(point, site);
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
		code = whole_sites_check(c, point);
		if (code)
			return code;
	}
	/* values with many parts have one, some time, that isn't there */
	point->goes_on = point->tsf->continue_on_fault;
	for (size_t i = 0; i < point->item_count; i++)
		point->goes_on |= point->items[i].items > 1 &&
				  !point->tsf->onfault;
	return check_absent(c, out, point);
}
