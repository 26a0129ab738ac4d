// SPDX-License-Identifier: GPL-2.0
/* Any bytes as a file of every format that heapmon reads; what is read is written
 * in every format that fits. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "heapmon/core/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct writing {
	struct heap_output output;
	const struct heap_format *format;
	void *state;
	bool begun;
};

static void report(void *context, const char *text)
{
}

static int step_write(void *context, const struct heap_model *model,
		      const struct heap_step *step, struct error *err)
{
	struct writing *writing = context;

	if (!writing->begun &&
	    (!writing->state ||
	     writing->format->begin(&writing->output, writing->state, err)))
		return -1;
	writing->begun = true;
	return writing->format->step(&writing->output, writing->state, model,
				     step, err);
}

static void writing_end(struct writing *writing, struct heap_reading *reading,
			struct heap_profile *profile, int ret)
{
	struct error err;

	if (writing->format->write_profile)
		writing->format->write_profile(&writing->output, profile,
					       &reading->model, &err);
	else if (writing->begun)
		writing->format->end(&writing->output, writing->state,
				     &reading->model, ret, &err);
}

static void convert(const char *path, const struct heap_format *to,
		    const struct heap_options *options, FILE *out)
{
	struct writing writing = {
		.format = to, .state = calloc(1, to->state_size + 1),
	};
	const struct reading_follower follower = { step_write, &writing };
	struct heap_reading reading;
	struct error err;
	int ret;

	writing.output = (struct heap_output){
		.file = out, .path = "-", .options = options,
		.trace = &reading.trace, .warn = report,
	};
	ret = reading_run(&reading, path, options, true,
			  to->begin ? &follower : NULL, &err);
	writing_end(&writing, &reading, &reading.profile, ret);
	free(writing.state);
	reading_free(&reading);
}

/* The last byte chooses. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t choice = size ? data[size - 1] : 0, formats = 0;
	struct heap_options options = {
		.bounds = HEAP_BOUNDS_DEFAULT, .no_symbols = true,
		.rebase = choice & 1, .pid = choice & 2 ? 38 : 0,
	};
	int fd = memfd_create("fuzz.heap", MFD_CLOEXEC);
	const struct heap_format *to;
	FILE *out = fopen("/dev/null", "w");
	char path[32];

	stderr = out;	/* what is wrong with the file */
	while (heap_formats[formats])
		formats++;
	if (fd < 0 || !out || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options.from = choice & 4 ? heap_formats[choice / 8 % formats] : NULL;
	to = heap_formats[(choice + size) % formats];
	if (to->begin || to->write_profile)
		convert(path, to, &options, out);
	close(fd);
	fclose(out);
	return 0;
}
