/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a hit is expected to cost, by the instruction under the probe. The times
 * were measured on several machines and are rough; their ratios hold.
 */
#ifndef LIB_COST_H
#define LIB_COST_H

#include <stdbool.h>
#include <stdint.h>

#define COST_TEXT	24	/* bytes of a text */

/* ns at a site with this TDF_COST_* and these TDF_SITE_*; 0: not known. */
unsigned int cost_expect(uint8_t cost, uint8_t flags);
/* "some 200 ns", "some 2.5 us"; false, and empty: not known. */
bool cost_print(char *text, uint8_t cost, uint8_t flags);

#endif
