/* SPDX-License-Identifier: GPL-2.0 */
/* What is to be said behind the events. */
#ifndef TRACEFMT_TELL_H
#define TRACEFMT_TELL_H

#include "settings.h"

/* On standard error: what was lost or damaged, how many of the events given out
 * had no format. Returns the exit status. */
int tell_outcome(const struct settings *settings, const struct stream *stream,
		 uint64_t unmatched);
/* Why it failed: err, or where it is empty what `code` says. */
void tell_failure(const struct settings *settings, const struct error *err,
		  int code);
/* The figures, where they are wanted; chosen: of the events given out, NULL. 0
 * or -ENOMEM. */
int tell_summary(const struct settings *settings, const struct stream *stream,
		 struct chosen *chosen);

#endif
