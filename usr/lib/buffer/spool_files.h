/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The files that the spooler writes: NAME, the newest, then NAME.1, NAME.2
 * and so on. Chunks are in them whole or not at all, also when the disk is
 * full.
 */
#ifndef LIB_SPOOL_FILES_H
#define LIB_SPOOL_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

struct spool_files {
	const char *name;	/* NULL: one file without end, to fd */
	uint64_t most;		/* bytes of each; 0: no limit */
	unsigned int files;	/* that are kept */
	int fd;			/* at first -1, or without a name where to; -1
				 * then is standard output */
	bool regular;		/* else a pipe or a device */
	bool pipe;
	/* Has the program been asked to end? Then a pipe isn't waited for any
	 * longer: for a reader of it at once, for one that doesn't read in two
	 * seconds. NULL: it is waited for until a signal ends the program. */
	bool (*stopped)(void);
	uint64_t size;		/* of the file, whole chunks */
	uint64_t last;		/* where the last of them begins */
	uint64_t total;		/* bytes written to all */
	unsigned int begun;	/* files begun so far */
	int cause;		/* errno of the write that failed; 0 */
};

/* Begin the first file; one that is there moves on in the cycle, or is
 * replaced when there is no cycle. 0, or a negative errno with err set. */
int spool_files_open(struct spool_files *files, struct error *err);
/* Away with the one that is open, unless it is a device or a pipe. */
void spool_files_remove(const struct spool_files *files);
/* Close this file and begin the next. */
int spool_files_rotate(struct spool_files *files, struct error *err);
/* All is on the disk. 0, or a negative errno with err set. */
int spool_files_close(struct spool_files *files, struct error *err);

/* Cut a file to so many bytes; not a pipe. */
void spool_files_cut(struct spool_files *files, uint64_t size);

/* What remains of the files after a failed write, for a message. */
const char *spool_files_kept(const struct spool_files *files);

/* Write a chunk (struct chunk_out); context is the files. */
int spool_files_take(void *context, const void *chunk, size_t size);

#endif
