// SPDX-License-Identifier: GPL-2.0
#include "shape_match.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "dynamic.h"
#include "lib/formats/rpn.h"

/* ---- does a shape fit ---- */

/* An expression of a shape, with its messages or without. */
bool shape_evaluate(struct evaluation *e, struct diag *diag,
		    const struct expr *expr, const struct value *self,
		    struct value *value)
{
	struct compilation c = *e->c;
	struct evaluation inner = *e;
	bool done;

	c.diag = diag;
	inner.c = &c;
	inner.self = self;
	inner.code = 0;
	done = evaluate(&inner, expr, value);
	if (!done)
		value_free(value);
	e->code = inner.code;
	e->absent = inner.absent;
	memcpy(e->absent_why, inner.absent_why, sizeof(e->absent_why));
	return done;
}

/* A value of the type, of which nothing but the type is known. */
bool shape_value_of(const struct value_type *type, struct value *value)
{
	struct bytes *rpn;

	*value = (struct value){
		.type = *type, .kind = VALUE_PLACE, .name = "self",
	};
	rpn = place_begin(&value->place, PLACE_MEMORY);
	if (rpn)
		rpn_emit_const(rpn, 0);
	return rpn;
}

static bool expression_fits(struct evaluation *e, struct diag *diag,
			    const struct expr *expr, const struct value *self)
{
	struct value value = { 0 };
	bool fits = !expr || shape_evaluate(e, diag, expr, self, &value);

	if (fits && expr)
		value_free(&value);
	return fits;
}

static bool nodes_fit(struct evaluation *e, struct diag *diag,
		      const struct shape *shape, const struct value *self)
{
	struct value first = { 0 }, node;
	struct value_type type;
	bool fits = expression_fits(e, diag, shape->count, self) &&
		    expression_fits(e, diag, shape->end, self) &&
		    shape_evaluate(e, diag, shape->what, self, &first);

	if (!fits)
		return false;
	type = value_type_target(&first.type);
	value_free(&first);
	if (!shape_value_of(&type, &node))
		return false;
	node.pos = self->pos;
	fits = expression_fits(e, diag, shape->next, &node) &&
	       expression_fits(e, diag, shape->left, &node) &&
	       expression_fits(e, diag, shape->right, &node) &&
	       expression_fits(e, diag, shape->parent, &node) &&
	       expression_fits(e, diag, shape->more, &node);
	value_free(&node);
	return fits;
}

static bool tuple_find(struct evaluation *e, struct diag *diag,
		       const struct shape *shape, const struct value *self,
		       struct tuple *tuple);

static bool shape_fits(struct evaluation *e, struct diag *diag,
		       const struct shape *shape, const struct value *self)
{
	static const uint32_t first;
	struct tuple tuple;

	switch (shape->kind) {
	case SHAPE_LIST:
	case SHAPE_TREE:
		return nodes_fit(e, diag, shape, self);
	case SHAPE_VARIANT:
	case SHAPE_TUPLE:
	case SHAPE_LEAVES:
		return tuple_find(e, diag, shape, self, &tuple);
	case SHAPE_EACH:
		e->index = &first;
		break;
	default:
		break;
	}
	return expression_fits(e, diag, shape->what, self) &&
	       expression_fits(e, diag, shape->more, self);
}

/* ---- tuples ---- */

/* The number that an expression yields, which has no more than sums and masks of
 * numbers; false: it has. */
static bool constant_find(const struct bytes *rpn, uint64_t *number)
{
	uint64_t stack[TDF_RPN_STACK] = { 0 };
	struct rpn_op op = { 0 };
	unsigned int depth = 0;
	int64_t value;

	while (rpn_next(rpn->data, rpn->size, &op)) {
		if (depth < op.pops || depth == TDF_RPN_STACK)
			return false;
		if (rpn_is_constant(&op, &value)) {
			stack[depth++] = value;
		} else if (op.code == RPN_plus_uconst) {
			stack[depth - 1] += op.a;
		} else if (op.code == RPN_and) {
			depth--;
			stack[depth - 1] &= stack[depth];
		} else {
			return false;
		}
	}
	*number = *stack;
	return depth == 1 && op.next == rpn->size;
}

