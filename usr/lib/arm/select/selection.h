/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tracepoints of a TDF are meant: "app", "app(0x1,5-9)", "app(QUE)",
 * "app(QUE,PRE,POST)". Minors are added to each other and to what names select.
 * Groups bind stronger than types: with both, a tracepoint must be of one of
 * the groups and of one of the types.
 */
#ifndef TRACE_SELECTION_H
#define TRACE_SELECTION_H

#include <stdint.h>
#include "lib/formats/tdf.h"

enum selection_kind {
	SELECTION_ANY,		/* a minor, or the name of a group or type */
	SELECTION_MINOR,
	SELECTION_GROUP,
	SELECTION_TYPE,
};

struct selection_item {
	enum selection_kind kind;
	uint32_t first, last;	/* SELECTION_MINOR */
	char *name;		/* the others */
};

struct selection {
	struct selection_item *items;	/* none: all tracepoints */
	size_t count;
};

/* What there is to choose from. */
struct selection_point {
	uint16_t minor, type, group;
};

bool selection_is_file(const char *path);

/*
 * An operand: *target, to be freed, is what precedes the parentheses, and
 * what is in them is added to the selection. An existing file is taken as it
 * is. 0, or a negative errno with err set and nothing to free.
 */
int selection_parse(struct selection *selection, const char *operand,
		    char **target, struct error *err);
/* Add a list "1,5-9" or "QUE,MEM"; 0, or a negative errno with err set. */
int selection_add(struct selection *selection, enum selection_kind kind,
		  const char *list, struct error *err);
/* Add what another one has. */
int selection_append(struct selection *selection,
		     const struct selection *more, struct error *err);
void selection_free(struct selection *selection);

/*
 * Set picked[i] for the points that are meant; the others stay. tdf: for the
 * names of groups and types, or NULL when it can't be had. 0, or a negative
 * errno with err set and nothing picked: a part that selects nothing is named.
 */
int selection_pick(const struct selection *selection, const struct tdf *tdf,
		   const struct selection_point *points, size_t count,
		   bool *picked, struct error *err);

/* The same of a TDF's own tracepoints. */
int selection_pick_tdf(const struct selection *selection,
		       const struct tdf *tdf, bool *picked, struct error *err);

#endif
