// SPDX-License-Identifier: GPL-2.0
#include "ctf_class.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/formats/tff.h"
#include "ctf_tsdl.h"

/*
 * Fields (format/field.h) in CTF. Each name gets a leading underscore, which
 * readers drop, so that none is a keyword of TSDL. babeltrace2 2.0 takes _a for
 * the same as __a: further leading underscores, and one more, go to the end of
 * the name. What isn't a field has one at its end, which no field's name has.
 *
 * Where all fields of a record are there and all strings are text, a field is
 * its value, and one after %R a sequence of values:
 *
 *	integer { ... } _len;
 *	uint16_t _part_length_; string _part[_part_length_];
 *
 * Otherwise a status precedes each field, and the value is there only if it is
 * one of those that have a value:
 *
 *	enum status _len_status_;
 *	variant <_len_status_> {
 *		integer { ... } value;
 *		struct nothing empty;		a string
 *		...
 *		struct at_pointer not_readable;
 *		struct nothing not_traced;
 *		struct bytes incomplete;
 *	} _len;
 */

/* ---- fields in the metadata ---- */

/* The names that a control has for its values. */
static void names_tsdl(struct text *tsdl, const struct field *field)
{
	const struct format_name *names = field->step->source.names;

	ctf_tsdl_enum(tsdl, field->bytes, field->is_signed);
	for (size_t i = 0; i < field->name_count; i++)
		ctf_tsdl_enumerator(tsdl, i, field->names[i], names[i].value,
				    field->is_signed);
	text_print(tsdl, " }");
}

/* NULL: no memory. */
static char *ctf_name_make(const char *name)
{
	int n = strspn(name, "_");
	char *made;

	if (asprintf(&made, "%s%.*s%s", name + n, n, name, n ? "_" : "") < 0)
		return NULL;
	return made;
}

/* 0 or -ENOMEM. */
static int ctf_field_open(struct ctf_field *f, const struct field *field,
			  const struct value_types *types)
{
	struct text tsdl = { 0 };

	*f = (struct ctf_field){
		.field = field,
		.types = types,
		.name = ctf_name_make(field->name),
		.array = field->array && field->step->letter != 'C',
	};
	if (!f->name)
		return -ENOMEM;
	if (field->kind == FIELD_CTYPE)
		f->as_text = ctf_ctype_has_shape(types, field->ctype);
	if (field->kind == FIELD_CTYPE && !f->as_text)
		f->declared = ctf_ctype_tsdl(&tsdl, types, field->ctype,
					     "value", CTF_STRINGS_WITH_STATUS);
	else if (field->kind == FIELD_ENUM)
		f->declared = field->names ||
			      ctf_ctype_enum_tsdl(&tsdl, types, field->ctype,
						  field->bytes);
	free(tsdl.data);
	if (!tsdl.error)
		return 0;
	free(f->name);
	return -ENOMEM;
}

static void ctf_field_close(struct ctf_field *f)
{
	free(f->name);
}

/* "TYPE NAME; " of the field's value. */
static void value_tsdl(struct text *tsdl, const struct ctf_field *f,
		       const char *name, enum ctf_strings strings)
{
	static const char *const types[] = {
		[FIELD_CTYPE] = "struct bytes", [FIELD_BYTES] = "struct bytes",
		[FIELD_STRING] = "string", [FIELD_TEXT] = "string",
		[FIELD_ADDRESS] = "struct address",
		[FIELD_STACK] = "struct stack", [FIELD_FLAGS] = "struct flags",
	};
	const struct field *field = f->field;

	switch (field->kind) {
	case FIELD_FLOAT:
		ctf_tsdl_float(tsdl, field->bytes);
		break;
	case FIELD_BOOL:
		ctf_tsdl_bool(tsdl, field->bytes);
		break;
	case FIELD_ENUM:
		if (field->names)
			names_tsdl(tsdl, field);
		else if (f->declared)
			ctf_ctype_enum_tsdl(tsdl, f->types, field->ctype,
					    field->bytes);
		else
			ctf_tsdl_integer(tsdl, field->bytes, field->is_signed,
					 10);
		break;
	case FIELD_TIME:
	case FIELD_DURATION:
		ctf_tsdl_integer(tsdl, 8, field->kind == FIELD_TIME, 10);
		break;
	case FIELD_SIGNED:
		ctf_tsdl_integer(tsdl, field->bytes, true, 10);
		break;
	case FIELD_UNSIGNED:
	case FIELD_POINTER:
		ctf_tsdl_integer(tsdl, field->bytes, false,
				 field->kind == FIELD_UNSIGNED ? field->base :
								 16);
		break;
	default:
		if (field->kind == FIELD_CTYPE && f->declared) {
			ctf_ctype_tsdl(tsdl, f->types, field->ctype, name,
				       strings);
			return;
		}
		text_add_string(tsdl, f->as_text ? "string" :
						   types[field->kind]);
	}
	text_print(tsdl, " %s; ", name);
}

