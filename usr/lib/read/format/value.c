// SPDX-License-Identifier: GPL-2.0
#include "value.h"

#include <string.h>
#include "lib/formats/format.h"
#include "lib/number.h"

#define DEPTH_MAX	32	/* structures and arrays in each other */

/* ---- types ---- */

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

static uint32_t type_named(const struct value_types *types, const char *name,
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
	uint32_t ctype = type_named(types, name, length, -1);
	uint8_t kind;
	size_t tag = format_type_tag(name, length, &kind);

	if (ctype != TFF_CTYPE_NONE || !tag)
		return ctype;
	return type_named(types, name + tag, length - tag, kind);
}

enum value_kind value_kind(const struct value_types *types, uint32_t ctype)
{
	const struct tff_ctype *type = &types->types[ctype];
	uint32_t bytes = type->bytes;
	bool number = bytes && bytes <= 8;

	switch (type->kind) {
	case TFF_CTYPE_STRUCT:
	case TFF_CTYPE_UNION:
		return VALUE_STRUCT;
	case TFF_CTYPE_ARRAY:
		return value_kind(types, type->target) == VALUE_CHARACTER ?
		       VALUE_STRING : VALUE_ARRAY;
	}
	if (!bytes)
		return VALUE_NONE;
	switch (type->kind) {
	case TFF_CTYPE_UINT:
	case TFF_CTYPE_INT:
		if (bytes == 16)
			return VALUE_WIDE;
		if (!number)
			return VALUE_BYTES;
		return type->kind == TFF_CTYPE_INT ? VALUE_SIGNED :
						     VALUE_UNSIGNED;
	case TFF_CTYPE_CHAR:
		return bytes == 1 || bytes == 2 || bytes == 4 ?
		       VALUE_CHARACTER : VALUE_BYTES;
	case TFF_CTYPE_FLOAT:
		return bytes == 4 || bytes == 8 ? VALUE_FLOAT : VALUE_BYTES;
	case TFF_CTYPE_BOOL:
		return number ? VALUE_BOOL : VALUE_BYTES;
	case TFF_CTYPE_POINTER:
		return number ? VALUE_POINTER : VALUE_BYTES;
	case TFF_CTYPE_ENUM:
		return number ? VALUE_ENUM : VALUE_BYTES;
	default:
		return VALUE_BYTES;
	}
}

bool value_is_signed(const struct tff_ctype *type)
{
	return type->kind == TFF_CTYPE_INT ||
	       (type->kind == TFF_CTYPE_ENUM && type->is_signed);
}

const char *value_enumerator(const struct value_types *types, uint32_t ctype,
			     uint64_t value, uint32_t *work)
{
	const struct tff_ctype *type = &types->types[ctype];
	const struct tff_member *m = types->members + type->first_member;
	const struct tff_member *end = m + type->members;
	uint64_t bits = ~0ULL >> (64 - 8 * type->bytes);

	for (; m < end && *work; m++, --*work)
		if (!((m->value ^ value) & bits))
			return types->strings + m->name;
	return NULL;
}

/* ---- one value ---- */

/* The bits of a bit-field, as the low ones of raw; false: data ends before
 * them. */
static bool value_bits_load(const struct tff_member *m, const uint8_t *data,
			    size_t have, uint64_t *raw)
{
	uint64_t first = m->value / 8, last = (m->value + m->bits - 1) / 8;
	unsigned int shift = m->value % 8;
	uint8_t bytes[9] = { 0 };

	if (last < first || last >= have)
		return false;
	memcpy(bytes, data + first, last - first + 1);
	*raw = number_load(bytes, 8) >> shift;
	if (shift)
		*raw |= (uint64_t)bytes[8] << (64 - shift);
	if (m->bits < 64)
		*raw &= (1ULL << m->bits) - 1;
	return true;
}

struct value_node value_node(const struct value_types *types, uint32_t ctype,
			     const uint8_t *data, size_t have)
{
	struct value_node node = {
		.type = &types->types[ctype], .ctype = ctype,
		.kind = value_kind(types, ctype), .data = data, .have = have,
	};

	if (node.kind == VALUE_STRUCT && have > node.type->bytes)
		node.have = node.type->bytes;
	if (node.kind <= VALUE_FLOAT && have >= node.type->bytes) {
		node.bits = 8 * node.type->bytes;
		node.raw = number_load(data, node.type->bytes);
	}
	return node;
}