/* Is it in the bytes of the value itself, which is at the address 0? Where? */
bool shape_inside_find(const struct value *value, uint64_t *bit_offset)
{
	uint64_t bytes;

	if (value->kind != VALUE_PLACE || value->bits ||
	    value->place.count != 1 ||
	    value->place.pieces[0].kind != PLACE_MEMORY ||
	    !constant_find(&value->place.pieces[0].rpn, &bytes))
		return false;
	*bit_offset = value->bit_offset + 8 * bytes;
	return true;
}

/* The type of an expression that is inside, and where. What is read on the way to
 * it shows that it isn't, so this is evaluated. */
static bool inside_evaluate(struct evaluation *e, struct diag *diag,
			    const struct expr *expr, const struct value *self,
			    struct value_type *type, uint64_t *bit_offset)
{
	struct value value = { 0 };
	bool unread = e->unread, found;

	e->unread = false;
	found = shape_evaluate(e, diag, expr, self, &value);
	e->unread = unread;
	if (!found)
		return false;
	found = shape_inside_find(&value, bit_offset);
	*type = value.type;
	value_free(&value);
	return found;
}

static bool tuple_add(struct tuple *tuple, const struct value_type *type,
		      uint64_t bit_offset, int64_t order)
{
	unsigned int at = tuple->count;

	if (at == SHAPE_TUPLE_MAX)
		return false;
	for (; at && tuple->values[at - 1].order > order; at--)
		tuple->values[at] = tuple->values[at - 1];
	tuple->values[at] = (struct tuple_value){ *type, bit_offset, order };
	tuple->count++;
	return true;
}

static bool tuple_evaluate(struct evaluation *e, struct diag *diag,
			   const struct shape *shape, const struct value *self,
			   struct tuple *tuple)
{
	struct value_type type;
	uint64_t offset;

	for (unsigned int i = 0; i < shape->value_count; i++)
		if (!inside_evaluate(e, diag, shape->values[i], self, &type,
				     &offset) ||
		    !tuple_add(tuple, &type, offset, i))
			return false;
	return true;
}

/* The first number among the template parameters of a class; -1: none. */
static int64_t class_number(Dwarf_Die *class)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;
	Dwarf_Die child;

	dwarf_die_each(class, &child)
		if (dwarf_tag(&child) == DW_TAG_template_value_parameter &&
		    !dwarf_formudata(dwarf_attr(&child, DW_AT_const_value,
						&attr), &number))
			return number;
	return -1;
}

struct leaf_walk {
	struct evaluation *e;
	const char *name;
	struct tuple *tuple;
	uint64_t bit_offset;	/* of the class */
	int64_t order;		/* of its members */
	int64_t *last;		/* of all orders */
	unsigned int depth;
	bool failed;
};

struct empty_walk {
	struct dwarf_member base;
	unsigned int bases, others;
};

static int empty_take(void *context, const struct dwarf_member *member)
{
	struct empty_walk *w = context;

	w->base = *member;
	w->bases += member->is_base;
	w->others += !member->is_base;
	return 0;
}

/* A class with a number and without a leaf: what is empty is its base class. */
static void leaf_of_empty(struct leaf_walk *w, Dwarf_Die *class)
{
	struct empty_walk walk = { .bases = 0 };
	struct value_type type;

	dwarf_type_members(class, empty_take, &walk);
	if (w->order < 0 || walk.bases != 1 || walk.others)
		return;
	type = value_type_of(&walk.base.type);
	w->failed |= !tuple_add(w->tuple, &type, w->bit_offset +
				walk.base.bit_offset, w->order);
}

