/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rastrace.ko as its tests see it: loading and unloading it, and a trace buffer
 * of this process's own to hand over.
 */
#ifndef SELFTESTS_STRESS_MODULE_H
#define SELFTESTS_STRESS_MODULE_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <rastrace/buffer.h>
#include <rastrace/device.h>
#include "tap.h"

#define MODULE_DEVICE	"/dev/rastrace"
#define MODULE_SLICE	(64 << 10)
/* Majors of rastrace_sample.ko and rastrace_storm.ko */
#define MODULE_SAMPLE	200
#define MODULE_STORM	201

/* The file of a module of ours. */
static const char *module_file(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s.ko", getenv("RASTRACE_KO"), name);
	return path;
}

/* Skips the test where the module can't be loaded. */
__attribute__((unused))
static void module_need(const char *name)
{
	if (geteuid())
		tap_skip_all("needs root");
	if (!getenv("RASTRACE_KO"))
		tap_skip_all("needs RASTRACE_KO, the folder of rastrace.ko");
	if (access(module_file(name), R_OK))
		tap_skip_all("the module isn't in RASTRACE_KO");
}

/* How often, or for how many seconds, something is done. */
__attribute__((unused))
static int module_times(int times)
{
	const char *factor = getenv("STRESS");

	return times * (factor && atoi(factor) > 0 ? atoi(factor) : 1);
}

/* 0 or -errno */
__attribute__((unused))
static int module_load(const char *name)
{
	int fd = open(module_file(name), O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		tap_bail("cannot open %s", module_file(name));
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

__attribute__((unused))
static int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

/* The device, or -errno: the node comes and goes with the module. */
__attribute__((unused))
static int module_open(void)
{
	int fd = open(MODULE_DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

__attribute__((unused))
static int module_ioctl(int device, unsigned long command, void *argument)
{
	return ioctl(device, command, argument) ? -errno : 0;
}

__attribute__((unused))
static bool module_adopted(int device)
{
	struct rastrace_info info = { .size = sizeof(info) };

	if (ioctl(device, RASTRACE_INFO, &info))
		tap_bail("RASTRACE_INFO: %s", strerror(errno));
	return info.adopted;
}

static int module_map(const char *name, size_t bytes, unsigned int entries)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4,
		.value_size = bytes, .max_entries = entries,
		.map_flags = BPF_F_MMAPABLE,
	};
	int fd;

	snprintf(attr.map_name, sizeof(attr.map_name), "%s", name);
	fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (fd < 0)
		tap_bail("cannot create map '%s': %s", name, strerror(errno));
	return fd;
}

static void *module_map_view(int fd, size_t bytes)
{
	void *p = mmap(NULL, (bytes + 4095) & ~4095UL, PROT_READ | PROT_WRITE,
		       MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		tap_bail("cannot map a map: %s", strerror(errno));
	return p;
}

static void module_control_fill(int fd, size_t bytes, unsigned int cpus)
{
	struct ras_control *control = module_map_view(fd, bytes);

	*control = (struct ras_control) {
		.magic = RAS_CONTROL_MAGIC, .layout = RAS_LAYOUT,
		.key = 0x6b1f98d2c4a37e05, .slice_bytes = MODULE_SLICE,
		.nest_bytes = RAS_NEST_BYTES, .nest_levels = RAS_NEST_LEVELS,
		.cpus = cpus,
	};
}

/* A buffer ready to be handed over, with the sample's and the storm's majors
 * on. Its maps are there until the process ends. */
__attribute__((unused))
static struct rastrace_adopt module_buffer(void)
{
	const size_t around = RAS_SLICE_HEADER + RAS_RECORD_MAX;
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned int slices = cpus * (1 + RAS_NEST_LEVELS);
	struct ras_control *control;
	size_t bytes = sizeof(*control) + slices * sizeof(control->tail[0]);
	struct rastrace_adopt adopt = {
		.size = sizeof(adopt), .layout = RAS_LAYOUT,
	};
	int *maps = adopt.maps;
	uint8_t *majors;

	maps[RASTRACE_CONTROL] = module_map("control", bytes, 1);
	maps[RASTRACE_BUFFER] = module_map("buffer", MODULE_SLICE + around,
					   cpus);
	maps[RASTRACE_NEST] = module_map("nest", RAS_NEST_BYTES + around,
					 cpus * RAS_NEST_LEVELS);
	maps[RASTRACE_SESSIONS] = module_map("sessions", RAS_SESSIONS_BYTES, 1);
	maps[RASTRACE_TRIGGER] = module_map("trigger",
					    sizeof(struct ras_trigger), 1);
	maps[RASTRACE_STATE] = module_map("state", sizeof(struct ras_state), 1);
	maps[RASTRACE_COUNT] = module_map("count", sizeof(struct ras_count),
					  RAS_STATIC_MAJORS * slices);
	maps[RASTRACE_WHY] = module_map("why", sizeof(struct ras_why),
					RAS_STATIC_MAJORS * cpus);
	maps[RASTRACE_MAJORS] = module_map("majors", RAS_STATIC_MAJORS, 1);
	maps[RASTRACE_PIDS] = -1;
	module_control_fill(maps[RASTRACE_CONTROL], bytes, cpus);
	((struct ras_state *)module_map_view(maps[RASTRACE_STATE],
		sizeof(struct ras_state)))->state = RAS_STATE_ON;
	majors = module_map_view(maps[RASTRACE_MAJORS], RAS_STATIC_MAJORS);
	majors[MODULE_SAMPLE] = majors[MODULE_STORM] = 1;
	return adopt;
}

#endif
