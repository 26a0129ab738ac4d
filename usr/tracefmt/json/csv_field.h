/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of an event in a table; errors are kept in the row's text. */
#ifndef TRACEFMT_CSV_FIELD_H
#define TRACEFMT_CSV_FIELD_H

#include "tracefmt/output/columns.h"

/* The event whose row is being made. */
struct csv_row {
	const struct output *output;
	const struct event *event;
	struct scratch *scratch;	/* with its pieces */
	struct text *text;
	struct value_budget budget;
};

/* The field of this name in a cell of its own. */
void csv_field_named(struct csv_row *row, struct columns_item *item);
/* name=value of all fields, or name=<why it isn't there>. */
void csv_field_all(struct csv_row *row);
/* name=why of those that have a note. */
void csv_field_notes(struct csv_row *row);

#endif
