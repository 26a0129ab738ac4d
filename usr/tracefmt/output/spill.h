/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts that grow side by side and are read one after the other. What has no
 * room in memory is spilled to an unnamed file.
 */
#ifndef TRACEFMT_SPILL_H
#define TRACEFMT_SPILL_H

#include <stddef.h>
#include <stdint.h>
#include "lib/read/read.h"

#define SPILL_MEMORY	(4u << 20)	/* bytes of text in memory */

struct spill_block {
	uint64_t offset;
	uint32_t bytes;
};

/* One text: blocks in the file, then what is in memory. */
struct spill_text {
	struct spill_block *blocks;
	size_t block_count, block_room;
	char *data;
	uint32_t used, size;
	struct spill_text *next;	/* one more with bytes in memory */
};

struct spill {
	int fd;			/* -1: not opened yet */
	uint64_t end;		/* of the file */
	size_t used;		/* bytes in memory */
	struct spill_text *held;	/* those with bytes there */
};

void spill_open(struct spill *spill);
/* Append. 0, or a negative errno. */
int spill_add(struct spill *spill, struct spill_text *to, const char *data,
	      size_t n);
/* Append all of it to text, and free it. Nothing may be added to any of the texts
 * after that. 0, or a negative errno. */
int spill_take(struct spill *spill, struct spill_text *from,
	       struct text *text);
void spill_text_free(struct spill_text *of);
void spill_close(struct spill *spill);

#endif
