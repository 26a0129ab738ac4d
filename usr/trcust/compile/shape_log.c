// SPDX-License-Identifier: GPL-2.0
#include "shape_log.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <rastrace/buffer.h>
#include "shape.h"
#include "lib/formats/rpn.h"

#define ADDRESS_MOST		128	/* bytes of a sockaddr_storage */
#define NESTED_TEXT_MOST	64	/* bytes of a text in something else */
#define SIGN			(1ULL << 63)

/* ---- statements ---- */

static bool shape_failed(struct shaping *g)
{
	if (!g->e->code)
		g->e->code = diag_no_memory(g->s->c->diag, g->s->in->pos);
	return false;
}

/* if (guard) value; else 0. In this order: the verifier goes straight on first,
 * and what it has seen with any value it doesn't go through again with 0. */
void shape_guard_emit(const struct bytes *guard, const struct bytes *value,
		      struct bytes *rpn)
{
	rpn->failed |= guard->failed;
	if (!guard->size) {
		bytes_join(rpn, value);
		return;
	}
	bytes_join(rpn, guard);
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_eq);
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, value->size + 3, 2);
	bytes_join(rpn, value);
	rpn_emit_op(rpn, RPN_skip);
	rpn_emit_fixed(rpn, 1, 2);
	rpn_emit_const(rpn, 0);
	rpn->failed |= value->size > INT16_MAX - 3;
}

/* The guard of what exists if `test` is not 0. Returns the one before, for
 * guard_leave(). */
static struct bytes guard_enter(struct shaping *g, const struct bytes *test)
{
	struct bytes before = g->guard, inner = { 0 };

	shape_guard_emit(&before, test, &inner);
	g->guard = inner;
	return before;
}

static void guard_leave(struct shaping *g, struct bytes *before)
{
	bytes_free(&g->guard);
	g->guard = *before;
}

static struct tdf_stmt *part_begin(struct shaping *g)
{
	struct tdf_stmt *out = emit_stmt(g->s->c, g->s->out, g->s->in->pos,
					 g->where);

	if (!out)
		g->e->code = -1;
	g->items++;
	g->bytes += RAS_ITEM_PREFIX;
	return out;
}

static bool part_rpn(struct shaping *g, const struct bytes *rpn, uint32_t *at,
		     uint32_t *length)
{
	if (rpn->failed)
		return shape_failed(g);
	g->e->code = emit_rpn(g->s, g->s->in->pos, rpn, at, length);
	return !g->e->code;
}

/* What cannot be computed at this site: so many items. */
bool shape_parts_absent(struct shaping *g, unsigned int count)
{
	while (count--) {
		g->items++;
		g->e->code = emit_absent(g->s, g->s->in->pos, "",
					 g->e->absent_why, false);
		if (g->e->code)
			return false;
	}
	return true;
}

/* A number for what is kept; 0: no more. What takes one gives it back. */
static unsigned int kept_number(struct shaping *g)
{
	return g->kept < TDF_KEPT_MAX ? ++g->kept : 0;
}

/* `kept`: for later statements, under that number; 0: not */
static bool part_value(struct shaping *g, const struct bytes *number,
		       unsigned int bytes, unsigned int kept)
{
	struct tdf_stmt *out = part_begin(g);
	struct bytes rpn = { 0 };
	bool done;

	if (!out)
		return false;
	out->kind = TDF_STMT_VALUE;
	out->length = bytes;
	out->reg = kept;
	g->bytes += bytes;
	shape_guard_emit(&g->guard, number, &rpn);
	done = part_rpn(g, &rpn, &out->rpn, &out->rpn_length);
	bytes_free(&rpn);
	return done;
}

static bool part_number(struct shaping *g, const struct bytes *number)
{
	return part_value(g, number, 8, 0);
}

/* The same, which later parts have from there; *number becomes how. */
static bool part_number_keep(struct shaping *g, struct bytes *number)
{
	unsigned int kept = kept_number(g);

	if (!part_number(g, number))
		return false;
	if (!kept)
		return true;
	g->s->out->stmts[g->s->out->stmt_count - 1].reg = kept;
	bytes_free(number);
	rpn_emit_kept(number, kept);
	return !number->failed || shape_failed(g);
}

static bool part_memory(struct shaping *g, const struct bytes *address,
			const struct bytes *length, uint64_t most)
{
	struct tdf_stmt *out = part_begin(g);
	uint16_t maxdata = g->s->c->tsf->maxdata;
	struct bytes rpn = { 0 };
	bool done;

	if (!out)
		return false;
	out->kind = TDF_STMT_MEM;
	out->flags = TDF_STMT_LEN | TDF_STMT_LEN_VALUE;
	out->len_bytes = 8;
	out->length = !most ? 1 : most < maxdata ? most : maxdata;
	g->bytes += out->length;
	shape_guard_emit(&g->guard, length, &rpn);
	done = part_rpn(g, address, &out->rpn, &out->rpn_length) &&
	       part_rpn(g, &rpn, &out->len_rpn, &out->len_rpn_length);
	bytes_free(&rpn);
	return done;
}

/* The value of an expression of a shape, as a number. */
static bool shape_number(struct shaping *g, const struct shape *shape,
			 const struct expr *expr, const struct value *self,
			 struct value *value)
{
	struct diag *diag = g->e->site->repeated ? g->s->c->diag :
						   shape->file->diag;

