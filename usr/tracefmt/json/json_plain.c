// SPDX-License-Identifier: GPL-2.0
#include "json_plain.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/read/read.h"

#define KEY_START	",\"fields\":{"
#define CELL_START	"\"{"

enum json_plain_code {
	JSON_PLAIN_END,
	JSON_PLAIN_STRING,		/* these two: the rest of the item */
	JSON_PLAIN_REST,
	/* of a fixed width; numbers of 1, 2, 4 or 8 bytes */
	JSON_PLAIN_SKIP,		/* the first of them */
	JSON_PLAIN_BYTES,
	JSON_PLAIN_UINT,
	JSON_PLAIN_INT,
};

struct json_plain_step {
	uint8_t code;		/* enum json_plain_code; of a field that isn't
				 * wanted, one that takes as much */
	bool item;		/* after %P */
	uint16_t bytes;
	uint16_t length;	/* of the key; 0: not wanted */
	const char *key;	/* ,"name": and room to read on; the first one
				 * wanted has the form's start, not a comma */
};

struct json_plain {
	size_t key_bytes;
	size_t count;
	char *keys;		/* after the steps */
	bool none;		/* no field is wanted */
	bool cell;		/* JSON_PLAIN_CELL: quotes are doubled */
	struct json_plain_step steps[];
};

/* ---- making ---- */

static enum json_plain_code plain_number_code(const struct decode_step *step,
				   const struct field *field)
{
	if (step->source.big || field->bits != 8 * field->bytes ||
	    (field->bytes & (field->bytes - 1)))
		return JSON_PLAIN_END;
	if (field->kind == FIELD_UNSIGNED)
		return JSON_PLAIN_UINT;
	return field->kind == FIELD_SIGNED ? JSON_PLAIN_INT : JSON_PLAIN_END;
}

/* A code; JSON_PLAIN_END: records are never plain. */
static enum json_plain_code plain_step_code(const struct decode_step *step,
				 const struct field *field)
{
	if (step->bytes > UINT16_MAX || step->items)
		return JSON_PLAIN_END;
	if (step->letter == 'I')
		return step->bytes ? JSON_PLAIN_SKIP : JSON_PLAIN_END;
	if (!field || field->array)
		return JSON_PLAIN_END;
	if (step->letter == 'S')
		return step->rest ? JSON_PLAIN_STRING : JSON_PLAIN_END;
	if (step->letter == STEP_HEX)
		return step->rest ? JSON_PLAIN_REST : JSON_PLAIN_BYTES;
	return plain_number_code(step, field);
}

static bool plain_step_takes(const struct decode_step *step)
{
	return step->letter != STEP_TEXT && step->letter != 'X' &&
	       step->letter != 'Y';
}

PLAIN_INLINE char *plain_quote_put(const struct json_plain *plain, char *p)
{
	*p++ = '"';
	if (plain->cell)
		*p++ = '"';
	return p;
}

static void plain_key_make(struct json_plain *plain,
			   struct json_plain_step *made, const char *name)
{
	char *start = plain->keys + plain->key_bytes, *p = start;

	if (!plain->none)
		p = TEXT_PUT(p, ",");
	else
		p = plain->cell ? TEXT_PUT(p, CELL_START) :
				  TEXT_PUT(p, KEY_START);
	/* letters, digits and '_', which need no escape */
	p = plain_quote_put(plain, p);
	p = text_put(p, name, strlen(name));
	p = plain_quote_put(plain, p);
	*p++ = ':';
	made->key = start;
	made->length = p - start;
	plain->key_bytes += made->length;
	plain->none = false;
}

/* A prefix that no control takes with it needs one that takes nothing. The next
 * step. */
static struct json_plain_step *plain_prefix_end(struct json_plain *plain)
{
	struct json_plain_step *made = &plain->steps[plain->count];

	if (!made->item)
		return made;
	made->code = JSON_PLAIN_SKIP;
	plain->count++;
	return made + 1;
}

static bool plain_steps_make(struct json_plain *plain,
		       const struct match_point *point,
		       const struct json_key *keys)
{
	const struct decode_format *format = &point->format;

	for (size_t i = 0; i <= format->count; i++)
		plain->steps[i].key = plain->keys;
	for (size_t i = 0; i < format->count; i++) {
		const struct decode_step *step = &format->steps[i];
		struct json_plain_step *made = &plain->steps[plain->count];
		bool is_field = step->field != DECODE_NO_FIELD;

		if (!plain_step_takes(step))
			continue;
		if (step->letter == 'P') {
			made = plain_prefix_end(plain);
			made->item = true;
			continue;
		}
		made->code = plain_step_code(step, is_field ?
				       &point->fields.fields[step->field] :
				       NULL);
		made->bytes = step->bytes;
		if (made->code == JSON_PLAIN_END)
			return false;
		if (is_field && keys[step->field].wanted)
			plain_key_make(plain, made,
				 point->fields.fields[step->field].name);
		else if (made->code > JSON_PLAIN_SKIP)
			made->code = JSON_PLAIN_SKIP;
		plain->count++;
	}
	plain_prefix_end(plain);
	return true;
}

