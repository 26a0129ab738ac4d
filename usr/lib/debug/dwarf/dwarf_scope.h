/* SPDX-License-Identifier: GPL-2.0 */
/* The blocks around an address (DWARF 5 sections 3.3 and 3.5). */
#ifndef TRCUST_DWARF_SCOPE_H
#define TRCUST_DWARF_SCOPE_H

#include "dwarf_block.h"
#include "dwarf_variable.h"

struct dwarf_scopes {
	struct unit *unit;	/* around pc */
	/* [0] is the out-of-line function, then blocks and inlined functions,
	 * the innermost last */
	Dwarf_Die dies[DWARF_BLOCKS_DEEP];
	uint32_t numbers[DWARF_BLOCKS_DEEP];	/* in blocks */
	size_t count;		/* 0: no function is known there */
	const struct dwarf_blocks *blocks;	/* of the function */
};

/* 0; -ENOENT: no unit has code at pc; -ENOMEM. */
int dwarf_scopes_find(struct dwarf_file *dwarf, uint64_t pc,
		      struct dwarf_scopes *scopes);
/* Those that a name is looked up in. */
int dwarf_scopes_find_from(struct dwarf_file *dwarf,
			   const struct dwarf_from *from,
			   struct dwarf_scopes *scopes);
/* It is a function, or an inlined copy of one; else a block. */
bool dwarf_scope_is_function(const struct dwarf_scopes *scopes, size_t scope);
/* The number of the function, inlined or not, that the last one is in. */
size_t dwarf_scopes_function(const struct dwarf_scopes *scopes);
/* The function, inlined or not, that names are looked up in. False: there are
 * no others at the address. */
bool dwarf_scopes_choose(struct dwarf_file *dwarf,
			 const struct dwarf_from *from, Dwarf_Die *function);
/* The variable, parameter or constant that the name means directly in the
 * block. */
bool dwarf_scope_find(const struct dwarf_scopes *scopes, size_t scope,
		      uint64_t pc, const char *name,
		      struct dwarf_variable *variable);
/* Call take for every variable, parameter and import directly in the block,
 * those that only the abstract instance of an inlined function has as well; stops
 * when it returns non-zero, which is returned. */
int dwarf_scope_each(const struct dwarf_scopes *scopes, size_t scope,
		     int (*take)(void *context, Dwarf_Die *die),
		     void *context);
/* Of blocks of the function that have no code left: a variable that is
 * nowhere. */
bool dwarf_scope_find_lost(Dwarf_Die *function, const char *name,
			   struct dwarf_variable *variable);
/* The code is from clang or another compiler of LLVM. */
bool dwarf_scopes_are_clang(const struct dwarf_scopes *scopes);
/* clang has static variables, constants and types of blocks in the function:
 * where they are known isn't. */
bool dwarf_scope_is_loose(const struct dwarf_scopes *scopes, size_t scope);
/* Fill the variable from its entry. */
void dwarf_variable_fill(struct dwarf_variable *variable, Dwarf_Die *die,
			 bool local);
/* The enumerator `name` of an enumeration. */
bool dwarf_enumerator_find(Dwarf_Die *enumeration, const char *name,
			   struct dwarf_variable *variable);
/* The member `name` of a variable that is an anonymous union. */
bool dwarf_union_find(Dwarf_Die *die, const char *name,
		      struct dwarf_variable *variable);
/* How much is known of where it is: 2 at pc, 1 somewhere, 0 nothing. */
int dwarf_variable_rank(Dwarf_Die *die, uint64_t pc);

/* The symbol at the one address that it has; NULL: none. */
const char *dwarf_variable_symbol_at(const struct dwarf_file *dwarf,
				     Dwarf_Die *die);
/* The name that the linker knows it by; NULL: none, or not known: that of a
 * member without its mangled name. */
const char *dwarf_variable_symbol(Dwarf_Die *die);

#endif
