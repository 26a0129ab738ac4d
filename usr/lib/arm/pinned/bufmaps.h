/* SPDX-License-Identifier: GPL-2.0 */
/* Making the maps of the trace buffer. */
#ifndef TRACE_BUFMAPS_H
#define TRACE_BUFMAPS_H

#include "lib/buffer/buffer.h"
#include "run_dir.h"

/* What is asked for; 0 and NULL: whatever is there, or the default. */
struct bufmaps_wanted {
	uint64_t bytes;		/* data bytes per CPU, a power of two */
	const char *group;	/* who else may read: name or number */
};

/*
 * Open the buffer in `run`; make it when there is none. One that isn't as
 * wanted is made anew when nothing is armed and it holds no records, else
 * -EBUSY.
 */
int bufmaps_open(struct buffer *buffer, const struct run_dir *run,
		 const struct bufmaps_wanted *wanted, struct error *err);

/*
 * "64K", "1M", "100000": a size between the least and the most, rounded
 * up to a power of two into *bytes. 0, or -EINVAL with err set; 1 when it was
 * rounded.
 */
int bufmaps_size_parse(const char *text, uint64_t *bytes, struct error *err);

/* CPUs that the kernel can ever have, as far as slices are concerned; or a
 * negative errno. */
int bufmaps_cpus_possible(void);

#endif
