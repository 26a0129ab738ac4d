/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The type of a value in an expression: one of the debug information, of an
 * array perhaps only the inner dimensions, or one that C has itself; and
 * pointers to these.
 */
#ifndef TRCUST_VALUE_TYPE_H
#define TRCUST_VALUE_TYPE_H

#include "compile.h"
#include "lib/debug/dwarf/dwarf.h"

struct value_type {
	Dwarf_Die die;		/* as written, with its typedefs; addr NULL:
				 * described by the next four */
	enum dwarf_type_kind kind;
	uint8_t bytes;
	bool is_signed;
	const char *name;
	unsigned int dimension;	/* of an array entry: the first one left */
	unsigned int pointers;	/* around all that */
};

struct value_type value_type_of(const Dwarf_Die *die);
struct value_type value_type_void(void);
struct value_type value_type_function(void);
/* int, long and the like by size; of 1 byte "signed char". */
struct value_type value_type_integer(const struct compilation *c,
				     unsigned int bytes, bool is_signed);
/* Of the words in a cast; kind OTHER: it is a name, to be looked up. */
struct value_type value_type_base(const struct compilation *c,
				  const struct dwarf_from *from,
				  const struct expr_type *type);
struct value_type value_type_pointer_to(const struct value_type *type);
/* Of a pointer or an array: what it points at, the elements. */
struct value_type value_type_target(const struct value_type *type);

enum dwarf_type_kind value_type_kind(const struct value_type *type);
/* Takes the place of a declaration by its definition, where there is one.
 * False: how many bytes it has is not known. */
bool value_type_bytes(const struct compilation *c, struct value_type *type,
		      uint64_t *bytes);
/* The same of a scalar: false as well when it doesn't have 1, 2, 4 or 8. */
bool value_type_scalar_bytes(const struct compilation *c,
			     struct value_type *type, uint64_t *bytes);
bool value_type_is_signed(const struct value_type *type);
/* Of base types whose bytes are not just the value (dwarf_type.h); the type of
 * that value, of others the type itself. */
bool value_type_is_reversed(const struct value_type *type);
unsigned int value_type_bits(const struct value_type *type);
struct value_type value_type_plain(const struct value_type *type);
/* An integer, an enumeration, a pointer: what can be computed with. */
bool value_type_is_scalar(const struct value_type *type);
bool value_type_is_integer(const struct value_type *type);
/* A character of a string: not uint8_t, which is a number. */
bool value_type_is_text(const struct value_type *type);
/* Elements of an array; 0: not known. */
uint64_t value_type_count(const struct value_type *type);
/* The struct's or union's entry, complete; false: it is none. */
bool value_type_composed(const struct compilation *c,
			 const struct value_type *type, Dwarf_Die *bare);

/* As C has it, malloc'd; NULL: no memory. */
char *value_type_spell(const struct value_type *type);
uint32_t value_type_ctype(const struct compilation *c, struct ctypes *ctypes,
			  const struct value_type *type);

/*
 * The C type of what lies at an address that was reached from a variable
 * (DWARF 5 section 5). Debug information may be damaged: every walk ends.
 */
/* Bytes of a value of the type; 0: not known, or it has none. */
uint64_t address_type_bytes(const Dwarf_Die *type);

/* What begins `offset` bytes into a value of the type: the outermost one. */
bool address_type_at(Dwarf_Die *type, uint64_t offset);
/* What a pointer or reference that begins the value points at. */
bool address_type_target(Dwarf_Die *type);
/* The part that begins the value and has so many bytes: the outermost one. */
bool address_type_sized(Dwarf_Die *type, uint64_t bytes);
/* Bytes of the integer that the value begins with; 0: it is none. */
unsigned int address_type_integer(const Dwarf_Die *type);

/* A structure, class or union. */
bool address_type_is_composed(const Dwarf_Die *type);
/* "T &" becomes T; false: it is no reference. */
bool address_type_refers(Dwarf_Die *type);
/* A pointer to characters, or to what isn't known. */
bool address_type_is_text_pointer(const Dwarf_Die *type);

#endif
