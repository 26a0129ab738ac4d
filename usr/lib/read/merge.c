// SPDX-License-Identifier: GPL-2.0
#include "merge.h"

#include <errno.h>
#include <stdlib.h>

static bool head_before(const struct merge_head *a, const struct merge_head *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->slice->index < b->slice->index;
}

void merge_sink(struct merge *merge)
{
	struct merge_head *heap = merge->heap, moved = *heap;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < merge->count) {
		if (child + 1 < merge->count &&
		    head_before(&heap[child + 1], &heap[child]))
			child++;
		if (!head_before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static void heap_rise(struct merge *merge, size_t at)
{
	struct merge_head *heap = merge->heap, moved = heap[at];

	while (at && head_before(&moved, &heap[(at - 1) / 2])) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = moved;
}

void merge_open(struct merge *merge, struct trace_file *file)
{
	*merge = (struct merge){ .slices = &file->slices };
}

int merge_more(struct merge *merge, uint64_t key)
{
	size_t most = merge->slices->count;

	merge->key = key;
	if (most > merge->room) {
		void *heap = reallocarray(merge->heap, most,
					  sizeof(*merge->heap));

		if (!heap)
			return -ENOMEM;
		merge->heap = heap;
		merge->room = most;
	}
	for (size_t i = 0; i < most; i++) {
		struct merge_head *head = &merge->heap[merge->count];
		struct trace_slice *slice = merge->slices->items[i];

		if (slice->queued)
			continue;
		head->slice = slice;
		if (merge_load(merge, head))
			heap_rise(merge, merge->count++);
	}
	return 0;
}

void merge_close(struct merge *merge)
{
	free(merge->heap);
	merge->heap = NULL;
}
