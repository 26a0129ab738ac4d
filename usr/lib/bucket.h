/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buckets of a histogram (RAS_BUCKETS): 64 for each power of two, so that the
 * middle of one is within 1 % of all values in it; below 128 a bucket is a value.
 */
#ifndef LIB_BUCKET_H
#define LIB_BUCKET_H

#include <stdint.h>
#include <rastrace/buffer.h>

#define BUCKET_PARTS	(1u << RAS_BUCKET_SHIFT)

static inline unsigned int bucket_find(int64_t value)
{
	unsigned int shift;

	if (value < 0)
		return RAS_BUCKET_NEGATIVE;
	shift = 63 - __builtin_clzll(value | BUCKET_PARTS) - RAS_BUCKET_SHIFT;
	return (shift << RAS_BUCKET_SHIFT) + ((uint64_t)value >> shift);
}

/* Its least value, and how many it has; of RAS_BUCKETS */
static inline uint64_t bucket_start(unsigned int bucket)
{
	unsigned int row = bucket >> RAS_BUCKET_SHIFT;

	return row < 2 ? bucket :
	       (uint64_t)(bucket % BUCKET_PARTS + BUCKET_PARTS) << (row - 1);
}

static inline uint64_t bucket_width(unsigned int bucket)
{
	unsigned int row = bucket >> RAS_BUCKET_SHIFT;

	return row < 2 ? 1 : 1ULL << (row - 1);
}

/* As far as there can be one */
static inline uint64_t bucket_middle(unsigned int bucket)
{
	return bucket_start(bucket) + bucket_width(bucket) / 2;
}

#endif