static void variant_tsdl(struct text *tsdl, const struct ctf_field *f)
{
	text_print(tsdl, "{ ");
	for (int i = 0; i < CTF_STATUS_KINDS; i++) {
		const struct ctf_status_entry *status = &ctf_statuses[i];

		if (status->content == CTF_CONTENT_VALUE)
			value_tsdl(tsdl, f, status->name,
				   CTF_STRINGS_WITH_STATUS);
		else
			text_print(tsdl, "%s %s; ",
				   ctf_content_types[status->content],
				   status->name);
	}
	text_print(tsdl, "} ");
}

/* place: the declarator */
static void with_status_tsdl(struct text *tsdl, const struct ctf_field *f,
			     const char *place)
{
	if (f->array) {
		TEXT_ADD(tsdl, "struct { enum status status; variant <status> ");
		variant_tsdl(tsdl, f);
		text_print(tsdl, "value; } %s; ", place);
	} else {
		text_print(tsdl, "enum status _%s_status_;\n\t\t", f->name);
		text_print(tsdl, "variant <_%s_status_> ", f->name);
		variant_tsdl(tsdl, f);
		text_print(tsdl, "%s; ", place);
	}
}

static void ctf_field_tsdl(struct text *tsdl, const struct ctf_field *f,
			   bool with_status)
{
	char *place;

	/* "_name", or "_name[_name_length_]" */
	if ((f->array ? asprintf(&place, "_%s[_%s_length_]", f->name, f->name) :
			asprintf(&place, "_%s", f->name)) < 0) {
		tsdl->error = ENOMEM;
		return;
	}
	TEXT_ADD(tsdl, "\t\t");
	if (f->array)
		text_print(tsdl, "uint16_t _%s_length_;\n\t\t", f->name);
	if (with_status)
		with_status_tsdl(tsdl, f, place);
	else
		value_tsdl(tsdl, f, place, CTF_STRINGS_PLAIN);
	TEXT_ADD(tsdl, "\n");
	free(place);
}

/* ---- fields of a record: which status they have, and their bytes ---- */

/* What a piece has for the field. */
struct ctf_reading {
	const struct decode_piece *piece;
	struct field_value value;
	enum ctf_status status;
};

/* A value as its type has it: all of it, or of a string what there is. */
static bool ctf_is_written(const struct ctf_field *f,
			   const struct field_value *value)
{
	if (!value->there)
		return false;
	return value->kind != FIELD_CTYPE || !f->declared ||
	       value->length >= f->types->types[f->field->ctype].bytes;
}

