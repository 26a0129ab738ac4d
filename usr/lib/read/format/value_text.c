// SPDX-License-Identifier: GPL-2.0
#include "value_text.h"

#include <stdio.h>
#include <string.h>
#include "lib/number.h"
#include "lib/text.h"

#define REPEATS_MIN	10

struct value_text {
	char *p, *end;
	bool follows;		/* something precedes in these braces */
};

/* ---- names and characters ---- */

/* Room for a name of n bytes, each of which takes 4 at most. */
static char *value_put_name(struct value_walk *walk, char *p, const char *end,
			    const char *name)
{
	size_t n = strnlen(name, VALUE_TEXT_MAX);

	walk->full |= (size_t)(end - p) / 4 < n;
	return walk->full ? p : text_put_safe(p, name, n);
}

char *value_put_enum(struct value_walk *walk, const struct value_node *node,
		     char *p, const char *end)
{
	const struct tff_ctype *type = node->type;
	const struct tff_member *m = walk->types->members + type->first_member;
	uint64_t value = node->raw, all = 0, held = 0;
	const char *start = p, *name;

	if (type->is_signed)
		value = number_sign(value, node->bits);
	value &= ~0ULL >> (64 - 8 * type->bytes);
	name = value_enumerator(walk->types, node->ctype, value, &walk->work);
	if (name)
		return value_put_name(walk, p, end, name);
	/* A set of flags: no two enumerators have a bit in common, and those
	 * that the value holds make all of it. */
	for (uint32_t i = 0; i < type->members; i++) {
		if (!walk->work || m[i].value & all) {
			walk->full |= !walk->work;
			return p;
		}
		walk->work--;
		all |= m[i].value;
		if ((m[i].value & value) == m[i].value)
			held |= m[i].value;
	}
	if (!value || held != value)
		return p;
	for (uint32_t i = 0; i < type->members; i++) {
		if (!m[i].value || (m[i].value & value) != m[i].value)
			continue;
		if (p > start && end - p >= 3)
			p = TEXT_PUT(p, " | ");
		p = value_put_name(walk, p, end,
				   walk->types->strings + m[i].name);
	}
	return p;
}

char *value_put_character(char *p, uint32_t c, size_t bytes)
{
	uint8_t utf8[4], *u = utf8;

	if (bytes == 1 || c < 0x80) {
		*u++ = c;
	} else if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
		return p + sprintf(p, "\\u%04X", c);
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
	return text_put_safe(p, utf8, u - utf8);
}

/* ---- the visitor ---- */

static void out(struct value_walk *walk, const char *text, size_t length)
{
	struct value_text *v = walk->own;

	walk->full |= (size_t)(v->end - v->p) < length;
	if (!walk->full)
		v->p = text_put(v->p, text, length);
}

#define OUT(walk, literal) out(walk, literal, sizeof(literal) - 1)

static void out_hex(struct value_walk *walk, const uint8_t *data, size_t n)
{
	char text[3] = "00 ";

	for (size_t i = 0; i < n && !walk->full; i++) {
		text_put_hex(text, data[i], 2);
		out(walk, text, i + 1 < n ? 3 : 2);
	}
}

static void text_separate(struct value_walk *walk)
{
	struct value_text *v = walk->own;

	if (v->follows)
		OUT(walk, ", ");
	v->follows = true;
}

static bool text_begin(struct value_walk *walk, const struct value_node *node)
{
	struct value_text *v = walk->own;

	OUT(walk, "{");
	v->follows = false;
	return true;
}

static void text_end(struct value_walk *walk, const struct value_node *node)
{
	struct value_text *v = walk->own;

	OUT(walk, "}");
	v->follows = true;
}

static bool text_item(struct value_walk *walk, const char *name)
{
	struct value_text *v = walk->own;

	text_separate(walk);
	if (name && *name) {
		v->p = value_put_name(walk, v->p, v->end, name);
		OUT(walk, " = ");
	}
	return true;
}

static void text_repeat(struct value_walk *walk, uint64_t count)
{
	char text[48];

	out(walk, text, sprintf(text, " <repeats %llu times>",
				(unsigned long long)count));
}

