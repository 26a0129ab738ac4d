/* SPDX-License-Identifier: GPL-2.0 */
/* The fields of an event as a JSON object, {"EIP":49997,"name":null}, and those
 * that have a note as another, {"name":{"why":"not_readable"}}. */
#ifndef TRACEFMT_JSON_VALUES_H
#define TRACEFMT_JSON_VALUES_H

#include "tracefmt/output/cell.h"
#include "json_field.h"

struct json_key {
	char *text;		/* "Status_Rec_next": */
	size_t length;
	bool wanted;
};

/* Of a tracepoint's fields. */
struct json_keys {
	struct json_key *keys;
	size_t count;
	bool some;		/* are wanted */
};

/* Those of columns are wanted, and are met; without columns all are. 0 or
 * -ENOMEM; free them in any case. */
int json_keys_make(struct json_keys *keys, const struct match_point *point,
		   struct columns *columns);
void json_keys_free(struct json_keys *keys);

#define JSON_FIELDS_MAX	2048	/* of a FMT of TFF_FMT_MAX bytes */

/* An event whose pieces are in scratch. */
struct json_values {
	const struct output *output;
	const struct event *event;
	const struct scratch *scratch;
	const struct json_keys *keys;
	struct value_budget *budget;	/* of the event */
	uint8_t *notes;		/* of JSON_FIELDS_MAX fields: the first one of
				 * each, of those that are wanted */
	bool noted;		/* there is one */
};

/* These append; an error is kept in text. */

/* The object of the fields, whose notes are kept. */
void json_values_add(struct json_values *values, struct text *text);
/* A field's note is `note`. */
void json_values_note(struct json_values *values, size_t field, uint8_t note);
/* The object of the notes kept; values->noted. */
void json_values_notes_add(struct json_values *values, struct text *text);

#endif