/* A callback: a member of a class, or a base class, which may have some. */
static int leaf_take(void *context, const struct dwarf_member *member)
{
	struct leaf_walk *w = context, inner = *w;
	struct value_type type = value_type_of(&member->type);
	unsigned int before = w->tuple->count;
	Dwarf_Die class;

	if (!member->is_base) {
		if (!strcmp(member->name, w->name))
			w->failed |= member->bits ||
				     !tuple_add(w->tuple, &type, w->bit_offset +
						member->bit_offset, w->order);
		return w->failed;
	}
	if (++inner.depth > SHAPE_TUPLE_MAX + 4 ||
	    !value_type_composed(w->e->c, &type, &class))
		return 0;
	inner.bit_offset += member->bit_offset;
	inner.order = class_number(&class);
	if (inner.order > *w->last)
		*w->last = inner.order;
	dwarf_type_members(&class, leaf_take, &inner);
	if (w->tuple->count == before)
		leaf_of_empty(&inner, &class);
	w->failed |= inner.failed;
	return w->failed;
}

/* Base classes that have a number have a leaf each, or it is not known what an
 * empty one is. */
static bool leaves_lack(const struct tuple *tuple, int64_t last)
{
	for (unsigned int i = 0; i < tuple->count; i++)
		if (tuple->values[i].order >= 0 && tuple->values[i].order != i)
			return true;
	return last >= 0 && tuple->count != last + 1;
}

static bool leaves_find(struct evaluation *e, struct diag *diag,
			const struct shape *shape, const struct value *self,
			struct tuple *tuple)
{
	int64_t last = -1;
	struct leaf_walk walk = {
		.e = e, .name = shape->leaf, .tuple = tuple, .order = -1,
		.last = &last,
	};
	struct value_type in;
	Dwarf_Die class;
	bool found;

	found = inside_evaluate(e, diag, shape->what, self, &in,
				&walk.bit_offset) &&
		value_type_composed(e->c, &in, &class);
	if (found)
		dwarf_type_members(&class, leaf_take, &walk);
	return found && !walk.failed && !leaves_lack(tuple, last);
}

/* Where a part of a value of the type is, of which an expression says which;
 * its type. False: it has no such part. */
static bool part_find(struct evaluation *e, struct diag *diag,
		      const struct expr *expr, struct value_type *type,
		      uint64_t *bit_offset)
{
	uint64_t offset = 0;
	struct value self;
	bool found;

	found = shape_value_of(type, &self) &&
		inside_evaluate(e, diag, expr, &self, type, &offset);
	*bit_offset += offset;
	value_free(&self);
	return found;
}

/* The alternatives of a variant: the value of the head of a union, and those of
 * its tail. */
static bool cases_find(struct evaluation *e, struct diag *diag,
		       const struct shape *shape, const struct value *self,
		       struct tuple *tuple)
{
	struct value_type at = self->type, type;
	uint64_t offset = 0, head;

	if (!expression_fits(e, diag, shape->what, self) ||
	    !part_find(e, diag, shape->cases, &at, &offset))
		return false;
	do {
		type = at;
		head = offset;
		if (!part_find(e, diag, shape->head, &type, &head))
			break;
		if (!part_find(e, diag, shape->more, &type, &head) ||
		    !tuple_add(tuple, &type, head, tuple->count))
			return false;
	} while (part_find(e, diag, shape->tail, &at, &offset));
	e->code = 0;
	return tuple->count;
}

/* Its values, in order; e evaluates nothing. */
static bool tuple_find(struct evaluation *e, struct diag *diag,
		       const struct shape *shape, const struct value *self,
		       struct tuple *tuple)
{
	tuple->count = 0;
	if (shape->kind == SHAPE_VARIANT)
		return cases_find(e, diag, shape, self, tuple);
	return shape->kind == SHAPE_LEAVES ?
		       leaves_find(e, diag, shape, self, tuple) :
		       tuple_evaluate(e, diag, shape, self, tuple);
}

bool shape_tuple_of(const struct evaluation *site, const struct shape *shape,
		    const struct value_type *type, struct tuple *tuple)
{
	struct evaluation e = *site;
	struct diag *silent;
	struct value self;
	bool done;

	/* there is a last alternative, and no message about that */
	if (diag_open_text(&silent, "", "", 0, 0, NULL))
		return false;
	e.unread = true;
	done = shape_value_of(type, &self) &&
	       tuple_find(&e, silent, shape, &self, tuple);
	value_free(&self);
	diag_close(silent);
	return done;
}

