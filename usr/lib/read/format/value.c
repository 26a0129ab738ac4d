// SPDX-License-Identifier: GPL-2.0
#include "value.h"

#include <stdio.h>
#include <string.h>
#include "lib/formats/format.h"
#include "lib/number.h"
#include "lib/text.h"

#define DEPTH_MAX	32	/* structures and arrays in each other */
#define REPEATS_MIN	10	/* equal elements that are told as a number */

struct value {
	const struct value_types *types;
	char *p, *end;
	uint32_t work;
	bool full;		/* nothing more is printed */
	unsigned int depth;
};

/* A value of at most 8 bytes: the low `bits` of raw. */
struct scalar {
	uint64_t raw;
	unsigned int bits;
};

static void value_print(struct value *v, uint32_t ctype, const uint8_t *data,
			size_t have);

struct value_types value_types_of(const struct tff *tff,
				  const struct tff_section *section)
{
	return (struct value_types){
		.types = tff->ctypes + section->first_ctype,
		.count = section->ctypes,
		.members = tff->members + section->first_member,
		.strings = tff->strings,
		.by_name = tff->by_name + section->first_ctype,
	};
}

/* Below, at or above the name and kind; -1 is below every kind. */
static int type_compare(const struct tff_ctype *type, const char *strings,
			const char *name, size_t length, int kind)
{
	int names = strncmp(strings + type->name, name, length);

	if (names)
		return names;
	return strings[type->name + length] ? 1 : type->kind - kind;
}

/* The first that isn't below; TFF_CTYPE_NONE. */
static uint32_t type_search(const struct value_types *types, const char *name,
			    size_t length, int kind)
{
	uint32_t low = 0, high = types->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t ctype = types->by_name[middle];

		if (type_compare(&types->types[ctype], types->strings, name,
				 length, kind) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < types->count ? types->by_name[low] : TFF_CTYPE_NONE;
}

static uint32_t type_find(const struct value_types *types, const char *name,
			  size_t length, int kind)
{
	uint32_t ctype = type_search(types, name, length, kind);

	if (ctype == TFF_CTYPE_NONE)
		return ctype;
	if (kind < 0)
		kind = types->types[ctype].kind;
	return type_compare(&types->types[ctype], types->strings, name, length,
			    kind) ? TFF_CTYPE_NONE : ctype;
}

uint32_t value_type_find(const struct value_types *types, const char *name,
			 size_t length)
{
	uint32_t ctype = type_find(types, name, length, -1);
	uint8_t kind;
	size_t tag = format_type_tag(name, length, &kind);

	if (ctype != TFF_CTYPE_NONE || !tag)
		return ctype;
	return type_find(types, name + tag, length - tag, kind);
}

/* ---- text ---- */

static void out(struct value *v, const char *text, size_t length)
{
	if ((size_t)(v->end - v->p) < length)
		v->full = true;
	if (!v->full)
		v->p = text_put(v->p, text, length);
}

#define OUT(v, literal) out(v, literal, sizeof(literal) - 1)

/* The string or bytes may be long: no more is converted than there is room. */
static void out_safe(struct value *v, const void *bytes, size_t length)
{
	if ((size_t)(v->end - v->p) / 4 < length)
		v->full = true;
	if (!v->full)
		v->p = text_put_safe(v->p, bytes, length);
}

static void out_name(struct value *v, uint32_t name)
{
	const char *text = v->types->strings + name;

	out_safe(v, text, strnlen(text, VALUE_TEXT_MAX));
}

static void out_decimal(struct value *v, uint64_t number)
{
	char text[20];

	out(v, text, text_put_decimal(text, number) - text);
}

static void out_hex_bytes(struct value *v, const uint8_t *data, size_t n)
{
	char text[3];

	for (size_t i = 0; i < n && !v->full; i++) {
		text[2] = ' ';
		text_put_hex(text, data[i], 2);
		out(v, text, i + 1 < n ? 3 : 2);
	}
}

/* "<4 of 8 bytes>" */
static void out_short(struct value *v, size_t have, size_t bytes)
{
	OUT(v, "<");
	out_decimal(v, have);
	OUT(v, " of ");
	out_decimal(v, bytes);
	OUT(v, " bytes>");
}

static bool work_take(struct value *v)
{
	if (!v->work)
		v->full = true;
	else
		v->work--;
	return !v->full;
}

/* ---- scalars ---- */

/* A character of 1, 2 or 4 bytes, without quotes. */
static void char_print(struct value *v, uint32_t c, size_t bytes)
{
	uint8_t utf8[4], *u = utf8;
	char text[12];

	if (bytes == 1 || c < 0x80) {
		*u++ = c;
	} else if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		out(v, text, sprintf(text, "\\u%04X", c));
		return;
	} else if (c < 0x800) {
		*u++ = 0xc0 | c >> 6;
		*u++ = 0x80 | (c & 0x3f);
	} else {
		if (c < 0x10000)
			*u++ = 0xe0 | c >> 12;
		else
			*u++ = 0xf0 | c >> 18;
		if (c >= 0x10000)
			*u++ = 0x80 | (c >> 12 & 0x3f);
		*u++ = 0x80 | (c >> 6 & 0x3f);
		*u++ = 0x80 | (c & 0x3f);
	}
	out_safe(v, utf8, u - utf8);
}

