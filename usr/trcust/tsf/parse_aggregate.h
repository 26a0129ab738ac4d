/* SPDX-License-Identifier: GPL-2.0 */
/* The clauses of what is added up in the kernel, after the keyword and '='; that
 * of COUNT is the keyword alone. */
#ifndef TRCUST_PARSE_AGGREGATE_H
#define TRCUST_PARSE_AGGREGATE_H

#include "parser.h"

bool parse_hits(struct parser *p);
/* SUM, MIN, MAX, HIST: clause->aggregate says which */
bool parse_aggregate(struct parser *p);
bool parse_by(struct parser *p);

#endif
