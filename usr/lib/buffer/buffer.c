// SPDX-License-Identifier: GPL-2.0
#include "buffer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <rastrace/ring.h>
#include "device.h"
#include "pin.h"

#define WALL_SET	1000ULL	/* ns; a clock that is off by more was set */

static int view_open(struct buffer_view *view, const char *run,
		     const char *name, bool write, struct bpf_map_info *info,
		     struct error *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", run, name);
	view->fd = pin_map_open(path, info, err);
	if (view->fd < 0)
		return view->fd;
	view->stride = ((size_t)info->value_size + 7) & ~(size_t)7;
	view->base = pin_map_view(view->fd, info, write, &view->size, err);
	return view->base ? 0 : -errno;
}

static void view_close(struct buffer_view *view)
{
	if (view->base)
		munmap(view->base, view->size);
	if (view->fd >= 0)
		close(view->fd);
}

static int control_check(const struct buffer *buffer, const char *run,
			 struct error *err)
{
	const struct ras_control *c = buffer->control;
	bool known = buffer->control_view.size >= sizeof(*c) &&
		     c->magic == RAS_CONTROL_MAGIC;

	if (!known || c->layout != RAS_LAYOUT) {
		error_set(err, -EPROTO,
			  "the buffer in '%s' was made by another version of trace (it has layout %u, this version's is %u)",
			  run, known ? c->layout : 0, RAS_LAYOUT);
		error_hint(err, "save it with the version that made it; "
			   "'trace off --all' removes it");
		return -EPROTO;
	}
	if (!ras_geometry_valid(c->slice_bytes, c->nest_bytes, c->cpus) ||
	    c->nest_levels != RAS_NEST_LEVELS)
		return error_set(err, -EINVAL,
				 "the buffer's control block in '%s' is damaged",
				 run);
	return 0;
}

static bool view_fits(const struct buffer_view *view, uint64_t bytes,
		      uint64_t entries)
{
	return view->stride == RAS_SLICE_HEADER + bytes + RAS_RECORD_MAX &&
	       view->size == view->stride * entries;
}

static int geometry_check(struct buffer *buffer, const char *run,
			  struct error *err)
{
	const struct ras_control *c = buffer->control;
	uint32_t nest = c->cpus * c->nest_levels;

	buffer->slices = c->cpus + nest;
	if (!view_fits(&buffer->main_view, c->slice_bytes, c->cpus) ||
	    !view_fits(&buffer->nest_view, c->nest_bytes, nest) ||
	    buffer->sessions_view.size != RAS_SESSIONS_BYTES ||
	    buffer->trigger_view.size != sizeof(struct ras_trigger) ||
	    buffer->control_view.size !=
	    sizeof(*c) + 8 * (uint64_t)buffer->slices)
		return error_set(err, -EINVAL,
				 "the buffer's maps in '%s' don't fit together",
				 run);
	return 0;
}

static const struct buffer closed = {
	.control_view.fd = -1, .sessions_view.fd = -1, .trigger_view.fd = -1,
	.main_view.fd = -1, .nest_view.fd = -1, .processes_fd = -1,
	.device_fd = -1,
};

static int pins_open(struct buffer *buffer, const char *run, bool write,
		     struct error *err)
{
	const struct {
		struct buffer_view *view;
		const char *name;
		bool write;
	} others[] = {
		{ &buffer->sessions_view, "sessions", write },
		{ &buffer->trigger_view, "trigger", write },
		{ &buffer->main_view, "buffer", false },
		{ &buffer->nest_view, "nest", false },
	};
	struct bpf_map_info info;
	char path[PATH_MAX];
	int code = view_open(&buffer->control_view, run, "control", write,
			     &info, err);

