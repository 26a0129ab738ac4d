/* SPDX-License-Identifier: GPL-2.0 */
/* Whose mappings a process has: those of its parent, when it ended before anybody
 * looked at its own. */
#ifndef HEAPMON_FAMILY_H
#define HEAPMON_FAMILY_H

#include "../../tracefmt/read/book.h"
#include "../core/table.h"

struct family {
	struct family_member {
		uint32_t pid, parent;	/* parent 0: it has a program of its own */
		bool ended;
	} *members;			/* 0: none */
	size_t count, room;
	struct heap_table table;
};

/* The process is there, a child of `parent`; 0: with a program of its own from now
 * on. false: no memory. */
bool family_set(struct family *family, uint32_t pid, uint32_t parent);
/* It was set, and hasn't ended. */
bool family_has(const struct family *family, uint32_t pid);
void family_end(struct family *family, uint32_t pid);
/* The nearest one whose mappings the book has; the process itself when there is
 * none. */
uint32_t family_mapped(const struct family *family, const struct book *book,
		       uint32_t pid);
void family_free(struct family *family);

#endif
