// SPDX-License-Identifier: GPL-2.0
/*
 * The compressed form of makedumpfile, which QEMU writes, too (makedumpfile's
 * IMPLEMENTATION and diskdump_mod.h): a header, a second one, a bitmap of the
 * machine's pages and one of those that are in the file, a descriptor for each
 * of these, and the pages, packed one by one.
 */
#include "dump_kdump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "lib/library.h"
#include "lib/formats/pack.h"

#define MAGIC		"KDUMP   "
#define INFO_MAX	(1u << 20)	/* bytes of VMCOREINFO, of notes */
#define BITMAP_MAX	(1u << 30)	/* bytes: of 32 TiB */
#define PROBES		4096		/* pages looked at for their method */
#define STRETCH		4096		/* pages that are counted together */

struct header {
	char magic[8];
	uint32_t version;
	char uts[6][65];		/* struct new_utsname */
	uint8_t padding[6];
	uint64_t timestamp[2];
	uint32_t status;
	uint32_t block_size;
	uint32_t sub_blocks;
	uint32_t bitmap_blocks;		/* of both bitmaps */
	uint32_t unused[6];
};

#define UTS_MACHINE	4
#define STATUS_INCOMPLETE 8

struct sub_header {
	uint64_t phys_base;
	uint32_t dump_level, split;
	uint64_t pfns[2];
	uint64_t info_offset, info_size;	/* of VMCOREINFO; 0: none */
	uint64_t note_offset, note_size;
};

struct kdump_descriptor {
	uint64_t offset;
	uint32_t size, flags;
	uint64_t page_flags;
};

#define FLAG_ZLIB	0x01
#define FLAG_LZO	0x02
#define FLAG_SNAPPY	0x04
#define FLAG_ZSTD	0x20

_Static_assert(sizeof(struct header) == 464 &&
	       sizeof(struct sub_header) == 64 &&
	       sizeof(struct kdump_descriptor) == 24, "as in the file");

struct dump_kdump {
	uint64_t descriptors;	/* their offset */
	uint8_t *bitmap;
	uint64_t pages;		/* bits of it */
	uint64_t *before;	/* of every stretch: pages in front of it */
	uint64_t at;		/* the page that is in `page`; UINT64_MAX none */
	uint8_t page[DUMP_PAGE];
	uint8_t packed[2 * DUMP_PAGE];
};

/* ---- pages ---- */

#define LZO		"liblzo2.so.2"
#define SNAPPY		"libsnappy.so.1"

static int lzo_expand(const void *from, size_t size, void *to)
{
	static int (*expand)(const void *from, unsigned long size, void *to,
			     unsigned long *room, void *work);
	unsigned long room = DUMP_PAGE;

	if (!expand)
		expand = library_symbol(LZO, "lzo1x_decompress_safe");
	if (!expand)
		return -ENOTSUP;
	return !expand(from, size, to, &room, NULL) && room == DUMP_PAGE ?
	       0 : -EINVAL;
}

static int snappy_expand(const void *from, size_t size, void *to)
{
	static int (*expand)(const void *from, size_t size, void *to,
			     size_t *room);
	size_t room = DUMP_PAGE;

	if (!expand)
		expand = library_symbol(SNAPPY, "snappy_uncompress");
	if (!expand)
		return -ENOTSUP;
	return !expand(from, size, to, &room) && room == DUMP_PAGE ?
	       0 : -EINVAL;
}

static const char *method_library(uint32_t flags)
{
	if (flags & FLAG_LZO)
		return LZO;
	if (flags & FLAG_SNAPPY)
		return SNAPPY;
	return pack_library(flags & FLAG_ZSTD ? RAS_PACKED_ZSTD :
						RAS_PACKED_ZLIB);
}

/* 0; -ENOTSUP: without its library; or another negative errno. */
static int page_expand(uint32_t flags, const uint8_t *from, size_t size,
		       uint8_t *to)
{
	if (flags & FLAG_ZLIB)
		return pack_expand(RAS_PACKED_ZLIB, from, size, to, DUMP_PAGE);
	if (flags & FLAG_LZO)
		return lzo_expand(from, size, to);
	if (flags & FLAG_SNAPPY)
		return snappy_expand(from, size, to);
	if (flags & FLAG_ZSTD)
		return pack_expand(RAS_PACKED_ZSTD, from, size, to, DUMP_PAGE);
	if (size != DUMP_PAGE)
		return -EINVAL;
	memcpy(to, from, size);
	return 0;
}

static int page_fetch(struct dump *dump, const struct kdump_descriptor *d,
		      uint8_t *to)
{
	struct dump_kdump *kdump = dump->kdump;

	if (d->size > sizeof(kdump->packed))
		return -EINVAL;
	if (!dump_fetch(dump, d->offset, kdump->packed, d->size))
		return -ENODATA;
	return page_expand(d->flags, kdump->packed, d->size, to);
}

/* Of the pages in the file, which one is it? */
static uint64_t page_index(const struct dump_kdump *kdump, uint64_t page)
{
	uint64_t first = page / STRETCH * STRETCH;
	uint64_t index = kdump->before[page / STRETCH];

	for (uint64_t i = first / 8; i < page / 8; i++)
		index += __builtin_popcount(kdump->bitmap[i]);
	return index + __builtin_popcount(kdump->bitmap[page / 8] &
					  ((1u << page % 8) - 1));
}