	buffer->control = buffer->control_view.base;
	if (code == -ENOENT) {
		error_set(err, code, "there is no trace buffer in '%s'", run);
		error_hint(err, "'trace on' makes it");
	}
	if (!code)
		code = control_check(buffer, run, err);
	for (size_t i = 0; i < 4 && !code; i++)
		code = view_open(others[i].view, run, others[i].name,
				 others[i].write, &info, err);
	buffer->trigger = buffer->trigger_view.base;
	if (code)
		return code;
	snprintf(path, sizeof(path), "%s/processes", run);
	buffer->processes_fd = pin_hash_open(path, BPF_MAP_TYPE_LRU_HASH,
					     sizeof(struct ras_process_key),
					     sizeof(struct ras_process), err);
	return buffer->processes_fd < 0 ? buffer->processes_fd :
					  geometry_check(buffer, run, err);
}

/* ---- from the kernel module's device ---- */

static int buffer_part_map(const struct buffer *buffer,
			   struct buffer_view *view, int part, size_t stride,
			   uint32_t entries, struct error *err)
{
	view->stride = stride;
	view->size = stride * entries;
	view->base = device_map(buffer->device_fd, part, view->size, err);
	return view->base ? 0 : -errno;
}

/* The device maps whole pages: what belongs to the control block is computed,
 * and must be among them. */
static int control_open(struct buffer *buffer, const struct rastrace_info *info,
			struct error *err)
{
	struct buffer_view *view = &buffer->control_view;
	uint64_t mapped = info->parts[RASTRACE_CONTROL].bytes;
	int code = buffer_part_map(buffer, view, RASTRACE_CONTROL, mapped, 1,
				   err);

	buffer->control = view->base;
	if (!code)
		code = control_check(buffer, DEVICE_PATH, err);
	if (code)
		return code;
	view->size = sizeof(*buffer->control) +
		8 * (uint64_t)buffer->control->cpus * (1 + RAS_NEST_LEVELS);
	if (view->size <= mapped)
		return 0;
	view->size = mapped;
	return error_set(err, -EINVAL,
			 "the buffer's control block in '" DEVICE_PATH "' is damaged");
}

static int buffer_parts_map(struct buffer *buffer,
			    const struct rastrace_info *info,
			    struct error *err)
{
	const uint64_t more = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	int code = control_open(buffer, info, err);
	const struct ras_control *control = buffer->control;
	uint32_t cpus;

	if (code)
		return code;
	cpus = control->cpus;
	code = buffer_part_map(buffer, &buffer->main_view, RASTRACE_BUFFER,
			       control->slice_bytes + more, cpus, err);
	if (!code)
		code = buffer_part_map(buffer, &buffer->nest_view,
				       RASTRACE_NEST,
				       control->nest_bytes + more,
				       cpus * RAS_NEST_LEVELS, err);
	if (!code)
		code = buffer_part_map(buffer, &buffer->sessions_view,
				       RASTRACE_SESSIONS, RAS_SESSIONS_BYTES,
				       1, err);
	if (!code)
		code = buffer_part_map(buffer, &buffer->trigger_view,
				       RASTRACE_TRIGGER,
				       sizeof(struct ras_trigger), 1, err);
	buffer->trigger = buffer->trigger_view.base;
	return code ? code : geometry_check(buffer, DEVICE_PATH, err);
}

bool buffer_device_gone(const struct buffer *buffer)
{
	struct rastrace_info info;

	return device_ask(buffer->device_fd, &info, NULL) ||
	       info.parts[RASTRACE_CONTROL].id != buffer->device_id;
}

/* Open the module's device instead of pins that the caller may not open. Without
 * the module err, which is about the pins, stays. */
static int buffer_module_open(struct buffer *buffer, struct error *err)
{
	struct rastrace_info info;
	struct error why = { 0 };
	int code;

	buffer->device_fd = device_open(&info, &why);
	if (buffer->device_fd == -ENOENT)
		return -EACCES;
	if (err)
		*err = why;
	if (buffer->device_fd < 0)
		return buffer->device_fd;
	buffer->device_id = info.parts[RASTRACE_CONTROL].id;
	code = device_check_layout(&info, err);
	if (code)
		return code;
	if (!info.adopted) {
		error_set(err, -ENOENT, "the kernel module has no trace buffer");
		error_hint(err, "'trace on' gives it one");
		return -ENOENT;
	}
	code = buffer_parts_map(buffer, &info, err);
	if (buffer_device_gone(buffer)) {
		error_set(err, -EAGAIN, "the buffer was removed or made anew meanwhile");
		error_hint(err, "try again");
		return -EAGAIN;
	}
	return code;
}

