// SPDX-License-Identifier: GPL-2.0
#include "format.h"

#include <string.h>

const struct heap_format *const heap_formats[] = {
	&format_ras, &format_mtrc, &format_mptl, &format_monitor,
	&format_tracker, &format_pprof, &format_collapsed, &format_massif,
	&format_heaptrack, NULL
};

const struct heap_format *heap_format_find(const char *name)
{
	for (size_t i = 0; heap_formats[i]; i++)
		if (!strcmp(heap_formats[i]->name, name))
			return heap_formats[i];
	return NULL;
}

const struct heap_format *heap_format_detect(const uint8_t *data, size_t size)
{
	const struct heap_format *best = NULL;
	int most = 0;

	for (size_t i = 0; heap_formats[i]; i++) {
		int sure = heap_formats[i]->detect ?
			heap_formats[i]->detect(data, size) : 0;

		if (sure > most) {
			most = sure;
			best = heap_formats[i];
		}
	}
	return best;
}
