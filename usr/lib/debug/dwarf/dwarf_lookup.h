/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What names outside of functions mean there: C++17 section 6.4, of which the
 * rules of C are a part.
 */
#ifndef TRCUST_DWARF_LOOKUP_H
#define TRCUST_DWARF_LOOKUP_H

#include "dwarf_scope.h"

struct dwarf_lookup {
	struct dwarf_file *dwarf;
	const struct dwarf_scopes *scopes;	/* that the name is used in */
	const char *name;	/* "x", "ns::x", "::x", "file.c:x" */
	bool types;		/* a type is looked for, else a variable or an
				 * enumerator */
	const char *tag;	/* "struct", "union", ... of a type; NULL: any */
};

/*
 * First in the unit of the function, from its class or namespace outwards. A name
 * that isn't declared there is looked for in other units; some of the namespaces
 * before it may be left out. 0: found[0]; -ENOENT; -ENOMEM;
 * -ENOTUNIQ: found[0] and found[1], among others.
 */
int dwarf_lookup_find(const struct dwarf_lookup *lookup,
		      struct dwarf_named found[2]);

/* From the declaration of a variable to its definition. 0 or -ENOMEM. */
int dwarf_lookup_define(struct dwarf_file *dwarf,
			const struct dwarf_scopes *scopes,
			struct dwarf_named *named);

#endif
