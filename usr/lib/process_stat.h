/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/PID/stat of a process, or of one of its threads. */
#ifndef LIB_PROCESS_STAT_H
#define LIB_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct process_stat {
	char state;		/* R, S, ... as ps(1) has them */
	uint64_t start;		/* ticks since boot: with the process id it names
				 * one process for good */
};

/* The text of one; false: it isn't what the kernel writes. */
bool process_stat_parse(const char *text, struct process_stat *stat);
/* 0, or a negative errno: -ENOENT or -ESRCH there is no such process. */
int process_stat_read(uint32_t pid, struct process_stat *stat);
/* A leader that has ended stays there as a zombie while others run. */
bool process_thread_ended(uint32_t pid, uint32_t tid);

#endif
