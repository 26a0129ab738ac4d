// SPDX-License-Identifier: GPL-2.0
#include "html_points.h"

#include <errno.h>
#include <stdlib.h>
#include "../pair/pairing.h"
#include "html_json.h"

#define TABLE_START	256	/* a power of two */

static uint32_t *table_place(const struct html_points *points,
			     const struct match_point *point)
{
	size_t at = ((uintptr_t)point >> 4) * 0x9e3779b1;

	for (;; at++) {
		uint32_t *place = &points->table[at & (points->size - 1)];

		if (!*place || points->points[*place - 1] == point)
			return place;
	}
}

/* Twice as large; half of it stays free. */
static int points_grow(struct html_points *points)
{
	size_t size = points->size ? 2 * points->size : TABLE_START;
	const struct match_point **list =
		reallocarray(points->points, size / 2, sizeof(*list));
	uint32_t *table = calloc(size, sizeof(*table));

	if (list)
		points->points = list;
	if (!list || !table) {
		free(table);
		return -ENOMEM;
	}
	free(points->table);
	points->table = table;
	points->size = size;
	points->room = size / 2;
	for (size_t i = 0; i < points->count; i++)
		*table_place(points, points->points[i]) = i + 1;
	return 0;
}

int64_t html_points_number(struct html_points *points,
			   const struct match_point *point)
{
	uint32_t *place;

	if (points->last < points->count &&
	    points->points[points->last] == point)
		return points->last;
	if (points->count == points->room && points_grow(points))
		return -ENOMEM;
	place = table_place(points, point);
	if (!*place) {
		points->points[points->count++] = point;
		*place = points->count;
	}
	points->last = *place - 1;
	return points->last;
}

void html_points_free(struct html_points *points)
{
	free(points->points);
	free(points->table);
}

/* ---- writing ---- */

/* An array of the strings that stand at `member` of the fields. */
static void names_add(const struct field_set *set, size_t member,
		      struct text *text)
{
	LINE_ADD(text, "[");
	for (size_t i = 0; i < set->count; i++) {
		const char *field = (const char *)&set->fields[i];

		if (i)
			LINE_ADD(text, ",");
		html_add_string(text, *(char *const *)(field + member));
	}
	LINE_ADD(text, "]");
}

static void formatted_add(const struct match_point *point, struct text *text)
{
	const char *group = match_point_group(point);

	LINE_ADD(text, ",\"module\":");
	html_add_string(text, tff_string(point->tff, point->section->path));
	if (*group) {
		LINE_ADD(text, ",\"group\":");
		html_add_string(text, group);
	}
	LINE_ADD(text, ",\"fields\":");
	names_add(&point->fields, offsetof(struct field, name), text);
	LINE_ADD(text, ",\"labels\":");
	names_add(&point->fields, offsetof(struct field, label), text);
}

static void point_add(const struct match_point *point, struct text *text)
{
	char name[PAIR_NAME_MAX];

	LINE_ADD(text, "{\"major\":");
	html_add_signed(text, pair_major(point));
	LINE_ADD(text, ",\"minor\":");
	html_add_signed(text, pair_minor(point));
	LINE_ADD(text, ",\"name\":");
	html_add_string(text, pair_name(point, name));
	LINE_ADD(text, ",\"desc\":");
	html_add_part(text, point->title, point->title_length - 1);
	if (point->formatted)
		formatted_add(point, text);
	LINE_ADD(text, "}");
}

void html_points_add(const struct html_points *points, struct text *text)
{
	LINE_ADD(text, "[");
	for (size_t i = 0; i < points->count; i++) {
		if (i)
			LINE_ADD(text, ",\n");
		point_add(points->points[i], text);
	}
	LINE_ADD(text, "]");
}
