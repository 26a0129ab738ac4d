// SPDX-License-Identifier: GPL-2.0
#include "json_field.h"

#include <errno.h>
#include "lib/read/read.h"
#include "json_value.h"

#define NAME_MAX_BYTES	512	/* of symbols and files */
#define ADDRESS_ROOM	(3 * JSON_STRING_ROOM(NAME_MAX_BYTES) + 256)

/* Room for n bytes; where they begin, NULL: no memory. */
static inline char *room(struct text *text, size_t n)
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

static char *quoted_pointer(char *p, uint64_t value)
{
	*p++ = '"';
	p = number_put_pointer(p, value);
	*p++ = '"';
	return p;
}

/* "key":"string", cut where it is very long */
static char *member_string(char *p, const char *key, const char *value)
{
	p = text_put(p, key, strlen(key));
	return json_put_string(p, value, strnlen(value, NAME_MAX_BYTES));
}

static struct symbols_place place_find(struct stack_owner owner,
				       uint64_t address, bool caller)
{
	uint32_t pid =
		process_table_owner(owner.processes, owner.pid, &address);

	if (!owner.processes || !owner.symbols)
		return (struct symbols_place){ 0 };
	return caller ? symbols_find_caller(owner.symbols, owner.processes, pid,
					    address)
		      : symbols_find(owner.symbols, owner.processes, pid,
				     address);
}

static char *address_put(struct stack_owner owner, uint64_t address,
			 bool caller, char *p)
{
	struct symbols_place place = place_find(owner, address, caller);

	p = TEXT_PUT(p, "{\"address\":");
	p = quoted_pointer(p, address);
	if (place.symbol) {
		p = member_string(p, ",\"symbol\":", place.symbol);
		p = TEXT_PUT(p, ",\"offset\":");
		p = text_put_decimal(p, place.offset);
	}
	if (place.file) {
		p = member_string(p, ",\"file\":", place.file);
		p = TEXT_PUT(p, ",\"line\":");
		p = text_put_decimal(p, place.line);
	}
	if (place.module) {
		p = member_string(p, ",\"module\":", place.module);
		p = TEXT_PUT(p, ",\"module_offset\":");
		p = text_put_decimal(p, place.module_offset);
	}
	return TEXT_PUT(p, "}");
}

static const char *stack_end_word(uint8_t end)
{
	static const char *const words[] = {
		[RAS_STACK_DEPTH] = "depth",
		[RAS_STACK_OUTERMOST] = "outermost",
		[RAS_STACK_UNREADABLE] = "unreadable",
		[RAS_STACK_NO_FRAME] = "no_frame_pointer",
		[RAS_STACK_UNWINDER] = "unwinder",
		[RAS_STACK_NO_TABLE] = "no_table",
	};

	return end < sizeof(words) / sizeof(*words) ? words[end] : "unknown";
}

int json_stack_put(struct stack_owner owner, struct ras_stack stack,
		   const uint8_t *data, size_t n, struct text *text)
{
	const char *end = stack_end_word(stack.end);
	char *p = room(text, 32);

	if (!p)
		return -ENOMEM;
	wrote(text, TEXT_PUT(p, "{\"frames\":["));
	for (size_t i = 0; i + 8 <= n; i += 8) {
		p = room(text, ADDRESS_ROOM);
		if (!p)
			return -ENOMEM;
		if (i)
			*p++ = ',';
		wrote(text, address_put(owner, number_load(data + i, 8), true,
					p));
	}
	p = room(text, 64);
	if (!p)
		return -ENOMEM;
	p = TEXT_PUT(p, "],\"end\":\"");
	p = text_put(p, end, strlen(end));
	wrote(text, TEXT_PUT(p, "\"}"));
	return 0;
}

/* ---- numbers ---- */

static char *flags_put(const struct field *field, uint64_t value, char *p)
{
	const struct format_step *source = &field->step->source;
	bool first = true;

	p = TEXT_PUT(p, "{\"value\":");
	p = text_put_decimal(p, value);
	p = TEXT_PUT(p, ",\"names\":[");
	for (size_t i = 0; i < field->name_count; i++) {
		const struct format_name *name = &source->names[i];

		if ((value & name->mask) != name->value)
			continue;
		if (!first)
			*p++ = ',';
		first = false;
		p = json_put_string(p, name->text, name->length);
	}
	return TEXT_PUT(p, "]}");
}

