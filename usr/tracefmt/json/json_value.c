// SPDX-License-Identifier: GPL-2.0
#include "json_value.h"

#include <string.h>
#include "lib/read/read.h"

#define DEPTH_MAX	32	/* structures and arrays in each other */
#define ENUM_NAME_MAX	512
#define WIDE_MAX	(8u << 10)

/* Brackets that are open can always be closed, and a key gets its null: that
 * much room is beyond `end`. */
struct value {
	const struct value_types *types;
	char *p, *end;
	uint32_t work;
	bool full;		/* nothing more is begun */
	enum json_bytes invalid;	/* of strings */
	unsigned int depth;
};

static void value_write(struct value *v, uint32_t ctype, const uint8_t *data,
			size_t have);

/* Room for n bytes more. */
static bool room(struct value *v, size_t n)
{
	if ((size_t)(v->end - v->p) < n)
		v->full = true;
	return !v->full;
}

static bool work_take(struct value *v)
{
	if (!v->work)
		v->full = true;
	else
		v->work--;
	return !v->full;
}

static void write_null(struct value *v)
{
	v->p = TEXT_PUT(v->p, "null");
}

/* ---- scalars ---- */

/* As value.h has it, which for numbers is JSON, too. */
static void write_number(struct value *v, uint32_t ctype, const uint8_t *data,
			 size_t have)
{
	struct value_budget budget = { NUMBER_MAX, 1 };

	v->p = value_put(v->types, ctype, data, have, v->p, &budget);
}

char *json_put_enum(char *p, const char *number, size_t number_length,
		    const char *name, size_t name_length)
{
	p = TEXT_PUT(p, "{\"value\":");
	p = text_put(p, number, number_length);
	p = TEXT_PUT(p, ",\"name\":");
	p = name ? json_put_string(p, name, name_length) : TEXT_PUT(p, "null");
	return TEXT_PUT(p, "}");
}

/* The name is what value.h has when that isn't the number. */
static void write_enum(struct value *v, uint32_t ctype, const uint8_t *data)
{
	const struct tff_ctype *type = &v->types->types[ctype];
	struct value_budget budget = { ENUM_NAME_MAX, v->work };
	char name[ENUM_NAME_MAX + 8], number[NUMBER_MAX], *p;
	uint64_t raw = number_load(data, type->bytes);
	size_t length;

	p = type->is_signed ? number_put_signed(number, raw, 8 * type->bytes) :
			      text_put_decimal(number, raw);
	length = value_put(v->types, ctype, data, type->bytes, name, &budget) -
		 name;
	v->work = budget.work;
	v->full |= !budget.text;
	if (!room(v, NUMBER_MAX + JSON_STRING_ROOM(length))) {
		write_null(v);
		return;
	}
	if (length == (size_t)(p - number) && !memcmp(name, number, length))
		v->p = json_put_enum(v->p, number, length, NULL, 0);
	else
		v->p = json_put_enum(v->p, number, p - number, name, length);
}

static void write_bytes(struct value *v, const uint8_t *data, size_t n)
{
	if (room(v, JSON_HEX_ROOM(n)))
		v->p = json_put_hex(v->p, data, n);
	else
		write_null(v);
}

/* Characters of more than a byte, up to a zero: what value.h has between
 * quotes. */
static void write_wide(struct value *v, uint32_t ctype, const uint8_t *data,
		       size_t n)
{
	char text[WIDE_MAX + 8], *end;
	struct value_budget budget = { WIDE_MAX, v->work };

	end = value_put(v->types, ctype, data, n, text, &budget);
	v->work = budget.work;
	v->full |= !budget.text;
	end = memrchr(text, text[0], end - text);
	if (end > text && room(v, JSON_STRING_ROOM(end - text)))
		v->p = json_put_string(v->p, text + 1, end - text - 1);
	else
		write_null(v);
}

static void write_chars(struct value *v, const uint8_t *data, size_t n)
{
	n = strnlen((const char *)data, n);
	if (room(v, JSON_STRING_ROOM(n)))
		v->p = json_put_checked(v->p, data, n, &v->invalid);
	else
		write_null(v);
}

static void write_pointer(struct value *v, uint64_t value)
{
	v->p = TEXT_PUT(v->p, "\"");
	v->p = number_put_pointer(v->p, value);
	v->p = TEXT_PUT(v->p, "\"");
}

/* All bytes of it are there. */
static void write_scalar(struct value *v, uint32_t ctype, const uint8_t *data)
{
	const struct tff_ctype *type = &v->types->types[ctype];
	size_t bytes = type->bytes;
	bool is_number = bytes == 16 || (bytes && bytes <= 8);

	if (!room(v, NUMBER_MAX) || !bytes)
		write_null(v);
	else if (type->kind <= TFF_CTYPE_INT && is_number)
		write_number(v, ctype, data, bytes);
	else if (type->kind == TFF_CTYPE_BOOL && is_number && bytes <= 8)
		write_number(v, ctype, data, bytes);
	else if (type->kind == TFF_CTYPE_CHAR && bytes == 1)
		v->p = json_put_checked(v->p, data, 1, &v->invalid);
	else if (type->kind == TFF_CTYPE_CHAR && (bytes == 2 || bytes == 4))
		write_wide(v, ctype, data, bytes);
	else if (type->kind == TFF_CTYPE_FLOAT && (bytes == 4 || bytes == 8))
		v->p = json_put_float(v->p, data, bytes);
	else if (type->kind == TFF_CTYPE_POINTER && bytes && bytes <= 8)
		write_pointer(v, number_load(data, bytes));
	else if (type->kind == TFF_CTYPE_ENUM && bytes && bytes <= 8)
		write_enum(v, ctype, data);
	else
		write_bytes(v, data, bytes);
}

