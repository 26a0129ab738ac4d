/* SPDX-License-Identifier: GPL-2.0 */
/* The search for the debug file of a file with code: by its build-id, and by the
 * name in its .gnu_debuglink. */
#ifndef DEBUG_SEARCH_H
#define DEBUG_SEARCH_H

#include <stdbool.h>

#define DEBUG_TREE	"/usr/lib/debug"
/* Its two arguments: the build-id in hexadecimal; the same from its third digit
 * on. */
#define DEBUG_BY_ID	"/.build-id/%.2s/%s"

struct debug_search {
	const char *root;	/* directory that DEBUG_TREE is in: "" or PATH */
	const char *hex;	/* build-id; "": none */
	const char *directory;	/* of the file with code; NULL: not known */
	const char *link;	/* name of the debug file; NULL: not known */
	/* True: this is the file, whose descriptor is kept. */
	bool (*take)(void *context, int fd, const char *path);
	void *context;
};

/* A regular file, opened to be read; -1: there is none. */
int debug_search_open(const char *path);
/* Offer the file of this name. True: it was taken. */
__attribute__((format(printf, 2, 3)))
bool debug_search_try(const struct debug_search *search, const char *format,
		      ...);
/* Offer the files at all usual places until one is taken. */
bool debug_search_all(const struct debug_search *search);

#endif
