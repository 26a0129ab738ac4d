/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel modules as distributions install them: compressed with xz, zstd or
 * gzip. */
#ifndef TRCUST_UNPACK_H
#define TRCUST_UNPACK_H

#include <stdbool.h>
#include "lib/error.h"

/* ".xz", ".zst", ".gz"; ends with NULL. */
extern const char *const unpack_suffixes[];

/*
 * What the open file has, if it is compressed: in *unpacked, a file in memory;
 * else that is -1. 0, or a negative errno with err set: damaged, or too large.
 */
int unpack_file(int fd, int *unpacked, struct error *err);

#endif
