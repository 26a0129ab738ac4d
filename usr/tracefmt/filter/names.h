/* SPDX-License-Identifier: GPL-2.0 */
/* Groups and types by name or number, and names of processes. */
#ifndef TRACEFMT_NAMES_H
#define TRACEFMT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "lib/read/read.h"

struct name {
	char *text;
	bool met;		/* a section of an event calls a group or type
				 * so */
};

struct name_filter {
	struct name *items;
	size_t count;
};

/* Add a name, or a list with commas. 0, or a negative errno with err set. */
int name_filter_add(struct name_filter *names, const char *name,
		    struct error *err);
int name_filter_add_list(struct name_filter *names, const char *list,
			 struct error *err);
void name_filter_free(struct name_filter *names);

/*
 * Is one of the names (any, when there are none) that of the point's group, of
 * one of its types, of the event's thread or process? Groups and types as
 * written or in the other case, or their numbers; the third ones with * (any
 * characters) and ? (one).
 */
bool name_filter_have_group(struct name_filter *names,
			    const struct match_point *point);
bool name_filter_have_type(struct name_filter *names,
			   const struct match_point *point);
bool name_filter_have_comm(const struct name_filter *names,
			   const struct event *event);
/* Is the i-th a group's or type's name that no section had? */
bool name_filter_unknown(const struct name_filter *names, size_t i);

#endif
