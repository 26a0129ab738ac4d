/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of what was added up in the kernel, for people and for programs. */
#ifndef LIB_AGGREGATE_PRINT_H
#define LIB_AGGREGATE_PRINT_H

#include "lib/aggregate.h"
#include "lib/json.h"
#include "lib/text.h"

/*
 * "hist(len) by op, key": what it is, and its rows, `most` at most (0: all), of a
 * HIST with a line for each power of two that has values.
 */
/* "  minor  name: " and the title, with a line end */
void aggregate_name_add(struct text *text, const struct aggregate_table *table);
void aggregate_title_add(struct text *text, const struct aggregate_table *table);
void aggregate_table_add(struct text *text, const struct aggregate_table *table,
			 size_t most);
/* The value of a BY, as text without quotes */
void aggregate_by_add(struct text *text, const struct ras_legend *legend,
		      unsigned int by, const uint8_t *values);

/* Members of an object: minor, name, kind, expression, by, rows */
void aggregate_table_json(struct json *json,
			  const struct aggregate_table *table);

#endif
