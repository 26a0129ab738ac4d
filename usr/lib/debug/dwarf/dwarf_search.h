/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Types by name, in a block, in a unit, or in all units; and members by name, as
 * C++ looks them up (C++17 section 13.2).
 */
#ifndef TRCUST_DWARF_SEARCH_H
#define TRCUST_DWARF_SEARCH_H

#include "dwarf_type.h"

struct type_search {
	const char *tag;	/* NULL: any */
	const char *name;	/* as given, without leading "::" */
	bool absolute;		/* it had one */
	Dwarf_Die found[2];
	int code;		/* -ENOENT, 0, or -ENOTUNIQ */
	bool is_declared;	/* though not defined */
};

/* Only types directly in the entry; true: it has one of the name. */
bool dwarf_type_search_block(struct type_search *search, Dwarf_Die *block);
/* In the unit, or with NULL in all: search->code. */
int dwarf_type_search_unit(struct type_search *search,
			   struct dwarf_file *dwarf, Dwarf_Die *unit);

bool dwarf_type_tag_fits(const char *tag, Dwarf_Die *die);
/* Values of one print as those of the other. */
bool dwarf_type_same(const Dwarf_Die *a, const Dwarf_Die *b);
/* The definition of what is only declared here, when it has just one. */
bool dwarf_type_complete(struct dwarf_file *dwarf, Dwarf_Die *bare);

#define DWARF_VIRTUAL_MAX	4	/* virtual bases on the way to a member */

enum dwarf_named_kind {
	DWARF_NAMED_DATA, DWARF_NAMED_STATIC, DWARF_NAMED_ENUMERATOR,
	DWARF_NAMED_TYPE, DWARF_NAMED_FUNCTION,
};

/* A class in an object: a virtual base is found through the object that it is
 * a base of, the others by their offset. */
struct dwarf_subobject {
	struct {
		uint64_t bit_offset;	/* of the class that has the base */
		Dwarf_Die die;		/* DW_TAG_inheritance */
	} steps[DWARF_VIRTUAL_MAX];
	unsigned int step_count;
	uint64_t bit_offset;	/* after these */
};

struct dwarf_named {
	enum dwarf_named_kind kind;
	Dwarf_Die die;		/* of the declaration */
	Dwarf_Die type;		/* of an enumerator the enumeration */
	Dwarf_Die class;	/* that declares it */
	struct dwarf_subobject in;	/* DATA: where it is */
	unsigned int bits;	/* of a bit-field, else 0 */
	bool is_reversed;	/* DATA: as in struct dwarf_member */
};

/*
 * What "x", or "B::x" of a base class, is in a class, which is stripped: with
 * `types` a type, else anything. A member hides those of base classes that have
 * its name, whatever they are. -ENOENT: nothing; -ENOTUNIQ: found[0] and
 * found[1], of several base classes.
 */
int dwarf_member_find(struct dwarf_file *dwarf, Dwarf_Die *class,
		      const char *name, bool types,
		      struct dwarf_named found[2]);

#endif
