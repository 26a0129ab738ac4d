/* SPDX-License-Identifier: GPL-2.0 */
/* A trace buffer of a test's own, whose maps stay writable here, handed over to
 * the module; and the writers of kmod/sample. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <rastrace/buffer.h>
#include <rastrace/device.h>
#include "tap.h"

#define HANDOVER_KEY		0x1234567890abcdefULL
#define HANDOVER_SLICE		RAS_SLICE_DEFAULT
#define PARAMETERS		"/sys/module/rastrace_"

struct handover {
	int device;
	int pids;		/* the set of processes, not handed over yet */
	unsigned int cpus, slices;
	struct rastrace_adopt adopt;
	void *views[RASTRACE_PARTS];
	size_t sizes[RASTRACE_PARTS];
};

static inline int bpf_call(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static inline int map_create(int type, const char *name, unsigned int bytes,
			     unsigned int entries, unsigned int flags)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = 4, .value_size = bytes,
		.max_entries = entries, .map_flags = flags,
	};

	strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	return bpf_call(BPF_MAP_CREATE, &attr);
}

static inline void pid_set(int map, uint32_t pid, bool wanted)
{
	uint8_t value = 1;
	union bpf_attr attr = { .map_fd = map, .key = (uintptr_t)&pid };

	if (wanted)
		attr.value = (uintptr_t)&value;
	if (bpf_call(wanted ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attr))
		tap_bail("the set of processes: %s", strerror(errno));
}

/* One part, mapped for writing, too. */
__attribute__((unused))
static void part_make(struct handover *h, int part, const char *name,
		      unsigned int bytes, unsigned int entries)
{
	size_t size = (size_t)((bytes + 7) & ~7) * entries;
	int fd = map_create(BPF_MAP_TYPE_ARRAY, name, bytes, entries,
			    BPF_F_MMAPABLE);
	void *view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  0);

	if (fd < 0 || view == MAP_FAILED)
		tap_bail("the map '%s': %s", name, strerror(errno));
	h->adopt.maps[part] = fd;
	h->views[part] = view;
	h->sizes[part] = size;
}

static inline struct ras_control *handover_control(struct handover *h)
{
	return h->views[RASTRACE_CONTROL];
}

static inline uint8_t *handover_majors(struct handover *h)
{
	return h->views[RASTRACE_MAJORS];
}

static inline struct ras_state *handover_state(struct handover *h)
{
	return h->views[RASTRACE_STATE];
}

static inline struct ras_trigger *handover_trigger(struct handover *h)
{
	return h->views[RASTRACE_TRIGGER];
}

/* In the order of `count` */
static inline size_t slice_size(const struct handover *h, unsigned int row)
{
	return row < h->cpus ? HANDOVER_SLICE : RAS_NEST_BYTES;
}

static inline struct ras_slice *handover_slice(struct handover *h,
					       unsigned int row)
{
	size_t stride = RAS_SLICE_HEADER + slice_size(h, row) + RAS_RECORD_MAX;
	int part = row < h->cpus ? RASTRACE_BUFFER : RASTRACE_NEST;
	unsigned int index = row < h->cpus ? row : row - h->cpus;

	return (void *)((uint8_t *)h->views[part] + index * stride);
}

static inline struct ras_count *handover_count(struct handover *h,
					       unsigned int major,
					       unsigned int row)
{
	struct ras_count *counts = h->views[RASTRACE_COUNT];

	return &counts[major * h->slices + row];
}

/* Sums over slices and CPUs */
__attribute__((unused))
static uint64_t recorded_sum(struct handover *h, unsigned int major)
{
	uint64_t sum = 0;

	for (unsigned int row = 0; row < h->slices; row++)
		sum += handover_count(h, major, row)->recorded;
	return sum;
}

__attribute__((unused))
static uint64_t dropped_sum(struct handover *h, unsigned int major)
{
	uint64_t sum = 0;

	for (unsigned int row = 0; row < h->slices; row++)
		sum += handover_count(h, major, row)->dropped;
	return sum;
}

__attribute__((unused))
static uint64_t filtered_sum(struct handover *h, unsigned int major, int kind)
{
	struct ras_why *why = h->views[RASTRACE_WHY];
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < h->cpus; cpu++)
		sum += why[major * h->cpus + cpu].filtered[kind];
	return sum;
}

