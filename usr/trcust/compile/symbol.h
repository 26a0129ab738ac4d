/* SPDX-License-Identifier: GPL-2.0 */
/*
 * .name (manual 1.3.5.15.1): a variable in scope at the site, then one of the
 * module's symbols, then one of the map.
 */
#ifndef TRCUST_SYMBOL_H
#define TRCUST_SYMBOL_H

#include "compile.h"
#include "lib/formats/rpn.h"

struct address {		/* what address specification and flag mean */
	struct place place;	/* the bytes to log, or of LEN the length; all
				 * ABSENT: not at this site, others may do */
	uint64_t offset;	/* where they begin in the place */
	bool segment;		/* the place is MEMORY with a far address: rpn
				 * leaves selector and offset */
	bool typed;		/* type is that of what is there */
	Dwarf_Die type;
	bool pointer;		/* DIRECT on a `char *` variable */
};

/* It has one piece that is not at this site. */
bool address_is_absent(const struct address *address);
/* The address of what is in memory as a whole; NULL: it isn't. */
const struct bytes *address_in_memory(const struct address *address);
/* What .name means at the site, without displacement and flag.
 * `must_be_typed`: only debug information will do. */
int symbol_resolve(const struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name, bool must_be_typed,
		   struct address *result);
/* The same of a variable that was looked up. */
int symbol_variable(const struct compilation *c,
		    const struct compile_site *site, struct srcpos pos,
		    const char *name, const struct dwarf_variable *variable,
		    struct address *result);
/* The section around the address that the kernel relocates for itself, by the
 * module's file or, without one, the map. False: none. */
bool symbol_section_find(const struct compilation *c, uint64_t address,
			 struct module_section *section);
/* 0 when the static data of the place can be found in the loaded module; 1
 * after a message. */
int symbol_check_static(const struct compilation *c,
			const struct compile_site *site, struct srcpos pos,
			const char *name, const struct place *place);

#endif
