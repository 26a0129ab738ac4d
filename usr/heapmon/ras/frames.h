/* SPDX-License-Identifier: GPL-2.0 */
/* Addresses of a recording as frames and stacks of a trace, with their names. */
#ifndef HEAPMON_FRAMES_H
#define HEAPMON_FRAMES_H

#include <rastrace/buffer.h>
#include "lib/read/read.h"
#include "heapmon/core/trace.h"

struct ras_frames {
	struct heap_trace *trace;
	struct symbols *symbols;
	const struct process_table *processes;
	struct key_map addresses;	/* their numbers */
	struct key_map known;		/* numbers of frames + 1, by process and
					 * number of the address */
	bool failed;			/* out of memory */
};

/* n bytes of return addresses, innermost first: the stack's number. */
uint32_t frames_stack(struct ras_frames *frames, uint32_t pid,
		      struct ras_stack stack, const uint8_t *data, size_t n);
void frames_free(struct ras_frames *frames);

#endif
