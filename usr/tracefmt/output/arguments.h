/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The values of an event on one line, as its FMT prints them: "n = 0005, name =
 * "x", next = <not readable: 0000000000001234>". A value without a label is
 * alone.
 */
#ifndef TRACEFMT_ARGUMENTS_H
#define TRACEFMT_ARGUMENTS_H

#include "output.h"

/* Append all but `without` (NULL: all); scratch: output_decode() was called. See
 * text->error. */
void arguments_put(const struct output *output, const struct event *event,
		   const struct scratch *scratch, const struct field *without,
		   struct text *text);

/* What a POST's event has of the return value: the first of its fields whose
 * label begins with "ret", or is "rc" or "result", else the first one; NULL: it
 * has none. */
const struct field *arguments_return_field(const struct match_point *post);
/* Append it, without its label; at a tail call "<tail call>". Nothing when the
 * point has none. See text->error. */
void arguments_return_put(const struct output *output,
			  const struct event *event,
			  const struct scratch *scratch, struct text *text);

#endif
