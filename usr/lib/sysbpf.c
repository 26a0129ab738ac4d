// SPDX-License-Identifier: GPL-2.0
#include "sysbpf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <linux/btf.h>

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

int sysbpf_hash_create(const char *name, uint32_t type, uint32_t key_size,
		       uint32_t value_size, uint32_t entries)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = key_size,
		.value_size = value_size,
		.max_entries = entries,
	};

	strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	return sysbpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

int sysbpf_perf_array_create(const char *name, uint32_t entries)
{
	return sysbpf_hash_create(name, BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4,
				  entries);
}

/* What the kernel wants to know of keys and values (Documentation/bpf/btf.rst):
 * an int, and an array of bytes. */
static int storage_types_load(uint32_t value_size)
{
	enum { TYPE_KEY = 1, TYPE_BYTE, TYPE_VALUE };
	struct {
		struct btf_header header;
		struct btf_type key;
		uint32_t key_encoding;
		struct btf_type byte;
		uint32_t byte_encoding;
		struct btf_type value;
		struct btf_array array;
		char strings[12];
	} types = {
		.header = {
			.magic = BTF_MAGIC, .version = BTF_VERSION,
			.hdr_len = sizeof(types.header),
			.type_len = offsetof(typeof(types), strings) -
				    sizeof(types.header),
			.str_off = offsetof(typeof(types), strings) -
				   sizeof(types.header),
			.str_len = sizeof(types.strings),
		},
		.key = { 1, BTF_KIND_INT << 24, { 4 } },
		.key_encoding = BTF_INT_SIGNED << 24 | 32,
		.byte = { 5, BTF_KIND_INT << 24, { 1 } },
		.byte_encoding = 8,
		.value = { 0, BTF_KIND_ARRAY << 24, { 0 } },
		.array = { TYPE_BYTE, TYPE_KEY, value_size },
		.strings = "\0int\0byte",
	};

	_Static_assert(TYPE_VALUE == 3, "ids count from 1");
	return sysbpf_btf_load(&types, sizeof(types));
}

int sysbpf_task_storage_create(const char *name, uint32_t value_size)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_TASK_STORAGE,
		.key_size = 4,
		.value_size = value_size,
		.map_flags = BPF_F_NO_PREALLOC,
		.btf_key_type_id = 1,
		.btf_value_type_id = 3,
	};
	int types = storage_types_load(value_size), fd;

	if (types < 0)
		return types;
	attr.btf_fd = types;
	strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	fd = sysbpf(BPF_MAP_CREATE, &attr, sizeof(attr));
	close(types);
	return fd;
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
	return sysbpf_hash_update(fd, &key, value);
}

int sysbpf_map_delete(int fd, uint32_t key)
{
	return sysbpf_hash_delete(fd, &key);
}

int sysbpf_hash_delete(int fd, const void *key)
{
	union bpf_attr attr = { .map_fd = fd, .key = pointer(key) };

	return sysbpf(BPF_MAP_DELETE_ELEM, &attr, sizeof(attr));
}

