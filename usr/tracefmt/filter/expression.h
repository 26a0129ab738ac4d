/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An expression over an event's fields, with C's operators and their order:
 *
 *	len > 64 && name ~ "conf"
 *	req.hdr.flags & 0x10 || (pid == 33 && r->next->age >= 1.5)
 *
 * ~ and !~ match a string with an extended regular expression. Numbers: 64,
 * 0x40, 0b101, 0o17, 1.5; 64K, 1M, 1G, and 5ns, 5us, 5ms, 5s in ns. Integers
 * are exact. A value with a name (an enumerator, flags, an address's symbol)
 * compares with strings by it.
 *
 * Names: fields (format/field.h) by name or label, members and elements of what
 * is composed, and event, time (ns since 1970), major, minor, pid, tid, comm,
 * cpu, length, desc, which go before fields: .pid is the field pid. A
 * comparison with what a record doesn't have is false, and so is the value
 * itself, also with ! in front.
 */
#ifndef TRACEFMT_EXPRESSION_H
#define TRACEFMT_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"
#include "lib/read/read.h"
#include "tracefmt/output/output.h"

struct expression;
/* With its names resolved for the events of a point. */
struct expression_bound;

/* 0, or -EINVAL or -ENOMEM with err set. */
int expression_parse(struct expression **expression, const char *text,
		     struct error *err);
void expression_free(struct expression *expression);

/* NULL: no memory. */
struct expression_bound *expression_bind(struct expression *expression,
					 const struct match_point *point);
void expression_unbind(struct expression_bound *bound);

/* It looks at the record's data. */
bool expression_wants_data(const struct expression_bound *bound);
/* Of an event of the point, whose pieces are in scratch if they are wanted. */
bool expression_holds(const struct expression_bound *bound,
		      const struct event *event, const struct scratch *scratch,
		      struct symbols *symbols);

/*
 * What to report of the i-th of its names after the last event: 2, no event
 * has it; 1, it was a builtin's and there is a field of that name, too; both with
 * `note` set; 0: nothing; -1: there is no such name.
 */
int expression_report(const struct expression *expression, size_t i,
		    struct error *note);

#endif
