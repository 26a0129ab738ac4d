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
#include "lib/arm/arm.h"
#include "lib/buffer/buffer.h"
#include "lib/buffer/pin.h"

#define DATA_BYTES	(1u << 18)
#define ROUNDS		4	/* of reading, while time goes by */
#define TRAILER		16	/* of all records: pid, tid, time; a sample has
				 * them in front */
#define OWNERS_MAX	4096	/* at a time; then the oldest goes */

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

	*rings = PERF_RINGS_NONE;
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

/* ---- processes that share memory ---- */

/*
 * For BPF programs: the map of the rings by CPU, or a negative errno. The kernel
 * takes the rings out again when the descriptor by which they were put there is
 * closed (bpf/arraymap.c, perf_event_fd_array_release()).
 */
static int perf_rings_map(struct perf_rings *rings)
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

/* Frame, offsets from r10 */
#define FRAME_PARENT_MEMORY	(-8)	/* pointer */
#define FRAME_CHILD_MEMORY	(-16)	/* pointer */
#define FRAME_DATA		(-24)	/* struct sharing_data: a key of owners */
#define FRAME_PARENT		(-28)	/* process id: another */
#define FRAME_OWNER		(-32)	/* process id: its value */

struct sharing_offsets {
	uint32_t mm, tgid;
};

static void emit_owners_call(struct emit *e, int owners, int helper, int key)
{
	emit_map(e, BPF_REG_1, owners);
	raw_tracepoint_frame(e, BPF_REG_2, key);
	emit_call(e, helper);
}

/* sched_process_fork(parent, child): in the parent, before the child runs, whose
 * process id may have been another's */
static void sharing_fork_emit(struct emit *e, int rings, int owners,
			      const struct sharing_offsets *offsets)
{
	emit_label end = emit_label_new(e), apart = emit_label_new(e);
	emit_label known;

	emit_alu(e, BPF_MOV, BPF_REG_6, BPF_REG_1);
	raw_tracepoint_member(e, BPF_REG_6, 1, offsets->tgid, FRAME_DATA, 4);
	raw_tracepoint_current(e, FRAME_PARENT);
	emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_DATA);
	emit_jump_if(e, BPF_JEQ, BPF_REG_1, BPF_REG_0, end);	/* a thread */
	raw_tracepoint_member(e, BPF_REG_6, 0, offsets->mm, FRAME_PARENT_MEMORY,
			      8);
	raw_tracepoint_member(e, BPF_REG_6, 1, offsets->mm, FRAME_CHILD_MEMORY,
			      8);
	emit_load(e, 8, BPF_REG_1, BPF_REG_10, FRAME_PARENT_MEMORY);
	emit_load(e, 8, BPF_REG_2, BPF_REG_10, FRAME_CHILD_MEMORY);
	emit_jump_if(e, BPF_JNE, BPF_REG_1, BPF_REG_2, apart);
	emit_jump_imm(e, BPF_JEQ, BPF_REG_1, 0, end);	/* the kernel's */
	if (owners >= 0) {
		/* The child works in the memory that its parent works in. */
		known = emit_label_new(e);
		emit_load(e, 4, BPF_REG_1, BPF_REG_10, FRAME_PARENT);
		emit_store(e, 4, BPF_REG_10, FRAME_OWNER, BPF_REG_1);
		emit_lookup(e, owners, FRAME_PARENT, known);
		emit_load(e, 4, BPF_REG_1, BPF_REG_0, 0);
		emit_store(e, 4, BPF_REG_10, FRAME_OWNER, BPF_REG_1);
		emit_label_place(e, known);
		raw_tracepoint_frame(e, BPF_REG_3, FRAME_OWNER);
		emit_alu_imm(e, BPF_MOV, BPF_REG_4, BPF_ANY);
		emit_owners_call(e, owners, BPF_FUNC_map_update_elem,
				 FRAME_DATA);
	}
	emit_alu(e, BPF_MOV, BPF_REG_1, BPF_REG_6);
	emit_map(e, BPF_REG_2, rings);
	emit_const(e, BPF_REG_3, BPF_F_CURRENT_CPU);
	raw_tracepoint_frame(e, BPF_REG_4, FRAME_DATA);
	emit_alu_imm(e, BPF_MOV, BPF_REG_5, sizeof(struct sharing_data));
	emit_call(e, BPF_FUNC_perf_event_output);
	emit_jump(e, end);
	emit_label_place(e, apart);
	if (owners >= 0)
		emit_owners_call(e, owners, BPF_FUNC_map_delete_elem,
				 FRAME_DATA);
	raw_tracepoint_end(e, end);
}

