// SPDX-License-Identifier: GPL-2.0
#include "shape_type.h"

#include <stdlib.h>
#include "shape.h"

#define PARTS_USUAL		16	/* items of the elements of a sequence */
#define PARTS_MOST		48	/* the same of a few elements */
#define DYNAMIC_PARTS		12	/* items of all alternatives of a DYNAMIC */
#define DYNAMIC_VALUES		32	/* alternatives that have more than a name */
#define DYNAMIC_BYTES		256	/* of a value of one of them */

/* ---- types in the TFF ---- */

/* The type of an expression, and where it is in the value (NULL: anywhere);
 * false: elsewhere. */
bool shape_expression_type(const struct evaluation *site,
			   const struct shape *shape, const struct expr *expr,
			   const struct value_type *type,
			   struct value_type *result, uint64_t *bit_offset)
{
	struct evaluation e = *site;
	struct value self, value = { 0 };
	bool done;

	e.unread = !bit_offset;
	if (!shape_value_of(type, &self))
		return false;
	done = shape_evaluate(&e, shape->file->diag, expr, &self, &value);
	if (done) {
		*result = value.type;
		if (bit_offset)
			done = shape_inside_find(&value, bit_offset);
		value_free(&value);
	}
	value_free(&self);
	return done;
}

/* What a pointer or array that an expression yields has. */
static bool target_type(const struct evaluation *e, const struct shape *shape,
			const struct value_type *type,
			struct value_type *target)
{
	struct value_type pointer;

	if (!shape_expression_type(e, shape, shape->what, type, &pointer, NULL))
		return false;
	*target = value_type_target(&pointer);
	return value_type_kind(target) != DWARF_TYPE_VOID;
}

uint32_t shaped_ctype(struct shaping *g, const struct value_type *type)
{
	return value_type_ctype(g->s->c, g->types, type);
}

static uint32_t sequence_limit(struct shaping *g, uint32_t element)
{
	static const uint32_t most[] = { SHAPE_ELEMENTS_MOST, 4, 2 };
	unsigned int depth = g->types->shape_depth - 1;
	uint32_t limit = most[depth < 3 ? depth : 2];
	uint32_t parts = g->types->types[element].parts;

	if (!depth && g->most)
		return g->most;
	if (parts && limit > PARTS_USUAL / parts)
		limit = PARTS_USUAL / parts;
	while (limit < (depth ? 2 : 4) && (limit + 1) * parts <= PARTS_MOST)
		limit++;
	return limit ? limit : 1;
}

/* What `out` says of elements or a value of the target's type. */
static uint32_t put_target(struct shaping *g, const struct value_type *target,
			   struct ctype *out)
{
	unsigned int inside = g->types->shape_inside;
	struct value_type type = *target;
	uint64_t bytes;

	g->types->shape_depth++;
	g->types->shape_inside = out->kind != TFF_CTYPE_ONE;
	g->types->shape_many += out->kind != TFF_CTYPE_ONE;
	if (value_type_bytes(g->s->c, &type, &bytes))
		out->target = shaped_ctype(g, &type);
	if (out->kind == TFF_CTYPE_SEQUENCE && out->target != CTYPE_NONE)
		out->count = sequence_limit(g, out->target);
	g->types->shape_depth--;
	g->types->shape_inside = inside;
	g->types->shape_many -= out->kind != TFF_CTYPE_ONE;
	return out->target == CTYPE_NONE ? CTYPE_NONE :
					   ctypes_put(g->types, out);
}

static uint32_t put_apart(struct shaping *g, const struct shape_match *match,
			  const struct value_type *type, struct ctype *out)
{
	struct value_type target;

	/* a type may contain itself that way */
	if (g->types->shape_depth >= APART_DEPTH ||
	    !target_type(g->e, match->shape, type, &target))
		return CTYPE_NONE;
	return put_target(g, &target, out);
}

uint32_t shape_counted_ctype(struct shaping *g, const struct value_type *element)
{
	bool text = value_type_kind(element) == DWARF_TYPE_VOID ||
		    value_type_is_text(element);
	char *name = NULL, *spelled = value_type_spell(element);
	struct ctype out = {
		.kind = text ? TFF_CTYPE_TEXT : TFF_CTYPE_SEQUENCE,
		.target = CTYPE_NONE, .bytes = 16,
	};
	uint32_t result = CTYPE_NONE;

	if (spelled && asprintf(&name, "%s[]", spelled) >= 0) {
		out.name = name;
		result = text ? ctypes_put(g->types, &out) :
				put_target(g, element, &out);
		free(name);
	} else {
		g->types->failed = true;
	}
	free(spelled);
	return result;
}

