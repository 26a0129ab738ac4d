// SPDX-License-Identifier: GPL-2.0
#include "json_point.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/read/read.h"

#define HEAD_ROOM	256	/* of the head without its strings */

/* ---- the head ---- */

struct head {
	struct text text;
	const struct columns *columns;
};

/* ,"word": when the column is wanted */
static char *key_put(enum column column, char *p)
{
	*p++ = ',';
	p = json_put_string(p, column_words[column],
			    strlen(column_words[column]));
	*p++ = ':';
	return p;
}

static bool wanted(const struct head *head, enum column column)
{
	return !head->columns->count || columns_have(head->columns, column);
}

static int number_add(struct head *head, enum column column, uint64_t value)
{
	char *p;

	if (!wanted(head, column))
		return 0;
	if (text_reserve(&head->text, HEAD_ROOM))
		return -ENOMEM;
	p = key_put(column, head->text.data + head->text.used);
	p = text_put_decimal(p, value);
	head->text.used = p - head->text.data;
	return 0;
}

static int string_add(struct head *head, enum column column, const char *value)
{
	size_t length = strlen(value);
	char *p;

	if (!wanted(head, column))
		return 0;
	if (text_reserve(&head->text, HEAD_ROOM + JSON_STRING_ROOM(length)))
		return -ENOMEM;
	p = key_put(column, head->text.data + head->text.used);
	p = json_put_string(p, value, length);
	head->text.used = p - head->text.data;
	return 0;
}

/* Without a name its number, as a string. */
static int group_add(struct head *head, const struct match_point *point)
{
	const char *name = match_point_group(point);
	char number[24];

	if (!point->entry->group)
		return 0;
	if (*name)
		return string_add(head, COLUMN_GROUP, name);
	*text_put_decimal(number, point->entry->group) = '\0';
	return string_add(head, COLUMN_GROUP, number);
}

static int type_add(struct head *head, const char *name, unsigned int bit,
		    bool first)
{
	char hex[8] = "0x";
	size_t length;
	char *p;

	*text_put_hex(hex + 2, 1u << bit, 4) = '\0';
	name = *name ? name : hex;
	length = strlen(name);
	if (text_reserve(&head->text, JSON_STRING_ROOM(length) + 2))
		return -ENOMEM;
	p = head->text.data + head->text.used;
	if (!first)
		*p++ = ',';
	p = json_put_string(p, name, length);
	head->text.used = p - head->text.data;
	return 0;
}

static int types_add(struct head *head, const struct match_point *point)
{
	bool first = true;
	char *p;

	if (!wanted(head, COLUMN_TYPES) || !point->entry->type)
		return 0;
	if (text_reserve(&head->text, HEAD_ROOM))
		return -ENOMEM;
	p = key_put(COLUMN_TYPES, head->text.data + head->text.used);
	*p++ = '[';
	head->text.used = p - head->text.data;
	for (unsigned int bit = 0; bit < 16; bit++) {
		if (!(point->entry->type & 1u << bit))
			continue;
		if (type_add(head, match_point_type(point, bit), bit, first))
			return -ENOMEM;
		first = false;
	}
	if (text_reserve(&head->text, 1))
		return -ENOMEM;
	head->text.data[head->text.used++] = ']';
	return 0;
}

/* The title is "<no TFF entry: ...>" and a line end. */
static int unformatted_add(struct head *head, const struct match_point *point)
{
	size_t length = point->title_length;
	char *p;

	if (head->columns->count || length < 3)
		return 0;
	if (text_reserve(&head->text, HEAD_ROOM + JSON_STRING_ROOM(length)))
		return -ENOMEM;
	p = TEXT_PUT(head->text.data + head->text.used,
		     ",\"unformatted\":");
	p = json_put_string(p, point->title + 1, length - 3);
	head->text.used = p - head->text.data;
	return 0;
}

static int head_make(struct json_point *made, const struct event *event,
		     const struct columns *columns)
{
	const struct match_point *point = event->point;
	struct head head = { .columns = columns };
	int code = text_open(&head.text, -1);

	if (!code)
		code = number_add(&head, COLUMN_MAJOR, event->record->major);
	if (!code)
		code = number_add(&head, COLUMN_MINOR, event->record->minor);
	if (!code && point->formatted)
		code = string_add(&head, COLUMN_DESC,
				  tff_string(point->tff, point->entry->desc));
	if (!code && point->formatted)
		code = group_add(&head, point);
	if (!code && point->formatted)
		code = types_add(&head, point);
	if (!code && !point->formatted)
		code = unformatted_add(&head, point);
	if (!code)
		made->head = calloc(head.text.used + TEXT_SLACK, 1);
	if (made->head) {
		memcpy(made->head, head.text.data, head.text.used);
		made->head_length = head.text.used;
	}
	free(head.text.data);
	return made->head ? 0 : -ENOMEM;
}

/* ---- the fields ---- */

static int key_make(struct json_key *key, const char *name)
{
	size_t length = strlen(name);
	char *p = malloc(JSON_STRING_ROOM(length) + 1);

	if (!p)
		return -ENOMEM;
	key->text = p;
	p = json_put_string(p, name, length);
	*p++ = ':';
	key->length = p - key->text;
	return 0;
}

static bool field_wanted(struct columns *columns, const char *name)
{
	size_t at = columns_field(columns, name);

	if (at < columns->count)
		columns->items[at].met = true;
	return !columns->count || at < columns->count ||
	       columns_have(columns, COLUMN_FIELDS);
}

static int keys_make(struct json_point *made, struct columns *columns)
{
	const struct field_set *set = &made->point->fields;

	made->keys = calloc(set->count + 1, sizeof(*made->keys));
	if (!made->keys)
		return -ENOMEM;
	for (size_t i = 0; i < set->count; i++) {
		struct json_key *key = &made->keys[i];

		if (key_make(key, set->fields[i].name))
			return -ENOMEM;
		key->wanted = field_wanted(columns, set->fields[i].name);
		made->some |= key->wanted;
	}
	return 0;
}

static int plain_make(struct json_point *made)
{
	size_t n = made->point->fields.count;
	bool *wanted = calloc(n + 1, sizeof(*wanted));
	int code;

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		wanted[i] = made->keys[i].wanted;
	code = json_plain_make(&made->plain, made->point, wanted);
	free(wanted);
	return code;
}

/* ---- the table ---- */

static void point_free(struct json_point *made)
{
	for (size_t i = 0; made->keys && i < made->point->fields.count; i++)
		free(made->keys[i].text);
	free(made->keys);
	free(made->plain);
	free(made->head);
	free(made);
}

static struct json_point *point_make(struct json_points *points,
				     const struct event *event)
{
	struct json_point *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->point = event->point;
	if (head_make(made, event, points->columns) ||
	    keys_make(made, points->columns) || plain_make(made) ||
	    key_map_add(&points->made, key_map_key(made->point), made)) {
		point_free(made);
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
		found = point_make(points, event);
	pthread_mutex_unlock(&points->lock);
	return found;
}

void json_points_close(struct json_points *points)
{
	struct json_point *made;
	size_t at = 0;

	while ((made = key_map_next(&points->made, &at)))
		point_free(made);
	key_map_free(&points->made);
	pthread_mutex_destroy(&points->lock);
}
