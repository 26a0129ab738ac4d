// SPDX-License-Identifier: GPL-2.0
#include "render.h"

#include <errno.h>
#include <rastrace/buffer.h>
#include <stdlib.h>
#include <string.h>
#include "lib/names.h"
#include "lib/number.h"
#include "lib/text.h"
#include "plain_data.h"
#include "field.h"

enum plain_code {
	PLAIN_END,
	PLAIN_REPEAT,		/* the next one, to the end of the item */
	PLAIN_MAJOR,
	PLAIN_MINOR,
	PLAIN_STRING,		/* these two: the rest of the item */
	PLAIN_REST,
	/* of a fixed width */
	PLAIN_SKIP,		/* the least of them */
	PLAIN_HEX8,
	PLAIN_HEX16,
	PLAIN_HEX32,
	PLAIN_HEX64,
	PLAIN_UINT,		/* 1, 2, 4 or 8 bytes, as those of the next */
	PLAIN_INT,
	PLAIN_DOUBLE,		/* %D */
	PLAIN_QUAD,		/* %Q */
	PLAIN_CHAR,
	PLAIN_BYTES,
	PLAIN_CONTROL,		/* any other typed one */
};

/* A control and the text in front of it. */
struct plain_step {
	uint8_t code;		/* enum plain_code */
	bool item;		/* after %P */
	bool close;		/* %R: no blank between two of them */
	uint16_t bytes;
	uint32_t length;	/* of the text */
	const char *text;	/* may be read TEXT_SLACK further */
	const struct format_step *source;
};

/* ---- compiling ---- */

static uint8_t typed_code(const struct format_step *source)
{
	static const uint8_t hex[] = {
		[1] = PLAIN_HEX8, [2] = PLAIN_HEX16, [4] = PLAIN_HEX32,
		[8] = PLAIN_HEX64,
	};
	unsigned int bytes = source->bytes;

	if (source->big || source->bits != 8 * bytes || (bytes & (bytes - 1)))
		return PLAIN_CONTROL;
	switch (source->type) {
	case FORMAT_HEX:
		return hex[bytes];
	case FORMAT_UINT:
		return PLAIN_UINT;
	case FORMAT_INT:
		return PLAIN_INT;
	default:
		return PLAIN_CONTROL;
	}
}

/* PLAIN_END: records are never plain. */
static uint8_t step_code(const struct decode_step *step)
{
	static const uint8_t codes[128] = {
		['X'] = PLAIN_MAJOR, ['Y'] = PLAIN_MINOR,
		['R'] = PLAIN_REPEAT, ['I'] = PLAIN_SKIP, ['B'] = PLAIN_HEX8,
		['W'] = PLAIN_HEX16, ['F'] = PLAIN_HEX32, ['L'] = PLAIN_HEX64,
		['D'] = PLAIN_DOUBLE, ['Q'] = PLAIN_QUAD, ['C'] = PLAIN_CHAR,
	};

	if (step->items)
		return PLAIN_END;
	if (step->letter == STEP_TYPED)
		return typed_code(&step->source);
	if (step->letter == 'S')
		return step->rest ? PLAIN_STRING : PLAIN_END;
	if (step->letter == STEP_HEX)
		return step->rest ? PLAIN_REST : PLAIN_BYTES;
	if (step->letter == 'I' && !step->bytes)
		return PLAIN_END;
	return codes[(int)step->letter];
}

/* A prefix that no control takes with it needs one that takes nothing. */
static struct plain_step *prefix_end(struct plain_step *plain)
{
	if (!plain->item)
		return plain;
	plain->code = PLAIN_SKIP;
	return plain + 1;
}

static bool control_set(struct plain_step *plain,
			const struct decode_step *step)
{
	plain->code = step_code(step);
	plain->close = step->letter == 'C' || step->letter == 'I';
	plain->bytes = step->bytes;
	plain->source = &step->source;
	return plain->code != PLAIN_END && plain->bytes == step->bytes;
}

/* false: records are never plain. */
static bool steps_make(const struct decode_format *format,
		       struct plain_step *plain)
{
	const struct decode_step *step = format->steps;

	for (size_t i = 0; i <= format->count; i++)
		plain[i].text = format->text;
	for (; step < format->steps + format->count; step++) {
		if (step->letter == STEP_TEXT) {
			if (!plain->length)
				plain->text = step->text;
			/* it follows what was there */
			plain->length += step->length;
			continue;
		}
		if (step->letter == 'P' || step->letter == 'R')
			plain = prefix_end(plain);
		if (step->letter == 'P')
			plain->item = true;
		else if (!control_set(plain++, step))
			return false;
	}
	prefix_end(plain);
	return true;
}