/* The type of the nodes, and of their elements. */
static bool node_types(struct shaping *g, const struct shape *shape,
		       const struct value_type *type, struct value_type *node,
		       struct value_type *element)
{
	return target_type(g->e, shape, type, node) &&
	       shape_expression_type(g->e, shape, shape->more, node, element,
				     NULL);
}

static bool each_type(struct shaping *g, const struct shape *shape,
		      const struct value_type *type,
		      struct value_type *element)
{
	static const uint32_t first;
	struct evaluation e = *g->e;

	e.index = &first;
	return shape_expression_type(&e, shape, shape->what, type, element,
				     NULL);
}

static bool is_entry(const struct ctype *type)
{
	return type->kind == TFF_CTYPE_TUPLE && type->member_count == 2;
}

/* LIST, TREE, EACH */
static uint32_t put_elements(struct shaping *g, const struct shape *shape,
			     const struct value_type *type, struct ctype *out)
{
	struct value_type node, element;
	uint64_t bytes;

	if (g->types->shape_depth >= APART_DEPTH)
		return CTYPE_NONE;
	g->types->shape_depth++;
	if ((shape->kind == SHAPE_EACH
		     ? each_type(g, shape, type, &element)
		     : node_types(g, shape, type, &node, &element)) &&
	    value_type_bytes(g->s->c, &element, &bytes))
		out->target = shaped_ctype(g, &element);
	if (out->target != CTYPE_NONE)
		out->count = sequence_limit(g, out->target);
	g->types->shape_depth--;
	if (out->target == CTYPE_NONE)
		return CTYPE_NONE;
	out->is_signed = shape->kind != SHAPE_EACH && !shape->count;
	if (shape->entries && is_entry(&g->types->types[out->target]))
		out->kind = TFF_CTYPE_MAP;
	if (shape->path && out->is_signed &&
	    g->types->types[out->target].kind == TFF_CTYPE_TEXT)
		out->kind = TFF_CTYPE_PATH;
	return ctypes_put(g->types, out);
}

static uint32_t put_tuple(struct shaping *g, const struct shape *shape,
			  const struct value_type *type, struct ctype *out)
{
	struct ctype_member members[SHAPE_TUPLE_MAX];
	struct tuple tuple;

	if (!shape_tuple_of(g->e, shape, type, &tuple))
		return CTYPE_NONE;
	for (unsigned int i = 0; i < tuple.count; i++) {
		members[i] = (struct ctype_member){
			.name = "",
			.ctype = shaped_ctype(g, &tuple.values[i].type),
			.value = tuple.values[i].bit_offset,
		};
		if (members[i].ctype == CTYPE_NONE)
			return CTYPE_NONE;
	}
	out->members = members;
	out->member_count = tuple.count;
	return ctypes_put(g->types, out);
}

/* As a VARIANT has it: what selects, then each alternative; one more has no value
 * and is selected by all ones. */
static uint32_t put_cases(struct shaping *g, const struct shape *shape,
			  const struct value_type *type, struct ctype *out)
{
	struct ctype_member members[3 + 2 * SHAPE_TUPLE_MAX] = { 0 };
	struct value_type number;
	struct tuple tuple;
	uint64_t offset;

	if (!shape_tuple_of(g->e, shape, type, &tuple) ||
	    !shape_expression_type(g->e, shape, shape->what, type, &number,
				   &offset))
		return CTYPE_NONE;
	members[0] = (struct ctype_member){
		.name = "", .value = offset,
		.ctype = value_type_ctype(g->s->c, g->types, &number),
	};
	for (unsigned int i = 0; i <= tuple.count; i++) {
		const struct tuple_value *value = &tuple.values[i];
		bool last = i == tuple.count;

		members[2 * i + 1] = (struct ctype_member){
			.name = last ? "valueless" : "",
			.ctype = members[0].ctype, .value = last ? -1 : (int)i,
		};
		members[2 * i + 2] = (struct ctype_member){
			.name = "",
			.value = last ? 0 : value->bit_offset,
			.ctype = last ? ctypes_put_bytes(g->types, "nothing", 0)
				      : shaped_ctype(g, &value->type),
		};
		if (members[0].ctype == CTYPE_NONE ||
		    members[2 * i + 2].ctype == CTYPE_NONE)
			return CTYPE_NONE;
	}
	out->members = members;
	out->member_count = 3 + 2 * tuple.count;
	return ctypes_put(g->types, out);
}

static uint32_t put_time(struct shaping *g, const struct shape_match *match,
			 const struct value_type *type, struct ctype *out)
{
	struct value_type seconds;

	if (!shape_expression_type(g->e, match->shape, match->shape->what, type,
				   &seconds, NULL))
		return CTYPE_NONE;
	out->is_signed = value_type_is_signed(&seconds);
	return ctypes_put(g->types, out);
}

