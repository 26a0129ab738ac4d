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

struct names {
	struct name *items;
	size_t count;
};

/* Add a name, or a list with commas. 0, or a negative errno with err set. */
int names_add(struct names *names, const char *name, struct error *err);
int names_add_list(struct names *names, const char *list, struct error *err);
void names_free(struct names *names);

/*
 * Is one of the names (any, when there are none) that of the point's group, of
 * one of its types, of the event's thread or process? Groups and types as
 * written or in the other case, or their numbers; the third ones with * (any
 * characters) and ? (one).
 */
bool names_have_group(struct names *names, const struct match_point *point);
bool names_have_type(struct names *names, const struct match_point *point);
bool names_have_comm(const struct names *names, const struct event *event);
/* Is the i-th a group's or type's name that no section had? */
bool names_unknown(const struct names *names, size_t i);

#endif
