/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rows of the page's events until the page is written: the newest ones of
 * any number, in two unnamed files of TMPDIR that are filled in turns. Memory
 * stays the same whatever the number.
 */
#ifndef TRACEFMT_HTML_STORE_H
#define TRACEFMT_HTML_STORE_H

#include <stdint.h>
#include "lib/error.h"
#include "lib/read/read.h"

#define HTML_ROWS	200000u		/* of a page, at most */
#define HTML_BYTES	(96ull << 20)	/* of these rows, at most */
#define HTML_BLOCK	2000u		/* rows that are read at once */
#define HTML_BLOCK_BYTES (1u << 20)	/* and with which it is full, too */
#define HTML_BLOCKS	(HTML_ROWS / HTML_BLOCK + HTML_BYTES / HTML_BLOCK_BYTES)

struct html_block {
	uint64_t offset, bytes;
	uint32_t rows;
};

struct html_half {
	int fd;			/* -1: not opened yet */
	struct html_block blocks[HTML_BLOCKS + 1];
	uint32_t block_count;
	uint32_t rows;
	uint64_t bytes;
};

struct html_store {
	struct html_half halves[2];
	unsigned int now;	/* which of them is filled */
	struct text text;	/* of the half that is filled */
};

/* store is zeroed. 0, or a negative errno. */
int html_store_open(struct html_store *store);
/* Where the next row's JSON is put, n bytes at most. 0, or a negative errno. */
int html_store_row(struct html_store *store, size_t n, char **row);
/* It ends at p. 0, or a negative errno. */
int html_store_add(struct html_store *store, const char *p);
/* How many are kept. */
uint64_t html_store_kept(const struct html_store *store);
/* A script element with an array of rows for each block, the oldest first. 0,
 * or a negative errno. */
int html_store_write(struct html_store *store, struct text *text);
void html_store_close(struct html_store *store);

#endif
