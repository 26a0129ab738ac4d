/* SPDX-License-Identifier: GPL-2.0 */
/* Functions and their inlined copies (DWARF 5 section 3.3). */
#ifndef TRCUST_DWARF_FUNCTION_H
#define TRCUST_DWARF_FUNCTION_H

#include "dwarf_file.h"

struct dwarf_function {
	Dwarf_Die die;		/* DW_TAG_subprogram with code, or
				 * DW_TAG_inlined_subroutine */
	bool inlined;
	bool again;		/* the same copy is entered there, too */
	bool vague;		/* it may be entered elsewhere, too */
	uint64_t entry;		/* DW_AT_entry_pc, else its first start */
	struct module_range *ranges;	/* ascending: hot and cold parts; none
					 * of a copy that is only entered */
	size_t range_count;
};

struct dwarf_functions {
	struct dwarf_function *functions;	/* ascending by entry */
	size_t count, room;
};

/*
 * All functions with code, and inlined copies, that a name means:
 * plain, qualified ("ns::cls::fn", from the right), with parameters ("fn(int)"),
 * or a linkage name. `file` (or NULL): only those of a unit or declaration file
 * of this name. Copies inside copies count once each, but not what gcc made of
 * one call. 0 or -ENOMEM.
 */
int dwarf_function_find(struct dwarf_file *dwarf, const char *name,
			const char *file, struct dwarf_functions *found);
/* The out-of-line function around address; count 0: none. */
int dwarf_function_at(struct dwarf_file *dwarf, uint64_t address,
		      struct dwarf_functions *found);
/* Every out-of-line function that has code, unit by unit; stops when `take`
 * returns non-zero, which it returns. `name` is the source's, qualified. */
int dwarf_function_each(struct dwarf_file *dwarf,
			int (*take)(void *context, const char *name,
				    const struct dwarf_function *function),
			void *context);
void dwarf_functions_free(struct dwarf_functions *found);

/* "ns::cls::fn" of an entry, malloc'd; NULL: no memory or no name. */
char *dwarf_function_name(Dwarf_Die *die);
#endif
