// SPDX-License-Identifier: GPL-2.0
#include "expression.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "expression_parse.h"

#define MEMBERS_MOST	65536	/* looked at; a hostile type has any number */
#define UNNAMED_MOST	8	/* structures without a name in each other */
#define COMM_MAX	16

/* ---- operands: what a name is in the events of a point ---- */

struct operand {
	enum column builtin;	/* COLUMN_FIELD: it is a field */
	bool exit;		/* of the second of the evaluation's records */
	const struct match_point *point;
	const struct field *field;	/* NULL: the point doesn't have it */
	bool element;		/* one of the array of a %R, of a string's or
				 * stack's parts: `index` */
	uint64_t index;
	bool inside;		/* of a C type: a value of this type there */
	uint32_t ctype;
	uint64_t offset;	/* of a bit-field: that of its structure */
	const struct tff_member *bits;	/* NULL: no bit-field */
};

enum term_kind {
	TERM_MISSING, TERM_INTEGER, TERM_REAL,
	TERM_STRING,
	TERM_TEXT,		/* has a text only: operand_text() */
};

/* A value in an expression. */
struct term {
	enum term_kind kind;
	union {
		__int128 i;
		double f;
	};
	const uint8_t *data;	/* STRING; else what was read */
	size_t length;
	const struct operand *operand;	/* NULL: a constant, or computed */
	const struct decode_piece *piece;
};

/* Where values come from. */
struct term_evaluation {
	const struct expression_bound *bound;
	/* an event; or entry and exit of a call, NULL: there is none */
	const struct event *events[2];
	const struct scratch *scratch[2];	/* their pieces */
	const struct pair_call *call;	/* NULL: it is an event */
	struct symbols *symbols;
};

static bool operand_text_is(const char *text, const char *bytes, size_t length)
{
	return !strncmp(text, bytes, length) && !text[length];
}

/* A field whose label is the text, or whose name it is if it is one word. */
static const struct field *field_called(const struct match_point *point,
					const char *text, size_t length,
					bool word)
{
	const struct field_set *set = &point->fields;

	for (size_t i = 0; i < set->count; i++)
		if (operand_text_is(set->fields[i].label, text, length))
			return &set->fields[i];
	return word ? field_find(set, text, length) : NULL;
}

/* ---- members ---- */

/* Finds the member in the structure at o->offset, and sets o to it. */
static bool member_walk(struct operand *o, const struct value_types *types,
			const char *name, size_t length, int depth,
			unsigned int *work)
{
	const struct tff_ctype *type = &types->types[o->ctype];
	const struct tff_member *m = types->members + type->first_member;
	struct operand within;

	if ((type->kind != TFF_CTYPE_STRUCT && type->kind != TFF_CTYPE_UNION) ||
	    depth > UNNAMED_MOST)
		return false;
	for (uint32_t i = 0; i < type->members; i++) {
		const char *called = types->strings + m[i].name;

		if (++*work > MEMBERS_MOST)
			return false;
		within = *o;
		within.ctype = m[i].ctype;
		within.bits = m[i].bits ? &m[i] : NULL;
		within.offset += m[i].bits ? 0 : m[i].value / 8;
		if (*called ? operand_text_is(called, name, length) :
		    !m[i].bits && member_walk(&within, types, name, length,
					      depth + 1, work)) {
			*o = within;
			return true;
		}
	}
	return false;
}

static bool part_walk(struct operand *o, const struct value_types *types,
		      const struct expression_name *name,
		      const struct expression_part *part)
{
	const struct tff_ctype *type = &types->types[o->ctype];
	unsigned int work = 0;

	if (o->bits)
		return false;
	if (part->length)
		return member_walk(o, types, name->text + part->at,
				   part->length, 0, &work);
	if (type->kind != TFF_CTYPE_ARRAY ||
	    (type->count && part->index >= type->count))
		return false;
	o->ctype = type->target;
	o->offset += part->index * types->types[type->target].bytes;
	return o->offset < RAS_RECORD_MAX;
}

