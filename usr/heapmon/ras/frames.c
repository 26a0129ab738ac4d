// SPDX-License-Identifier: GPL-2.0
#include "frames.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/read/read.h"

static uint32_t frames_add_text(struct ras_frames *frames, const char *text)
{
	return text ? heap_strings_add(&frames->trace->strings, text) : 0;
}

static uint32_t ras_frame_make(struct ras_frames *frames, uint32_t pid,
			       uint64_t address)
{
	const struct ras_mapping *mapping =
		process_table_mapping(frames->processes, pid, address - 1);
	struct symbols_place place = symbols_find_caller(frames->symbols,
							 frames->processes, pid,
							 address);
	struct heap_frame frame = {
		.address = address,
		.symbol = frames_add_text(frames, place.symbol),
		.offset = place.symbol ? place.offset : 0,
		.file = frames_add_text(frames, place.file),
		.line = place.file ? place.line : 0,
	};

	if (mapping) {
		frame.module_offset = mapping->offset +
				      (address - mapping->start);
		frame.module = heap_strings_add_length(&frames->trace->strings,
						       mapping->path,
						       sizeof(mapping->path));
	}
	return heap_trace_frame(frames->trace, &frame);
}

static uint32_t frame_of(struct ras_frames *frames, uint32_t pid,
			 uint64_t address)
{
	uint64_t key = key_map_serial(&frames->addresses, address);
	uint64_t known;

	key |= (uint64_t)pid << 32;
	known = key_map_number(&frames->known, key);
	if (!known) {
		known = ras_frame_make(frames, pid, address) + UINT64_C(1);
		if (!(uint32_t)key ||
		    key_map_add_number(&frames->known, key, known))
			frames->failed = true;
	}
	return known - 1;
}

/* A frame for the callers that aren't known; 0: there are no more. */
static uint32_t end_stack(struct ras_frames *frames, struct ras_stack stack)
{
	struct heap_frame frame = { .stopped = true };

	if (stack.end == RAS_STACK_OUTERMOST)
		return 0;
	frame.symbol = frames_add_text(frames, stack_end_text(stack.end));
	return heap_trace_stack(frames->trace, 0,
				heap_trace_frame(frames->trace, &frame));
}

uint32_t frames_stack(struct ras_frames *frames, uint32_t pid,
		      struct ras_stack stack, const uint8_t *data, size_t n)
{
	uint32_t number = end_stack(frames, stack);
	uint64_t address;

	for (size_t i = n / 8; i; i--) {
		memcpy(&address, data + 8 * (i - 1), sizeof(address));
		number = heap_trace_stack(frames->trace, number,
					  frame_of(frames, pid, address));
	}
	return number;
}

void frames_free(struct ras_frames *frames)
{
	key_map_free(&frames->addresses);
	key_map_free(&frames->known);
}
