/* SPDX-License-Identifier: GPL-2.0 */
/* Static tracepoints of user programs: see rastrace_write(3). */
#ifndef RASTRACE_H
#define RASTRACE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RASTRACE_MAJOR_MAX	255
#define RASTRACE_MINOR_MAX	65535
#define RASTRACE_DATA_MAX	512	/* bytes; what is longer is cut */

/* Record `length` bytes at `data` when `major` is on (trace on MAJOR). */
void rastrace_write(unsigned int major, unsigned int minor, const void *data,
		    size_t length);

#ifdef __cplusplus
}
#endif

#endif
