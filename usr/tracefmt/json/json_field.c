// SPDX-License-Identifier: GPL-2.0
#include "json_field.h"

#include <stdio.h>
#include <string.h>
#include "lib/names.h"

/* ---- values of C types ---- */

#define ENUM_NAME_MAX	512
#define WIDE_MAX	(8u << 10)	/* bytes of a string of wide characters */

/* Open brackets can always be closed, and a key always gets its value or null:
 * there is that much room after `end`. */
struct json_value {
	char *p, *end;
	bool follows;		/* something precedes in this bracket */
	bool key;		/* of an object comes next: text */
	enum json_bytes invalid;	/* of strings */
	bool incomplete;	/* json_put_marks() has more */
};

/* Room for n bytes more. */
static bool json_value_room(struct value_walk *walk, size_t n)
{
	struct json_value *v = walk->own;

	walk->full |= (size_t)(v->end - v->p) < n;
	return !walk->full;
}

/* A key is text, whatever happens. */
static void json_value_nothing(struct json_value *v)
{
	v->p = v->key ? TEXT_PUT(v->p, "\"\"") : TEXT_PUT(v->p, "null");
}

static bool json_value_status(struct value_walk *walk,
			      const struct value_node *node,
			      enum value_status status)
{
	struct json_value *v = walk->own;

	walk->full |= status == VALUE_TOO_DEEP;
	v->incomplete |= status >= VALUE_MORE;
	if (status == VALUE_MORE || status == VALUE_NO_NODE ||
	    status == VALUE_LOST)
		return true;
	if (status != VALUE_SHORT || node->kind < VALUE_STRING ||
	    node->kind == VALUE_VARIANT || node->kind == VALUE_DYNAMIC ||
	    node->type->kind == TFF_CTYPE_TUPLE)
		json_value_nothing(v);
	return true;
}

/* With text for keys it is an object. */
static bool map_is_object(const struct value_types *types,
			  const struct value_node *map)
{
	const struct tff_ctype *pair = &types->types[map->type->target];
	enum value_kind key = value_kind(types,
			types->members[pair->first_member].ctype);

	return key == VALUE_TEXT || key == VALUE_STRING ||
	       key == VALUE_ADDRESS;
}

static bool is_list(struct value_walk *walk, const struct value_node *node)
{
	return node->kind == VALUE_ARRAY ||
	       (node->kind == VALUE_MAP && !map_is_object(walk->types, node));
}

static bool json_value_begin(struct value_walk *walk,
			     const struct value_node *node)
{
	struct json_value *v = walk->own;

	if (!json_value_room(walk, 2)) {
		json_value_nothing(v);
		return false;
	}
	*v->p++ = is_list(walk, node) ? '[' : '{';
	v->follows = false;
	return true;
}

static void json_value_end(struct value_walk *walk,
			   const struct value_node *node)
{
	struct json_value *v = walk->own;

	*v->p++ = is_list(walk, node) ? ']' : '}';
	v->follows = true;
}

static bool json_value_item(struct value_walk *walk, const char *name)
{
	size_t length = name ? strnlen(name, VALUE_TEXT_MAX) : 0;
	struct json_value *v = walk->own;

	if (!json_value_room(walk, name ? JSON_STRING_ROOM(length) + 2 : 1))
		return false;
	if (v->follows)
		*v->p++ = ',';
	v->follows = true;
	if (name) {
		v->p = json_put_string(v->p, name, length);
		*v->p++ = ':';
	}
	return true;
}

static void json_value_entry(struct value_walk *walk,
			     const struct value_node *map,
			     enum value_entry where)
{
	bool object = map_is_object(walk->types, map);
	struct json_value *v = walk->own;

	json_value_room(walk, 3);
	if (where == ENTRY_VALUE)
		*v->p++ = object ? ':' : ',';
	else if (!object)
		*v->p++ = where == ENTRY_KEY ? '[' : ']';
	v->key = object && where == ENTRY_KEY;
	v->follows = where == ENTRY_END;
}

