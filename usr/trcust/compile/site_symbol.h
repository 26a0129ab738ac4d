/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_SITE_SYMBOL_H
#define TRCUST_SITE_SYMBOL_H

#include "site_place.h"

/* The functions, label or inlined copies that the name means; 0, 1, -1 as in
 * compile.h. */
int site_symbol_find(struct site_search *s);
/* The places of TP=.name in these. */
int site_symbol_places(struct site_search *s);
/* What the debug information has of that name, inlined copies included. 0, the
 * caller frees it; -ENOMEM. */
int site_symbol_functions(const struct compilation *c,
			  const struct tsf_point *point,
			  struct dwarf_functions *found);

#endif
