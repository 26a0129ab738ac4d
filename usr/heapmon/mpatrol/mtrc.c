// SPDX-License-Identifier: GPL-2.0
#include "mtrc.h"

#include <string.h>

static int mtrc_detect(const uint8_t *data, size_t size)
{
	return size >= 4 && !memcmp(data, MTRC_MAGIC, 4) ? 2 : 0;
}

const struct heap_format format_mtrc = {
	.name = "mtrc",
	.words = true,
	.help = "mpatrol tracing (mpatrol.trace)",
	.detect = mtrc_detect,
	.read_events = mtrc_read_events,
	.begin = mtrc_begin,
	.step = mtrc_step,
	.end = mtrc_end,
};
