// SPDX-License-Identifier: GPL-2.0
/* The processes that are recorded: what they do, and what is probed in them. */
#include <elf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "lib/array.h"
#include "lib/path.h"
#include "lib/buffer/picture.h"
#include "lib/buffer/pin.h"
#include "lib/buffer/session.h"
#include "lib/formats/tdf.h"
#include "recording.h"

#define CHUNK_NOTES	8192	/* in a chunk at most */

/* ---- notes (RAS_CHUNK_HEAP) on their way into the file ---- */

void following_note(struct recording *r, uint64_t time, uint32_t kind,
		    uint32_t pid, uint64_t a, uint64_t b)
{
	size_t at = r->note_count;

	if (!array_grow(&r->notes, r->note_count, &r->note_room,
			sizeof(*r->notes))) {
		r->notes_failed = true;
		return;
	}
	/* they come in order, nearly */
	for (; at && r->notes[at - 1].time > time; at--)
		r->notes[at] = r->notes[at - 1];
	r->notes[at] = (struct ras_heap_note){
		.time = time, .kind = kind, .pid = pid, .a = a, .b = b,
	};
	r->note_count++;
}

void following_write_notes(struct recording *r)
{
	struct chunk_out *out = &r->spooler.others;

	for (size_t at = 0; at < r->note_count; at += CHUNK_NOTES) {
		size_t n = r->note_count - at;

		if (n > CHUNK_NOTES)
			n = CHUNK_NOTES;
		chunk_begin(out);
		chunk_add(out, r->notes + at, n * sizeof(*r->notes));
		chunk_end(out, RAS_CHUNK_HEAP);
	}
	r->note_count = 0;
}

/* ---- probes ---- */

/* What was found to be the module is it: nothing is looked for again. */
static int tdf_arm(struct recording *r, const struct tdf *tdf,
		   const struct allocator_file *file, struct error *err)
{
	uint32_t points = tdf->header->points.count;
	bool *flags = calloc(2 * (size_t)points, sizeof(*flags));
	struct target_file module = {
		.fd = file->fd, .device = file->device, .inode = file->inode,
	};
	struct target target = {
		.files = &module, .file_count = 1, .pid = r->link_pid,
	};
	struct arm arm = {
		.run = &r->private, .buffer = &r->buffer,
		.features = &r->features, .settings = &r->settings->job,
		.tdf = tdf, .path = tdf->path, .targets = &target,
		.link_pid = r->link_pid, .picked = flags,
		.triggers = flags + points, .heap = &r->heap,
	};
	int code;

	if (!flags)
		return error_no_memory(err);
	memset(flags, true, points);
	strcpy(module.path, file->path);
	strcpy(target.path, file->path);
	code = arm_tdf(&arm, err);
	free(flags);
	return code;
}

static int file_arm(struct recording *r, const struct allocator_file *file,
		    struct error *err)
{
	char path[PATH_MAX + 16];
	struct error warning;
	struct tdf *tdf;
	size_t size;
	void *data;
	int code = points_make_tdf(file, &r->settings->points, &data, &size,
				   err);

	if (code)
		return code;
	snprintf(path, sizeof(path), "/heapmon/%s.tdf", path_base(file->path));
	code = tdf_parse(&tdf, data, size, path, err);
	free(data);
	if (code)
		return code;
	code = tdf_arm(r, tdf, file, err);
	tdf_close(tdf);
	if (code)
		error_prefix(err, "cannot probe '%s': ", file->path);
	else if (allocator_file_throws(file)) {
		/* A return probe's address has no entry in .eh_frame. */
		error_set(&warning, 0,
			"operator new of '%s' is probed where it returns: a std::bad_alloc that it throws ends the program",
			file->path);
		error_hint(&warning,
			"--no-new leaves it alone, and the blocks that it gives are missing");
		error_print("heapmon", &warning);
	}
	return code;
}

int arming_more(struct recording *r, struct error *err)
{
	int code = 0;

	for (; !code && r->armed < r->allocator.count; r->armed++)
		code = file_arm(r, &r->allocator.files[r->armed], err);
	return code;
}

static void pid_add(const char *path, const char *name, void *context)
{
	const uint32_t *pid = context;
	char pin[PATH_MAX + 8];
	uint32_t value = 1;
	int fd;

	snprintf(pin, sizeof(pin), "%s/pids", path);
	fd = bpf_obj_get(pin);
	if (fd < 0)
		return;
	bpf_map_update_elem(fd, pid, &value, BPF_ANY);
	close(fd);
}