static uint64_t mask(unsigned int bits)
{
	return bits < 64 ? (1ULL << bits) - 1 : ~0ULL;
}

/* The enumerator of this value, NULL. */
static const struct tff_member *enum_find(struct value *v,
					  const struct tff_ctype *type,
					  uint64_t value, uint64_t bits)
{
	const struct tff_member *m = v->types->members + type->first_member;

	for (uint32_t i = 0; i < type->members && work_take(v); i++)
		if ((m[i].value & bits) == value)
			return &m[i];
	return NULL;
}

/* A set of flags: no two enumerators have a bit in common, and those that the
 * value holds make all of it. */
static bool enum_is_flags(struct value *v, const struct tff_ctype *type,
			  uint64_t value)
{
	const struct tff_member *m = v->types->members + type->first_member;
	uint64_t all = 0, held = 0;

	for (uint32_t i = 0; i < type->members && work_take(v); i++) {
		if (m[i].value & all)
			return false;
		all |= m[i].value;
		if ((m[i].value & value) == m[i].value)
			held |= m[i].value;
	}
	return value && held == value;
}

static void flags_print(struct value *v, const struct tff_ctype *type,
			uint64_t value)
{
	const struct tff_member *m = v->types->members + type->first_member;
	bool first = true;

	for (uint32_t i = 0; i < type->members; i++) {
		if (!m[i].value || (m[i].value & value) != m[i].value)
			continue;
		if (!first)
			OUT(v, " | ");
		first = false;
		out_name(v, m[i].name);
	}
}

static void enum_print(struct value *v, const struct tff_ctype *type,
		       struct scalar s)
{
	unsigned int shift = 64 - s.bits;
	uint64_t bits = mask(type->bytes * 8), value = s.raw & bits;
	const struct tff_member *m;
	char text[NUMBER_MAX];

	if (type->is_signed)
		value = (uint64_t)((int64_t)(s.raw << shift) >> shift) & bits;
	m = enum_find(v, type, value, bits);
	if (m)
		out_name(v, m->name);
	else if (enum_is_flags(v, type, value))
		flags_print(v, type, value);
	else if (type->is_signed)
		out(v, text, number_put_signed(text, s.raw, s.bits) - text);
	else
		out(v, text, text_put_decimal(text, s.raw) - text);
}

static void scalar_print(struct value *v, const struct tff_ctype *type,
			 struct scalar s)
{
	char text[NUMBER_MAX], *end = text;

