/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HEAPMON_ROUNDED_H
#define HEAPMON_ROUNDED_H

#include <math.h>
#include <stdint.h>

/* To the nearest number that there is. */
static inline uint64_t heap_rounded(double value)
{
	if (!(value > 0))
		return 0;
	return value < (double)INT64_MAX ? (uint64_t)llround(value) : INT64_MAX;
}

#endif