/* Characters of more than a byte as value_text.h has them. */
static void wide_write(struct value_walk *walk, const char *text, size_t length)
{
	struct json_value *v = walk->own;

	if (json_value_room(walk, JSON_STRING_ROOM(length)))
		v->p = json_put_string(v->p, text, length);
	else
		json_value_nothing(v);
}

static void json_value_string(struct value_walk *walk,
			      const struct value_node *node)
{
	char text[WIDE_MAX + VALUE_CHARACTER_MAX], *p = text;
	struct json_value *v = walk->own;
	size_t n = node->whole;

	if (node->unit == 1) {
		if (node->kind == VALUE_STRING)
			n = strnlen((const char *)node->data, n);
		if (json_value_room(walk, JSON_STRING_ROOM(n)))
			v->p = json_put_checked(v->p, node->data, n,
						&v->invalid);
		else
			json_value_nothing(v);
		return;
	}
	for (size_t i = 0; i < n && p < text + WIDE_MAX; i++) {
		uint32_t c = number_load(node->data + i * node->unit,
					 node->unit);

		if (!c)
			break;
		p = value_put_character(p, c, node->unit);
	}
	walk->full |= p >= text + WIDE_MAX;
	wide_write(walk, text, p - text);
}

/* An enumeration's; name NULL: no enumerator has the value. */
static char *json_put_enum(char *p, const char *number, size_t number_length,
			   const char *name, size_t name_length)
{
	p = TEXT_PUT(p, "{\"value\":");
	p = text_put(p, number, number_length);
	p = TEXT_PUT(p, ",\"name\":");
	p = name ? json_put_string(p, name, name_length) : TEXT_PUT(p, "null");
	return TEXT_PUT(p, "}");
}

static void enum_write(struct value_walk *walk, const struct value_node *node)
{
	char name[ENUM_NAME_MAX], number[NUMBER_MAX], *end, *name_end;
	struct json_value *v = walk->own;
	size_t length;

	end = value_is_signed(node->type) ?
	      number_put_signed(number, node->raw, node->bits) :
	      text_put_decimal(number, node->raw);
	name_end = value_put_enum(walk, node, name, name + sizeof(name));
	length = name_end - name;
	if (json_value_room(walk, NUMBER_MAX + JSON_STRING_ROOM(length)))
		v->p = json_put_enum(v->p, number, end - number,
				     length ? name : NULL, length);
	else
		v->p = TEXT_PUT(v->p, "null");
}

/* As a number with all its digits; what is none as text. */
static char *put_seconds(char *p, const struct value_node *node)
{
	bool minus = node->type->is_signed &&
		     ((int64_t)node->raw < 0 || (int64_t)node->count < 0);
	uint64_t part = minus ? -node->count : node->count;

	if (!value_time_is_valid(node)) {
		*p++ = '"';
		p = value_put_time(p, node);
		*p++ = '"';
		return p;
	}
	if (minus)
		*p++ = '-';
	p = text_put_decimal(p, minus ? -node->raw : node->raw);
	if (!part)
		return p;
	p += sprintf(p, ".%09u", (unsigned int)part);
	while (p[-1] == '0')
		p--;
	return p;
}

