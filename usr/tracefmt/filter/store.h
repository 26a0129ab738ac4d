/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue of events with their records: added at the end, given up at the front
 * by whole blocks, read in either direction. The newest blocks are in memory,
 * the others in an unnamed file of TMPDIR.
 */
#ifndef TRACEFMT_STORE_H
#define TRACEFMT_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/read/read.h"

struct store;

/* What a block holds. */
struct store_block {
	uint64_t first, last;	/* numbers of its events, which ascend */
	uint64_t selected;	/* so many of them */
	int64_t newest;		/* the latest of their times */
};

/* NULL: no memory. */
struct store *store_open(void);
void store_close(struct store *store);
/* 0, or a negative errno; the record is copied. */
int store_add(struct store *store, const struct event *event, bool selected);
size_t store_blocks(const struct store *store);
struct store_block store_block(const struct store *store, size_t block);
/* Give up the first block. */
void store_drop(struct store *store);

/* Takes an event, which stays for the call only; not 0: no more. */
typedef int (*store_take)(void *context, const struct event *event,
			  bool selected);

/* All events of a block, backwards if `newest_first`. 0, a negative errno, or
 * what take() returned. */
int store_read(struct store *store, size_t block, bool newest_first,
	       store_take take, void *context);

#endif
