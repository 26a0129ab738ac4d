/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A look at the first events before they are paired: which functions call
 * themselves, and in which processes calls were running already when the trace
 * began. Without it the first calls would get figures that later ones show to be
 * in doubt.
 */
#ifndef TRACEFMT_FORESIGHT_H
#define TRACEFMT_FORESIGHT_H

#include "pair_point.h"

struct foresight;

/* NULL: no memory. */
struct foresight *foresight_open(void);
/* The next event. 0 or -ENOMEM. */
int foresight_see(struct foresight *foresight, const struct event *event);
/* The function of a PRE or POST was seen inside itself. */
bool foresight_recursive(const struct foresight *foresight,
			 const struct event *event);
/* A POST of the event's process had no PRE. */
bool foresight_begun(const struct foresight *foresight,
		     const struct event *event);
void foresight_close(struct foresight *foresight);

#endif
