/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The newest events of a page, in tiles of up to TILE_ROWS of them. A tile is a
 * script element that is no script:
 *
 *	<script type="text/plain" class="tile">ROWS NUMBERS TEXTS
 *	(NUMBERS bytes)
 *	(TEXTS bytes)
 *	</script>
 *
 * Both are in base64, and before that compressed by zlib if that makes them
 * shorter than these bytes.
 *
 * NUMBERS has the columns of the rows, one after the other, a LEB128 number for
 * each row: z(number), z(time), trace, CPU, z(pid), z(tid), comm, point, flags
 * (EVENT_*), length, role (PAIR_*), depth, latency, self, and how many rows before
 * the call is. z() is the difference from the row before it; it, latency and self
 * are zigzag coded. TEXTS has the texts of all rows, then the values of all, with a
 * zero byte after each: what output_text prints of the event; and an array as
 * JSON in the order of the point's fields, of which the last ones may be missing.
 */
#ifndef TRACEFMT_HTML_TILES_H
#define TRACEFMT_HTML_TILES_H

#include <stdint.h>
#include "lib/text.h"

#define TILE_ROWS	4000u
#define TILES_ROWS_MAX	1000000u	/* of a page; the newest */

struct tile_row {
	uint64_t number;	/* of the event */
	int64_t time;		/* ns since output->start */
	int64_t latency;	/* of a matched POST; else 0 */
	int64_t self;		/* of this, without the calls inside; -1: not
				 * known */
	uint64_t call;		/* of a matched POST: its PRE is so many rows
				 * before; else 0 */
	uint32_t trace, cpu, pid, tid;
	uint32_t comm, point;	/* numbers of the page's lists */
	uint32_t depth;
	uint16_t flags, length, role;
};

struct tiles;

/* 0, or a negative errno; without one there is nothing to close. */
int tiles_open(struct tiles **tiles);
/* A row with its text and values, which are safe (text.h) and so have no zero
 * byte. 0, or a negative errno. */
int tiles_add(struct tiles *tiles, const struct tile_row *row,
	      const struct text *text, const struct text *values);
/* No more rows come; *kept: how many there are. 0, or a negative errno. */
int tiles_end(struct tiles *tiles, uint64_t *kept);
/* All that are kept, the oldest first. 0, or a negative errno. */
int tiles_write(struct tiles *tiles, struct text *text);
/* NULL is fine. */
void tiles_close(struct tiles *tiles);

#endif