	*value = (struct value){ 0 };
	if (!shape_evaluate(g->e, diag, expr, self, value))
		return false;
	if (value_load(g->e, self->pos, "shape", value))
		return true;
	value_free(value);
	return false;
}

/* Appends the comparison of a and a constant, both without a sign. */
static void shape_compare(struct bytes *rpn, const struct bytes *a,
			  uint64_t number, uint8_t op)
{
	bytes_join(rpn, a);
	rpn_emit_const(rpn, SIGN);
	rpn_emit_op(rpn, RPN_xor);
	rpn_emit_const(rpn, number ^ SIGN);
	rpn_emit_op(rpn, op);
}

static void emit_at_most(struct bytes *rpn, const struct bytes *a,
			 uint64_t number)
{
	shape_compare(rpn, a, number, RPN_le);
}

/* Appends the bytes of `count` elements, `limit` at most. */
static void emit_elements(struct bytes *rpn, const struct bytes *count,
			  uint32_t limit, uint64_t bytes)
{
	struct bytes most = { 0 };

	rpn_emit_const(&most, limit);
	shape_compare(rpn, count, limit, RPN_gt);
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, count->size + 3, 2);
	bytes_join(rpn, count);
	rpn_emit_op(rpn, RPN_skip);
	rpn_emit_fixed(rpn, most.size, 2);
	bytes_join(rpn, &most);
	rpn->failed |= most.failed;
	bytes_free(&most);
	rpn_emit_const(rpn, bytes);
	rpn_emit_op(rpn, RPN_mul);
}

static bool log_inside(struct shaping *g, const struct value *value,
		       const struct value_type *type, uint64_t bits,
		       uint32_t ctype);

/* The value at an address. */
static bool value_at(const struct value_type *type, const struct bytes *address,
		     uint64_t offset, bool wide, struct value *value)
{
	struct bytes *rpn;

	*value = (struct value){
		.type = *type, .kind = VALUE_PLACE, .name = "",
	};
	rpn = place_begin(&value->place, PLACE_MEMORY);
	if (!rpn)
		return false;
	bytes_join(rpn, address);
	if (offset)
		rpn_emit_add(rpn, offset, wide);
	snprintf(value->place.where, sizeof(value->place.where),
		 "memory of a shape");
	return !rpn->failed;
}

static bool log_text(struct shaping *g, const struct value *count,
		     const struct value *address)
{
	uint64_t most = g->types->shape_depth || g->items ? NESTED_TEXT_MOST :
			g->most ? g->most : SHAPE_TEXT_MOST;
	struct bytes length = { 0 }, at = { 0 };
	unsigned int kept = g->kept;
	bool done;

	value_push(count, &length);
	value_push(address, &at);
	done = part_number_keep(g, &length) &&
	       part_memory(g, &at, &length, most);
	g->kept = kept;
	bytes_free(&length);
	bytes_free(&at);
	return done;
}

/* Element `i` exists if there are more than that. */
static bool log_element(struct shaping *g, const struct value_type *type,
			uint32_t ctype, const struct bytes *count,
			const struct bytes *address, uint32_t i, uint64_t bytes)
{
	struct bytes test = { 0 }, before;
	struct value element;
	bool done;

	emit_at_most(&test, count, i);
	rpn_emit_const(&test, 0);
	rpn_emit_op(&test, RPN_eq);
	before = guard_enter(g, &test);
	done = value_at(type, address, i * bytes, g->e->wide, &element)
		       ? shape_log_parts(g, &element, ctype)
		       : shape_failed(g);
	value_free(&element);
	guard_leave(g, &before);
	bytes_free(&test);
	return done;
}

static bool log_sequence(struct shaping *g, const struct value *number,
			 const struct value *pointer, uint32_t ctype)
{
	const struct ctype *type = &g->types->types[ctype];
	uint32_t limit = type->count, target = type->target;
	struct value_type element = value_type_target(&pointer->type);
	uint64_t bytes = g->types->types[target].bytes;
	uint64_t own = ctype_is_apart(&g->types->types[target]) ? 0 : bytes;
	struct bytes count = { 0 }, address = { 0 }, length = { 0 };
	unsigned int kept = g->kept;
	unsigned int inside = g->types->shape_inside;
	bool done;

	value_push(number, &count);
	value_push(pointer, &address);
	done = part_number_keep(g, &count);
	emit_elements(&length, &count, limit, own);
	done = done && part_memory(g, &address, &length, limit * own);
	g->types->shape_depth++;
	g->types->shape_inside = 1;
	g->types->shape_many++;
	for (uint32_t i = 0; done && g->types->types[target].parts && i < limit;
	     i++)
		done = log_element(g, &element, target, &count, &address, i,
				   bytes);
	g->types->shape_inside = inside;
	g->types->shape_many--;
	g->types->shape_depth--;
	g->kept = kept;
	bytes_free(&count);
	bytes_free(&address);
	bytes_free(&length);
	return done;
}

bool shape_log_elements(struct shaping *g, const struct value *pointer,
			const struct value *count, uint32_t ctype)
{
	if (g->e->absent)
		return shape_parts_absent(g, g->types->types[ctype].parts);
	return g->types->types[ctype].kind == TFF_CTYPE_TEXT ?
		       log_text(g, count, pointer) :
		       log_sequence(g, count, pointer, ctype);
}

