// SPDX-License-Identifier: GPL-2.0
#include "aggregate.h"

#include "data.h"
#include "evaluate.h"
#include "lib/formats/rpn.h"
#include "shape.h"
#include "value_type.h"

/* The characters of a pointer or an array */
static bool is_key_text(const struct value *value)
{
	enum dwarf_type_kind kind = value_type_kind(&value->type);
	struct value_type target;

	if (kind != DWARF_TYPE_POINTER && kind != DWARF_TYPE_ARRAY)
		return false;
	target = value_type_target(&value->type);
	return value_type_is_text(&target);
}

/* What this site does not have is a fault there: a division by zero. */
static void value_or_fault_push(const struct evaluation *e,
				const struct value *value, struct bytes *rpn)
{
	if (!e->absent) {
		value_push(value, rpn);
		return;
	}
	rpn_emit_const(rpn, 1);
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_div);
}

static int aggregate_emit(const struct site_stmt *s,
			  const struct tsf_aggregate *in, bool by, bool text,
			  const struct evaluation *e, const struct value *value)
{
	uint16_t length = !by ? 0 : !text ? 8 :
			  in->length ? in->length : TDF_BY_TEXT_DEFAULT;
	struct bytes rpn = { 0 };
	int code;

	value_or_fault_push(e, value, &rpn);
	code = emit_value(s, in->pos, value->where,
			  by ? TDF_STMT_BY : TDF_STMT_AGGREGATE, 0, length,
			  &rpn);
	if (!code)
		s->out->stmts[s->out->stmt_count - 1].reg =
			!by ? in->kind : text ? TDF_BY_TEXT :
			value_type_is_signed(&value->type) ? TDF_BY_SIGNED :
							     TDF_BY_UNSIGNED;
	bytes_free(&rpn);
	return code;
}

static int aggregate_compile(const struct site_stmt *s,
			     const struct tsf_aggregate *in, bool by)
{
	struct evaluation e = evaluation_begin(s->c, s->site);
	const char *name = by ? "BY" : "aggregate";
	struct value value;
	uint64_t bytes;
	bool text;
	int code;

	e.view = shape_view;
	if (!evaluate(&e, in->expr, &value)) {
		value_free(&value);
		return e.code;
	}
	text = by && is_key_text(&value);
	if (in->length && !text) {
		diag_report(s->c->diag, in->pos, TRCERR_BADPARM, ":n");
		diag_hint_discarded(s->c->diag, TRCERR_BADPARM);
		diag_hint(s->c->diag, "what is computed is one value");
		code = 1;
	} else if (!value_load(&e, in->pos, name, &value) ||
		   (!text && !value_scalar_bytes(&e, in->pos, &value.type,
						 &bytes))) {
		code = e.code;
	} else {
		code = aggregate_emit(s, in, by, text, &e, &value);
	}
	value_free(&value);
	return code;
}

static int by_stack_compile(const struct site_stmt *s,
			    const struct tsf_aggregate *in)
{
	struct tdf_stmt *out = emit_stmt(s->c, s->out, in->pos,
					 "return addresses");

	if (!out)
		return -1;
	out->kind = TDF_STMT_BY;
	out->reg = TDF_BY_STACK;
	out->length = in->length;
	return data_frame_emit(s, in->pos, out);
}

static int hits_compile(const struct site_stmt *s,
			const struct tsf_aggregate *in)
{
	struct tdf_stmt *out = emit_stmt(s->c, s->out, in->pos, "the hits");

	if (!out)
		return -1;
	out->kind = TDF_STMT_AGGREGATE;
	out->reg = TDF_AGGREGATE_COUNT;
	return 0;
}

int aggregates_compile(const struct site_stmt *s, const struct tsf_point *point)
{
	int code = 0;

	if (point->by_count && !point->aggregate_count) {
		diag_report(s->c->diag, point->by->pos, TRCERR_INCOMPLETE,
			    "COUNT");
		diag_hint(s->c->diag, "COUNT, SUM, MIN, MAX or HIST are added up by it");
		return 1;
	}
	for (size_t i = 0; i < point->by_count && !code; i++)
		code = point->by[i].expr ?
			aggregate_compile(s, &point->by[i], true) :
			by_stack_compile(s, &point->by[i]);
	for (size_t i = 0; i < point->aggregate_count && !code; i++) {
		const struct tsf_aggregate *in = &point->aggregates[i];

		code = in->expr ? aggregate_compile(s, in, false) :
				  hits_compile(s, in);
	}
	return code;
}
