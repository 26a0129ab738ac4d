/* SPDX-License-Identifier: GPL-2.0 */
/* Columns of calls: which record they are of, and what they are. */
#ifndef TRACEFMT_CALL_COLUMN_H
#define TRACEFMT_CALL_COLUMN_H

#include "cell.h"

/* The record that has the item: entry or exit, which may be missing (its point is
 * NULL); NULL: call_column_value() has it. */
const struct event *call_column_event(const struct pair_call *call,
				      const struct columns_item *item);
/* What that record is asked for; of a RESULT nothing. */
struct columns_item call_column_item(const struct columns_item *item);
/* Latency and self are in ns; NOTHING where they are in doubt. */
struct column_value call_column_value(const struct pair_call *call,
				      enum column column);

#endif
