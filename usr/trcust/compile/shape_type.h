/* SPDX-License-Identifier: GPL-2.0 */
/* The types that the TFF has for values with shapes: what their parts are. */
#ifndef TRCUST_SHAPE_TYPE_H
#define TRCUST_SHAPE_TYPE_H

#include "dynamic.h"
#include "shape_match.h"

#define APART_DEPTH		3	/* sequences and pointers in each other */

/* While a value is logged. */
struct shaping {
	const struct site_stmt *s;
	struct evaluation *e;
	struct ctypes *types;
	struct bytes guard;	/* yields 0: the value does not exist; empty: it
				 * does */
	uint16_t most;		/* of the outermost value; 0: as usual */
	unsigned int kept;	/* numbers that are in use, the first ones */
	uint32_t bytes;		/* that its items have at most */
	uint16_t items;
	char where[64];		/* the value is, for people */
};

/* The number of the type, with the parts that shapes give it. CTYPE_NONE: no
 * memory. */
uint32_t shaped_ctype(struct shaping *g, const struct value_type *type);
/* The type of a counted number of elements: of characters or void, a text. */
uint32_t shape_counted_ctype(struct shaping *g, const struct value_type *element);
/* Those of a value of the type, with the types that the TFF has for them; in an
 * element none has parts. The same each time. */
bool shape_dynamic_alternatives(struct shaping *g,
				const struct value_type *type,
				struct dynamic_types *types);
/* The type of an expression, and where it is in the value (NULL: anywhere);
 * false: elsewhere. */
bool shape_expression_type(const struct evaluation *site,
			   const struct shape *shape, const struct expr *expr,
			   const struct value_type *type,
			   struct value_type *result, uint64_t *bit_offset);
/* A callback of struct ctypes. */
uint32_t shape_ctype(struct ctypes *types, const Dwarf_Die *die);

#endif