static bool log_one(struct shaping *g, const struct value *pointer,
		    uint32_t ctype)
{
	uint32_t target = g->types->types[ctype].target;
	struct value_type type = value_type_target(&pointer->type);
	uint64_t bytes = ctype_is_apart(&g->types->types[target]) ?
				 0 : g->types->types[target].bytes;
	struct bytes address = { 0 }, length = { 0 }, before;
	unsigned int inside = g->types->shape_inside;
	struct value value = { 0 };
	unsigned int kept = g->kept;
	bool done;

	value_push(pointer, &address);
	rpn_emit_const(&length, bytes);
	done = part_number_keep(g, &address);
	before = guard_enter(g, &address);
	done = done && part_memory(g, &address, &length, bytes);
	g->types->shape_depth++;
	g->types->shape_inside = 0;
	if (done && g->types->types[target].parts)
		done = value_at(&type, &address, 0, g->e->wide, &value)
			       ? shape_log_parts(g, &value, target)
			       : shape_failed(g);
	g->types->shape_inside = inside;
	g->types->shape_depth--;
	value_free(&value);
	guard_leave(g, &before);
	g->kept = kept;
	bytes_free(&address);
	bytes_free(&length);
	return done;
}

static bool log_time(struct shaping *g, const struct value *seconds,
		     const struct value *nanoseconds)
{
	struct bytes whole = { 0 }, part = { 0 };
	bool done;

	value_push(seconds, &whole);
	value_push(nanoseconds, &part);
	done = part_number(g, &whole) && part_number(g, &part);
	bytes_free(&whole);
	bytes_free(&part);
	return done;
}

/* How many there are, and no bytes of them. */
static bool log_count(struct shaping *g, const struct value *number)
{
	struct bytes count = { 0 }, nothing = { 0 };
	bool done;

	value_push(number, &count);
	rpn_emit_const(&nothing, 0);
	done = part_number(g, &count) &&
	       part_memory(g, &nothing, &nothing, 0);
	bytes_free(&count);
	bytes_free(&nothing);
	return done;
}

/*
 * Tests without a jump. After one the verifier knows what was tested, also where
 * it is kept, and follows what comes then for each outcome of each test: with
 * the alternatives of two values these are too many ways.
 */

/* A number becomes 1, or 0 if it is 0. */
static void emit_nonzero(struct bytes *rpn)
{
	static const uint8_t ops[] = {
		RPN_dup, RPN_neg, RPN_or, RPN_const1u, 63, RPN_shr,
	};

	bytes_add(rpn, ops, sizeof(ops));
}

/* Two numbers become 1 if they are equal, else 0. */
static void emit_equal(struct bytes *rpn)
{
	static const uint8_t ops[] = { RPN_lit + 1, RPN_xor };

	rpn_emit_op(rpn, RPN_xor);
	emit_nonzero(rpn);
	bytes_add(rpn, ops, sizeof(ops));
}

/* An address as linked: address ? address - load bias : 0 */
static void emit_linked(const struct bytes *address, struct bytes *rpn)
{
	bytes_join(rpn, address);
	rpn_emit_op(rpn, RPN_dup);
	emit_nonzero(rpn);
	rpn_emit_addr(rpn, 0);
	rpn_emit_op(rpn, RPN_mul);
	rpn_emit_op(rpn, RPN_minus);
}

/* 1 if the address is that of an alternative, else 0. */
static void emit_is_one(const struct ctype *type, const struct bytes *address,
			struct bytes *rpn)
{
	rpn_emit_const(rpn, 0);
	for (size_t i = 0; i < type->member_count; i += 2) {
		if (type->members[i].bits)
			continue;
		bytes_join(rpn, address);
		rpn_emit_const(rpn, type->members[i].value);
		emit_equal(rpn);
		rpn_emit_op(rpn, RPN_or);
	}
}

/* 1 if the alternative, whose number has that index, is the value's. */
static void emit_is_type(const struct ctype *type, size_t i,
			 const struct bytes *address, struct bytes *rpn)
{
	if (type->members[i].bits) {
		emit_is_one(type, address, rpn);
		rpn_emit_const(rpn, 0);
		emit_equal(rpn);
		return;
	}
	bytes_join(rpn, address);
	rpn_emit_const(rpn, type->members[i].value);
	emit_equal(rpn);
}

/* Where a value is that may be of none of the alternatives: then where it is as
 * declared. A part of an object has its class's vtable, too. */
static bool emit_object(const struct ctype *type, const struct bytes *address,
			const struct value *value, const struct value *at,
			struct bytes *rpn)
{
	struct bytes own = { 0 }, whole = { 0 };
	bool done = value_in_memory(value, 1, &own);

	value_push(at, &whole);
	emit_is_one(type, address, rpn);
	rpn_emit_op(rpn, RPN_bra);
	rpn_emit_fixed(rpn, own.size + 3, 2);
	bytes_join(rpn, &own);
	rpn_emit_op(rpn, RPN_skip);
	rpn_emit_fixed(rpn, whole.size, 2);
	bytes_join(rpn, &whole);
	rpn->failed |= own.failed || whole.failed || own.size > INT16_MAX - 3 ||
		       whole.size > INT16_MAX;
	bytes_free(&own);
	bytes_free(&whole);
	return done;
}

/* The bytes of the value that a type of that address has; 0: none that is
 * logged, or the pointer is null. Returns the most. */
