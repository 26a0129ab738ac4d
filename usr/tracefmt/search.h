/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the TFFs are: the directories named are read once; a file is opened
 * when its major is asked for first.
 */
#ifndef TRACEFMT_SEARCH_H
#define TRACEFMT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "../lib/error.h"
#include "../lib/tff.h"

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
};

/*
 * Add a directory's files TRC00xx.TFF, in either case, behind those that are
 * there; or a file itself. 0, or a negative errno with err set.
 */
int search_add(struct search *search, const char *path, struct error *err);
/* The next file of this major from *at on (0 at first), opened if it can be;
 * NULL: no more. */
struct search_file *search_next(struct search *search, unsigned int major,
				size_t *at);
void search_free(struct search *search);

#endif