static enum ctf_status status_of(const struct ctf_field *f,
			     const struct field_value *value, bool cut)
{
	static const uint8_t without[NOTE_KINDS] = {
		[NOTE_UNREADABLE] = CTF_STATUS_NOT_READABLE,
		[NOTE_SELECTOR] = CTF_STATUS_BAD_SELECTOR,
		[NOTE_LEFT] = CTF_STATUS_LEFT_ALONE,
		[NOTE_NOT_TRIED] = CTF_STATUS_NOT_TRIED,
		[NOTE_CALLER] = CTF_STATUS_CALLER,
		[NOTE_ARITHMETIC] = CTF_STATUS_DIVISION,
		[NOTE_UNKNOWN] = CTF_STATUS_UNKNOWN,
		[NOTE_ABSENT] = CTF_STATUS_ABSENT,
		[NOTE_MODULE] = CTF_STATUS_MODULE,
		[NOTE_NOT_TRACED] = CTF_STATUS_NOT_TRACED,
		[NOTE_NO_PREFIX] = CTF_STATUS_NO_PREFIX,
		[NOTE_NOT_FORMATTED] = CTF_STATUS_NOT_FORMATTED,
		[NOTE_CUT_BEFORE] = CTF_STATUS_CUT_BEFORE,
	};

	if (without[value->note])
		return without[value->note];
	if (!ctf_is_written(f, value))
		return CTF_STATUS_INCOMPLETE;
	if (value->kind != f->field->kind)
		return value->kind == FIELD_TEXT ? CTF_STATUS_AS_TEXT :
						   CTF_STATUS_OTHER_ITEM;
	if (value->kind == FIELD_STRING && !value->length)
		return value->note == NOTE_NONE ? CTF_STATUS_EMPTY :
		       value->note == NOTE_CUT ? CTF_STATUS_CUT_BEFORE :
						 CTF_STATUS_INCOMPLETE;
	if (value->kind == FIELD_STRING &&
	    !ctf_is_text(value->data, value->length))
		return CTF_STATUS_NOT_TEXT;
	if (value->note == NOTE_SHORT)
		return CTF_STATUS_TOO_SHORT;
	if (value->note == NOTE_NO_END)
		return CTF_STATUS_NO_END;
	return value->note == NOTE_CUT || cut ? CTF_STATUS_CUT :
						CTF_STATUS_VALUE;
}

static struct ctf_reading ctf_piece_read(const struct ctf_field *f,
					 const struct decode_piece *piece)
{
	struct ctf_reading r = {
		.piece = piece, .value = field_value(f->field, piece),
	};

	r.status = status_of(f, &r.value, piece->cut);
	return r;
}

/* The next piece of the array. */
static const struct decode_piece *piece_next(const struct decode_piece *piece)
{
	const struct decode_step *step = piece->step;

	do
		piece++;
	while (piece->step != step);
	return piece;
}

/* %R%C: the characters in a row are a string. */
static struct ctf_reading row_read(const struct ctf_field *f)
{
	const struct decode_piece *piece = f->first;
	struct ctf_reading r = {
		.piece = piece,
		.value = { .kind = FIELD_STRING, .there = true },
	};
	bool cut = false;

	for (uint32_t i = 0; i < f->count; i++) {
		if (i)
			piece = piece_next(piece);
		else
			r.value.data = piece->data;
		if (piece->data == r.value.data + r.value.length)
			r.value.length += piece->bytes;
		cut |= piece->cut;
		if (piece->note && !r.value.note) {
			r.value.note = piece->note;
			r.value.pointer = piece->pointer;
		}
	}
	r.status = status_of(f, &r.value, cut);
	return r;
}

/* A field that is no array. */
static struct ctf_reading single_read(const struct ctf_field *f)
{
	static const struct decode_piece not_traced = {
		.note = NOTE_NOT_TRACED,
	};

	if (f->field->array)
		return row_read(f);
	return ctf_piece_read(f, f->count ? f->first : &not_traced);
}

/* It needs no status. */
static bool reading_is_plain(const struct ctf_field *f,
			     const struct ctf_reading *r)
{
	if (r->status != CTF_STATUS_VALUE)
		return false;
	return f->field->kind != FIELD_CTYPE || !f->declared ||
	       ctf_ctype_is_text(f->types, f->field->ctype, r->value.data);
}

/* What it is written as: its pieces, or one value. */
static uint32_t reading_count(const struct ctf_field *f)
{
	return f->array ? f->count : 1;
}

/* The next one; *piece is NULL at first. */
static struct ctf_reading reading_next(const struct ctf_field *f,
				       const struct decode_piece **piece)
{
	if (!f->array)
		return single_read(f);
	*piece = *piece ? piece_next(*piece) : f->first;
	return ctf_piece_read(f, *piece);
}

/* The field is there, as the form without a status has it. */
static bool ctf_field_is_whole(const struct ctf_field *f)
{
	const struct decode_piece *piece = NULL;
	struct ctf_reading r;

	for (uint32_t i = 0; i < reading_count(f); i++) {
		r = reading_next(f, &piece);
		if (!reading_is_plain(f, &r))
			return false;
	}
	return true;
}

