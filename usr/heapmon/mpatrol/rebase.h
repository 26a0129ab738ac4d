/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Small numbers for old readers: the pages that are used are moved together,
 * from 0x1000 on, in their order and with a free page between those that were
 * not neighbours; threads are numbered from 1. Records wait in a temporary file
 * until all pages are known.
 */
#ifndef HEAPMON_REBASE_H
#define HEAPMON_REBASE_H

#include <stdint.h>
#include "lib/error.h"

struct mtrc_record {
	char letter;
	uint64_t index, address, size;
	uint64_t thread;
	uint32_t stack;
};

struct rebase;

/* 0, or a negative errno with err set. */
int rebase_new(struct rebase **rebase, struct error *err);
/* An error is returned by rebase_replay(). */
void rebase_keep(struct rebase *rebase, const struct mtrc_record *record);
int rebase_replay(struct rebase *rebase,
		  void (*put)(void *context, const struct mtrc_record *record),
		  void *context, struct error *err);
/* NULL is fine. */
void rebase_free(struct rebase *rebase);

#endif