/* Names are at most as long as the FMT that they are from, with a number. */
static size_t plain_keys_room(const struct field_set *set)
{
	size_t n = sizeof(KEY_START) + TEXT_SLACK;

	for (size_t i = 0; i < set->count; i++)
		n += JSON_STRING_ROOM(strlen(set->fields[i].name)) + 4;
	return n;
}

int json_plain_make(struct json_plain **made, const struct match_point *point,
		    const struct json_key *keys, enum json_plain_form form)
{
	size_t steps =
		(point->format.count + 1) * sizeof(struct json_plain_step);
	struct json_plain *plain;

	*made = NULL;
	if (!point->formatted)
		return 0;
	plain = calloc(1, sizeof(*plain) + steps +
				  plain_keys_room(&point->fields));
	if (!plain)
		return -ENOMEM;
	plain->keys = (char *)plain->steps + steps;
	plain->none = true;
	plain->cell = form == JSON_PLAIN_CELL;
	if (plain_steps_make(plain, point, keys) && !plain->none)
		*made = plain;
	else
		free(plain);
	return 0;
}

/* ---- putting ---- */

/* In a cell the quotes of JSON are doubled. */
PLAIN_INLINE char *plain_bytes_put(const struct json_plain *plain,
				   const uint8_t *data, size_t n, char *p)
{
	if (!plain->cell)
		return json_put_hex(p, data, n);
	*p++ = '"';
	p = json_put_hex(p, data, n);
	*p++ = '"';
	return p;
}

PLAIN_INLINE char *plain_rest_put(const struct json_plain *plain,
				  struct plain_data *d,
				  const struct json_plain_step *step, char *p)
{
	const uint8_t *data = d->at;
	size_t n;

	if (!plain_rest(d, &n) || !n)
		return NULL;
	return step->length ? plain_bytes_put(plain, data, n, p) : p;
}

/* A cell with a quote in it isn't plain. */
PLAIN_INLINE char *plain_string_put(const struct json_plain *plain,
				    struct plain_data *d,
				    const struct json_plain_step *step, char *p)
{
	const uint8_t *data = d->at;
	enum json_bytes invalid = JSON_BYTES_NONE;
	size_t n;

	if (!plain_string(d, &n))
		return NULL;
	if (!step->length)
		return p;
	if (!plain->cell) {
		p = json_put_checked(p, data, n, &invalid);
	} else {
		if (memchr(data, '"', n))
			return NULL;
		*p++ = '"';
		p = json_put_checked(p, data, n, &invalid);
		*p++ = '"';
	}
	return invalid ? NULL : p;
}

/* NULL: it doesn't find what it takes. */
PLAIN_INLINE char *plain_step_put(const struct json_plain *plain,
				  struct plain_data *d,
				  const struct json_plain_step *step, char *p)
{
	const uint8_t *data = plain_take(d, step->item, step->bytes);

	if (!data)
		return NULL;
	switch (step->code) {
	case JSON_PLAIN_STRING:
		return plain_string_put(plain, d, step, p);
	case JSON_PLAIN_REST:
		return plain_rest_put(plain, d, step, p);
	case JSON_PLAIN_BYTES:
		return plain_bytes_put(plain, data, step->bytes, p);
	case JSON_PLAIN_UINT:
		return text_put_decimal(p, plain_load(data, step->bytes));
	case JSON_PLAIN_INT:
		return number_put_signed(p, plain_load(data, step->bytes),
					 8 * step->bytes);
	default:		/* JSON_PLAIN_SKIP */
		return p;
	}
}

size_t json_plain_room(const struct json_plain *plain, size_t length)
{
	return plain->key_bytes + plain->count * (NUMBER_MAX + 4) +
	       JSON_STRING_ROOM(length) + TEXT_SLACK;
}

char *json_plain_put(const struct json_plain *plain,
		     const struct ras_record *record, size_t skip, char *p)
{
	struct plain_data d = plain_data_of(record, skip);

	for (const struct json_plain_step *step = plain->steps; p; step++) {
		p = text_put_wide(p, step->key, step->length);
		if (step->code == JSON_PLAIN_END) {
			*p++ = '}';
			if (plain->cell)
				*p++ = '"';
			return p;
		}
		p = plain_step_put(plain, &d, step, p);
	}
	return NULL;
}
