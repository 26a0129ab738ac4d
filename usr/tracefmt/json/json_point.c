// SPDX-License-Identifier: GPL-2.0
#include "json_point.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/read/read.h"

/* ---- the head ---- */

/* ,"word": when the column is wanted */
static bool head_key_add(const struct columns *columns, enum column column,
			 struct text *text)
{
	if (columns->count && !columns_have(columns, column))
		return false;
	TEXT_ADD(text, ",\"");
	text_add_string(text, column_words[column]);
	TEXT_ADD(text, "\":");
	return true;
}

/* Without a name a group is its number, as a string, and a type its bit in
 * hex. */
static void formatted_add(const struct match_point *point,
			  const struct columns *columns, struct text *text)
{
	const char *desc = tff_string(point->tff, point->entry->desc);
	const char *group = match_point_group(point), *separator = "";

	if (head_key_add(columns, COLUMN_DESC, text))
		json_add_string(text, desc, strlen(desc));
	if (point->entry->group && head_key_add(columns, COLUMN_GROUP, text)) {
		if (*group)
			json_add_string(text, group, strlen(group));
		else
			text_print(text, "\"%u\"", point->entry->group);
	}
	if (!point->entry->type || !head_key_add(columns, COLUMN_TYPES, text))
		return;
	TEXT_ADD(text, "[");
	for (unsigned int bit = 0; bit < 16; bit++) {
		const char *name = match_point_type(point, bit);

		if (!(point->entry->type & 1u << bit))
			continue;
		text_add_string(text, separator);
		separator = ",";
		if (*name)
			json_add_string(text, name, strlen(name));
		else
			text_print(text, "\"0x%04X\"", 1u << bit);
	}
	TEXT_ADD(text, "]");
}

static int json_head_make(struct json_point *made, const struct event *event,
			  const struct columns *columns)
{
	const struct match_point *point = event->point;
	struct text text;

	if (text_open(&text, -1))
		return -ENOMEM;
	if (head_key_add(columns, COLUMN_MAJOR, &text))
		text_add_number(&text, event->record->major);
	if (head_key_add(columns, COLUMN_MINOR, &text))
		text_add_number(&text, event->record->minor);
	if (point->formatted) {
		formatted_add(point, columns, &text);
	} else if (!columns->count && point->title_length >= 3) {
		/* the title is "<no TFF entry: ...>" and a line end */
		TEXT_ADD(&text, ",\"unformatted\":");
		json_add_string(&text, point->title + 1,
				point->title_length - 3);
	}
	made->head_length = text.used;
	text_add_blanks(&text, TEXT_SLACK);
	made->head = text.data;
	return -text.error;
}

/* ---- the fields ---- */

static int keys_make(struct json_point *made, struct columns *columns)
{
	const struct field_set *set = &made->point->fields;

	made->keys = calloc(set->count + 1, sizeof(*made->keys));
	if (!made->keys)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		struct json_key *key = &made->keys[i];
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
		made->some |= key->wanted;
	}
	return 0;
}

/* ---- the table ---- */

static void json_point_free(struct json_point *made)
{
	for (size_t i = 0; made->keys && i < made->point->fields.count; i++)
		free(made->keys[i].text);
	free(made->keys);
	free(made->plain);
	free(made->head);
	free(made);
}

static struct json_point *json_point_make(struct json_points *points,
					  const struct event *event)
{
	struct json_point *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->point = event->point;
	if (json_head_make(made, event, points->columns) ||
	    keys_make(made, points->columns) ||
	    json_plain_make(&made->plain, made->point, made->keys) ||
	    key_map_add(&points->made, key_map_key(made->point), made)) {
		json_point_free(made);
		return NULL;
	}
	return made;
}

int json_points_open(struct json_points *points, struct columns *columns)
{
	*points = (struct json_points){ .columns = columns };
	return -pthread_mutex_init(&points->lock, NULL);
}

const struct json_point *json_points_get(struct json_points *points,
					 const struct event *event)
{
	struct json_point *found;

	pthread_mutex_lock(&points->lock);
	found = key_map_find(&points->made, key_map_key(event->point));
	if (!found)
		found = json_point_make(points, event);
	pthread_mutex_unlock(&points->lock);
	return found;
}

void json_points_close(struct json_points *points)
{
	struct json_point *made;
	size_t at = 0;

	while ((made = key_map_next(&points->made, &at)))
		json_point_free(made);
	key_map_free(&points->made);
	pthread_mutex_destroy(&points->lock);
}
