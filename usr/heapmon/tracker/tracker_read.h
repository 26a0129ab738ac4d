/* SPDX-License-Identifier: GPL-2.0 */
/* Reading the memory tracker's stream. */
#ifndef HEAPMON_TRACKER_READ_H
#define HEAPMON_TRACKER_READ_H

#include "heapmon/core/format.h"

/* Is it one? It has no magic number, so all of it must make sense. */
int tracker_detect(const uint8_t *data, size_t size);
int tracker_stream_read(struct heap_input *input, const struct heap_sink *sink,
			struct error *err);

#endif