/* ---- composed types ---- */

/* A bit-field as if it were the whole type. */
static bool write_bits(struct value *v, const struct tff_member *m,
		       const uint8_t *data, size_t have)
{
	const struct tff_ctype *type = &v->types->types[m->ctype];
	uint8_t whole[16] = { 0 };
	uint64_t raw;

	if (type->bytes > sizeof(whole) ||
	    !value_load_bits(m, data, have, &raw))
		return false;
	if (type->kind == TFF_CTYPE_INT || type->is_signed)
		raw = number_sign(raw, m->bits);
	memcpy(whole, &raw, sizeof(raw));
	value_write(v, m->ctype, whole, type->bytes);
	return true;
}

static bool is_record(const struct tff_ctype *type)
{
	return type->kind == TFF_CTYPE_STRUCT || type->kind == TFF_CTYPE_UNION;
}

/* Where a member's bytes begin; false: data ends before them. */
static bool member_at(const struct value *v, const struct tff_member *m,
		      size_t have, uint64_t *at)
{
	*at = m->value / 8;
	return *at < have || (*at == have &&
			      !v->types->types[m->ctype].bytes);
}

static size_t member_bytes(const struct value *v, const struct tff_member *m,
			   size_t rest)
{
	size_t bytes = v->types->types[m->ctype].bytes;

	return bytes < rest ? bytes : rest;
}

/* "name": with a comma in front where it takes one. */
static bool key_write(struct value *v, const char *name, bool first)
{
	size_t length = strnlen(name, VALUE_TEXT_MAX);

	if (!room(v, JSON_STRING_ROOM(length) + 2))
		return false;
	if (!first)
		*v->p++ = ',';
	v->p = json_put_string(v->p, name, length);
	*v->p++ = ':';
	return true;
}

/* Members without the brackets; whether none was written so far. */
static bool members_write(struct value *v, const struct tff_ctype *type,
			  const uint8_t *data, size_t have, bool first)
{
	const struct tff_member *m = v->types->members + type->first_member;
	const struct tff_member *end = m + type->members;
	uint64_t at;

	v->full |= v->depth > DEPTH_MAX;
	have = have < type->bytes ? have : type->bytes;
	for (; m < end && work_take(v); m++) {
		const char *name = v->types->strings + m->name;
		const struct tff_ctype *of = &v->types->types[m->ctype];

		if (!member_at(v, m, have, &at))
			continue;
		if (!*name && is_record(of) && !m->bits) {
			v->depth++;
			first = members_write(v, of, data + at,
					      have - at, first);
			v->depth--;
			continue;
		}
		if (m->bits && (m->value + m->bits - 1) / 8 >= have)
			continue;
		if (!key_write(v, name, first))
			break;
		first = false;
		if (!m->bits)
			value_write(v, m->ctype, data + at,
				    member_bytes(v, m, have - at));
		else if (!write_bits(v, m, data, have))
			write_null(v);
	}
	return first;
}

static void record_write(struct value *v, const struct tff_ctype *type,
			 const uint8_t *data, size_t have)
{
	*v->p++ = '{';
	members_write(v, type, data, have, true);
	*v->p++ = '}';
}

/* An array without a count has as many elements as there are. */
static void array_write(struct value *v, uint32_t ctype, const uint8_t *data,
			size_t have)
{
	const struct tff_ctype *type = &v->types->types[ctype];
	const struct tff_ctype *element = &v->types->types[type->target];
	size_t size = element->bytes;
	uint64_t count = size ? have / size : type->count;

	if (type->count && type->count < count)
		count = type->count;
	if (element->kind == TFF_CTYPE_CHAR && size == 1) {
		write_chars(v, data, count);
		return;
	}
	if (element->kind == TFF_CTYPE_CHAR && (size == 2 || size == 4)) {
		write_wide(v, ctype, data, count * size);
		return;
	}
	*v->p++ = '[';
	for (uint64_t i = 0; i < count && room(v, 1); i++) {
		if (i)
			*v->p++ = ',';
		value_write(v, type->target, data + i * size, size);
	}
	*v->p++ = ']';
}

/* ---- */

static void value_write(struct value *v, uint32_t ctype, const uint8_t *data,
			size_t have)
{
	const struct tff_ctype *type = &v->types->types[ctype];

	if (v->depth >= DEPTH_MAX)
		v->full = true;
	if (!work_take(v) || !room(v, 2)) {
		write_null(v);
		return;
	}
	v->depth++;
	if (is_record(type))
		record_write(v, type, data, have);
	else if (type->kind == TFF_CTYPE_ARRAY)
		array_write(v, ctype, data, have);
	else if (have >= type->bytes)
		write_scalar(v, ctype, data);
	else
		write_null(v);
	v->depth--;
}

char *json_put_value(const struct value_types *types, uint32_t ctype,
		     const uint8_t *data, size_t have, char *p,
		     struct value_budget *budget, enum json_bytes *invalid)
{
	struct value v = {
		.types = types, .p = p, .end = p + budget->text,
		.work = budget->work, .invalid = *invalid,
	};

	value_write(&v, ctype, data, have);
	budget->text = v.full || v.p > v.end ? 0 : v.end - v.p;
	budget->work = v.work;
	*invalid = v.invalid;
	return v.p;
}
