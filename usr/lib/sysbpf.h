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
/* A hash; type is BPF_MAP_TYPE_HASH or BPF_MAP_TYPE_LRU_HASH. */
int sysbpf_hash_create(const char *name, uint32_t type, uint32_t key_size,
		       uint32_t value_size, uint32_t entries);
/* Of perf events, a descriptor each (sysbpf_map_update()): those that programs
 * write to. */
int sysbpf_perf_array_create(const char *name, uint32_t entries);
/* A value for each thread that programs ask for. */
int sysbpf_task_storage_create(const char *name, uint32_t value_size);
/* From now on user space can't write it; programs can. */
int sysbpf_map_freeze(int fd);
int sysbpf_map_lookup(int fd, uint32_t key, void *value);
int sysbpf_map_update(int fd, uint32_t key, const void *value);
int sysbpf_map_delete(int fd, uint32_t key);
/* The same of a map whose keys are others. */
int sysbpf_hash_update(int fd, const void *key, const void *value);
int sysbpf_hash_delete(int fd, const void *key);
int sysbpf_map_info(int fd, struct bpf_map_info *info);
/* All entries of an array of entries that fill their places (8 bytes). */
int sysbpf_array_read(int fd, const struct bpf_map_info *info, void *values);

/* The entries of a hash, as many as there is room for: keys and values, each
 * without padding between. How many there were. */
int sysbpf_hash_read(int fd, void *keys, size_t key_size, void *values,
		     size_t value_size, uint32_t room);

int sysbpf_object_pin(int fd, const char *path);
int sysbpf_object_get(const char *path);
/* A map that the caller may only read. */
int sysbpf_map_get_readable(const char *path);

struct sysbpf_program {
	uint32_t type;			/* BPF_PROG_TYPE_*; 0: kprobe */
	uint32_t attach_type;
	const struct bpf_insn *insns;
	size_t count;
	bool sleepable;
	/* of subprograms, with the BTF that they refer to */
	const struct bpf_func_info *functions;
	size_t function_count;
	int btf_fd;
	/* BTF of the modules whose kfuncs it calls, from 1 on; NULL: of none */
	const int *fds;
};

/* log may be NULL. */
int sysbpf_program_load(const struct sysbpf_program *program, char *log,
			size_t log_size);
int sysbpf_btf_load(const void *data, size_t size);
/* That of a kernel module; -ENOENT: there is none. */
int sysbpf_btf_find(const char *module);

int sysbpf_perf_link(int program, int perf_event, uint64_t cookie);

/* Probes of one file. */
struct sysbpf_multi {
	const uint64_t *offsets, *cookies;
	const uint64_t *semaphores;	/* file offsets, 0 none; or NULL */
	uint32_t count;
	bool returns;			/* when the functions there return */
	uint32_t pid;			/* in this process only; 0: in all */
};

int sysbpf_multi_link(int program, const char *path,
		      const struct sysbpf_multi *multi);

/* A program of type raw tracepoint at one of the kernel's. */
int sysbpf_raw_tracepoint_link(int program, const char *name);

/* Bytes that a loaded program takes, as instructions and translated. */
int sysbpf_program_size(int fd, uint64_t *bytes);

/* The program of a link, of any kind: its id; a descriptor by the id. */
int sysbpf_link_program(int fd, uint32_t *id);
int sysbpf_program_get(uint32_t id);
/* Time in a program and how often it ran, while this descriptor is open. */
int sysbpf_stats_enable(void);
int sysbpf_program_times(int fd, uint64_t *ns, uint64_t *runs);

/* Hits of a kprobe link that the kernel didn't deliver; -ENOENT when it
 * doesn't tell. */
int sysbpf_link_missed(int fd, uint64_t *missed);

#endif