bool value_member(struct value_node *node, const struct value_types *types,
		  const struct tff_member *member, const uint8_t *data,
		  size_t have)
{
	const struct tff_ctype *type = &types->types[member->ctype];
	uint64_t at = member->value / 8;
	size_t rest = have - at;

	if (!member->bits) {
		if (at > have || (at == have && type->bytes))
			return false;
		*node = value_node(types, member->ctype, data + at,
				   rest < type->bytes ? rest : type->bytes);
		return true;
	}
	*node = (struct value_node){
		.type = type, .ctype = member->ctype,
		.kind = value_kind(types, member->ctype),
		.bits = member->bits, .is_bits = true,
	};
	if (node->kind > VALUE_ENUM)
		node->kind = value_is_signed(type) ? VALUE_SIGNED :
						     VALUE_UNSIGNED;
	return value_bits_load(member, data, have, &node->raw);
}

/* ---- the walk ---- */

static bool work_take(struct value_walk *walk)
{
	if (!walk->work)
		walk->full = true;
	else
		walk->work--;
	return !walk->full;
}

static void node_visit(struct value_walk *walk, struct value_node *node);

static void members_visit(struct value_walk *walk, const struct value_node *of)
{
	const struct value_visitor *visitor = walk->visitor;
	const struct value_types *types = walk->types;
	const struct tff_member *m = types->members + of->type->first_member;
	const struct tff_member *end = m + of->type->members;
	struct value_node node;

	for (; m < end && work_take(walk); m++) {
		const char *name = types->strings + m->name;

		if (!value_member(&node, types, m, of->data, of->have)) {
			if (!visitor->status(walk, of, VALUE_SHORT))
				break;
			continue;
		}
		if (visitor->flat && !*name && node.kind == VALUE_STRUCT) {
			walk->full |= ++walk->depth > DEPTH_MAX;
			members_visit(walk, &node);
			walk->depth--;
			continue;
		}
		if (!visitor->item(walk, name))
			break;
		node_visit(walk, &node);
	}
}

/* How many of the n elements from data on are equal. */
static uint64_t run_length(const uint8_t *data, uint64_t n, size_t size)
{
	uint64_t run = 1;

	if (!size)
		return n;
	while (run < n && !memcmp(data, data + run * size, size))
		run++;
	return run;
}

static void elements_visit(struct value_walk *walk, const struct value_node *of)
{
	const struct value_visitor *visitor = walk->visitor;
	size_t size = walk->types->types[of->type->target].bytes;
	struct value_node node;
	uint64_t run;

	for (uint64_t i = 0; i < of->whole && !walk->full; i += run) {
		const uint8_t *data = of->data + i * size;

		if (!visitor->item(walk, NULL))
			break;
		node = value_node(walk->types, of->type->target, data, size);
		node_visit(walk, &node);
		run = 1;
		if (!visitor->repeat)
			continue;
		run = run_length(data, of->whole - i, size);
		if (run < visitor->repeats)
			run = 1;
		else
			visitor->repeat(walk, run);
	}
}

/* How many elements an array has, and how many of them are there. An array
 * without a count has as many as there are. */
static void elements_count(const struct value_types *types,
			   struct value_node *node)
{
	size_t size = types->types[node->type->target].bytes;

	node->unit = size;
	node->count = node->type->count;
	if (!node->count && size)
		node->count = node->have / size;
	node->whole = node->count;
	if (size && node->count > node->have / size)
		node->whole = node->have / size;
}

static void node_visit(struct value_walk *walk, struct value_node *node)
{
	const struct value_visitor *visitor = walk->visitor;

	if (!work_take(walk)) {
		visitor->status(walk, node, VALUE_CUT);
		return;
	}
	if (++walk->depth > DEPTH_MAX) {
		visitor->status(walk, node, VALUE_TOO_DEEP);
		walk->depth--;
		return;
	}
	switch (node->kind) {
	case VALUE_STRUCT:
		if (!visitor->begin(walk, node))
			break;
		members_visit(walk, node);
		visitor->end(walk, node);
		break;
	case VALUE_ARRAY:
		elements_count(walk->types, node);
		if (!visitor->begin(walk, node))
			break;
		elements_visit(walk, node);
		if (node->whole < node->count)
			visitor->status(walk, node, VALUE_SHORT);
		visitor->end(walk, node);
		break;
	case VALUE_STRING:
		elements_count(walk->types, node);
		visitor->string(walk, node);
		if (node->whole < node->count)
			visitor->status(walk, node, VALUE_SHORT);
		break;
	default:
		if (node->is_bits || node->have >= node->type->bytes)
			visitor->scalar(walk, node);
		else
			visitor->status(walk, node, VALUE_SHORT);
	}
	walk->depth--;
}

void value_walk(struct value_walk *walk, uint32_t ctype, const uint8_t *data,
		size_t have)
{
	struct value_node node = value_node(walk->types, ctype, data, have);

	node_visit(walk, &node);
}
