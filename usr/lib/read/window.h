/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a chunk's records that is in memory, and where the rest is: a
 * chunk may be larger than what may be held of it.
 */
#ifndef LIB_READ_WINDOW_H
#define LIB_READ_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "source.h"

#define WINDOW_LEAST	(8u << 10)	/* bytes */
#define WINDOW_ONCE	((1u << 20) + (64u << 10))	/* read in one piece */
#define WINDOW_MOST	(128u << 10)	/* at a time, of what is larger */
#define WINDOW_ALL	(16u << 20)	/* of all windows of a trace */

struct source_window {
	const uint8_t *data;	/* 8-byte aligned */
	size_t size;
	uint64_t offset, left;	/* of the rest, in the file */
	void *owned;		/* memory that they are in */
	size_t room;		/* of it */
	bool exhausted;		/* there was no memory */
};

/* Other bytes: these, whose memory is taken over, or so many of the file, which
 * window_fill() fetches. */
void window_set(struct source_window *window, const struct source_bytes *bytes);
void window_open(struct source_window *window, uint64_t offset, uint64_t left);
/*
 * Drop the first `used` bytes, and fetch `most` of the rest or what is left of
 * it. False: no memory, or they can't be read: there is no rest then.
 */
bool window_fill(struct source_window *window, struct trace_source *source,
		 size_t used, size_t most);
void window_free(struct source_window *window);

#endif
