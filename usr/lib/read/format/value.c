// SPDX-License-Identifier: GPL-2.0
#include "value.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "lib/formats/format.h"
#include "lib/number.h"
#include "lib/text.h"

#define DEPTH_MAX	32	/* structures and arrays in each other */
#define NANOSECONDS	1000000000	/* of a second */

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
		.parts = tff->parts + section->first_ctype,
	};
}

static unsigned int value_parts(const struct value_types *types, uint32_t ctype)
{
	return types->parts ? types->parts[ctype] : 0;
}

unsigned int value_items(const struct value_types *types, uint32_t ctype)
{
	unsigned int parts = value_parts(types, ctype);

	return parts ? parts + !tff_ctype_is_apart(&types->types[ctype]) : 0;
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
	case TFF_CTYPE_TEXT:
		return VALUE_TEXT;
	case TFF_CTYPE_ADDRESS:
		return VALUE_ADDRESS;
	case TFF_CTYPE_PATH:
		return VALUE_PATH;
	case TFF_CTYPE_SEQUENCE:
	case TFF_CTYPE_LIST:
	case TFF_CTYPE_TUPLE:
	case TFF_CTYPE_EACH:
		return VALUE_ARRAY;
	case TFF_CTYPE_MAP:
		return VALUE_MAP;
	case TFF_CTYPE_ONE:
		return VALUE_ONE;
	case TFF_CTYPE_VARIANT:
		return VALUE_VARIANT;
	case TFF_CTYPE_TIME:
		return VALUE_TIME;
	case TFF_CTYPE_DYNAMIC:
		return VALUE_DYNAMIC;
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

	if ((node.kind == VALUE_STRUCT ||
	     node.type->kind == TFF_CTYPE_TUPLE) && have > node.type->bytes)
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

/* Values in a union have no parts. */
static const uint8_t *parts_hide(struct value_walk *walk,
				 const struct value_node *of)
{
	const uint8_t *parts = walk->parts;

	if (of->type->kind == TFF_CTYPE_UNION)
		walk->parts = NULL;
	return parts;
}

static void members_visit(struct value_walk *walk, const struct value_node *of)
{
	const uint8_t *hidden = parts_hide(walk, of);
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
	if (of->type->kind == TFF_CTYPE_UNION)
		walk->parts = hidden;
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
	size_t size = of->unit;
	struct value_node node;
	uint64_t run;

	for (uint64_t i = 0; i < of->whole && !walk->full; i += run) {
		const uint8_t *data = of->data + i * size;

		if (!visitor->item(walk, NULL))
			break;
		node = value_node(walk->types, of->type->target, data, size);
		node_visit(walk, &node);
		run = 1;
		if (!visitor->repeat ||
		    value_parts(walk->types, of->type->target))
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

static struct shape_part walk_part(struct value_walk *walk)
{
	return shape_part_take(&walk->parts, walk->parts_end);
}

static void part_miss(struct value_walk *walk, const struct value_node *node,
		      const struct shape_part *part)
{
	walk->part = *part;
	walk->visitor->status(walk, node, VALUE_MISSING);
}

/* How many there are, and what there is of them. False: not known. */
static bool counted_take(struct value_walk *walk, struct value_node *node,
			 size_t unit)
{
	struct shape_part count = walk_part(walk), part = walk_part(walk);
	bool known = shape_part_number(&count, &node->count);

	if (!known || !shape_part_is_value(&part)) {
		part_miss(walk, node, known ? &part : &count);
		return false;
	}
	node->unit = unit;
	node->data = part.data;
	node->have = part.length;
	node->whole = unit ? part.length / unit : node->type->count;
	if (node->whole > node->count)
		node->whole = node->count;
	return true;
}

static void text_visit(struct value_walk *walk, struct value_node *node)
{
	if (!counted_take(walk, node, 1))
		return;
	walk->visitor->string(walk, node);
	if (node->whole < node->count)
		walk->visitor->status(walk, node, VALUE_MORE);
}

/* A path ends at its zero; without a name before it it is abstract. */
static int address_put_unix(char *text, size_t size, const uint8_t *path,
			    size_t have)
{
	bool abstract = have && !*path;
	size_t length = strnlen((const char *)path + abstract, have - abstract);

	return snprintf(text, size, "%s%.*s", abstract ? "@" : "", (int)length,
			(const char *)path + abstract);
}

#define ADDRESS_TEXT	160

/* The text; 0: there are not so many bytes. */
static size_t address_put(char *text, const uint8_t *data, size_t have)
{
	uint16_t family, port;
	uint32_t scope;
	char ip[INET6_ADDRSTRLEN];

	if (have == 4 || have == 16) {
		inet_ntop(have == 4 ? AF_INET : AF_INET6, data, text,
			  ADDRESS_TEXT);
		return strlen(text);
	}
	if (have < 2)
		return 0;
	family = number_load(data, 2);
	port = have < 4 ? 0 : data[2] << 8 | data[3];
	switch (family) {
	case AF_UNSPEC:
		return sprintf(text, "unspecified");
	case AF_UNIX:
		return address_put_unix(text, ADDRESS_TEXT, data + 2, have - 2);
	case AF_INET:
		if (have < 8)
			return 0;
		inet_ntop(AF_INET, data + 4, ip, sizeof(ip));
		return sprintf(text, "%s:%u", ip, port);
	case AF_INET6:
		if (have < 28)
			return 0;
		inet_ntop(AF_INET6, data + 8, ip, sizeof(ip));
		scope = number_load(data + 24, 4);
		if (scope)
			return sprintf(text, "[%s%%%u]:%u", ip, scope, port);
		return sprintf(text, "[%s]:%u", ip, port);
	default:
		return sprintf(text, "family %u", family);
	}
}

static void address_visit(struct value_walk *walk, struct value_node *node)
{
	struct value_node shown;
	char text[ADDRESS_TEXT];
	size_t length = 0;

	if (!counted_take(walk, node, 1))
		return;
	if (node->whole == node->count)
		length = address_put(text, node->data, node->whole);
	if (!length && node->count) {
		walk->visitor->status(walk, node, VALUE_MORE);
		return;
	}
	shown = *node;
	shown.kind = VALUE_TEXT;
	shown.data = (const uint8_t *)text;
	shown.have = shown.whole = shown.count = length;
	walk->visitor->string(walk, &shown);
}

static void sequence_visit(struct value_walk *walk, struct value_node *node)
{
	const struct value_visitor *visitor = walk->visitor;
	const struct tff_ctype *target =
		&walk->types->types[node->type->target];

	if (!counted_take(walk, node, tff_ctype_is_apart(target) ?
					      0 : target->bytes) ||
	    !visitor->begin(walk, node))
		return;
	elements_visit(walk, node);
	if (node->whole < node->count)
		visitor->status(walk, node, VALUE_MORE);
	visitor->end(walk, node);
}

/* Not by name. */
static void tuple_visit(struct value_walk *walk, const struct value_node *of)
{
	const struct value_visitor *visitor = walk->visitor;
	const struct tff_member *m = walk->types->members +
				     of->type->first_member;
	const struct tff_member *end = m + of->type->members;
	struct value_node node;

	if (!visitor->begin(walk, of))
		return;
	for (; m < end && work_take(walk) && visitor->item(walk, NULL); m++) {
		if (value_member(&node, walk->types, m, of->data, of->have))
			node_visit(walk, &node);
		else
			visitor->status(walk, of, VALUE_SHORT);
	}
	visitor->end(walk, of);
}

/* The key, and what it has. */
static void entry_visit(struct value_walk *walk, const struct value_node *map,
			const struct value_node *of)
{
	const struct value_visitor *visitor = walk->visitor;
	const struct tff_member *m = walk->types->members +
				     of->type->first_member;
	struct value_node node;

	for (int where = ENTRY_KEY; where <= ENTRY_END; where++) {
		if (visitor->entry)
			visitor->entry(walk, map, where);
		if (where == ENTRY_END)
			break;
		if (value_member(&node, walk->types, &m[where], of->data,
				 of->have))
			node_visit(walk, &node);
		else
			visitor->status(walk, of, VALUE_SHORT);
	}
}

/* ---- elements that are items of their own ---- */

enum node_found { NODE_FOUND, NODE_NONE, NODE_CUT, NODE_MISSING };

/* Is there an element? MISSING: it was said why not. */
static enum node_found node_take(struct value_walk *walk,
				 const struct value_node *list)
{
	struct shape_part part;
	bool exists;

	if (list->type->kind == TFF_CTYPE_EACH)
		return list->whole < list->count ? NODE_FOUND : NODE_NONE;
	part = walk_part(walk);
	if (shape_part_flag(&part, &exists))
		return exists ? NODE_FOUND : NODE_NONE;
	if (shape_part_is_cut(&part))
		return NODE_CUT;
	walk->part = part;
	walk->visitor->status(walk, list,
			      shape_part_is_lost(&part) ? VALUE_LOST :
							  VALUE_NO_NODE);
	return NODE_MISSING;
}

static bool element_visit(struct value_walk *walk,
			  const struct value_node *list)
{
	uint32_t ctype = list->type->target;
	const struct tff_ctype *type = &walk->types->types[ctype];
	struct shape_part part = { .found = true };
	bool apart = tff_ctype_is_apart(type);
	struct value_node node;

	if (!apart)
		part = walk_part(walk);
	if (!walk->visitor->item(walk, NULL))
		return false;
	node = value_node(walk->types, ctype, part.data, part.length);
	if (!apart && !shape_part_is_value(&part))
		part_miss(walk, &node, &part);
	else if (list->kind == VALUE_MAP)
		entry_visit(walk, list, &node);
	else
		node_visit(walk, &node);
	return true;
}

static enum node_found nodes_visit(struct value_walk *walk,
				   struct value_node *list)
{
	uint32_t ctype = list->type->target;
	bool apart = tff_ctype_is_apart(&walk->types->types[ctype]);
	unsigned int parts = tff_element_parts(list->type->kind, apart,
					       value_parts(walk->types, ctype));
	enum node_found found = NODE_FOUND;

	for (uint32_t i = 0; i < list->type->count && work_take(walk); i++) {
		const uint8_t *start = walk->parts;

		found = node_take(walk, list);
		if (found != NODE_FOUND || !element_visit(walk, list))
			return found;
		walk->parts = shape_part_skip(start, walk->parts_end, parts);
		list->whole++;
	}
	return found;
}

/* All that there are, or why not. */
static void list_visit(struct value_walk *walk, struct value_node *list)
{
	bool known = !list->type->is_signed ||
		     list->type->kind == TFF_CTYPE_EACH;
	enum node_found found;
	struct shape_part part;
	bool next;

	list->whole = list->count = 0;
	if (known) {
		part = walk_part(walk);
		if (!shape_part_number(&part, &list->count)) {
			part_miss(walk, list, &part);
			return;
		}
	}
	if (!walk->visitor->begin(walk, list))
		return;
	found = nodes_visit(walk, list);
	if (!known && found == NODE_FOUND) {
		part = walk_part(walk);
		if (!shape_part_flag(&part, &next) || next)
			found = NODE_CUT;
	}
	if (found != NODE_MISSING &&
	    (known ? list->whole < list->count : found == NODE_CUT))
		walk->visitor->status(walk, list, VALUE_MORE);
	walk->visitor->end(walk, list);
}

#define PATH_NAMES	(TFF_PARTS_MAX / 3)
#define PATH_TEXT	4096

/* The names that there are, of a cut one what there is. *more: others precede
 * these. False after a part that is missing. */
static bool path_names_take(struct value_walk *walk, struct value_node *path,
			    struct value_node *names, size_t *count, bool *more)
{
	struct shape_part part;
	bool follows = true;

	for (uint32_t i = 0; i < path->type->count && i < PATH_NAMES; i++) {
		struct value_node name = { .type = path->type };

		part = walk_part(walk);
		if (!shape_part_flag(&part, &follows)) {
			part_miss(walk, path, &part);
			return false;
		}
		if (!follows)
			break;
		if (!counted_take(walk, &name, 1))
			return false;
		names[(*count)++] = name;
	}
	*more = follows;
	if (follows) {
		part = walk_part(walk);
		shape_part_flag(&part, more);
	}
	return true;
}

/* The last name comes first. */
static size_t names_join(char *text, const struct value_node *names,
			 size_t count, bool more)
{
	char *end = text, *last = text + PATH_TEXT - PATH_NAMES;

	if (more)
		end = TEXT_PUT(end, "<cut>");
	for (size_t i = count; i--;) {
		const struct value_node *name = &names[i];
		if (i + 1 < count || more)
			*end++ = '/';
		/* a root's own name is the separator */
		if (name->whole == 1 && *name->data == '/' && i)
			continue;
		if (name->whole + 16 > (size_t)(last - end))
			return TEXT_PUT(end, "<cut>") - text;
		memcpy(end, name->data, name->whole);
		end += name->whole;
		if (name->whole < name->count)
			end = TEXT_PUT(end, "<cut>");
	}
	return end - text;
}

static void path_visit(struct value_walk *walk, struct value_node *node)
{
	struct value_node names[PATH_NAMES], shown = *node;
	char text[PATH_TEXT];
	size_t count = 0;
	bool more;

	if (!path_names_take(walk, node, names, &count, &more))
		return;
	if (!count && !more) {
		walk->visitor->null(walk, node, "");
		return;
	}
	shown.kind = VALUE_TEXT;
	shown.unit = 1;
	shown.data = (const uint8_t *)text;
	shown.have = shown.whole = names_join(text, names, count, more);
	shown.count = shown.whole;
	walk->visitor->string(walk, &shown);
}

static void one_visit(struct value_walk *walk, struct value_node *node)
{
	struct shape_part pointer = walk_part(walk), part = walk_part(walk);
	struct value_node value;
	uint64_t address;

	if (!shape_part_number(&pointer, &address)) {
		part_miss(walk, node, &pointer);
	} else if (!address) {
		walk->visitor->null(walk, node, "");
	} else if (!shape_part_is_value(&part)) {
		part_miss(walk, node, &part);
	} else {
		value = value_node(walk->types, node->type->target, part.data,
				   part.length);
		node_visit(walk, &value);
	}
}

static void time_visit(struct value_walk *walk, struct value_node *node)
{
	struct shape_part seconds = walk_part(walk), part = walk_part(walk);
	bool known = shape_part_number(&seconds, &node->raw);

	if (known && shape_part_number(&part, &node->count))
		walk->visitor->scalar(walk, node);
	else
		part_miss(walk, node, known ? &part : &seconds);
}

/* The alternative's number and value are two members. The parts of those before
 * it are passed. */
static const struct tff_member *alternative_find(struct value_walk *walk,
						 const struct value_node *node)
{
	const struct tff_member *first = walk->types->members +
					 node->type->first_member;
	uint64_t mask = node->bits < 64 ? (1ULL << node->bits) - 1 : ~0ULL;
	const struct tff_member *found = NULL;

	for (uint32_t i = 1; i < node->type->members && work_take(walk); i += 2)
		if (!first[i].bits && !((first[i].value ^ node->raw) & mask))
			found = &first[i];
		else if (first[i].bits && !found)
			found = &first[i];
	for (uint32_t i = 1; found && &first[i] < found; i += 2)
		walk->parts = shape_part_skip(walk->parts, walk->parts_end,
					value_parts(walk->types,
						    first[i + 1].ctype));
	return found;
}

static void variant_visit(struct value_walk *walk, struct value_node *node)
{
	const struct value_visitor *visitor = walk->visitor;
	const struct tff_member *m = walk->types->members +
				     node->type->first_member;
	struct value_node number, value;
	const char *name;

	if (!node->type->members ||
	    !value_member(&number, walk->types, m, node->data, node->have) ||
	    number.kind > VALUE_ENUM) {
		visitor->status(walk, node, VALUE_SHORT);
		return;
	}
	node->raw = number.raw;
	node->bits = number.bits;
	m = alternative_find(walk, node);
	if (!m) {
		visitor->status(walk, node, VALUE_NO_CASE);
		return;
	}
	name = walk->types->strings + m->name;
	if (!value_member(&value, walk->types, &m[1], node->data, node->have)) {
		visitor->status(walk, node, VALUE_SHORT);
		return;
	}
	if (!value.type->bytes && !tff_ctype_is_apart(value.type) &&
	    !value.type->members)
		value.kind = VALUE_NONE;
	if (node->type->is_signed && value.kind == VALUE_NONE) {
		visitor->null(walk, node, name);
		return;
	}
	if (visitor->choice)
		visitor->choice(walk, node, name, &value);
	if (value.kind != VALUE_NONE)
		node_visit(walk, &value);
	if (visitor->choice)
		visitor->choice_end(walk, node, name, &value);
}

/* What is no array but printed as one. */
static void listed_visit(struct value_walk *walk, struct value_node *node)
{
	if (node->type->kind == TFF_CTYPE_SEQUENCE)
		sequence_visit(walk, node);
	else if (node->type->kind == TFF_CTYPE_TUPLE)
		tuple_visit(walk, node);
	else
		list_visit(walk, node);
}

/* The alternative with the address: its name, and then its value, at whose parts
 * the walk is. */
static const struct tff_member *dynamic_find(struct value_walk *walk,
					     const struct value_node *node)
{
	const struct value_types *types = walk->types;
	const struct tff_member *m = types->members + node->type->first_member;
	const struct tff_member *found = NULL;
	const uint8_t *at = walk->parts, *found_at = at;
	uint32_t last = TFF_CTYPE_NONE;

	for (uint32_t i = 0; i < node->type->members && work_take(walk);
	     i += 2) {
		uint32_t ctype = m[i + 1].ctype;
		unsigned int parts = value_parts(types, ctype);

		if (parts && ctype != last) {
			at = walk->parts;
			walk->parts = shape_part_skip(at, walk->parts_end,
						      parts);
			last = ctype;
		}
		if (m[i].bits ? found != NULL : m[i].value != node->raw)
			continue;
		found = &m[i];
		found_at = at;
		if (!m[i].bits)
			break;
	}
	walk->parts = found_at;
	return found;
}

/* What the pointer beside the address of a type points to. */
static void dynamic_value(struct value_walk *walk, struct value_node *value,
			  uint64_t pointer, const struct shape_part *part)
{
	if (!pointer)
		walk->visitor->null(walk, value, "");
	else if (!shape_part_is_value(part))
		part_miss(walk, value, part);
	else
		node_visit(walk, value);
}

static void dynamic_visit(struct value_walk *walk, struct value_node *node)
{
	struct shape_part type = walk_part(walk), pointer = walk_part(walk);
	struct shape_part part = walk_part(walk);
	const struct value_visitor *visitor = walk->visitor;
	const struct tff_member *m;
	struct value_node value;
	uint64_t address = 0;
	const char *name;

	node->bits = 64;
	if (!shape_part_number(&type, &node->raw)) {
		part_miss(walk, node, &type);
		return;
	}
	m = dynamic_find(walk, node);
	if (!m && !node->raw) {
		visitor->null(walk, node, "");
		return;
	}
	if (!m) {
		visitor->status(walk, node, VALUE_NO_CASE);
		return;
	}
	name = walk->types->strings + m->name;
	value = value_node(walk->types, m[1].ctype, part.data, part.length);
	if (!value.type->bytes && !tff_ctype_is_apart(value.type))
		value.kind = VALUE_NONE;
	if (visitor->choice)
		visitor->choice(walk, node, name, &value);
	if (value.kind != VALUE_NONE &&
	    !shape_part_number(&pointer, &address))
		part_miss(walk, &value, &pointer);
	else if (value.kind != VALUE_NONE)
		dynamic_value(walk, &value, address, &part);
	if (visitor->choice)
		visitor->choice_end(walk, node, name, &value);
}

static void node_visit(struct value_walk *walk, struct value_node *node)
{
	const struct value_visitor *visitor = walk->visitor;
	const uint8_t *parts = walk->parts;

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
	case VALUE_MAP:
		list_visit(walk, node);
		break;
	case VALUE_TEXT:
		text_visit(walk, node);
		break;
	case VALUE_ADDRESS:
		address_visit(walk, node);
		break;
	case VALUE_PATH:
		path_visit(walk, node);
		break;
	case VALUE_ONE:
		one_visit(walk, node);
		break;
	case VALUE_VARIANT:
		variant_visit(walk, node);
		break;
	case VALUE_DYNAMIC:
		dynamic_visit(walk, node);
		break;
	case VALUE_TIME:
		time_visit(walk, node);
		break;
	case VALUE_ARRAY:
		if (node->type->kind != TFF_CTYPE_ARRAY) {
			listed_visit(walk, node);
			break;
		}
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
	walk->parts = shape_part_skip(parts, walk->parts_end,
				value_parts(walk->types, node->ctype));
}

void value_walk(struct value_walk *walk, uint32_t ctype, const uint8_t *data,
		size_t have)
{
	struct value_node node = value_node(walk->types, ctype, data, have);
	struct shape_part part;

	if (!value_parts(walk->types, ctype)) {
		node_visit(walk, &node);
		return;
	}
	walk->parts = data;
	walk->parts_end = data + have;
	if (!tff_ctype_is_apart(node.type)) {
		part = walk_part(walk);
		if (!shape_part_is_value(&part)) {
			part_miss(walk, &node, &part);
			return;
		}
		node = value_node(walk->types, ctype, part.data, part.length);
	}
	node_visit(walk, &node);
}

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

/* The number as units of 10^digits, of which `unit` is the name. */
static char *put_decimal_unit(char *p, uint64_t whole, uint32_t part,
			      int digits, const char *unit)
{
	p = text_put_decimal(p, whole);
	if (part) {
		p += sprintf(p, ".%0*u", digits, part);
		while (p[-1] == '0')
			p--;
	}
	return p + sprintf(p, "%s", unit);
}

bool value_time_is_valid(const struct value_node *node)
{
	bool minus = node->type->is_signed && (int64_t)node->raw < 0;
	int64_t part = node->count;

	return part > -NANOSECONDS && part < NANOSECONDS &&
	       (part >= 0 || node->type->is_signed) &&
	       (minus ? part <= 0 : part >= 0 || !node->raw);
}

char *value_put_time(char *p, const struct value_node *node)
{
	bool minus = node->type->is_signed &&
		     ((int64_t)node->raw < 0 || (int64_t)node->count < 0);
	uint64_t seconds = minus ? -node->raw : node->raw;
	uint32_t part = minus ? -node->count : node->count;

	if (!value_time_is_valid(node))
		return p + sprintf(p, "<no time: %lld s, %lld ns>",
				   (long long)node->raw,
				   (long long)node->count);
	if (minus)
		*p++ = '-';
	if (seconds || !part)
		return put_decimal_unit(p, seconds, part, 9, "s");
	if (part >= 1000000)
		return put_decimal_unit(p, part / 1000000, part % 1000000, 6,
					"ms");
	if (part >= 1000)
		return put_decimal_unit(p, part / 1000, part % 1000, 3, "us");
	return put_decimal_unit(p, part, 0, 0, "ns");
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

static void text_entry(struct value_walk *walk, const struct value_node *map,
		       enum value_entry where)
{
	struct value_text *v = walk->own;

	if (where == ENTRY_VALUE)
		OUT(walk, ": ");
	v->follows = where == ENTRY_END;
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
	case VALUE_TIME:
		end = value_put_time(text, node);
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
	bool quoted = node->type->kind != TFF_CTYPE_ADDRESS &&
		      node->type->kind != TFF_CTYPE_PATH;
	size_t n = node->whole;

	if (quoted)
		OUT(walk, "\"");
	if (node->unit == 1) {
		if (node->kind == VALUE_STRING)
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
	if (quoted)
		OUT(walk, "\"");
}

static bool text_status(struct value_walk *walk, const struct value_node *node,
			enum value_status status)
{
	size_t bytes = node->type->bytes;
	char text[SHAPE_NOTE_MAX + 64], *end;

	if (status == VALUE_TOO_DEEP)
		OUT(walk, "{...}");
	if (status == VALUE_NO_NODE || status == VALUE_LOST)
		text_separate(walk);
	if (status == VALUE_MISSING || status == VALUE_NO_NODE)
		out(walk, text, shape_part_put_note(text, &walk->part) - text);
	if (status == VALUE_NO_CASE)
		out(walk, text, sprintf(text, node->kind == VALUE_DYNAMIC ?
					"<type at %#llx: not known>" :
					"<no alternative: %llu>",
					(unsigned long long)node->raw));
	if (status == VALUE_LOST)
		OUT(walk, "<next node not found>");
	if (status == VALUE_MORE) {
		if (node->kind == VALUE_ARRAY || node->kind == VALUE_MAP)
			text_separate(walk);
		else
			OUT(walk, " ");
		end = text + sprintf(text, "<cut: %llu of ",
				     (unsigned long long)node->whole);
		end = node->count ? text_put_decimal(end, node->count) :
				    TEXT_PUT(end, "more");
		out(walk, text, end - text);
		if (node->kind == VALUE_TEXT || node->kind == VALUE_ADDRESS)
			OUT(walk, " bytes");
		OUT(walk, ">");
	}
	if (status != VALUE_SHORT)
		return false;
	if (node->type->kind == TFF_CTYPE_TUPLE) {
		/* what separates it precedes */
	} else if (node->kind == VALUE_STRUCT || node->kind == VALUE_ARRAY) {
		text_separate(walk);
	} else if (node->kind != VALUE_STRING) {
		if (bytes == 1)
			OUT(walk, "0x");
		out_hex(walk, node->data, node->have);
		if (node->have)
			OUT(walk, " ");
	}
	if ((node->kind == VALUE_ARRAY &&
	     node->type->kind != TFF_CTYPE_TUPLE) || node->kind == VALUE_STRING)
		bytes = node->count * node->unit;
	out(walk, text, sprintf(text, "<%zu of %zu bytes>", node->have, bytes));
	return false;
}

static void text_null(struct value_walk *walk, const struct value_node *node,
		      const char *name)
{
	struct value_text *v = walk->own;

	if (*name)
		v->p = value_put_name(walk, v->p, v->end, name);
	else
		OUT(walk, "NULL");
}

/* "Rect {w = 3, h = 4}", "Circle(2)", "Empty" */
static void text_choice(struct value_walk *walk, const struct value_node *node,
			const char *name, const struct value_node *value)
{
	struct value_text *v = walk->own;

	v->p = value_put_name(walk, v->p, v->end, name);
	if (value->kind == VALUE_STRUCT && *name)
		OUT(walk, " ");
	else if (value->kind != VALUE_NONE && *name)
		OUT(walk, "(");
}

static void text_choice_end(struct value_walk *walk,
			    const struct value_node *node, const char *name,
			    const struct value_node *value)
{
	if (value->kind != VALUE_STRUCT && value->kind != VALUE_NONE && *name)
		OUT(walk, ")");
}

static const struct value_visitor text_visitor = {
	.repeats = REPEATS_MIN, .repeat = text_repeat,
	.begin = text_begin, .end = text_end, .item = text_item,
	.entry = text_entry, .scalar = text_scalar, .string = text_string,
	.status = text_status, .null = text_null, .choice = text_choice,
	.choice_end = text_choice_end,
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
