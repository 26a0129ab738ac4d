// SPDX-License-Identifier: GPL-2.0
#include "shape.h"

#include <stdio.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "lib/formats/rpn.h"
#include "shape_log.h"

/* ---- a statement ---- */

static void shaping_begin(struct shaping *g)
{
	g->types->dwarf = g->s->c->dwarf;
	g->types->shape = g->s->c->shapes ? shape_ctype : NULL;
	g->types->shaper = g;
	g->types->shape_depth = 0;
	g->types->shape_inside = 0;
	g->types->shape_many = 0;
	g->types->shape_most = g->most;
}

static void shaping_end(struct shaping *g)
{
	g->types->shape = NULL;
	g->types->shaper = NULL;
	bytes_free(&g->guard);
}

/* Its own bytes, and the parts after them. */
static bool log_with_parts(struct shaping *g, struct value *value, uint32_t ctype,
		      bool apart)
{
	const struct ctype *type = &g->types->types[ctype];
	const struct site_stmt *s = g->s;
	uint16_t parts = type->parts, maxdata = s->c->tsf->maxdata;
	uint16_t bytes = type->bytes < maxdata ? type->bytes : maxdata;

	if (g->e->absent)
		return shape_parts_absent(g, parts + !apart);
	if (!apart) {
		g->items++;
		g->bytes += RAS_ITEM_PREFIX + bytes;
		g->e->code = emit_place(s, s->in->pos, value->name,
					&value->place, value->bit_offset / 8,
					bytes, false);
		if (g->e->code)
			return false;
	}
	if (!shape_log_parts(g, value, ctype))
		return false;
	if (g->items == parts + !apart)
		return true;
	diag_report(s->c->diag, s->in->pos, TRCERR_UNSUPPORTED,
		    "a value with so many parts");
	g->e->code = 1;
	return false;
}

/* Its elements are counted. */
static bool is_limited(const struct ctype *type)
{
	return type->kind == TFF_CTYPE_SEQUENCE ||
	       type->kind == TFF_CTYPE_LIST || type->kind == TFF_CTYPE_PATH ||
	       type->kind == TFF_CTYPE_MAP || type->kind == TFF_CTYPE_EACH;
}

static void item_begin(struct shaping *g, uint32_t ctype)
{
	const struct ctype *type = &g->types->types[ctype];
	struct compile_item *item = g->s->item;

	item->kind = TDF_STMT_MEM;
	item->variable = true;
	item->ctype = ctype;
	item->items = type->parts + !ctype_is_apart(type);
}

static int item_end(struct shaping *g, bool done)
{
	uint16_t maxdata = g->s->c->tsf->maxdata;

	g->bytes -= RAS_ITEM_PREFIX;
	g->s->item->bytes = g->bytes < maxdata ? g->bytes : maxdata;
	shaping_end(g);
	return done ? 0 : g->e->code ? g->e->code : 1;
}

int shape_log(const struct site_stmt *s, struct evaluation *e,
	      struct value *value, uint16_t most)
{
	struct shaping g = {
		.s = s, .e = e, .types = &s->out->ctypes, .most = most,
	};
	enum dwarf_type_kind kind = value_type_kind(&value->type);
	struct bytes address = { 0 };
	uint32_t plain, ctype;
	const struct ctype *type;
	bool apart;

	if (!s->c->shapes || value->type.pointers || !value->type.die.addr ||
	    value->type.dimension || value->bits || value->reversed ||
	    kind == DWARF_TYPE_VOID || kind == DWARF_TYPE_FUNCTION)
		return SHAPE_NOT;
	/* in this order: the type with shapes has its name as it is */
	shaping_begin(&g);
	/* what is in registers, or logged as elements, is of its own type */
	g.types->shape_inside = most || !value_in_memory(value, 1, &address);
	bytes_free(&address);
	ctype = value_type_ctype(s->c, g.types, &value->type);
	g.types->shape = NULL;
	plain = value_type_ctype(s->c, g.types, &value->type);
	g.types->shape = shape_ctype;
	if (e->code || ctype == plain || ctype == CTYPE_NONE) {
		shaping_end(&g);
		return e->code ? e->code : SHAPE_NOT;
	}
	type = &g.types->types[ctype];
	apart = ctype_is_apart(type);
	if ((value->kind != VALUE_PLACE && !apart) ||
	    (most && type->kind != TFF_CTYPE_TEXT && !is_limited(type))) {
		shaping_end(&g);
		return SHAPE_NOT;
	}
	item_begin(&g, ctype);
	snprintf(g.where, sizeof(g.where), "%s", value->place.where);
	return item_end(&g, log_with_parts(&g, value, ctype, apart));
}

/* A count below 0 is 0. */
static bool count_positive(struct evaluation *e, struct srcpos pos,
			   struct value *count)
{
	struct bytes number = { 0 }, test = { 0 }, positive = { 0 };

