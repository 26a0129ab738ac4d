// SPDX-License-Identifier: GPL-2.0
#include "heap_maps.h"

#include <unistd.h>
#include <rastrace/buffer.h>
#include "lib/buffer/pin.h"
#include "lib/sysbpf.h"

int heap_maps_make(struct body_heap *heap, struct error *err)
{
	bool chosen = heap->min_size || heap->sample;

	if (heap->calls_fd < 0)
		heap->calls_fd = sysbpf_task_storage_create(
			"calls", sizeof(struct ras_call));
	if (heap->calls_fd < 0)
		return pin_refused(err, heap->calls_fd,
				   "cannot make the map 'calls'");
	if (!chosen || heap->blocks_fd >= 0)
		return 0;
	heap->blocks_fd = bpf_map_create(BPF_MAP_TYPE_HASH, "blocks",
					 sizeof(struct ras_block),
					 sizeof(uint64_t), RAS_BLOCKS_MAX,
					 NULL);
	if (heap->blocks_fd < 0)
		return pin_refused(err, heap->blocks_fd,
				   "cannot make the map 'blocks' of %u entries",
				   RAS_BLOCKS_MAX);
	return 0;
}

static void heap_fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void heap_maps_close(struct body_heap *heap)
{
	heap_fd_close(&heap->calls_fd);
	heap_fd_close(&heap->blocks_fd);
	heap_fd_close(&heap->owners_fd);
}
