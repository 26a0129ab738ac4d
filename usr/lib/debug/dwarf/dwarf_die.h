/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entries of debug information (DWARF 5 section 2.1): how one leads to others.
 * Damaged ones may lead in a circle; what is here ends all the same.
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

/* Go on to the next sibling, which must stand behind: false, there is none. */
bool dwarf_die_next(Dwarf_Die *die);
/* Go to the child that is, or has inside it, the entry at `address`. */
bool dwarf_die_enter(Dwarf_Die *die, const void *address);
/* Go to the entry that this one is a copy or the definition of (abstract
 * origin, specification); false: none. The entries may go in a circle. */
bool dwarf_die_origin(Dwarf_Die *die);
/* The last one of these, or the entry itself. */
Dwarf_Die dwarf_die_root(Dwarf_Die *die);

/* The flag is there and set, here or in what the entry is a copy of. */
bool dwarf_die_flag(Dwarf_Die *die, unsigned int name);
/* The mangled name, or NULL. */
const char *dwarf_die_linkage(Dwarf_Die *die);
/* It says where it has code. */
bool dwarf_die_has_code(Dwarf_Die *die);
/* One of its ranges begins there. */
bool dwarf_die_begins_at(Dwarf_Die *die, uint64_t address);
/* Where code that begins at `base` is entered (DWARF 5 section 2.18). */
uint64_t dwarf_die_entry(Dwarf_Die *die, uint64_t base);

/* The unit is of C or in assembler: names are in no scopes, structures have
 * names of their own kind and no functions. */
bool dwarf_die_is_c(Dwarf_Die *unit);
bool dwarf_die_is_cc(Dwarf_Die *unit);	/* of C++ */

#endif