/* Into kdump->page */
static bool page_load(struct dump *dump, uint64_t page)
{
	struct dump_kdump *kdump = dump->kdump;
	struct kdump_descriptor d;

	if (page == kdump->at)
		return true;
	if (page >= kdump->pages || !(kdump->bitmap[page / 8] >> page % 8 & 1))
		return false;
	kdump->at = UINT64_MAX;
	if (!dump_fetch(dump, kdump->descriptors +
			page_index(kdump, page) * sizeof(d), &d, sizeof(d))) {
		dump->cut = true;
		return false;
	}
	switch (page_fetch(dump, &d, kdump->page)) {
	case 0:
		break;
	case -ENODATA:
		dump->cut = true;
		return false;
	default:
		dump->damaged = true;
		return false;
	}
	kdump->at = page;
	return true;
}

size_t dump_kdump_read(struct dump *dump, uint64_t physical, void *to,
		       size_t size)
{
	size_t done = 0;

	while (done < size) {
		uint64_t at = physical + done;
		size_t n = DUMP_PAGE - at % DUMP_PAGE;

		if (!page_load(dump, at / DUMP_PAGE))
			break;
		if (n > size - done)
			n = size - done;
		memcpy((uint8_t *)to + done,
		       dump->kdump->page + at % DUMP_PAGE, n);
		done += n;
	}
	return done;
}

/* ---- opening ---- */

static int kdump_header_check(const struct header *h,
			      const struct sub_header *sub, const char *path,
			      struct error *err)
{
	if (h->block_size != DUMP_PAGE)
		return error_set(err, -EINVAL,
				 "'%s' is of a kernel whose pages have %u bytes, not 4096",
				 path, h->block_size);
	if (sub->split) {
		error_set(err, -EINVAL, "'%s' is one of several parts", path);
		error_hint(err, "put them together: makedumpfile --reassemble PART... DUMP");
		return -EINVAL;
	}
	return 0;
}

static bool bitmap_read(struct dump *dump, const struct header *h)
{
	struct dump_kdump *kdump = dump->kdump;
	uint64_t bytes = (uint64_t)(h->bitmap_blocks / 2) * DUMP_PAGE;
	uint64_t at = (1 + (uint64_t)h->sub_blocks) * DUMP_PAGE + bytes;
	uint64_t count = 0;

	/* nothing is allocated for what the file doesn't have */
	if (!bytes || bytes > BITMAP_MAX || at > dump->size ||
	    bytes > dump->size - at)
		return false;
	kdump->pages = bytes * 8;
	kdump->descriptors = at + bytes;
	kdump->bitmap = malloc(bytes);
	kdump->before = calloc(kdump->pages / STRETCH + 1,
			       sizeof(*kdump->before));
	if (!kdump->bitmap || !kdump->before ||
	    !dump_fetch(dump, at, kdump->bitmap, bytes))
		return false;
	for (uint64_t i = 0; i < bytes; i++) {
		if (i % (STRETCH / 8) == 0)
			kdump->before[i / (STRETCH / 8)] = count;
		count += __builtin_popcount(kdump->bitmap[i]);
	}
	dump->pages = count;
	return true;
}

/* Can the pages be expanded? All of them have one method, or none. */
static int method_check(struct dump *dump, const char *path, struct error *err)
{
	const uint32_t packed = FLAG_ZLIB | FLAG_LZO | FLAG_SNAPPY | FLAG_ZSTD;
	struct dump_kdump *kdump = dump->kdump;
	struct kdump_descriptor d = { 0 };

	for (uint64_t i = 0; i < dump->pages && i < PROBES; i++)
		if (!dump_fetch(dump, kdump->descriptors + i * sizeof(d), &d,
				sizeof(d)) || d.flags & packed)
			break;
	if (!(d.flags & packed) ||
	    page_fetch(dump, &d, kdump->page) != -ENOTSUP)
		return 0;
	error_set(err, -ENOTSUP, "'%s' is compressed by what needs %s", path,
		  method_library(d.flags));
	error_hint(err, "install it, or dump ELF: makedumpfile -E");
	return -ENOTSUP;
}

int dump_kdump_open(struct dump *dump, const char *path, struct error *err)
{
	struct sub_header sub;
	struct header h;
	int code;
	uint64_t info;
	uint64_t notes;
	uint8_t *bytes;

	if (!dump_fetch(dump, 0, &h.magic, sizeof(h.magic)) ||
	    memcmp(h.magic, MAGIC, sizeof(h.magic)))
		return error_set(err, -EINVAL, "'%s' is no memory dump", path);
	if (!dump_fetch(dump, 0, &h, sizeof(h)) ||
	    !dump_fetch(dump, DUMP_PAGE, &sub, sizeof(sub)))
		return dump_damaged(path, "cut short in its headers", err);
	code = kdump_header_check(&h, &sub, path, err);
	if (code)
		return code;
	dump->kdump = calloc(1, sizeof(*dump->kdump));
	if (!dump->kdump)
		return error_no_memory(err);
	dump->kdump->at = UINT64_MAX;
	memcpy(dump->machine_name, h.uts[UTS_MACHINE],
	       sizeof(dump->machine_name) - 1);
	if (!bitmap_read(dump, &h))
		return dump_damaged(path, "its bitmap of pages is missing",
				     err);
	dump->cut |= h.status & STATUS_INCOMPLETE;
	info = sub.info_size < INFO_MAX ? sub.info_size : INFO_MAX;
	notes = sub.note_size < INFO_MAX ? sub.note_size : INFO_MAX;
	bytes = malloc(INFO_MAX);
	if (bytes && sub.info_offset &&
	    dump_fetch(dump, sub.info_offset, bytes, info))
		dump_text_set(&dump->info, bytes, info);
	if (bytes && sub.note_offset &&
	    dump_fetch(dump, sub.note_offset, bytes, notes))
		dump_notes_take(dump, bytes, notes);
	free(bytes);
	return method_check(dump, path, err);
}

void dump_kdump_close(struct dump *dump)
{
	free(dump->kdump->bitmap);
	free(dump->kdump->before);
	free(dump->kdump);
	dump->kdump = NULL;
}
