/* SPDX-License-Identifier: GPL-2.0 */
/* Emptying what a session has added up in the kernel. */
#ifndef TRACE_AGGREGATES_H
#define TRACE_AGGREGATES_H

#include "lib/buffer/session.h"

/*
 * Nothing of what was added up till now counts any more: a new epoch begins, and
 * the keys of older ones go. 0, or a negative errno with err set. Without
 * aggregates nothing happens.
 */
int aggregates_clear(const struct session *session, struct error *err);

/* Remove the keys of older epochs alone. */
void aggregates_sweep(const struct session *session);

#endif
