/* SPDX-License-Identifier: GPL-2.0 */
/* Between crash.c and crash_file.c: the file that outlives a panic. */
#ifndef KMOD_CRASH_H
#define KMOD_CRASH_H

#include "rastrace.h"

#define CRASH_FILE_LEAST	SZ_64K

struct crash_panic {
	u64 time;		/* CLOCK_BOOTTIME, ns */
	s64 wall_offset;	/* CLOCK_REALTIME - CLOCK_BOOTTIME, ns */
	const char *reason;
};

/* The newest of what is in the buffer, as a .ras file of at most `size` bytes
 * (CRASH_FILE_LEAST at least). Returns its length; 0: what `buffer` says of it
 * is damaged. In any context, not by two callers at a time. */
size_t crash_file_write(void *to, size_t size, const struct adopted *buffer,
			const struct crash_panic *panic);

#endif
