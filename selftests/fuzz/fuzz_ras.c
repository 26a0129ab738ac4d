// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a .ras file: refused or printed, with figures and damage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "selftests/tracefmt/builder.h"
#include "lib/read/match/stream.h"
#include "tracefmt/output/pipeline.h"
#include "tracefmt/output/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A TFF that fits the corpus. */
static struct bytes tff_make(void)
{
	struct tff_builder builder = { .major = 0xc5 };

	tff_section_begin(&builder, "/usr/bin/app", 0xefbeadde);
	tff_entry_add(&builder, 25, 0x1111, 0, "one",
		      "%W %B%B %P%S\n%I2 %X %Y\n");
	tff_entry_add(&builder, 0xb1, 0x2222, 0, "two", "%P%D\n%P%S %R%W\n%U");
	tff_entry_add(&builder, 0xb5, 0, TFF_STATIC, "three", "%W %S %A %Q");
	return tff_finish(&builder);
}

/* In batches or one by one; as show.c does it. */
static void stream_print(struct stream *stream, struct output *output, int fd,
			 unsigned int threads)
{
	struct pipeline *pipeline = pipeline_open(output, fd, threads);
	struct event event;
	struct error err;
	bool begun = false;
	int more;

	if (!pipeline)
		abort();
	do {
		if (pipeline_flush(pipeline) || stream_more(stream) ||
		    (!begun && pipeline_begin(pipeline, &err)))
			abort();
		begun = true;
		while ((more = stream_next(stream, &event)) == STREAM_EVENT)
			if (pipeline_give(pipeline, &event))
				abort();
	} while (more == STREAM_WAIT);
	if (more < 0 || pipeline_end(pipeline, 0, &err))
		abort();
	pipeline_close(pipeline);
}

static void file_print(struct stream *stream, size_t choice)
{
	static const struct output_ops *const forms[] = {
		&output_text, &output_json, &output_csv,
	};
	struct output_settings settings = {
		.utc = true, .hex = choice & 1, .verbose = choice & 1,
	};
	struct output output = {
		.ops = forms[choice % 3], .settings = &settings,
		.stream = stream,
	};
	struct clock clock = { .utc = true };
	FILE *out = fopen("/dev/null", "w");

	if (!out)
		abort();
	stream_print(stream, &output, fileno(out), 1 + choice / 2 % 2);
	stream_finish(stream);
	summary_print(out, stream, &clock);
	output_free(&output);
	fclose(out);
}

/* Through a pipe that has room for it. */
static int pipe_fill(const uint8_t *data, size_t size)
{
	int ends[2];

	if (pipe(ends) || write(ends[1], data, size) != (ssize_t)size)
		abort();
	close(ends[1]);
	return ends[0];
}

static int temporary_fill(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz.ras", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

static int trace_open(struct trace_file *file, const uint8_t *data, size_t size)
{
	struct error err;
	char path[32];
	uint8_t *copy;
	int code, fd;

	if (size % 4 < 2) {
		copy = malloc(size ? size : 1);
		memcpy(copy, data, size);
		return trace_file_open_memory(file, copy, size, "fuzz.ras",
					      &err);
	}
	fd = size % 4 == 2 && size < 65536 ? pipe_fill(data, size) :
					     temporary_fill(data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	code = trace_file_open(file, path, &err);
	close(fd);
	return code;
}

/* The last byte also says how often the file is there, and what is done with
 * it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bytes tff;
	struct search search = { 0 };
	struct stream stream;
	size_t choice = size ? data[size - 1] : 0;

	if (!tff.size)
		tff = tff_make();
	if (search_add_bundled(&search, "TRC00C5.TFF", tff.data, tff.size))
		abort();
	stream_open(&stream, &search, choice & 1);
	stream.system = true;
	for (size_t i = 0; i < 1 + choice % 2; i++) {
		struct trace *trace = stream_add(&stream, "fuzz.ras");

		if (!trace)
			abort();
		if (trace_open(&trace->file, data, size - i % (size + 1)))
			stream_drop(&stream);
	}
	if (stream.count)
		file_print(&stream, choice);
	stream_close(&stream);
	search_free(&search);
	return 0;
}
