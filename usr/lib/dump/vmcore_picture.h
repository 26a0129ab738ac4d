/* SPDX-License-Identifier: GPL-2.0 */
/* The trace buffer in a memory dump as a .ras file. */
#ifndef LIB_VMCORE_PICTURE_H
#define LIB_VMCORE_PICTURE_H

#include <stdbool.h>
#include "lib/formats/chunk.h"
#include "lib/error.h"

/* What a dump didn't have. */
struct vmcore_losses {
	bool cut;		/* it is cut short */
	bool damaged;		/* it has pages that can't be unpacked */
	uint32_t slices;	/* whose control words are damaged */
};

/* `memory` is for free() in any case. 0, or a negative errno with err set: as of
 * vmcore_open() and vmcore_anchor_find(). */
int vmcore_picture_take(const char *path, struct chunk_memory *memory,
			struct vmcore_losses *losses, struct error *err);

#endif