	if (!value_load(e, pos, "[:", count))
		return false;
	if (!value_type_is_integer(&count->type))
		return value_refuse(e, pos, "[:", count, NULL);
	if (!value_type_is_signed(&count->type))
		return true;
	if (count->kind == VALUE_CONSTANT) {
		count->number = (int64_t)count->number < 0 ? 0 : count->number;
		return true;
	}
	value_push(count, &number);
	bytes_join(&test, &number);
	rpn_emit_const(&test, 0);
	rpn_emit_op(&test, RPN_gt);
	shape_guard_emit(&test, &number, &positive);
	bytes_free(&number);
	bytes_free(&test);
	bytes_free(&count->rpn);
	count->rpn = positive;
	return !positive.failed || value_report_memory(e, pos);
}

int shape_log_counted(const struct site_stmt *s, struct evaluation *e,
		      struct value *pointer, struct value *count)
{
	struct srcpos pos = s->in->pos;
	struct shaping g = {
		.s = s, .e = e, .types = &s->out->ctypes,
		.most = s->in->length,
	};
	struct value_type element;
	uint32_t ctype;

	if (!value_load(e, pos, "[:", pointer))
		return e->code;
	if (value_type_kind(&pointer->type) != DWARF_TYPE_POINTER)
		value_refuse(e, pos, "[:", pointer, NULL);
	if (e->code || !count_positive(e, s->in->count->pos, count))
		return e->code;
	element = value_type_target(&pointer->type);
	shaping_begin(&g);
	ctype = shape_counted_ctype(&g, &element);
	if (ctype == CTYPE_NONE) {
		shaping_end(&g);
		if (!e->code && !g.types->failed)
			value_report_size(e, pos, &element);
		return e->code;
	}
	item_begin(&g, ctype);
	snprintf(g.where, sizeof(g.where), "%s", pointer->where);
	return item_end(&g, shape_log_elements(&g, pointer, count, ctype));
}

/* ---- in expressions ---- */

static bool view_number(struct evaluation *e, const struct shape *shape,
			const struct expr *expr, const struct value *self,
			struct value *value)
{
	if (!shape_evaluate(e, shape->file->diag, expr, self, value))
		return false;
	if (value_load(e, self->pos, "shape", value))
		return true;
	value_free(value);
	return false;
}

/* How many elements a value has that are not in a row; NULL: it has none, or how
 * many isn't known. */
static const struct expr *count_of(const struct shape *shape)
{
	switch (shape->kind) {
	case SHAPE_COUNT:
		return shape->what;
	case SHAPE_EACH:
		return shape->more;
	default:
		return shape->count;
	}
}

/* The address of an optional value, or 0. */
static bool view_optional(struct evaluation *e, const struct shape *shape,
			  const struct value *self, struct value *address)
{
	struct bytes whole = { 0 }, test = { 0 }, at = { 0 };
	struct value flag;

	if (!view_number(e, shape, shape->what, self, &flag))
		return false;
	value_push(&flag, &test);
	value_free(&flag);
	if (shape_evaluate(e, shape->file->diag, shape->more, self, address) &&
	    value_address(e, self->pos, address)) {
		value_push(address, &at);
		shape_guard_emit(&test, &at, &whole);
		bytes_free(&address->rpn);
		address->kind = VALUE_COMPUTED;
		address->rpn = whole;
		if (address->rpn.failed || test.failed || at.failed)
			value_report_memory(e, self->pos);
	}
	bytes_free(&test);
	bytes_free(&at);
	return !e->code;
}

bool shape_view(struct evaluation *e, struct srcpos pos,
		const struct value *value, enum value_view kind,
		struct value *address, struct value *count)
{
	static const enum shape_kind kinds[] = {
		[VIEW_TEXT] = SHAPE_TEXT, [VIEW_SEQUENCE] = SHAPE_SEQUENCE,
		[VIEW_ONE] = SHAPE_ONE,
	};
	struct shape_match match;

	memset(address, 0, sizeof(*address));
	memset(count, 0, sizeof(*count));
	if (!shape_match(e, pos, &value->type, true, &match)) {
		e->code = 1;
		return false;
	}
	if (match.shape && kind == VIEW_SEQUENCE && count_of(match.shape)) {
		*address = value_constant(value_type_void(), 0);
		return view_number(e, match.shape, count_of(match.shape), value,
				   count);
	}
	if (match.shape && kind == VIEW_ONE &&
	    match.shape->kind == SHAPE_OPTIONAL)
		return view_optional(e, match.shape, value, address);
	if (!match.shape || match.shape->kind != kinds[kind] ||
	    !view_number(e, match.shape, match.shape->what, value, address))
		return false;
	if (!match.shape->more ||
	    view_number(e, match.shape, match.shape->more, value, count))
		return true;
	value_free(address);
	return false;
}
