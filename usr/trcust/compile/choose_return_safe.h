/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_CHOOSE_RETURN_SAFE_H
#define TRCUST_CHOOSE_RETURN_SAFE_H

#include "compile.h"
#include "lib/debug/module/module.h"

/*
 * Does anything in the module show that a return probe would harm the program,
 * in the function that begins at entry and whose code is in flow? *why: what
 * does; NULL: nothing. *open counts return probes in functions that call
 * others. 0 or -ENOMEM.
 */
int choose_return_safe(const struct compilation *c, uint64_t entry,
		       const struct flow *flow, size_t *open, const char **why);

#endif
