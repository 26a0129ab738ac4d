/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compression of chunks (rastrace/rasfile.h): by zlib and by zstd, when their
 * libraries are there at run time.
 */
#ifndef LIB_PACK_H
#define LIB_PACK_H

#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

/* The method of that name, RAS_PACKED_*; NULL: the better one that is there.
 * Or a negative errno with err set. */
int pack_method_find(const char *name, struct error *err);
/* An option's value, in *method; the error is printed: 0, or -1. */
int pack_method_take(const char *program, const char *value, int *method);

/* The library that a method needs; NULL: it is none. */
const char *pack_library(int method);

/* Most bytes that `size` bytes can become. */
size_t pack_bound(int method, size_t size);
/* *packed: bytes of room at `to`, then those used. 0, or -EIO. */
int pack_compress(int method, const void *from, size_t size, void *to,
		  size_t *packed);
/* Exactly `size` bytes come out, or it is -EINVAL; -ENOTSUP: not here. */
int pack_expand(int method, const void *from, size_t packed, void *to,
		size_t size);

#endif
