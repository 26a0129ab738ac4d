/* SPDX-License-Identifier: GPL-2.0 */
/* The modules of a TDF on this machine: found, and shown to be the ones that
 * the TDF was made for. */
#ifndef TRACE_TARGET_H
#define TRACE_TARGET_H

#include <limits.h>
#include <stdint.h>
#include "../lib/tdf.h"
#include "kernel.h"

struct target {
	int fd;			/* the open module; -1: the kernel */
	char path[PATH_MAX];
	uint64_t bias;		/* kernel: run-time less linked address */
	char module[KERNEL_MODULE_NAME];	/* of the kernel; "" */
	uint64_t *biases;	/* ... of each site of the TDF; or NULL */
};

/*
 * Find and verify every module of the TDF; override (or NULL) is where its
 * program or library lies. targets[] is as long as the TDF's modules. 0, or a
 * negative errno with err set and nothing open.
 */
int target_open(struct target **targets, const struct tdf *tdf,
		const char *override, struct error *err);
void target_close(struct target *targets, const struct tdf *tdf);

#endif