static void json_value_scalar(struct value_walk *walk,
			      const struct value_node *node)
{
	struct json_value *v = walk->own;
	size_t bytes = node->type->bytes;
	char text[VALUE_CHARACTER_MAX];
	unsigned __int128 wide;
	uint8_t c = node->raw;

	if (!json_value_room(walk, NUMBER_MAX) || node->kind == VALUE_NONE ||
	    (node->kind == VALUE_BYTES &&
	     !json_value_room(walk, JSON_HEX_ROOM(bytes)))) {
		v->p = TEXT_PUT(v->p, "null");
		return;
	}
	switch (node->kind) {
	case VALUE_SIGNED:
		v->p = number_put_signed(v->p, node->raw, node->bits);
		break;
	case VALUE_BOOL:
		v->p = number_put_bool(v->p, node->raw);
		break;
	case VALUE_CHARACTER:
		if (bytes == 1)
			v->p = json_put_checked(v->p, &c, 1, &v->invalid);
		else
			wide_write(walk, text,
				   value_put_character(text, node->raw,
						       bytes) - text);
		break;
	case VALUE_POINTER:
		*v->p++ = '"';
		v->p = number_put_pointer(v->p, node->raw);
		*v->p++ = '"';
		break;
	case VALUE_ENUM:
		enum_write(walk, node);
		break;
	case VALUE_FLOAT:
		v->p = json_put_float(v->p, node->data, bytes);
		break;
	case VALUE_WIDE:
		memcpy(&wide, node->data, sizeof(wide));
		v->p = number_put_wide(v->p, wide,
				       value_is_signed(node->type));
		break;
	case VALUE_TIME:
		v->p = put_seconds(v->p, node);
		break;
	case VALUE_BYTES:
		v->p = json_put_hex(v->p, node->data, bytes);
		break;
	default:
		v->p = text_put_decimal(v->p, node->raw);
	}
}

static void json_value_null(struct value_walk *walk,
			    const struct value_node *node, const char *name)
{
	struct json_value *v = walk->own;

	v->p = TEXT_PUT(v->p, "null");
}

/* An optional value is itself, one without a value the name. */
static bool choice_is_object(const struct value_node *node, const char *name)
{
	return *name && !node->type->is_signed;
}

static void json_value_choice(struct value_walk *walk,
			      const struct value_node *node, const char *name,
			      const struct value_node *value)
{
	size_t length = strnlen(name, VALUE_TEXT_MAX);
	struct json_value *v = walk->own;

	if (!choice_is_object(node, name))
		return;
	if (value->kind != VALUE_NONE)
		*v->p++ = '{';
	if (json_value_room(walk, JSON_STRING_ROOM(length) + 3))
		v->p = json_put_string(v->p, name, length);
	else
		v->p = TEXT_PUT(v->p, "\"\"");
	if (value->kind != VALUE_NONE)
		*v->p++ = ':';
}

static void json_value_choice_end(struct value_walk *walk,
				  const struct value_node *node,
				  const char *name,
				  const struct value_node *value)
{
	struct json_value *v = walk->own;

	if (choice_is_object(node, name) && value->kind != VALUE_NONE)
		*v->p++ = '}';
	v->follows = true;
}

static const struct value_visitor json_visitor = {
	.flat = true,
	.begin = json_value_begin,
	.end = json_value_end,
	.item = json_value_item,
	.entry = json_value_entry,
	.scalar = json_value_scalar,
	.string = json_value_string,
	.status = json_value_status,
	.null = json_value_null,
	.choice = json_value_choice,
	.choice_end = json_value_choice_end,
};

/* ---- what is not there ---- */

#define MARKS_MAX	64

struct json_marks {
	struct json json;
	unsigned int count;
};

static bool marks_begin(struct value_walk *walk, const struct value_node *node)
{
	return true;
}

static void marks_end(struct value_walk *walk, const struct value_node *node)
{
}

static bool marks_item(struct value_walk *walk, const char *name)
{
	return true;
}

static void marks_null(struct value_walk *walk, const struct value_node *node,
		       const char *name)
{
}

static bool marks_status(struct value_walk *walk, const struct value_node *node,
			 enum value_status status)
{
	struct json_marks *marks = walk->own;
	struct json *json = &marks->json;
	char text[SHAPE_NOTE_MAX];
	char *end;

	if (status < VALUE_MORE || marks->count++ == MARKS_MAX) {
		walk->full |= status >= VALUE_MORE;
		return true;
	}
	json_open(json, NULL, '{');
	if (status == VALUE_MORE) {
		json_string(json, "why", "cut");
		json_number(json, "recorded", node->whole);
		if (node->count)
			json_number(json, "of", node->count);
	} else if (status == VALUE_LOST) {
		json_string(json, "why", "next_node_not_found");
	} else if (status == VALUE_MISSING || status == VALUE_NO_NODE) {
		end = shape_part_put_note(text, &walk->part);
		*end = '\0';
		json_string(json, "why", text);
	} else {
		json_string(json, "why", node->kind == VALUE_DYNAMIC ?
				    "unknown_type" : "no_alternative");
		json_number(json, "number", node->raw);
	}
	json_close(json, '}');
	return true;
}

