/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Texts that grow side by side and are read one after the other: what has no
 * room in memory goes to an unnamed file.
 */
#ifndef TRACEFMT_SHEAF_H
#define TRACEFMT_SHEAF_H

#include <stddef.h>
#include <stdint.h>
#include "lib/read/read.h"

#define SHEAF_MEMORY	(4u << 20)	/* bytes of text in memory */

struct sheaf_block {
	uint64_t offset;
	uint32_t bytes;
};

/* One of them. */
struct sheaf_text {
	char *data;		/* its end */
	uint32_t used, size;
	struct sheaf_block *blocks;	/* in the file, before that */
	size_t block_count, block_room;
	struct sheaf_text *next;	/* one more with bytes in memory */
};

struct sheaf {
	int fd;			/* -1: not opened yet */
	uint64_t end;		/* of the file */
	size_t used;		/* bytes in memory */
	struct sheaf_text *held;	/* those with bytes there */
};

void sheaf_open(struct sheaf *sheaf);
/* Append. 0, or a negative errno. */
int sheaf_add(struct sheaf *sheaf, struct sheaf_text *to, const char *data,
	      size_t n);
/* Append all of it to text, and free it; nothing is added to any any more. 0, or
 * a negative errno. */
int sheaf_take(struct sheaf *sheaf, struct sheaf_text *from,
	       struct text *text);
void sheaf_text_free(struct sheaf_text *of);
void sheaf_close(struct sheaf *sheaf);

#endif