static void address_write(struct text *out, struct stack_owner owner,
			  uint64_t address)
{
	char name[SYMBOLS_NAME_MAX];

	ctf_add_number(out, address, 8);
	ctf_add_string(out, name,
		       stack_put_address(owner, address, name) - name);
}

/* struct stack */
static void ctf_field_write_stack(struct text *out,
				  struct stack_owner owner,
				  struct ras_stack stack, const uint8_t *data,
				  size_t n)
{
	ctf_add_number(out, stack.end, 1);
	ctf_add_number(out, n / 8, 2);
	for (size_t i = 0; i + 8 <= n; i += 8)
		address_write(out, owner, number_load(data + i, 8));
}

static void float_write(struct text *out, double value,
			unsigned int bytes)
{
	float narrow = value;
	uint64_t raw = 0;

	if (bytes == sizeof(narrow))
		memcpy(&raw, &narrow, sizeof(narrow));
	else
		memcpy(&raw, &value, sizeof(value));
	ctf_add_number(out, raw, bytes);
}

/* struct flags: "READ | WRITE", "0x10" without a name. */
static void flags_write(struct text *out, const struct field *field,
			uint64_t value)
{
	const struct format_name *names = field->step->source.names;
	const char *between = "";

	ctf_add_number(out, value, 8);
	for (size_t i = 0; i < field->name_count; i++) {
		if ((value & names[i].mask) != names[i].value)
			continue;
		text_print(out, "%s", between);
		text_add(out, field->names[i],
			 strlen(field->names[i]));
		between = " | ";
	}
	if (!*between)
		text_print(out, "0x%llX", (unsigned long long)value);
	ctf_add_number(out, 0, 1);
}

static void ctf_text_write(struct text *out, const struct field *field,
			   const struct decode_piece *piece)
{
	char text[NUMBER_MAX];

	ctf_add_string(out, text,
		       field_text_put(field, piece, text) - text);
}

/* As text output has it. */
static void shape_write(struct text *out, const struct ctf_field *f,
			const struct field_value *value)
{
	struct value_budget budget = VALUE_BUDGET;
	char *text = malloc(VALUE_TEXT_MAX + TEXT_SLACK);

	if (!text) {
		out->error = -ENOMEM;
		return;
	}
	ctf_add_string(out, text, value_put(f->types, f->field->ctype,
					    value->data, value->length, text,
					    &budget) - text);
	free(text);
}

static void value_write(struct text *out, const struct ctf_field *f,
			const struct ctf_reading *r, struct stack_owner owner,
			enum ctf_strings strings)
{
	const struct field_value *value = &r->value;

	switch (f->field->kind) {
	case FIELD_CTYPE:
		if (f->declared) {
			ctf_ctype_write(out, f->types, f->field->ctype,
					value->data, strings);
			break;
		}
		if (f->as_text) {
			shape_write(out, f, value);
			break;
		}
		/* fall through */
	case FIELD_BYTES:
		ctf_add_bytes(out, value->data, value->length);
		break;
	case FIELD_STRING:
		ctf_add_string(out, value->data, value->length);
		break;
	case FIELD_TEXT:
		ctf_text_write(out, f->field, r->piece);
		break;
	case FIELD_ADDRESS:
		address_write(out, owner, value->u);
		break;
	case FIELD_STACK:
		ctf_field_write_stack(out, owner, r->piece->stack, value->data,
				      value->length);
		break;
	case FIELD_FLAGS:
		flags_write(out, f->field, value->u);
		break;
	case FIELD_FLOAT:
		float_write(out, value->f, f->field->bytes);
		break;
	case FIELD_TIME:
	case FIELD_DURATION:
		ctf_add_number(out, value->u, 8);
		break;
	default:
		ctf_add_number(out, value->u, f->field->bytes);
	}
}

