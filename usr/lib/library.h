/* SPDX-License-Identifier: GPL-2.0 */
/* Shared libraries, which are loaded when they are asked for. A static program
 * can't load any: it is linked with static/library.c. */
#ifndef LIB_LIBRARY_H
#define LIB_LIBRARY_H

#include <stdbool.h>

/* Can there be others than zlib? */
extern const bool library_possible;
/* A function of it ("libzstd.so.1"), which stays loaded; NULL: there is none. */
void *library_symbol(const char *library, const char *name);

#endif
