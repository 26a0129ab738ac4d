/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Spooling: the records of the live buffer go to files, or into a pipe, as they
 * come, in passes over all slices, as often as it takes. Who traces is never
 * waited for and never waits; what is overwritten before it was read is
 * counted.
 */
#ifndef LIB_SPOOLER_H
#define LIB_SPOOLER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "lib/formats/chunk.h"
#include "picture.h"

/*
 * The files that the spooler writes: NAME, the newest, then NAME.1, NAME.2
 * and so on. Chunks are in them whole or not at all, also when the disk is
 * full.
 */

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

/* Away with the one that is open, unless it is a device or a pipe. */
void spool_files_remove(const struct spool_files *files);

/* What remains of the files after a failed write, for a message. */
const char *spool_files_kept(const struct spool_files *files);

struct spooler_row {		/* a slice */
	bool begun;
	uint64_t position;	/* after the last record that was written */
	uint64_t before;	/* records in front of the first one */
	uint64_t copied;
	uint64_t lost;
	uint64_t dropped;	/* as last written */
};

struct spooler {
	const char *run;
	bool bundle;
	bool own_maps;		/* the caller writes the mappings of the
				 * processes: into `others` */
	bool whole;		/* also what was overwritten before it began is
				 * missing */
	struct spool_files files;
	struct buffer buffer;
	uint64_t buffer_inode;	/* of its pin: another one is another buffer */
	struct chunk_out records, others;	/* into the same files */
	struct spooler_row *rows, *row;	/* row: whose records are written */
	uint8_t *room;			/* for a slice's records */
	size_t piece;			/* bytes of a chunk of records */
	bool too_long;			/* the disk has no room for the last one */
	struct ring ring;		/* what was read last: row's */
	uint64_t last, last_first;	/* where the last chunk of records is in the
					 * file, position of its first record */
	uint64_t last_count;		/* its records */
	bool file_used;			/* records were written to the file */
	uint64_t file_end;		/* bytes that its end takes */
	void *log;			/* the session log as last written */
	size_t log_size;
	struct picture_stacks stacks;
	struct processes known;
	bool stranger;			/* a record is of none of them */
	bool none_came;			/* since they were read before that */
	struct mappings_cache cache;
	unsigned int interval;		/* ms from pass to pass */
	unsigned int interval_most;	/* no longer than that; 0: as is best */
	uint64_t processes_time, counts_time, pass_time;
	uint64_t total, lost;		/* records */
	uint64_t lost_ahead;		/* in front of the row's records, of which
					 * none is written yet */
	bool counts_due;
	struct error err;		/* of a file that couldn't be begun */
};

/* files, bundle, own_maps, whole, interval_most and run are taken from it, the rest is
 * 0; pack: RAS_PACKED_*. 0, or a negative errno with err set. */
int spooler_open(struct spooler *s, int pack, struct error *err);
/* Whatever is new in every slice. 0, or a negative errno with err set. */
int spooler_pass(struct spooler *s, struct error *err);
/* The buffer isn't there any more. */
bool spooler_gone(const struct spooler *s);
/* End the file as well as it can be ended. `code` is that of the pass before.
 * 0, or a negative errno with err set. */
int spooler_finish(struct spooler *s, int code, struct error *err);
void spooler_close(struct spooler *s);

#endif
