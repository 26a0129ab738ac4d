// SPDX-License-Identifier: GPL-2.0
/*
 * Of each process the threads are known, because the kernel reports when a thread
 * ends and not when a process does; and its memory, because it reports of a
 * mapping that grows only how big it is now.
 */
#include "tracker.h"

#include <ctype.h>
#include <errno.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "lib/array.h"
#include "lib/key_map.h"
#include "lib/maps_line.h"
#include "perf_ring.h"

#define RANGES_MAX	4096	/* then they begin anew */

struct growth_range {
	uint64_t start, end;
};

/*
 * A process's memory without a file, as far as the kernel's events show it: they
 * report a whole mapping when it was made or became bigger, and nothing when it
 * goes.
 */
struct growth {
	uint64_t brk;			/* end of the heap; 0: none */
	struct growth_range *items;	/* as reported, ascending */
	size_t count, room;
};

struct process {
	uint32_t pid;
	uint32_t memory;		/* whose it works in */
	uint32_t *threads;
	size_t thread_count, thread_room;
	struct growth growth;
};

typedef int (*tracker_take)(void *context, const struct tracker_event *event);

struct tracker {
	bool follow;
	struct perf_rings rings;
	struct key_map processes;	/* by id */
	tracker_take take;		/* during tracker_read() */
	void *context;
	int ret;			/* what went wrong first */
};

/* ---- memory that grows ---- */

static void tracker_give(struct tracker *tracker, struct tracker_event event)
{
	if (!tracker->ret)
		tracker->ret = tracker->take(tracker->context, &event);
}

static void growth_give(struct tracker *tracker, struct tracker_event event,
			struct growth_range range)
{
	event.address = range.start;
	event.size = range.end - range.start;
	if (event.kind == TRACKER_GROW)
		tracker_give(tracker, event);
}

static void growth_range_add(struct growth *growth, size_t at,
			     struct growth_range range)
{
	struct growth_range *items;

	if (!array_grow(&growth->items, growth->count, &growth->room,
			sizeof(*growth->items)))
		return;
	items = growth->items + at;
	memmove(items + 1, items, (growth->count++ - at) * sizeof(*items));
	*items = range;
}

/* Give what is new of a mapping as that event, unless it is of another kind. A
 * mapping that was reported before, in the same size, is another one at the same
 * place. */
static void growth_take(struct growth *growth, struct growth_range range,
			struct tracker *tracker, struct tracker_event event)
{
	struct growth_range part = { range.start };
	size_t at = 0;

	if (growth->count >= RANGES_MAX)
		growth->count = 0;
	while (at < growth->count && growth->items[at].end <= range.start)
		at++;
	if (at < growth->count && growth->items[at].start == range.start &&
	    growth->items[at].end == range.end) {
		growth_give(tracker, event, range);
		return;
	}
	while (part.start < range.end) {
		const struct growth_range *known = &growth->items[at];
		bool is_known = at < growth->count && known->start < range.end;

		part.end = is_known ? known->start : range.end;
		if (part.start < part.end) {
			growth_give(tracker, event, part);
			growth_range_add(growth, at++, part);
		}
		if (!is_known)
			return;
		part.start = growth->items[at++].end;
	}
}

/* The same of the heap: new when the range isn't empty. */
static struct growth_range growth_take_brk(struct growth *growth,
					   struct growth_range heap)
{
	if (growth->brk > heap.start)
		heap.start = growth->brk < heap.end ? growth->brk : heap.end;
	growth->brk = heap.end;
	return heap;
}

static bool growth_copy(struct growth *growth, const struct growth *from)
{
	*growth = (struct growth) { .brk = from->brk };
	if (!from->count)
		return true;
	growth->items = malloc(from->count * sizeof(*from->items));
	if (!growth->items)
		return false;
	memcpy(growth->items, from->items, from->count * sizeof(*from->items));
	growth->count = growth->room = from->count;
	return true;
}

static void growth_free(struct growth *growth)
{
	free(growth->items);
	*growth = (struct growth) { 0 };
}

/* ---- processes ---- */

static struct process *tracker_process_find(const struct tracker *tracker,
					    uint32_t pid)
{
	return key_map_find(&tracker->processes, pid);
}

static struct process *tracker_process_add(struct tracker *tracker,
					   uint32_t pid)
{
	struct process *process = calloc(1, sizeof(*process));

	if (!process || key_map_add(&tracker->processes, pid, process)) {
		free(process);
		tracker->ret = -ENOMEM;
		return NULL;
	}
	process->pid = process->memory = pid;
	return process;
}

/* The one in whose memory it works */
static struct process *memory_find(const struct tracker *tracker, uint32_t pid)
{
	struct process *process = tracker_process_find(tracker, pid);

	return process ? tracker_process_find(tracker, process->memory) : NULL;
}

static void process_free(struct process *process)
{
	free(process->threads);
	growth_free(&process->growth);
	free(process);
}

static void process_remove(struct tracker *tracker, struct process *process)
{
	key_map_remove(&tracker->processes, process->pid, process);
	process_free(process);
}

