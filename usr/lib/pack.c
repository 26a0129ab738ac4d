// SPDX-License-Identifier: GPL-2.0
#include "pack.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>
#include <rastrace/rasfile.h>
#include "pack_library.h"

#define LEVEL		1	/* spooling must keep up with tracing */

/* What libzstd calls ZSTD_compressBound and so on; its interface is stable. */
static struct {
	size_t (*bound)(size_t size);
	size_t (*compress)(void *to, size_t room, const void *from,
			   size_t size, int level);
	size_t (*decompress)(void *to, size_t room, const void *from,
			     size_t size);
	unsigned int (*is_error)(size_t result);
	bool there;
} zstd;

static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;

static void zstd_load(void)
{
	zstd.bound = pack_library_symbol("ZSTD_compressBound");
	zstd.compress = pack_library_symbol("ZSTD_compress");
	zstd.decompress = pack_library_symbol("ZSTD_decompress");
	zstd.is_error = pack_library_symbol("ZSTD_isError");
	zstd.there = zstd.bound && zstd.compress && zstd.decompress &&
		     zstd.is_error;
}

static bool zstd_there(void)
{
	pthread_once(&zstd_once, zstd_load);
	return zstd.there;
}

int pack_method_find(const char *name, struct error *err)
{
	if (name ? !strcmp(name, "zlib") : !zstd_there())
		return RAS_PACKED_ZLIB;
	if (name && strcmp(name, "zstd"))
		return error_set(err, -EINVAL,
				 "'%s' is no compression: zlib or zstd", name);
	if (zstd_there())
		return RAS_PACKED_ZSTD;
	error_set(err, -ENOTSUP, "compression by zstd needs libzstd.so.1");
	error_hint(err, pack_library_possible ? "install libzstd, or take zlib" :
					       "this program is static: take zlib");
	return -ENOTSUP;
}

size_t pack_bound(int method, size_t size)
{
	return method == RAS_PACKED_ZSTD ? zstd.bound(size) :
					   compressBound(size);
}

int pack_compress(int method, const void *from, size_t size, void *to,
		  size_t *packed)
{
	uLongf room = *packed;

	if (method == RAS_PACKED_ZSTD) {
		*packed = zstd.compress(to, *packed, from, size, LEVEL);
		return zstd.is_error(*packed) ? -EIO : 0;
	}
	if (compress2(to, &room, from, size, LEVEL) != Z_OK)
		return -EIO;
	*packed = room;
	return 0;
}

int pack_expand(int method, const void *from, size_t packed, void *to,
		size_t size)
{
	uLongf room = size;

	switch (method) {
	case RAS_PACKED_ZLIB:
		return uncompress(to, &room, from, packed) == Z_OK &&
		       room == size ? 0 : -EINVAL;
	case RAS_PACKED_ZSTD:
		if (!zstd_there())
			return -ENOTSUP;
		return zstd.decompress(to, size, from, packed) == size ?
		       0 : -EINVAL;
	default:
		return -ENOTSUP;
	}
}