/* ---- which shape ---- */

/* In patterns: a class whose objects may be of a derived class */
#define VIRTUAL		"class with virtual functions"

/* The first shape with that name that fits. *misfit: one that doesn't. */
enum shape_language shape_language_of(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return SHAPE_ANY;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_Rust:
		return SHAPE_RUST;
	case DW_LANG_Go:
		return SHAPE_GO;
	default:
		return dwarf_die_is_cc(&unit) ? SHAPE_CC : SHAPE_C;
	}
}

static struct shape_match match_name(struct evaluation *e, struct diag *silent,
				     const char *name, const struct value *self,
				     const struct shape **misfit)
{
	Dwarf_Die die = self->type.die;
	enum shape_language language = shape_language_of(&die);
	struct shape_match match = { 0 };

	while ((match.shape = shapes_find(e->c->shapes, match.shape, language,
					  name, &match.pattern))) {
		if (shape_fits(e, silent, match.shape, self))
			return match;
		if (!*misfit)
			*misfit = match.shape;
	}
	return match;
}

static void report_misfit(struct evaluation *e, const struct shape *shape,
			  const struct value *self, const char *name)
{
	const struct shape_file *file = shape->file;

	shape_fits(e, file->diag, shape, self);
	diag_report(e->c->diag, self->pos, TRCERR_BADOPERAND, "shape", name);
	diag_hint(e->c->diag, "no shape for it fits its members; the first one "
			      "is in %s, line %u", file->name,
		  shape->patterns[0].pos.line);
	e->code = 1;
}

/* By the names of typedefs on the way to the type, and its own. */
static struct shape_match match_self(struct evaluation *e, struct diag *silent,
				     struct value *self,
				     const struct shape **misfit, char **name)
{
	struct shape_match match = { 0 };
	Dwarf_Die at = self->type.die, next;
	Dwarf_Attribute attr;
	bool bare = false;

	while (!match.shape && !bare && at.addr) {
		int tag = dwarf_tag(&at);

		bare = tag != DW_TAG_typedef && tag != DW_TAG_const_type &&
		       tag != DW_TAG_volatile_type;
		if (dwarf_diename(&at)) {
			free(*name);
			*name = tag != DW_TAG_pointer_type ?
					dwarf_type_name(&at) :
					strdup(dwarf_diename(&at));
			if (*name)
				match = match_name(e, silent, *name, self,
						   misfit);
			else
				e->c->module->exhausted = true;
		}
		if (bare || !dwarf_attr_integrate(&at, DW_AT_type, &attr) ||
		    !dwarf_formref_die(&attr, &next))
			break;
		at = next;
	}
	return match;
}

/* False, after a message: a shape has a pattern for the type, and none fits. */
bool shape_match(const struct evaluation *site, struct srcpos pos,
		 const struct value_type *type, bool inside,
		 struct shape_match *match)
{
	struct evaluation e = *site;
	const struct shape *misfit = NULL;
	struct diag *silent;
	struct value self;
	char *name = NULL;

	*match = (struct shape_match){ 0 };
	if (!e.c->shapes || type->pointers || type->dimension ||
	    !type->die.addr)
		return true;
	if (diag_open_text(&silent, "", "", 0, 0, NULL)) {
		e.c->module->exhausted = true;
		return true;
	}
	e.unread = true;
	if (!shape_value_of(type, &self)) {
		e.c->module->exhausted = true;
	} else {
		self.pos = pos;
		*match = match_self(&e, silent, &self, &misfit, &name);
		if (!match->shape && e.lenient) {
			match->misfit = misfit;
			misfit = NULL;
		}
		if (!match->shape && misfit)
			report_misfit(&e, misfit, &self, name);
		if (!match->shape && !misfit && !inside &&
			 dynamic_is_class(e.c, type))
			*match = match_name(&e, silent, VIRTUAL, &self,
					    &misfit);
	}
	if (diag_exhausted(silent))
		e.c->module->exhausted = true;
	value_free(&self);
	free(name);
	diag_close(silent);
	return match->shape || !misfit;
}