static void reading_write(struct text *out, const struct ctf_field *f,
			  const struct ctf_reading *r, struct stack_owner owner,
			  bool with_status)
{
	if (with_status)
		ctf_add_number(out, r->status, 1);
	switch (ctf_statuses[r->status].content) {
	case CTF_CONTENT_VALUE:
		value_write(out, f, r, owner, with_status ?
			    CTF_STRINGS_WITH_STATUS : CTF_STRINGS_PLAIN);
		break;
	case CTF_CONTENT_POINTER:
		ctf_add_number(out, r->value.pointer, 8);
		break;
	case CTF_CONTENT_NOT_TEXT:
		ctf_add_string(out, r->value.data, r->value.length);
		/* fall through */
	case CTF_CONTENT_BYTES:
		ctf_add_bytes(out, r->value.data, r->value.length);
		break;
	case CTF_CONTENT_TEXT:
		ctf_text_write(out, f->field, r->piece);
		break;
	case CTF_CONTENT_NOTHING:
		break;
	}
}

static void ctf_field_write(struct text *out, const struct ctf_field *f,
			    struct stack_owner owner, bool with_status)
{
	const struct decode_piece *piece = NULL;
	struct ctf_reading r;

	if (f->array)
		ctf_add_number(out, f->count, 2);
	for (uint32_t i = 0; i < reading_count(f); i++) {
		r = reading_next(f, &piece);
		reading_write(out, f, &r, owner, with_status);
	}
}

/* ---- classes ---- */

static void class_free(struct ctf_class *class)
{
	for (size_t i = 0; i < class->field_count; i++)
		ctf_field_close(&class->fields[i]);
	free(class->fields);
	free(class);
}

static int class_fields_make(struct ctf_class *class,
			     const struct match_point *point)
{
	const struct field_set *set = &point->fields;

	class->fields = calloc(set->count + 1, sizeof(*class->fields));
	if (!class->fields)
		return -ENOMEM;
	for (; class->field_count < set->count; class->field_count++)
		if (ctf_field_open(&class->fields[class->field_count],
				   &set->fields[class->field_count],
				   &point->format.types))
			return -ENOMEM;
	return 0;
}

static struct ctf_class *class_make(const struct match_point *point)
{
	struct ctf_class *class = calloc(1, sizeof(*class));

	if (!class)
		return NULL;
	class->point = point;
	if (!point->formatted || !class_fields_make(class, point))
		return class;
	class_free(class);
	return NULL;
}

struct ctf_class *ctf_class_find(struct ctf_classes *classes,
				 const struct match_point *point)
{
	struct ctf_class *class =
		key_map_find(&classes->points, key_map_key(point));

	if (class)
		return class;
	class = class_make(point);
	if (class && key_map_add(&classes->points, key_map_key(point), class)) {
		class_free(class);
		return NULL;
	}
	return class;
}

void ctf_class_free(struct ctf_classes *classes)
{
	struct ctf_class *class;
	size_t at = 0;

	while ((class = key_map_next(&classes->points, &at)))
		class_free(class);
	key_map_free(&classes->points);
	*classes = (struct ctf_classes){ 0 };
}

/* ---- forms ---- */

enum ctf_form ctf_class_form(struct ctf_class *class,
			     const struct event *event,
			     const struct scratch *scratch)
{
	if (event_data(event).misfit ||
	    event->record->flags & RAS_RECORD_MUTED)
		return CTF_ALONE;
	if (!class->point->formatted)
		return CTF_BYTES;
	for (size_t i = 0; i < class->field_count; i++)
		class->fields[i].count = 0;
	for (size_t i = 0; i < scratch->result.count; i++) {
		const struct decode_piece *piece = &scratch->pieces[i];
		struct ctf_field *f;

		if (piece->step->field >= class->field_count || piece->nothing)
			continue;
		f = &class->fields[piece->step->field];
		if (!f->count++)
			f->first = piece;
	}
	for (size_t i = 0; i < class->field_count; i++)
		if (!ctf_field_is_whole(&class->fields[i]))
			return CTF_STATUS;
	return CTF_WHOLE;
}

/* ---- TSDL ---- */

/* What --context asked for. The stream's context has the thread's name instead
 * of the process's. The stack is one of the fields: babeltrace2 2.0
 * can't have a sequence here. */
