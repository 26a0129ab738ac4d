// SPDX-License-Identifier: GPL-2.0
#include "dwarf_file.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/array.h"
#include "dwarf_find.h"
#include "dwarf_lines.h"
#include "dwarf_names.h"
#include "dwarf_type.h"
#include "dwarf_unit.h"
#include "lib/debug/module/module.h"

#define DEPTH_MAX	64	/* of namespaces, functions and blocks */

void dwarf_section_read(struct dwarf_file *dwarf, const char *wanted,
			struct dwarf_bytes *bytes)
{
	Elf *elf = dwarf_getelf(dwarf->dwarf);
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	size_t names;
	GElf_Shdr sh;

	*bytes = (struct dwarf_bytes) {0};
	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(elf, names, sh.sh_name) : NULL;

		if (!name || sh.sh_type == SHT_NOBITS)
			continue;
		/* .zdebug_info is .debug_info, compressed */
		if (strcmp(name, wanted) &&
		    (strncmp(name, ".z", 2) || strcmp(name + 2, wanted + 1)))
			continue;
		module_section_decompress(scn, &sh, name);
		data = elf_rawdata(scn, NULL);
		if (data && data->d_buf)
			*bytes = (struct dwarf_bytes) {
				data->d_buf, data->d_size,
			};
		return;
	}
}

bool dwarf_skeleton_find(struct dwarf_file *dwarf, uint64_t address,
			 Dwarf_Die *unit)
{
	uint64_t offset;

	return unit_ranges_find(&dwarf->ranges, address, &offset) &&
	       dwarf_offdie(dwarf->dwarf, offset, unit);
}

/* The file that has the entries of a skeleton */
static const char *split_name(Dwarf_Die *skeleton)
{
	const char *name = dwarf_die_text(skeleton, DW_AT_dwo_name);

	return name ? name : dwarf_die_text(skeleton, DW_AT_GNU_dwo_name);
}

bool dwarf_split_enter(struct dwarf_file *dwarf, Dwarf_Die *unit)
{
	const char *name;
	Dwarf_Die split;
	uint8_t type;

	if (!unit->cu)		/* a damaged unit has no entry */
		return false;
	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &split, NULL, NULL,
			  NULL) ||
	    type != DW_UT_skeleton)
		return true;
	if (split.cu &&
	    dwarf_split_strings_end(dwarf, dwarf_cu_getdwarf(split.cu))) {
		*unit = split;
		return true;
	}
	name = split_name(unit);
	if (!dwarf->note && name &&
	    asprintf(&dwarf->note, "'%s' needs '%s' (split debug "
		     "information), which isn't there or belongs to another "
		     "build", dwarf->path, name) < 0)
		dwarf->note = NULL;
	return false;
}

bool dwarf_unit_find(struct dwarf_file *dwarf, uint64_t address,
		     Dwarf_Die *unit)
{
	if (!dwarf_skeleton_find(dwarf, address, unit))
		return false;
	dwarf_split_enter(dwarf, unit);
	return true;
}

/* Does anything in the unit, or function, have a type? */
static bool has_types(Dwarf_Die *die, unsigned int depth)
{
	Dwarf_Die child;

	if (depth == DEPTH_MAX)
		return false;
	for (dwarf_die_child(die, &child); child.addr;
	     dwarf_die_sibling(&child))
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_variable:
			if (dwarf_hasattr(&child, DW_AT_type) ||
			    has_types(&child, depth + 1))
				return true;
			break;
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
		case DW_TAG_imported_declaration:
		case DW_TAG_imported_module:
		case DW_TAG_label:
			break;
		default:
			return true;
		}
	return false;
}

bool dwarf_unit_lacks(struct dwarf_file *dwarf, uint64_t address, char *text,
		      size_t size)
{
	const char *name;
	Dwarf_Die unit;

	if (!dwarf_skeleton_find(dwarf, address, &unit))
		return false;
	name = split_name(&unit);
	if (!dwarf_split_enter(dwarf, &unit)) {
		snprintf(text, size, "the debug information of this unit is in "
			 "'%s', which wasn't found or belongs to another "
			 "build", name ? name : "?");
		return true;
	}
	if (unit.addr != dwarf->typeless && has_types(&unit, 0))
		return false;
	dwarf->typeless = unit.addr;
	snprintf(text, size, "the debug information of this unit has no "
		 "variables and no types, as -g1 and assemblers make it");
	return true;
}

bool dwarf_is_wide(const struct dwarf_file *dwarf)
{
	return dwarf->module->elf_class == ELFCLASS64;
}
