/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What libbpf 1.1 has no call for. As libbpf's, all functions return a negative
 * errno on failure, and file descriptors are close-on-exec.
 */
#ifndef LIB_SYSBPF_H
#define LIB_SYSBPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <bpf/bpf.h>

#define SYSBPF_UPROBE_MULTI	48	/* BPF_TRACE_UPROBE_MULTI, 6.6 */
#define SYSBPF_UPROBE_SESSION	57	/* BPF_TRACE_UPROBE_SESSION, 6.13 */

/* An array map that user space can map. */
int sysbpf_array_create(const char *name, uint32_t value_size,
			uint32_t entries);
/* A value for each thread that programs ask for. */
int sysbpf_task_storage_create(const char *name, uint32_t value_size);
/* A pinned map, which the caller may write, or else may read. */
int sysbpf_map_get(const char *path);
/* All entries of an array whose entries are multiples of 8 bytes. */
int sysbpf_array_read(int fd, const struct bpf_map_info *info, void *values);
/* The entries of a hash, as many as there is room for: keys and values, each
 * without padding between. Returns how many there were. */
int sysbpf_hash_read(int fd, void *keys, size_t key_size, void *values,
		     size_t value_size, uint32_t room);

/* Probes of one file. */
struct sysbpf_multi {
	const uint64_t *offsets, *cookies;
	const uint64_t *semaphores;	/* file offsets, 0 none; or NULL */
	uint32_t count;
	bool returns;			/* when the functions there return */
	bool session;			/* of a SYSBPF_UPROBE_SESSION: when they
					 * begin, and when they return */
	uint32_t pid;			/* in this process only; 0: in all */
};

int sysbpf_multi_link(int program, const char *path,
		      const struct sysbpf_multi *multi);
/* A program on a perf event, with the cookie that it reads. */
int sysbpf_perf_link(int program, int perf_event, uint64_t cookie);

/* Hits of a kprobe link that the kernel didn't deliver; -ENOENT when it
 * doesn't report them. */
int sysbpf_link_missed(int fd, uint64_t *missed);

#endif
