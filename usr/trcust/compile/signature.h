/* SPDX-License-Identifier: GPL-2.0 */
/* What a function takes and returns, as a TSF has it. */
#ifndef TRCUST_SIGNATURE_H
#define TRCUST_SIGNATURE_H

#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"

#define SIGNATURE_PARAMETERS_MAX	32

struct signature_parameters {
	struct {
		char *name;
		bool readable;
	} list[SIGNATURE_PARAMETERS_MAX];	/* in order */
	size_t count, readable;
};

/*
 * The parameters of the function that begins at entry; readable: their names
 * mean them at pc, and they can be read there. *listed: where each of them is
 * is known address by address, so that it is right at the first instruction as
 * well. 0 or -ENOMEM.
 */
int signature_parameters_find(struct dwarf_file *dwarf, uint64_t entry,
			      uint64_t pc,
			      struct signature_parameters *parameters,
			      bool *listed);
void signature_parameters_free(struct signature_parameters *parameters);

/*
 * Clauses that log the return value, malloc'd; `typed`: with its type's name
 * where that says more. NULL: there is none, it isn't in a register that a
 * probe can read, or there is no memory.
 */
char *signature_result_find(const struct module *module,
			    struct dwarf_file *dwarf, uint64_t entry,
			    bool typed);

#endif
