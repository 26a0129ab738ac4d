/* SPDX-License-Identifier: GPL-2.0 */
/* Types (DWARF 5 chapter 5). */
#ifndef TRCUST_DWARF_TYPE_H
#define TRCUST_DWARF_TYPE_H

#include "dwarf_file.h"
#include "dwarf_die.h"

enum dwarf_type_kind {
	DWARF_TYPE_VOID, DWARF_TYPE_BOOL, DWARF_TYPE_CHAR, DWARF_TYPE_INT,
	DWARF_TYPE_FLOAT, DWARF_TYPE_ENUM, DWARF_TYPE_POINTER,
	DWARF_TYPE_REFERENCE, DWARF_TYPE_STRUCT, DWARF_TYPE_UNION,
	DWARF_TYPE_ARRAY, DWARF_TYPE_FUNCTION,
	DWARF_TYPE_OTHER,	/* of which the size is known at most */
};

/* DW_AT_type; false: none, which is void, or damaged. */
bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *type);
/* The same; addr NULL: none. */
Dwarf_Die dwarf_type_declared(Dwarf_Die *die);
/*
 * Without typedefs and qualifiers. *alias (may be NULL): the first typedef's
 * name on the way, else left alone. void is an entry whose addr is NULL.
 */
void dwarf_type_peel(const Dwarf_Die *type, Dwarf_Die *bare,
		     const char **alias);

/* DW_AT_type without them; addr NULL: void, or damaged. */
Dwarf_Die dwarf_type_bare(Dwarf_Die *die);

/* These take stripped types. */
/* OTHER, too, when the bytes are not just the value: then _value_kind is what
 * the value is. */
enum dwarf_type_kind dwarf_type_kind(Dwarf_Die *bare);
enum dwarf_type_kind dwarf_type_value_kind(Dwarf_Die *bare);
/* "struct", "union", "enum"; of others NULL. */
const char *dwarf_type_keyword(Dwarf_Die *bare);
/* A base type whose highest byte is the first. */
bool dwarf_type_is_reversed(Dwarf_Die *bare);
/* So many bits of it are the value, from the lowest one on; 0: all. */
unsigned int dwarf_type_bits(Dwarf_Die *bare);
#define DWARF_BITS_UNKNOWN	UINT32_MAX
bool dwarf_type_is_signed(Dwarf_Die *bare);	/* integers, enumerations */
/* Bytes of one element or scalar; false: not known. Of an array those of all
 * its elements. */
bool dwarf_type_bytes(Dwarf_Die *bare, uint64_t *bytes);
bool dwarf_type_is_declared_only(Dwarf_Die *bare);

/* int C::* and the like; *function: void (C::*)(). */
bool dwarf_type_is_member_pointer(Dwarf_Die *bare, bool *function);

/* A typedef that says: a number, though it is a char for the compiler. */
bool dwarf_type_alias_is_number(const char *alias);

/* Dimension `index` of an array, from 0, which is the one whose index changes
 * slowest: false, it has less. *count: 0 when it is not known at compile time. */
bool dwarf_type_dimension(Dwarf_Die *array, unsigned int index,
			  uint64_t *count);

struct dwarf_member {
	Dwarf_Die die, type;
	const char *name;	/* "": none */
	uint64_t bit_offset;	/* from the start of the struct */
	unsigned int bits;	/* of a bit-field, else 0 */
	bool is_base;		/* a base class */
	bool is_reversed;	/* it, or each element of it, has its highest
				 * byte first (scalar_storage_order); bits of a
				 * bit-field count from the highest one of their
				 * byte */
};

/*
 * Members of a struct or union that have a place in it, in order; those of
 * virtual base classes have none that is known. Stops when `take` returns
 * non-zero, which it returns.
 */
int dwarf_type_members(Dwarf_Die *bare,
		       int (*take)(void *context,
				   const struct dwarf_member *member),
		       void *context);

/* One of them, from its entry; false: it has no place there. */
bool dwarf_type_member(Dwarf_Die *bare, Dwarf_Die *die,
		       struct dwarf_member *member);

/* "ns::cls" of an entry, malloc'd; without a name NULL. With `anonymous`,
 * namespaces without a name are a part, too. */
char *dwarf_die_path(const Dwarf_Die *die, bool anonymous);
/* Of a type; in C without parts. */
char *dwarf_type_name(Dwarf_Die *type);
/* As C has it: "struct request *", "int[4]", malloc'd. `dimension`: of an
 * array, those before are left out; `pointers` are added to all that. NULL: no
 * memory. */
char *dwarf_type_spell(const Dwarf_Die *type, unsigned int dimension,
		       unsigned int pointers);
bool dwarf_type_is_scope(Dwarf_Die *die);	/* it is part of names */
/* A class that is in a type unit may have its name only there. NULL: none. */
const char *dwarf_type_own_name(Dwarf_Die *die);
/* The unit's language has one kind of name for types and for the rest: no
 * `struct` before it. */
bool dwarf_type_is_tagless(Dwarf_Die *type);

#endif
