/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers, the same ones after the same seed, which isn't 0. */
#ifndef RASTRACE_RANDOM_H
#define RASTRACE_RANDOM_H

#include <stdint.h>

static uint64_t seed = 1;

/* xorshift64* */
static inline uint64_t random_next(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1dULL;
}

static inline unsigned int random_below(unsigned int limit)
{
	return (random_next() >> 33) % limit;
}

#endif
