/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A TSF made from a module: a tracepoint at every function that can have one,
 * minors by the convention that POST = PRE | 0x8000.
 */
#ifndef TRCUST_FROM_MODULE_H
#define TRCUST_FROM_MODULE_H

#include <stdbool.h>
#include <stdio.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"

struct from_module {
	const char *modname;	/* as MODNAME is to have it */
	struct module *module;
	struct dwarf_file *dwarf;	/* NULL: none */
	unsigned int major;
	const char *const *include;	/* globs of names, as linked or as in
					 * the source; none: all */
	size_t include_count;
	const char *const *exclude;
	size_t exclude_count;
	bool retep;		/* return points as well */
	bool args;		/* log parameters and return values */
};

/*
 * Write the TSF. 0, or a negative errno with err set: -ENOENT no function is
 * left, -E2BIG more than minors can number, -EINVAL, -ENOMEM. *left_out: how
 * many functions can't be traced; comments name them.
 */
int from_module_write(const struct from_module *in, FILE *out,
		      size_t *left_out, struct error *err);

#endif
