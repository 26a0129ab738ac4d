// SPDX-License-Identifier: GPL-2.0
/*
 * A recording as events: records and notes by time, what a function's record
 * means, stacks with the reason why they end, and where events are missing.
 *
 *	test_ras FOLDER	writes the recording there, as heap.ras
 */
#include "selftests/tap.h"
#include <errno.h>
#include <rastrace/heap.h>
#include "selftests/tracefmt/builder.h"
#include "heapmon/core/format.h"
#include "heapmon/ras/heap_record.h"

#define MS	1000000ULL
#define START	(1770163190LL * 1000000000LL)
#define F(id)	HEAP_FUNCTION_##id

static const struct ras_session_point points[] = {
	{ .hash = 1, .minor = F(MALLOC) }, { .hash = 2, .minor = F(REALLOC) },
	{ .hash = 3, .minor = F(FREE) }, { .hash = 4, .minor = F(DELETE) },
};

#define POINTS	(sizeof(points) / sizeof(*points))

static uint32_t numbers[POINTS];

/* ---- making one ---- */

static void note_add_of(struct bytes *notes, uint32_t pid, uint64_t time,
			uint32_t kind, uint64_t a, uint64_t b)
{
	struct ras_heap_note note = {
		.time = time, .kind = kind, .pid = pid, .a = a, .b = b,
	};

	bytes_add(notes, &note, sizeof(note));
}

static void note_add(struct bytes *notes, uint64_t time, uint32_t kind,
		     uint64_t a, uint64_t b)
{
	note_add_of(notes, 38, time, kind, a, b);
}

static uint32_t pid = 38;	/* of the next calls */

static void call_add(struct slice_builder *slice, uint64_t time, uint16_t point,
		     struct ras_heap heap, uint64_t word)
{
	const uint64_t frames[] = { 0x401234, 0x401000 };
	struct ras_record record = {
		.session = 1, .major = HEAP_MAJOR, .point = point,
		.minor = points[point].minor, .seq = numbers[point]++,
		.time = time, .pid = pid, .tid = pid + 1,
	};
	struct bytes data = { 0 };

	bytes_add(&data, &heap, sizeof(heap));
	if (points[point].minor == F(FREE) || points[point].minor == F(DELETE))
		data_item(&data, RAS_ITEM_VALUE, &word, sizeof(word));
	data_stack(&data, point ? RAS_STACK_OUTERMOST : RAS_STACK_NO_FRAME, 0,
		   frames, 2);
	slice_add(slice, record, &data);
	bytes_free(&data);
}

static void notes_make(struct bytes *notes)
{
	note_add(notes, 1 * MS, RAS_HEAP_SETTINGS, 4096, 16);
	note_add(notes, 2 * MS, RAS_HEAP_BEGIN, 8, 0);
	note_add(notes, 15 * MS, RAS_HEAP_OLD_WORD, 0x9000, 0);
	note_add(notes, 15 * MS, RAS_HEAP_OLD, 0x9000, 24);
	note_add(notes, 15 * MS, RAS_HEAP_OLD_WORD, 0x9040, 0);
	note_add(notes, 15 * MS, RAS_HEAP_OLD, 0x9080, 24);
	note_add(notes, 16 * MS, RAS_HEAP_OLD_END, 1, RAS_HEAP_OLD_WHOLE);
	note_add(notes, 90 * MS, RAS_HEAP_EXIT, 0, 0);
	note_add(notes, 17 * MS, RAS_HEAP_GROW, 0x8000, 0x21000);
	note_add_of(notes, 40, 70 * MS, RAS_HEAP_FORK, 38, 0);
	note_add_of(notes, 40, 80 * MS, RAS_HEAP_EXEC, 0, 0);
	note_add_of(notes, 40, 80 * MS, RAS_HEAP_BEGIN, 8, 1);
}

static void first_slice_make(struct slice_builder *slice)
{
	*slice = slice_begin(0, 0, 0);
	call_add(slice, 10 * MS, 0, (struct ras_heap){ 0x1000, 100, 0 }, 0);
	call_add(slice, 30 * MS, 1, (struct ras_heap){ 0x2000, 200, 0x1000 },
		 0);
	call_add(slice, 40 * MS, 1, (struct ras_heap){ 0x3000, 300, 0 }, 0);
	call_add(slice, 50 * MS, 1, (struct ras_heap){ 0, 0, 0x2000 }, 0);
}

static struct bytes ras_make(void)
{
	struct bytes ras = { 0 }, log = { 0 }, notes = { 0 };
	struct ras_count_total totals[POINTS] = { { .dropped = 3 } };
	const struct ras_mapping map = {
		.start = 0x400000, .end = 0x500000, .path = "/usr/bin/app",
	}, later = {
		.start = 0x400000, .end = 0x500000, .path = "/usr/bin/later",
	};
	struct slice_builder slice;

