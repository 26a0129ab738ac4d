/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the TFFs are: the directories named are read once; a file is opened
 * when its major is asked for first.
 */
#ifndef LIB_SEARCH_H
#define LIB_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "lib/error.h"
#include "tff.h"

struct search_file {
	char *path;
	dev_t device;
	ino_t inode;
	unsigned int major;
	bool tried;
	struct tff *tff;	/* NULL after a try: see error */
	struct error error;
};

struct search {
	struct search_file **files;	/* in the order of the search */
	size_t count;
	size_t bundled;		/* the last ones, which came with a trace */
	bool exhausted;		/* memory was: something isn't there for it */
	char *directories;	/* that were read: "/usr/tff, ."; NULL: none */
};

/*
 * Add a directory's files TRC00xx.TFF, in either case, after those that are
 * there; or a file itself. 0, or a negative errno with err set.
 */
int search_add(struct search *search, const char *path, struct error *err);
/* Directories that need not be there: those of TRACEFMT_PATH; that of a TDF; the
 * current one and the system's. Without memory `exhausted` is set. */
void search_add_environment(struct search *search);
void search_add_place(struct search *search, const char *tdf);
void search_add_system(struct search *search);
/* One that came with a trace, after all others. 0 or -ENOMEM. */
int search_add_bundled(struct search *search, const char *name,
		       const void *data, size_t size);
/* The next file of this major from *at on (0 at first), opened if it can be;
 * NULL: no more. */
struct search_file *search_next(struct search *search, unsigned int major,
				size_t *at);
void search_free(struct search *search);

#endif