	switch (type->kind) {
	case TFF_CTYPE_INT:
		end = number_put_signed(text, s.raw, s.bits);
		break;
	case TFF_CTYPE_BOOL:
		end = number_put_bool(text, s.raw);
		break;
	case TFF_CTYPE_POINTER:
		end = number_put_pointer(text, s.raw);
		break;
	case TFF_CTYPE_CHAR:
		OUT(v, "'");
		char_print(v, s.raw, type->bytes);
		OUT(v, "'");
		return;
	case TFF_CTYPE_ENUM:
		enum_print(v, type, s);
		return;
	default:
		end = text_put_decimal(text, s.raw);
	}
	out(v, text, end - text);
}

/* Integers of 16 bytes. */
static void wide_print(struct value *v, const struct tff_ctype *type,
		       const uint8_t *data)
{
	char digits[40], *p = digits + sizeof(digits);
	unsigned __int128 rest;
	bool minus;

	memcpy(&rest, data, sizeof(rest));
	minus = type->kind == TFF_CTYPE_INT && (__int128)rest < 0;
	if (minus)
		rest = -rest;
	do {
		*--p = '0' + (int)(rest % 10);
		rest /= 10;
	} while (rest);
	if (minus)
		*--p = '-';
	out(v, p, digits + sizeof(digits) - p);
}

/* ---- composed types ---- */

bool value_load_bits(const struct tff_member *m, const uint8_t *data,
		     size_t have, uint64_t *raw)
{
	uint64_t first = m->value / 8, last = (m->value + m->bits - 1) / 8;
	unsigned int shift = m->value % 8;
	uint8_t bytes[9] = { 0 };

	if (last < first || last >= have)
		return false;
	memcpy(bytes, data + first, last - first + 1);
	memcpy(raw, bytes, sizeof(*raw));
	*raw >>= shift;
	if (shift)
		*raw |= (uint64_t)bytes[8] << (64 - shift);
	*raw &= mask(m->bits);
	return true;
}

/* An array without a count has no bytes of the structure: it is empty there.
 * false: nothing of the member is there. */
static bool member_print(struct value *v, const struct tff_member *m,
			 const uint8_t *data, size_t have)
{
	const struct tff_ctype *type = &v->types->types[m->ctype];
	uint64_t at = m->value / 8;
	struct scalar s = { .bits = m->bits };
	size_t rest;

	if (m->bits ? !value_load_bits(m, data, have, &s.raw) :
		      at > have || (at == have && type->bytes))
		return false;
	rest = have - at;
	if (v->types->strings[m->name]) {
		out_name(v, m->name);
		OUT(v, " = ");
	}
	if (m->bits)
		scalar_print(v, type, s);
	else
		value_print(v, m->ctype, data + at,
			    rest < type->bytes ? rest : type->bytes);
	return true;
}

static void struct_print(struct value *v, const struct tff_ctype *type,
			 const uint8_t *data, size_t have)
{
	const struct tff_member *m = v->types->members + type->first_member;

	if (have > type->bytes)
		have = type->bytes;
	OUT(v, "{");
	for (uint32_t i = 0; i < type->members && work_take(v); i++) {
		if (i)
			OUT(v, ", ");
		if (member_print(v, &m[i], data, have))
			continue;
		out_short(v, have, type->bytes);
		break;
	}
	OUT(v, "}");
}

/* Up to a zero, or all of it. */
static void string_print(struct value *v, const uint8_t *data, size_t n,
			 size_t width)
{
	const uint8_t *zero = width == 1 ? memchr(data, 0, n) : NULL;

	OUT(v, "\"");
	if (width == 1)
		out_safe(v, data, zero ? (size_t)(zero - data) : n);
	for (size_t i = 0; width > 1 && i < n && !v->full; i++) {
		uint32_t c = number_load(data + i * width, width);

		if (!c)
			break;
		char_print(v, c, width);
	}
	OUT(v, "\"");
}

/* How many of the n elements from data on are equal. */
static size_t run_length(const uint8_t *data, size_t n, size_t size)
{
	size_t run = 1;

	if (!size)
		return n;
	while (run < n && !memcmp(data, data + run * size, size))
		run++;
	return run;
}

