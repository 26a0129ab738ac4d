// SPDX-License-Identifier: GPL-2.0
#include "json_value.h"

#include <string.h>
#include "lib/read/read.h"

#define ENUM_NAME_MAX	512
#define WIDE_MAX	(8u << 10)	/* bytes of a string of wide characters */

/* Open brackets can always be closed, and a key always gets its value or null:
 * there is that much room after `end`. */
struct json_value {
	char *p, *end;
	bool follows;		/* something precedes in this bracket */
	enum json_bytes invalid;	/* of strings */
};

/* Room for n bytes more. */
static bool json_value_room(struct value_walk *walk, size_t n)
{
	struct json_value *v = walk->own;

	walk->full |= (size_t)(v->end - v->p) < n;
	return !walk->full;
}

static bool json_value_status(struct value_walk *walk,
			      const struct value_node *node,
			      enum value_status status)
{
	struct json_value *v = walk->own;

	walk->full |= status == VALUE_TOO_DEEP;
	if (status != VALUE_SHORT || node->kind < VALUE_STRING)
		v->p = TEXT_PUT(v->p, "null");
	return true;
}

static bool json_value_begin(struct value_walk *walk,
			     const struct value_node *node)
{
	struct json_value *v = walk->own;

	if (!json_value_room(walk, 2)) {
		v->p = TEXT_PUT(v->p, "null");
		return false;
	}
	*v->p++ = node->kind == VALUE_ARRAY ? '[' : '{';
	v->follows = false;
	return true;
}

static void json_value_end(struct value_walk *walk,
			   const struct value_node *node)
{
	struct json_value *v = walk->own;

	*v->p++ = node->kind == VALUE_ARRAY ? ']' : '}';
	v->follows = true;
}

static bool json_value_item(struct value_walk *walk, const char *name)
{
	size_t length = name ? strnlen(name, VALUE_TEXT_MAX) : 0;
	struct json_value *v = walk->own;

	if (!json_value_room(walk, name ? JSON_STRING_ROOM(length) + 2 : 1))
		return false;
	if (v->follows)
		*v->p++ = ',';
	v->follows = true;
	if (name) {
		v->p = json_put_string(v->p, name, length);
		*v->p++ = ':';
	}
	return true;
}

/* Characters of more than a byte as value_text.h has them. */
static void wide_write(struct value_walk *walk, const char *text, size_t length)
{
	struct json_value *v = walk->own;

	if (json_value_room(walk, JSON_STRING_ROOM(length)))
		v->p = json_put_string(v->p, text, length);
	else
		v->p = TEXT_PUT(v->p, "null");
}

static void json_value_string(struct value_walk *walk,
			      const struct value_node *node)
{
	char text[WIDE_MAX + VALUE_CHARACTER_MAX], *p = text;
	struct json_value *v = walk->own;
	size_t n = node->whole;

	if (node->unit == 1) {
		n = strnlen((const char *)node->data, n);
		if (json_value_room(walk, JSON_STRING_ROOM(n)))
			v->p = json_put_checked(v->p, node->data, n,
						&v->invalid);
		else
			v->p = TEXT_PUT(v->p, "null");
		return;
	}
	for (size_t i = 0; i < n && p < text + WIDE_MAX; i++) {
		uint32_t c = number_load(node->data + i * node->unit,
					 node->unit);

		if (!c)
			break;
		p = value_put_character(p, c, node->unit);
	}
	walk->full |= p >= text + WIDE_MAX;
	wide_write(walk, text, p - text);
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

static void enum_write(struct value_walk *walk, const struct value_node *node)
{
	char name[ENUM_NAME_MAX], number[NUMBER_MAX], *end, *name_end;
	struct json_value *v = walk->own;
	size_t length;

	end = value_is_signed(node->type) ?
	      number_put_signed(number, node->raw, node->bits) :
	      text_put_decimal(number, node->raw);
	name_end = value_put_enum(walk, node, name, name + sizeof(name));
	length = name_end - name;
	if (json_value_room(walk, NUMBER_MAX + JSON_STRING_ROOM(length)))
		v->p = json_put_enum(v->p, number, end - number,
				     length ? name : NULL, length);
	else
		v->p = TEXT_PUT(v->p, "null");
}

static void json_value_scalar(struct value_walk *walk,
			      const struct value_node *node)
{
	struct json_value *v = walk->own;
	size_t bytes = node->type->bytes;
	char text[VALUE_CHARACTER_MAX];
	unsigned __int128 wide;
	uint8_t c = node->raw;

	if (!json_value_room(walk, NUMBER_MAX) || node->kind == VALUE_NONE ||
	    (node->kind == VALUE_BYTES &&
	     !json_value_room(walk, JSON_HEX_ROOM(bytes)))) {
		v->p = TEXT_PUT(v->p, "null");
		return;
	}
	switch (node->kind) {
	case VALUE_SIGNED:
		v->p = number_put_signed(v->p, node->raw, node->bits);
		break;
	case VALUE_BOOL:
		v->p = number_put_bool(v->p, node->raw);
		break;
	case VALUE_CHARACTER:
		if (bytes == 1)
			v->p = json_put_checked(v->p, &c, 1, &v->invalid);
		else
			wide_write(walk, text,
				   value_put_character(text, node->raw,
						       bytes) - text);
		break;
	case VALUE_POINTER:
		*v->p++ = '"';
		v->p = number_put_pointer(v->p, node->raw);
		*v->p++ = '"';
		break;
	case VALUE_ENUM:
		enum_write(walk, node);
		break;
	case VALUE_FLOAT:
		v->p = json_put_float(v->p, node->data, bytes);
		break;
	case VALUE_WIDE:
		memcpy(&wide, node->data, sizeof(wide));
		v->p = number_put_wide(v->p, wide,
				       value_is_signed(node->type));
		break;
	case VALUE_BYTES:
		v->p = json_put_hex(v->p, node->data, bytes);
		break;
	default:
		v->p = text_put_decimal(v->p, node->raw);
	}
}

static const struct value_visitor json_visitor = {
	.flat = true,
	.begin = json_value_begin,
	.end = json_value_end,
	.item = json_value_item,
	.scalar = json_value_scalar,
	.string = json_value_string,
	.status = json_value_status,
};

char *json_put_value(const struct value_types *types, uint32_t ctype,
		     const uint8_t *data, size_t have, char *p,
		     struct value_budget *budget, enum json_bytes *invalid)
{
	struct json_value v = {
		.p = p, .end = p + budget->text, .invalid = *invalid,
	};
	struct value_walk walk = {
		.types = types, .visitor = &json_visitor, .own = &v,
		.work = budget->work,
	};

	value_walk(&walk, ctype, data, have);
	budget->text = walk.full || v.p > v.end ? 0 : v.end - v.p;
	budget->work = walk.work;
	*invalid = v.invalid;
	return v.p;
}