/* The parts after the field's name. */
static bool parts_walk(struct operand *o, const struct expression_name *name,
		       size_t from)
{
	const struct value_types *types = &o->point->format.types;
	const struct field *field = o->field;
	bool composed = field->step->letter == STEP_VALUE;

	if (from < name->count && !name->parts[from].length &&
	    (field->array || field->kind == FIELD_STRING ||
	     field->kind == FIELD_BYTES || field->kind == FIELD_STACK)) {
		o->element = true;
		o->index = name->parts[from++].index;
	}
	o->inside = composed && (field->kind == FIELD_CTYPE ||
				 field->kind == FIELD_STRING);
	o->ctype = field->ctype;
	if (from < name->count && field->kind != FIELD_CTYPE)
		return false;
	for (; from < name->count; from++)
		if (!part_walk(o, types, name, &name->parts[from]))
			return false;
	return true;
}

/* The point's operand of that name; name->found is set when it has a field. */
static struct operand operand_bind(struct expression_name *name,
				   const struct match_point *point, bool exit)
{
	struct operand none = {
		.builtin = name->builtin, .point = point, .exit = exit,
	};
	size_t skip = name->builtin < COLUMN_ENTRY ? 0 : name->skip;
	size_t from = skip ? name->parts[skip].at : 0;

	if (!point || !point->formatted)
		return none;
	for (size_t n = name->count; n > skip; n--) {
		struct operand o = none;

		o.field = field_called(point, name->text + from,
				       name->parts[n - 1].end - from,
				       n == skip + 1);
		if (o.field && parts_walk(&o, name, n)) {
			name->found = true;
			return o;
		}
	}
	return none;
}

/* Of a call: the result, or a field of entry or exit. */
static struct operand operand_bind_call(struct expression_name *name,
					const struct match_point *entry,
					const struct match_point *exit)
{
	struct operand o = {
		.builtin = COLUMN_RESULT, .point = exit, .exit = true,
	};

	if (name->builtin == COLUMN_RESULT) {
		/* the field may have any name */
		o.field = exit ? arguments_return_field(exit) : NULL;
		if (o.field && parts_walk(&o, name, 1))
			name->found = true;
		else
			o.field = NULL;
		return o;
	}
	if (name->builtin == COLUMN_EXIT)
		return operand_bind(name, exit, true);
	o = operand_bind(name, entry, false);
	if (o.field || name->builtin == COLUMN_ENTRY)
		return o;
	return operand_bind(name, exit, true);
}

/* ---- values ---- */

static struct term missing(void)
{
	return (struct term){ .kind = TERM_MISSING };
}

static struct term term_integer(__int128 number)
{
	return (struct term){ .kind = TERM_INTEGER, .i = number };
}

static struct term string(const void *data, size_t length)
{
	return (struct term){
		.kind = TERM_STRING, .data = data, .length = length,
	};
}

static struct term builtin_load(enum column builtin, const struct event *event)
{
	const char *comm = event_thread_comm(event);
	struct column_value value;

	if (builtin == COLUMN_TIME)
		return term_integer(event->time);
	if (builtin == COLUMN_COMM && comm)
		return string(comm, strnlen(comm, COMM_MAX));
	value = column_value(event, builtin);
	if (value.kind == COLUMN_NUMBER)
		return term_integer(value.number);
	return value.kind == COLUMN_STRING ?
	       string(value.string, value.length) : (struct term){ 0 };
}

static struct term call_term(enum column builtin, const struct pair_call *call)
{
	const char *word = pair_doubt_words[call->doubt];

	switch (builtin) {
	case COLUMN_FUNCTION:
		return string(call->name, strlen(call->name));
	case COLUMN_LATENCY:
		return call->doubt <= PAIR_PENDING ?
		       term_integer(call->latency) : missing();
	case COLUMN_SELF:
		return call->doubt <= PAIR_PENDING && !call->self_doubt ?
		       term_integer(call->self) : missing();
	case COLUMN_PARENT:
		return call->parent ? term_integer(call->parent) : missing();
	case COLUMN_DEPTH:
		return term_integer(call->depth);
	default:
		return word ? string(word, strlen(word)) : missing();
	}
}

