// SPDX-License-Identifier: GPL-2.0
#include "json_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

int json_keys_make(struct json_keys *keys, const struct match_point *point,
		   struct columns *columns)
{
	const struct field_set *set = &point->fields;

	*keys = (struct json_keys){ .count = set->count };
	keys->keys = calloc(set->count + 1, sizeof(*keys->keys));
	if (!keys->keys)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		struct json_key *key = &keys->keys[i];
		const char *name = set->fields[i].name;
		size_t length = strlen(name);
		size_t at = columns_field(columns, name);
		char *p = malloc(JSON_STRING_ROOM(length) + 1);

		if (!p)
			return -ENOMEM;
		key->text = p;
		p = json_put_string(p, name, length);
		*p++ = ':';
		key->length = p - key->text;
		if (at < columns->count)
			columns->items[at].met = true;
		key->wanted = !columns->count || at < columns->count ||
			      columns_have(columns, COLUMN_FIELDS);
		keys->some |= key->wanted;
	}
	return 0;
}

void json_keys_free(struct json_keys *keys)
{
	for (size_t i = 0; keys->keys && i < keys->count; i++)
		free(keys->keys[i].text);
	free(keys->keys);
}

/* ---- values ---- */

/* The wanted fields of an event, one after the other. */
struct json_walk {
	struct json_field of;
	const struct json_keys *keys;
	size_t index;		/* of the field */
};

static struct json_walk json_walk_begin(const struct json_values *values)
{
	return (struct json_walk){
		.of = json_field_begin(values->output, values->event,
				       values->scratch, values->budget),
		.keys = values->keys,
	};
}

static bool json_walk_next(struct json_walk *walk)
{
	while (json_field_next(&walk->of)) {
		walk->index = walk->of.piece->step->field;
		if (walk->keys->keys[walk->index].wanted)
			return true;
	}
	return false;
}

/* "name": after a separator */
static void json_walk_key(const struct json_walk *walk, char separator,
			  struct text *text)
{
	const struct json_key *key = &walk->keys->keys[walk->index];

	text_add_char(text, separator);
	text_add(text, key->text, key->length);
}

void json_values_note(struct json_values *values, size_t field, uint8_t note)
{
	if (field < JSON_FIELDS_MAX)
		values->notes[field] = note;
	values->noted |= note;
}

void json_values_add(struct json_values *values, struct text *text)
{
	struct json_walk walk = json_walk_begin(values);
	char separator = '{';
	uint8_t note;

	for (; json_walk_next(&walk); separator = ',') {
		json_walk_key(&walk, separator, text);
		json_add_field(&walk.of, text, &note);
		json_values_note(values, walk.index, note);
	}
	text_add_string(text, separator == '{' ? "{}" : "}");
}

void json_values_notes_add(struct json_values *values, struct text *text)
{
	struct json_walk walk = json_walk_begin(values);
	char separator = '{';

	while (json_walk_next(&walk)) {
		uint8_t note = walk.index < JSON_FIELDS_MAX ?
			       values->notes[walk.index] : NOTE_NONE;

		if (!note)
			continue;
		json_walk_key(&walk, separator, text);
		json_add_note(&walk.of, note, text);
		separator = ',';
	}
	text_add_string(text, separator == '{' ? "{}" : "}");
}