static uint64_t emit_dynamic_bytes(const struct ctypes *types,
				   const struct ctype *type,
				   const struct bytes *address,
				   const struct bytes *pointer,
				   struct bytes *rpn)
{
	uint64_t most = 0;

	rpn_emit_const(rpn, 0);
	for (size_t i = 0; i < type->member_count; i += 2) {
		const struct ctype *value =
			&types->types[type->members[i + 1].ctype];

		if (ctype_is_apart(value) || !value->bytes)
			continue;
		most = value->bytes > most ? value->bytes : most;
		emit_is_type(type, i, address, rpn);
		rpn_emit_const(rpn, value->bytes);
		rpn_emit_op(rpn, RPN_mul);
		rpn_emit_op(rpn, RPN_plus);
	}
	bytes_join(rpn, pointer);
	emit_nonzero(rpn);
	rpn_emit_op(rpn, RPN_mul);
	return most;
}

/* The alternatives from *i on that have the same parts, which are logged for each
 * of them; *i becomes the next one. */
static bool log_dynamic_parts(struct shaping *g, const struct ctype *of,
			      const struct dynamic_types *types, size_t *i,
			      const struct bytes *address,
			      const struct bytes *pointer)
{
	const struct dynamic_type *first = &types->list[*i];
	struct value_type type = value_type_of(&first->value);
	bool lenient = g->e->lenient, done;
	struct bytes test = { 0 }, before;
	struct value value;

	for (; *i < types->count && types->list[*i].ctype == first->ctype;
	     ++*i) {
		emit_is_type(of, 2 * *i, address, &test);
		if (&types->list[*i] != first)
			rpn_emit_op(&test, RPN_or);
	}
	bytes_join(&test, pointer);
	emit_nonzero(&test);
	rpn_emit_op(&test, RPN_and);
	before = guard_enter(g, &test);
	g->e->lenient = true;
	done = value_at(&type, pointer, 0, g->e->wide, &value)
		       ? shape_log_parts(g, &value, first->ctype)
		       : shape_failed(g);
	g->e->lenient = lenient;
	value_free(&value);
	guard_leave(g, &before);
	bytes_free(&test);
	return done;
}

static bool log_dynamic_values(struct shaping *g, const struct value *value,
			       uint32_t ctype, const struct bytes *address,
			       const struct bytes *pointer)
{
	struct dynamic_types types = { 0 };
	bool done;

	g->types->shape_depth++;
	g->types->shape_inside++;
	done = shape_dynamic_alternatives(g, &value->type, &types);
	for (size_t i = 0; done && i < types.count;)
		if (g->types->types[types.list[i].ctype].parts)
			done = log_dynamic_parts(g, &g->types->types[ctype],
						 &types, &i, address,
						 pointer);
		else
			i++;
	g->types->shape_depth--;
	g->types->shape_inside--;
	dynamic_types_free(&types);
	return done || (!g->e->code && shape_failed(g));
}

static bool log_dynamic(struct shaping *g, const struct value *value,
			const struct value *number, const struct value *at,
			uint32_t ctype)
{
	struct bytes bare = { 0 }, address = { 0 }, pointer = { 0 };
	Dwarf_Die declared = value->type.die;
	struct bytes length = { 0 };
	unsigned int kept = g->kept;
	uint64_t most;
	bool done;

	value_push(number, &bare);
	emit_linked(&bare, &address);
	done = part_number_keep(g, &address);
	if (shape_language_of(&declared) != SHAPE_CC)
		value_push(at, &pointer);
	else if (!emit_object(&g->types->types[ctype], &address, value, at,
			      &pointer))
		done = done && shape_failed(g);
	done = done && part_number_keep(g, &pointer);
	most = emit_dynamic_bytes(g->types, &g->types->types[ctype], &address,
				  &pointer, &length);
	done = done && part_memory(g, &pointer, &length, most) &&
	       log_dynamic_values(g, value, ctype, &address, &pointer);
	g->kept = kept;
	bytes_free(&bare);
	bytes_free(&address);
	bytes_free(&pointer);
	bytes_free(&length);
	return done;
}

/* ---- nodes, and elements by index ---- */

/* What is kept of a list while it is logged: how many there are, and the node
 * before and this one, in turns. */
#define KEPT_OF_LIST	3

struct list {
	const struct shape *shape;
	uint32_t ctype;
	struct value_type node;
	unsigned int count_kept;	/* 0: it isn't known */
	unsigned int kept[2];		/* of the node with an even, odd number */
	struct bytes first, end;	/* an empty end: only 0 is one */
};

static void list_begin(struct shaping *g, const struct shape *shape,
		       uint32_t ctype, struct list *list)
{
	_Static_assert(KEPT_OF_LIST * APART_DEPTH <= TDF_KEPT_MAX,
		       "lists in lists");
	*list = (struct list){ .shape = shape, .ctype = ctype };
	if (shape->kind == SHAPE_EACH || shape->count)
		list->count_kept = kept_number(g);
	if (shape->kind != SHAPE_EACH) {
		list->kept[0] = kept_number(g);
		list->kept[1] = kept_number(g);
	}
}

static void list_free(struct list *list)
{
	bytes_free(&list->first);
	bytes_free(&list->end);
}

