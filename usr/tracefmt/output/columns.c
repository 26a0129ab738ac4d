// SPDX-License-Identifier: GPL-2.0
#include "columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const column_words[COLUMN_KINDS] = {
	"event", "time", "time_ns", "boot_ns", "host", "trace", "major",
	"minor", "desc", "group", "types", "pid", "tid", "comm", "cpu",
	"length", "flags", "context", "fields", "notes", "data",
};

static enum column column_find(const char *name, size_t length)
{
	enum column column = 0;

	while (column < COLUMN_KINDS &&
	       (strncmp(column_words[column], name, length) ||
		column_words[column][length]))
		column++;
	return column;
}

struct columns_item columns_item_of(const char *name, size_t length)
{
	bool dotted = *name == '.';

	return (struct columns_item){
		.column = dotted ? COLUMN_FIELD : column_find(name, length),
		.name = name + dotted,
		.length = length - dotted,
	};
}

static int columns_item_add(struct columns *columns, const char *name,
			    size_t length, struct error *err)
{
	struct columns_item *items =
		reallocarray(columns->items, columns->count + 1,
			     sizeof(*items));

	if (!items)
		return error_no_memory(err);
	columns->items = items;
	items[columns->count++] = columns_item_of(name, length);
	return 0;
}

static int columns_list_parse(struct columns *columns, const char *list,
			      struct error *err)
{
	size_t length;
	int code = 0;

	for (const char *p = list; !code; p += length + 1) {
		length = strcspn(p, ",");
		if (!length || (*p == '.' && length == 1))
			return error_set(err, -EINVAL,
					 "--fields '%s': a name is missing",
					 list);
		code = columns_item_add(columns, p, length, err);
		if (!p[length])
			break;
	}
	return code;
}

int columns_parse(struct columns *columns,
		  const struct output_settings *settings, struct error *err)
{
	int code = 0;

	*columns = (struct columns){ 0 };
	for (size_t i = 0; !code && i < settings->field_count; i++)
		code = columns_list_parse(columns, settings->fields[i], err);
	if (code)
		columns_free(columns);
	return code;
}

void columns_free(struct columns *columns)
{
	free(columns->items);
	*columns = (struct columns){ 0 };
}

bool columns_have(const struct columns *columns, enum column column)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].column == column)
			return true;
	return false;
}

size_t columns_field(const struct columns *columns, const char *name)
{
	size_t i = 0;

	for (; i < columns->count; i++) {
		const struct columns_item *item = &columns->items[i];

		if (item->column == COLUMN_FIELD &&
		    !strncmp(item->name, name, item->length) &&
		    !name[item->length])
			break;
	}
	return i;
}

/* It, or what is called like it. */
static bool item_met(const struct columns *columns,
		     const struct columns_item *item)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct columns_item *other = &columns->items[i];

		if (other->column == COLUMN_FIELD && other->met &&
		    other->length == item->length &&
		    !memcmp(other->name, item->name, item->length))
			return true;
	}
	return false;
}

int columns_check(const struct columns *columns, struct error *err)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct columns_item *item = &columns->items[i];

		if (item->column != COLUMN_FIELD ||
		    item_met(columns, item))
			continue;
		error_set(err, -ENOENT, "no event has a field '%.*s'",
			  (int)item->length, item->name);
		error_hint(err, "--format=json shows the names of the fields");
		return -ENOENT;
	}
	return 0;
}
