// SPDX-License-Identifier: GPL-2.0
#include "sysbpf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <linux/btf.h>

int sysbpf_array_create(const char *name, uint32_t value_size,
			uint32_t entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, value_size, entries,
			      &opts);
}

int sysbpf_map_get(const char *path)
{
	LIBBPF_OPTS(bpf_obj_get_opts, readable, .file_flags = BPF_F_RDONLY);
	int fd = bpf_obj_get(path);

	return fd == -EACCES ? bpf_obj_get_opts(path, &readable) : fd;
}

/* The types that the kernel demands of keys and values
 * (Documentation/bpf/btf.rst): an int, and an array of bytes. */
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
	return bpf_btf_load(&types, sizeof(types), NULL);
}

int sysbpf_task_storage_create(const char *name, uint32_t value_size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC,
		    .btf_key_type_id = 1, .btf_value_type_id = 3);
	int types = storage_types_load(value_size), fd;

	if (types < 0)
		return types;
	opts.btf_fd = types;
	fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, name, 4, value_size, 0,
			    &opts);
	close(types);
	return fd;
}

int sysbpf_array_read(int fd, const struct bpf_map_info *info, void *values)
{
	uint32_t done = 0, position = 0, count;
	uint32_t *keys;
	int code = 0;

	if (info->value_size & 7)
		return -EINVAL;
	keys = calloc(info->max_entries, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	while (!code && done < info->max_entries) {
		count = info->max_entries - done;
		code = bpf_map_lookup_batch(fd, done ? &position : NULL,
					    &position, keys,
					    (char *)values +
					    (size_t)done * info->value_size,
					    &count, NULL);
		done += count;
		if (code == -ENOENT || (!code && !count))
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
	uint32_t done = 0, count;
	int code = 0;

	while (!code && done < room) {
		count = room - done;
		code = bpf_map_lookup_batch(fd, done ? &place : NULL, &place,
					    (char *)keys + done * key_size,
					    (char *)values + done * value_size,
					    &count, NULL);
		if (code && code != -ENOENT)
			break;	/* -ENOSPC: no room for the next bucket */
		done += count;
		if (!count)
			break;
	}
	return code && code != -ENOENT && code != -ENOSPC ? code : (int)done;
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
		.attach_type = multi->session ? SYSBPF_UPROBE_SESSION :
						SYSBPF_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)multi->offsets,
		.ref_ctr_offsets = (uintptr_t)multi->semaphores,
		.cookies = (uintptr_t)multi->cookies,
		.count = multi->count,
		.multi_flags = multi->returns ? MULTI_RETURN : 0,
		.pid = multi->pid,
	};

	long link = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return link < 0 ? -errno : (int)link;
}

int sysbpf_perf_link(int program, int perf_event, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);

	return bpf_link_create(program, perf_event, BPF_PERF_EVENT, &opts);
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
	uint32_t size = sizeof(info);
	int code = bpf_obj_get_info_by_fd(fd, &info, &size);

	if (code)
		return code;
	/* `missed` is two versions older than `cookie`, which is never 0 here:
	 * where there is a cookie, `missed` isn't just a zeroed field */
	if (info.type != BPF_LINK_TYPE_PERF_EVENT ||
	    (info.event_type != EVENT_KPROBE &&
	     info.event_type != EVENT_KRETPROBE) || !info.cookie)
		return -ENOENT;
	*missed = info.missed;
	return 0;
}
