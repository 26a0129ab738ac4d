/* SPDX-License-Identifier: GPL-2.0 */
/* One thing of an event as text for people: for templates (prefix.h) and for
 * --fields of the text output. */
#ifndef TRACEFMT_CELL_H
#define TRACEFMT_CELL_H

#include "columns.h"
#include "output.h"

enum cell_kind {
	CELL_COLUMN,		/* what is a column, too, and fields */
	CELL_DATE,		/* 2026-02-03 */
	CELL_SECONDS,		/* since 1970, with nine digits of a fraction */
	CELL_BOOT,		/* seconds of the boot clock */
	CELL_SINCE_FIRST,	/* seconds since the first event printed */
	CELL_SINCE_LAST,	/* seconds since the event printed before */
};

struct cell {
	enum cell_kind kind;
	struct columns_item item;	/* COLUMN; `met` is set for fields */
	bool hex;		/* MAJOR, MINOR, PID, TID */
	bool quoted;		/* strings are in quotes */
};

struct cell_source {
	const struct output *output;
	const struct event *event;
	struct scratch *scratch;	/* output_decode() was called */
};

/* Append it, fit for a terminal and without line ends; nothing where the event
 * doesn't have it. See text->error. */
void cell_put(struct cell *cell, const struct cell_source *source,
	      struct text *text);

#endif
