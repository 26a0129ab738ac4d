// SPDX-License-Identifier: GPL-2.0
#include "shape_part.h"

#include <string.h>
#include <rastrace/buffer.h>
#include "lib/number.h"
#include "lib/text.h"

struct shape_part shape_part_take(const uint8_t **at, const uint8_t *end)
{
	struct shape_part part = { 0 };
	struct ras_item item;
	size_t left = *at ? (size_t)(end - *at) : 0, bytes;

	if (left < RAS_ITEM_PREFIX)
		return part;
	memcpy(&item, *at, sizeof(item));
	if (item.length > left - RAS_ITEM_PREFIX)
		return part;
	part.data = *at + RAS_ITEM_PREFIX;
	part.length = item.length;
	part.status = item.status;
	part.found = true;
	bytes = part.length < 8 ? part.length : 8;
	memcpy(&part.pointer, part.data, bytes);
	*at = part.data + part.length;
	return part;
}

const uint8_t *shape_part_skip(const uint8_t *at, const uint8_t *end,
			 unsigned int count)
{
	while (count-- && shape_part_take(&at, end).found)
		;
	return at;
}

bool shape_part_is_value(const struct shape_part *part)
{
	return part->found &&
	       (part->length || !(part->status & RAS_ITEM_CUT)) &&
	       (RAS_ITEM_KIND(part->status) == RAS_ITEM_VALUE ||
		RAS_ITEM_KIND(part->status) == RAS_ITEM_STRING);
}

bool shape_part_number(const struct shape_part *part, uint64_t *number)
{
	if (!shape_part_is_value(part) || part->length < 8)
		return false;
	*number = number_load(part->data, 8);
	return true;
}

bool shape_part_flag(const struct shape_part *part, bool *flag)
{
	*flag = false;
	if (!shape_part_is_value(part) || !part->length)
		return false;
	*flag = *part->data;
	return true;
}

bool shape_part_is_cut(const struct shape_part *part)
{
	return !part->found || part->status & RAS_ITEM_CUT;
}

bool shape_part_is_lost(const struct shape_part *part)
{
	return RAS_ITEM_KIND(part->status) == RAS_ITEM_ARITHMETIC &&
	       part->pointer;
}

char *shape_part_put_note(char *p, const struct shape_part *part)
{
	static const struct {
		uint8_t kind;
		const char *text;
	} faults[] = {
		{ RAS_ITEM_FAULT, "<not readable: " },
		{ RAS_ITEM_SELECTOR, "<bad selector: " },
		{ RAS_ITEM_LEFT, "<left alone: " },
		{ RAS_ITEM_NOT_TRIED, "<not tried: " },
		{ RAS_ITEM_ARITHMETIC, "<caller unknown: " },
	};
	uint8_t kind = RAS_ITEM_KIND(part->status);

	if (!part->found)
		return TEXT_PUT(p, "<not traced>");
	if (kind == RAS_ITEM_ABSENT && part->status & RAS_ITEM_MODULE)
		return TEXT_PUT(p, "<not available: needs rastrace.ko on 6.12 "
				   "or later>");
	if (kind == RAS_ITEM_ABSENT)
		return TEXT_PUT(p, "<not available here>");
	if (kind == RAS_ITEM_ARITHMETIC && !part->pointer)
		return TEXT_PUT(p, "<division by zero>");
	if (kind == RAS_ITEM_UNKNOWN)
		return TEXT_PUT(p, "<not known>");
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		if (faults[i].kind != kind)
			continue;
		p = text_put(p, faults[i].text, strlen(faults[i].text));
		p = text_put_hex(p, part->pointer, 16);
		return TEXT_PUT(p, ">");
	}
	return TEXT_PUT(p, "<cut>");
}
