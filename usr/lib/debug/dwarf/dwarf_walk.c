// SPDX-License-Identifier: GPL-2.0
#include "dwarf_walk.h"

#include <dwarf.h>
#include "dwarf_die.h"

#define DEPTH_MAX	256	/* blocks within blocks */

static int functions_walk(struct dwarf_walk *walk, Dwarf_Die *parent,
			  unsigned int depth)
{
	Dwarf_Die die;
	int code = 0;

	if (depth == DEPTH_MAX)
		return 0;
	for (dwarf_die_child(parent, &die); !code && die.addr;
	     dwarf_die_sibling(&die)) {
		int tag = dwarf_tag(&die);

		/* a damaged parent may contain an entry that is before it */
		if (die.addr <= walk->last)
			break;
		walk->last = die.addr;
		switch (tag) {
		case DW_TAG_subprogram:
		case DW_TAG_inlined_subroutine:
			code = walk->take(walk, &die, tag);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
		case DW_TAG_namespace:
		case DW_TAG_module:
			break;
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_interface_type:
			if (walk->classes)
				break;
			/* fall through */
		default:
			continue;
		}
		if (!code)
			code = functions_walk(walk, &die, depth + 1);
	}
	return code;
}

int dwarf_walk_unit(struct dwarf_walk *walk, Dwarf_Die *unit)
{
	walk->last = NULL;
	walk->classes = !dwarf_die_is_c(unit);
	return functions_walk(walk, unit, 0);
}

int dwarf_walk_all(struct dwarf_walk *walk, struct dwarf_file *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int code = 0;

	while (!code && !dwarf_get_units(dwarf->dwarf, unit, &unit, NULL,
					 &type, &die, NULL))
		if (type != DW_UT_type && dwarf_split_enter(dwarf, &die))
			code = dwarf_walk_unit(walk, &die);
	return code;
}
