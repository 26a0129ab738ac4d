/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields of a record as JSON: numbers as numbers, strings as strings, truth
 * values as true and false (one that is neither 0 nor 1 as a number), times as
 * "2026-02-03T18:07:32Z", durations as ns, pointers as "0x7FFD1000", bytes as
 * hex, addresses and the frames of stacks as {"address":"0x401136",
 * "symbol":"work","offset":20,"file":"app.c","line":33,"module":"app",
 * "module_offset":4406} without what isn't known, flags as {"value":3,"names":
 * ["READ","WRITE"]}, what follows %R as an array. A value that isn't there is
 * null.
 *
 * Of C types structures are objects (members of anonymous ones among those of
 * what is around them), arrays are arrays, those of characters strings up to a
 * zero, enumerations {"value":1,"name":"RED"} with null where no enumerator has
 * the value. What data ends before is left out. One of several alternatives is
 * {"Circle":2}, or "Empty" without a value; an optional value is itself, or null
 * like a null pointer.
 */
#ifndef TRACEFMT_JSON_FIELD_H
#define TRACEFMT_JSON_FIELD_H

#include "lib/read/read.h"
#include "tracefmt/output/output.h"

/* Bytes that are written beyond the budget at most. */
#define JSON_VALUE_SLACK	1024

/*
 * The value at data, of whose bytes `have` are there, at p; returns the end.
 * The budget's text becomes 0 when not all of it has room: what is written is
 * valid all the same. *invalid is of its strings; *incomplete: parts of it are
 * cut, or null because they could not be read.
 */
char *json_put_value(const struct value_types *types, uint32_t ctype,
		     const uint8_t *data, size_t have, char *p,
		     struct value_budget *budget, enum json_bytes *invalid,
		     bool *incomplete);

struct json_field {
	const struct decode_format *format;
	const struct field *field;
	/* its piece, and those that repeat it up to `end` */
	const struct decode_piece *piece, *end;
	struct stack_owner owner;
	struct value_budget *budget;	/* of the record */
	/* of the walk */
	const struct field_set *fields;
	const struct decode_piece *stop;
};

/* Before the first field of an event whose pieces are in scratch. */
struct json_field json_field_begin(const struct output *output,
				   const struct event *event,
				   const struct scratch *scratch,
				   struct value_budget *budget);
/* The next one in the order of the format; false: no more. */
bool json_field_next(struct json_field *of);

/* These append; an error is kept in text. */

/* The value; *note becomes the first note there is of it. */
void json_add_field(const struct json_field *of, struct text *text,
		    uint8_t *note);
/* What the note means: {"why":"short","bytes":2,"of":4,"data":"0102"},
 * {"why":"not_readable","pointer":"0x1234"} */
void json_add_note(const struct json_field *of, uint8_t note,
		   struct text *text);
/* An address, named as far as it is known; caller: it is a return address */
void json_add_address(struct stack_owner owner, uint64_t address, bool caller,
		      struct text *text);
/* A record's context: {"comm":"app","uid":0,"gid":0,"cgroup":4711,"cpu":3,
 * "ppid":33,"stack":{"frames":[...],"end":"outermost"}} of what there is. Its
 * mask isn't 0, and it fits. */
void json_add_context(const struct context *context, struct stack_owner owner,
		      struct text *text);

#endif
