/* SPDX-License-Identifier: GPL-2.0 */
/* A line of /proc/PID/maps. */
#ifndef LIB_MAPS_LINE_H
#define LIB_MAPS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct maps_line {
	uint64_t start, end, offset, inode;
	dev_t device;
	char mode[8];		/* "r-xp" */
	/* within the line, as the kernel has it: a newline is \012; "[heap]",
	 * "[anon:x]" and so on are no files; "": it has none */
	char *path;
	char *deleted;		/* " (deleted)" at its end, to be cut off by
				 * those whom it is in the way; or NULL */
};

/* The newline is cut off, nothing else is changed. false: it isn't what the
 * kernel writes. Of a line that is cut the path may be. */
bool maps_line_parse(char *line, struct maps_line *maps);

/* All lines of a process. */
struct maps_lines {
	FILE *file;
	char *line;		/* what the paths of struct maps_line are in */
	size_t room;
	int error;
};

/* 0, or a negative errno: -ENOENT: there is no such process. */
int maps_lines_open(struct maps_lines *lines, uint32_t pid);
/* The same by one of its threads: a leader that has ended has none. */
int maps_lines_open_thread(struct maps_lines *lines, uint32_t pid, uint32_t tid);
/* False: no more. */
bool maps_lines_next(struct maps_lines *lines, struct maps_line *maps);
/* 0; or a negative errno: not all lines could be read. */
int maps_lines_close(struct maps_lines *lines);

/* Open the file that is mapped, whatever has become of its path. A descriptor, or
 * a negative errno. */
int maps_line_open(const struct maps_line *maps, uint32_t pid);

/* /proc/PID/stat of a process, or of one of its threads. */

struct process_stat {
	char state;		/* R, S, ... as ps(1) has them */
	uint64_t start;		/* ticks since boot: with the process id it names
				 * one process for good */
	uint64_t stack;		/* where its stack begins; 0: this user may not
				 * know */
};

/* The text of one; false: it isn't what the kernel writes. */
bool process_stat_parse(const char *text, struct process_stat *stat);
/* 0, or a negative errno: -ENOENT or -ESRCH there is no such process. */
int process_stat_read(uint32_t pid, struct process_stat *stat);
/* Programs know processes by the numbers that the host gives them: are they those
 * that this process sees? */
bool process_ids_are_of_host(void);
/* A leader that has ended stays there as a zombie while others run. */
bool process_thread_ended(uint32_t pid, uint32_t tid);

#endif
