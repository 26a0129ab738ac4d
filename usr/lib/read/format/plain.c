// SPDX-License-Identifier: GPL-2.0
#include "plain.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/number.h"
#include "lib/text.h"
#include "control.h"
#include "plain_data.h"

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
