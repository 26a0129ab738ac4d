/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls (DWARF 5 section 3.4): of the whole module, or, in one that has very
 * much debug information, of one unit. A function is known by the address of
 * its root entry: of an external one, of its definition.
 */
#ifndef TRCUST_DWARF_CALL_H
#define TRCUST_DWARF_CALL_H

#include "dwarf_unit.h"

struct call {
	uint64_t callee;	/* 0: only known at run time */
	uint64_t caller;
	const char *callee_name;	/* of an external one; else NULL */
	Dwarf_Die function;	/* that calls */
	Dwarf_Die site;
	uint64_t return_pc;
	bool tail;		/* a jump: it doesn't return here */
};

struct call_function {
	uint64_t key;
	const char *name;	/* of an external one; else NULL */
	bool complete;		/* all of its jumps to others are there */
};

struct call_table {
	struct call *calls;	/* ascending by callee */
	size_t count, room;
	struct call_function *functions;	/* with code, by key */
	size_t function_count, function_room;
};

/* The calls that are known to the unit; made when first asked for. NULL: out
 * of memory. */
const struct call_table *dwarf_calls_get(struct dwarf_file *dwarf,
					 struct unit *unit);
/* The calls of the whole module. 0, -ENOMEM; *table is NULL where there is so
 * much debug information that no table has all calls. */
int dwarf_calls_whole(struct dwarf_file *dwarf,
		      const struct call_table **table);

/* The calls of a function: *count of them from the result on. */
const struct call *dwarf_calls_of(const struct call_table *table,
				  Dwarf_Die *function, size_t *count);
/*
 * A function that was called and jumps to others instead of returning
 * may be entered again with the return address of the first call. False: what
 * is known of the calls shows that it isn't.
 */
bool dwarf_call_repeats(const struct call_table *table, Dwarf_Die *function);

/* What is looked for at a call. */
struct call_argument {
	unsigned int number;	/* of the register */
	const void *parameter;	/* root of an entry, instead; or NULL */
};
/* The value of the argument, as the call computes it (section 3.4.2); false: it
 * is not known. */
bool dwarf_call_value_find(const struct call_argument *argument,
			   Dwarf_Die *site, Dwarf_Attribute *value);

#endif
