/* SPDX-License-Identifier: GPL-2.0 */
/* mpatrol's profiling file, "MPTL". */
#ifndef HEAPMON_MPTL_READ_H
#define HEAPMON_MPTL_READ_H

#include "heapmon/core/format.h"

#define MPTL_MAGIC	"MPTL"
#define MPTL_OLDEST	10300	/* files before that have no version */

/* Is it one, by its first bytes? */
int mptl_detect(const uint8_t *data, size_t size);
int mptl_read_profile(struct heap_input *input, struct heap_profile *profile,
		      struct error *err);

#endif