static void tracker_thread_add(struct tracker *tracker, struct process *process,
			       uint32_t tid)
{
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i] == tid)
			return;
	if (array_grow(&process->threads, process->thread_count,
		       &process->thread_room, sizeof(*process->threads)))
		process->threads[process->thread_count++] = tid;
	else
		tracker->ret = -ENOMEM;
}

/* ---- reading /proc ---- */

static void threads_read(struct tracker *tracker, struct process *process)
{
	struct dirent *entry;
	char path[32];
	DIR *dir;

	process->thread_count = 0;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", process->pid);
	dir = opendir(path);
	if (!dir && errno != ENOENT)
		tracker->ret = -errno;
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		uint32_t tid = strtoul(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) &&
		    !process_thread_ended(process->pid, tid))
			tracker_thread_add(tracker, process, tid);
	}
	closedir(dir);
}

static void growth_read(struct tracker *tracker, struct process *process)
{
	struct maps_lines lines;
	struct maps_line maps;
	int ret = maps_lines_open(&lines, process->pid);

	growth_free(&process->growth);
	if (ret) {
		if (ret != -ENOENT)
			tracker->ret = ret;
		return;
	}
	while (maps_lines_next(&lines, &maps)) {
		struct growth_range range = { maps.start, maps.end };

		if (maps.mode[1] != 'w')
			continue;
		if (!strcmp(maps.path, "[heap]"))
			growth_take_brk(&process->growth, range);
		else if (!maps.path[0])
			growth_take(&process->growth, range, tracker,
				    (struct tracker_event){ TRACKER_LOST });
	}
	if (maps_lines_close(&lines) == -ENOMEM)
		tracker->ret = -ENOMEM;
}

int tracker_add(struct tracker *tracker, uint32_t pid)
{
	struct process *process = tracker_process_find(tracker, pid);

	if (process)
		return 0;
	process = tracker_process_add(tracker, pid);
	if (!process)
		return -ENOMEM;
	threads_read(tracker, process);
	if (!process->thread_count) {
		process_remove(tracker, process);
		return tracker->ret ? tracker->ret : -ESRCH;
	}
	growth_read(tracker, process);
	return tracker->ret;
}

/* ---- events ---- */

/* PERF_RECORD_FORK, PERF_RECORD_EXIT (linux/perf_event.h) */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
};

struct sharing_record {		/* PERF_RECORD_SAMPLE */
	struct perf_event_header header;
	uint32_t pid, tid;	/* the one that forks */
	uint64_t time;
	uint32_t size;
	struct sharing_data data;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint8_t file[24];
	uint32_t protection, flags;
	char path[];
};

static void take_fork(struct tracker *tracker, const struct task_record *r,
		      uint64_t time)
{
	struct process *parent = tracker_process_find(tracker, r->parent),
		       *child;

	if (!parent)
		return;
	if (r->pid == r->parent) {
		tracker_thread_add(tracker, parent, r->tid);
		return;
	}
	if (!tracker->follow || tracker_process_find(tracker, r->pid))
		return;
	child = tracker_process_add(tracker, r->pid);
	if (!child)
		return;
	if (!growth_copy(&child->growth,
			 &memory_find(tracker, r->parent)->growth))
		tracker->ret = -ENOMEM;
	tracker_thread_add(tracker, child, r->tid);
	tracker_give(tracker, (struct tracker_event){
		TRACKER_FORK, time, r->pid, r->parent });
}

static void take_sharing(struct tracker *tracker,
			 const struct sharing_record *r, uint64_t time)
{
	struct process *child = tracker_process_find(tracker, r->data.child);
	struct process *owner = memory_find(tracker, r->pid);

	if (!child || !owner || child == owner)
		return;
	child->memory = owner->pid;
	tracker_give(tracker, (struct tracker_event){
		TRACKER_SHARE, time, child->pid, owner->pid });
}

/* The process leaves its memory: those that work in it keep it. */
static void memory_leave(struct tracker *tracker, struct process *process)
{
	struct process *other;
	size_t at = 0;

	while ((other = key_map_next(&tracker->processes, &at))) {
		if (other == process || other->memory != process->pid)
			continue;
		other->memory = other->pid;
		growth_free(&other->growth);
		if (!growth_copy(&other->growth, &process->growth))
			tracker->ret = -ENOMEM;
	}
	growth_free(&process->growth);
	process->memory = process->pid;
}

static void process_end(struct tracker *tracker, struct process *process,
			uint64_t time)
{
	struct tracker_event event = { TRACKER_EXIT, time, process->pid };

	memory_leave(tracker, process);
	process_remove(tracker, process);
	tracker_give(tracker, event);
}

static void tracker_take_exit(struct tracker *tracker,
			      const struct task_record *r, uint64_t time)
{
	struct process *process = tracker_process_find(tracker, r->pid);

	if (!process)
		return;
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i] == r->tid)
			process->threads[i--] =
				process->threads[--process->thread_count];
	if (!process->thread_count)
		process_end(tracker, process, time);
}

