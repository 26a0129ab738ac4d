// SPDX-License-Identifier: GPL-2.0
#include "sysbpf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

static int sysbpf(int command, void *attr, size_t size)
{
	long result;

	do {
		result = syscall(SYS_bpf, command, attr, size);
	} while (result < 0 && errno == EAGAIN);
	return result < 0 ? -errno : (int)result;
}

static uint64_t pointer(const void *p)
{
	return (uintptr_t)p;
}

int sysbpf_array_create(const char *name, uint32_t value_size,
			uint32_t entries)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = value_size,
		.max_entries = entries,
		.map_flags = BPF_F_MMAPABLE,
	};

	strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	return sysbpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

int sysbpf_map_freeze(int fd)
{
	union bpf_attr attr = { .map_fd = fd };

	return sysbpf(BPF_MAP_FREEZE, &attr, sizeof(attr));
}

int sysbpf_map_lookup(int fd, uint32_t key, void *value)
{
	union bpf_attr attr = {
		.map_fd = fd, .key = pointer(&key), .value = pointer(value),
	};

	return sysbpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
}

int sysbpf_map_update(int fd, uint32_t key, const void *value)
{
	union bpf_attr attr = {
		.map_fd = fd, .key = pointer(&key), .value = pointer(value),
	};

	return sysbpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
}

int sysbpf_map_info(int fd, struct bpf_map_info *info)
{
	union bpf_attr attr = { 0 };

	memset(info, 0, sizeof(*info));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = pointer(info);
	return sysbpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
}

int sysbpf_object_pin(int fd, const char *path)
{
	union bpf_attr attr = { .pathname = pointer(path), .bpf_fd = fd };

	return sysbpf(BPF_OBJ_PIN, &attr, sizeof(attr));
}

int sysbpf_object_get(const char *path)
{
	union bpf_attr attr = { .pathname = pointer(path) };

	return sysbpf(BPF_OBJ_GET, &attr, sizeof(attr));
}

int sysbpf_program_load(const struct bpf_insn *insns, size_t count,
			uint32_t attach_type, char *log, size_t log_size)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE,
		.insns = pointer(insns),
		.insn_cnt = count,
		.license = pointer("GPL"),
		.expected_attach_type = attach_type,
		.prog_name = "rastrace",
	};

	if (log) {
		log[0] = '\0';
		attr.log_level = 1;
		attr.log_buf = pointer(log);
		attr.log_size = log_size;
	}
	return sysbpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

int sysbpf_perf_link(int program, int perf_event, uint64_t cookie)
{
	union bpf_attr attr = { 0 };

	attr.link_create.prog_fd = program;
	attr.link_create.target_fd = perf_event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	return sysbpf(BPF_LINK_CREATE, &attr, sizeof(attr));
}

/* link_create of linux/bpf.h since 6.6 */
struct multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t padding;
};

#define MULTI_RETURN	1	/* BPF_F_UPROBE_MULTI_RETURN */

int sysbpf_multi_link(int program, const char *path,
		      const struct sysbpf_multi *multi)
{
	struct multi_attr attr = {
		.prog_fd = program,
		.attach_type = SYSBPF_UPROBE_MULTI,
		.path = pointer(path),
		.offsets = pointer(multi->offsets),
		.ref_ctr_offsets = pointer(multi->semaphores),
		.cookies = pointer(multi->cookies),
		.count = multi->count,
		.multi_flags = multi->returns ? MULTI_RETURN : 0,
	};

	return sysbpf(BPF_LINK_CREATE, &attr, sizeof(attr));
}

/* bpf_link_info.perf_event.kprobe of linux/bpf.h since 6.9 */
struct kprobe_info {
	uint32_t type, id, prog_id, padding;
	uint32_t event_type;
	uint32_t padding2;
	uint64_t func_name;
	uint32_t name_len;
	uint32_t offset;
	uint64_t addr;
	uint64_t missed;
	uint64_t cookie;
	uint64_t rest[8];
};

#define EVENT_KPROBE	3	/* BPF_PERF_EVENT_KPROBE */
#define EVENT_KRETPROBE	4	/* BPF_PERF_EVENT_KRETPROBE */

int sysbpf_link_missed(int fd, uint64_t *missed)
{
	struct kprobe_info info = { 0 };
	union bpf_attr attr = { 0 };
	int result;

	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = pointer(&info);
	result = sysbpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	if (result)
		return result;
	/* `missed` is two versions older than `cookie`, which is never 0 here:
	 * where there is a cookie, `missed` isn't just a zeroed field */
	if (info.type != BPF_LINK_TYPE_PERF_EVENT ||
	    (info.event_type != EVENT_KPROBE &&
	     info.event_type != EVENT_KRETPROBE) || !info.cookie)
		return -ENOENT;
	*missed = info.missed;
	return 0;
}
