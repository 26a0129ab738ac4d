// SPDX-License-Identifier: GPL-2.0
#include "dwarf_die.h"

#include <dwarf.h>

#define CHAIN_MAX	16	/* of references from entry to entry */

bool dwarf_die_next(Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || next.addr <= die->addr)
		return false;
	*die = next;
	return true;
}

/* Entries come in the order of their addresses: those inside of one lie
 * between it and its next sibling. */
bool dwarf_die_enter(Dwarf_Die *die, const void *address)
{
	Dwarf_Die child, next;

	if (dwarf_child(die, &child) || child.addr > address)
		return false;
	next = child;
	do {
		child = next;
	} while (dwarf_die_next(&next) && next.addr <= address);
	*die = child;
	return true;
}

bool dwarf_die_origin(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	if ((!dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	     !dwarf_attr(die, DW_AT_specification, &attr)) ||
	    !dwarf_formref_die(&attr, &origin))
		return false;
	*die = origin;
	return true;
}

Dwarf_Die dwarf_die_root(Dwarf_Die *die)
{
	Dwarf_Die at = *die;

	for (int i = 0; i < CHAIN_MAX && dwarf_die_origin(&at); i++)
		;
	return at;
}

bool dwarf_die_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	bool yes;

	return dwarf_attr_integrate(die, name, &attr) &&
	       !dwarf_formflag(&attr, &yes) && yes;
}

const char *dwarf_die_linkage(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return NULL;
	return dwarf_formstring(&attr);
}

bool dwarf_die_has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) ||
	       dwarf_hasattr(die, DW_AT_ranges);
}

bool dwarf_die_begins_at(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start == address)
			return true;
	return false;
}

/* An address, or its distance from the entry's base address. */
uint64_t dwarf_die_entry(Dwarf_Die *die, uint64_t base)
{
	Dwarf_Attribute attr;
	Dwarf_Addr address;
	Dwarf_Word distance;

	if (!dwarf_attr(die, DW_AT_entry_pc, &attr))
		return base;
	if (!dwarf_formaddr(&attr, &address))
		return address;
	return dwarf_formudata(&attr, &distance) ? base : base + distance;
}

bool dwarf_die_is_c(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DWARF_LANG_C17:
	case DWARF_LANG_C23:
	case DW_LANG_Mips_Assembler:
	case DWARF_LANG_ASSEMBLY:
		return true;
	default:
		return false;
	}
}

bool dwarf_die_is_cc(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DWARF_LANG_C_PLUS_PLUS_17:
	case DWARF_LANG_C_PLUS_PLUS_20:
		return true;
	default:
		return false;
	}
}
