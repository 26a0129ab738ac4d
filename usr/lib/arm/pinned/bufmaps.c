// SPDX-License-Identifier: GPL-2.0
#include "bufmaps.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/random.h>
#include "lib/buffer/pin.h"
#include "lib/number.h"
#include "lib/buffer/session.h"
#include "lib/sysbpf.h"
#include "kmod.h"

static const char *const pin_names[] = {
	/* control comes last and goes first: with it there is a buffer */
	"control", "sessions", "trigger", "processes", "nest", "buffer",
	"cost",
};

#define PINS	(sizeof(pin_names) / sizeof(pin_names[0]))

int bufmaps_size_parse(const char *text, uint64_t *bytes, struct error *err)
{
	uint64_t n;

	if (!quantity_bytes(text, &n))
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

/* One more than the highest number. */
int bufmaps_cpus_possible(void)
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
	return sscanf(last, "%d", &highest) == 1 && highest < RAS_CPUS_MAX ?
		highest + 1 : -EINVAL;
}

/* A buffer that is being made. */
struct buffer_making {
	const struct run_dir *run;
	uint64_t bytes;
	uint32_t cpus;
	gid_t group;
};

/* Pins a map, and closes it. */
static int buffer_pin(const struct buffer_making *making, const char *name,
		      int fd, enum run_pin kind, struct error *err)
{
	char path[PATH_MAX];
	int code;

	snprintf(path, sizeof(path), "%s/%s", making->run->path, name);
	code = bpf_obj_pin(fd, path);
	close(fd);
	return code ? pin_refused(err, code, "cannot pin '%s'", path) :
		run_dir_share(path, kind, making->group, err);
}

/* value: what its only entry becomes; NULL: zeros */
static int buffer_map_make(const struct buffer_making *making,
			   const char *name, uint32_t value_size,
			   uint32_t entries, const void *value,
			   enum run_pin kind, struct error *err)
{
	int code = 0, fd = sysbpf_array_create(name, value_size, entries);

	if (fd < 0) {
		pin_refused(err, fd,
			    "cannot make the map '%s' of %u times %u bytes",
			    name, entries, value_size);
		if (fd == -ENOMEM || fd == -E2BIG)
			error_hint(err, "take a smaller buffer: --buffer SIZE");
		return fd;
	}
	if (value) {
		code = bpf_map_update_elem(fd, &(uint32_t){ 0 }, value,
					   BPF_ANY);
		if (code)
			pin_refused(err, code, "cannot fill the map '%s'",
				    name);
	} else if (kind == RUN_PIN_FROZEN) {
		code = bpf_map_freeze(fd);
		if (code)
			pin_refused(err, code, "cannot freeze the map '%s'",
				    name);
	}
	if (!code)
		return buffer_pin(making, name, fd, kind, err);
	close(fd);
	return code;
}

