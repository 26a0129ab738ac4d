// SPDX-License-Identifier: GPL-2.0
#include "otlp_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/number.h"

/* Of protobuf: how a value is encoded. */
enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define VARINT_MAX	10	/* bytes */

void otlp_message_clear(struct otlp_message *m, bool is_json)
{
	m->text.used = 0;
	m->depth = 0;
	m->is_json = is_json;
	/* elements follow each other at depth 1 */
	m->json = (struct json){ .text = &m->text, .depth = 1 };
}

void otlp_top(struct otlp_message *m)
{
	if (m->is_json)
		json_open(&m->json, NULL, '{');
}

void otlp_top_end(struct otlp_message *m)
{
	if (!m->is_json)
		return;
	json_close(&m->json, '}');
	text_add_char(&m->text, '\n');
}

static char *varint_put(char *p, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*p++ = value | 0x80;
	*p++ = value;
	return p;
}

/* Room for n bytes after what is put at the returned place; NULL: none. */
static char *tag_put(struct otlp_message *m, struct otlp_field field,
		     enum wire wire, size_t n)
{
	if (text_reserve(&m->text, 2 * VARINT_MAX + n))
		return NULL;
	return varint_put(m->text.data + m->text.used,
			  field.number << 3 | wire);
}

static void otlp_wrote(struct otlp_message *m, const char *p)
{
	m->text.used = p - m->text.data;
}

void otlp_begin(struct otlp_message *m, struct otlp_field field)
{
	char *p;

	if (m->is_json) {
		json_open(&m->json, field.name, '{');
		return;
	}
	p = tag_put(m, field, WIRE_BYTES, 0);
	if (p)
		otlp_wrote(m, p);
	m->open[m->depth++ % OTLP_DEPTH] = m->text.used;
}

/* The length goes before the contents. */
void otlp_end(struct otlp_message *m)
{
	char length[VARINT_MAX];
	size_t from, n;

	if (m->is_json) {
		json_close(&m->json, '}');
		return;
	}
	from = m->open[--m->depth % OTLP_DEPTH];
	n = varint_put(length, m->text.used - from) - length;
	if (text_reserve(&m->text, n))
		return;
	memmove(m->text.data + from + n, m->text.data + from,
		m->text.used - from);
	memcpy(m->text.data + from, length, n);
	m->text.used += n;
}

void otlp_list(struct otlp_message *m, struct otlp_field field)
{
	if (m->is_json)
		json_open(&m->json, field.name, '[');
}

void otlp_list_end(struct otlp_message *m)
{
	if (m->is_json)
		json_close(&m->json, ']');
}

void otlp_elements(struct otlp_message *m, const void *elements, size_t size)
{
	if (m->is_json && size)
		json_key(&m->json, NULL);
	text_add(&m->text, elements, size);
}

static void length_delimited(struct otlp_message *m, struct otlp_field field,
			     const void *bytes, size_t length)
{
	char *p = tag_put(m, field, WIRE_BYTES, length);

	if (p)
		otlp_wrote(m, text_put(varint_put(p, length), bytes, length));
}

void otlp_string(struct otlp_message *m, struct otlp_field field,
		 const char *string, size_t length)
{
	const char *end = string + length;
	char *text, *p;

	if (m->is_json) {
		json_key(&m->json, field.name);
		json_add_string(&m->text, string, length);
		return;
	}
	text = malloc(3 * length + 1);
	if (!text) {
		m->text.error = ENOMEM;
		return;
	}
	for (p = text; string < end;) {
		size_t n = (uint8_t)*string < 0x80 ? 1 :
			   safe_text_utf8(string, end - string);

		p = n ? text_put(p, string, n) : TEXT_PUT(p, "\xef\xbf\xbd");
		string += n ? n : 1;
	}
	length_delimited(m, field, text, p - text);
	free(text);
}

static char *base64_put(char *p, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (; n; bytes += n < 3 ? n : 3, n -= n < 3 ? n : 3) {
		uint32_t word = bytes[0] << 16 | (n > 1 ? bytes[1] << 8 : 0) |
				(n > 2 ? bytes[2] : 0);

		*p++ = digits[word >> 18];
		*p++ = digits[word >> 12 & 63];
		*p++ = n > 1 ? digits[word >> 6 & 63] : '=';
		*p++ = n > 2 ? digits[word & 63] : '=';
	}
	return p;
}

void otlp_bytes(struct otlp_message *m, struct otlp_field field,
		const uint8_t *bytes, size_t length)
{
	char *p;

	if (!m->is_json) {
		length_delimited(m, field, bytes, length);
		return;
	}
	json_key(&m->json, field.name);
	if (text_reserve(&m->text, length / 3 * 4 + 8))
		return;
	p = m->text.data + m->text.used;
	*p++ = '"';
	p = base64_put(p, bytes, length);
	*p++ = '"';
	otlp_wrote(m, p);
}

void otlp_id(struct otlp_message *m, struct otlp_field field,
	     const uint8_t *id, size_t length)
{
	if (!m->is_json) {
		length_delimited(m, field, id, length);
		return;
	}
	json_key(&m->json, field.name);
	json_add_hex(&m->text, id, length);
}

