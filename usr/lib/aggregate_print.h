/* SPDX-License-Identifier: GPL-2.0 */
/* Tables of what was added up in the kernel, for people and for programs. */
#ifndef LIB_AGGREGATE_PRINT_H
#define LIB_AGGREGATE_PRINT_H

#include "lib/aggregate.h"
#include "lib/json.h"
#include "lib/text.h"

/*
 * The names of a stack's addresses, for who can find them: an address as lines with
 * a line end each; as an object of JSON; as a part of a folded stack, "outer;inner"
 * where a function was inlined. Of a table without them these are numbers.
 */
struct aggregate_names {
	void (*lines)(void *context, uint32_t pid, uint64_t address,
		      struct text *text);
	void (*json)(void *context, uint32_t pid, uint64_t address,
		     struct text *text);
	void (*folded)(void *context, uint32_t pid, uint64_t address,
		       struct text *text);
	void *context;
};

/*
 * "hist(len) by op, key": what it is, and its rows, `most` at most (0: all), of a
 * HIST with a line for each power of two that has values.
 */
/* "  minor  name: " and the title, with a line end */
void aggregate_name_add(struct text *text, const struct aggregate_table *table);
void aggregate_title_add(struct text *text, const struct aggregate_table *table);
void aggregate_table_add(struct text *text, const struct aggregate_table *table,
			 size_t most);
/* The value of a BY, as text without quotes; a stack is folded */
void aggregate_by_add(struct text *text, const struct aggregate_table *table,
		      unsigned int by, const uint8_t *values);
/* The rows of a table with a stack, for flame graphs: "outermost;...;innermost n", n
 * the sum of a SUM, else the hits; other values of BY come first. */
void aggregate_folded_add(struct text *text,
			  const struct aggregate_table *table);

/* Members of an object: minor, name, kind, expression, by, rows */
void aggregate_table_json(struct json *json,
			  const struct aggregate_table *table);

#endif
