// SPDX-License-Identifier: GPL-2.0
#include "perf_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <bpf/bpf.h>
#include "lib/array.h"
#include "lib/buffer/buffer.h"
#include "lib/buffer/pin.h"

#define DATA_BYTES	(1u << 18)
#define ROUNDS		4	/* of reading, while time goes by */
#define TRAILER		16	/* of all records: pid, tid, time; a sample has
				 * them in front */

struct perf_ring {
	int fd, cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *data;
};


static size_t ring_bytes(void)
{
	return sysconf(_SC_PAGESIZE) + DATA_BYTES;
}

static int perf_ring_open(struct perf_ring *ring, int epoll, int cpu)
{
	struct perf_event_attr attr;
	struct epoll_event event = { .events = EPOLLIN };
	int ret;

	attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.size = sizeof(struct perf_event_attr),
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.mmap_data = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	ring->cpu = cpu;
	ring->page = MAP_FAILED;
	ring->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
			   PERF_FLAG_FD_CLOEXEC);
	if (ring->fd < 0)
		return -errno;
	ring->page = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE,
			  MAP_SHARED, ring->fd, 0);
	if (ring->page == MAP_FAILED ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, ring->fd, &event)) {
		ret = -errno;
		if (ring->page != MAP_FAILED)
			munmap(ring->page, ring_bytes());
		close(ring->fd);
		return ret;
	}
	ring->data = (const uint8_t *)ring->page + sysconf(_SC_PAGESIZE);
	return 0;
}

int perf_rings_open(struct perf_rings *rings, struct error *err)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF), ret = 0;

	rings->count = 0;
	rings->map = -1;
	rings->items = calloc(cpus, sizeof(*rings->items));
	rings->fd = epoll_create1(EPOLL_CLOEXEC);
	if (!rings->items || rings->fd < 0)
		ret = -ENOMEM;
	for (int cpu = 0; cpu < cpus && !ret; cpu++) {
		ret = perf_ring_open(&rings->items[rings->count], rings->fd,
				     cpu);
		if (!ret)
			rings->count++;
		else if (ret == -ENODEV)	/* it is offline */
			ret = 0;
	}
	if (!ret && rings->count)
		return 0;
	perf_rings_close(rings);
	ret = ret ? ret : -ENODEV;
	error_set(err, ret, "the kernel doesn't report processes "
		  "(perf_event_open): %s", strerror(-ret));
	if (ret == -EACCES || ret == -EPERM)
		error_hint(err, "it takes root, or CAP_PERFMON");
	pin_perf_hint(err, ret);
	return ret;
}

/* The kernel takes the rings out again when the descriptor by which they were
 * put there is closed (bpf/arraymap.c, perf_event_fd_array_release()). */
int perf_rings_map(struct perf_rings *rings)
{
	uint32_t last = rings->items[rings->count - 1].cpu;
	int ret = 0;

	rings->map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "rings", 4,
				    4, last + 1, NULL);
	for (size_t i = 0; i < rings->count && rings->map >= 0 && !ret; i++)
		ret = bpf_map_update_elem(rings->map,
					  &(uint32_t){ rings->items[i].cpu },
					  &rings->items[i].fd, BPF_ANY);
	return ret ? ret : rings->map;
}

static bool bytes_reserve(struct perf_batch *batch, size_t more)
{
	size_t room = batch->bytes_room ? batch->bytes_room : 4096;
	uint8_t *bytes;

	while (room - batch->used < more)
		room *= 2;
	if (room == batch->bytes_room)
		return true;
	bytes = realloc(batch->bytes, room);
	if (!bytes)
		return false;
	batch->bytes = bytes;
	batch->bytes_room = room;
	return true;
}

static void perf_ring_copy(const struct perf_ring *ring, uint64_t at, void *to,
			   size_t size)
{
	size_t from = at & (DATA_BYTES - 1);
	size_t part = DATA_BYTES - from < size ? DATA_BYTES - from : size;

	memcpy(to, ring->data + from, part);
	memcpy((uint8_t *)to + part, ring->data, size - part);
}

static bool record_take(struct perf_batch *batch, const struct perf_ring *ring,
			uint64_t at, size_t size)
{
	struct perf_record *record;
	struct perf_event_header header;
	size_t time = size - 8;

	if (!array_grow(&batch->items, batch->count, &batch->room,
			sizeof(*batch->items)) ||
	    !bytes_reserve(batch, size))
		return false;
	record = &batch->items[batch->count++];
	record->offset = batch->used;
	perf_ring_copy(ring, at, batch->bytes + batch->used, size);
	memcpy(&header, batch->bytes + batch->used, sizeof(header));
	if (header.type == PERF_RECORD_SAMPLE)
		time = sizeof(header) + 8;
	memcpy(&record->time, batch->bytes + batch->used + time, 8);
	batch->used += size;
	return true;
}

static int ring_read(const struct perf_ring *ring, struct perf_batch *batch)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head,
					__ATOMIC_ACQUIRE);
	uint64_t at = ring->page->data_tail;
	struct perf_event_header header;

	while (head - at >= sizeof(header)) {
		perf_ring_copy(ring, at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size % 8 ||
		    header.size > head - at)
			return -EIO;
		if (header.size >= sizeof(header) + TRAILER &&
		    !record_take(batch, ring, at, header.size))
			return -ENOMEM;
		at += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, at, __ATOMIC_RELEASE);
	return 0;
}

static int record_compare(const void *a, const void *b)
{
	const struct perf_record *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Is there something that another CPU, which was read before, may have had
 * earlier records than? */
static bool batch_is_open(const struct perf_batch *batch, size_t from,
			  uint64_t begun)
{
	for (size_t i = from; i < batch->count; i++)
		if (batch->items[i].time > begun)
			return true;
	return false;
}

int perf_rings_read(struct perf_rings *rings, struct perf_batch *batch)
{
	bool open = true;
	int ret;

	batch->count = batch->used = 0;
	for (int round = 0; round < ROUNDS && open; round++) {
		uint64_t begun = buffer_time();
		size_t from = batch->count;

		for (size_t i = 0; i < rings->count; i++) {
			ret = ring_read(&rings->items[i], batch);
			if (ret)
				return ret;
		}
		open = batch_is_open(batch, from, begun);
	}
	if (batch->count)
		qsort(batch->items, batch->count, sizeof(*batch->items),
		      record_compare);
	return 0;
}

void perf_rings_close(struct perf_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		munmap(rings->items[i].page, ring_bytes());
		close(rings->items[i].fd);
	}
	if (rings->map >= 0)
		close(rings->map);
	if (rings->fd >= 0)
		close(rings->fd);
	free(rings->items);
	*rings = (struct perf_rings) { .fd = -1, .map = -1 };
}

void perf_batch_free(struct perf_batch *batch)
{
	free(batch->items);
	free(batch->bytes);
	*batch = (struct perf_batch) { NULL };
}
