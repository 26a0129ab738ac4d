/* SPDX-License-Identifier: GPL-2.0 */
/* Names of symbols like one that is not there. */
#ifndef LIB_MODULE_SYMBOL_NEAR_H
#define LIB_MODULE_SYMBOL_NEAR_H

#include "symbol_find.h"

/* "foo, food, fob" into text, or "" */
void module_symbol_near(struct module *module, const char *name,
			enum module_want want, char *text, size_t size);

#endif