int sysbpf_hash_update(int fd, const void *key, const void *value)
{
	union bpf_attr attr = {
		.map_fd = fd, .key = pointer(key), .value = pointer(value),
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

int sysbpf_array_read(int fd, const struct bpf_map_info *info, void *values)
{
	uint32_t done = 0, position = 0;
	uint32_t *keys;
	int code = 0;

	if (info->value_size & 7)
		return -EINVAL;
	keys = calloc(info->max_entries, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	while (!code && done < info->max_entries) {
		union bpf_attr attr = { 0 };

		attr.batch.map_fd = fd;
		attr.batch.in_batch = done ? pointer(&position) : 0;
		attr.batch.out_batch = pointer(&position);
		attr.batch.keys = pointer(keys);
		attr.batch.values = pointer((char *)values +
					    (size_t)done * info->value_size);
		attr.batch.count = info->max_entries - done;
		code = sysbpf(BPF_MAP_LOOKUP_BATCH, &attr, sizeof(attr));
		done += attr.batch.count;
		if (code == -ENOENT || (!code && !attr.batch.count))
			break;
	}
	free(keys);
	if (code == -ENOENT || !code)
		return done == info->max_entries ? 0 : -EIO;
	return code;
}

int sysbpf_hash_read(int fd, void *keys, size_t key_size, void *values,
		     size_t value_size, uint32_t room)
{
	uint64_t place = 0;	/* the kernel's, in the hash: 4 bytes */
	uint32_t done = 0;
	int code = 0;

	while (!code && done < room) {
		union bpf_attr attr = { 0 };

		attr.batch.map_fd = fd;
		attr.batch.in_batch = done ? pointer(&place) : 0;
		attr.batch.out_batch = pointer(&place);
		attr.batch.keys = pointer(keys) + done * key_size;
		attr.batch.values = pointer(values) + done * value_size;
		attr.batch.count = room - done;
		code = sysbpf(BPF_MAP_LOOKUP_BATCH, &attr, sizeof(attr));
		if (code && code != -ENOENT)
			break;	/* -ENOSPC: no room for the next bucket */
		done += attr.batch.count;
		if (!attr.batch.count)
			break;
	}
	return code && code != -ENOENT && code != -ENOSPC ? code : (int)done;
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

int sysbpf_map_get_readable(const char *path)
{
	union bpf_attr attr = {
		.pathname = pointer(path), .file_flags = BPF_F_RDONLY,
	};

	return sysbpf(BPF_OBJ_GET, &attr, sizeof(attr));
}

int sysbpf_program_load(const struct sysbpf_program *program, char *log,
			size_t log_size)
{
	union bpf_attr attr = {
		.prog_type = program->type ? program->type :
					     BPF_PROG_TYPE_KPROBE,
		.insns = pointer(program->insns),
		.insn_cnt = program->count,
		.license = pointer("GPL"),
		.expected_attach_type = program->attach_type,
		.prog_flags = program->sleepable ? BPF_F_SLEEPABLE : 0,
		.prog_name = "rastrace",
	};

	if (program->function_count) {
		attr.prog_btf_fd = program->btf_fd;
		attr.func_info = pointer(program->functions);
		attr.func_info_cnt = program->function_count;
		attr.func_info_rec_size = sizeof(*program->functions);
	}
	attr.fd_array = pointer(program->fds);
	if (log) {
		log[0] = '\0';
		attr.log_level = 1;
		attr.log_buf = pointer(log);
		attr.log_size = log_size;
	}
	return sysbpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

int sysbpf_btf_load(const void *data, size_t size)
{
	union bpf_attr attr = { 0 };

	attr.btf = pointer(data);
	attr.btf_size = size;
	return sysbpf(BPF_BTF_LOAD, &attr, sizeof(attr));
}

static bool btf_is_of(int fd, const char *module)
{
	char name[64] = "";
	struct bpf_btf_info info = {
		.name = pointer(name), .name_len = sizeof(name),
	};
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = fd;
	attr.info.info = pointer(&info);
	attr.info.info_len = sizeof(info);
	return !sysbpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) &&
	       info.kernel_btf && !strcmp(name, module);
}

int sysbpf_btf_find(const char *module)
{
	union bpf_attr next = { 0 }, attr;
	int code, fd;

	for (;;) {
		code = sysbpf(BPF_BTF_GET_NEXT_ID, &next, sizeof(next));
		if (code)
			return code;
		next.start_id = next.next_id;
		memset(&attr, 0, sizeof(attr));
		attr.btf_id = next.next_id;
		fd = sysbpf(BPF_BTF_GET_FD_BY_ID, &attr, sizeof(attr));
		if (fd >= 0 && btf_is_of(fd, module))
			return fd;
		if (fd >= 0)
			close(fd);
	}
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
		.pid = multi->pid,
	};

	return sysbpf(BPF_LINK_CREATE, &attr, sizeof(attr));
}

int sysbpf_raw_tracepoint_link(int program, const char *name)
{
	union bpf_attr attr = { 0 };

	attr.raw_tracepoint.name = pointer(name);
	attr.raw_tracepoint.prog_fd = program;
	return sysbpf(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

int sysbpf_program_size(int fd, uint64_t *bytes)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { 0 };
	int result;

	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = pointer(&info);
	result = sysbpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	if (!result)
		*bytes = (uint64_t)info.jited_prog_len + info.xlated_prog_len;
	return result;
}

int sysbpf_link_program(int fd, uint32_t *id)
{
	struct bpf_link_info info = { 0 };
	union bpf_attr attr = { 0 };
	int result;

	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = pointer(&info);
	result = sysbpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	*id = info.prog_id;
	return result;
}

int sysbpf_program_get(uint32_t id)
{
	union bpf_attr attr = { .prog_id = id };

	return sysbpf(BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
}

int sysbpf_stats_enable(void)
{
	union bpf_attr attr = { 0 };

	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	return sysbpf(BPF_ENABLE_STATS, &attr, sizeof(attr));
}

int sysbpf_program_times(int fd, uint64_t *ns, uint64_t *runs)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { 0 };
	int result;

	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = pointer(&info);
	result = sysbpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr));
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
	return result;
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
