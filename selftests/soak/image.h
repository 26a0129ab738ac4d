/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A buffer as it should be, in files of a folder instead of maps, for tests of
 * the reader: 2 CPUs; session 1 is armed, session 2 is past, major 200 was on.
 *
 *	slice 0		session 1, written over more than once
 *	slice 1		session 1, from its begin: each record IMAGE_RECORD long
 *	slice 0.1	session 2, whose records have a CPU and a stack
 *	slice 1.2	static records
 */
#ifndef SELFTESTS_SOAK_IMAGE_H
#define SELFTESTS_SOAK_IMAGE_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <rastrace/ring.h>
#include "tap.h"

#define IMAGE_CPUS	2
#define IMAGE_SLICES	(IMAGE_CPUS * (1 + RAS_NEST_LEVELS))
#define IMAGE_POINTS	2
#define IMAGE_KEY	0x5a3c96f018274bd5ULL
#define IMAGE_AROUND	(RAS_SLICE_HEADER + RAS_RECORD_MAX)
#define IMAGE_STRIDE	(RAS_SLICE_MIN + IMAGE_AROUND)
#define IMAGE_NEST	(RAS_NEST_BYTES + IMAGE_AROUND)
#define IMAGE_DATA	23	/* register of 4 bytes, item of 16 */
#define IMAGE_RECORD	72	/* with header and padding */
#define IMAGE_ENTRY	(sizeof(struct ras_session) + IMAGE_POINTS * \
			 sizeof(struct ras_session_point))

enum image_part {
	CONTROL, BUFFER, NEST, SESSIONS, TRIGGER, COUNT, WHY, STATE,
	PAST_COUNT, PAST_WHY, STATIC_COUNT, STATIC_WHY, IMAGE_PARTS
};

static const struct {
	const char *name;
	size_t bytes;
} image_files[IMAGE_PARTS] = {
	[CONTROL] = { "control", sizeof(struct ras_control) +
				 IMAGE_SLICES * sizeof(__u64) },
	[BUFFER] = { "buffer", IMAGE_CPUS * IMAGE_STRIDE },
	[NEST] = { "nest", IMAGE_CPUS * RAS_NEST_LEVELS * IMAGE_NEST },
	[SESSIONS] = { "sessions", RAS_SESSIONS_BYTES },
	[TRIGGER] = { "trigger", sizeof(struct ras_trigger) },
	[COUNT] = { "armed/app/count", IMAGE_POINTS * IMAGE_SLICES *
				       sizeof(struct ras_count) },
	[WHY] = { "armed/app/why", IMAGE_POINTS * IMAGE_CPUS *
				   sizeof(struct ras_why) },
	[STATE] = { "armed/app/state", sizeof(struct ras_state) },
	[PAST_COUNT] = { "past/2/count", IMAGE_POINTS * IMAGE_SLICES *
					 sizeof(struct ras_count) },
	[PAST_WHY] = { "past/2/why", IMAGE_POINTS * IMAGE_CPUS *
				     sizeof(struct ras_why) },
	[STATIC_COUNT] = { "static/count", RAS_STATIC_MAJORS * IMAGE_SLICES *
					   sizeof(struct ras_count) },
	[STATIC_WHY] = { "static/why", RAS_STATIC_MAJORS * IMAGE_CPUS *
				       sizeof(struct ras_why) },
};

static uint8_t *image[IMAGE_PARTS];

static uint64_t image_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static struct ras_slice *image_slice(unsigned int slice)
{
	if (slice < IMAGE_CPUS)
		return (void *)(image[BUFFER] + slice * IMAGE_STRIDE);
	return (void *)(image[NEST] + (slice - IMAGE_CPUS) * IMAGE_NEST);
}

static struct ras_count *image_count(unsigned int session, unsigned int point,
				     unsigned int slice)
{
	enum image_part part = session == 1 ? COUNT :
			       session == 2 ? PAST_COUNT : STATIC_COUNT;

	return (struct ras_count *)image[part] + point * IMAGE_SLICES + slice;
}

/* Bytes after a register, each one more than that in front of it */
static unsigned int image_data(uint8_t *data, uint32_t n)
{
	struct ras_item item = { .status = RAS_ITEM_VALUE, .length = 16 };

	memcpy(data, &n, 4);
	memcpy(data + 4, &item, 3);
	for (unsigned int i = 0; i < 16; i++)
		data[7 + i] = n + i;
	return IMAGE_DATA;
}

