/* SPDX-License-Identifier: GPL-2.0 */
/* The first instructions of a function: where a probe costs least. */
#ifndef HEAPMON_ENTRY_H
#define HEAPMON_ENTRY_H

#include "allocator.h"

#define ENTRY_CODE	32	/* bytes of a function that are looked at */

/* Fill in skip, insn and fast; release: NULL need not be seen. false: no probe
 * can be there, or the code can't be read. */
bool allocator_entry_read(const struct allocator_file *file,
			  struct allocator_place *place, bool release);

/* By machine; code has ENTRY_CODE bytes. */
bool entry_read_x86(struct allocator_place *place, const uint8_t *code,
		    bool wide, bool release);
bool entry_read_a64(struct allocator_place *place, const uint8_t *code);

#endif