int buffer_open(struct buffer *buffer, const char *run, bool write,
		struct error *err)
{
	int code;

	*buffer = closed;
	code = pins_open(buffer, run, write, err);
	if (code == -EACCES && !write && !strcmp(run, PIN_RUN_DEFAULT)) {
		buffer_close(buffer);
		code = buffer_module_open(buffer, err);
	}
	if (code)
		buffer_close(buffer);
	return code;
}

void buffer_close(struct buffer *buffer)
{
	view_close(&buffer->control_view);
	view_close(&buffer->sessions_view);
	view_close(&buffer->trigger_view);
	view_close(&buffer->main_view);
	view_close(&buffer->nest_view);
	if (buffer->processes_fd >= 0)
		close(buffer->processes_fd);
	if (buffer->device_fd >= 0)
		close(buffer->device_fd);
	*buffer = closed;
}

int buffer_refresh(struct buffer *buffer, struct error *err)
{
	const struct buffer_view *const views[] = {
		&buffer->control_view, &buffer->sessions_view,
		&buffer->trigger_view,
	};
	int code = 0;

	for (size_t i = 0; i < 3 && !code && buffer->device_fd < 0; i++)
		code = pin_map_refresh(views[i]->fd, views[i]->base,
				       views[i]->size, err);
	return code;
}

static uint64_t map_memory(uint64_t value_size, uint64_t entries)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	return (value_size * entries + 2 * page - 1) / page * page;
}

/* What an entry of a hash takes beside its key and value. */
#define HASH_ENTRY	64

uint64_t buffer_memory(uint64_t slice_bytes, uint32_t cpus)
{
	uint64_t more = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	uint64_t process = sizeof(struct ras_process_key) +
			   sizeof(struct ras_process) + HASH_ENTRY;
	uint64_t rows = cpus * (1 + RAS_NEST_LEVELS);

	return map_memory(slice_bytes + more, cpus) +
	       map_memory(RAS_NEST_BYTES + more, cpus * RAS_NEST_LEVELS) +
	       map_memory(sizeof(struct ras_control) + 8 * rows, 1) +
	       map_memory(RAS_SESSIONS_BYTES, 1) +
	       map_memory(sizeof(struct ras_trigger), 1) +
	       map_memory(process, RAS_PROCESSES_MAX);
}

const struct ras_slice *buffer_slice(const struct buffer *buffer,
				     uint32_t row, uint64_t *size)
{
	const struct buffer_view *view = &buffer->main_view;

	*size = buffer->control->slice_bytes;
	if (row >= buffer->control->cpus) {
		row -= buffer->control->cpus;
		view = &buffer->nest_view;
		*size = buffer->control->nest_bytes;
	}
	return (const void *)((const char *)view->base + row * view->stride);
}

uint64_t buffer_tail(const struct buffer *buffer, uint32_t row)
{
	return __atomic_load_n(&buffer->control->tail[row], __ATOMIC_RELAXED);
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

uint64_t buffer_time(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* The closest of several readings: between two clocks anything may come. */
int64_t buffer_wall_offset(void)
{
	int64_t least = INT64_MAX, offset = 0;

	for (int i = 0; i < 8; i++) {
		int64_t before = clock_ns(CLOCK_BOOTTIME);
		int64_t wall = clock_ns(CLOCK_REALTIME);
		int64_t took = clock_ns(CLOCK_BOOTTIME) - before;

		if (took < least)
			offset = wall - before - took / 2;
		if (took < least)
			least = took;
	}
	return offset;
}

int64_t buffer_wall_offset_kept(const struct buffer *buffer)
{
	int64_t kept = buffer->control->wall_offset;
	int64_t now = buffer_wall_offset();

	return (uint64_t)now - (uint64_t)kept + WALL_SET < 2 * WALL_SET ?
	       kept : now;
}
