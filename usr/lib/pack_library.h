/* SPDX-License-Identifier: GPL-2.0 */
/* libzstd, which is loaded when it is asked for. A static program can't load
 * it: it is linked with static/pack_library.c. */
#ifndef LIB_PACK_LIBRARY_H
#define LIB_PACK_LIBRARY_H

#include <stdbool.h>

/* Can there be one? */
extern const bool pack_library_possible;
/* A function of it; NULL: there is none. */
void *pack_library_symbol(const char *name);

#endif
