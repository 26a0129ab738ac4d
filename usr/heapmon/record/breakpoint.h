/* SPDX-License-Identifier: GPL-2.0 */
/* The instruction that stops a program of this machine. */
#ifndef HEAPMON_BREAKPOINT_H
#define HEAPMON_BREAKPOINT_H

#include <stdint.h>
#include <sys/types.h>

#if defined(__aarch64__)
#define BREAKPOINT	0xd4200000ul	/* brk #0 */
#define BREAKPOINT_MASK	0xfffffffful
#else
#define BREAKPOINT	0xccul		/* int3 */
#define BREAKPOINT_MASK	0xfful
#endif

/* It stopped at the breakpoint that was at `address`, and is to go on with what
 * is there now. 0; -EAGAIN: it stopped elsewhere; or a negative errno. */
int breakpoint_leave(pid_t pid, uint64_t address);

#endif