static const struct value_visitor marks_visitor = {
	.begin = marks_begin, .end = marks_end, .item = marks_item,
	.scalar = marks_end, .string = marks_end, .status = marks_status,
	.null = marks_null,
};

static void json_put_marks(const struct value_types *types, uint32_t ctype,
		    const uint8_t *data, size_t have, struct json *json)
{
	struct json_marks marks = { *json };
	struct value_walk walk = {
		.types = types, .visitor = &marks_visitor, .own = &marks,
		.work = VALUE_BUDGET.work,
	};

	value_walk(&walk, ctype, data, have);
	*json = marks.json;
}

char *json_put_value(const struct value_types *types, uint32_t ctype,
		     const uint8_t *data, size_t have, char *p,
		     struct value_budget *budget, enum json_bytes *invalid,
		     bool *incomplete)
{
	struct json_value v = {
		.p = p, .end = p + budget->text, .invalid = *invalid,
	};
	struct value_walk walk = {
		.types = types, .visitor = &json_visitor, .own = &v,
		.work = budget->work,
	};

	value_walk(&walk, ctype, data, have);
	budget->text = walk.full || v.p > v.end ? 0 : v.end - v.p;
	budget->work = walk.work;
	*invalid = v.invalid;
	*incomplete = v.incomplete;
	return v.p;
}

/* Notes of a field besides enum decode_note. */
#define JSON_NOTE_NOT_TEXT	NOTE_KINDS	/* a string that isn't UTF-8 */
#define JSON_NOTE_TOO_LONG	(NOTE_KINDS + 1)	/* for VALUE_TEXT_MAX */
#define JSON_NOTE_INCOMPLETE	(NOTE_KINDS + 2)	/* parts of it */
#define JSON_NOTES		(NOTE_KINDS + 3)

/* ---- fields ---- */

#define NAME_MOST	512	/* bytes of a symbol's or file's name */

/* Room for n bytes; NULL: there is no memory, which text->error keeps. */
static inline char *json_room(struct text *text, size_t n)
{
	return text_reserve(text, n) ? NULL : text->data + text->used;
}

static inline void wrote(struct text *text, const char *p)
{
	text->used = p - text->data;
}

struct json_field json_field_begin(const struct output *output,
				   const struct event *event,
				   const struct scratch *scratch,
				   struct value_budget *budget)
{
	return (struct json_field){
		.format = &event->point->format,
		.end = scratch->pieces,
		.owner = { &event->trace->file.processes, event->record->pid,
			   output->settings->symbols },
		.budget = budget,
		.fields = &event->point->fields,
		.stop = scratch->pieces + scratch->result.count,
	};
}

bool json_field_next(struct json_field *of)
{
	const struct decode_piece *piece = of->end;

	while (piece < of->stop && piece->step->field == DECODE_NO_FIELD)
		piece++;
	if (piece == of->stop)
		return false;
	of->piece = piece;
	of->field = &of->fields->fields[piece->step->field];
	of->end = piece + 1;
	while (of->end < of->stop && of->end->again &&
	       of->end->step == piece->step)
		of->end++;
	return true;
}

/* ---- addresses ---- */

static void pointer_add(struct text *text, uint64_t value)
{
	char *p = json_room(text, NUMBER_MAX + 2);

	if (!p)
		return;
	*p++ = '"';
	p = number_put_pointer(p, value);
	*p++ = '"';
	wrote(text, p);
}

static void json_add_line(const struct symbols_place *place, struct text *text)
{
	if (!place->file)
		return;
	TEXT_ADD(text, ",\"file\":");
	json_add_string(text, place->file, strnlen(place->file, NAME_MOST));
	TEXT_ADD(text, ",\"line\":");
	text_add_number(text, place->line);
}

/* The functions that were inlined there, the innermost first; the place becomes
 * that of the last call. */
