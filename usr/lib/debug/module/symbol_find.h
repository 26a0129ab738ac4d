/* SPDX-License-Identifier: GPL-2.0 */
/* What names of a TSF mean: symbols by their names, names of source files; and
 * sections that the kernel relocates for itself. */
#ifndef LIB_MODULE_SYMBOL_FIND_H
#define LIB_MODULE_SYMBOL_FIND_H

#include <stdbool.h>
#include "module_elf.h"

/* Does the path end with `wanted`, part by part? Upper and lower case are the
 * same unless `exact`, / and \ always are. */
bool source_path_matches(const char *path, const char *wanted, bool exact);
/* The last part. */
const char *source_path_base(const char *path);

enum module_want { MODULE_CODE, MODULE_DATA };

/*
 * The symbol that the name means: defined rather than not, of the wanted kind,
 * global rather than local. Where no symbol has just this name, one of C++:
 * plain, qualified, with parameters ("fn", "ns::fn", "fn(int)"), one of Go
 * without the path of its package or its type arguments ("pkg.(*T).F"), or a
 * function without its package ("F"), first one of main;
 * "file.c:name" is the local one of that file. NULL: none. *others: there are
 * more, elsewhere, with no reason to prefer one.
 */
const struct module_symbol *
module_symbol_find(const struct module *module, const char *name,
		   enum module_want want, bool *others);
/* Calls take for each symbol that the name means, of whatever kind. */
void module_symbol_each(const struct module *module, const char *name,
			enum module_want want,
			void (*take)(void *context,
				     const struct module_symbol *symbol),
			void *context);
/* Those that the name means, "fn(int) at 0x1139, fn(char) at 0x1148", as far
 * as they go into text. */
void module_symbol_candidates(const struct module *module, const char *name,
			      enum module_want want, char *text, size_t size);

/* "foo, food, fob" into text, or "" */
void module_symbol_near(struct module *module, const char *name,
			enum module_want want, char *text, size_t size);

struct module_section {
	const char *name;	/* PERCPU: a symbol at its address, "" none */
	uint64_t address, size;
	bool percpu;
	bool init;		/* gone once the module runs */
};

/* The section around the address that the kernel relocates for itself. False:
 * none, it moves with the code. */
bool module_section_find(const struct module *module, uint64_t address,
			 struct module_section *section);

#endif