/* A CPU, and a stack of two addresses */
static unsigned int image_context(uint8_t *data)
{
	struct ras_item item = { .status = RAS_ITEM_STACK, .length = 18 };

	memset(data, 0, 8 + 3 + 18);
	memcpy(data + 8, &item, 3);
	data[8 + 3] = RAS_STACK_OUTERMOST;
	return 8 + 3 + 18;
}

/* A record of a point, or of a major */
static void image_write(unsigned int slice, unsigned int session,
			unsigned int point)
{
	struct ras_slice *to = image_slice(slice);
	uint64_t size = slice < IMAGE_CPUS ? RAS_SLICE_MIN : RAS_NEST_BYTES;
	struct ras_count *count = image_count(session, point, slice);
	struct ras_record *record;
	unsigned int length = RAS_RECORD_HEADER;
	uint8_t *data;

	while (!ras_slice_take(to))
		;
	record = ras_slice_place(to, size);
	data = (uint8_t *)(record + 1);
	*record = (struct ras_record) {
		.stamp = record->stamp, .major = session ? 190 + session : 200,
		.minor = point + 1, .point = point, .time = image_now(),
		.tid = 7, .pid = 7, .seq = count->recorded++,
		.session = session,
	};
	if (session == 2)
		length += image_context(data);
	else
		length += image_data(data, record->seq);
	ras_slice_publish(to, record, length, IMAGE_KEY);
}

static void image_session(unsigned int index, unsigned int context)
{
	struct ras_session *entry = (void *)(image[SESSIONS] +
					     (index - 1) * IMAGE_ENTRY);
	struct ras_session_point *points = (void *)(entry + 1);

	*entry = (struct ras_session) {
		.size = IMAGE_ENTRY, .index = index, .major = 190 + index,
		.points = IMAGE_POINTS, .flags = RAS_SESSION_MULTI,
		.armed = image_now(), .id_kind = 1, .id_length = 20,
		.context = context, .tdf = "/app.tdf", .module = "/app",
	};
	for (unsigned int i = 0; i < IMAGE_POINTS; i++)
		points[i].minor = i + 1;
}

static void image_fill(void)
{
	struct ras_control *control = (void *)image[CONTROL];

	*control = (struct ras_control) {
		.magic = RAS_CONTROL_MAGIC, .layout = RAS_LAYOUT,
		.key = IMAGE_KEY, .slice_bytes = RAS_SLICE_MIN,
		.nest_bytes = RAS_NEST_BYTES, .nest_levels = RAS_NEST_LEVELS,
		.cpus = IMAGE_CPUS, .created = image_now(), .next_session = 3,
		.sessions_used = 2 * IMAGE_ENTRY,
	};
	image_session(1, 0);
	image_session(2, RAS_CONTEXT_CPU | RAS_CONTEXT_STACK);
	*(struct ras_state *)image[STATE] = (struct ras_state) {
		.state = RAS_STATE_ON, .session = 1,
	};
	for (unsigned int i = 0; i < 3 * RAS_SLICE_MIN / IMAGE_RECORD; i++)
		image_write(0, 1, i % 3 == 0);
	for (unsigned int i = 0; i < 100; i++)
		image_write(1, 1, 0);
	for (unsigned int i = 0; i < 10; i++)
		image_write(IMAGE_CPUS, 2, 1);
	for (unsigned int i = 0; i < 10; i++)
		image_write(IMAGE_CPUS + RAS_NEST_LEVELS + 1, 0, 200);
	((struct ras_session *)(image[SESSIONS] + IMAGE_ENTRY))->disarmed =
		image_now();
}

/* In `folder`, in files that are mapped */
static void image_make(const char *folder)
{
	static const char *const folders[] = {
		"", "armed", "armed/app", "past", "past/2", "static"
	};
	char path[4096];

	for (unsigned int i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
		mkdir(path, 0700);
	}
	for (unsigned int i = 0; i < IMAGE_PARTS; i++) {
		int fd;

		snprintf(path, sizeof(path), "%s/%s", folder,
			 image_files[i].name);
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
		if (fd < 0 || ftruncate(fd, image_files[i].bytes))
			tap_bail("cannot make '%s'", path);
		if (image[i])
			munmap(image[i], image_files[i].bytes);
		image[i] = mmap(NULL, image_files[i].bytes,
				PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		if (image[i] == MAP_FAILED)
			tap_bail("cannot map '%s'", path);
	}
	image_fill();
}

#endif