/* Appends whether there are no more than i. */
static void emit_counted(struct bytes *rpn, const struct list *list, uint32_t i)
{
	struct bytes count = { 0 };

	rpn_emit_kept(&count, list->count_kept);
	emit_at_most(rpn, &count, i);
	bytes_free(&count);
}

/* Is there an element with the number i? Of nodes the one before has been
 * logged. */
static void emit_exists(struct bytes *rpn, const struct list *list, uint32_t i)
{
	bool follows = list->shape->kind != SHAPE_EACH && i;

	if (follows) {
		rpn_emit_kept(rpn, list->kept[~i & 1]);
		rpn_emit_const(rpn, 0);
		rpn_emit_op(rpn, RPN_eq);
	}
	if (list->count_kept)
		emit_counted(rpn, list, i);
	if (list->count_kept && follows)
		rpn_emit_op(rpn, RPN_or);
	if (!rpn->size)
		return;
	rpn_emit_const(rpn, 0);
	rpn_emit_op(rpn, RPN_eq);
}

/* Of an expression in a tree's nodes: where the member is. */
static bool tree_offset(struct shaping *g, const struct list *list,
			const struct expr *expr, uint32_t *offset)
{
	struct value_type type;
	uint64_t bits;

	if (!shape_expression_type(g->e, list->shape, expr, &list->node, &type,
				   &bits) ||
	    bits % 8 || bits / 8 > INT32_MAX) {
		diag_report(g->s->c->diag, g->s->in->pos, TRCERR_UNSUPPORTED,
			    "a tree whose nodes do not have such pointers");
		g->e->code = 1;
		return false;
	}
	*offset = bits / 8;
	return true;
}

/* The first `limit` nodes of a red-black tree are not farther from each other.
 * What is to the left of one of them has fewer nodes, so its black height is
 * log2(limit) at most, and that of what is to the right is the same; there are
 * no more red nodes on a way than black ones. */
static unsigned int tree_steps(uint32_t limit)
{
	unsigned int steps = 0;

	for (; limit; limit /= 2)
		steps += 2;
	return steps < RPN_STEPS_MAX ? steps : RPN_STEPS_MAX;
}

static bool tree_next_emit(struct shaping *g, const struct list *list,
			   struct bytes *rpn)
{
	const struct shape *shape = list->shape;
	struct rpn_tree tree = {
		.steps = tree_steps(g->types->types[list->ctype].count),
	};

	if (!tree_offset(g, list, shape->left, &tree.left) ||
	    !tree_offset(g, list, shape->right, &tree.right) ||
	    !tree_offset(g, list, shape->parent, &tree.parent))
		return false;
	rpn_emit_tree_next(rpn, &tree);
	return true;
}

/* The node whose address is kept. */
static bool node_at(struct shaping *g, const struct list *list, uint32_t i,
		    struct value *node)
{
	struct bytes address = { 0 };
	bool done;

	rpn_emit_kept(&address, list->kept[i & 1]);
	done = value_at(&list->node, &address, 0, g->e->wide, node);
	bytes_free(&address);
	node->pos = g->s->in->pos;
	return done || shape_failed(g);
}

/* Appends the address of the node after that with the number i. */
static bool next_emit(struct shaping *g, const struct list *list, uint32_t i,
		      struct bytes *rpn)
{
	struct value node, next = { 0 };
	bool done;

	if (list->shape->kind == SHAPE_TREE) {
		rpn_emit_kept(rpn, list->kept[i & 1]);
		return tree_next_emit(g, list, rpn);
	}
	if (!node_at(g, list, i, &node))
		return false;
	done = shape_number(g, list->shape, list->shape->next, &node, &next);
	if (done)
		value_push(&next, rpn);
	value_free(&next);
	value_free(&node);
	return done;
}

/* Appends: the address on top becomes 0 if it is the end. */
static void end_emit(const struct list *list, struct bytes *rpn)
{
	if (!list->end.size)
		return;
	rpn_emit_op(rpn, RPN_dup);
	bytes_join(rpn, &list->end);
	rpn_emit_op(rpn, RPN_ne);
	rpn_emit_op(rpn, RPN_mul);
}

/* The node with the number i: its address is kept, or 0. That of the first is where
 * the value is, if that exists; others depend on the one before. */
static bool log_node(struct shaping *g, const struct list *list, uint32_t i)
{
	struct bytes test = { 0 }, address = { 0 }, rpn = { 0 }, none = { 0 };
	struct bytes outer = g->guard;
	bool done = true;

	emit_exists(&test, list, i);
	if (i)
		done = next_emit(g, list, i - 1, &address);
	else
		bytes_join(&address, &list->first);
	end_emit(list, &address);
	shape_guard_emit(&test, &address, &rpn);
	if (i)
		g->guard = none;
	done = done && part_value(g, &rpn, 1, list->kept[i & 1]);
	g->guard = outer;
	bytes_free(&test);
	bytes_free(&address);
	bytes_free(&rpn);
	return done;
}

/* An element's own item: where it is in memory, or what it is computed to. */
static bool log_element_bytes(struct shaping *g, struct value *element,
			      uint64_t bytes)
{
	struct bytes rpn = { 0 }, length = { 0 };
	bool done;

	if (element->kind == VALUE_PLACE && value_in_memory(element, bytes,
							    &rpn)) {
		rpn_emit_const(&length, bytes);
		done = part_memory(g, &rpn, &length, bytes);
	} else {
		done = value_load(g->e, g->s->in->pos, "shape", element);
		if (done)
			value_push(element, &rpn);
		done = done && part_value(g, &rpn, bytes < 8 ? bytes : 8, 0);
	}
	bytes_free(&rpn);
	bytes_free(&length);
	return done;
}