int plain_prepare(struct decode_format *format)
{
	struct plain_step *plain = calloc(format->count + 1, sizeof(*plain));

	if (!plain)
		return -ENOMEM;
	if (format->takes_data && steps_make(format, plain))
		format->plain = plain;
	else
		free(plain);
	return 0;
}

/* ---- values ---- */

/* %D: the high word first, %Q: the first double word */
PLAIN_INLINE char *plain_pair_put(char *p, uint64_t first, uint64_t second,
				  int digits)
{
	p = text_put_hex(p, first, digits);
	*p++ = ' ';
	return text_put_hex(p, second, digits);
}

/* What is left of the item; or a string, up to its zero. */
PLAIN_INLINE char *rest_put(struct plain_data *d, bool is_string, char *p)
{
	const uint8_t *data = d->at;
	size_t n = 0;

	if (!is_string)
		return plain_rest(d, &n) ? text_put_bytes(p, data, n) : NULL;
	if (d->in_item)
		n = safe_text_plain(p, data, d->end - data);
	if (n && data + n == d->end) {
		d->at = d->end;
		return p + n;
	}
	return plain_string(d, &n) ? text_put_safe(p, data, n) : NULL;
}

/* NULL: it doesn't find what it takes. */
PLAIN_INLINE char *step_put(struct plain_data *d, const struct plain_step *step,
			    const struct ras_record *record, char *p)
{
	const uint8_t *data = plain_take(d, step->item, step->bytes);

	if (!data)
		return NULL;
	switch (step->code) {
	case PLAIN_MAJOR:
		return text_put_hex(p, record->major, 4);
	case PLAIN_MINOR:
		return text_put_hex(p, record->minor, 4);
	case PLAIN_STRING:
		return rest_put(d, true, p);
	case PLAIN_REST:
		return rest_put(d, false, p);
	case PLAIN_HEX8:
		return text_put_hex(p, *data, 2);
	case PLAIN_HEX16:
		return text_put_hex(p, number_load(data, 2), 4);
	case PLAIN_HEX32:
		return text_put_hex(p, number_load(data, 4), 8);
	case PLAIN_HEX64:
		return text_put_hex(p, number_load(data, 8), 16);
	case PLAIN_UINT:
		return text_put_decimal(p, plain_load(data, step->bytes));
	case PLAIN_INT:
		return number_put_signed(p, plain_load(data, step->bytes),
					 8 * step->bytes);
	case PLAIN_DOUBLE:
		return plain_pair_put(p, number_load(data + 2, 2),
				      number_load(data, 2), 4);
	case PLAIN_QUAD:
		return plain_pair_put(p, number_load(data, 4),
				      number_load(data + 4, 4), 8);
	case PLAIN_CHAR:
		return text_put_safe(p, data, 1);
	case PLAIN_BYTES:
		return text_put_bytes(p, data, step->bytes);
	case PLAIN_CONTROL:
		return control_put(step->source, data, p);
	default:		/* PLAIN_SKIP */
		return p;
	}
}

/* An item that holds a whole number of them. */
static char *repeat_put(struct plain_data *d, const struct plain_step *step,
			const struct ras_record *record, char *p)
{
	if (step->code < PLAIN_SKIP || !plain_item(d) || d->at == d->end ||
	    (d->end - d->at) % step->bytes)
		return NULL;
	for (;;) {
		p = step_put(d, step, record, p);
		if (d->at == d->end)
			return p;
		if (!step->close)
			*p++ = ' ';
	}
}

char *plain_put(const struct decode_format *format,
		const struct ras_record *record, size_t skip, char *p)
{
	const struct plain_step *step = format->plain;
	struct plain_data d = plain_data_of(record, skip);

	if (!step)
		return NULL;
	for (; p; step++) {
		p = text_put_wide(p, step->text, step->length);
		if (step->code == PLAIN_END)
			return p;
		if (step->code == PLAIN_REPEAT) {
			struct plain_data copy = d;

			p = repeat_put(&copy, ++step, record, p);
			d = copy;
		} else {
			p = step_put(&d, step, record, p);
		}
	}
	return NULL;
}

#define NOTE_MAX	64	/* bytes of the longest note, with some room; a
				 * TEXT_ROW_MAX has room in two */

struct render {
	char *p;
	const struct render_input *input;
	struct value_budget budget;
};

/* ---- notes ---- */

