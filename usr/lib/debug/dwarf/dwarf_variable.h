/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Variables and parameters: which one a name means at an address, and where
 * its value is there (DWARF 5 sections 2.5, 2.6, 4.1).
 */
#ifndef TRCUST_DWARF_VARIABLE_H
#define TRCUST_DWARF_VARIABLE_H

#include "lib/error.h"
#include "dwarf_file.h"
#include "dwarf_member.h"
#include "place.h"

struct dwarf_variable {
	Dwarf_Die die;		/* DW_TAG_variable, DW_TAG_formal_parameter,
				 * DW_TAG_constant, or a DW_TAG_enumerator */
	Dwarf_Die type;		/* of an enumerator the enumeration; of a member
				 * of an anonymous union, of which die is the
				 * variable, the member's; addr NULL: none */
	bool local;		/* of a block; else of file or program */
	bool parameter;
	bool is_doubtful;	/* one outside may be meant: it is a constant of
				 * an enumeration that is used by name there, or
				 * one of its constants is; or clang has it in
				 * the function whose block declares it */
	bool of_this;		/* a member of *this: only `member` is known */
	struct dwarf_named member;
};

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
int dwarf_variable_find(struct dwarf_file *dwarf,
			const struct dwarf_from *from, const char *name,
			struct dwarf_variable variable[2]);
/* Of a member that isn't in the object: a static one, or an enumerator. */
int dwarf_variable_of(struct dwarf_file *dwarf, const struct dwarf_from *from,
		      const struct dwarf_named *named,
		      struct dwarf_variable *variable);
/* Those in scope there, parameters first, innermost block last; shadowed ones
 * left out. Stops when `take` returns non-zero, which it returns. */
int dwarf_variable_each(struct dwarf_file *dwarf,
			const struct dwarf_from *from,
			int (*take)(void *context, const char *name,
				    const struct dwarf_variable *variable),
			void *context);

/*
 * Where the variable is at pc. 0; -ENODATA with err->text: not there ("it is
 * optimized out here", "held in xmm0, which a probe can't read"); -ENOMEM;
 * -EINVAL: damaged. A place whose pieces are partly absent is a 0.
 */
int dwarf_variable_place(struct dwarf_file *dwarf,
			 const struct dwarf_variable *variable, uint64_t pc,
			 struct place *place, struct error *err);
/* The end of the range, of its location list, that has the pc, and its start; 0:
 * it has one location everywhere. */
uint64_t dwarf_variable_end(const struct dwarf_variable *variable, uint64_t pc,
			    uint64_t *start);

/* dwarf_available.c: of a variable that isn't there, the nearest lines of the
 * function where it is, as err->hint. 0 or -ENOMEM. */
int dwarf_variable_hint(struct dwarf_file *dwarf,
			const struct dwarf_variable *variable, uint64_t pc,
			struct error *err);

#endif