/* Where g->guard says that it exists */
static bool log_list_element(struct shaping *g, struct value *element,
			     uint32_t target)
{
	const struct ctype *type = &g->types->types[target];
	bool apart = ctype_is_apart(type), done = true;
	struct value copy;

	element->pos = g->s->in->pos;
	if (!apart) {
		if (!value_copy(element, &copy))
			return shape_failed(g);
		done = log_element_bytes(g, &copy, type->bytes);
		value_free(&copy);
	}
	return done && (!g->types->types[target].parts ||
			shape_log_parts(g, element, target));
}

static bool log_node_element(struct shaping *g, const struct list *list,
			     uint32_t i)
{
	uint32_t target = g->types->types[list->ctype].target;
	struct value node, element = { 0 };
	struct bytes exists = { 0 }, outer = g->guard;
	bool done;

	if (!node_at(g, list, i, &node))
		return false;
	rpn_emit_kept(&exists, list->kept[i & 1]);
	g->guard = exists;
	done = shape_evaluate(g->e, list->shape->file->diag, list->shape->more,
			      &node, &element) &&
	       log_list_element(g, &element, target);
	g->guard = outer;
	bytes_free(&exists);
	value_free(&element);
	value_free(&node);
	return done;
}

static bool log_nodes(struct shaping *g, const struct list *list)
{
	uint32_t limit = g->types->types[list->ctype].count;
	bool done = true;

	for (uint32_t i = 0; done && i < limit; i++)
		done = log_node(g, list, i) && log_node_element(g, list, i);
	return done && (list->count_kept || log_node(g, list, limit));
}

static bool log_indexed(struct shaping *g, const struct list *list,
			const struct value *self)
{
	uint32_t limit = g->types->types[list->ctype].count;
	uint32_t target = g->types->types[list->ctype].target;
	const uint32_t *outer_index = g->e->index;
	bool done = true;

	for (uint32_t i = 0; done && i < limit; i++) {
		struct bytes test = { 0 }, before;
		struct value element = { 0 };

		emit_exists(&test, list, i);
		g->e->index = &i;
		done = shape_evaluate(g->e, list->shape->file->diag,
				      list->shape->what, self, &element);
		g->e->index = outer_index;
		before = guard_enter(g, &test);
		done = done && log_list_element(g, &element, target);
		guard_leave(g, &before);
		bytes_free(&test);
		value_free(&element);
	}
	return done;
}

/* Appends what an expression of the shape yields; none: nothing. */
static bool list_number(struct shaping *g, const struct shape *shape,
			const struct expr *expr, const struct value *self,
			struct bytes *rpn, struct value_type *type)
{
	struct value value;
	bool done;

	if (!expr)
		return true;
	done = shape_number(g, shape, expr, self, &value);
	if (done)
		value_push(&value, rpn);
	if (done && type)
		*type = value.type;
	if (done)
		value_free(&value);
	return done;
}

/* LIST, TREE, EACH */
static bool log_list(struct shaping *g, const struct shape *shape,
		     const struct value *value, uint32_t ctype)
{
	bool indexed = shape->kind == SHAPE_EACH;
	struct bytes count = { 0 };
	unsigned int kept = g->kept;
	struct value_type pointer;
	struct list list;
	bool done;

	list_begin(g, shape, ctype, &list);
	done = list_number(g, shape, indexed ? shape->more : shape->count,
			   value, &count, NULL) &&
	       (indexed || (list_number(g, shape, shape->what, value,
					&list.first, &pointer) &&
			    list_number(g, shape, shape->end, value, &list.end,
					NULL)));
	if (done && !indexed)
		list.node = value_type_target(&pointer);
	if (done && g->e->absent) {
		done = shape_parts_absent(g, g->types->types[ctype].parts);
	} else if (done) {
		if (list.count_kept)
			done = part_value(g, &count, 8, list.count_kept);
		g->types->shape_depth++;
		done = done && (indexed ? log_indexed(g, &list, value) :
					  log_nodes(g, &list));
		g->types->shape_depth--;
	}
	g->kept = kept;
	bytes_free(&count);
	list_free(&list);
	return done;
}

static bool log_tuple(struct shaping *g, const struct shape *shape,
		      const struct value *value, uint32_t ctype)
{
	struct tuple tuple;
	bool done = shape_tuple_of(g->e, shape, &value->type, &tuple) ||
		    shape_failed(g);

	for (unsigned int i = 0; done && i < tuple.count; i++)
		done = log_inside(g, value, &tuple.values[i].type,
				  tuple.values[i].bit_offset,
				  g->types->types[ctype].members[i].ctype);
	return done;
}