static void text_scalar(struct value_walk *walk, const struct value_node *node)
{
	struct value_text *v = walk->own;
	char text[NUMBER_MAX], *end = text;
	unsigned __int128 wide;

	switch (node->kind) {
	case VALUE_ENUM:
		end = value_put_enum(walk, node, v->p, v->end);
		if (end > v->p || walk->full) {
			v->p = end;
			return;
		}
		end = value_is_signed(node->type) ?
		      number_put_signed(text, node->raw, node->bits) :
		      text_put_decimal(text, node->raw);
		break;
	case VALUE_SIGNED:
		end = number_put_signed(text, node->raw, node->bits);
		break;
	case VALUE_BOOL:
		end = number_put_bool(text, node->raw);
		break;
	case VALUE_POINTER:
		end = number_put_pointer(text, node->raw);
		break;
	case VALUE_CHARACTER:
		*end++ = '\'';
		end = value_put_character(end, node->raw, node->type->bytes);
		*end++ = '\'';
		break;
	case VALUE_FLOAT:
		end = number_put_float(text, node->data, node->type->bytes);
		break;
	case VALUE_WIDE:
		memcpy(&wide, node->data, sizeof(wide));
		end = number_put_wide(text, wide,
				      value_is_signed(node->type));
		break;
	case VALUE_NONE:
		OUT(walk, "<not shown>");
		return;
	case VALUE_BYTES:
		if (node->type->bytes == 1)	/* no decimal number */
			OUT(walk, "0x");
		out_hex(walk, node->data, node->type->bytes);
		return;
	default:
		end = text_put_decimal(text, node->raw);
	}
	out(walk, text, end - text);
}

static void text_string(struct value_walk *walk, const struct value_node *node)
{
	struct value_text *v = walk->own;
	char text[VALUE_CHARACTER_MAX];
	size_t n = node->whole;

	OUT(walk, "\"");
	if (node->unit == 1) {
		n = strnlen((const char *)node->data, n);
		walk->full |= (size_t)(v->end - v->p) / 4 < n;
		if (!walk->full)
			v->p = text_put_safe(v->p, node->data, n);
		n = 0;
	}
	for (size_t i = 0; i < n && !walk->full; i++) {
		uint32_t c = number_load(node->data + i * node->unit,
					 node->unit);

		if (!c)
			break;
		out(walk, text, value_put_character(text, c, node->unit) -
				text);
	}
	OUT(walk, "\"");
}

static bool text_status(struct value_walk *walk, const struct value_node *node,
			enum value_status status)
{
	size_t bytes = node->type->bytes;
	char text[64];

	if (status == VALUE_TOO_DEEP)
		OUT(walk, "{...}");
	if (status != VALUE_SHORT)
		return false;
	if (node->kind == VALUE_STRUCT || node->kind == VALUE_ARRAY) {
		text_separate(walk);
	} else if (node->kind != VALUE_STRING) {
		if (bytes == 1)
			OUT(walk, "0x");
		out_hex(walk, node->data, node->have);
		if (node->have)
			OUT(walk, " ");
	}
	if (node->kind == VALUE_ARRAY || node->kind == VALUE_STRING)
		bytes = node->count * node->unit;
	out(walk, text, sprintf(text, "<%zu of %zu bytes>", node->have, bytes));
	return false;
}

static const struct value_visitor text_visitor = {
	.repeats = REPEATS_MIN, .repeat = text_repeat,
	.begin = text_begin, .end = text_end, .item = text_item,
	.scalar = text_scalar, .string = text_string, .status = text_status,
};

char *value_put(const struct value_types *types, uint32_t ctype,
		const uint8_t *data, size_t have, char *p,
		struct value_budget *budget)
{
	struct value_text v = { .p = p, .end = p + budget->text };
	struct value_walk walk = {
		.types = types, .visitor = &text_visitor, .own = &v,
		.work = budget->work,
	};

	value_walk(&walk, ctype, data, have);
	budget->text = walk.full ? 0 : v.end - v.p;
	budget->work = walk.work;
	return walk.full ? TEXT_PUT(v.p, "...") : v.p;
}
