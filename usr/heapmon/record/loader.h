/* SPDX-License-Identifier: GPL-2.0 */
/* Where a program that was just executed is when its libraries are mapped: the
 * protocol by which its loader notifies debuggers (struct r_debug of link.h). */
#ifndef HEAPMON_LOADER_H
#define HEAPMON_LOADER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loader {
	uint64_t stop;		/* of a static program, where it begins */
	uint64_t state;		/* address of r_debug.r_state; 0: not known */
};

/* 0, or a negative errno. */
int loader_read(struct loader *loader, pid_t pid);
/* It is at `stop`: is everything mapped? */
bool loader_is_done(const struct loader *loader, pid_t pid);

#endif