/* n whole elements. */
static void elements_print(struct value *v, const struct tff_ctype *type,
			   const uint8_t *data, uint64_t n)
{
	size_t size = v->types->types[type->target].bytes;

	for (uint64_t i = 0, run; i < n && !v->full; i += run) {
		if (i)
			OUT(v, ", ");
		value_print(v, type->target, data + i * size, size);
		run = run_length(data + i * size, n - i, size);
		if (run < REPEATS_MIN) {
			run = 1;
			continue;
		}
		OUT(v, " <repeats ");
		out_decimal(v, run);
		OUT(v, " times>");
	}
}

/* An array without a count has as many elements as there are. */
static void array_print(struct value *v, const struct tff_ctype *type,
			const uint8_t *data, size_t have)
{
	const struct tff_ctype *element = &v->types->types[type->target];
	uint64_t count = type->count, whole;
	size_t size = element->bytes;

	if (!count && size)
		count = have / size;
	whole = size && count > have / size ? have / size : count;
	if (element->kind == TFF_CTYPE_CHAR &&
	    (size == 1 || size == 2 || size == 4)) {
		string_print(v, data, whole, size);
		if (whole < count)
			out_short(v, have, count * size);
		return;
	}
	OUT(v, "{");
	elements_print(v, type, data, whole);
	if (whole < count) {
		if (whole)
			OUT(v, ", ");
		out_short(v, have, count * size);
	}
	OUT(v, "}");
}

/* ---- values ---- */

static bool is_scalar(const struct tff_ctype *type)
{
	return (type->kind <= TFF_CTYPE_CHAR ||
		type->kind == TFF_CTYPE_POINTER ||
		type->kind == TFF_CTYPE_ENUM) &&
	       type->bytes && type->bytes <= 8;
}

/* Not a structure or an array. */
static void simple_print(struct value *v, const struct tff_ctype *type,
			 const uint8_t *data, size_t have)
{
	bool whole = have >= type->bytes;
	char text[NUMBER_MAX];

	if (!type->bytes) {
		OUT(v, "<not shown>");
	} else if (whole && is_scalar(type)) {
		scalar_print(v, type,
			     (struct scalar){ number_load(data, type->bytes),
					      type->bytes * 8 });
	} else if (whole && type->kind == TFF_CTYPE_FLOAT &&
		   (type->bytes == 4 || type->bytes == 8)) {
		out(v, text, number_put_float(text, data, type->bytes) - text);
	} else if (whole && type->bytes == 16 &&
		   type->kind <= TFF_CTYPE_INT) {
		wide_print(v, type, data);
	} else {
		if (type->bytes == 1)	/* no decimal number */
			OUT(v, "0x");
		out_hex_bytes(v, data, whole ? type->bytes : have);
		if (!whole && have)
			OUT(v, " ");
		if (!whole)
			out_short(v, have, type->bytes);
	}
}

static void value_print(struct value *v, uint32_t ctype, const uint8_t *data,
			size_t have)
{
	const struct tff_ctype *type = &v->types->types[ctype];

	if (!work_take(v))
		return;
	if (++v->depth > DEPTH_MAX)
		OUT(v, "{...}");
	else if (type->kind == TFF_CTYPE_STRUCT ||
		 type->kind == TFF_CTYPE_UNION)
		struct_print(v, type, data, have);
	else if (type->kind == TFF_CTYPE_ARRAY)
		array_print(v, type, data, have);
	else
		simple_print(v, type, data, have);
	v->depth--;
}

char *value_put(const struct value_types *types, uint32_t ctype,
		const uint8_t *data, size_t have, char *p,
		struct value_budget *budget)
{
	struct value v = {
		.types = types, .p = p, .end = p + budget->text,
		.work = budget->work,
	};

	value_print(&v, ctype, data, have);
	budget->text = v.full ? 0 : v.end - v.p;
	budget->work = v.work;
	return v.full ? TEXT_PUT(v.p, "...") : v.p;
}