/* A value inside a C type. TEXT if it has a text only. */
static struct term inside_load(const struct operand *o,
			       const struct decode_piece *piece)
{
	const struct value_types *types = &o->point->format.types;
	const uint8_t *data = piece->data + o->offset;
	size_t have = piece->bytes - o->offset;
	struct value_node node;
	__int128 wide;
	double real;
	float narrow;

	if (o->offset > piece->bytes)
		return missing();
	if (!o->bits)
		node = value_node(types, o->ctype, data, have);
	else if (!value_member(&node, types, o->bits, data, have))
		return missing();
	if (!o->bits && have < node.type->bytes &&
	    !tff_ctype_is_apart(node.type))
		return missing();
	switch (node.kind) {
	case VALUE_STRING:
		if (types->types[node.type->target].bytes != 1)
			break;
		if (node.type->count && have > node.type->count)
			have = node.type->count;
		return string(data, strnlen((const char *)data, have));
	case VALUE_FLOAT:
		memcpy(&narrow, data, sizeof(narrow));
		if (node.type->bytes == sizeof(real))
			memcpy(&real, data, sizeof(real));
		else
			real = narrow;
		return (struct term){ .kind = TERM_REAL, .f = real };
	case VALUE_WIDE:	/* those that a signed number holds */
		memcpy(&wide, data, sizeof(wide));
		if (wide >= 0 || value_is_signed(node.type))
			return term_integer(wide);
		break;
	default:
		if (node.kind > VALUE_ENUM)
			break;
		return value_is_signed(node.type) ?
		       term_integer(number_sign(node.raw, node.bits)) :
		       term_integer(node.raw);
	}
	return (struct term){ .kind = TERM_TEXT, .data = data, .length = have };
}

static struct term simple_load(const struct field *field,
					const struct field_value *v)
{
	struct term value = { .kind = TERM_TEXT };

	switch (v->kind) {
	case FIELD_STRING:
	case FIELD_BYTES:
		return string(v->data, v->length);
	case FIELD_FLOAT:
		value.kind = TERM_REAL;
		value.f = v->f;
		return value;
	case FIELD_TIME:
		return term_integer(v->i);
	case FIELD_TEXT:
	case FIELD_STACK:
	case FIELD_CTYPE:
		return value;
	default:
		return field->is_signed ? term_integer(v->i) :
					  term_integer(v->u);
	}
}

/* A byte of a string, an address of a stack. */
static struct term part_load(const struct operand *o,
				      const struct field_value *v)
{
	size_t size = v->kind == FIELD_STACK ? 8 : 1;

	if (o->index >= v->length / size)
		return missing();
	return term_integer(number_load(v->data + o->index * size, size));
}

static const struct decode_piece *piece_find(const struct operand *o,
					     const struct scratch *scratch)
{
	const struct decode_piece *end = scratch->pieces +
					 scratch->result.count;
	const struct decode_piece *piece = field_piece(o->field,
						       scratch->pieces,
						       scratch->result.count);
	uint64_t left = o->element && o->field->array ? o->index : 0;

	while (piece && left) {
		do
			piece++;
		while (piece < end && piece->step != o->field->step);
		piece = piece < end ? piece : NULL;
		left--;
	}
	return piece;
}

/* A field may be called so, too, where no calls are meant. */
static bool column_is_soft(enum column builtin)
{
	return builtin > COLUMN_NONE && !column_is_of_calls(builtin);
}

static struct term operand_load(const struct operand *o,
				const struct term_evaluation *source)
{
	const struct event *event = source->events[o->exit];
	const struct decode_piece *piece;
	struct field_value v;
	struct term value = { 0 };

	if (o->builtin < COLUMN_FIELD)
		return builtin_load(o->builtin, source->call ?
				    pair_call_event(source->call) : event);
	if (source->call && o->builtin > COLUMN_NONE &&
	    o->builtin < COLUMN_ENTRY && o->builtin != COLUMN_RESULT)
		return call_term(o->builtin, source->call);
	if (!source->call && column_is_of_calls(o->builtin))
		return missing();
	if (!event || !o->field ||
	    (o->builtin == COLUMN_RESULT &&
	     event->record->flags & RAS_RECORD_TAIL_CALL))
		return missing();
	piece = piece_find(o, source->scratch[o->exit]);
	if (!piece)
		return missing();
	v = field_value(o->field, piece);
	if (!v.there || piece->nothing)
		return value;
	if (o->element && !o->field->array)
		value = part_load(o, &v);
	else if (o->inside)
		value = inside_load(o, piece);
	else
		value = simple_load(o->field, &v);
	value.operand = o;
	value.piece = piece;
	return value;
}

