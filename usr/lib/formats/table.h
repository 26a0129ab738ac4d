/* SPDX-License-Identifier: GPL-2.0 */
/* What TDF and TFF have in common: a file of tables with a CRC. */
#ifndef LIB_TABLE_H
#define LIB_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/tdf.h>
#include "lib/error.h"

struct table_file {
	const char *kind;	/* "TDF" */
	const char *path;
	const uint8_t *data;
	size_t size;
	struct error *err;
};

/*
 * Read a whole file into memory (at most 1 GiB). 0, or a negative errno with
 * err set.
 */
int table_file_read(const char *path, void **data, size_t *size,
		    struct error *err);

/*
 * Check what the headers of TDF and TFF share, in this order: length, magic,
 * version, header size, file size, CRC, flags.
 */
int table_file_check(const struct table_file *file, const char magic[8],
		     unsigned int version, size_t header_size);

/*
 * Check one table of a file that table_file_check() has passed: inside the
 * file, after the header, 8-byte aligned. Returns
 * its first entry, or NULL with err set. An empty table is valid anywhere.
 */
const void *table_entries(const struct table_file *file, const char *name,
			  struct tdf_table table, size_t entry_size);

/* A string table begins and ends with a zero. */
const char *table_strings(const struct table_file *file,
			  struct tdf_table table);

/* [first, first + count) is in a table of `total` entries. */
static inline bool table_range_valid(uint32_t first, uint32_t count,
				     uint32_t total)
{
	return first <= total && count <= total - first;
}

/* -EINVAL with err "FILE is damaged: what". */
int table_damaged(const struct table_file *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Return -EINVAL from a checking function that has a `file`, with a reason. */
#define TABLE_CHECK(condition, ...)					\
	do {								\
		if (!(condition))					\
			return table_damaged(file, __VA_ARGS__);	\
	} while (0)

#endif