static void json_add_inlined(struct symbols_place *place, struct text *text)
{
	if (!place->inlined_count)
		return;
	TEXT_ADD(text, ",\"inlined\":[");
	for (;;) {
		const char *name = place->inlined->name ?: "?";

		TEXT_ADD(text, "{\"symbol\":");
		json_add_string(text, name, strnlen(name, NAME_MOST));
		json_add_line(place, text);
		TEXT_ADD(text, "}");
		symbols_place_outwards(place);
		if (!place->inlined_count)
			break;
		text_add_char(text, ',');
	}
	TEXT_ADD(text, "]");
}

void json_add_address(struct stack_owner owner, uint64_t address, bool caller,
		      struct text *text)
{
	uint32_t pid = process_table_owner(owner.processes, owner.pid,
					   &address);
	struct symbols_place place = { 0 };

	if (owner.processes && owner.symbols)
		place = caller ? symbols_find_caller(owner.symbols,
						     owner.processes, pid,
						     address) :
				 symbols_find(owner.symbols, owner.processes,
					      pid, address);
	TEXT_ADD(text, "{\"address\":");
	pointer_add(text, address);
	if (caller)
		json_add_inlined(&place, text);
	if (place.symbol) {
		TEXT_ADD(text, ",\"symbol\":");
		json_add_string(text, place.symbol,
				strnlen(place.symbol, NAME_MOST));
		TEXT_ADD(text, ",\"offset\":");
		text_add_number(text, place.offset);
	}
	json_add_line(&place, text);
	if (place.module) {
		TEXT_ADD(text, ",\"module\":");
		json_add_string(text, place.module,
				strnlen(place.module, NAME_MOST));
		TEXT_ADD(text, ",\"module_offset\":");
		text_add_number(text, place.module_offset);
	}
	TEXT_ADD(text, "}");
}

static void json_add_stack(struct stack_owner owner, struct ras_stack stack,
			   const uint8_t *data, size_t n, struct text *text)
{
	TEXT_ADD(text, "{\"frames\":[");
	for (size_t i = 0; i + 8 <= n; i += 8) {
		if (i)
			text_add_char(text, ',');
		json_add_address(owner, number_load(data + i, 8), true, text);
	}
	TEXT_ADD(text, "],\"end\":\"");
	text_add_string(text, stack.end < RAS_STACK_ENDS ?
			names_stack_end[stack.end] : "unknown");
	TEXT_ADD(text, "\"");
	if (stack.flags & RAS_STACK_CHANGED)
		TEXT_ADD(text, ",\"changed\":true");
	TEXT_ADD(text, "}");
}

static void otel_add(struct json *json, const struct ras_otel *otel)
{
	const char *lack = context_otel_lack(otel);

	if (lack) {
		json_null(json, "trace_id");
		json_null(json, "span_id");
		json_string(json, "otel", lack);
		return;
	}
	json_key(json, "trace_id");
	json_add_hex(json->text, otel->trace_id, sizeof(otel->trace_id));
	json_key(json, "span_id");
	json_add_hex(json->text, otel->span_id, sizeof(otel->span_id));
	json_number(json, "trace_flags", otel->flags);
}

void json_add_context(const struct context *context, struct stack_owner owner,
		      struct text *text)
{
	const uint8_t *at = context->fixed;
	struct json json = { .text = text };
	struct ras_otel otel;

	json_open(&json, NULL, '{');
	if (context->mask & RAS_CONTEXT_COMM) {
		json_key(&json, "comm");
		json_add_string(text, at, strnlen((const char *)at, 16));
		at += 16;
	}
	if (context->mask & RAS_CONTEXT_UID) {
		json_number(&json, "uid", number_load(at, 4));
		json_number(&json, "gid", number_load(at + 4, 4));
		at += 8;
	}
	if (context->mask & RAS_CONTEXT_CGROUP) {
		json_number(&json, "cgroup", number_load(at, 8));
		at += 8;
	}
	if (context->mask & RAS_CONTEXT_CPU) {
		json_number(&json, "cpu", number_load(at, 4));
		at += 8;
	}
	if (context->mask & RAS_CONTEXT_PPID)
		json_number(&json, "ppid", number_load(at, 4));
	if (context_otel(context, &otel))
		otel_add(&json, &otel);
	if (context->stack) {
		json_key(&json, "stack");
		json_add_stack(owner, context->stack_end, context->stack,
			       context->stack_bytes, text);
	}
	json_close(&json, '}');
}

