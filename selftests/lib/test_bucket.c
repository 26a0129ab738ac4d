// SPDX-License-Identifier: GPL-2.0
/*
 * Buckets of histograms: they follow each other without a gap up to the highest
 * value, each has what it says, and its middle is within 1 % of all of it.
 */
#include <stdlib.h>
#include "lib/bucket.h"
#include "tap.h"

int main(void)
{
	unsigned int wrong = 0, far = 0;
	uint64_t next = 0;

	for (unsigned int b = 0; b < RAS_BUCKETS; b++) {
		uint64_t start = bucket_start(b), width = bucket_width(b);
		uint64_t middle = bucket_middle(b);

		wrong += start != next || bucket_find(start) != b ||
			 bucket_find(start + width - 1) != b;
		far += (middle - start) * 100 > start ||
		       (start + width - 1 - middle) * 100 > start;
		next = start + width;
	}
	tap_is(wrong, 0, "buckets follow each other");
	tap_is(far, 0, "a middle is within 1 %% of all values");
	tap_ok(next == 1ULL << 63, "the last one ends with the highest value");
	tap_is(bucket_find(INT64_MAX), RAS_BUCKETS - 1, "which is in it");
	tap_is(bucket_find(-1), RAS_BUCKET_NEGATIVE, "negative values are apart");
	tap_is(bucket_find(INT64_MIN), RAS_BUCKET_NEGATIVE, "all of them");
	return tap_done();
}
