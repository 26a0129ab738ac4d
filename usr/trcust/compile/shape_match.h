/* SPDX-License-Identifier: GPL-2.0 */
/* Which shape a type has: the first one whose expressions fit its members. */
#ifndef TRCUST_SHAPE_MATCH_H
#define TRCUST_SHAPE_MATCH_H

#include "evaluate.h"
#include "trcust/tsf/shape_file.h"

struct shape_match {
	bool misfit;		/* there is one, of a type whose members are
				 * others (evaluation.lenient) */
	const struct shape *shape;	/* NULL: none */
	const struct shape_pattern *pattern;
};

/* What a tuple consists of. */
struct tuple {
	struct tuple_value {
		struct value_type type;
		uint64_t bit_offset;
		int64_t order;
	} values[SHAPE_TUPLE_MAX];
	unsigned int count;
};

/* An expression of a shape, with its messages or without. */
bool shape_evaluate(struct evaluation *e, struct diag *diag,
		    const struct expr *expr, const struct value *self,
		    struct value *value);
/* A value of the type, of which nothing but the type is known. */
bool shape_value_of(const struct value_type *type, struct value *value);
/* False, after a message: a shape has a pattern for the type, and none fits. */
bool shape_match(const struct evaluation *site, struct srcpos pos,
		 const struct value_type *type, bool inside,
		 struct shape_match *match);
/* SHAPE_*, of the unit that the entry is in. */
enum shape_language shape_language_of(Dwarf_Die *die);
/* What a tuple of that type consists of; false: not known, or no memory. */
bool shape_tuple_of(const struct evaluation *site, const struct shape *shape,
		    const struct value_type *type, struct tuple *tuple);
/* Is it in the bytes of the value itself, which is at the address 0? Where? */
bool shape_inside_find(const struct value *value, uint64_t *bit_offset);

#endif