/* ---- values ---- */

static void flags_add(const struct field *field, uint64_t value,
		      struct text *text)
{
	const struct format_step *source = &field->step->source;
	struct json json = { .text = text };

	json_open(&json, NULL, '{');
	json_number(&json, "value", value);
	json_open(&json, "names", '[');
	for (size_t i = 0; i < field->name_count; i++) {
		const struct format_name *name = &source->names[i];

		if ((value & name->mask) != name->value)
			continue;
		json_key(&json, NULL);
		json_add_string(text, name->text, name->length);
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

/* An enumeration whose names are in the FMT. */
static void enum_add(const struct json_field *of,
		     const struct field_value *value, struct text *text)
{
	const char *name = field_enum_name(of->format, of->field, value->u);
	size_t length = name ? strlen(name) : 0;
	char number[NUMBER_MAX];
	char *end = of->field->is_signed ?
		    number_put_signed(number, value->i, 64) :
		    text_put_decimal(number, value->u);
	char *p = json_room(text, 2 * NUMBER_MAX + JSON_STRING_ROOM(length));

	if (p)
		wrote(text, json_put_enum(p, number, end - number, name,
					  length));
}

static void ctype_add(const struct json_field *of,
		      const struct field_value *value, struct text *text,
		      uint8_t *note)
{
	char *p = json_room(text, of->budget->text + JSON_VALUE_SLACK);
	enum json_bytes invalid = JSON_BYTES_NONE;
	bool incomplete;

	if (!p)
		return;
	wrote(text, json_put_value(&of->format->types, of->field->ctype,
				   value->data, value->length, p, of->budget,
				   &invalid, &incomplete));
	if (incomplete)
		*note = JSON_NOTE_INCOMPLETE;
	if (invalid == JSON_BYTES_LOST)
		*note = JSON_NOTE_NOT_TEXT;
	if (!of->budget->text)
		*note = JSON_NOTE_TOO_LONG;
}

static void json_string_add(const struct json_field *of, const uint8_t *data,
			    size_t n, struct text *text, uint8_t *note)
{
	char *p = json_room(text, JSON_STRING_ROOM(n));
	enum json_bytes invalid = JSON_BYTES_NONE;

	if (!p)
		return;
	wrote(text, json_put_checked(p, data, n, &invalid));
	if (invalid == JSON_BYTES_LOST)
		*note = JSON_NOTE_NOT_TEXT;
}

/* Of few characters: numbers, and what is text only. */
static void number_add(const struct json_field *of,
		       const struct decode_piece *piece,
		       const struct field_value *value, struct text *text)
{
	char *p = json_room(text, NUMBER_MAX + 2);
	float narrow = value->f;

	if (!p)
		return;
	switch (value->kind) {
	case FIELD_UNSIGNED:
	case FIELD_DURATION:
		p = text_put_decimal(p, value->u);
		break;
	case FIELD_SIGNED:
		p = number_put_signed(p, value->i, 64);
		break;
	case FIELD_BOOL:
		p = number_put_bool(p, value->u);
		break;
	case FIELD_FLOAT:
		p = of->field->bytes == sizeof(narrow) ?
		    json_put_float(p, (const uint8_t *)&narrow, 4) :
		    json_put_float(p, (const uint8_t *)&value->f, 8);
		break;
	default:	/* TIME, TEXT */
		*p++ = '"';
		p = field_text_put(of->field, piece, p);
		*p++ = '"';
	}
	wrote(text, p);
}

static void json_piece_add(const struct json_field *of,
			   const struct decode_piece *piece, struct text *text,
			   uint8_t *note)
{
	struct field_value value = field_value(of->field, piece);

	if (!*note)
		*note = value.note;
	if (!value.there) {
		TEXT_ADD(text, "null");
		return;
	}
	switch (value.kind) {
	case FIELD_STRING:
		json_string_add(of, value.data, value.length, text, note);
		break;
	case FIELD_BYTES:
		json_add_hex(text, value.data, value.length);
		break;
	case FIELD_CTYPE:
		ctype_add(of, &value, text, note);
		break;
	case FIELD_STACK:
		json_add_stack(of->owner, piece->stack, value.data,
			       value.length, text);
		break;
	case FIELD_ADDRESS:
		json_add_address(of->owner, value.u, false, text);
		break;
	case FIELD_POINTER:
		pointer_add(text, value.u);
		break;
	case FIELD_ENUM:
		if (of->field->names)
			enum_add(of, &value, text);
		else
			ctype_add(of, &value, text, note);
		break;
	case FIELD_FLAGS:
		flags_add(of->field, value.u, text);
		break;
	default:
		number_add(of, piece, &value, text);
	}
}

void json_add_field(const struct json_field *of, struct text *text,
		    uint8_t *note)
{
	const struct decode_piece *piece = of->piece;
	size_t length = 0;

	*note = NOTE_NONE;
	if (!of->field->array ||
	    (piece->note && !piece->bytes && of->end == piece + 1)) {
		json_piece_add(of, piece, text, note);
		return;
	}
	if (of->field->step->letter == 'C') {
		/* %R%C: characters in a row are a string */
		for (const struct decode_piece *p = piece; p < of->end; p++) {
			length += p->bytes;
			if (p->note && !*note)
				*note = p->note;
		}
		json_string_add(of, piece->data, length, text, note);
		return;
	}
	text_add_char(text, '[');
	for (; piece < of->end && !piece->nothing; piece++) {
		if (piece > of->piece)
			text_add_char(text, ',');
		json_piece_add(of, piece, text, note);
	}
	text_add_char(text, ']');
}

/* ---- notes ---- */

static const char *note_word(uint8_t note)
{
	if (note == JSON_NOTE_NOT_TEXT)
		return "not_text";
	if (note == JSON_NOTE_INCOMPLETE)
		return "incomplete";
	return note == JSON_NOTE_TOO_LONG ? "too_long" :
					    decode_note_words[note];
}

void json_add_note(const struct json_field *of, uint8_t note,
		   struct text *text)
{
	const struct decode_piece *piece = of->piece;
	struct json json = { .text = text };
	size_t bytes;

	/* The piece that the note is of, the first one of several. */
	while (piece < of->end && piece->note != note)
		piece++;
	if (piece == of->end)
		piece = of->piece;
	bytes = note == JSON_NOTE_NOT_TEXT ?
		of->end[-1].data + of->end[-1].bytes - piece->data :
		piece->bytes;
	json_open(&json, NULL, '{');
	json_string(&json, "why", note_word(note));
	switch (note) {
	case NOTE_CUT:
		if (piece->whole) {
			json_number(&json, "recorded", piece->bytes);
			json_number(&json, "of", piece->whole);
		}
		break;
	case JSON_NOTE_INCOMPLETE:
		json_open(&json, "parts", '[');
		json_put_marks(&of->format->types, of->field->ctype,
			       piece->data, piece->bytes, &json);
		json_close(&json, ']');
		break;
	case NOTE_UNREADABLE:
	case NOTE_SELECTOR:
	case NOTE_LEFT:
	case NOTE_NOT_TRIED:
	case NOTE_CALLER:
		json_key(&json, "pointer");
		pointer_add(text, piece->pointer);
		break;
	case NOTE_SHORT:
		json_number(&json, "bytes", piece->bytes);
		json_number(&json, "of", piece->step->bytes);
		/* fall through */
	case JSON_NOTE_NOT_TEXT:
		if (!bytes)
			break;
		json_key(&json, "data");
		json_add_hex(text, piece->data, bytes);
	}
	json_close(&json, '}');
}
