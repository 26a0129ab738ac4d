/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of a module that have symbols, each with the name that people
 * write and what TP has to be to mean it alone.
 */
#ifndef TRCUST_FUNCTIONS_H
#define TRCUST_FUNCTIONS_H

#include "run.h"
#include "trcust/compile/compile.h"

struct named_function {
	const struct module_symbol *symbol;
	char *name;		/* as linked */
	char *full;		/* as in the source; NULL: the same */
	char *shown;		/* "cls::fn", with the parameters where another
				 * function has the same; NULL: name */
	char *tp;		/* ".name", "@ADDR,0x1139" */
};

struct named_functions {
	struct module *module;
	struct dwarf_file *dwarf;	/* NULL: none */
	struct named_function *list;	/* ascending, one per address */
	size_t count;
	uint32_t *namesakes;	/* functions by a hash of the name without its
				 * scope */
};

/* Those that the patterns choose. 0, -ENOMEM; functions_free() in any case. */
int functions_find(struct named_functions *n, struct module *module,
		   struct dwarf_file *dwarf, const struct run_globs *include,
		   const struct run_globs *exclude);
void functions_free(struct named_functions *n);

/* A name as TP takes it: ".name", or as people write it, or in quotes, malloc'd.
 * NULL: it can't be written, or no memory (module->exhausted). */
char *function_name_write(struct module *module, const char *name);

/* "int (const char *who, int v)" of the function whose code begins there,
 * malloc'd. NULL: the debug information does not have it, or no memory
 * (module->exhausted). */
char *function_signature(struct dwarf_file *dwarf, uint64_t entry);
/* The same of an entry of the debug information. */
char *function_signature_of(struct dwarf_file *dwarf, Dwarf_Die *function);
/* The registers of a function's first arguments, "RDI,RSI", by the convention of
 * the processor and the language. NULL: they are not in registers. */
const char *function_registers(const struct module *module);

/* The pattern fits a name that the function has. */
bool function_matches(const char *glob, const struct named_function *f);

#endif
