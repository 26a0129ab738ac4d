/* SPDX-License-Identifier: GPL-2.0 */
/* mpatrol's profiling file, "MPTL". */
#ifndef HEAPMON_MPTL_H
#define HEAPMON_MPTL_H

#include "heapmon/core/format.h"

#define MPTL_MAGIC	"MPTL"
#define MPTL_OLDEST	10300	/* files before that have no version */

int mptl_read_profile(struct heap_input *input, struct heap_profile *profile,
		      struct error *err);
int mptl_write_profile(struct heap_output *output,
		       const struct heap_profile *profile,
		       const struct heap_model *model, struct error *err);

#endif
