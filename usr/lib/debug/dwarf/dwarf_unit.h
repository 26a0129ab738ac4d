/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a unit declares outside of functions: the names, with the namespaces
 * and classes around them, and where its functions have their code. Made when
 * a unit is first asked about.
 */
#ifndef TRCUST_DWARF_UNIT_H
#define TRCUST_DWARF_UNIT_H

#include "dwarf_file.h"
#include "dwarf_die.h"
#include "lib/key_map.h"

enum unit_scope_kind { UNIT_NAMESPACE, UNIT_CLASS, UNIT_ENUM };

/* A namespace, class or enumeration; number 0 is the unit itself. One that has
 * no name is its parent. */
struct unit_scope {
	char *path;		/* "ns::cls" */
	const char *name;	/* "cls", the end of it */
	uint32_t parent;
	enum unit_scope_kind kind;
	bool is_inline;		/* its names are its parent's, too */
	Dwarf_Die die;		/* of a class */
};

enum unit_kind {
	UNIT_VARIABLE,		/* or a constant */
	UNIT_UNION,		/* an anonymous variable: the names are those of
				 * its type's members */
	UNIT_ENUMERATION,	/* the names are its children's */
	UNIT_TYPE,		/* not of C, where only blocks are scopes */
};

struct unit_name {
	enum unit_kind kind;
	const char *name;	/* NULL: those of its children */
	Dwarf_Die die;
	uint32_t scope;
	bool is_imported;	/* by name: another scope declares it */
	bool is_doubtful;	/* gcc has the enumeration both where it and
				 * where one of its constants is used by name */
};

struct unit_code {
	uint64_t start, end;
	Dwarf_Die function;
};

struct unit_using {		/* using namespace, or another name of a scope */
	const char *alias;	/* NULL: all names of the target */
	uint32_t scope, target;
	Dwarf_Die import;	/* the target's entry */
};

struct unit {
	Dwarf_Die die;
	struct unit_scope *scopes;
	size_t scope_count, scope_room;
	struct unit_name *names;
	size_t name_count, name_room;
	struct hash_index index;	/* of names */
	struct unit_code *codes;	/* by start */
	size_t code_count, code_room;
	struct key_map members;	/* declarations: scope + 1, by the address of
				 * the entry */
	struct unit_using *usings;
	size_t using_count, using_room;
	Dwarf_Die *orphans;	/* static variables whose function isn't known */
	size_t orphan_count, orphan_room;
	bool has_nested;	/* codes has those of functions in others */
	bool failed;		/* out of memory */
};

/* Through the functions and inlined copies of a unit, in the order of the
 * entries. */
struct dwarf_walk {
	/* Takes a DW_TAG_subprogram or DW_TAG_inlined_subroutine, with `calls`
	 * a call site, too; non-zero ends the walk and is what it returns. */
	int (*take)(struct dwarf_walk *walk, Dwarf_Die *die, int tag);
	void *context;
	bool calls;

	/* the walk's own: */
	Dwarf_Die function;	/* the innermost one around, with code */
	const void *last;	/* entries come in order */
	bool classes;		/* may hold functions */
};

int dwarf_walk_unit(struct dwarf_walk *walk, Dwarf_Die *unit);
/* All compilation units; of split ones those that have the entries. */
int dwarf_walk_all(struct dwarf_walk *walk, struct dwarf_file *dwarf);

/* NULL: out of memory. The unit belongs to the dwarf_file. */
struct unit *dwarf_unit_get(struct dwarf_file *dwarf, Dwarf_Die *unit);
/* Every unit, partial ones as well, those of split debug information instead of
 * their skeletons; *position starts as NULL. NULL: no more, or out of
 * memory (*failed). */
struct unit *dwarf_unit_next(struct dwarf_file *dwarf, Dwarf_CU **position,
			     bool *failed);

/* The function of the unit that has code at pc: false, none, or out of memory
 * (unit->failed). */
bool dwarf_unit_code(struct unit *unit, uint64_t pc, Dwarf_Die *function);
/* The next of the unit's names that may be, or have, this one; *position starts
 * as 0. NULL: no more, or out of memory (unit->failed). */
const struct unit_name *
dwarf_unit_name_next(struct unit *unit, const char *name, uint32_t *position);
/* The scope that an entry of this unit was declared in; of a namespace or class
 * that scope itself. False: not known. */
bool dwarf_unit_scope(const struct unit *unit, const Dwarf_Die *die,
		      uint32_t *scope);

#endif
