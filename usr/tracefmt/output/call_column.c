// SPDX-License-Identifier: GPL-2.0
#include "call_column.h"

#include <string.h>

const struct event *call_column_event(const struct pair_call *call,
				      const struct columns_item *item)
{
	switch (item->column) {
	case COLUMN_RESULT:
	case COLUMN_EXIT:
		return &call->exit;
	case COLUMN_ENTRY:
		return &call->entry;
	case COLUMN_FIELD:
		/* one that both have is the entry's */
		if (call->exit.point && (!call->entry.point ||
		    !field_find(&call->entry.point->fields, item->name,
				item->length)))
			return &call->exit;
		return &call->entry;
	default:
		return item->column < COLUMN_KINDS ? pair_call_event(call) :
						     NULL;
	}
}

struct columns_item call_column_item(const struct columns_item *item)
{
	struct columns_item of = { .column = item->column };

	if (columns_item_field(item, &of.name, &of.length))
		of.column = COLUMN_FIELD;
	else if (item->column >= COLUMN_ENTRY)
		of.column = COLUMN_FIELDS;
	return of;
}

struct column_value call_column_value(const struct pair_call *call,
				      enum column column)
{
	const char *word = column == COLUMN_FUNCTION ? call->name :
			   column == COLUMN_DOUBT ?
			   pair_doubt_words[call->doubt] : NULL;
	struct column_value value = { .kind = COLUMN_NUMBER };

	switch (column) {
	case COLUMN_LATENCY:
		value.number = call->latency;
		if (call->doubt == PAIR_SURE)
			return value;
		break;
	case COLUMN_SELF:
		value.number = call->self;
		if (!call->self_doubt)
			return value;
		break;
	case COLUMN_PARENT:
		value.number = call->parent;
		if (call->parent)
			return value;
		break;
	case COLUMN_DEPTH:
		value.number = call->depth;
		return value;
	default:
		break;
	}
	return (struct column_value){
		.kind = word ? COLUMN_STRING : COLUMN_NOTHING, .string = word,
		.length = word ? strlen(word) : 0,
	};
}
