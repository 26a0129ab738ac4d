/* SPDX-License-Identifier: GPL-2.0 */
/* A record of a recording (rastrace/heap.h) as an event of the heap. */
#ifndef HEAPMON_HEAP_RECORD_H
#define HEAPMON_HEAP_RECORD_H

#include <rastrace/heap.h>
#include "heapmon/core/event.h"
#include "frames.h"
#include "vtables.h"

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

#endif
