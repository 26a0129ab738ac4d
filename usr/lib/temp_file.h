/* SPDX-License-Identifier: GPL-2.0 */
/* Unnamed files for what has no room in memory. */
#ifndef LIB_TEMP_FILE_H
#define LIB_TEMP_FILE_H

#include <stdbool.h>

/* In TMPDIR, or /tmp. A file descriptor, or a negative errno. */
int temp_file_open(void);
/* Keeps why one could not be written; returns the negative errno. */
int temp_file_fail(int error);
/* Whether an open or write has failed with this negative errno, and where. */
bool temp_file_failed(int code, const char **folder);

#endif