/* The last one of the maps: with it there is a buffer. */
static int control_make(const struct buffer_making *making, struct error *err)
{
	uint32_t slices = making->cpus * (1 + RAS_NEST_LEVELS);
	size_t size = sizeof(struct ras_control) + slices * 8;
	struct ras_control *control = calloc(1, size);
	int code;

	if (!control)
		return error_no_memory(err);
	control->magic = RAS_CONTROL_MAGIC;
	control->layout = RAS_LAYOUT;
	control->slice_bytes = making->bytes;
	control->nest_bytes = RAS_NEST_BYTES;
	control->cpus = making->cpus;
	control->nest_levels = RAS_NEST_LEVELS;
	control->created = buffer_time();
	control->wall_offset = buffer_wall_offset();
	control->next_session = 1;
	code = getrandom(&control->key, sizeof(control->key), 0) ==
	       sizeof(control->key) ?
	       buffer_map_make(making, "control", size, 1, control,
			       RUN_PIN_SHOWN, err) :
	       error_set(err, -EIO, "no random numbers");
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

static int buffer_maps_make(const struct buffer_making *making,
			    struct error *err)
{
	const uint32_t more = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	int fd, code = buffer_map_make(making, "buffer", making->bytes + more,
				       making->cpus, NULL, RUN_PIN_FROZEN, err);

	if (!code)
		code = buffer_map_make(making, "nest", RAS_NEST_BYTES + more,
				       making->cpus * RAS_NEST_LEVELS, NULL,
				       RUN_PIN_FROZEN, err);
	if (code)
		return code;
	fd = bpf_map_create(BPF_MAP_TYPE_LRU_HASH, "processes",
			    sizeof(struct ras_process_key),
			    sizeof(struct ras_process), RAS_PROCESSES_MAX,
			    NULL);
	code = fd < 0 ?
		pin_refused(err, fd, "cannot make the map 'processes'") :
		buffer_pin(making, "processes", fd, RUN_PIN_SHOWN, err);
	if (!code)
		code = buffer_map_make(making, "trigger",
				       sizeof(struct ras_trigger), 1, NULL,
				       RUN_PIN_SHOWN, err);
	if (!code)
		code = buffer_map_make(making, "sessions", RAS_SESSIONS_BYTES,
				       1, NULL, RUN_PIN_SHOWN, err);
	return code ? code : control_make(making, err);
}

static int buffer_make(const struct run_dir *run, uint64_t bytes, gid_t group,
		       struct error *err)
{
	int code, cpus = bufmaps_cpus_possible();
	const struct buffer_making making = {
		.run = run, .bytes = bytes, .cpus = cpus, .group = group,
	};

	if (cpus < 0)
		return error_set(err, cpus, "cannot find the number of CPUs: %s",
				 strerror(-cpus));
	kmod_release(run);
	buffer_remove(run);
	code = group == RUN_NO_GROUP ? 0 :
		run_dir_share(run->path, RUN_PIN_SHOWN, group, err);
	if (!code)
		code = buffer_maps_make(&making, err);
	if (code)
		buffer_remove(run);
	return code;
}

/* May this buffer go, to be made anew? what: "size" */
static int buffer_check_unused(const struct buffer *buffer,
			       const struct run_dir *run, const char *what,
			       struct error *err)
{
	struct session_list list;
	size_t armed = 0;
	uint64_t size;
	int code = session_list_read(&list, buffer, run->path, err);

	if (code)
		return code;
	for (size_t i = 0; i < list.count; i++)
		armed += list.items[i].armed;
	session_list_free(&list);
	if (armed) {
		error_set(err, -EBUSY,
			  "the buffer's %s can't change: %zu TDF%s armed",
			  what, armed, armed == 1 ? " is" : "s are");
		error_hint(err, "disarm first (trace off), or leave %s away",
			   !strcmp(what, "size") ? "--buffer" : "--group-read");
		return -EBUSY;
	}
	for (uint32_t row = 0; row < buffer->slices; row++) {
		if (buffer_slice(buffer, row, &size)->head <=
		    buffer_tail(buffer, row))
			continue;
		error_set(err, -EBUSY,
			  "the buffer's %s can't change: it holds records",
			  what);
		error_hint(err, "save them (trace get FILE.ras), "
			   "then discard them (trace clear)");
		return -EBUSY;
	}
	return 0;
}

/* By its name in /etc/group, or its number. */
static gid_t group_number(const char *name)
{
	FILE *file = fopen("/etc/group", "re");
	gid_t found = RUN_NO_GROUP;
	struct group *group;
	unsigned long n;
	char *end;

	while (file && found == RUN_NO_GROUP && (group = fgetgrent(file)))
		if (!strcmp(group->gr_name, name))
			found = group->gr_gid;
	if (file)
		fclose(file);
	if (found != RUN_NO_GROUP || !isdigit((unsigned char)name[0]))
		return found;
	n = strtoul(name, &end, 10);
	return *end || n >= RUN_NO_GROUP ? RUN_NO_GROUP : n;
}

/* A member can map the slices, which user space can't write; a program of the
 * member's could. */
static int group_find(const char *name, gid_t *group, struct error *err)
{
	FILE *file;
	int policy;

	*group = group_number(name);
	if (*group == RUN_NO_GROUP)
		return error_set(err, -EINVAL, "there is no group '%s'", name);
	file = fopen("/proc/sys/kernel/unprivileged_bpf_disabled", "re");
	policy = file ? getc(file) : EOF;
	if (file)
		fclose(file);
	if (policy != '0')
		return 0;
	error_set(err, -EPERM, "a group can't be let read here: the kernel takes BPF programs from everybody");
	error_hint(err, "sysctl kernel.unprivileged_bpf_disabled=1 ends that");
	return -EPERM;
}

int bufmaps_open(struct buffer *buffer, const struct run_dir *run,
		 const struct bufmaps_wanted *wanted, struct error *err)
{
	gid_t there = run_dir_group(run), group = there;
	uint64_t bytes = wanted->bytes;
	const char *changed = NULL;
	int code = wanted->group ? group_find(wanted->group, &group, err) : 0;

	if (code)
		return code;
	code = buffer_open(buffer, run->path, true, err);
	if (!code) {
		if (bytes && bytes != buffer->control->slice_bytes)
			changed = "size";
		else if (group != there)
			changed = "group";
		if (!changed)
			return 0;
		if (!bytes)
			bytes = buffer->control->slice_bytes;
		code = buffer_check_unused(buffer, run, changed, err);
		buffer_close(buffer);
	} else if (code == -ENOENT) {
		code = 0;
	}
	if (!code)
		code = buffer_make(run, bytes ? bytes : RAS_SLICE_DEFAULT,
				   group, err);
	return code ? code : buffer_open(buffer, run->path, true, err);
}