/* A process to be recorded, in all sessions; harmless when it is there. */
static void arming_add_pid(struct recording *r, uint32_t pid)
{
	char armed[PATH_MAX];

	snprintf(armed, sizeof(armed), "%s/armed", r->private.path);
	pins_each(armed, pid_add, &pid);
}

int arming_off(struct recording *r, struct error *err)
{
	struct session_list list;
	int code = session_list_read(&list, &r->buffer, r->private.path, err);

	if (code)
		return code;
	for (size_t i = 0; i < list.count && !code; i++)
		if (list.items[i].armed)
			code = retire_session(&r->private, &r->buffer,
					      &list.items[i], err);
	session_list_free(&list);
	return code;
}

/* ---- processes ---- */

static struct recorded *following_process_find(struct recording *r,
					       uint32_t pid)
{
	for (size_t i = 0; i < r->process_count; i++)
		if (r->processes[i].pid == pid)
			return &r->processes[i];
	return NULL;
}

static struct recorded *following_process_add(struct recording *r, uint32_t pid,
					      uint32_t parent)
{
	struct recorded *process = following_process_find(r, pid);

	if (process)
		return process;
	if (!array_grow(&r->processes, r->process_count, &r->process_room,
			sizeof(*process)))
		return NULL;
	process = &r->processes[r->process_count++];
	*process = (struct recorded){
		.pid = pid, .parent = parent, .changed = true,
	};
	r->seen++;
	return process;
}

/* Bytes of its pointers, also of one that is gone */
static unsigned int pointer_bytes(uint32_t pid)
{
	unsigned char ident[EI_NIDENT];

	return proc_read(pid, "exe", ident, sizeof(ident)) == sizeof(ident) &&
	       ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
}

/* ---- what is mapped ---- */

/* What was read of a child before it went: of its parent's, not of a program that
 * it executed meanwhile. */
static bool maps_begin_alike(const struct mappings *part,
			     const struct mappings *whole)
{
	return !part->count ||
	       (whole->count &&
		part->items[0].start == whole->items[0].start &&
		!strcmp(part->items[0].path, whole->items[0].path));
}

/* Of one that is gone already, or goes meanwhile, and hasn't executed anything, its
 * parent's; where that goes, too, none: who reads them takes what was written of
 * it before, as of the process itself. */
static void maps_write(struct recording *r, struct recorded *process)
{
	struct mappings own, parent = { 0 };
	const struct mappings *m = &own;
	bool known = mappings_read_process(&own, &r->mappings, process->pid,
					   buffer_time());

	if ((!known || own.torn) && process->parent) {
		known = mappings_read_process(&parent, &r->mappings,
					      process->parent, buffer_time());
		if (!known || maps_begin_alike(&own, &parent))
			m = &parent;
	}
	if (m->count && !(m->torn && (m == &parent || process->mapped))) {
		picture_maps(&r->spooler.others, process->pid, m);
		process->mapped = true;
	}
	mappings_free(&own);
	mappings_free(&parent);
}

/* Code came into a process. What can't be probed now is reported at the end. */
static int process_look(struct recording *r, struct recorded *process,
			struct error *err)
{
	struct error why = { 0 };
	int code;

	process->changed = false;
	code = allocator_add_process(&r->allocator, process->pid,
				     &r->settings->want, &why);
	if (code == -ENOMEM)
		return error_no_memory(err);
	while (!code && arming_more(r, &why)) {
		r->why = why;
		r->allocator.files[r->armed - 1].count = 0;
	}
	if (r->unwind &&
	    (!process->parent ||
	     unwind_copy_process(r->unwind, process->parent, process->pid))) {
		code = unwind_add_process(r->unwind, process->pid, NULL);
		if (code && code != -ESRCH)
			r->unwind_failed = true;
	}
	maps_write(r, process);
	process->parent = 0;
	return 0;
}

/* ---- what processes do ---- */

static void following_take_exit(struct recording *r,
				const struct tracker_event *event)
{
	struct recorded *process = following_process_find(r, event->pid);

	following_note(r, event->time, RAS_HEAP_EXIT, event->pid, 0, 0);
	if (r->unwind)
		unwind_drop_process(r->unwind, event->pid);
	if (!process)
		return;
	if (process->changed && process->parent)
		maps_write(r, process);
	else if (process->changed)
		r->unseen++;
	*process = r->processes[--r->process_count];
}

