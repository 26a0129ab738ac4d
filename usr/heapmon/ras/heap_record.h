/* SPDX-License-Identifier: GPL-2.0 */
/* A record of a recording (rastrace/heap.h) as an event of the heap, with the names
 * of what it has addresses of. */
#ifndef HEAPMON_HEAP_RECORD_H
#define HEAPMON_HEAP_RECORD_H

#include <rastrace/heap.h>
#include "lib/read/read.h"
#include "heapmon/core/trace.h"

struct heap_record {
	struct ras_heap heap;
	bool has_word;			/* the first one of a released block */
	uint64_t word;
	unsigned int word_bytes;
	struct ras_stack stack_end;
	const uint8_t *stack;		/* addresses; NULL: none */
	size_t stack_bytes;
};

/* n bytes of data; false: they are no such record. */
bool heap_record_parse(struct heap_record *record, const uint8_t *data,
		       size_t n);
/* Kind, function, addresses; false: that minor is no function. */
bool heap_record_event(const struct heap_record *record, uint16_t minor,
		       struct heap_event *event);

/* Names of addresses; the first four are the caller's. */
struct record_names {
	struct heap_trace *trace;	/* they go there */
	const struct symbols_settings *settings;
	struct symbols *symbols;	/* closed with the rest */
	const struct process_table *processes;
	struct key_map addresses;	/* their numbers */
	struct key_map frames;		/* numbers of frames + 1, by process and
					 * number of the address */
	struct vtable_module **modules;
	size_t module_count, module_room;
	struct key_map vtables;		/* by process id */
	bool failed;			/* no memory */
};

/* The number of the record's stack, of what is mapped in process pid. */
uint32_t record_names_stack(struct record_names *names, uint32_t pid,
			    const struct heap_record *record);
/*
 * The class of a C++ object as *name, by its first word, which points into the
 * vtable of the class (Itanium C++ ABI 2.5.2): symbols _ZTV... of the files that
 * are mapped in the process, or of their debug files. `bytes`: of a pointer.
 */
enum heap_type record_names_class(struct record_names *names, uint32_t pid,
				  uint64_t word, unsigned int bytes,
				  uint32_t *name);
void record_names_free(struct record_names *names);

#endif