/* What the alternatives of a DYNAMIC may still have. */
struct dynamic_room {
	uint32_t values, parts;
};

/* A value that is another one from its first byte on is that one, so that many
 * types have the same: the text of Go's errors. */
static void dynamic_unwrap(struct shaping *g, struct dynamic_type *type)
{
	struct value_type value = value_type_of(&type->value), inner;
	struct shape_match match;
	uint64_t offset;

	if (!shape_match(g->e, g->s->in->pos, &value, true, &match)) {
		g->e->code = 1;
		return;
	}
	if (match.shape && match.shape->kind == SHAPE_VALUE &&
	    shape_expression_type(g->e, match.shape, match.shape->what, &value,
				  &inner, &offset) &&
	    !offset && inner.die.addr && !inner.pointers && !inner.dimension)
		type->value = inner.die;
}

static void dynamic_choose(struct shaping *g, struct dynamic_types *types,
			  size_t i, struct dynamic_room *left)
{
	struct dynamic_type *type = &types->list[i];
	struct value_type value;
	uint32_t ctype, parts;
	uint64_t bytes;

	if (!type->value.addr || !left->values)
		return;
	dynamic_unwrap(g, type);
	value = value_type_of(&type->value);
	if (!value_type_bytes(g->s->c, &value, &bytes) || bytes > DYNAMIC_BYTES)
		return;
	ctype = shaped_ctype(g, &value);
	if (ctype == CTYPE_NONE)
		return;
	parts = g->types->types[ctype].parts;
	for (size_t other = 0; parts && other < types->count; other++)
		if (types->list[other].ctype == ctype)
			parts = 0;
	if (parts > left->parts)
		return;
	left->values--;
	left->parts -= parts;
	type->ctype = ctype;
}

static int dynamic_compare(const void *a, const void *b)
{
	const struct dynamic_type *x = a, *y = b;

	if (x->ctype != y->ctype)
		return x->ctype < y->ctype ? -1 : 1;
	return x->address < y->address ? -1 : 1;
}

/* Those of a value of the type, with the types that the TFF has for them; in an
 * element none has parts. The same each time. */
bool shape_dynamic_alternatives(struct shaping *g,
				const struct value_type *type,
				struct dynamic_types *types)
{
	uint32_t nothing = ctypes_put_bytes(g->types, "nothing", 0);
	struct dynamic_room left = {
		DYNAMIC_VALUES,
		g->types->shape_many || g->types->shape_depth > 2 ?
			0 : DYNAMIC_PARTS / g->types->shape_depth,
	};

	bool lenient = g->e->lenient;

	if (dynamic_types_find(g->s->c, type, types))
		g->types->failed = true;
	if (nothing == CTYPE_NONE || g->types->failed) {
		dynamic_types_free(types);
		return false;
	}
	for (size_t i = 0; i < types->count; i++)
		types->list[i].ctype = nothing;
	g->e->lenient = true;
	for (int rank = 3; rank >= 0; rank--)
		for (size_t i = 0; i < types->count; i++)
			if (types->list[i].rank == rank)
				dynamic_choose(g, types, i, &left);
	g->e->lenient = lenient;
	qsort(types->list, types->count, sizeof(*types->list),
	      dynamic_compare);
	return true;
}

static uint32_t put_dynamic(struct shaping *g, const struct value_type *type,
			    struct ctype *out)
{
	uint32_t nothing = ctypes_put_bytes(g->types, "nothing", 0);
	struct dynamic_types types = { 0 };
	uint32_t ctype = CTYPE_NONE;
	struct ctype_member *m;

	if (g->types->shape_depth >= APART_DEPTH)
		return CTYPE_NONE;
	g->types->shape_depth++;
	g->types->shape_inside++;
	shape_dynamic_alternatives(g, type, &types);
	m = calloc(2 * types.count + 1, sizeof(*m));
	for (size_t i = 0; m && i < types.count; i++) {
		m[2 * i] = (struct ctype_member){
			.name = types.list[i].name, .ctype = nothing,
			.value = types.list[i].address,
			.bits = types.list[i].other,
		};
		m[2 * i + 1] = (struct ctype_member){
			.name = "", .ctype = types.list[i].ctype,
		};
	}
	out->members = m;
	out->member_count = 2 * types.count;
	if (m)
		ctype = ctypes_put(g->types, out);
	g->types->failed |= !m;
	g->types->shape_depth--;
	g->types->shape_inside--;
	free(m);
	dynamic_types_free(&types);
	return ctype;
}

