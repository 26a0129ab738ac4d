/* SPDX-License-Identifier: GPL-2.0 */
/* Reading the heap monitoring text. */
#ifndef HEAPMON_MONITOR_READ_H
#define HEAPMON_MONITOR_READ_H

#include "heapmon/core/format.h"

/* Is it one, by its first bytes? */
int monitor_detect(const uint8_t *data, size_t size);
int monitor_read(struct heap_input *input, const struct heap_sink *sink,
		 struct error *err);

#endif
