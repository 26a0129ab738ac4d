/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces of one buffer: a spool's cycle, snapshots taken one after the other.
 * They have one clock; a record that is in several of them is an event once.
 */
#ifndef LIB_READ_CYCLE_H
#define LIB_READ_CYCLE_H

#include "stream.h"

/* After the beginnings were read. 0 or -ENOMEM. */
int cycle_join(struct stream *stream);

#endif
