/* SPDX-License-Identifier: GPL-2.0 */
/* Traces from their first record to the figures at the end. */
#ifndef TRACEFMT_SHOW_H
#define TRACEFMT_SHOW_H

#include "settings.h"

/*
 * Print the events of the stream's opened traces as the settings ask for, and
 * report on standard error whatever is missing. Returns the exit status.
 */
int show_stream(struct show_settings *settings, struct stream *stream);
/* Print how the calls of two streams differ, in the same way. */
int show_diff(struct show_settings *settings, struct stream *old,
	      struct stream *new);

#endif
