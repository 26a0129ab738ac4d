// SPDX-License-Identifier: GPL-2.0
#include "bufmaps.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/random.h>
#include "../lib/pin.h"
#include "../lib/session.h"
#include "../lib/sysbpf.h"
#include "pins.h"

static const char *const pin_names[] = {
	/* control comes last and goes first: with it there is a buffer */
	"control", "sessions", "nest", "buffer",
};

#define PINS	(sizeof(pin_names) / sizeof(pin_names[0]))

int bufmaps_size_parse(const char *text, uint64_t *bytes, struct error *err)
{
	static const char units[] = "KMG";
	unsigned long long n;
	const char *unit;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit && n < 1ULL << 32) {
		n <<= 10 * (unit - units + 1);
		end++;
	}
	if (errno || !isdigit((unsigned char)text[0]) || *end)
		return error_set(err, -EINVAL,
				 "'%s' is no buffer size: 64K, 1M or 16M for example",
				 text);
	if (n < RAS_SLICE_MIN || n > RAS_SLICE_MAX)
		return error_set(err, -EINVAL,
				 "buffer size '%s' is out of range: %uK to %uM for each CPU",
				 text, RAS_SLICE_MIN >> 10, RAS_SLICE_MAX >> 20);
	*bytes = RAS_SLICE_MIN;
	while (*bytes < n)
		*bytes <<= 1;
	return *bytes != n;
}

/* CPUs that the kernel can ever have: one more than the highest number. */
static int cpus_possible(void)
{
	char text[256] = "";
	const char *last;
	FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
	int highest;

	if (!file)
		return -errno;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	last = text + strcspn(text, "\n");
	while (last > text && isdigit((unsigned char)last[-1]))
		last--;
	return sscanf(last, "%d", &highest) == 1 && highest < 65536 ?
		highest + 1 : -EINVAL;
}

static int map_make(const char *name, uint32_t value_size,
		    uint32_t entries, struct error *err)
{
	int fd = sysbpf_array_create(name, value_size, entries);

	if (fd < 0)
		pin_refused(err, fd,
			    "cannot make the map '%s' of %u times %u bytes",
			    name, entries, value_size);
	if (fd == -ENOMEM || fd == -E2BIG)
		error_hint(err, "take a smaller buffer: --buffer SIZE");
	return fd;
}

static int map_pin(const struct run_dir *run, const char *name, int fd,
		   struct error *err)
{
	char path[PATH_MAX];
	int code;

	snprintf(path, sizeof(path), "%s/%s", run->path, name);
	code = sysbpf_object_pin(fd, path);
	return code ? pin_refused(err, code, "cannot pin '%s'", path) : 0;
}

static int slices_make(const struct run_dir *run, const char *name,
		       uint64_t bytes, uint32_t entries, struct error *err)
{
	int fd, code;

	fd = map_make(name, RAS_SLICE_HEADER + bytes + RAS_RECORD_MAX,
		      entries, err);
	if (fd < 0)
		return fd;
	code = sysbpf_map_freeze(fd);
	if (code)
		pin_refused(err, code, "cannot freeze the map '%s'", name);
	else
		code = map_pin(run, name, fd, err);
	close(fd);
	return code;
}

static int sessions_make(const struct run_dir *run, struct error *err)
{
	int code, fd = map_make("sessions", RAS_SESSIONS_BYTES, 1, err);

	if (fd < 0)
		return fd;
	code = map_pin(run, "sessions", fd, err);
	close(fd);
	return code;
}

static int control_make(const struct run_dir *run, uint32_t cpus,
			uint64_t bytes, struct error *err)
{
	uint32_t slices = cpus * (1 + RAS_NEST_LEVELS);
	size_t size = sizeof(struct ras_control) + slices * 8;
	struct ras_control *control = calloc(1, size);
	int fd, code;

	if (!control)
		return error_set(err, -ENOMEM, "out of memory");
	control->magic = RAS_CONTROL_MAGIC;
	control->layout = RAS_LAYOUT;
	control->slice_bytes = bytes;
	control->nest_bytes = RAS_NEST_BYTES;
	control->cpus = cpus;
	control->nest_levels = RAS_NEST_LEVELS;
	control->created = buffer_time();
	control->wall_offset = buffer_wall_offset();
	control->next_session = 1;
	fd = getrandom(&control->key, sizeof(control->key), 0) ==
	     sizeof(control->key) ?
	     map_make("control", size, 1, err) :
	     error_set(err, -EIO, "no random numbers");
	code = fd < 0 ? fd : sysbpf_map_update(fd, 0, control);
	if (fd >= 0 && code)
		pin_refused(err, code, "cannot fill the map 'control'");
	if (!code)
		code = map_pin(run, "control", fd, err);
	if (fd >= 0)
		close(fd);
	free(control);
	return code;
}

static void buffer_remove(const struct run_dir *run)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < PINS; i++) {
		snprintf(path, sizeof(path), "%s/%s", run->path, pin_names[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/past", run->path);
	pins_remove(run->path, path);
}

static int buffer_make(const struct run_dir *run, uint64_t bytes,
		       struct error *err)
{
	int code, cpus = cpus_possible();

	if (cpus < 0)
		return error_set(err, cpus, "cannot tell the number of CPUs");
	buffer_remove(run);
	code = slices_make(run, "buffer", bytes, cpus, err);
	if (!code)
		code = slices_make(run, "nest", RAS_NEST_BYTES,
				   cpus * RAS_NEST_LEVELS, err);
	if (!code)
		code = sessions_make(run, err);
	if (!code)
		code = control_make(run, cpus, bytes, err);
	if (code)
		buffer_remove(run);
	return code;
}

static bool buffer_empty(const struct buffer *buffer)
{
	uint64_t size;

	for (uint32_t row = 0; row < buffer->slices; row++)
		if (buffer_slice(buffer, row, &size)->head >
		    buffer_tail(buffer, row))
			return false;
	return true;
}

/* May this buffer go, to be made anew? */
static int buffer_check_unused(const struct buffer *buffer,
			       const struct run_dir *run, struct error *err)
{
	struct session_list list;
	size_t armed = 0;
	int code = session_list_read(&list, buffer, run->path, err);

	if (code)
		return code;
	for (size_t i = 0; i < list.count; i++)
		armed += list.items[i].armed;
	session_list_free(&list);
	if (armed) {
		error_set(err, -EBUSY,
			  "the buffer's size can't change: %zu TDF%s armed",
			  armed, armed == 1 ? " is" : "s are");
		error_hint(err, "disarm first (trace off), or leave --buffer away");
		return -EBUSY;
	}
	if (!buffer_empty(buffer)) {
		error_set(err, -EBUSY,
			  "the buffer's size can't change: it holds records");
		error_hint(err, "save them (trace get FILE.ras), "
			   "then discard them (trace clear)");
		return -EBUSY;
	}
	return 0;
}

int bufmaps_open(struct buffer *buffer, const struct run_dir *run,
		 uint64_t bytes, struct error *err)
{
	int code = buffer_open(buffer, run->path, true, err);

	if (!code && (!bytes || bytes == buffer->control->slice_bytes))
		return 0;
	if (!code) {
		code = buffer_check_unused(buffer, run, err);
		buffer_close(buffer);
	} else if (code == -ENOENT) {
		code = 0;
	}
	if (!code)
		code = buffer_make(run, bytes ? bytes : RAS_SLICE_DEFAULT, err);
	return code ? code : buffer_open(buffer, run->path, true, err);
}
