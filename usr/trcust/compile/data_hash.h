/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TRCUST_DATA_HASH_H
#define TRCUST_DATA_HASH_H

#include "compile.h"

/* A hash of the data statements of a tracepoint, normalised, with the sizes and
 * types of the items. False: no memory. */
bool data_hash(const struct ctypes *ctypes, const struct compile_point *point,
	       uint64_t *result);

#endif
