/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The blocks and inlined functions of a function, and what each declares
 * (DWARF 5 sections 3.3 and 3.5). Made when a function is first asked about.
 */
#ifndef TRCUST_DWARF_SCOPE_H
#define TRCUST_DWARF_SCOPE_H

#include "dwarf_search.h"
#include "dwarf_unit.h"

#define DWARF_BLOCKS_DEEP	64	/* what is further inside is left out */
#define DWARF_ORIGINS_MAX	4	/* inlined copy, function, declaration */

struct dwarf_block {
	Dwarf_Die die;
	uint32_t outer;		/* number of the block around it */
	uint32_t first, last;	/* declarations; index + 1, 0 none */
	bool types;		/* it declares types, too */
	bool inlined;		/* a copy of a function */
	uint64_t entry;		/* of a copy: DW_AT_entry_pc, as an address; 0:
				 * it has none */
};

struct dwarf_declaration {
	Dwarf_Die die;
	uint32_t next;		/* index + 1 of the next one in the block */
};

struct dwarf_piece {		/* of a block's code */
	uint64_t start, end;
	uint32_t owner;		/* number of the block */
};

struct dwarf_blocks {
	struct dwarf_block *list;	/* number 0 is the function */
	size_t count, room;
	struct dwarf_declaration *declarations;
	size_t declaration_count, declaration_room;
	struct dwarf_piece *pieces;
	size_t piece_count, piece_room;
};

struct dwarf_scopes {
	struct unit *unit;	/* around pc */
	/* [0] is the out-of-line function, then blocks and inlined functions,
	 * the innermost last */
	Dwarf_Die dies[DWARF_BLOCKS_DEEP];
	uint32_t numbers[DWARF_BLOCKS_DEEP];	/* in blocks */
	size_t count;		/* 0: no function is known there */
	const struct dwarf_blocks *blocks;	/* of the function */
};

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

/* It is a block, and no function. */
bool dwarf_block_is_one(int tag);
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
/* Call take for every variable, parameter and import directly in the block,
 * those that only the abstract instance of an inlined function has as well; stops
 * when it returns non-zero, which is returned. */
int dwarf_scope_each(const struct dwarf_scopes *scopes, size_t scope,
		     int (*take)(void *context, Dwarf_Die *die), void *context);
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

/* The name that the linker knows it by; NULL: none, or not known: that of a
 * member without its mangled name. */
const char *dwarf_variable_symbol(Dwarf_Die *die);

#endif
