// SPDX-License-Identifier: GPL-2.0
#include "mptl.h"

#include <string.h>

static int mptl_detect(const uint8_t *data, size_t size)
{
	return size >= 4 && !memcmp(data, MPTL_MAGIC, 4) ? 2 : 0;
}

const struct heap_format format_mptl = {
	.name = "mptl",
	.words = true,
	.help = "mpatrol profiling (mpatrol.out)",
	.detect = mptl_detect,
	.read_profile = mptl_read_profile,
	.write_profile = mptl_write_profile,
};
