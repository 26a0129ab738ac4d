/* SPDX-License-Identifier: GPL-2.0 */
/* Where the bytes of a trace come from: memory, a file, or a pipe, which has
 * them once only. */
#ifndef TRACEFMT_SOURCE_H
#define TRACEFMT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
	const uint8_t *data;	/* memory, owned; NULL: see fd */
	int fd;
	bool pipe;
	bool ended;		/* a pipe: there is no more */
	size_t size;		/* of memory or file; of a pipe what has come */
};

struct source_bytes {
	const uint8_t *data;	/* 8-byte aligned where `at` is so */
	size_t size;
	void *owned;		/* for free() */
};

/* path "-" is standard input. 0, or a negative errno. */
int source_open(struct source *source, const char *path);
/* Takes over data. */
void source_open_memory(struct source *source, void *data, size_t size);
void source_close(struct source *source);

/*
 * Up to n bytes at offset `at`; fewer at the end. Of a pipe `at` must be what
 * has come so far. 0, or a negative errno; bytes->owned is freed in any case.
 */
int source_read(struct source *source, uint64_t at, uint64_t n,
		struct source_bytes *bytes);
#endif