	memset(numbers, 0, sizeof(numbers));
	ras_begin(&ras, 100 * MS, START);
	session_add(&log, 1, HEAP_MAJOR, "/nowhere/heap.tdf", points, POINTS);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	counts_add(&ras, 1, totals, POINTS);
	notes_make(&notes);
	ras_chunk_add(&ras, RAS_CHUNK_HEAP, &notes);
	first_slice_make(&slice);
	ras_slice_flush(&ras, &slice);
	slice_skip(&slice, 4096);
	numbers[2] += 5;
	call_add(&slice, 60 * MS, 2, (struct ras_heap){ 0x3000, 0, 0 }, 0);
	ras_slice_add(&ras, &slice);
	slice = slice_begin(1, 0, 0);
	call_add(&slice, 20 * MS, 3, (struct ras_heap){ 0x9000, 0, 0 }, 0x1234);
	pid = 40;
	numbers[0] = 0;	/* each slice counts */
	call_add(&slice, 75 * MS, 0, (struct ras_heap){ 0xa000, 1, 0 }, 0);
	pid = 38;
	ras_slice_add(&ras, &slice);
	ras_maps_add(&ras, 38, "app", &map, 1);
	ras_maps_add(&ras, 40, "later", &later, 1);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_free(&log);
	bytes_free(&notes);
	return ras;
}

/* ---- reading it ---- */

#define EVENTS_MOST	32

static struct heap_event events[EVENTS_MOST];
static int event_count, warnings;
static struct heap_trace trace;

static int take(void *context, const struct heap_event *event,
		struct error *err)
{
	if (event_count < EVENTS_MOST)
		events[event_count] = *event;
	event_count++;
	return 0;
}

static void count_warning(void *context, const char *text)
{
	warnings++;
}

static int ras_read(const struct bytes *ras, size_t size)
{
	const struct heap_options options = { .no_symbols = true };
	const struct heap_sink sink = { .take = take };
	struct heap_input input = {
		.path = "test.ras", .data = ras->data, .size = size,
		.options = &options, .trace = &trace, .warn = count_warning,
	};
	struct error err;

	event_count = warnings = 0;
	memset(events, 0, sizeof(events));
	heap_trace_init(&trace);
	return format_ras.read_events(&input, &sink, &err);
}

static void kinds_check(void)
{
	static const enum heap_kind kinds[] = {
		HEAP_LOSS, HEAP_BEGIN, HEAP_ALLOC, HEAP_OLD, HEAP_OLD,
		HEAP_GROW,
		HEAP_FREE, HEAP_REALLOC, HEAP_ALLOC, HEAP_FREE, HEAP_LOSS,
		HEAP_FREE, HEAP_FORK, HEAP_ALLOC, HEAP_EXEC, HEAP_EXIT,
	};
	const int count = sizeof(kinds) / sizeof(*kinds);

	tap_is(event_count, count, "number of events");
	for (int i = 0; i < count; i++)
		tap_is(events[i].kind, kinds[i], "kind of event %d", i + 1);
}

static void events_check(void)
{
	tap_is(events[0].lost, 3, "calls that were dropped");
	tap_ok(events[2].address == 0x1000 && events[2].size == 100 &&
	       events[2].pid == 38 && events[2].tid == 39 &&
	       events[2].function == F(MALLOC), "malloc");
	tap_is(events[2].time, START + 10 * (int64_t)MS, "its time");
	tap_is(events[3].type_kind, HEAP_TYPE_NO_TABLE,
	       "an old block's first word is 0");
	tap_is(events[4].type_kind, HEAP_TYPE_NONE,
	       "the word of another block isn't taken for its own");
	tap_ok(events[6].function == F(DELETE) &&
	       events[6].type_kind == HEAP_TYPE_NONE, "delete");
	tap_ok(events[7].old == 0x1000 && events[7].address == 0x2000,
	       "realloc");
	tap_ok(events[8].address == 0x3000 && !events[8].old,
	       "realloc of no block");
	tap_is(events[9].address, 0x2000, "realloc to 0 bytes");
	tap_is(events[11].type_kind, HEAP_TYPE_NO_TABLE, "a first word of 0");
}

static void stack_check(void)
{
	const struct heap_stack *stack = &trace.stacks[events[2].stack];
	const struct heap_frame *frame = &trace.frames[stack->frame];

	tap_is(stack->depth, 3, "two frames, and why there are no more");
	tap_is(frame->address, 0x401234, "the caller");
	tap_ok(!strcmp(heap_text(&trace, frame->module), "/usr/bin/app") &&
	       frame->module_offset == 0x1234, "where it lies");
	tap_is(events[13].stack, events[2].stack,
	       "a child has the mappings of its parent, not of what it executes");
	while (stack->parent)
		stack = &trace.stacks[stack->parent];
	frame = &trace.frames[stack->frame];
	tap_str(heap_text(&trace, frame->symbol), "(stopped: no frame pointer)",
		"the reason");
	tap_ok(frame->stopped, "which is no frame");
	tap_is(trace.stacks[events[7].stack].depth, 2,
	       "nothing after an outermost frame");
}

