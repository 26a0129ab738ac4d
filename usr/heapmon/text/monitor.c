// SPDX-License-Identifier: GPL-2.0
#include "monitor.h"

#include <string.h>

/* By the first line that says anything. */
static int monitor_detect(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;

	while (at < end) {
		const char *stop = memchr(at, '\n', end - at);
		struct monitor_line line;

		if (!stop)
			stop = end;
		monitor_line_parse(at, stop - at, &line);
		if (line.kind == MONITOR_EVENT || line.kind == MONITOR_LOST)
			return 1;
		if (line.kind == MONITOR_NOTHING && line.text.length)
			return 2;
		if (line.kind != MONITOR_NOTHING &&
		    line.kind != MONITOR_BANNER)
			return 0;
		at = stop < end ? stop + 1 : end;
	}
	return 0;
}

const struct heap_format format_monitor = {
	.name = "monitor",
	.help = "heap monitoring text",
	.detect = monitor_detect,
	.read_events = monitor_read,
	.begin = monitor_write_begin,
	.step = monitor_write_step,
	.end = monitor_write_end,
};
