// SPDX-License-Identifier: GPL-2.0
/*
 * What a panicking kernel writes (kmod/crash_file.c): all records where there is
 * room, else the newest of each slice; what is damaged, or not mapped any more,
 * costs what lies there.
 */
#include "kernel.h"
#include "kmod/crash_file.c"
#include "tap.h"
#include "lib/read/trace_file.h"

#define KEY		0x1122334455667788ULL
#define CPUS		2
#define ROWS		(CPUS * (1 + RAS_NEST_LEVELS))
#define SIZE		RAS_SLICE_MIN
#define AROUND_SLICE	(RAS_SLICE_HEADER + RAS_RECORD_MAX)
#define RECORD		(RAS_RECORD_HEADER + 13)	/* takes 64 bytes */
#define SPACE		64
#define LARGE		(8u << 20)			/* room for all */

static struct adopted buffer;
static struct ras_control *control;

static void part_make(int part, uint64_t stride, uint32_t entries)
{
	free(buffer.parts[part].base);
	buffer.parts[part] = (struct buffer_part){
		.base = aligned_alloc(PAGE_SIZE,
				      (entries * stride + PAGE_SIZE) &
				      -PAGE_SIZE),
		.stride = stride, .entries = entries,
	};
	if (!buffer.parts[part].base)
		tap_bail("no memory");
	memset(buffer.parts[part].base, 0, entries * stride);
}

static size_t part_bytes(int part)
{
	return buffer.parts[part].entries * buffer.parts[part].stride;
}

static struct ras_slice *slice_of(uint32_t row)
{
	return row < CPUS ? buffer_entry(&buffer, RASTRACE_BUFFER, row) :
			    buffer_entry(&buffer, RASTRACE_NEST, row - CPUS);
}

static void records_put(uint32_t row, unsigned int count)
{
	struct ras_slice *slice = slice_of(row);
	uint64_t size = row < CPUS ? SIZE : RAS_NEST_BYTES;

	for (unsigned int i = 0; i < count && ras_slice_take(slice); i++) {
		struct ras_record *record = ras_slice_place(slice, size);

		*record = (struct ras_record){
			.time = 1000 + slice->records, .seq = slice->records,
		};
		memset(record + 1, row, RECORD - sizeof(*record));
		ras_slice_publish(slice, record, RECORD, KEY);
	}
}

/* Empty, with static tracepoints */
static void buffer_make(void)
{
	buffer.key = KEY;
	buffer.slice_bytes = SIZE;
	buffer.nest_bytes = RAS_NEST_BYTES;
	buffer.cpus = CPUS;
	buffer.statics = true;
	part_make(RASTRACE_CONTROL, sizeof(*control) + 8 * ROWS, 1);
	part_make(RASTRACE_BUFFER, SIZE + AROUND_SLICE, CPUS);
	part_make(RASTRACE_NEST, RAS_NEST_BYTES + AROUND_SLICE,
		  CPUS * RAS_NEST_LEVELS);
	part_make(RASTRACE_SESSIONS, RAS_SESSIONS_BYTES, 1);
	part_make(RASTRACE_COUNT, sizeof(struct ras_count),
		  RAS_STATIC_MAJORS * ROWS);
	part_make(RASTRACE_WHY, sizeof(struct ras_why),
		  RAS_STATIC_MAJORS * CPUS);
	control = buffer_entry(&buffer, RASTRACE_CONTROL, 0);
	kernel_hole.start = kernel_hole.end = NULL;
}

static void hole_make(const void *at, size_t size)
{
	kernel_hole.start = at;
	kernel_hole.end = kernel_hole.start + size;
}

/* ---- what was written ---- */

static struct written {
	size_t length, sessions, damages;
	unsigned int records[ROWS], gaps[ROWS];
	uint32_t first[ROWS], last[ROWS];	/* seq */
	uint64_t dropped[ROWS], published[ROWS];
	struct ras_count_total total;		/* of major 210 */
	bool right;				/* what is in the records */
} written;

static void record_note(const struct ras_record *record, uint32_t row)
{
	const uint8_t *data = (const uint8_t *)(record + 1);

	if (!written.records[row]++)
		written.first[row] = record->seq;
	else if (record->seq != written.last[row] + 1)
		written.gaps[row]++;
	written.last[row] = record->seq;
	written.right &= record->length == RECORD && data[0] == row &&
			 data[RECORD - sizeof(*record) - 1] == row &&
			 record->time == 1000 + record->seq;
}

