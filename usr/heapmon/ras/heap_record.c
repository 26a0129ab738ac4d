// SPDX-License-Identifier: GPL-2.0
#include "heap_record.h"

#include <string.h>

bool heap_record_parse(struct heap_record *record, const uint8_t *data,
		       size_t n)
{
	struct ras_item item;
	uint8_t kind;

	*record = (struct heap_record){ .has_word = false };
	if (n < sizeof(record->heap))
		return false;
	memcpy(&record->heap, data, sizeof(record->heap));
	data += sizeof(record->heap);
	n -= sizeof(record->heap);
	while (n >= sizeof(item)) {
		memcpy(&item, data, sizeof(item));
		data += sizeof(item);
		n -= sizeof(item);
		if (item.length > n)
			return false;
		kind = RAS_ITEM_KIND(item.status);
		if (kind == RAS_ITEM_STACK &&
		    item.length >= sizeof(struct ras_stack)) {
			memcpy(&record->stack_end, data,
			       sizeof(record->stack_end));
			record->stack = data + sizeof(record->stack_end);
			record->stack_bytes =
				item.length - sizeof(record->stack_end);
		} else if (kind == RAS_ITEM_VALUE &&
			   (item.length == 4 || item.length == 8)) {
			uint32_t half;

			record->has_word = true;
			record->word_bytes = item.length;
			memcpy(&half, data, sizeof(half));
			record->word = half;
			if (item.length == 8)
				memcpy(&record->word, data,
				       sizeof(record->word));
		}
		data += item.length;
		n -= item.length;
	}
	return !n;
}

bool heap_record_event(const struct heap_record *record, uint16_t minor,
		       struct heap_event *event)
{
	const struct ras_heap *heap = &record->heap;

	event->function = minor;
	event->address = heap->address;
	event->size = heap->size;
	switch (minor < HEAP_FUNCTIONS ? heap_functions[minor].kind :
					  FUNCTION_ABSENT) {
	case FUNCTION_ACQUIRE:
	case FUNCTION_ACQUIRE_INTO:
		event->kind = HEAP_ALLOC;
		return true;
	case FUNCTION_RESIZE:
	case FUNCTION_MAP:	/* mremap() */
		/* realloc(): of no block it gives one; to 0 bytes it may take
		 * one. */
		event->kind = HEAP_REALLOC;
		event->old = heap->old;
		if (!heap->old) {
			event->kind = HEAP_ALLOC;
		} else if (!heap->address) {
			event->kind = HEAP_FREE;
			event->address = heap->old;
			event->old = 0;
			event->size = 0;
		}

		return true;
	case FUNCTION_RELEASE:
	case FUNCTION_UNMAP:
		event->kind = HEAP_FREE;
		return true;
	default:
		return false;
	}
}
