/* SPDX-License-Identifier: GPL-2.0 */
/* What a name means at an address: a variable or parameter (DWARF 5 section
 * 4.1), or a type. */
#ifndef TRCUST_DWARF_VARIABLE_H
#define TRCUST_DWARF_VARIABLE_H

#include "dwarf_scope.h"

/*
 * The variable that `name` means, as C and C++ see it from there: the innermost
 * block first, up to the function that it is looked up in; then what
 * dwarf_lookup.h has, members of *this included; at last what only the
 * functions that a copy was inlined into have. What the function declares
 * after the line is taken where nothing else has the name. "file.c:name" takes
 * the one of that file. -ENOENT: none; -ENOTUNIQ: it means several, two are
 * variable[0] and variable[1]; -EISDIR: it is no variable there, but a function
 * or type of a class, or a member without an object.
 */
int dwarf_variable_find(struct dwarf_file *dwarf, const struct dwarf_from *from,
			const char *name, struct dwarf_variable variable[2]);
/* Of a member that isn't in the object: a static one, or an enumerator. */
int dwarf_variable_of(struct dwarf_file *dwarf, const struct dwarf_from *from,
		      const struct dwarf_named *named,
		      struct dwarf_variable *variable);
/* Those in scope there, parameters first, innermost block last; shadowed ones
 * left out. Stops when `take` returns non-zero, which it returns. */
int dwarf_variable_each(struct dwarf_file *dwarf, const struct dwarf_from *from,
			int (*take)(void *context, const char *name,
				    const struct dwarf_variable *variable),
			void *context);

/*
 * The definition of a type by its name ("ns::T"): of a struct, class, union or
 * enum with `tag` ("struct"; NULL: any kind, typedefs and base types), first in
 * the scopes there, then in their unit, then in others. 0; 1: the unit knows no
 * such type, another one does; -ENOENT; -ENOTUNIQ: type[0] and type[1] differ,
 * as they do among units; -ENOMEM.
 */
int dwarf_type_find(struct dwarf_file *dwarf, const struct dwarf_from *from,
		    const char *tag, const char *name, Dwarf_Die type[2]);

#endif
