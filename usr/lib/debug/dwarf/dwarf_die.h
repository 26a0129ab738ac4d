/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries of debug information (DWARF 5 section 2.1), and how one refers to
 * others. Damaged ones may refer in a circle; everything here ends all the same.
 */
#ifndef TRCUST_DWARF_DIE_H
#define TRCUST_DWARF_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* dwarf.h of elfutils 0.188 has no names for these: DWARF 6 draft */
#define DWARF_LANG_C_PLUS_PLUS_17 0x2a
#define DWARF_LANG_C_PLUS_PLUS_20 0x2b
#define DWARF_LANG_C17		0x2c
#define DWARF_LANG_ASSEMBLY	0x31
#define DWARF_LANG_C23		0x3e

/*
 * The children of an entry, in order; after the last one child->addr is NULL. A
 * damaged entry's sibling may be before it; then the list ends.
 */
#define dwarf_die_each(die, child) \
	for (dwarf_die_child(die, child); (child)->addr; \
	     dwarf_die_sibling(child))
void dwarf_die_child(Dwarf_Die *die, Dwarf_Die *child);
void dwarf_die_sibling(Dwarf_Die *child);
/* Go to the next sibling; false: there is none. */
bool dwarf_die_next(Dwarf_Die *die);
/* The first child of that tag and name. */
bool dwarf_die_child_named(Dwarf_Die *die, int tag, const char *name,
			   Dwarf_Die *child);
/* Go to the child that is, or has inside it, the entry at `address`. */
bool dwarf_die_enter(Dwarf_Die *die, const void *address);
/* Go to the entry that this one is a copy or the definition of (abstract
 * origin, specification); false: none. The entries may go in a circle. */
bool dwarf_die_origin(Dwarf_Die *die);
/* The last one of these, or the entry itself. */
Dwarf_Die dwarf_die_root(Dwarf_Die *die);

/* Attributes of the entry itself; false, or NULL: it has none of this form. */
bool dwarf_die_number(Dwarf_Die *die, unsigned int name, uint64_t *number);
bool dwarf_die_refer(Dwarf_Die *die, unsigned int name, Dwarf_Die *target);
const char *dwarf_die_text(Dwarf_Die *die, unsigned int name);
/* DW_AT_location or DW_AT_frame_base, also of the entry's origin. Go has blocks
 * where DWARF 4 has DW_FORM_exprloc, which libdw insists on. NULL: none. */
Dwarf_Attribute *dwarf_die_location(Dwarf_Die *die, unsigned int name,
				    Dwarf_Attribute *attr);
/* One of the entry, or of what it is a copy of. */
bool dwarf_die_any_number(Dwarf_Die *die, unsigned int name, uint64_t *number);
/* A register holds the value. */
bool dwarf_op_register(const Dwarf_Op *op, unsigned int *number);
/* Its only location is an address. */
bool dwarf_die_address(Dwarf_Attribute *location, const Dwarf_Op *ops,
		       size_t count, uint64_t *address);

bool dwarf_die_is_named(Dwarf_Die *die, const char *name);
/* The flag is there and set, here or in what the entry is a copy of. */
bool dwarf_die_flag(Dwarf_Die *die, unsigned int name);
/* The mangled name, or NULL. */
const char *dwarf_die_linkage(Dwarf_Die *die);
/* It has code of its own. */
bool dwarf_die_has_code(Dwarf_Die *die);
/* Where code that begins at `base` is entered (DWARF 5 section 2.18). */
uint64_t dwarf_die_entry(Dwarf_Die *die, uint64_t base);

/* The unit is of C or in assembler: names are in no scopes, structures have
 * names of their own kind and no functions. */
bool dwarf_die_is_c(Dwarf_Die *unit);
bool dwarf_die_is_cc(Dwarf_Die *unit);	/* of C++ */

#endif
