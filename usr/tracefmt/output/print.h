/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An event as text:
 *
 *	(OS) DosSleep Pre-Invocation
 *	Event [10]  Major [5/0x0005]  Minor [307/0x0133]  PID [38/0x0026] ...
 *	Return EIP=0000C361  CS=DFD7
 *
 * and an empty line. What --context asked for is between
 * header line and data.
 */
#ifndef TRACEFMT_PRINT_H
#define TRACEFMT_PRINT_H

#include "output.h"

/* output_text's. 0, or a negative errno. */
int print_event(struct output *output, const struct event *event,
		struct text *text, struct scratch *scratch);
/* Only the lines after its header line, without the empty one. 0 or -ENOMEM. */
int print_body(const struct output *output, const struct event *event,
	       struct text *text, struct scratch *scratch);

#endif
