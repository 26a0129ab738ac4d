/* SPDX-License-Identifier: GPL-2.0 */
/* How many events there were over time, of any span: when it gets longer than
 * the counts reach, two of them become one. */
#ifndef TRACEFMT_HTML_DENSITY_H
#define TRACEFMT_HTML_DENSITY_H

#include <stdint.h>

#define DENSITY_COUNTS	1024

struct html_density {
	uint64_t width;		/* ns of each; a power of two, 0: none yet */
	uint64_t counts[DENSITY_COUNTS];
};

/* An event so many ns after the first one; one before it is added to the first
 * count. */
void html_density_add(struct html_density *density, int64_t time);

#endif
