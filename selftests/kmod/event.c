// SPDX-License-Identifier: GPL-2.0
/* The static tracepoints as an event of ftrace and perf: from every context,
 * with and without a buffer, and no longer than somebody listens. */
#include <ctype.h>
#include <sched.h>
#include <linux/perf_event.h>
#include "handover.h"

#define TRACING	"/sys/kernel/tracing/"
#define EVENT	TRACING "events/rastrace/rastrace_static/"

static void file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		tap_bail("%s: %s", path, strerror(errno));
	close(fd);
}

/* All of a file, as far as it goes into `text`. */
static const char *file_read(const char *path)
{
	static char text[1 << 16];
	size_t used = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		tap_bail("%s: %s", path, strerror(errno));
	while (used < sizeof(text) - 1 &&
	       (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += got;
	text[used] = '\0';
	close(fd);
	return text;
}

/* How many bytes a line of the event shows; not each kernel has a blank between
 * all of them. */
static size_t bytes_count(const char *line)
{
	const char *data = line ? strstr(line, "data=") : NULL;
	size_t digits = 0;

	for (data = data ? data + strlen("data=") : ""; *data && *data != '\n';
	     data++)
		digits += isxdigit((unsigned char)*data) != 0;
	return digits / 2;
}

static int counter_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
		.config = strtoull(file_read(EVENT "id"), NULL, 0),
	};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

static uint64_t counter_read(int fd)
{
	uint64_t count = 0;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		tap_bail("the event's counter: %s", strerror(errno));
	return count;
}

static void test_ftrace(struct handover *h)
{
	static const char *const contexts[] = {
		"process", "softirq", "hardirq", "nmi",
	};
	const char *text;

	file_write(EVENT "enable", "1");
	for (int i = 0; i < 4; i++)
		tap_is(sample_write(contexts[i]), -ENOENT,
		       "no buffer, from %s", contexts[i]);
	text = file_read(TRACING "trace");
	for (int i = 0; i < 4; i++) {
		char line[64];

		snprintf(line, sizeof(line),
			 "rastrace_static: major=200 minor=%d data=", i + 1);
		tap_ok(strstr(text, line), "ftrace has it from %s",
		       contexts[i]);
	}
	/* "process" */
	tap_ok(strstr(text, " 70 72 6f 63 65 73 73 00"),
	       "with its data");
	tap_is(handover_adopt(h), 0, "adopted");
	tap_is(sample_write("process"), -ENOENT, "the major is off there");
	handover_switch(h, 200, true);
	tap_is(sample_write("process"), 0, "and on: recorded, too");
	tap_is(recorded_sum(h, 200), 1, "once");
	file_write(EVENT "enable", "0");
	file_write(TRACING "trace", "");
	tap_is(sample_write("process"), 0, "no consumer");
	tap_ok(!strstr(file_read(TRACING "trace"), "rastrace_static:"),
	       "nothing is heard");
	file_write(EVENT "filter", "major == 7");
	file_write(EVENT "enable", "1");
	handover_switch(h, 200, false);
	storm_write(7, 1, 600);
	storm_write(8, 1, 1);
	text = file_read(TRACING "trace");
	tap_ok(strstr(text, "major=7 ") && !strstr(text, "major=8 "),
	       "a filter by major");
	tap_is(bytes_count(strstr(text, "major=7 ")), RAS_STATIC_DATA_MAX,
	       "data is cut as in a record");
	file_write(EVENT "enable", "0");
	file_write(EVENT "filter", "0");
}

static void test_perf(struct handover *h)
{
	cpu_set_t cpus;
	int fd;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	fd = counter_open();
	if (fd < 0)
		tap_bail("perf_event_open: %s", strerror(errno));
	for (int i = 0; i < 5; i++)
		sample_write(i % 2 ? "nmi" : "process");
	tap_is(counter_read(fd), 5, "perf counts it");
	close(fd);
	tap_is(sample_write("process"), -ENOENT, "off when it is closed");
	tap_ok(!major_key(200) && !major_key(7), "with all keys");
	tap_is(recorded_sum(h, 200), 2, "nothing of it is in the buffer");
}

int main(void)
{
	struct handover h;

	handover_make(&h);
	tap_is(sample_write("process"), -ENOENT, "off");
	test_ftrace(&h);
	test_perf(&h);
	file_write(EVENT "enable", "1");
	handover_switch(&h, 200, true);
	tap_is(handover_release(&h), 0, "released while the event is on");
	tap_is(storm_write(200, 1, 1), -ENOENT, "there is no buffer");
	tap_ok(strstr(file_read(TRACING "trace"), "major=200 "),
	       "but the event");
	file_write(EVENT "enable", "0");
	return tap_done();
}