static int event_take(void *context, const struct tracker_event *event)
{
	struct recording *r = context;
	struct recorded *process = following_process_find(r, event->pid);
	struct recorded *child;

	switch (event->kind) {
	case TRACKER_FORK:
		child = following_process_add(r, event->pid, event->parent);
		following_note(r, event->time, RAS_HEAP_FORK, event->pid,
			       event->parent, 0);
		if (child) {
			arming_add_pid(r, event->pid);
			if (r->unwind)
				unwind_copy_process(r->unwind, event->parent,
						    event->pid);
		}
		break;
	case TRACKER_SHARE:
		following_note(r, event->time, RAS_HEAP_SHARE, event->pid,
			       event->parent, 0);
		break;
	case TRACKER_EXEC:
		following_note(r, event->time, RAS_HEAP_EXEC, event->pid, 0, 0);
		following_note(r, event->time, RAS_HEAP_BEGIN, event->pid,
			       pointer_bytes(event->pid), 1);
		if (r->unwind)
			unwind_drop_process(r->unwind, event->pid);
		if (process) {
			process->changed = true;
			process->mapped = false;
			process->parent = 0;
		}
		break;
	case TRACKER_EXIT:
		following_take_exit(r, event);
		break;
	case TRACKER_MAP:
		if (process)
			process->changed = true;
		break;
	case TRACKER_GROW:
		if (event->brk || r->settings->want.maps)
			following_note(r, event->time, RAS_HEAP_GROW,
				       event->pid, event->address, event->size);
		break;
	case TRACKER_LOST:
		r->tracker_lost++;
		for (size_t i = 0; i < r->process_count; i++)
			r->processes[i].changed = true;
		break;
	}
	return 0;
}

int following_update(struct recording *r, struct error *err)
{
	int code = tracker_read(r->tracker, event_take, r);

	if (code)
		return error_set(err, code,
				 "cannot read what the processes do: %s",
				 strerror(-code));
	for (size_t i = 0; !code && i < r->process_count; i++)
		if (r->processes[i].changed)
			code = process_look(r, &r->processes[i], err);
	return code;
}

int following_add(struct recording *r, uint32_t pid, bool from_exec,
		  struct error *err)
{
	struct recorded *process = following_process_add(r, pid, 0);

	if (!process)
		return error_no_memory(err);
	process->changed = false;
	following_note(r, buffer_time(), RAS_HEAP_BEGIN, pid,
		       pointer_bytes(pid), from_exec);
	maps_write(r, process);
	return 0;
}

/* ---- blocks that are there ---- */

struct old_taking {
	struct recording *r;
	uint32_t pid;
	uint64_t count, bytes;
	struct old_figures figures;
};

/* Chosen as other blocks are; releases of those that are chosen are recorded. */
static int old_take(void *context, const struct old_block *block)
{
	struct old_taking *taking = context;
	const struct record_settings *settings = taking->r->settings;
	const struct ras_block key = {
		.pid = taking->pid, .address = block->address,
	};
	uint64_t time = taking->figures.time, size = block->size;

	if (size < settings->min_size ||
	    (settings->sample &&
	     drand48() < exp(-(double)size / settings->sample)))
		return 0;
	if (taking->r->heap.blocks_fd >= 0)
		bpf_map_update_elem(taking->r->heap.blocks_fd, &key, &size,
				    BPF_ANY);
	taking->count++;
	taking->bytes += size;
	if (block->has_word && settings->points.types)
		following_note(taking->r, time, RAS_HEAP_OLD_WORD, taking->pid,
			       block->address, block->word);
	following_note(taking->r, time, RAS_HEAP_OLD, taking->pid,
		       block->address, size);
	return taking->r->notes_failed ? -ENOMEM : 0;
}

void following_walk_old(struct recording *r, uint32_t pid)
{
	struct old_taking taking = { .r = r, .pid = pid };
	struct error why = { 0 };
	int code = old_walk(pid, old_take, &taking, &taking.figures, &why);
	uint32_t end = code ? RAS_HEAP_OLD_REFUSED : taking.figures.why;
	uint64_t time = taking.figures.time;

	following_note(r, time ? time : buffer_time(), RAS_HEAP_OLD_END, pid,
		       taking.count, end);
	r->old_blocks += taking.count;
	r->old_bytes += taking.bytes;
	if (taking.figures.stopped > r->old_stopped)
		r->old_stopped = taking.figures.stopped;
	if (end == RAS_HEAP_OLD_WHOLE)
		return;
	error_prefix(&why, "not all blocks that process %u had were found: ",
		     pid);
	error_print("heapmon", &why);
}
