/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts that grow side by side and are read one after the other. What has no
 * room in memory is spilled to an unnamed file.
 */
#ifndef TRACEFMT_SPILL_H
#define TRACEFMT_SPILL_H

#include <stddef.h>
#include <stdint.h>
#include "lib/text.h"

struct spill_block {
	uint64_t start;		/* in the text */
	uint64_t offset, bytes;	/* in the file */
};

/* One text: blocks in the file, then what is in memory. */
struct spill_text {
	struct spill_block *blocks;
	size_t block_count, block_room;
	struct text text;
	uint64_t length;	/* of all */
	struct spill_text *next;	/* one more with bytes in memory */
};

struct spill {
	int fd;			/* -1: not opened yet */
	uint64_t end;		/* of the file */
	size_t used;		/* bytes in memory */
	struct spill_text *held;	/* those with bytes there */
};

/* Append n bytes, not 0. 0, or a negative errno. */
int spill_add(struct spill *spill, struct spill_text *to, const char *data,
	      size_t n);
/* Write over n bytes at `at` that were appended at once. 0, or a negative
 * errno. */
int spill_patch(struct spill *spill, struct spill_text *of, uint64_t at,
		const char *data, size_t n);
/* Append all of it to text, and free it. Nothing may be added to any of the texts
 * after that. 0, or a negative errno. */
int spill_take(struct spill *spill, struct spill_text *from,
	       struct text *text);
void spill_text_free(struct spill_text *of);

#endif
