/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The C type of what lies at an address that was reached from a variable
 * (DWARF 5 section 5). Debug information may be damaged: every walk ends.
 */
#ifndef TRCUST_ADDRESS_TYPE_H
#define TRCUST_ADDRESS_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

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
