/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a file of any format, together with the model: what convert, report
 * and top do with a file.
 */
#ifndef HEAPMON_READING_H
#define HEAPMON_READING_H

#include "format.h"

/* The table, ends with NULL. */
extern const struct heap_format *const heap_formats[];

/* NULL: there is none of that name. */
const struct heap_format *heap_format_find(const char *name);

struct heap_reading {
	const struct heap_format *format;
	struct heap_trace trace;
	struct heap_model model;
	struct heap_profile profile;
	bool sums;		/* a file of sums: there are no steps, only the
				 * profile */
};

/* Called for every step, after the model took the event. */
struct reading_follower {
	int (*step)(void *context, const struct heap_model *model,
		    const struct heap_step *step, struct error *err);
	void *context;
};

/*
 * Read all of `path` ("-": standard input), and, if it is wanted, keep the profile
 * up to date.
 * Warnings about the file are printed to stderr. 0, or a negative errno with
 * err set; reading_free() in any case. -EBADMSG: the file is damaged; what could
 * be read was.
 */
int reading_run(struct heap_reading *reading, const char *path,
		const struct heap_options *options, bool profile,
		const struct reading_follower *follower, struct error *err);
void reading_free(struct heap_reading *reading);

#endif