/* All maps are made, for so many processors, and nothing is handed over yet. */
__attribute__((unused))
static void handover_make_for(struct handover *h, unsigned int cpus)
{
	struct ras_control *control;

	*h = (struct handover){ .device = open("/dev/rastrace", O_RDWR) };
	if (h->device < 0)
		tap_bail("/dev/rastrace: %s", strerror(errno));
	h->cpus = cpus;
	h->slices = h->cpus * (1 + RAS_NEST_LEVELS);
	h->adopt.size = sizeof(h->adopt);
	h->adopt.layout = RAS_LAYOUT;
	h->adopt.maps[RASTRACE_PIDS] = -1;
	h->pids = map_create(BPF_MAP_TYPE_HASH, "pids", 1, 64, 0);
	part_make(h, RASTRACE_CONTROL, "control",
		  sizeof(*control) + 8 * h->slices, 1);
	part_make(h, RASTRACE_BUFFER, "buffer",
		  RAS_SLICE_HEADER + HANDOVER_SLICE + RAS_RECORD_MAX, h->cpus);
	part_make(h, RASTRACE_NEST, "nest",
		  RAS_SLICE_HEADER + RAS_NEST_BYTES + RAS_RECORD_MAX,
		  h->cpus * RAS_NEST_LEVELS);
	part_make(h, RASTRACE_SESSIONS, "sessions", RAS_SESSIONS_BYTES, 1);
	part_make(h, RASTRACE_TRIGGER, "trigger", sizeof(struct ras_trigger),
		  1);
	part_make(h, RASTRACE_STATE, "state", sizeof(struct ras_state), 1);
	part_make(h, RASTRACE_COUNT, "count", sizeof(struct ras_count),
		  RAS_STATIC_MAJORS * h->slices);
	part_make(h, RASTRACE_WHY, "why", sizeof(struct ras_why),
		  RAS_STATIC_MAJORS * h->cpus);
	part_make(h, RASTRACE_MAJORS, "majors", RAS_STATIC_MAJORS, 1);
	control = handover_control(h);
	control->magic = RAS_CONTROL_MAGIC;
	control->layout = RAS_LAYOUT;
	control->key = HANDOVER_KEY;
	control->slice_bytes = HANDOVER_SLICE;
	control->nest_bytes = RAS_NEST_BYTES;
	control->nest_levels = RAS_NEST_LEVELS;
	control->cpus = h->cpus;
	handover_state(h)->state = RAS_STATE_ON;
}

static inline void handover_make(struct handover *h)
{
	handover_make_for(h, sysconf(_SC_NPROCESSORS_CONF));
}

/* All but the device */
__attribute__((unused))
static void handover_drop(struct handover *h)
{
	for (int i = 0; i < RASTRACE_PIDS; i++) {
		munmap(h->views[i], h->sizes[i]);
		close(h->adopt.maps[i]);
	}
}

/* 0 or the errno */
static inline int handover_adopt(struct handover *h)
{
	return ioctl(h->device, RASTRACE_ADOPT, &h->adopt) ? errno : 0;
}

static inline int handover_release(struct handover *h)
{
	return ioctl(h->device, RASTRACE_RELEASE) ? errno : 0;
}

static inline int handover_switch(struct handover *h, unsigned int major,
				  bool on)
{
	handover_majors(h)[major] = on;
	return ioctl(h->device, RASTRACE_SWITCH) ? errno : 0;
}

/* What the kernel reports about a map */
__attribute__((unused))
static struct bpf_map_info map_info(int fd)
{
	struct bpf_map_info info = { 0 };
	union bpf_attr attr = {
		.info = {
			.bpf_fd = fd, .info_len = sizeof(info),
			.info = (uintptr_t)&info,
		},
	};

	if (bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr))
		tap_bail("what a map is: %s", strerror(errno));
	return info;
}

/* The writers: "sample/context", "storm/run" */

__attribute__((unused))
static void parameter_path(char *path, size_t size, const char *name)
{
	const char *slash = strchr(name, '/');

	snprintf(path, size, PARAMETERS "%.*s/parameters/%s",
		 (int)(slash - name), name, slash + 1);
}

__attribute__((unused))
static int parameter_write(const char *name, const char *value)
{
	char path[128];
	int fd, ret;

	parameter_path(path, sizeof(path), name);
	fd = open(path, O_WRONLY);
	ret = fd < 0 || write(fd, value, strlen(value)) < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return ret;
}

__attribute__((unused))
static void parameter_read(const char *name, char *value, size_t size)
{
	char path[128];
	ssize_t got;
	int fd;

	parameter_path(path, sizeof(path), name);
	fd = open(path, O_RDONLY);
	got = fd < 0 ? -1 : read(fd, value, size - 1);
	if (got < 0)
		tap_bail("%s: %s", path, strerror(errno));
	value[got] = '\0';
	close(fd);
}

/* What a record from that context comes to: 0 or a negative errno */
__attribute__((unused))
static int sample_write(const char *context)
{
	char text[32];
	int ret = parameter_write("sample/context", context);

	if (ret)
		tap_bail("the sample can't write from '%s': %s", context,
			 strerror(ret));
	parameter_read("sample/result", text, sizeof(text));
	return atoi(text);
}

/* The same of a record from this process. */
__attribute__((unused))
static int storm_write(unsigned int major, unsigned int minor,
		       unsigned int length)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %u %u", major, minor, length);
	if (parameter_write("storm/write", text))
		tap_bail("the storm doesn't write");
	parameter_read("storm/write", text, sizeof(text));
	return atoi(text);
}

/* Is the major's key on? While it is off the minor is not checked, and there is
 * none of that number. */
__attribute__((unused))
static bool major_key(unsigned int major)
{
	return storm_write(major, 65536, 0) == -EINVAL;
}

#endif
