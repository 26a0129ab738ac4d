// SPDX-License-Identifier: GPL-2.0
#include "heapmon/core/format.h"

#include <string.h>
#include <rastrace/rasfile.h>
#include "ras_read.h"

static int ras_detect(const uint8_t *data, size_t size)
{
	return size >= 8 && !memcmp(data, RAS_FILE_MAGIC, 8) ? 2 : 0;
}

const struct heap_format format_ras = {
	.name = "ras",
	.help = "a recording (heapmon record)",
	.detect = ras_detect,
	.read_events = ras_read_events,
};
