// SPDX-License-Identifier: GPL-2.0
#include "dwarf_die.h"

#include <dwarf.h>
#include <string.h>

#define CHAIN_MAX	16	/* of references from entry to entry */

void dwarf_die_child(Dwarf_Die *die, Dwarf_Die *child)
{
	if (dwarf_child(die, child))
		child->addr = NULL;
}

bool dwarf_die_next(Dwarf_Die *die)
{
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) || next.addr <= die->addr)
		return false;
	*die = next;
	return true;
}

void dwarf_die_sibling(Dwarf_Die *child)
{
	if (!dwarf_die_next(child))
		child->addr = NULL;
}

bool dwarf_die_is_named(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_diename(die);

	return own && !strcmp(own, name);
}

bool dwarf_die_child_named(Dwarf_Die *die, int tag, const char *name,
			   Dwarf_Die *child)
{
	dwarf_die_each(die, child)
		if (dwarf_tag(child) == tag && dwarf_die_is_named(child, name))
			return true;
	return false;
}

/* Entries are in the order of their addresses: those inside of one are between
 * it and its next sibling. */
bool dwarf_die_enter(Dwarf_Die *die, const void *address)
{
	Dwarf_Die child, next;

	dwarf_die_child(die, &child);
	if (!child.addr || child.addr > address)
		return false;
	for (next = child; next.addr && next.addr <= address;
	     dwarf_die_sibling(&next))
		child = next;
	*die = child;
	return true;
}

static bool attr_number(Dwarf_Attribute *attr, uint64_t *number)
{
	Dwarf_Word word;

	if (dwarf_formudata(attr, &word))
		return false;
	*number = word;
	return true;
}

bool dwarf_die_number(Dwarf_Die *die, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute attr;

	return attr_number(dwarf_attr(die, name, &attr), number);
}

bool dwarf_die_any_number(Dwarf_Die *die, unsigned int name, uint64_t *number)
{
	Dwarf_Attribute attr;

	return attr_number(dwarf_attr_integrate(die, name, &attr), number);
}

bool dwarf_die_refer(Dwarf_Die *die, unsigned int name, Dwarf_Die *target)
{
	Dwarf_Attribute attr;

	return dwarf_formref_die(dwarf_attr(die, name, &attr), target);
}

const char *dwarf_die_text(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(die, name, &attr));
}

bool dwarf_die_address(Dwarf_Attribute *location, const Dwarf_Op *ops,
		       size_t count, uint64_t *address)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr at;

	if (count != 1)
		return false;
	if (ops->atom == DW_OP_addr) {
		*address = ops->number;
		return true;
	}
	if ((ops->atom != DW_OP_addrx && ops->atom != DW_OP_GNU_addr_index) ||
	    dwarf_getlocation_attr(location, ops, &indexed) ||
	    dwarf_formaddr(&indexed, &at))
		return false;
	*address = at;
	return true;
}

Dwarf_Attribute *dwarf_die_location(Dwarf_Die *die, unsigned int name,
				    Dwarf_Attribute *attr)
{
	if (!dwarf_attr_integrate(die, name, attr))
		return NULL;
	/* the length of a short one is the same byte in both forms */
	if (attr->form == DW_FORM_block1 && *attr->valp < 0x80)
		attr->form = DW_FORM_exprloc;
	return attr;
}

bool dwarf_op_register(const Dwarf_Op *op, unsigned int *number)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*number = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx)
		*number = op->number < UINT16_MAX ? op->number : UINT16_MAX;
	else
		return false;
	return true;
}

bool dwarf_die_origin(Dwarf_Die *die)
{
	Dwarf_Die origin;

	if (!dwarf_die_refer(die, dwarf_hasattr(die, DW_AT_abstract_origin) ?
				  DW_AT_abstract_origin : DW_AT_specification,
			     &origin))
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
	int language = dwarf_srclang(unit);

	return language == DW_LANG_C89 || language == DW_LANG_C ||
	       language == DW_LANG_C99 || language == DW_LANG_C11 ||
	       language == DWARF_LANG_C17 || language == DWARF_LANG_C23 ||
	       language == DW_LANG_Mips_Assembler ||
	       language == DWARF_LANG_ASSEMBLY;
}

bool dwarf_die_is_cc(Dwarf_Die *unit)
{
	int language = dwarf_srclang(unit);

	return language == DW_LANG_C_plus_plus ||
	       language == DW_LANG_C_plus_plus_03 ||
	       language == DW_LANG_C_plus_plus_11 ||
	       language == DW_LANG_C_plus_plus_14 ||
	       language == DWARF_LANG_C_PLUS_PLUS_17 ||
	       language == DWARF_LANG_C_PLUS_PLUS_20;
}
