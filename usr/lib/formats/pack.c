// SPDX-License-Identifier: GPL-2.0
#include "pack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "lib/library.h"

#define LEVEL		1	/* spooling must keep up with tracing */
#define ZLIB		"libz.so.1"
#define ZSTD		"libzstd.so.1"

/* What zlib calls compress2() and so on; its interface is stable. */
static struct {
	unsigned long (*bound)(unsigned long size);
	int (*compress)(void *to, unsigned long *room, const void *from,
			unsigned long size, int level);
	int (*expand)(void *to, unsigned long *room, const void *from,
		      unsigned long size);
	bool there;
} zlib;

/* ZSTD_compress() of libzstd */
static struct {
	size_t (*bound)(size_t size);
	size_t (*compress)(void *to, size_t room, const void *from,
			   size_t size, int level);
	size_t (*expand)(void *to, size_t room, const void *from, size_t size);
	unsigned int (*is_error)(size_t result);
	bool there;
} zstd;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void libraries_load(void)
{
	zlib.bound = library_symbol(ZLIB, "compressBound");
	zlib.compress = library_symbol(ZLIB, "compress2");
	zlib.expand = library_symbol(ZLIB, "uncompress");
	zlib.there = zlib.bound && zlib.compress && zlib.expand;
	zstd.bound = library_symbol(ZSTD, "ZSTD_compressBound");
	zstd.compress = library_symbol(ZSTD, "ZSTD_compress");
	zstd.expand = library_symbol(ZSTD, "ZSTD_decompress");
	zstd.is_error = library_symbol(ZSTD, "ZSTD_isError");
	zstd.there = zstd.bound && zstd.compress && zstd.expand &&
		     zstd.is_error;
}

const char *pack_library(int method)
{
	return method == RAS_PACKED_ZLIB ? ZLIB :
	       method == RAS_PACKED_ZSTD ? ZSTD : NULL;
}

static bool pack_is_there(int method)
{
	pthread_once(&once, libraries_load);
	return (method == RAS_PACKED_ZLIB && zlib.there) ||
	       (method == RAS_PACKED_ZSTD && zstd.there);
}

int pack_method_find(const char *name, struct error *err)
{
	int method;
	const char *library;

	if (!name)
		method = pack_is_there(RAS_PACKED_ZSTD) ? RAS_PACKED_ZSTD :
						     RAS_PACKED_ZLIB;
	else if (!strcmp(name, "zlib"))
		method = RAS_PACKED_ZLIB;
	else if (!strcmp(name, "zstd"))
		method = RAS_PACKED_ZSTD;
	else
		return error_set(err, -EINVAL,
				 "'%s' is no compression: zlib or zstd", name);
	if (pack_is_there(method))
		return method;
	library = pack_library(method);
	error_set(err, -ENOTSUP, "compression needs %s", library);
	error_hint(err, library_possible ?
		   "install it, or take the other method, or none" :
		   "this program is static: take zlib");
	return -ENOTSUP;
}

int pack_method_take(const char *program, const char *value, int *method)
{
	struct error err;

	*method = pack_method_find(value, &err);
	if (*method >= 0)
		return 0;
	error_print(program, &err);
	return -1;
}

size_t pack_bound(int method, size_t size)
{
	return method == RAS_PACKED_ZSTD ? zstd.bound(size) : zlib.bound(size);
}

int pack_compress(int method, const void *from, size_t size, void *to,
		  size_t *packed)
{
	unsigned long room = *packed;

	if (method == RAS_PACKED_ZSTD) {
		*packed = zstd.compress(to, *packed, from, size, LEVEL);
		return zstd.is_error(*packed) ? -EIO : 0;
	}
	if (zlib.compress(to, &room, from, size, LEVEL))
		return -EIO;
	*packed = room;
	return 0;
}

int pack_expand(int method, const void *from, size_t packed, void *to,
		size_t size)
{
	unsigned long room = size;

	if (!pack_is_there(method))
		return -ENOTSUP;
	if (method == RAS_PACKED_ZSTD)
		return zstd.expand(to, size, from, packed) == size ?
		       0 : -EINVAL;
	return !zlib.expand(to, &room, from, packed) && room == size ?
	       0 : -EINVAL;
}
