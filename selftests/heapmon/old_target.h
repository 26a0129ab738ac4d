/* SPDX-License-Identifier: GPL-2.0 */
/* What old_target shares of itself: a shared file, its descriptor is TARGET_FD. */
#ifndef OLD_TARGET_H
#define OLD_TARGET_H

#include <stdint.h>

#define TARGET_FD	3
#define TARGET_BLOCKS	(1u << 20)

struct target_block {
	uint64_t address, size;		/* that can be used */
};

struct target_table {
	uint32_t ready;
	uint32_t pid;			/* of the process to look at */
	uint32_t count;
	uint32_t reserved;
	uint64_t turns;			/* of the busy threads, or the waiting */
	uint64_t failures;		/* calls that were interrupted */
	struct target_block blocks[TARGET_BLOCKS];
};

#endif