static void varint_field(struct otlp_message *m, struct otlp_field field,
			 uint64_t value)
{
	char *p = tag_put(m, field, WIRE_VARINT, 0);

	if (p)
		otlp_wrote(m, varint_put(p, value));
}

static void eight_put(struct otlp_message *m, uint64_t word)
{
	word = htole64(word);
	text_add(&m->text, (char *)&word, sizeof(word));
}

/* A value of JSON, as text */
static void quoted_put(struct otlp_message *m, uint64_t value, bool is_signed)
{
	char *p;

	if (text_reserve(&m->text, NUMBER_MAX))
		return;
	p = m->text.data + m->text.used;
	*p++ = '"';
	p = is_signed ? number_put_signed(p, value, 64) :
			text_put_decimal(p, value);
	*p++ = '"';
	otlp_wrote(m, p);
}

static void fixed_field(struct otlp_message *m, struct otlp_field field,
			uint64_t value, bool is_signed)
{
	char *p;

	if (m->is_json) {
		json_key(&m->json, field.name);
		quoted_put(m, value, is_signed);
		return;
	}
	p = tag_put(m, field, WIRE_FIXED64, 0);
	if (!p)
		return;
	otlp_wrote(m, p);
	eight_put(m, value);
}

void otlp_fixed(struct otlp_message *m, struct otlp_field field,
		uint64_t value)
{
	fixed_field(m, field, value, false);
}

void otlp_signed_fixed(struct otlp_message *m, struct otlp_field field,
		       int64_t value)
{
	fixed_field(m, field, value, true);
}

void otlp_integer(struct otlp_message *m, struct otlp_field field,
		  int64_t value)
{
	if (!m->is_json) {
		varint_field(m, field, value);
		return;
	}
	json_key(&m->json, field.name);
	quoted_put(m, value, true);
}

void otlp_number(struct otlp_message *m, struct otlp_field field,
		 uint32_t value)
{
	if (m->is_json)
		json_number(&m->json, field.name, value);
	else
		varint_field(m, field, value);
}

void otlp_bool(struct otlp_message *m, struct otlp_field field, bool value)
{
	if (m->is_json)
		json_boolean(&m->json, field.name, value);
	else
		varint_field(m, field, value);
}

static uint64_t double_bits(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

static void double_put(struct otlp_message *m, double value)
{
	if (text_reserve(&m->text, NUMBER_MAX))
		return;
	otlp_wrote(m, json_put_float(m->text.data + m->text.used,
				     (const uint8_t *)&value, sizeof(value)));
}

void otlp_double(struct otlp_message *m, struct otlp_field field, double value)
{
	if (!m->is_json) {
		fixed_field(m, field, double_bits(value), false);
		return;
	}
	json_key(&m->json, field.name);
	double_put(m, value);
}

/* A message in form: the length, then the values without tags */
static void array_begin(struct otlp_message *m, struct otlp_field field)
{
	if (m->is_json)
		json_open(&m->json, field.name, '[');
	else
		otlp_begin(m, field);
}

static void array_end(struct otlp_message *m)
{
	if (m->is_json)
		json_close(&m->json, ']');
	else
		otlp_end(m);
}

void otlp_fixed_array(struct otlp_message *m, struct otlp_field field,
		      const uint64_t *values, size_t count)
{
	array_begin(m, field);
	for (size_t i = 0; i < count; i++) {
		if (m->is_json) {
			json_key(&m->json, NULL);
			quoted_put(m, values[i], false);
		} else {
			eight_put(m, values[i]);
		}
	}
	array_end(m);
}

void otlp_double_array(struct otlp_message *m, struct otlp_field field,
		       const double *values, size_t count)
{
	array_begin(m, field);
	for (size_t i = 0; i < count; i++) {
		if (m->is_json) {
			json_key(&m->json, NULL);
			double_put(m, values[i]);
		} else {
			eight_put(m, double_bits(values[i]));
		}
	}
	array_end(m);
}

/* ---- attributes ---- */

void otlp_attribute_begin(struct otlp_message *m, uint32_t field,
			  const char *prefix, const char *key)
{
	size_t before = strlen(prefix), length = strlen(key);
	char *name = malloc(before + length + 1);

	otlp_begin(m, OTLP_FIELD(field, NULL));
	if (name) {
		memcpy(name, prefix, before);
		memcpy(name + before, key, length);
		otlp_string(m, OTLP_FIELD(1, "key"), name, before + length);
	} else {
		m->text.error = ENOMEM;
	}
	free(name);
	otlp_begin(m, OTLP_FIELD(2, "value"));
}

void otlp_attribute_end(struct otlp_message *m)
{
	otlp_end(m);
	otlp_end(m);
}

void otlp_attribute_string(struct otlp_message *m, uint32_t field,
			   const char *key, const char *value, size_t length)
{
	otlp_attribute_begin(m, field, "", key);
	otlp_string(m, OTLP_STRING_VALUE, value, length);
	otlp_attribute_end(m);
}

void otlp_attribute_integer(struct otlp_message *m, uint32_t field,
			    const char *key, int64_t value)
{
	otlp_attribute_begin(m, field, "", key);
	otlp_integer(m, OTLP_INT_VALUE, value);
	otlp_attribute_end(m);
}
