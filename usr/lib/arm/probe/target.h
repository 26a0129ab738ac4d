/* SPDX-License-Identifier: GPL-2.0 */
/* The modules of a TDF on this machine: found, and shown to be the ones that
 * the TDF was made for. */
#ifndef TRACE_TARGET_H
#define TRACE_TARGET_H

#include <limits.h>
#include <sys/stat.h>
#include "lib/arm/kernel/kernel.h"

/* What of an x86 instruction decides whether a probe may replace it. */

/*
 * The bytes of the instruction that begins at code[0], of which `size` are there;
 * 0: it isn't whole. *hazard becomes the prefix with which the kernel doesn't probe
 * it as it should, and what happens then, or NULL.
 */
unsigned int insn_x86_length(const uint8_t *code, size_t size, bool wide,
			     const char **hazard);

struct target_file {
	int fd;
	char path[PATH_MAX];
	uint64_t device, inode;
	struct stat stat;	/* before it was looked into */
};

struct target {
	struct target_file *files;	/* the same module at several places */
	uint32_t file_count;		/* 0: the kernel */
	char path[PATH_MAX];		/* of the first, or the kernel's name */
	uint32_t pid;		/* links are of this process; 0: of all */
	uint64_t bias;		/* kernel: run-time less linked address */
	char module[KERNEL_MODULE_NAME];	/* of the kernel; "" */
	uint64_t *biases;	/* of each site of the TDF; or NULL */
	struct kernel_sections sections;	/* of the module; body_target has
						 * those of the one that has any */
};

/* Where to look for a program or library. */
struct target_search {
	const char *const *paths;	/* --module */
	unsigned int path_count;
	const uint32_t *pids;		/* in the view of these processes first */
	unsigned int pid_count;
};

/*
 * Find and verify the modules of the TDF that have picked points. targets[] is
 * as long as the TDF's modules. 0, or a negative errno with err set and nothing
 * open.
 */
int target_open(struct target **targets, const struct tdf *tdf,
		const bool *picked, const struct target_search *search,
		struct error *err);
/* "0f 1f 44": text has room for 3 characters for each byte. */
void target_print_bytes(const uint8_t *bytes, size_t count, char *text);
void target_close(struct target *targets, const struct tdf *tdf);

#endif