#define NOTE(r, literal)	((r)->p = TEXT_PUT((r)->p, literal))

static void note_put(struct render *r, const char *text)
{
	r->p = text_put(r->p, text, strlen(text));
}

static void note_short(struct render *r, const struct decode_piece *piece)
{
	NOTE(r, "<");
	r->p = text_put_decimal(r->p, piece->bytes);
	NOTE(r, " of ");
	r->p = text_put_decimal(r->p, piece->step->bytes);
	NOTE(r, " bytes>");
}

/* Of a text whose length the program knows. */
static void note_whole(struct render *r, const struct decode_piece *piece)
{
	NOTE(r, "<cut: ");
	r->p = text_put_decimal(r->p, piece->bytes);
	NOTE(r, " of ");
	r->p = text_put_decimal(r->p, piece->whole);
	NOTE(r, " bytes>");
}

/* Notes after what there is of a value, or instead of it. */
static void note_any(struct render *r, const struct decode_piece *piece)
{
	static const char *const texts[NOTE_KINDS] = {
		[NOTE_UNREADABLE] = "<not readable: ",
		[NOTE_SELECTOR] = "<bad selector: ",
		[NOTE_LEFT] = "<left alone: ",
		[NOTE_NOT_TRIED] = "<not tried: ",
		[NOTE_CALLER] = "<caller unknown: ",
		[NOTE_ARITHMETIC] = "<division by zero>",
		[NOTE_UNKNOWN] = "<not known>",
		[NOTE_ABSENT] = "<not available here>",
		[NOTE_MODULE] = "<not available: needs rastrace.ko on 6.12 or "
				"later>",
		[NOTE_NOT_TRACED] = "<not traced>",
		[NOTE_CUT] = "<cut>",
		[NOTE_NO_END] = "<no end>",
		[NOTE_NOT_FORMATTED] = "<not formatted>",
		[NOTE_CUT_BEFORE] = "<cut>",
	};

	if (piece->note == NOTE_NO_PREFIX) {
		NOTE(r, "<no prefix:");
		for (size_t i = 0; i < piece->bytes; i++) {
			*r->p++ = ' ';
			r->p = text_put_hex(r->p, piece->data[i], 2);
		}
		NOTE(r, ">");
	} else if (piece->note == NOTE_SHORT) {
		note_short(r, piece);
	} else {
		note_put(r, texts[piece->note]);
		if (piece->note > NOTE_CALLER)
			return;
		r->p = text_put_hex(r->p, piece->pointer, 16);
		NOTE(r, ">");
	}
}

/* ---- values ---- */

/* Two numbers of `digits` with a separator between. */
static void put_pair(struct render *r, uint32_t a, char separator, uint32_t b,
		     int digits)
{
	r->p = text_put_hex(r->p, a, digits);
	*r->p++ = separator;
	r->p = text_put_hex(r->p, b, digits);
}

/* In lines of its own. */
static void put_dump(struct render *r, const uint8_t *data, size_t n)
{
	for (size_t row = 0; row < n; row += TEXT_ROW) {
		*r->p++ = '\n';
		r->p = text_put_row(r->p, data, n, row);
	}
}

/* Letters of the manual of a fixed width; all bytes are there. */
static void put_letter(struct render *r, char letter, const uint8_t *data,
		       bool in_item)
{
	uint32_t first, second;

	switch (letter) {
	case 'B':
		r->p = text_put_hex(r->p, data[0], 2);
		break;
	case 'C':
		r->p = text_put_safe(r->p, data, 1);
		break;
	case 'W':
		r->p = text_put_hex(r->p, number_load(data, 2), 4);
		break;
	case 'D':
		put_pair(r, number_load(data + 2, 2), ' ', number_load(data, 2),
			 4);
		break;
	case 'F':
		r->p = text_put_hex(r->p, number_load(data, 4), 8);
		break;
	case 'Q':
		put_pair(r, number_load(data, 4), ' ', number_load(data + 4, 4),
			 8);
		break;
	case 'L':
		r->p = text_put_hex(r->p, number_load(data, 8), 16);
		break;
	case 'A':
		/* registers: segment first; memory: offset first */
		first = number_load(data, 2);
		second = number_load(data + 2, 2);
		if (in_item)
			put_pair(r, second, ':', first, 4);
		else
			put_pair(r, first, ':', second, 4);
		break;
	}
}