/* Bytes from the place of `what` on; of what is in a register, those there. */
static bool log_address_bytes(struct shaping *g, const struct value *what,
			      const struct bytes *length)
{
	struct value_type type = what->type;
	struct bytes at = { 0 };
	uint64_t bytes;
	bool done;

	if (value_in_memory(what, 1, &at)) {
		done = part_memory(g, &at, length, ADDRESS_MOST);
	} else if (what->kind != VALUE_PLACE || g->guard.size ||
		   !value_type_bytes(g->s->c, &type, &bytes)) {
		snprintf(g->e->absent_why, sizeof(g->e->absent_why),
			 "it is not in memory");
		done = shape_parts_absent(g, 1);
	} else {
		g->items++;
		g->bytes += RAS_ITEM_PREFIX + bytes;
		g->e->code = emit_place(g->s, g->s->in->pos, what->name,
					&what->place, what->bit_offset / 8,
					bytes, false);
		done = !g->e->code;
	}
	bytes_free(&at);
	return done;
}

static bool log_address(struct shaping *g, const struct shape *shape,
			const struct value *value)
{
	struct value what = { 0 }, more = { 0 };
	struct bytes length = { 0 };
	bool done = shape_evaluate(g->e, shape->file->diag, shape->what, value,
				   &what) &&
		    shape_number(g, shape, shape->more, value, &more);

	if (done && g->e->absent) {
		done = shape_parts_absent(g, 2);
	} else if (done) {
		value_push(&more, &length);
		done = part_number(g, &length) &&
		       log_address_bytes(g, &what, &length);
	}
	bytes_free(&length);
	value_free(&what);
	value_free(&more);
	return done;
}

/* TEXT, SEQUENCE, ONE, TIME, COUNT, DYNAMIC */
static bool log_apart(struct shaping *g, const struct shape *shape,
		      const struct value *value, uint32_t ctype)
{
	struct value what = { 0 }, more = { 0 };
	bool done = shape_number(g, shape, shape->what, value, &what);

	if (done && shape->more)
		done = shape_number(g, shape, shape->more, value, &more);
	if (done && g->e->absent)
		done = shape_parts_absent(g, g->types->types[ctype].parts);
	else if (done && shape->kind == SHAPE_TEXT)
		done = log_text(g, &more, &what);
	else if (done && shape->kind == SHAPE_SEQUENCE)
		done = log_sequence(g, &more, &what, ctype);
	else if (done && shape->kind == SHAPE_TIME)
		done = log_time(g, &what, &more);
	else if (done && shape->kind == SHAPE_COUNT)
		done = log_count(g, &what);
	else if (done && shape->kind == SHAPE_DYNAMIC)
		done = log_dynamic(g, value, &what, &more, ctype);
	else if (done)
		done = log_one(g, &what, ctype);
	value_free(&what);
	value_free(&more);
	return done;
}

/* OPTIONAL, VALUE: what is in the bytes of the value. */
static bool log_inline(struct shaping *g, const struct shape *shape,
		       const struct value *value, uint32_t ctype)
{
	const struct ctype *type = &g->types->types[ctype];
	uint32_t inner = type->members[type->member_count - 1].ctype;
	bool optional = shape->kind == SHAPE_OPTIONAL;
	struct bytes test = { 0 }, before = { 0 };
	struct value flag = { 0 }, part = { 0 };
	bool done = true;

	if (optional)
		done = shape_number(g, shape, shape->what, value, &flag);
	if (!done)
		return false;
	if (optional) {
		value_push(&flag, &test);
		before = guard_enter(g, &test);
	}
	done = shape_evaluate(g->e, shape->file->diag,
			      optional ? shape->more : shape->what, value,
			      &part) &&
	       shape_log_parts(g, &part, inner);
	value_free(&part);
	if (optional)
		guard_leave(g, &before);
	value_free(&flag);
	bytes_free(&test);
	return done;
}

/* ---- structures, arrays, alternatives ---- */

struct member_walk {
	struct shaping *g;
	const struct value *value;
	bool done;
};

/* A part of the value, so many bits into it. */
static bool log_inside(struct shaping *g, const struct value *value,
		       const struct value_type *type, uint64_t bits,
		       uint32_t ctype)
{
	struct value part;
	bool done;

	if (!g->types->types[ctype].parts)
		return true;
	if (!value_copy(value, &part))
		return shape_failed(g);
	value_narrow(&part, type, bits, 0);
	g->types->shape_inside++;
	done = shape_log_parts(g, &part, ctype);
	g->types->shape_inside--;
	value_free(&part);
	return done;
}

static int member_log(void *context, const struct dwarf_member *member)
{
	struct member_walk *walk = context;
	struct value_type type = value_type_of(&member->type);
	uint32_t ctype = shaped_ctype(walk->g, &type);

	if (ctype == CTYPE_NONE || member->bits)
		return 0;
	walk->done = log_inside(walk->g, walk->value, &type,
				member->bit_offset, ctype);
	return !walk->done;
}

static bool log_members(struct shaping *g, const struct value *value,
			Dwarf_Die *bare)
{
	struct member_walk walk = { g, value, true };

	dwarf_type_members(bare, member_log, &walk);
	return walk.done;
}

static bool log_array(struct shaping *g, const struct value *value,
		      uint32_t ctype)
{
	struct value_type element = value_type_target(&value->type);
	const struct ctype *type = &g->types->types[ctype];
	uint32_t target = type->target, count = type->count;
	uint64_t bits = 8 * (uint64_t)g->types->types[target].bytes;
	bool done = true;

	for (uint32_t i = 0; done && i < count; i++)
		done = log_inside(g, value, &element, i * bits, target);
	return done;
}

/* Appends whether the number that selects is that of the alternative: of the one
 * for all others, whether it is none of theirs. */
