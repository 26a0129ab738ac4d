/* SPDX-License-Identifier: GPL-2.0 */
/* mpatrol's tracing file, "MTRC". */
#ifndef HEAPMON_MTRC_READ_H
#define HEAPMON_MTRC_READ_H

#include "heapmon/core/format.h"

#define MTRC_MAGIC	"MTRC"
#define MTRC_SOURCES	10405	/* from this version on, records have thread and
				 * source */
#define MTRC_RESIZES	10404	/* ... there are R; before, a second A of an
				 * index means that */

/* Is it one, by its first bytes? */
int mtrc_detect(const uint8_t *data, size_t size);
int mtrc_read_events(struct heap_input *input, const struct heap_sink *sink,
		     struct error *err);

#endif