/* ---- text ---- */

static struct term operand_text_end(struct text *text, const char *end)
{
	return string(text->data, end - text->data);
}

static struct term digits_put(__int128 number, struct text *text)
{
	unsigned __int128 rest = number < 0 ? -(unsigned __int128)number :
					      (unsigned __int128)number;
	char digits[48], *p = digits + sizeof(digits);

	do {
		*--p = '0' + (int)(rest % 10);
		rest /= 10;
	} while (rest);
	if (number < 0)
		*--p = '-';
	if (text_reserve(text, sizeof(digits)))
		return missing();
	return operand_text_end(text, text_put(text->data, p,
					       digits + sizeof(digits) - p));
}

/* As the FMT prints it. */
static struct term operand_piece_put(const struct term *value,
				      const struct term_evaluation *source,
				      struct text *text)
{
	struct render_input input = output_render_input(
		source->events[value->operand->exit], source->symbols);

	if (text_reserve(text, render_room(input.format, value->piece->bytes)))
		return missing();
	return operand_text_end(text,
				render_piece(&input, value->piece, text->data));
}

/* A value inside a C type, as C writes it. */
static struct term inside_put(const struct term *value,
				       struct text *text)
{
	const struct operand *o = value->operand;
	struct value_budget budget = VALUE_BUDGET;

	if (text_reserve(text, VALUE_TEXT_MAX + 8))
		return missing();
	return operand_text_end(
		text, value_put(&o->point->format.types, o->ctype, value->data,
				value->length, text->data, &budget));
}

static struct term integer_name(const struct term *value,
					 const struct term_evaluation *source,
					 struct text *text)
{
	const struct operand *o = value->operand;
	const char *name = NULL;
	const struct value_types *types;
	const struct tff_ctype *type;
	uint32_t work = MEMBERS_MOST;

	if (!o || !o->field || (o->element && !o->field->array))
		return digits_put(value->i, text);
	if (o->inside) {
		/* Of an integer inside a C type: its name; or its digits. */
		types = &o->point->format.types;
		type = &types->types[o->ctype];
		if (type->kind == TFF_CTYPE_ENUM && type->bytes &&
		    type->bytes <= 8)
			name = value_enumerator(types, o->ctype, value->i,
						&work);
		else if (type->kind == TFF_CTYPE_BOOL && value->i >> 1 == 0)
			name = value->i ? "true" : "false";
		else if (type->kind == TFF_CTYPE_CHAR && type->bytes == 1)
			return string(value->piece->data + o->offset, 1);
		return name ? string(name, strlen(name)) :
			      digits_put(value->i, text);
	}
	switch (o->field->kind) {
	case FIELD_ENUM:
		name = field_enum_name(&o->point->format, o->field, value->i);
		return name ? string(name, strlen(name)) :
			      digits_put(value->i, text);
	case FIELD_FLAGS:
	case FIELD_ADDRESS:
	case FIELD_BOOL:
	case FIELD_TIME:
		return operand_piece_put(value, source, text);
	default:
		return digits_put(value->i, text);
	}
}

/* The value as a string, in `text` where that's needed: the name of an integer
 * that has one, else its digits. MISSING when there is no memory. */
static struct term operand_text(const struct term *value,
				const struct term_evaluation *source,
				struct text *text)
{
	switch (value->kind) {
	case TERM_INTEGER:
		return integer_name(value, source, text);
	case TERM_REAL:
		if (text_reserve(text, NUMBER_MAX))
			return missing();
		return operand_text_end(
			text, text->data + snprintf(text->data, NUMBER_MAX,
						    "%.17g", value->f));
	case TERM_TEXT:
		return value->operand->inside ?
			       inside_put(value, text) :
			       operand_piece_put(value, source, text);
	default:
		return *value;
	}
}