static char *enum_put(const struct json_field *of,
		      const struct field_value *value, char *p)
{
	const char *name = field_enum_name(of->format, of->field, value->u);
	char number[NUMBER_MAX];
	char *end = of->field->is_signed ?
		    number_put_signed(number, value->i, 64) :
		    text_put_decimal(number, value->u);

	return json_put_enum(p, number, end - number, name,
			     name ? strlen(name) : 0);
}

/* Names of the field's own stand in its FMT, of 4 KB at most. */
static size_t names_room(const struct field *field)
{
	size_t n = 2 * NUMBER_MAX;

	for (size_t i = 0; i < field->name_count; i++)
		n += JSON_STRING_ROOM(field->step->source.names[i].length) + 1;
	return n;
}

static int named_number_put(const struct json_field *of,
			    const struct field_value *value,
			    struct text *text)
{
	char *p = room(text, names_room(of->field));

	if (!p)
		return -ENOMEM;
	wrote(text, value->kind == FIELD_FLAGS ?
		    flags_put(of->field, value->u, p) :
		    enum_put(of, value, p));
	return 0;
}

static char *float_put(const struct field_value *value, uint8_t bytes, char *p)
{
	float narrow = value->f;

	return bytes == sizeof(narrow) ?
	       json_put_float(p, (const uint8_t *)&narrow, bytes) :
	       json_put_float(p, (const uint8_t *)&value->f, bytes);
}

/* Of few characters; the others in value_put(). */
static char *number_put(const struct json_field *of,
			const struct decode_piece *piece,
			const struct field_value *value, char *p)
{
	switch (value->kind) {
	case FIELD_UNSIGNED:
	case FIELD_DURATION:
		return text_put_decimal(p, value->u);
	case FIELD_SIGNED:
		return number_put_signed(p, value->i, 64);
	case FIELD_BOOL:
		return number_put_bool(p, value->u);
	case FIELD_FLOAT:
		return float_put(value, of->field->bytes, p);
	case FIELD_POINTER:
		return quoted_pointer(p, value->u);
	default:	/* TIME, TEXT */
		*p++ = '"';
		p = field_text_put(of->field, piece, p);
		*p++ = '"';
		return p;
	}
}

/* ---- values ---- */

static int ctype_put(const struct json_field *of,
		     const struct field_value *value, struct text *text,
		     uint8_t *note)
{
	char *p = room(text, of->budget->text + JSON_VALUE_SLACK);
	enum json_bytes invalid = of->bytes;

	if (!p)
		return -ENOMEM;
	p = json_put_value(&of->format->types, of->field->ctype, value->data,
			   value->length, p, of->budget, &invalid);
	wrote(text, p);
	if (invalid == JSON_BYTES_LOST)
		*note = JSON_NOTE_NOT_TEXT;
	if (!of->budget->text)
		*note = JSON_NOTE_TOO_LONG;
	return 0;
}

static int string_put(const struct json_field *of,
		      const struct field_value *value, struct text *text,
		      uint8_t *note)
{
	char *p = room(text, JSON_STRING_ROOM(value->length));
	enum json_bytes invalid = of->bytes;

	if (!p)
		return -ENOMEM;
	wrote(text, json_put_checked(p, value->data, value->length, &invalid));
	if (invalid == JSON_BYTES_LOST)
		*note = JSON_NOTE_NOT_TEXT;
	return 0;
}

static int bytes_put(const struct field_value *value, struct text *text)
{
	char *p = room(text, JSON_HEX_ROOM(value->length));

	if (!p)
		return -ENOMEM;
	wrote(text, json_put_hex(p, value->data, value->length));
	return 0;
}

static int address_append(const struct json_field *of, uint64_t address,
			  struct text *text)
{
	char *p = room(text, ADDRESS_ROOM);

	if (!p)
		return -ENOMEM;
	wrote(text, address_put(of->owner, address, false, p));
	return 0;
}

static int value_append(const struct json_field *of,
			const struct decode_piece *piece,
			const struct field_value *value, struct text *text,
			uint8_t *note)
{
	char *p;

	switch (value->kind) {
	case FIELD_STRING:
		return string_put(of, value, text, note);
	case FIELD_BYTES:
		return bytes_put(value, text);
	case FIELD_CTYPE:
		return ctype_put(of, value, text, note);
	case FIELD_STACK:
		return json_stack_put(of->owner, piece->stack, value->data,
				      value->length, text);
	case FIELD_ADDRESS:
		return address_append(of, value->u, text);
	case FIELD_ENUM:
		if (!of->field->names)
			return ctype_put(of, value, text, note);
		return named_number_put(of, value, text);
	case FIELD_FLAGS:
		return named_number_put(of, value, text);
	default:
		p = room(text, NUMBER_MAX + 2);
		if (!p)
			return -ENOMEM;
		wrote(text, number_put(of, piece, value, p));
		return 0;
	}
}

