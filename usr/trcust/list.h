/* SPDX-License-Identifier: GPL-2.0 */
/* --list: what of a module a TSF can name, as text and as JSON. */
#ifndef TRCUST_LIST_H
#define TRCUST_LIST_H

#include "run.h"

/* What `s->list` names ("functions", "variables:PLACE", "usdt") of the module;
 * without one (NULL) "keywords". Prints its messages and returns the exit
 * status. */
int run_list(const struct settings *s, const char *module);

#endif
