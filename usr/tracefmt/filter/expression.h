/* SPDX-License-Identifier: GPL-2.0 */
/* Expressions (expression_parse.h), evaluated for events. */
#ifndef TRACEFMT_EXPRESSION_H
#define TRACEFMT_EXPRESSION_H

#include <stdbool.h>
#include "lib/error.h"
#include "lib/read/read.h"
#include "tracefmt/output/output.h"

struct expression;

/* With its names resolved for the events of a point. */
struct expression_bound;

/* It is about calls. */
bool expression_is_of_calls(const struct expression *expression);
/* NULL: no memory. */
struct expression_bound *expression_bind(struct expression *expression,
					 const struct match_point *point);
/* For calls of these points, one of which may be NULL. */
struct expression_bound *
expression_bind_call(struct expression *expression,
		     const struct match_point *entry,
		     const struct match_point *exit);
void expression_unbind(struct expression_bound *bound);
/* It looks at the record's data. */
bool expression_wants_data(const struct expression_bound *bound);
/* Of an event of the point, whose pieces are in scratch if they are wanted. */
bool expression_holds(const struct expression_bound *bound,
		      const struct event *event, const struct scratch *scratch,
		      struct symbols *symbols);
/* Of a call, whose entry's and exit's pieces are in scratch, where they are. */
bool expression_holds_call(const struct expression_bound *bound,
			   const struct pair_call *call,
			   const struct scratch *entry,
			   const struct scratch *exit, struct symbols *symbols);
/*
 * What to report of the i-th of its names after the last event: 2, no event
 * has it; 1, it was a builtin's and there is a field of that name, too; both with
 * `note` set; 0: nothing; -1: there is no such name.
 */
int expression_report(const struct expression *expression, size_t i,
		    struct error *note);

#endif
