/* SPDX-License-Identifier: GPL-2.0 */
/* A recording of heapmon record as events: its records, and the notes beside
 * them (rastrace/heap.h), by time. */
#ifndef HEAPMON_RAS_READ_H
#define HEAPMON_RAS_READ_H

#include "heapmon/core/format.h"

int ras_read_events(struct heap_input *input, const struct heap_sink *sink,
		    struct error *err);

#endif
