// SPDX-License-Identifier: GPL-2.0
#include "html_points.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/array.h"
#include "tracefmt/pair/pairing.h"
#include "html_json.h"

int64_t html_points_number(struct html_points *points,
			   const struct match_point *point)
{
	size_t number;

	if (points->last < points->count &&
	    points->points[points->last] == point)
		return points->last;
	number = key_map_number(&points->numbers, key_map_key(point));
	if (!number) {
		number = points->count + 1;
		if (!array_grow(&points->points, points->count, &points->room,
				sizeof(*points->points)) ||
		    key_map_add(&points->numbers, key_map_key(point),
				(void *)number))
			return -ENOMEM;
		points->points[points->count++] = point;
	}
	points->last = number - 1;
	return points->last;
}

void html_points_free(struct html_points *points)
{
	free(points->points);
	key_map_free(&points->numbers);
}

/* ---- writing ---- */

/* An array of the strings at offset `member` of the fields. */
static void names_add(const struct field_set *set, size_t member,
		      struct text *text)
{
	TEXT_ADD(text, "[");
	for (size_t i = 0; i < set->count; i++) {
		const char *field = (const char *)&set->fields[i];

		if (i)
			TEXT_ADD(text, ",");
		html_add_string(text, *(char *const *)(field + member));
	}
	TEXT_ADD(text, "]");
}

void html_points_add(const struct html_points *points, struct text *text)
{
	const struct match_point *point;
	char name[PAIR_NAME_MAX];
	const char *group;

	TEXT_ADD(text, "[");
	for (size_t i = 0; i < points->count; i++) {
		if (i)
			TEXT_ADD(text, ",\n");
		point = points->points[i];
		TEXT_ADD(text, "{\"major\":");
		html_add_signed(text, pair_major(point));
		TEXT_ADD(text, ",\"minor\":");
		html_add_signed(text, pair_minor(point));
		TEXT_ADD(text, ",\"name\":");
		html_add_string(text, pair_name(point, name));
		TEXT_ADD(text, ",\"desc\":");
		html_add_part(text, point->title, point->title_length - 1);
		if (point->formatted) {
			group = match_point_group(point);
			TEXT_ADD(text, ",\"module\":");
			html_add_string(text, tff_string(point->tff,
							 point->section->path));
			if (*group) {
				TEXT_ADD(text, ",\"group\":");
				html_add_string(text, group);
			}
			TEXT_ADD(text, ",\"fields\":");
			names_add(&point->fields, offsetof(struct field, name),
				  text);
			TEXT_ADD(text, ",\"labels\":");
			names_add(&point->fields, offsetof(struct field, label),
				  text);
		}
		TEXT_ADD(text, "}");
	}
	TEXT_ADD(text, "]");
}
