/* SPDX-License-Identifier: GPL-2.0 */
/* The maps of what is added up in the kernel (buffer.h). */
#ifndef TRACE_AGGREGATE_MAPS_H
#define TRACE_AGGREGATE_MAPS_H

#include "arm_tdf.h"

struct aggregate_maps {
	int aggregates_fd, aggregated_fd;
	int by_stack_fd;	/* -1: no BY has a stack */
	uint32_t key_bytes;
};

/* Make them for the points that are picked, and pin them in `dir`. 0, or a
 * negative errno with err set; what was made is closed by the caller. by_stack: one
 * has a BY of a stack. */
int aggregate_maps_make(struct aggregate_maps *maps, const struct arm *arm,
			const char *dir, bool by_stack, struct error *err);

#endif
