/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The TDF in memory. tdf_open() checks every offset, count and expression
 * once; after that everything is a const view and needs no checks.
 */
#ifndef LIB_TDF_H
#define LIB_TDF_H

#include <stdbool.h>
#include <stddef.h>
#include <rastrace/tdf.h>
#include "lib/error.h"

struct tdf {
	const void *data;
	const struct tdf_header *header;
	const struct tdf_module *modules;	/* at least one */
	const struct tdf_name *types, *groups;
	const struct tdf_point *points;
	const struct tdf_site *sites;
	const struct tdf_stmt *stmts;
	const __u8 *rpn;
	const char *strings;
	const struct tdf_section *sections;
	char *path;		/* as given to tdf_open() */
};

/* Read and validate a file; 0, or a negative errno with err set. */
int tdf_open(struct tdf **tdf, const char *path, struct error *err);
/* The same for bytes in memory, which are copied; path is for messages. */
int tdf_parse(struct tdf **tdf, const void *data, size_t size,
	      const char *path, struct error *err);
void tdf_close(struct tdf *tdf);

/* Sites of one tracepoint that log the same from the same places. */
static inline bool tdf_site_same(const struct tdf_site *a,
				 const struct tdf_site *b)
{
	return a->first_stmt == b->first_stmt && a->stmts == b->stmts &&
	       a->flags == b->flags;
}

static inline const char *tdf_string(const struct tdf *tdf, __u32 offset)
{
	return tdf->strings + offset;
}

#endif