static void trace_check(void)
{
	tap_is(trace.sample, 4096, "--sample");
	tap_is(trace.min_size, 16, "--min-size");
	tap_is(trace.bits, 64, "bits");
	tap_str(heap_text(&trace, trace.host), "target", "host");
	tap_is(trace.lost, 8, "lost in all");
}

/* Cut at any byte it is read as far as it goes, or refused. */
static void cuts_check(const struct bytes *ras)
{
	int wrong = 0, most = event_count, ret;

	for (size_t size = 0; size < ras->size; size++) {
		ret = ras_read(ras, size);
		wrong += !ret || event_count > most;
		heap_trace_free(&trace);
	}
	tap_is(wrong, 0, "a file that was cut isn't taken for a whole one");
}

static void record_check(void)
{
	const uint8_t data[sizeof(struct ras_heap) + 2] = { 0 };
	struct heap_record record;

	tap_ok(heap_record_parse(&record, data, sizeof(struct ras_heap)),
	       "a record without items");
	tap_ok(!heap_record_parse(&record, data, sizeof(data)),
	       "bytes after the items make no sense");
}

static void other_check(void)
{
	struct bytes ras = { 0 };

	ras_begin(&ras, 100 * MS, START);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	tap_is(ras_read(&ras, ras.size), -EINVAL, "a trace without a heap");
	heap_trace_free(&trace);
	bytes_free(&ras);
}

/* ---- memory of another process ---- */

/* 40 works in 38's, 41 in that of 40, which is 38's, and 44 is a child of 41 by
 * fork; 40 executes a program, 38 ends before 41 does. 42 works in the memory of
 * 40, which executes another one then. */
static struct bytes shared_make(void)
{
	static const struct { uint64_t time; uint32_t pid; } calls[] = {
		{ 10, 38 }, { 20, 40 }, { 35, 41 }, { 45, 40 }, { 55, 41 },
		{ 65, 41 }, { 75, 42 }, { 85, 42 },
	};
	struct bytes ras = { 0 }, log = { 0 }, notes = { 0 };
	struct slice_builder slice = slice_begin(0, 0, 0);

	memset(numbers, 0, sizeof(numbers));
	ras_begin(&ras, 100 * MS, START);
	session_add(&log, 1, HEAP_MAJOR, "/nowhere/heap.tdf", points, POINTS);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	note_add(&notes, 1 * MS, RAS_HEAP_BEGIN, 8, 0);
	note_add_of(&notes, 40, 15 * MS, RAS_HEAP_FORK, 38, 0);
	note_add_of(&notes, 40, 15 * MS, RAS_HEAP_SHARE, 38, 0);
	note_add_of(&notes, 41, 30 * MS, RAS_HEAP_FORK, 40, 0);
	note_add_of(&notes, 41, 30 * MS, RAS_HEAP_SHARE, 38, 0);
	note_add_of(&notes, 44, 32 * MS, RAS_HEAP_FORK, 41, 0);
	note_add_of(&notes, 40, 40 * MS, RAS_HEAP_EXEC, 0, 0);
	note_add_of(&notes, 40, 40 * MS, RAS_HEAP_BEGIN, 8, 1);
	note_add_of(&notes, 38, 60 * MS, RAS_HEAP_EXIT, 0, 0);
	note_add_of(&notes, 42, 70 * MS, RAS_HEAP_FORK, 40, 0);
	note_add_of(&notes, 42, 70 * MS, RAS_HEAP_SHARE, 40, 0);
	note_add_of(&notes, 40, 80 * MS, RAS_HEAP_EXEC, 0, 0);
	note_add_of(&notes, 40, 80 * MS, RAS_HEAP_BEGIN, 8, 1);
	ras_chunk_add(&ras, RAS_CHUNK_HEAP, &notes);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		pid = calls[i].pid;
		call_add(&slice, calls[i].time * MS, 0,
			 (struct ras_heap){ 0x1000 * (i + 1), 16, 0 }, 0);
	}
	pid = 38;
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_free(&log);
	bytes_free(&notes);
	return ras;
}

