/* SPDX-License-Identifier: GPL-2.0 */
/* Messages and figures after the last event. */
#ifndef TRACEFMT_REPORT_H
#define TRACEFMT_REPORT_H

#include "settings.h"

struct selected;

/* On standard error: what was lost or damaged, and how many of the printed events
 * had no format. Returns the exit status. */
int report_outcome(const struct show_settings *settings,
		   const struct stream *stream, uint64_t unmatched);
/* Why it failed: err, or if that is empty the negative errno `code`. */
void report_failure(const struct show_settings *settings,
		    const struct error *err, int code);
/* The figures, if they are wanted; selected: of the printed events, or NULL. 0 or
 * -ENOMEM. */
int report_summary(const struct show_settings *settings,
		   const struct stream *stream, struct selected *selected);

#endif
