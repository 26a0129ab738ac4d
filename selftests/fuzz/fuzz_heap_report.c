// SPDX-License-Identifier: GPL-2.0
/* Any bytes that heapmon reads as a trace, in every form of its report. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "heapmon/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct subject {
	struct heap_reading reading;
	struct digest digest;
};

static void subject_read(struct subject *subject, const char *path,
			 const struct heap_options *options)
{
	const struct reading_follower follower = {
		digest_step, &subject->digest,
	};
	struct heap_reading *reading = &subject->reading;
	struct error err;

	digest_init(&subject->digest, &reading->trace);
	reading_run(reading, path, options, true, &follower, &err);
	if (reading->sums)
		digest_take_profile(&subject->digest, &reading->profile, &err);
	else
		digest_end(&subject->digest, &reading->model, &err);
}

static void subject_close(struct subject *subject)
{
	digest_free(&subject->digest);
	reading_free(&subject->reading);
}

/* The last byte chooses. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t choice = size ? data[size - 1] : 0;
	const struct report_settings settings = {
		.sections = (1u << REPORT_SECTIONS) - 1, .top = choice % 3,
		.depth = choice / 4 % 3, .min_age = choice & 64 ? 0.5 : 0,
	};
	const struct heap_options options = {
		.bounds = HEAP_BOUNDS_DEFAULT, .no_symbols = true,
	};
	int fd = memfd_create("fuzz.heap", MFD_CLOEXEC);
	struct subject one = { 0 }, other = { 0 };
	FILE *out = fopen("/dev/null", "w");
	struct error err;
	char path[32];

	stderr = out;	/* what is wrong with the file */
	if (fd < 0 || !out || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	subject_read(&one, path, &options);
	if (choice & 1)	/* shorter */
		ftruncate(fd, size / 2);
	subject_read(&other, path, &options);
	report_print_tables(out, &one.digest, &settings, &err);
	report_print_json(out, &one.digest, &err);
	report_print_difference(out, &one.digest, &other.digest, &settings,
				&err);
	subject_close(&one);
	subject_close(&other);
	close(fd);
	fclose(out);
	return 0;
}
