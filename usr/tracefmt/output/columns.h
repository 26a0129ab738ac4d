/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What --fields chooses: columns of the event, and fields of its data by name
 * (format/field.h). A field that is called like a column is meant with a '.' in
 * front.
 */
#ifndef TRACEFMT_COLUMNS_H
#define TRACEFMT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include "output.h"

enum column {
	COLUMN_EVENT, COLUMN_TIME, COLUMN_TIME_NS, COLUMN_BOOT_NS,
	COLUMN_HOST, COLUMN_TRACE, COLUMN_MAJOR, COLUMN_MINOR, COLUMN_DESC,
	COLUMN_GROUP, COLUMN_TYPES, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
	COLUMN_CPU, COLUMN_LENGTH, COLUMN_FLAGS, COLUMN_CONTEXT,
	COLUMN_FIELDS, COLUMN_NOTES, COLUMN_DATA,
	COLUMN_KINDS,
	COLUMN_FIELD = COLUMN_KINDS,	/* one field of the data */
};

extern const char *const column_words[COLUMN_KINDS];

struct columns_item {
	enum column column;
	const char *name;	/* FIELD; into the option's value */
	size_t length;
	bool met;		/* set by the output: an event has it */
};

struct columns {
	struct columns_item *items;	/* in the order selected */
	size_t count;
};

/* From the values of --fields, with commas; none: no items. 0, -ENOMEM, or
 * -EINVAL with err set. */
int columns_parse(struct columns *columns,
		  const struct output_settings *settings, struct error *err);
/* One of them by name. */
struct columns_item columns_item_of(const char *name, size_t length);
void columns_free(struct columns *columns);
/* The column was selected. */
bool columns_have(const struct columns *columns, enum column column);
/* Its place as a field's; count: it wasn't selected. */
size_t columns_field(const struct columns *columns, const char *name);
/* A field that no event had: 0, or -ENOENT with err set. */
int columns_check(const struct columns *columns, struct error *err);

#endif
