/* SPDX-License-Identifier: GPL-2.0 */
/* TDF and TFF being made: tables one after the other, with a CRC. Errors
 * stick until the end. */
#ifndef HEAPMON_TABLES_H
#define HEAPMON_TABLES_H

#include <stddef.h>
#include <stdint.h>
#include <rastrace/tdf.h>
#include "lib/error.h"
#include "lib/formats/bytes.h"

#define TABLES_MOST	8

struct tdf_tables {
	struct bytes bytes[TABLES_MOST];
	size_t counts[TABLES_MOST];
	unsigned int count;
};

/* `count` tables, the last of which are strings, and has the empty one. */
void tdf_tables_begin(struct tdf_tables *tables, unsigned int count);
/* Its index in the table. */
uint32_t tables_add(struct tdf_tables *tables, unsigned int table,
		    const void *entry, size_t size);
/* Bytes are entries of one byte. */
uint32_t tables_add_bytes(struct tdf_tables *tables, unsigned int table,
			  const void *bytes, size_t size);
uint32_t tables_add_string(struct tdf_tables *tables, const char *string);

/*
 * All of it, which is for free(); `tables` is given up. The header, of
 * header_size bytes, has struct tdf_table of table n at places[n], and begins
 * as those of TDF and TFF do. 0, or a negative errno with err set.
 */
int tables_end(struct tdf_tables *tables, void *header, size_t header_size,
	       struct tdf_table *const *places, void **data, size_t *size,
	       struct error *err);

#endif