static void shared_check(void)
{
	static const struct { uint32_t pid, tid; } expected[] = {
		{ 38, 39 }, { 38, 41 }, { 38, 42 }, { 40, 41 }, { 38, 42 },
		{ 41, 42 }, { 40, 43 }, { 42, 43 },
	};
	struct bytes ras = shared_make();
	int calls = 0;

	tap_is(ras_read(&ras, ras.size), 0, "processes in one memory");
	for (int i = 0; i < event_count; i++) {
		if (events[i].kind == HEAP_FORK && events[i].pid == 44)
			tap_is(events[i].parent, 38,
			       "a fork is one of the memory's owner");
		if (events[i].kind != HEAP_ALLOC)
			continue;
		tap_ok(events[i].pid == expected[calls].pid &&
		       events[i].tid == expected[calls].tid,
		       "call %d is of %u, thread %u", calls + 1,
		       expected[calls].pid, expected[calls].tid);
		calls++;
	}
	tap_is(calls, 8, "number of calls");
	heap_trace_free(&trace);
	bytes_free(&ras);
}

/* ---- gaps ---- */

static void malloc_add(struct slice_builder *slice, uint64_t time,
		       uint64_t address)
{
	call_add(slice, time, 0, (struct ras_heap){ address, 16, 0 }, 0);
}

/* Two CPUs; on the first one records are overwritten between 20 and 50, on the
 * second in front of all, to 15. */
static struct bytes gaps_make(void)
{
	struct bytes ras = { 0 }, log = { 0 }, notes = { 0 };
	struct slice_builder slice;

	memset(numbers, 0, sizeof(numbers));
	ras_begin(&ras, 100 * MS, START);
	session_add(&log, 1, HEAP_MAJOR, "/nowhere/heap.tdf", points, POINTS);
	ras_chunk_add(&ras, RAS_CHUNK_SESSIONS, &log);
	note_add(&notes, 45 * MS, RAS_HEAP_GROW, 0x8000, 0x1000);
	ras_chunk_add(&ras, RAS_CHUNK_HEAP, &notes);
	slice = slice_begin(0, 0, 0);
	malloc_add(&slice, 10 * MS, 0x1000);
	malloc_add(&slice, 20 * MS, 0x2000);
	ras_slice_flush(&ras, &slice);
	slice_skip(&slice, 4096);
	malloc_add(&slice, 50 * MS, 0x3000);
	ras_slice_flush(&ras, &slice);
	slice_skip(&slice, 4096);
	malloc_add(&slice, 60 * MS, 0x4000);
	ras_slice_add(&ras, &slice);
	memset(numbers, 0, sizeof(numbers));
	slice = slice_begin(1, 4096, 3);
	malloc_add(&slice, 15 * MS, 0x5000);
	malloc_add(&slice, 30 * MS, 0x6000);
	malloc_add(&slice, 40 * MS, 0x7000);
	malloc_add(&slice, 70 * MS, 0x8000);
	ras_slice_add(&ras, &slice);
	ras_chunk_add(&ras, RAS_CHUNK_END, NULL);
	bytes_free(&log);
	bytes_free(&notes);
	return ras;
}

/* A gap lasts from the last record before it to the first one after it. */
static void gaps_check(void)
{
	static const struct {
		uint64_t what;		/* address; 0: LOSS */
		bool lasts;
		uint64_t time;
	} expected[] = {
		{ 0, true, 0 }, { 0x1000 }, { 0, false, 15 }, { 0x5000 },
		{ 0x2000 }, { 0, true, 20 }, { 0x6000 }, { 0x7000 }, { 0x8000 },
		{ 0, false, 50 }, { 0x3000 }, { 0, false, 60 }, { 0x4000 },
		{ 0x8000 },
	};
	const int count = sizeof(expected) / sizeof(*expected);
	struct bytes ras = gaps_make();

	tap_is(ras_read(&ras, ras.size), 0, "records were overwritten");
	tap_is(event_count, count, "number of events");
	for (int i = 0; i < count; i++) {
		const struct heap_event *event = &events[i];

		tap_ok(expected[i].what ? event->address == expected[i].what :
		       event->kind == HEAP_LOSS &&
		       event->lasts == expected[i].lasts &&
		       (!expected[i].time || event->time ==
			START + (int64_t)(expected[i].time * MS)),
		       "event %d", i + 1);
	}
	heap_trace_free(&trace);
	bytes_free(&ras);
}

int main(int argc, char **argv)
{
	struct bytes ras = ras_make();
	int ret;

	if (argc > 1)
		return bytes_write(&ras, argv[1], "heap.ras");
	tap_is(format_ras.detect(ras.data, ras.size), 2, "it is known");
	ret = ras_read(&ras, ras.size);
	tap_is(ret, 0, "read");
	tap_is(warnings, 0, "without a warning");
	kinds_check();
	events_check();
	stack_check();
	trace_check();
	heap_trace_free(&trace);
	cuts_check(&ras);
	bytes_free(&ras);
	other_check();
	record_check();
	shared_check();
	gaps_check();
	return tap_done();
}
