/* SPDX-License-Identifier: GPL-2.0 */
/* A map of the buffer, as its pin has it or a file with the same bytes. */
#ifndef SELFTESTS_SOAK_MAP_H
#define SELFTESTS_SOAK_MAP_H

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include "check.h"

struct map {
	const uint8_t *bytes;
	uint64_t length, mapped;
	uint32_t entries, value;	/* 0: a file, which has no such figures */
};

/* Of a pin, or -1 */
static int pin_open(const char *path)
{
	union bpf_attr attr = { .pathname = (uintptr_t)path };

	return syscall(SYS_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
}

/* The key after this one in a hash; NULL: the first. */
static bool hash_next(int fd, const void *key, void *next)
{
	union bpf_attr attr = {
		.map_fd = fd, .key = (uintptr_t)key,
		.next_key = (uintptr_t)next,
	};

	return !syscall(SYS_bpf, BPF_MAP_GET_NEXT_KEY, &attr, sizeof(attr));
}

static bool hash_find(int fd, const void *key, void *value)
{
	union bpf_attr attr = {
		.map_fd = fd, .key = (uintptr_t)key, .value = (uintptr_t)value,
	};

	return !syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
}

static bool map_pin(const char *path, struct map *map)
{
	struct bpf_map_info info = {};
	union bpf_attr attr;
	int fd = pin_open(path);

	if (fd < 0)
		return false;
	attr = (union bpf_attr) {
		.info.bpf_fd = fd, .info.info_len = sizeof(info),
		.info.info = (uintptr_t)&info,
	};
	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
		die(2, "%s: %s", path, strerror(errno));
	map->entries = info.max_entries;
	map->value = info.value_size;
	map->length = round8(info.value_size) * info.max_entries;
	map->mapped = (map->length + 4095) & ~4095ULL;
	map->bytes = mmap(NULL, map->mapped, PROT_READ, MAP_SHARED, fd, 0);
	if (map->bytes == MAP_FAILED)
		die(2, "%s: mmap: %s", path, strerror(errno));
	close(fd);
	return true;
}

static bool map_file(const char *path, struct map *map)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size) {
		close(fd);
		return false;
	}
	*map = (struct map) { .length = st.st_size, .mapped = st.st_size };
	map->bytes = mmap(NULL, map->mapped, PROT_READ, MAP_SHARED, fd, 0);
	if (map->bytes == MAP_FAILED)
		die(2, "%s: mmap: %s", path, strerror(errno));
	close(fd);
	return true;
}

static bool map_open(const char *folder, const char *name, struct map *map)
{
	char path[4096];

	*map = (struct map) {};
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return map_pin(path, map) || map_file(path, map);
}

static void map_close(struct map *map)
{
	if (map->bytes)
		munmap((void *)map->bytes, map->mapped);
	*map = (struct map) {};
}

/* Is it of `entries` with so many bytes? */
static bool map_holds(const struct map *map, uint64_t entries, uint64_t value)
{
	return holds(map->length == entries * round8(value) &&
		     (!map->entries || (map->entries == entries &&
					map->value == value)),
		     "%llu bytes in %u entries of %u, not %llu of %llu",
		     (unsigned long long)map->length, map->entries, map->value,
		     (unsigned long long)entries, (unsigned long long)value);
}

#endif