/* A value in the value's bytes, that may not be there. */
static uint32_t put_inline(struct shaping *g, const struct shape_match *match,
			   const struct value_type *type, struct ctype *out)
{
	const struct shape *shape = match->shape;
	bool optional = shape->kind == SHAPE_OPTIONAL;
	struct value_type flag = value_type_integer(g->s->c, 1, false), value;
	struct ctype_member members[5] = {
		[1] = { .name = "nullopt" }, [2] = { .name = "" },
		[3] = { .name = "", .bits = 1 }, [4] = { .name = "" },
	};
	uint64_t flag_offset = 0, offset;
	unsigned int first = optional ? 0 : 2;

	if (optional && !shape_expression_type(g->e, shape, shape->what, type,
					       &flag, &flag_offset))
		return CTYPE_NONE;
	if (!shape_expression_type(g->e, shape,
				   optional ? shape->more : shape->what, type,
				   &value, &offset))
		return CTYPE_NONE;
	members[2].ctype = ctypes_put_bytes(g->types, "nothing", 0);
	members[4].ctype = shaped_ctype(g, &value);
	members[4].value = offset;
	members[first] = (struct ctype_member){
		.name = "", .ctype = value_type_ctype(g->s->c, g->types, &flag),
		.value = flag_offset,
	};
	for (int i = 1; i < 4; i += 2)
		members[i].ctype = members[first].ctype;
	if (members[2].ctype == CTYPE_NONE || members[4].ctype == CTYPE_NONE ||
	    members[first].ctype == CTYPE_NONE)
		return CTYPE_NONE;
	out->kind = TFF_CTYPE_VARIANT;
	out->is_signed = optional;
	out->members = members + first;
	out->member_count = 5 - first;
	return ctypes_put(g->types, out);
}

static uint32_t ctype_of_match(struct shaping *g,
			       const struct shape_match *match,
			       struct value_type *type, const char *name)
{
	struct ctype out = {
		.name = match->pattern->name ? match->pattern->name : name,
		.target = CTYPE_NONE,
	};
	uint64_t bytes;

	/* of a class that is only declared nothing else has to be known */
	if (!value_type_bytes(g->s->c, type, &bytes)) {
		if (match->shape->kind > SHAPE_DYNAMIC)
			return CTYPE_NONE;
		bytes = 0;
	}
	out.bytes = bytes;
	switch (match->shape->kind) {
	case SHAPE_TEXT:
		out.kind = TFF_CTYPE_TEXT;
		return ctypes_put(g->types, &out);
	case SHAPE_SEQUENCE:
		out.kind = TFF_CTYPE_SEQUENCE;
		return put_apart(g, match, type, &out);
	case SHAPE_ONE:
		out.kind = TFF_CTYPE_ONE;
		return put_apart(g, match, type, &out);
	case SHAPE_TIME:
		out.kind = TFF_CTYPE_TIME;
		return put_time(g, match, type, &out);
	case SHAPE_ADDRESS:
		out.kind = TFF_CTYPE_ADDRESS;
		return ctypes_put(g->types, &out);
	case SHAPE_COUNT:
		out.kind = TFF_CTYPE_SEQUENCE;
		out.target = ctypes_put_bytes(g->types, "nothing", 0);
		return out.target == CTYPE_NONE ? CTYPE_NONE :
						  ctypes_put(g->types, &out);
	case SHAPE_DYNAMIC:
		out.kind = TFF_CTYPE_DYNAMIC;
		return put_dynamic(g, type, &out);
	case SHAPE_LIST:
	case SHAPE_TREE:
		out.kind = TFF_CTYPE_LIST;
		return put_elements(g, match->shape, type, &out);
	case SHAPE_EACH:
		out.kind = TFF_CTYPE_EACH;
		return put_elements(g, match->shape, type, &out);
	case SHAPE_VARIANT:
		out.kind = TFF_CTYPE_VARIANT;
		return put_cases(g, match->shape, type, &out);
	case SHAPE_TUPLE:
	case SHAPE_LEAVES:
		out.kind = TFF_CTYPE_TUPLE;
		return put_tuple(g, match->shape, type, &out);
	default:
		return put_inline(g, match, type, &out);
	}
}

/* A callback of struct ctypes. */
uint32_t shape_ctype(struct ctypes *types, const Dwarf_Die *die)
{
	struct shaping *g = types->shaper;
	struct value_type type = value_type_of(die);
	struct shape_match match;
	uint32_t result;
	char *name;

	if (!shape_match(g->e, g->s->in->pos, &type, types->shape_inside,
			 &match)) {
		g->e->code = 1;
		return CTYPE_NONE;
	}
	if (match.misfit)
		return ctypes_put_bytes(types, "not known", 0);
	if (!match.shape || match.shape->kind == SHAPE_MEMBERS)
		return CTYPE_NONE;
	name = value_type_spell(&type);
	result = name ? ctype_of_match(g, &match, &type, name) : CTYPE_NONE;
	types->failed |= !name;
	free(name);
	return result;
}
