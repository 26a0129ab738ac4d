// SPDX-License-Identifier: GPL-2.0
/* Fields of records: which status they have, and their bytes (ctf_field.h). */
#include <string.h>
#include "lib/read/read.h"
#include "ctf_ctype.h"
#include "ctf_field.h"
#include "ctf_status.h"

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
		[NOTE_ABSENT] = CTF_STATUS_ABSENT,
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
	    !ctf_buffer_is_text(value->data, value->length))
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

bool ctf_field_is_whole(const struct ctf_field *f)
{
	const struct decode_piece *piece = f->first;
	struct ctf_reading r;

	if (!f->array) {
		r = single_read(f);
		return reading_is_plain(f, &r);
	}
	for (uint32_t i = 0; i < f->count; i++) {
		if (i)
			piece = piece_next(piece);
		r = ctf_piece_read(f, piece);
		if (!reading_is_plain(f, &r))
			return false;
	}
	return true;
}

static void address_write(struct ctf_buffer *out, struct stack_owner owner,
			  uint64_t address)
{
	char name[SYMBOLS_NAME_MAX];

	ctf_buffer_number(out, address, 8);
	ctf_buffer_string(out, name,
			  stack_put_address(owner, address, name) - name);
}

void ctf_field_write_stack(struct ctf_buffer *out, struct stack_owner owner,
			   struct ras_stack stack, const uint8_t *data,
			   size_t n)
{
	ctf_buffer_number(out, stack.end, 1);
	ctf_buffer_number(out, n / 8, 2);
	for (size_t i = 0; i + 8 <= n; i += 8)
		address_write(out, owner, number_load(data + i, 8));
}

static void float_write(struct ctf_buffer *out, double value,
			unsigned int bytes)
{
	float narrow = value;
	uint64_t raw = 0;

	if (bytes == sizeof(narrow))
		memcpy(&raw, &narrow, sizeof(narrow));
	else
		memcpy(&raw, &value, sizeof(value));
	ctf_buffer_number(out, raw, bytes);
}

/* struct flags: "READ | WRITE", "0x10" without a name. */
static void flags_write(struct ctf_buffer *out, const struct field *field,
			uint64_t value)
{
	const struct format_name *names = field->step->source.names;
	const char *between = "";

	ctf_buffer_number(out, value, 8);
	for (size_t i = 0; i < field->name_count; i++) {
		if ((value & names[i].mask) != names[i].value)
			continue;
		ctf_buffer_print(out, "%s", between);
		ctf_buffer_add(out, field->names[i],
			       strlen(field->names[i]));
		between = " | ";
	}
	if (!*between)
		ctf_buffer_print(out, "0x%llX", (unsigned long long)value);
	ctf_buffer_number(out, 0, 1);
}

static void ctf_text_write(struct ctf_buffer *out, const struct field *field,
			   const struct decode_piece *piece)
{
	char text[NUMBER_MAX];

	ctf_buffer_string(out, text,
			  field_text_put(field, piece, text) - text);
}

static void value_write(struct ctf_buffer *out, const struct ctf_field *f,
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
		/* fall through */
	case FIELD_BYTES:
		ctf_buffer_bytes(out, value->data, value->length);
		break;
	case FIELD_STRING:
		ctf_buffer_string(out, value->data, value->length);
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
		ctf_buffer_number(out, value->u, 8);
		break;
	default:
		ctf_buffer_number(out, value->u, f->field->bytes);
	}
}

static void reading_write(struct ctf_buffer *out, const struct ctf_field *f,
			  const struct ctf_reading *r, struct stack_owner owner,
			  bool with_status)
{
	if (with_status)
		ctf_buffer_number(out, r->status, 1);
	switch (ctf_statuses[r->status].content) {
	case CTF_CONTENT_VALUE:
		value_write(out, f, r, owner, with_status ?
			    CTF_STRINGS_WITH_STATUS : CTF_STRINGS_PLAIN);
		break;
	case CTF_CONTENT_POINTER:
		ctf_buffer_number(out, r->value.pointer, 8);
		break;
	case CTF_CONTENT_NOT_TEXT:
		ctf_buffer_string(out, r->value.data, r->value.length);
		/* fall through */
	case CTF_CONTENT_BYTES:
		ctf_buffer_bytes(out, r->value.data, r->value.length);
		break;
	case CTF_CONTENT_TEXT:
		ctf_text_write(out, f->field, r->piece);
		break;
	case CTF_CONTENT_NOTHING:
		break;
	}
}

void ctf_field_write(struct ctf_buffer *out, const struct ctf_field *f,
		     struct stack_owner owner, bool with_status)
{
	const struct decode_piece *piece = f->first;
	struct ctf_reading r;

	if (!f->array) {
		r = single_read(f);
		reading_write(out, f, &r, owner, with_status);
		return;
	}
	ctf_buffer_number(out, f->count, 2);
	for (uint32_t i = 0; i < f->count; i++) {
		if (i)
			piece = piece_next(piece);
		r = ctf_piece_read(f, piece);
		reading_write(out, f, &r, owner, with_status);
	}
}