/* ---- bound to a point ---- */

struct expression_bound {
	struct expression *e;
	bool wants_data;
	struct operand operands[];	/* one for each name */
};

static struct term term_evaluate(struct term_evaluation *ev, uint32_t node);

struct expression_bound *expression_bind(struct expression *e,
					 const struct match_point *point)
{
	struct expression_bound *bound;

	bound = calloc(1, sizeof(*bound) +
		       e->name_count * sizeof(*bound->operands));
	if (!bound)
		return NULL;
	bound->e = e;
	for (size_t i = 0; i < e->name_count; i++) {
		bound->operands[i] = operand_bind(&e->names[i], point, false);
		bound->wants_data |= bound->operands[i].field &&
			(bound->operands[i].builtin == COLUMN_FIELD ||
			 column_is_soft(bound->operands[i].builtin));
	}
	return bound;
}

struct expression_bound *
expression_bind_call(struct expression *e, const struct match_point *entry,
		     const struct match_point *exit)
{
	struct expression_bound *bound;

	bound = calloc(1, sizeof(*bound) +
		       e->name_count * sizeof(*bound->operands));
	if (!bound)
		return NULL;
	bound->e = e;
	e->of_calls = true;
	for (size_t i = 0; i < e->name_count; i++) {
		bound->operands[i] = operand_bind_call(&e->names[i], entry,
						       exit);
		bound->wants_data |= bound->operands[i].field != NULL;
	}
	return bound;
}

bool expression_is_of_calls(const struct expression *e)
{
	for (size_t i = 0; i < e->name_count; i++)
		if (column_is_of_calls(e->names[i].builtin))
			return true;
	return false;
}

void expression_unbind(struct expression_bound *bound)
{
	free(bound);
}

bool expression_wants_data(const struct expression_bound *bound)
{
	return bound->wants_data;
}

int expression_report(const struct expression *e, size_t i, struct error *note)
{
	const struct expression_name *name = &e->names[i];

	if (i >= e->name_count)
		return -1;
	if (column_is_soft(name->builtin) && (e->of_calls || name->found))
		return 0;
	if (name->builtin == COLUMN_RESULT || name->builtin >= COLUMN_ENTRY) {
		if (name->found)
			return 0;
		error_set(note, 0, "no call has the field '%s' of --field",
			  name->text);
		error_hint(note, "--calls shows the fields of entries and exits");
		return 2;
	}
	if ((name->builtin == COLUMN_FIELD) == name->found)
		return 0;
	if (name->builtin != COLUMN_FIELD && !column_is_soft(name->builtin)) {
		error_set(note, 0, "'%s' in --field is not the field of that name",
			  name->text);
		error_hint(note, "the field is '.%s'", name->text);
	} else {
		error_set(note, 0, "no event has the field '%s' of --field",
			  name->text);
		error_hint(note, "--format=json shows the fields' names; strings are in quotes");
		return 2;
	}
	return 1;
}

/* ---- values ---- */

static struct term real(double f)
{
	return (struct term){ .kind = TERM_REAL, .f = f };
}

static bool truth(const struct term *value)
{
	switch (value->kind) {
	case TERM_MISSING:
		return false;
	case TERM_INTEGER:
		return value->i != 0;
	case TERM_REAL:
		return value->f != 0;
	case TERM_STRING:
		return value->length != 0;
	default:
		return true;
	}
}

static bool term_is_number(const struct term *value)
{
	return value->kind == TERM_INTEGER || value->kind == TERM_REAL;
}

static double real_of(const struct term *value)
{
	return value->kind == TERM_REAL ? value->f : (double)value->i;
}

/* ---- comparing ---- */

