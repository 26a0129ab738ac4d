/* SPDX-License-Identifier: GPL-2.0 */
/* Where the bytes of a trace come from: memory, a file, or a pipe, which has
 * them once only. */
#ifndef LIB_READ_SOURCE_H
#define LIB_READ_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct trace_source {
	const uint8_t *data;	/* memory, owned; NULL: see fd */
	int fd;
	bool pipe;
	bool ended;		/* a pipe: there is no more */
	bool temporary;		/* what has been read isn't needed again */
	size_t size;		/* of memory or file; of a pipe what has come */
};

struct source_bytes {
	const uint8_t *data;	/* 8-byte aligned where `at` is so */
	size_t size;
	void *owned;		/* for free() */
};

/* path "-" is standard input. 0, or a negative errno. */
int trace_source_open(struct trace_source *source, const char *path);
/* Takes over data. */
void source_open_memory(struct trace_source *source, void *data, size_t size);
void trace_source_close(struct trace_source *source);

/*
 * Up to n bytes at offset `at`; fewer at the end. Of a pipe `at` must be what
 * has come so far. 0, or a negative errno; bytes->owned is freed in any case.
 */
int trace_source_read(struct trace_source *source, uint64_t at, uint64_t n,
		      struct source_bytes *bytes);
/* The same of a file or memory, to a place that has room for n bytes. How many
 * came, or a negative errno. */
ssize_t trace_source_fetch(struct trace_source *source, uint64_t at, size_t n,
			   void *to);

/* An unnamed file that begins empty. 0, or a negative errno. */
int source_open_temporary(struct trace_source *source);
/* Put bytes at that offset of it; n bytes of a pipe, or what comes of them: how
 * many. A negative errno. */
int trace_source_put(struct trace_source *to, uint64_t at, const void *data,
		     size_t n);
int64_t source_put_pipe(struct trace_source *to, uint64_t at, uint64_t n,
			struct trace_source *from);
/* These aren't needed any more. */
void trace_source_forget(struct trace_source *source, uint64_t at, uint64_t n);

/*
 * The part of a chunk's records that is in memory, and where the rest is: a
 * chunk may be larger than what may be held of it.
 */

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
