// SPDX-License-Identifier: GPL-2.0
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SECOND	1000000000ULL

static uint64_t progress_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static uint64_t trace_bytes(const struct trace *trace)
{
	const struct slices *slices = &trace->file.slices;
	uint64_t bytes = 0;

	for (size_t i = 0; i < slices->count; i++)
		for (size_t k = 0; k < slices->items[i]->chunk_count; k++) {
			const struct ras_slice_copy *copy =
				&slices->items[i]->chunks[k].copy;

			bytes += copy->head - copy->first;
		}
	return bytes;
}

void progress_open(struct show_progress *progress, const struct stream *stream)
{
	*progress = (struct show_progress){
		.shown = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO),
		.next = progress_now() + SECOND,
	};
	for (size_t i = 0; i < stream->count; i++) {
		if (stream->traces[i]->file.source.pipe) {
			progress->bytes = 0;
			return;
		}
		progress->bytes += trace_bytes(stream->traces[i]);
	}
}

void progress_print(struct show_progress *progress, const struct stream *stream)
{
	uint64_t time = progress_now();
	double part;

	if (time < progress->next)
		return;
	progress->next = time + SECOND / 4;
	progress->begun = true;
	part = progress->bytes > progress->done ?
	       100.0 * progress->done / progress->bytes : 100;
	fputs("\r\033[K", stderr);
	if (progress->bytes)
		fprintf(stderr, "%.0f %%, ", part);
	fprintf(stderr, "%llu events", (unsigned long long)stream->number);
	fflush(stderr);
}

void progress_close(struct show_progress *progress)
{
	if (progress->begun)
		fputs("\r\033[K", stderr);
	progress->begun = progress->shown = false;
}