static void take_exec(struct tracker *tracker, const struct comm_record *r,
		      uint64_t time)
{
	struct process *process = tracker_process_find(tracker, r->pid);

	if (!process || !(r->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return;
	memory_leave(tracker, process);
	process->thread_count = 0;
	tracker_thread_add(tracker, process, r->tid);
	tracker_give(tracker, (struct tracker_event){
		TRACKER_EXEC, time, r->pid });
}

static void take_mmap(struct tracker *tracker, const struct mmap_record *r,
		      uint64_t time)
{
	struct process *process = memory_find(tracker, r->pid);
	struct growth_range range = { r->address, r->address + r->length };
	struct tracker_event event = {
		.time = time, .address = r->address, .size = r->length,
	};

	if (!process || !memchr(r->path, 0, r->header.size - sizeof(*r)))
		return;
	event.pid = process->pid;
	if (r->protection & PROT_EXEC && r->path[0] == '/' &&
	    r->path[1] != '/') {
		event.kind = TRACKER_MAP;
		event.path = r->path;
		tracker_give(tracker, event);
		return;
	}
	if (!(r->protection & PROT_WRITE))
		return;
	event.kind = TRACKER_GROW;
	/* 6.1 reports what was added to the heap as any memory. */
	event.brk = !strcmp(r->path, "[heap]") ||
		    (range.start <= process->growth.brk &&
		     range.end > process->growth.brk);
	if (event.brk) {
		range = growth_take_brk(&process->growth, range);
		if (range.start < range.end)
			growth_give(tracker, event, range);
	} else if (!strcmp(r->path, "//anon")) {
		growth_take(&process->growth, range, tracker, event);
	}
}

/* Some of it isn't known any more. */
static void take_lost(struct tracker *tracker, uint64_t time)
{
	struct process *process;
	size_t at = 0;

	tracker_give(tracker, (struct tracker_event){ TRACKER_LOST, time });
	while ((process = key_map_next(&tracker->processes, &at))) {
		threads_read(tracker, process);
		if (process->thread_count)
			growth_read(tracker, process);
	}
	/* A process that ends moves others: begin again. */
	at = 0;
	while (!tracker->ret &&
	       (process = key_map_next(&tracker->processes, &at))) {
		if (process->thread_count)
			continue;
		process_end(tracker, process, time);
		at = 0;
	}
}

static void take_record(struct tracker *tracker,
			const struct perf_event_header *header, uint64_t time)
{
	static const size_t least[] = {
		[PERF_RECORD_FORK] = sizeof(struct task_record),
		[PERF_RECORD_EXIT] = sizeof(struct task_record),
		[PERF_RECORD_COMM] = sizeof(struct comm_record),
		[PERF_RECORD_MMAP2] = sizeof(struct mmap_record) + 1,
		[PERF_RECORD_SAMPLE] = sizeof(struct sharing_record),
	};
	const void *record = header;

	if (header->type < sizeof(least) / sizeof(*least) &&
	    header->size < least[header->type])
		return;
	switch (header->type) {
	case PERF_RECORD_FORK:
		take_fork(tracker, record, time);
		break;
	case PERF_RECORD_EXIT:
		tracker_take_exit(tracker, record, time);
		break;
	case PERF_RECORD_COMM:
		take_exec(tracker, record, time);
		break;
	case PERF_RECORD_MMAP2:
		take_mmap(tracker, record, time);
		break;
	case PERF_RECORD_SAMPLE:
		take_sharing(tracker, record, time);
		break;
	case PERF_RECORD_LOST:
		take_lost(tracker, time);
		break;
	}
}

int tracker_read(struct tracker *tracker, tracker_take take, void *context)
{
	const struct perf_rings *rings = &tracker->rings;

	tracker->take = take;
	tracker->context = context;
	tracker->ret = perf_rings_read(&tracker->rings);
	for (size_t i = 0; i < rings->record_count && !tracker->ret; i++)
		take_record(tracker, (const struct perf_event_header *)
			    (rings->bytes.data + rings->records[i].offset),
			    rings->records[i].time);
	return tracker->ret;
}

int tracker_open(struct tracker **tracker, bool follow, int owners,
		 struct error *err)
{
	struct tracker *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return error_no_memory(err);
	t->follow = follow;
	ret = perf_rings_open(&t->rings, err);
	if (!ret && follow)
		ret = perf_rings_share(&t->rings, owners, err);
	if (ret) {
		tracker_close(t);
		return ret;
	}
	*tracker = t;
	return 0;
}

int tracker_fd(const struct tracker *tracker)
{
	return tracker->rings.fd;
}

unsigned int tracker_live(const struct tracker *tracker)
{
	return tracker->processes.count;
}

void tracker_close(struct tracker *tracker)
{
	struct process *process;
	size_t at = 0;

	while ((process = key_map_next(&tracker->processes, &at)))
		process_free(process);
	key_map_free(&tracker->processes);
	perf_rings_close(&tracker->rings);
	free(tracker);
}
