/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A file that appears whole or not at all: written without a name, or under
 * another one, and named on commit. Errors stick: check them once, at the commit.
 */
#ifndef LIB_OUTFILE_H
#define LIB_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "error.h"
#include "text.h"

/* The names in a directory, for what has to work when memory has run out. */

/* All but "." and "..", which may be removed meanwhile. */
void directory_each(int fd,
		    void (*visit)(int fd, const char *name, void *context),
		    void *context);

struct outfile;

/*
 * 0, or a negative errno with err set. An existing file is left alone until the
 * commit, and another file takes its name then: of our own file that has group
 * and mode, else the mode is 0666 less the umask. What is no file, such as a pipe
 * or a device, is written to as it is.
 */
int outfile_open(struct outfile **out, const char *path, struct error *err);
/* For what is read while it is written: a descriptor of the file itself, which
 * is empty, or a negative errno with err set. */
int outfile_open_in_place(const char *path, struct error *err);
/* 0, or -EACCES with err set: a link or FIFO that another user may have put there
 * to get what is written. */
int outfile_refuse_planted(const char *path, struct error *err);
void outfile_write(struct outfile *out, const void *data, size_t size);
/* For callers that write to it directly and never use outfile_write(). */
int outfile_fd(const struct outfile *out);
/* Write all to the disk, not yet by its name. It fails when the disk is full. */
int outfile_sync(struct outfile *out, struct error *err);
/* Sync, rename into place and free; on an error nothing remains. */
int outfile_commit(struct outfile *out, struct error *err);
/* Remove what was written and free. NULL is fine. */
void outfile_abort(struct outfile *out);

bool outfile_is_same(const char *a, const char *b);
/* Is it the regular file that is read, by whatever name? input: a path, or "-"
 * for stdin. */
bool outfile_is_input(const char *path, const char *input);

/*
 * For those who read a file and replace it by what they made of it: wait until
 * no other process does so in the directory of `path`. Closing the descriptor
 * ends it. -1: the directory can't be read, and is not locked.
 */
int outfile_lock_directory(const char *path);

/* Unnamed files for what has no room in memory. */

/* In TMPDIR, or /tmp. A file descriptor, or a negative errno. */
int temp_file_open(void);
/* Keep why one could not be written; returns the negative errno. */
int temp_file_fail(int error);
/* All of it, at an offset. 0, or a negative errno; -EIO: the file ends there. */
int temp_file_write(int fd, const void *data, size_t n, uint64_t at);
int temp_file_read(int fd, void *data, size_t n, uint64_t at);
/* Append n bytes to a text, a piece at a time. */
int temp_file_take(int fd, uint64_t at, uint64_t n, struct text *text);
/* Whether an open or write has failed with this negative errno, and where. */
bool temp_file_failed(int code, const char **folder);

#endif
