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
#include "lib/process_stat.h"
#include "growth.h"
#include "perf_ring.h"
#include "sharing.h"

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
	struct sharing sharing;
	struct perf_batch batch;
	struct key_map processes;	/* by id */
	tracker_take take;		/* during tracker_read() */
	void *context;
	int ret;			/* what went wrong first */
};

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

static void thread_remove(struct process *process, uint32_t tid)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i] != tid)
			continue;
		process->threads[i] =
			process->threads[--process->thread_count];
		return;
	}
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

static void range_ignore(void *context, struct growth_range range)
{
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
			growth_take(&process->growth, range, range_ignore,
				    NULL);
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

static void tracker_give(struct tracker *tracker,
			 const struct tracker_event *event)
{
	if (!tracker->ret)
		tracker->ret = tracker->take(tracker->context, event);
}

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
	tracker_give(tracker, &(struct tracker_event){
				      .kind = TRACKER_FORK,
				      .time = time,
				      .pid = r->pid,
				      .parent = r->parent,
			      });
}

static void take_sharing(struct tracker *tracker,
			 const struct sharing_record *r, uint64_t time)
{
	struct process *child = tracker_process_find(tracker, r->data.child);
	struct process *owner = memory_find(tracker, r->pid);

	if (!child || !owner || child == owner)
		return;
	child->memory = owner->pid;
	tracker_give(tracker, &(struct tracker_event){
				      .kind = TRACKER_SHARE,
				      .time = time,
				      .pid = child->pid,
				      .parent = owner->pid,
			      });
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
	struct tracker_event event = {
		.kind = TRACKER_EXIT, .time = time, .pid = process->pid,
	};

	memory_leave(tracker, process);
	process_remove(tracker, process);
	tracker_give(tracker, &event);
}

static void tracker_take_exit(struct tracker *tracker,
			      const struct task_record *r, uint64_t time)
{
	struct process *process = tracker_process_find(tracker, r->pid);

	if (!process)
		return;
	thread_remove(process, r->tid);
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
	tracker_give(tracker, &(struct tracker_event){
				      .kind = TRACKER_EXEC,
				      .time = time,
				      .pid = r->pid,
			      });
}

struct grown {
	struct tracker *tracker;
	struct tracker_event event;
};

static void give_growth(void *context, struct growth_range range)
{
	struct grown *grown = context;

	grown->event.address = range.start;
	grown->event.size = range.end - range.start;
	tracker_give(grown->tracker, &grown->event);
}

static void take_mmap(struct tracker *tracker, const struct mmap_record *r,
		      uint64_t time)
{
	struct process *process = memory_find(tracker, r->pid);
	size_t room = r->header.size - sizeof(*r);
	struct growth_range range;
	struct grown grown;

	if (!process || !memchr(r->path, 0, room))
		return;
	if (r->protection & PROT_EXEC && r->path[0] == '/' &&
	    r->path[1] != '/')
		tracker_give(tracker, &(struct tracker_event){
					      .kind = TRACKER_MAP,
					      .time = time,
					      .pid = process->pid,
					      .address = r->address,
					      .size = r->length,
					      .path = r->path,
				      });
	else if (r->protection & PROT_WRITE) {
		range = (struct growth_range){
			r->address, r->address + r->length,
		};
		grown = (struct grown){
			.tracker = tracker, .event.kind = TRACKER_GROW,
			.event.time = time, .event.pid = process->pid,
		};
		/* 6.1 reports what was added to the heap as any memory. */
		if (!strcmp(r->path, "[heap]") ||
		    (range.start <= process->growth.brk &&
		     range.end > process->growth.brk)) {
			range = growth_take_brk(&process->growth, range);
			grown.event.brk = true;
			if (range.start < range.end)
				give_growth(&grown, range);
		} else if (!strcmp(r->path, "//anon")) {
			growth_take(&process->growth, range, give_growth,
				    &grown);
		}
	}
}

static void take_record(struct tracker *tracker,
			const struct perf_event_header *header, uint64_t time)
{
	const void *record = header;
	struct process *process;
	size_t at = 0;

	switch (header->type) {
	case PERF_RECORD_FORK:
		if (header->size >= sizeof(struct task_record))
			take_fork(tracker, record, time);
		break;
	case PERF_RECORD_EXIT:
		if (header->size >= sizeof(struct task_record))
			tracker_take_exit(tracker, record, time);
		break;
	case PERF_RECORD_COMM:
		if (header->size >= sizeof(struct comm_record))
			take_exec(tracker, record, time);
		break;
	case PERF_RECORD_MMAP2:
		if (header->size > sizeof(struct mmap_record))
			take_mmap(tracker, record, time);
		break;
	case PERF_RECORD_SAMPLE:
		if (header->size >= sizeof(struct sharing_record))
			take_sharing(tracker, record, time);
		break;
	case PERF_RECORD_LOST:
		/* Some of it isn't known any more. */
		tracker_give(tracker, &(struct tracker_event){
					      .kind = TRACKER_LOST,
					      .time = time,
				      });
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
		break;
	}
}

int tracker_read(struct tracker *tracker, tracker_take take, void *context)
{
	struct perf_batch *batch = &tracker->batch;

	tracker->take = take;
	tracker->context = context;
	tracker->ret = perf_rings_read(&tracker->rings, batch);
	for (size_t i = 0; i < batch->count && !tracker->ret; i++)
		take_record(tracker, (const struct perf_event_header *)
			    (batch->bytes + batch->items[i].offset),
			    batch->items[i].time);
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
	t->sharing = SHARING_NONE;
	ret = perf_rings_open(&t->rings, err);
	if (!ret && follow)
		ret = sharing_start(&t->sharing, &t->rings, owners, err);
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
	perf_batch_free(&tracker->batch);
	sharing_stop(&tracker->sharing);
	perf_rings_close(&tracker->rings);
	free(tracker);
}