static void slice_note(struct trace_file *file, struct trace_slice *slice)
{
	uint32_t row = slice->level ? CPUS + slice->cpu * RAS_NEST_LEVELS +
				      slice->level - 1 : slice->cpu;
	const struct ras_record *record;

	written.published[row] = slice->chunks[0].copy.records;
	while ((record = slices_next(&file->slices, slice, KEY)))
		record_note(record, row);
	written.dropped[row] = slice->dropped;
}

static void file_note(struct trace_file *file)
{
	while (trace_file_more(file) > 0)
		;
	for (size_t i = 0; i < file->slices.count; i++)
		slice_note(file, file->slices.items[i]);
	written.sessions = file->session_count;
	written.damages = file->damage.count;
	if (file->majors.totals)
		written.total = file->majors.totals[210];
	if (!file->panicked || strcmp(file->panic.reason, "of a test") ||
	    file->panic.time != 5000 || file->header.cpus != CPUS ||
	    strcmp(file->kernel, "6.0.fuzz") || file->header.taken != 5000 ||
	    file->header.wall_offset != -77)
		written.right = false;
}

/* Into `written`; false: there is no file. */
static bool file_write(size_t room)
{
	static const struct crash_panic panic = {
		.time = 5000, .wall_offset = -77, .reason = "of a test",
	};
	struct trace_file file;
	struct error err;
	static u8 before[LARGE];	/* what the last panic left there */
	u8 *to = malloc(room + 8);

	if (!to || room > LARGE)
		tap_bail("no memory");
	memcpy(to, before, room);
	memset(to + room, 0xee, 8);
	written = (struct written){ .right = true };
	written.length = crash_file_write(to, room, &buffer, &panic);
	if (written.length > room || to[room] != 0xee)
		tap_bail("written past the room");
	memcpy(before, to, room);
	if (!written.length) {
		free(to);
		return false;
	}
	if (trace_file_open_memory(&file, to, written.length, "test", &err))
		tap_bail("%s", err.text);
	file_note(&file);
	trace_file_free(&file);
	return true;
}

static void is_whole(uint32_t row, unsigned int records, const char *name)
{
	tap_ok(written.records[row] == records && !written.gaps[row] &&
	       written.last[row] == slice_of(row)->records - 1 &&
	       written.published[row] == slice_of(row)->records,
	       "%s: slice %u: the newest %u records", name, row, records);
}

static void is_right(const char *name)
{
	tap_ok(written.right, "%s: as they were", name);
	tap_is(written.damages, 0, "%s: nothing is damaged", name);
}

/* ---- tests ---- */

static void check_all(void)
{
	struct ras_count *count;
	struct ras_why *why;

	buffer_make();
	for (uint32_t row = 0; row < ROWS; row++)
		records_put(row, 10 + row);
	slice_of(1)->dropped = 7;
	count = buffer_entry(&buffer, RASTRACE_COUNT, 210 * ROWS);
	count[1].recorded = 3;
	count[ROWS - 1].recorded = 4;
	count[ROWS - 1].dropped = 5;
	why = buffer_entry(&buffer, RASTRACE_WHY, 210 * CPUS);
	why[0].filtered[RAS_FILTERED_SUSPENDED] = 1;
	why[CPUS - 1].filtered[RAS_FILTERED_SUSPENDED] = 2;
	file_write(LARGE);
	for (uint32_t row = 0; row < ROWS; row++)
		is_whole(row, 10 + row, "all");
	is_right("all");
	tap_is(written.dropped[1], 7, "drops");
	tap_is(written.total.recorded, 7, "figures: recorded");
	tap_is(written.total.dropped, 5, "figures: dropped");
	tap_is(written.total.why.filtered[RAS_FILTERED_SUSPENDED], 3,
	       "figures: suspended");
	file_write(CRASH_FILE_LEAST);
	tap_is(written.total.recorded, 0, "little room: without figures");
	is_whole(1, 11, "little room");
	buffer.statics = false;
	file_write(LARGE);
	tap_is(written.total.recorded, 0, "no static tracepoints, no figures");
	buffer_make();
	slice_of(1)->dropped = 9;
	file_write(LARGE);
	tap_is(written.dropped[1], 9, "nothing but drops");
}

