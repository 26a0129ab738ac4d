/* SPDX-License-Identifier: GPL-2.0 */
/* What depends on the machine whose memory it is. */
#ifndef LIB_VMCORE_MACHINE_H
#define LIB_VMCORE_MACHINE_H

#include "vmcore.h"

enum vmcore_entry { VMCORE_NOTHING, VMCORE_TABLE, VMCORE_MEMORY };

struct vmcore_machine {
	uint16_t elf;
	const char *name;	/* as uname -m has it */
	/* Sets what is in struct vmcore from `root` to `space_end`; false: the
	 * dump has no `source`. */
	bool (*open)(struct vmcore *core);
	const char *source;
	/* What an entry of a page table leads to; level 1 is the last one. */
	enum vmcore_entry (*entry)(uint64_t entry, int level);
};

extern const struct vmcore_machine vmcore_x86, vmcore_a64;

#endif
