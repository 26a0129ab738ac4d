/* SPDX-License-Identifier: GPL-2.0 */
/* Unnamed files for what has no room in memory. */
#ifndef LIB_TEMP_FILE_H
#define LIB_TEMP_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/text.h"

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