static void check_wrapped(void)
{
	const unsigned int most = (SIZE - RAS_RECORD_MAX) / SPACE;

	buffer_make();
	records_put(0, SIZE / SPACE - 1);
	file_write(LARGE);
	is_whole(0, SIZE / SPACE - 1, "nearly full");
	records_put(0, 1);
	file_write(LARGE);
	is_whole(0, most, "just full");
	records_put(0, 5000);
	records_put(CPUS, 1000);
	file_write(LARGE);
	is_whole(0, most, "wrapped");
	is_whole(CPUS, (RAS_NEST_BYTES - RAS_RECORD_MAX) / SPACE, "wrapped");
	is_right("wrapped");
	control->tail[0] = slice_of(0)->head - 3 * SPACE;
	file_write(LARGE);
	is_whole(0, 3, "cleared");
	control->tail[0] += 3;
	file_write(LARGE);
	is_whole(0, 3, "cleared at an odd place");
	is_right("cleared at an odd place");
	buffer.parts[RASTRACE_CONTROL].stride = sizeof(*control);
	file_write(LARGE);
	is_whole(0, most, "no room for the marks");
	buffer.parts[RASTRACE_CONTROL].stride += 8 * ROWS;
	control->tail[0] = -8;
	file_write(LARGE);
	tap_is(written.records[0], 0, "cleared: all");
}

/* Who needs less leaves the rest to the others. */
static void check_room(void)
{
	unsigned int share, wrong = 0;

	buffer_make();
	buffer.statics = false;
	records_put(0, 5000);
	records_put(1, 5000);
	records_put(CPUS, 4);
	file_write(CRASH_FILE_LEAST);
	share = (CRASH_FILE_LEAST - 1024) / SPACE / 2 - 4;
	tap_ok(written.records[0] >= share && written.records[1] >= share,
	       "little room: %u and %u records, %u at least",
	       written.records[0], written.records[1], share);
	is_whole(0, written.records[0], "little room");
	is_whole(1, written.records[1], "little room");
	is_whole(CPUS, 4, "little room");
	is_right("little room");
	/* but for a record of each, and what is rounded */
	for (size_t room = CRASH_FILE_LEAST; room < CRASH_FILE_LEAST + 300;
	     room++) {
		file_write(room);
		wrong += !written.right || written.damages ||
			 written.length < room - 2 * SPACE - 32;
	}
	tap_is(wrong, 0, "the room is used, whatever it is");
}

/* ---- sessions ---- */

static void session_put(uint8_t *log, uint32_t *used, uint16_t index,
			uint32_t points, bool armed)
{
	struct ras_session *session = (void *)(log + *used);

	*session = (struct ras_session){
		.size = sizeof(*session) +
			points * sizeof(struct ras_session_point),
		.index = index, .major = 1, .points = points,
		.disarmed = armed ? 0 : 1,
	};
	*used += session->size;
}

static void check_sessions(void)
{
	struct ras_session *first;
	uint32_t used = 0;
	uint8_t *log;

	buffer_make();
	log = buffer_entry(&buffer, RASTRACE_SESSIONS, 0);
	for (unsigned int i = 1; i <= 300; i++)
		session_put(log, &used, i, 5, i % 50 == 0);
	control->sessions_used = used;
	file_write(LARGE);
	tap_is(written.sessions, 300, "sessions: all");
	file_write(CRASH_FILE_LEAST);
	tap_is(written.sessions, 6, "little room: the armed ones");
	is_right("sessions");
	first = (void *)log;
	first->size = 4;
	file_write(LARGE);
	tap_is(written.sessions, 0, "a small entry: no more");
	first->size = -8;
	file_write(LARGE);
	tap_is(written.sessions, 0, "a giant entry: no more");
	first->size = sizeof(*first) + 5 * sizeof(struct ras_session_point);
	control->sessions_used = -1;
	file_write(LARGE);
	tap_is(written.sessions, 300, "a giant log: what is there");
	control->sessions_used = used;
	hole_make(log + 10 * (size_t)first->size, 1);
	file_write(LARGE);
	tap_is(written.sessions, 10, "a hole in the log: what is before");
	hole_make(log + 10 * (size_t)first->size + sizeof(*first), 1);
	file_write(LARGE);
	tap_is(written.sessions, 10, "a hole in its points");
	is_right("a hole in the log");
}

