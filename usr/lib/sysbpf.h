/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bpf(2) system call as far as rastrace needs it: nothing is loaded and
 * nothing is parsed before the first call. All functions return a negative
 * errno on failure; file descriptors are close-on-exec.
 */
#ifndef LIB_SYSBPF_H
#define LIB_SYSBPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/bpf.h>

#define SYSBPF_UPROBE_MULTI	48	/* BPF_TRACE_UPROBE_MULTI, 6.6 */

/* An array map that user space can map. */
int sysbpf_array_create(const char *name, uint32_t value_size,
			uint32_t entries);
/* From now on user space can't write it; programs can. */
int sysbpf_map_freeze(int fd);
int sysbpf_map_lookup(int fd, uint32_t key, void *value);
int sysbpf_map_update(int fd, uint32_t key, const void *value);
int sysbpf_map_info(int fd, struct bpf_map_info *info);

int sysbpf_object_pin(int fd, const char *path);
int sysbpf_object_get(const char *path);

/* A program of kprobe type; log may be NULL. */
int sysbpf_program_load(const struct bpf_insn *insns, size_t count,
			uint32_t attach_type, char *log, size_t log_size);

int sysbpf_perf_link(int program, int perf_event, uint64_t cookie);

/* Probes of one file. */
struct sysbpf_multi {
	const uint64_t *offsets, *cookies;
	const uint64_t *semaphores;	/* file offsets, 0 none; or NULL */
	uint32_t count;
	bool returns;			/* when the functions there return */
};

int sysbpf_multi_link(int program, const char *path,
		      const struct sysbpf_multi *multi);

/* Hits of a kprobe link that the kernel didn't deliver; -ENOENT when it
 * doesn't tell. */
int sysbpf_link_missed(int fd, uint64_t *missed);

#endif