static bool order_holds(enum expression_op op, int order)
{
	switch (op) {
	case OP_EQUAL:
		return !order;
	case OP_UNEQUAL:
		return order;
	case OP_LESS:
		return order < 0;
	case OP_LESS_EQUAL:
		return order <= 0;
	case OP_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

static bool numbers_compare(enum expression_op op, const struct term *a,
			    const struct term *b)
{
	double x, y;

	if (a->kind == TERM_INTEGER && b->kind == TERM_INTEGER)
		return order_holds(op, a->i < b->i ? -1 : a->i > b->i);
	x = real_of(a);
	y = real_of(b);
	if (x != x || y != y)
		return op == OP_UNEQUAL;
	return order_holds(op, x < y ? -1 : x > y);
}

static bool strings_compare(enum expression_op op, const struct term *a,
			    const struct term *b)
{
	size_t n = a->length < b->length ? a->length : b->length;
	int order = n ? memcmp(a->data, b->data, n) : 0;

	return order_holds(op, order ? order :
			   a->length < b->length ? -1 : a->length > b->length);
}

/* A number with a string: by its name or digits, and only for equality. */
static struct term terms_compare(struct term_evaluation *ev,
				 enum expression_op op, const struct term *a,
				 const struct term *b)
{
	struct text *texts = ev->bound->e->texts;
	struct term x, y;

	if (!a->kind || !b->kind)
		return term_integer(false);
	if (term_is_number(a) && term_is_number(b))
		return term_integer(numbers_compare(op, a, b));
	if ((term_is_number(a) || term_is_number(b)) && op != OP_EQUAL &&
	    op != OP_UNEQUAL)
		return term_integer(false);
	x = operand_text(a, ev, &texts[0]);
	y = operand_text(b, ev, &texts[1]);
	return term_integer(x.kind && y.kind && strings_compare(op, &x, &y));
}

static struct term match(struct term_evaluation *ev,
			 const struct expression_node *node)
{
	const regex_t *regex = ev->bound->e->nodes[node->b].regex;
	struct term a = term_evaluate(ev, node->a);
	struct text *texts = ev->bound->e->texts;
	regmatch_t range = { 0 };
	bool matches;

	a = operand_text(&a, ev, &texts[0]);
	/* with a zero at the end, whatever regexec() makes of REG_STARTEND */
	if (!a.kind || text_reserve(&texts[1], a.length + 1))
		return term_integer(false);
	if (a.length)
		memcpy(texts[1].data, a.data, a.length);
	texts[1].data[a.length] = '\0';
	range.rm_eo = a.length;
	matches = !regexec(regex, texts[1].data, 1, &range, REG_STARTEND);
	return term_integer(matches == (node->op == OP_MATCH));
}

/* ---- computing ---- */

static struct term reals_compute(enum expression_op op, double a, double b)
{
	switch (op) {
	case OP_PLUS:
		return real(a + b);
	case OP_SUBTRACT:
		return real(a - b);
	case OP_TIMES:
		return real(a * b);
	case OP_DIVIDE:
		return b == 0 ? missing() : real(a / b);
	default:
		return missing();
	}
}

static unsigned __int128 magnitude(__int128 a)
{
	return a < 0 ? -(unsigned __int128)a : (unsigned __int128)a;
}

/* clang calls a function of compiler-rt for __builtin_mul_overflow(), which
 * isn't everywhere. The least number counts as too large. */
static bool multiply_overflows(__int128 a, __int128 b, __int128 *product)
{
	unsigned __int128 x = magnitude(a), y = magnitude(b);
	unsigned __int128 large = x > y ? x : y, small = x > y ? y : x;
	unsigned __int128 high = (large >> 64) * small;
	unsigned __int128 low = (uint64_t)large * small;
	unsigned __int128 sum = low + (high << 64);

	if (small >> 64 || high >> 64 || sum < low || sum >> 127)
		return true;
	*product = (a < 0) != (b < 0) ? -(__int128)sum : (__int128)sum;
	return false;
}

/* What is too large for 128 bits is missing. */
static struct term integers_compute(enum expression_op op, __int128 a,
				    __int128 b)
{
	bool over = false;
	__int128 c = 0;
	__int128 negative;

	switch (op) {
	case OP_BIT_OR:
		return term_integer(a | b);
	case OP_BIT_XOR:
		return term_integer(a ^ b);
	case OP_BIT_AND:
		return term_integer(a & b);
	case OP_LEFT:
	case OP_RIGHT:
		if (b < 0 || b > 63)
			return missing();
		return term_integer(op == OP_RIGHT ? a >> (int)b :
				    (__int128)((unsigned __int128)a << (int)b));
	case OP_DIVIDE:
	case OP_MODULO:
		if (!b || (b == -1 &&
			   __builtin_sub_overflow((__int128)0, a, &negative)))
			return missing();
		return term_integer(op == OP_DIVIDE ? a / b : a % b);
	case OP_PLUS:
		over = __builtin_add_overflow(a, b, &c);
		break;
	case OP_SUBTRACT:
		over = __builtin_sub_overflow(a, b, &c);
		break;
	default:
		over = multiply_overflows(a, b, &c);
	}
	return over ? missing() : term_integer(c);
}

static struct term terms_compute(enum expression_op op, const struct term *a,
		       const struct term *b)
{
	if (!term_is_number(a) || !term_is_number(b))
		return missing();
	if (a->kind == TERM_INTEGER && b->kind == TERM_INTEGER)
		return integers_compute(op, a->i, b->i);
	return reals_compute(op, real_of(a), real_of(b));
}

static struct term unary(enum expression_op op, const struct term *a)
{
	if (op == OP_NOT)
		return a->kind ? term_integer(!truth(a)) : missing();
	if (op == OP_MINUS && a->kind == TERM_REAL)
		return real(-a->f);
	if (a->kind != TERM_INTEGER)
		return missing();
	return op == OP_MINUS ? integers_compute(OP_SUBTRACT, 0, a->i) :
				term_integer(~a->i);
}

/* ---- the tree ---- */

static struct term term_evaluate(struct term_evaluation *ev, uint32_t index)
{
	const struct expression_node *node = &ev->bound->e->nodes[index];
	struct term a;
	struct term b;

	switch (node->op) {
	case OP_NUMBER:
		return term_integer(node->number);
	case OP_FLOAT:
		return real(node->real);
	case OP_STRING:
		return (struct term){
			.kind = TERM_STRING,
			.data = (const uint8_t *)node->text,
			.length = node->length,
		};
	case OP_NAME:
		return operand_load(&ev->bound->operands[node->name],
				    ev);
	case OP_NOT:
	case OP_MINUS:
	case OP_INVERT:
		a = term_evaluate(ev, node->a);
		return unary(node->op, &a);
	case OP_OR:
	case OP_AND:
		a = term_evaluate(ev, node->a);
		if (truth(&a) != (node->op == OP_AND))
			return term_integer(node->op == OP_OR);
		a = term_evaluate(ev, node->b);
		return term_integer(truth(&a));
	case OP_MATCH:
	case OP_MATCH_NOT:
		return match(ev, node);
	default:
		a = term_evaluate(ev, node->a);
		b = term_evaluate(ev, node->b);
		return node->op >= OP_EQUAL && node->op <= OP_GREATER_EQUAL ?
			       terms_compare(ev, node->op, &a, &b) :
			       terms_compute(node->op, &a, &b);
	}
}

bool expression_holds(const struct expression_bound *bound,
		      const struct event *event, const struct scratch *scratch,
		      struct symbols *symbols)
{
	struct term_evaluation ev = {
		.bound = bound, .events = { event }, .scratch = { scratch },
		.symbols = symbols,
	};
	struct term value = term_evaluate(&ev, bound->e->root);

	return truth(&value);
}

bool expression_holds_call(const struct expression_bound *bound,
			   const struct pair_call *call,
			   const struct scratch *entry,
			   const struct scratch *exit, struct symbols *symbols)
{
	struct term_evaluation ev = {
		.bound = bound,
		.events = { call->entry.point ? &call->entry : NULL,
			    call->exit.point ? &call->exit : NULL },
		.scratch = { entry, exit }, .call = call, .symbols = symbols,
	};
	struct term value = term_evaluate(&ev, bound->e->root);

	return truth(&value);
}