/* ---- damage ---- */

static void check_damage(void)
{
	struct ras_slice *slice;

	buffer_make();
	slice = slice_of(0);
	records_put(0, 100);
	records_put(1, 100);
	slice->head += 3;
	file_write(LARGE);
	tap_is(written.records[0], 100, "an odd head: what is in front of it");
	is_right("an odd head");
	slice->head -= 3;
	((struct ras_record *)(slice->data + 50 * SPACE))->stamp++;
	file_write(LARGE);
	tap_is(written.records[0], 99, "a ruined stamp: the others");
	((struct ras_record *)(slice->data + 60 * SPACE))->length = 20;
	file_write(LARGE);
	tap_is(written.records[0], 98, "a small length: the others");
	((struct ras_record *)(slice->data + 99 * SPACE))->length = SPACE + 1;
	file_write(LARGE);
	tap_is(written.records[0], 97, "a record over the head: the others");
	slice->head = -1;
	file_write(LARGE);
	tap_is(written.records[0], 0, "a giant head: nothing");
	is_whole(1, 100, "a giant head");
}

static void check_holes(void)
{
	struct ras_slice *slice;
	uint8_t *page;

	buffer_make();
	slice = slice_of(0);
	records_put(0, 1000);
	records_put(1, 100);
	page = (uint8_t *)(((uintptr_t)slice->data + 4 * PAGE_SIZE) &
			   -PAGE_SIZE);
	hole_make(page, PAGE_SIZE);
	file_write(LARGE);
	tap_is(written.records[0], 1000 - PAGE_SIZE / SPACE,
	       "a page that is gone: the others' records");
	is_whole(1, 100, "a page that is gone");
	records_put(0, 500);
	hole_make((uint8_t *)slice + SIZE, PAGE_SIZE);
	file_write(LARGE);
	tap_is(written.records[0], (SIZE - RAS_RECORD_MAX) / SPACE - 1,
	       "the page at the end: not what is at the beginning");
	hole_make((uint8_t *)slice + RAS_SLICE_HEADER, SIZE + RAS_RECORD_MAX);
	file_write(LARGE);
	tap_is(written.records[0], 0, "a slice that is gone");
	is_whole(1, 100, "a slice that is gone");
	hole_make(slice, 1);
	file_write(LARGE);
	tap_is(written.records[0], 0, "a slice's head that is gone");
	is_whole(1, 100, "a slice's head that is gone");
	hole_make(control, buffer.parts[RASTRACE_CONTROL].stride);
	file_write(LARGE);
	is_whole(1, 100, "the control block that is gone");
	hole_make(buffer.parts[RASTRACE_COUNT].base,
		  part_bytes(RASTRACE_COUNT));
	file_write(LARGE);
	is_whole(1, 100, "the figures that are gone");
	is_right("the figures that are gone");
	hole_make(buffer.parts[RASTRACE_WHY].base,
		  part_bytes(RASTRACE_WHY));
	file_write(LARGE);
	is_whole(1, 100, "the reasons that are gone");
}

/* The description of the buffer may be anything. */
static void check_description(void)
{
	buffer_make();
	hole_make(&buffer, sizeof(buffer));
	tap_ok(!file_write(LARGE), "no description: no file");
	buffer_make();
	buffer.cpus = 1u << 30;
	tap_ok(!file_write(LARGE), "a billion CPUs: no file");
	buffer_make();
	buffer.slice_bytes++;
	tap_ok(!file_write(LARGE), "odd slices: no file");
	buffer_make();
	buffer.slice_bytes = 1ULL << 40;
	tap_ok(!file_write(LARGE), "giant slices: no file");
	buffer_make();
	buffer.slice_bytes = 8;
	tap_ok(!file_write(LARGE), "tiny slices: no file");
	buffer_make();
	buffer.nest_bytes = 0;
	tap_ok(!file_write(LARGE), "other nesting slices: no file");
}

int main(void)
{
	check_all();
	check_wrapped();
	check_room();
	check_sessions();
	check_damage();
	check_holes();
	check_description();
	return tap_done();
}
