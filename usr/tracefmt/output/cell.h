/* SPDX-License-Identifier: GPL-2.0 */
/* What there is of an event: columns and fields, and each as text for people. */
#ifndef TRACEFMT_CELL_H
#define TRACEFMT_CELL_H

#include "output.h"

/*
 * What --fields chooses: columns of the event, and fields of its data by name
 * (format/field.h). A field that is called like a column is meant with a '.' in
 * front.
 */
enum column {
	COLUMN_SCHEMA, COLUMN_EVENT, COLUMN_TIME, COLUMN_TIME_NS,
	COLUMN_BOOT_NS, COLUMN_HOST, COLUMN_TRACE, COLUMN_MAJOR, COLUMN_MINOR,
	COLUMN_DESC, COLUMN_GROUP, COLUMN_TYPES, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
	COLUMN_CPU, COLUMN_LENGTH, COLUMN_FLAGS, COLUMN_CONTEXT,
	COLUMN_FIELDS, COLUMN_NOTES, COLUMN_DATA,
	COLUMN_KINDS,
	COLUMN_FIELD = COLUMN_KINDS,	/* one field of the data */
	COLUMN_NONE,			/* none of them */
	/* of calls: */
	COLUMN_FUNCTION = COLUMN_NONE + 1, COLUMN_LATENCY, COLUMN_SELF,
	COLUMN_RESULT, COLUMN_PARENT, COLUMN_DEPTH, COLUMN_DOUBT,
	COLUMN_ENTRY, COLUMN_EXIT,	/* all fields, or one by name */
	COLUMN_CALL_END,
};

/*
 * Of what tracefmt(1) promises: names, types and order of the columns of
 * JSON and CSV. A version may add columns at the end; what changes one of them
 * needs the next version.
 */
#define SCHEMA_VERSION	1

extern const char *const column_words[COLUMN_CALL_END];

struct columns_item {
	enum column column;
	const char *name;	/* into the option's value */
	size_t length;
	size_t from;		/* ENTRY, EXIT: in the name, the field's; the
				 * length: all of them are wanted */
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
/* One of them by name; calls: of calls, too. */
struct columns_item columns_item_of(const char *name, size_t length,
				    bool calls);
/* The name makes calls of what is given out: latency, entry.fd. */
bool column_is_of_calls(enum column column);
void columns_free(struct columns *columns);
/* The column was selected. */
bool columns_have(const struct columns *columns, enum column column);
/* Its place as a field's; count: it wasn't selected. */
size_t columns_field(const struct columns *columns, const char *name);
/* What the event has in a column, of those that have a number or a string. */
struct column_value {
	enum { COLUMN_NOTHING, COLUMN_NUMBER, COLUMN_STRING } kind;
	uint64_t number;
	const char *string;	/* as it is in the trace */
	size_t length;
};

struct column_value column_value(const struct event *event,
				 enum column column);
/* Append the flags of an event that was decoded. */
void column_flags_add(const struct event *event, const struct scratch *scratch,
		      const char *separator, struct text *text);
/* The field of the data that it names; false: it names none. */
bool columns_item_field(const struct columns_item *item, const char **name,
			size_t *length);
/* A field that no event had: 0, or -ENOENT with err set. */
int columns_item_check(const struct columns_item *item, struct error *err);
int columns_check(const struct columns *columns, struct error *err);

/* The values of an event on one line, as its FMT prints them: "n = 0005, name =
 * "x", next = <not readable: 0000000000001234>"; a value without a label is
 * alone. Append all but `without` (NULL: all); scratch: output_decode() was called. See
 * text->error. */
void arguments_put(const struct output *output, const struct event *event,
		   const struct scratch *scratch, const struct field *without,
		   struct text *text);
/* What a POST's event has of the return value: the first of its fields whose
 * label begins with "ret", or is "rc" or "result", else the first one; NULL: it
 * has none. */
const struct field *arguments_return_field(const struct match_point *post);
/* Append it, without its label; at a tail call "<tail call>". Nothing when the
 * point has none. See text->error. */
void arguments_return_put(const struct output *output,
			  const struct event *event,
			  const struct scratch *scratch, struct text *text);

enum cell_kind {
	CELL_COLUMN,		/* what is a column, too, and fields */
	CELL_DATE,		/* 2026-02-03 */
	CELL_SECONDS,		/* since 1970, with nine digits of a fraction */
	CELL_BOOT,		/* seconds of the boot clock */
	CELL_SINCE_FIRST,	/* seconds since the first event printed */
	CELL_SINCE_LAST,	/* seconds since the event printed before */
};

/* One thing of an event as text: for templates (prefix.h) and for --fields of
 * the text output. */
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
