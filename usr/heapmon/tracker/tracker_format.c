// SPDX-License-Identifier: GPL-2.0
#include "tracker_stream.h"

/* It has no magic number. */
static int tracker_detect(const uint8_t *data, size_t size)
{
	static const struct heap_options any;
	struct tracker_form form;
	bool whole;

	return tracker_stream_form(data, size, &any, &form, &whole) && whole;
}

const struct heap_format format_tracker = {
	.name = "tracker",
	.words = true,
	.tags = true,
	.help = "memory tracker stream (nfmt)",
	.detect = tracker_detect,
	.read_events = tracker_stream_read,
	.begin = tracker_stream_begin,
	.step = tracker_stream_step,
	.end = tracker_stream_end,
};