int sharing_owners_make(struct error *err)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "owners",
				sizeof(uint32_t), sizeof(uint32_t), OWNERS_MAX,
				NULL);

	return fd < 0 ? pin_refused(err, fd, "cannot make the map 'owners'") :
			fd;
}

int perf_rings_share(struct perf_rings *rings, int owners, struct error *err)
{
	struct emit e = { 0 };
	struct sharing_offsets offsets;
	const struct btf_want wants[] = {
		{ "task_struct.mm", &offsets.mm },
		{ "task_struct.tgid", &offsets.tgid },
	};
	int code = raw_tracepoint_offsets(wants, 2, err);
	emit_label end;

	if (code)
		return code;
	code = perf_rings_map(rings);
	if (code < 0)
		return pin_refused(err, code, "cannot make the map 'rings'");
	sharing_fork_emit(&e, code, owners, &offsets);
	rings->fork = raw_tracepoint_attach(&e, "sched_process_fork", err);
	if (rings->fork < 0 || owners < 0)
		return rings->fork < 0 ? rings->fork : 0;

	/* sched_process_exec(task, ...): in the one that has a memory of its
	 * own now */
	e = (struct emit){ 0 };
	end = emit_label_new(&e);
	raw_tracepoint_current(&e, FRAME_DATA);
	emit_owners_call(&e, owners, BPF_FUNC_map_delete_elem, FRAME_DATA);
	raw_tracepoint_end(&e, end);
	rings->exec = raw_tracepoint_attach(&e, "sched_process_exec", err);
	return rings->exec < 0 ? rings->exec : 0;
}

/* ---- reading ---- */

/* Sizes are multiples of 8, so that a header is never in two parts. */
static int ring_read(const struct perf_ring *ring, struct perf_rings *rings)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head,
					__ATOMIC_ACQUIRE);
	uint64_t at = ring->page->data_tail;
	const struct perf_event_header *header;
	struct perf_record *record;
	size_t from, part, time;

	for (; head - at >= sizeof(*header); at += header->size) {
		from = at & (DATA_BYTES - 1);
		header = (const void *)(ring->data + from);
		if (header->size < sizeof(*header) || header->size % 8 ||
		    header->size > head - at)
			return -EIO;
		if (header->size < sizeof(*header) + TRAILER)
			continue;
		if (!array_grow(&rings->records, rings->record_count,
				&rings->record_room, sizeof(*rings->records)))
			return -ENOMEM;
		record = &rings->records[rings->record_count++];
		record->offset = rings->bytes.size;
		part = DATA_BYTES - from;
		if (part > header->size)
			part = header->size;
		bytes_add(&rings->bytes, header, part);
		bytes_add(&rings->bytes, ring->data, header->size - part);
		if (rings->bytes.failed)
			return -ENOMEM;
		time = header->type == PERF_RECORD_SAMPLE ?
			sizeof(*header) + 8 : header->size - 8u;
		memcpy(&record->time,
		       rings->bytes.data + record->offset + time, 8);
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

int perf_rings_read(struct perf_rings *rings)
{
	bool open = true;
	int ret;

	rings->record_count = rings->bytes.size = 0;
	for (int round = 0; round < ROUNDS && open; round++) {
		uint64_t begun = buffer_time();
		size_t from = rings->record_count;

		for (size_t i = 0; i < rings->count; i++) {
			ret = ring_read(&rings->items[i], rings);
			if (ret)
				return ret;
		}
		/* Another CPU, which was read before, may have had earlier
		 * records than these. */
		open = false;
		for (; from < rings->record_count && !open; from++)
			open = rings->records[from].time > begun;
	}
	if (rings->record_count)
		qsort(rings->records, rings->record_count,
		      sizeof(*rings->records), record_compare);
	return 0;
}

void perf_rings_close(struct perf_rings *rings)
{
	const int fds[] = { rings->fork, rings->exec, rings->map, rings->fd };

	for (size_t i = 0; i < rings->count; i++) {
		munmap(rings->items[i].page, ring_bytes());
		close(rings->items[i].fd);
	}
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	free(rings->items);
	free(rings->records);
	bytes_free(&rings->bytes);
	*rings = PERF_RINGS_NONE;
}
