// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a ring of perf events (perf_event_open(2)): records within it,
 * and processes that come and go as they say. Bytes 0 and 1: where it begins.
 */
#include "heapmon/record/perf_ring.c"
#include "heapmon/record/tracker.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int event_check(void *context, const struct tracker_event *event)
{
	unsigned int *count = context;

	if (event->kind > TRACKER_LOST ||
	    (event->kind == TRACKER_MAP && !strlen(event->path)))
		abort();
	return ++*count > 100000 ? -E2BIG : 0;
}

/* Its pages are only memory. */
static struct perf_ring ring_make(const uint8_t *data, size_t size)
{
	struct perf_ring ring = {
		.fd = -1,
		.page = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	};
	uint16_t start;
	uint8_t *to;

	if (ring.page == MAP_FAILED)
		abort();
	memcpy(&start, data, sizeof(start));
	ring.data = to = (uint8_t *)ring.page + sysconf(_SC_PAGESIZE);
	ring.page->data_tail = DATA_BYTES - 8ull * start % DATA_BYTES;
	data += sizeof(start);
	size -= sizeof(start);
	for (size_t i = 0; i < size && i < DATA_BYTES; i++)
		to[(ring.page->data_tail + i) & (DATA_BYTES - 1)] = data[i];
	ring.page->data_head = ring.page->data_tail + size;
	return ring;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracker *tracker = calloc(1, sizeof(*tracker));
	struct perf_ring *ring = malloc(sizeof(*ring));
	unsigned int count = 0;
	struct process *first;

	if (!tracker || !ring || size < 2 || size > DATA_BYTES) {
		free(tracker);
		free(ring);
		return 0;
	}
	*ring = ring_make(data, size);
	tracker->follow = true;
	tracker->rings = PERF_RINGS_NONE;
	tracker->rings.items = ring;
	tracker->rings.count = 1;
	first = tracker_process_add(tracker, 1);
	if (!first)
		abort();
	tracker_thread_add(tracker, first, 1);
	tracker_read(tracker, event_check, &count);
	tracker_close(tracker);
	return 0;
}
