/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Classes of C++ objects by their first word, which leads into the vtable of the
 * class (Itanium C++ ABI 2.5.2): symbols _ZTV... of the files that lie in the
 * process, or of their debug files.
 */
#ifndef HEAPMON_VTABLES_H
#define HEAPMON_VTABLES_H

#include "lib/read/read.h"
#include "heapmon/core/trace.h"

struct vtables {
	const struct symbols_settings *settings;
	const struct process_table *table;
	struct heap_strings *strings;		/* for the names */
	struct vtable_module **modules;
	size_t module_count, module_room;
	struct key_map processes;		/* by id */
	bool failed;				/* no memory */
};

/* The class as *name; `bytes`: of a pointer. */
enum heap_type vtables_find(struct vtables *vtables, uint32_t pid,
			    uint64_t word, unsigned int bytes, uint32_t *name);
void vtables_free(struct vtables *vtables);

#endif