static void context_tsdl(struct text *tsdl, uint32_t mask)
{
	static const struct {
		uint32_t mask;
		const char *tsdl;
	} parts[] = {
		{ RAS_CONTEXT_UID, "\t\tuint32_t uid;\n\t\tuint32_t gid;\n" },
		{ RAS_CONTEXT_CGROUP, "\t\tuint64_t cgroup;\n" },
		{ RAS_CONTEXT_CPU, "\t\tuint32_t cpu;\n" },
		{ RAS_CONTEXT_PPID, "\t\tuint32_t ppid;\n" },
		{ RAS_CONTEXT_OTEL, "\t\tuint8_t trace_id[16];\n"
				    "\t\tuint8_t span_id[8];\n"
				    "\t\tuint8_t otel_status;\n" },
	};

	if (!RAS_CONTEXT_BYTES(mask & ~(RAS_CONTEXT_COMM | RAS_CONTEXT_NAME)))
		return;
	text_print(tsdl, "\tcontext := struct {\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (mask & parts[i].mask)
			text_print(tsdl, "%s", parts[i].tsdl);
	text_print(tsdl, "\t};\n");
}

uint32_t ctf_class_id(struct ctf_classes *classes, struct ctf_class *class,
		      enum ctf_form form, struct text *tsdl)
{
	const struct match_point *point = class->point;
	const char *desc = "";
	char name[48];

	if (class->ids[form])
		return class->ids[form];
	class->ids[form] = ++classes->ids;
	text_print(tsdl, "event {\n\tid = %u;\n\tname = ",
		   class->ids[form]);
	if (point->formatted)
		desc = tff_string(point->tff, point->entry->desc);
	if (!*desc) {
		snprintf(name, sizeof(name), "major %u minor %u",
			 (unsigned int)(point->key >> 32 & 0xffff),
			 (unsigned int)(point->key >> 16 & 0xffff));
		desc = name;
	}
	ctf_tsdl_literal(tsdl, desc, strlen(desc));
	text_print(tsdl, ";\n\tstream_id = 0;\n");
	if (form != CTF_ALONE)
		context_tsdl(tsdl, point->context);
	text_print(tsdl, "\tfields := struct {\n");
	if (form != CTF_ALONE && point->context & RAS_CONTEXT_STACK)
		text_print(tsdl, "\t\tstruct stack _stack_;\n");
	for (size_t i = 0; form <= CTF_STATUS && i < class->field_count; i++)
		ctf_field_tsdl(tsdl, &class->fields[i], form == CTF_STATUS);
	if (form > CTF_STATUS)
		text_print(tsdl, "\t\tstruct bytes _data;\n");
	else if (classes->hex)
		text_print(tsdl, "\t\tstruct bytes _data_;\n");
	text_print(tsdl, "\t};\n};\n\n");
	return class->ids[form];
}

/* ---- an event ---- */

static void context_write(struct text *out, const struct event *event,
			  struct stack_owner owner)
{
	static const struct {
		uint32_t mask;
		uint8_t bytes, pad;
	} parts[] = {
		{ RAS_CONTEXT_UID, 8, 0 }, { RAS_CONTEXT_CGROUP, 8, 0 },
		{ RAS_CONTEXT_CPU, 4, 4 }, { RAS_CONTEXT_PPID, 4, 4 },
		{ RAS_CONTEXT_OTEL, 25, 7 },
	};
	struct context c = context_find(event->record, event->point->context);
	const uint8_t *at = c.fixed;

	if (c.mask & RAS_CONTEXT_COMM)
		at += 16;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!(c.mask & parts[i].mask))
			continue;
		text_add(out, at, parts[i].bytes);
		at += parts[i].bytes + parts[i].pad;
	}
	if (c.mask & RAS_CONTEXT_STACK)
		ctf_field_write_stack(out, owner, c.stack_end, c.stack,
				      c.stack_bytes);
}

void ctf_class_write(struct text *out, const struct ctf_classes *classes,
		     const struct ctf_class *class, enum ctf_form form,
		     const struct event *event, struct symbols *symbols)
{
	struct event_data data = event_data(event);
	struct stack_owner owner = {
		.processes = &event->trace->file.processes,
		.pid = event->record->pid, .symbols = symbols,
	};

	if (form != CTF_ALONE)
		context_write(out, event, owner);
	for (size_t i = 0; form <= CTF_STATUS && i < class->field_count; i++)
		ctf_field_write(out, &class->fields[i], owner,
				form == CTF_STATUS);
	if (form > CTF_STATUS || classes->hex)
		ctf_add_bytes(out, data.data, data.length);
}