static int piece_put(const struct json_field *of,
		     const struct decode_piece *piece, struct text *text,
		     uint8_t *note)
{
	struct field_value value = field_value(of->field, piece);
	char *p;

	if (!*note)
		*note = value.note;
	if (value.there)
		return value_append(of, piece, &value, text, note);
	p = room(text, 8);
	if (!p)
		return -ENOMEM;
	wrote(text, TEXT_PUT(p, "null"));
	return 0;
}

/* ---- arrays ---- */

static int byte_append(struct text *text, char c)
{
	char *p = room(text, 1);

	if (!p)
		return -ENOMEM;
	*p = c;
	text->used++;
	return 0;
}

/* %R%C: characters in a row are a string. */
static int characters_put(const struct json_field *of, struct text *text,
			  uint8_t *note)
{
	struct field_value value = {
		.data = of->piece->data, .length = 0,
	};

	for (const struct decode_piece *p = of->piece; p < of->end; p++) {
		value.length += p->bytes;
		if (p->note && !*note)
			*note = p->note;
	}
	return string_put(of, &value, text, note);
}

static int array_put(const struct json_field *of, struct text *text,
		     uint8_t *note)
{
	int code = byte_append(text, '[');

	for (const struct decode_piece *p = of->piece; !code && p < of->end;
	     p++) {
		if (p->nothing)
			break;
		if (p > of->piece)
			code = byte_append(text, ',');
		if (!code)
			code = piece_put(of, p, text, note);
	}
	return code ? code : byte_append(text, ']');
}

int json_field_put(const struct json_field *of, struct text *text,
		   uint8_t *note)
{
	const struct decode_piece *piece = of->piece;

	*note = NOTE_NONE;
	if (!of->field->array ||
	    (piece->note && !piece->bytes && of->end == piece + 1))
		return piece_put(of, piece, text, note);
	if (of->field->step->letter == 'C')
		return characters_put(of, text, note);
	return array_put(of, text, note);
}

/* ---- notes ---- */

/* The piece that the note is of, the first one of several. */
static const struct decode_piece *noted_piece(const struct json_field *of,
					      uint8_t note)
{
	for (const struct decode_piece *p = of->piece; p < of->end; p++)
		if (p->note == note)
			return p;
	return of->piece;
}

/* Bytes of all its pieces, which lie in a row, or of what the note is of. */
static size_t noted_bytes(const struct json_field *of,
			  const struct decode_piece *piece, uint8_t note)
{
	return note == JSON_NOTE_NOT_TEXT ?
	       of->end[-1].data + of->end[-1].bytes - piece->data :
	       piece->bytes;
}

static char *note_more(const struct decode_piece *piece, uint8_t note,
		       size_t bytes, char *p)
{
	switch (note) {
	case NOTE_UNREADABLE:
	case NOTE_SELECTOR:
	case NOTE_LEFT:
	case NOTE_NOT_TRIED:
	case NOTE_CALLER:
		p = TEXT_PUT(p, ",\"pointer\":");
		return quoted_pointer(p, piece->pointer);
	case NOTE_SHORT:
		p = TEXT_PUT(p, ",\"bytes\":");
		p = text_put_decimal(p, piece->bytes);
		p = TEXT_PUT(p, ",\"of\":");
		p = text_put_decimal(p, piece->step->bytes);
		break;
	case JSON_NOTE_NOT_TEXT:
		break;
	default:
		return p;
	}
	if (!bytes)
		return p;
	p = TEXT_PUT(p, ",\"data\":");
	return json_put_hex(p, piece->data, bytes);
}

static const char *note_word(uint8_t note)
{
	if (note == JSON_NOTE_NOT_TEXT)
		return "not_text";
	return note == JSON_NOTE_TOO_LONG ? "too_long" :
					    decode_note_words[note];
}

int json_note_put(const struct json_field *of, uint8_t note, struct text *text)
{
	const struct decode_piece *piece = noted_piece(of, note);
	size_t bytes = noted_bytes(of, piece, note);
	const char *word = note_word(note);
	char *p = room(text, 2 * NUMBER_MAX + 64 + JSON_HEX_ROOM(bytes));

	if (!p)
		return -ENOMEM;
	p = TEXT_PUT(p, "{\"why\":\"");
	p = text_put(p, word, strlen(word));
	p = TEXT_PUT(p, "\"");
	p = note_more(piece, note, bytes, p);
	wrote(text, TEXT_PUT(p, "}"));
	return 0;
}
