/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types that only the running program knows: of a Go interface, a Rust trait
 * object, a class with virtual functions. Beside the value the program has an
 * address that means its type: a type descriptor, a vtable. Which addresses
 * mean which types is in the module's debug information and symbols.
 */
#ifndef TRCUST_DYNAMIC_H
#define TRCUST_DYNAMIC_H

#include "value_type.h"

struct dynamic_type {
	char *name;		/* as the language writes it */
	uint64_t address;	/* as linked */
	Dwarf_Die value;	/* the type of what the pointer points to; addr
				 * NULL: only the name is of use */
	bool other;		/* none of the others: the declared type */
	int rank;		/* the higher one rather than others, 0 to 3 */
	uint32_t ctype;		/* for shape.c */
};

struct dynamic_types {
	struct dynamic_type *list;	/* by address, each once */
	size_t count, room;
};

/* Those that a value of the type may have, for its language. What belongs to
 * the interface comes with its type, all others as a name only. 0, -ENOMEM.
 * C++: the addresses are those of std::type_info, and the last one is `other`. */
int dynamic_types_find(const struct compilation *c,
		       const struct value_type *declared,
		       struct dynamic_types *types);
/* A class with virtual functions: its first word is the address of a vtable. */
bool dynamic_is_class(const struct compilation *c,
		      const struct value_type *type);
void dynamic_types_free(struct dynamic_types *types);
/* Those that were found once, each with its type. */
struct dynamic_known;
void dynamic_forget(struct dynamic_known *known);

#endif
