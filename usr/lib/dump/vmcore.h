/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel's virtual memory in a dump, by the kernel's own page tables, and
 * where the kernel's module left the trace buffer in it.
 */
#ifndef LIB_VMCORE_H
#define LIB_VMCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rastrace/buffer.h>
#include <rastrace/crash.h>
#include "dump.h"
#include "lib/error.h"

#define VMCORE_LEVELS	5

struct vmcore_machine;

struct vmcore {
	struct dump dump;
	const struct vmcore_machine *machine;
	uint64_t root;		/* physical address of the top page table */
	uint64_t address_mask;	/* of an entry */
	int levels;
	unsigned int virtual_bits;	/* of an address; those above are 1 */
	uint64_t space, space_end;	/* where the module may be */
	struct {		/* the table last used of each level */
		uint64_t physical;
		bool there;
		uint64_t entries[512];
	} tables[VMCORE_LEVELS];
};

/* 0, or a negative errno with err set: no dump, of another machine, or one
 * without a way to the page tables. */
int vmcore_open(struct vmcore **core, const char *path, struct error *err);
void vmcore_close(struct vmcore *core);

/* Copy memory at a virtual address; what isn't in the dump becomes zeros.
 * Returns the number of bytes that were there. */
size_t vmcore_read(struct vmcore *core, uint64_t address, void *to,
		   size_t size);

/* How many bytes are mapped from an address on, `most` at most. */
uint64_t vmcore_mapped(struct vmcore *core, uint64_t address, uint64_t most);

/* Where the buffer is. 0, or a negative errno with err set: -ENOENT, the module
 * wasn't loaded or had none; -EPROTO, it is of another version. */
int vmcore_anchor_find(struct vmcore *core, struct ras_anchor *anchor,
		       const char *path, struct error *err);

#endif
