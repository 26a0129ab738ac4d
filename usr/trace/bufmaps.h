/* SPDX-License-Identifier: GPL-2.0 */
/* Making the maps of the trace buffer. */
#ifndef TRACE_BUFMAPS_H
#define TRACE_BUFMAPS_H

#include "../lib/buffer.h"
#include "run_dir.h"

/*
 * Open the buffer in `run`; make it when there is none. bytes: data bytes per
 * CPU that were asked for, a power of two; 0: whatever is there, or the
 * default. A buffer of another size is made anew when nothing is armed and it
 * holds no records, else -EBUSY.
 */
int bufmaps_open(struct buffer *buffer, const struct run_dir *run,
		 uint64_t bytes, struct error *err);

/*
 * "64K", "1M", "100000": a size between the least and the most, rounded
 * up to a power of two into *bytes. 0, or -EINVAL with err set; 1 when it was
 * rounded.
 */
int bufmaps_size_parse(const char *text, uint64_t *bytes, struct error *err);

#endif
