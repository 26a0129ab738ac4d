// SPDX-License-Identifier: GPL-2.0
#include "html_density.h"

#include <string.h>

static void density_widen(struct html_density *density)
{
	uint64_t *counts = density->counts;

	for (unsigned int i = 0; i < DENSITY_COUNTS / 2; i++)
		counts[i] = counts[2 * i] + counts[2 * i + 1];
	memset(counts + DENSITY_COUNTS / 2, 0,
	       DENSITY_COUNTS / 2 * sizeof(*counts));
	density->width *= 2;
}

void html_density_add(struct html_density *density, int64_t time)
{
	uint64_t at = time < 0 ? 0 : time;

	if (!density->width)
		density->width = 1;
	while (at / density->width >= DENSITY_COUNTS)
		density_widen(density);
	density->counts[at / density->width]++;
}
