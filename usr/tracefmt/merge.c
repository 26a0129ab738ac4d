// SPDX-License-Identifier: GPL-2.0
#include "merge.h"

#include <errno.h>
#include <stdlib.h>

static bool head_before(const struct merge_head *a, const struct merge_head *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->slice < b->slice;
}

static void heap_sink(struct merge *merge, size_t at)
{
	struct merge_head *heap = merge->heap, moved = heap[at];
	size_t child;

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

static bool head_load(struct merge *merge, struct merge_head *head)
{
	head->record = trace_slice_next(head->slice, merge->key);
	if (head->record)
		head->time = head->record->time;
	return head->record;
}

int merge_open(struct merge *merge, struct trace_file *file)
{
	*merge = (struct merge){ .key = file->header.key };
	merge->heap = calloc(file->slice_count + 1, sizeof(*merge->heap));
	if (!merge->heap)
		return -ENOMEM;
	for (size_t i = 0; i < file->slice_count; i++) {
		struct merge_head *head = &merge->heap[merge->count];

		head->slice = &file->slices[i];
		merge->count += head_load(merge, head);
	}
	for (size_t i = merge->count / 2; i-- > 0;)
		heap_sink(merge, i);
	return 0;
}

const struct ras_record *merge_next(struct merge *merge,
				    struct trace_slice **slice)
{
	struct merge_head *top = merge->heap;
	const struct ras_record *record;

	if (!merge->count)
		return NULL;
	record = top->record;
	*slice = top->slice;
	if (!head_load(merge, top))
		*top = merge->heap[--merge->count];
	if (merge->count)
		heap_sink(merge, 0);
	return record;
}

void merge_close(struct merge *merge)
{
	free(merge->heap);
	merge->heap = NULL;
}