/* A value that is there. */
static void put_value(struct render *r, const struct decode_piece *piece)
{
	const struct decode_step *step = piece->step;

	switch (step->letter) {
	case 'S':
		r->p = text_put_safe(r->p, piece->data, piece->bytes);
		break;
	case 'U':
	case STEP_HEX:
		r->p = text_put_bytes(r->p, piece->data, piece->bytes);
		break;
	case STEP_DUMP:
		put_dump(r, piece->data, piece->bytes);
		break;
	case STEP_STACK:
		/* Of what is no stack a dump. */
		if (RAS_ITEM_KIND(piece->status) == RAS_ITEM_STACK)
			r->p = stack_put(r->input->owner, piece->stack,
					 piece->data, piece->bytes, r->p);
		else
			put_dump(r, piece->data, piece->bytes);
		break;
	case STEP_SYM:
		r->p = stack_put_address(r->input->owner,
					 number_load(piece->data, step->bytes),
					 r->p);
		break;
	case STEP_VALUE:
		r->p = value_put(&r->input->format->types, step->ctype,
				 piece->data, piece->bytes, r->p, &r->budget);
		break;
	case STEP_TYPED:
		r->p = control_put(&step->source, piece->data, r->p);
		break;
	default:
		put_letter(r, step->letter, piece->data, piece->in_item);
	}
}

/* What there is of a value that needs more; a C type has its own note. */
static void put_part(struct render *r, const struct decode_piece *piece)
{
	switch (piece->step->letter) {
	case STEP_VALUE:
	case STEP_DUMP:
	case 'S':
		put_value(r, piece);
		break;
	default:
		r->p = text_put_bytes(r->p, piece->data, piece->bytes);
	}
	if (piece->step->letter == STEP_VALUE)
		return;
	if (piece->bytes)
		*r->p++ = ' ';
	note_short(r, piece);
}

static void put_piece(struct render *r, const struct decode_piece *piece)
{
	if (piece->nothing)
		;
	else if (piece->note == NOTE_SHORT)
		put_part(r, piece);
	else if (piece->note == NOTE_NONE || piece->note == NOTE_CUT ||
		 piece->note == NOTE_NO_END)
		put_value(r, piece);
	if (piece->cut && piece->whole)
		note_whole(r, piece);
	else if (piece->cut)
		NOTE(r, "<cut>");
	else if (piece->note != NOTE_NONE && piece->note != NOTE_SHORT &&
		 !piece->shared)
		note_any(r, piece);
	if (piece->stack_end) {
		/* other controls have taken the stack's addresses */
		if (!piece->nothing)
			*r->p++ = ' ';
		note_put(r, names_stack_stopped(piece->stack.end));
	}
}

char *render_piece(const struct render_input *input,
		   const struct decode_piece *piece, char *p)
{
	struct render r = { p, input, VALUE_BUDGET };

	put_piece(&r, piece);
	return r.p;
}

char *render_pieces(const struct render_input *input,
		    const struct decode_piece *pieces, size_t count, char *p)
{
	struct render r = { p, input, VALUE_BUDGET };

	for (const struct decode_piece *piece = pieces;
	     piece < pieces + count; piece++) {
		const struct decode_step *step = piece->step;

		switch (step->letter) {
		case STEP_TEXT:
			r.p = text_put(r.p, step->text, step->length);
			break;
		case 'X':
			r.p = text_put_hex(r.p, input->record->major, 4);
			break;
		case 'Y':
			r.p = text_put_hex(r.p, input->record->minor, 4);
			break;
		default:
			if (piece->again && step->letter != 'C')
				*r.p++ = ' ';
			put_piece(&r, piece);
		}
	}
	return r.p;
}

/* Every byte makes at most 8 and a separator, but what typed controls say;
 * every step at most two notes. */
static void room_count(struct decode_format *format,
		       const struct decode_step *step)
{
	size_t n;

	format->room += 2 * NOTE_MAX;
	if (step->letter != STEP_TYPED)
		return;
	n = control_room(&step->source);
	format->room += n;
	if (step->repeats && n / step->bytes + 1 > format->room_each)
		format->room_each = n / step->bytes + 1;
}

void render_prepare(struct decode_format *format)
{
	format->room = format->text_length + 2 * NOTE_MAX + TEXT_SLACK;
	format->room_each = 9;
	for (size_t i = 0; i < format->count; i++)
		room_count(format, &format->steps[i]);
	if (format->has_values)
		format->room += VALUE_TEXT_MAX;
	if (!format->has_addresses)
		return;
	format->room += (format->count + 1) * STACK_ROOM(0);
	format->room_each += STACK_LINE_MAX / 4 + 1;
}