static void emit_selects(const struct ctype *type, size_t i,
			 const struct bytes *number, uint64_t mask,
			 struct bytes *rpn)
{
	const struct ctype_member *m = type->members;

	if (!m[i].bits) {
		bytes_join(rpn, number);
		rpn_emit_const(rpn, m[i].value & mask);
		rpn_emit_op(rpn, RPN_eq);
		return;
	}
	rpn_emit_const(rpn, 1);
	for (size_t other = 1; other < type->member_count; other += 2) {
		if (m[other].bits)
			continue;
		bytes_join(rpn, number);
		rpn_emit_const(rpn, m[other].value & mask);
		rpn_emit_op(rpn, RPN_ne);
		rpn_emit_op(rpn, RPN_and);
	}
}

/* The parts of the alternative whose number is member i of its type. */
static bool log_alternative(struct shaping *g, const struct value *value,
			    const struct value_type *inner, uint32_t ctype,
			    size_t i)
{
	const struct ctype *type = &g->types->types[ctype];
	const struct ctype_member *m = type->members;
	unsigned int bytes = g->types->types[m[0].ctype].bytes;
	struct bytes number = { 0 }, test = { 0 }, before;
	bool done;

	if (!g->types->types[m[i + 1].ctype].parts)
		return true;
	if (value->kind != VALUE_PLACE ||
	    place_value(&value->place, (value->bit_offset + m[0].value) / 8,
			bytes, false, &number)) {
		bytes_free(&number);
		g->e->absent = true;
		return shape_parts_absent(
			g, g->types->types[m[i + 1].ctype].parts);
	}
	emit_selects(type, i, &number,
		     bytes < 8 ? (1ULL << 8 * bytes) - 1 : ~0ULL, &test);
	before = guard_enter(g, &test);
	done = log_inside(g, value, inner, m[i + 1].value, m[i + 1].ctype);
	guard_leave(g, &before);
	bytes_free(&number);
	bytes_free(&test);
	return done;
}

static bool log_cases(struct shaping *g, const struct shape *shape,
		      const struct value *value, uint32_t ctype)
{
	struct tuple tuple;
	bool done = shape_tuple_of(g->e, shape, &value->type, &tuple) ||
		    shape_failed(g);

	for (unsigned int i = 0; done && i < tuple.count; i++)
		done = log_alternative(g, value, &tuple.values[i].type, ctype,
				       2 * i + 1);
	return done;
}

/* The same, of what the debug information has alternatives. */
static bool log_variant(struct shaping *g, const struct value *value,
			Dwarf_Die *bare, Dwarf_Die *variant, uint32_t ctype,
			size_t i)
{
	struct dwarf_member member;
	struct value_type inner;
	const char *name;

	if (!ctype_alternative_find(bare, variant, &member, &name))
		return shape_failed(g);
	inner = value_type_of(&member.type);
	return log_alternative(g, value, &inner, ctype, i);
}

static bool log_alternatives(struct shaping *g, const struct value *value,
			     Dwarf_Die *bare, uint32_t ctype)
{
	Dwarf_Die part, variant;
	size_t i = 1;

	if (!ctype_variants_find(bare, &part) || dwarf_child(&part, &variant))
		return shape_failed(g);
	do {
		if (dwarf_tag(&variant) != DW_TAG_variant)
			continue;
		if (i + 1 >= g->types->types[ctype].member_count)
			break;
		if (!log_variant(g, value, bare, &variant, ctype, i))
			return false;
		i += 2;
	} while (dwarf_die_next(&variant));
	return true;
}

/* The value as it was recorded has parts after its bytes: those of what is in
 * them. */
static bool log_composed(struct shaping *g, struct value *value, uint32_t ctype)
{
	Dwarf_Die bare;

	if (value_type_kind(&value->type) == DWARF_TYPE_ARRAY)
		return log_array(g, value, ctype);
	if (!value_type_composed(g->s->c, &value->type, &bare))
		return true;
	if (g->types->types[ctype].kind == TFF_CTYPE_VARIANT)
		return log_alternatives(g, value, &bare, ctype);
	return log_members(g, value, &bare);
}

bool shape_log_parts(struct shaping *g, struct value *value, uint32_t ctype)
{
	uint16_t parts = g->types->types[ctype].parts;
	struct shape_match match;

	if (!parts)
		return true;
	if (!value_refer(g->e, value) ||
	    !shape_match(g->e, g->s->in->pos, &value->type,
			 g->types->shape_inside, &match)) {
		g->e->code = g->e->code ? g->e->code : 1;
		return false;
	}
	value->pos = g->s->in->pos;
	if (!match.shape || match.shape->kind == SHAPE_MEMBERS)
		return log_composed(g, value, ctype);
	if (match.shape->kind == SHAPE_ADDRESS)
		return log_address(g, match.shape, value);
	if (match.shape->kind <= SHAPE_DYNAMIC)
		return log_apart(g, match.shape, value, ctype);
	if (match.shape->kind <= SHAPE_EACH)
		return log_list(g, match.shape, value, ctype);
	if (match.shape->kind == SHAPE_VARIANT)
		return log_cases(g, match.shape, value, ctype);
	if (match.shape->kind >= SHAPE_TUPLE)
		return log_tuple(g, match.shape, value, ctype);
	return log_inline(g, match.shape, value, ctype);
}
