// SPDX-License-Identifier: GPL-2.0
/* Writers in all contexts on all CPUs at once, while the major is switched,
 * the recording suspended, and the buffer released and adopted: every hit is
 * counted once, no record is damaged, and none is lost that had a slice. */
#include <pthread.h>
#include <sched.h>
#include "handover.h"

#define MAJOR		201
#define CONTEXTS	5	/* from 1 on */
#define CPUS		64

struct storm_record {
	uint32_t context, cpu;
	uint64_t number;
};

struct results {
	long hits, written, dropped, stopped, others, off;
};

static unsigned long thread_records = 20000;

static struct results results_read(void)
{
	struct results r;
	char text[256];

	parameter_read("storm/results", text, sizeof(text));
	if (sscanf(text, "hits %ld written %ld dropped %ld stopped %ld others %ld off %ld",
		   &r.hits, &r.written, &r.dropped, &r.stopped, &r.others,
		   &r.off) != 6)
		tap_bail("the storm's results: %s", text);
	return r;
}

static void storm_run(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", thread_records);
	if (parameter_write("storm/run", text))
		tap_bail("no storm");
}

/* The first record that is there: it may be in the middle of the slice. */
static uint64_t slice_first(const struct ras_slice *slice, size_t size)
{
	uint64_t at = 0;

	if (slice->head > size - RAS_RECORD_MAX)
		at = slice->head - (size - RAS_RECORD_MAX);
	while (at < slice->head && *(const uint64_t *)
	       (slice->data + (at & (size - 1))) != (at ^ HANDOVER_KEY))
		at += 8;
	return at;
}

/* Does a slice hold whole records only, in sequence and with rising numbers per
 * context and CPU? The newest one has the last sequence number. */
static bool slice_check(struct handover *h, unsigned int row,
			unsigned int *seen)
{
	const struct ras_slice *slice = handover_slice(h, row);
	size_t size = slice_size(h, row);
	uint64_t at = slice_first(slice, size);
	uint64_t next[CPUS][CONTEXTS] = { { 0 } };
	uint32_t seq = 0;
	bool first = true;

	for (; at < slice->head; first = false) {
		const struct ras_record *r =
			(const void *)(slice->data + (at & (size - 1)));
		const struct storm_record *s = (const void *)(r + 1);

		if (r->stamp != (at ^ HANDOVER_KEY) || r->major != MAJOR ||
		    r->length != RAS_RECORD_HEADER + sizeof(*s) ||
		    s->context >= CONTEXTS || s->context != r->minor ||
		    s->cpu >= CPUS || (!first && r->seq != seq) ||
		    s->number < next[s->cpu][s->context])
			return false;
		next[s->cpu][s->context] = s->number + 1;
		seq = r->seq + 1;
		*seen |= 1u << s->context;
		at += r->length;
	}
	return !slice->lock && (first ||
		seq == (uint32_t)handover_count(h, MAJOR, row)->recorded);
}

static void buffer_check(struct handover *h, const char *name)
{
	uint64_t records = 0;
	unsigned int seen = 0;
	bool whole = true;

	for (unsigned int row = 0; row < h->slices; row++) {
		whole = slice_check(h, row, &seen) && whole;
		records += handover_slice(h, row)->records;
	}
	tap_ok(whole, "%s: every slice is whole", name);
	tap_is(seen, 0x1e, "%s: from all contexts", name);
	tap_is(recorded_sum(h, MAJOR), records,
	       "%s: each record is counted once", name);
}

static void counters_check(struct handover *h, const char *name)
{
	struct results r = results_read();

	tap_is(r.hits, r.written + r.dropped + r.stopped + r.others + r.off,
	       "%s: each of %ld hits has a result", name, r.hits);
	tap_is(recorded_sum(h, MAJOR), r.written, "%s: recorded", name);
	tap_is(dropped_sum(h, MAJOR), r.dropped, "%s: dropped", name);
	tap_is(filtered_sum(h, MAJOR, RAS_FILTERED_SUSPENDED) +
	       filtered_sum(h, MAJOR, RAS_FILTERED_FROZEN), r.stopped,
	       "%s: stopped", name);
	tap_is(filtered_sum(h, MAJOR, RAS_FILTERED_PROCESS), r.others,
	       "%s: of other processes", name);
	tap_is(r.dropped, 0, "%s: nothing dropped: a slice for each context",
	       name);
}

static volatile bool ended;

static void *meddle(void *arg)
{
	struct handover *h = arg;

	for (unsigned int i = 0; !ended; i++) {
		usleep(2000);
		switch (i % 6) {
		case 0:
			handover_state(h)->state = RAS_STATE_SUSPENDED;
			break;
		case 1:
			handover_state(h)->state = RAS_STATE_ON;
			break;
		case 2:
			handover_switch(h, MAJOR, false);
			break;
		case 3:
			handover_switch(h, MAJOR, true);
			break;
		case 4:
			handover_release(h);
			break;
		case 5:
			handover_adopt(h);
			break;
		}
	}
	handover_state(h)->state = RAS_STATE_ON;
	return NULL;
}

static void test_meddled(struct handover *h)
{
	struct results before = results_read(), after;
	pthread_t thread;

	if (pthread_create(&thread, NULL, meddle, h))
		tap_bail("no thread");
	/* until each of them has been met */
	for (int i = 0; i < 20; i++) {
		storm_run();
		after = results_read();
		if (after.written > before.written && after.off > before.off &&
		    after.stopped > before.stopped)
			break;
	}
	ended = true;
	pthread_join(thread, NULL);
	tap_diag("%ld hits: %ld recorded, %ld stopped, %ld off",
		 after.hits - before.hits, after.written - before.written,
		 after.stopped - before.stopped, after.off - before.off);
	tap_ok(after.written > before.written && after.off > before.off,
	       "meddled with: some were recorded, and some were not");
	buffer_check(h, "meddled with");
	counters_check(h, "meddled with");
}

/* The set changes all the time, while NMIs look into it. */
static void *processes_change(void *arg)
{
	struct handover *h = arg;

	for (uint32_t i = 0; !ended; i++) {
		pid_set(h->pids, i % 48, true);
		pid_set(h->pids, i % 48, false);
	}
	return NULL;
}

static void test_processes(struct handover *h)
{
	struct results before = results_read(), after;
	pthread_t thread;

	handover_release(h);
	h->adopt.maps[RASTRACE_PIDS] = h->pids;
	handover_adopt(h);
	handover_switch(h, MAJOR, true);
	ended = false;
	if (pthread_create(&thread, NULL, processes_change, h))
		tap_bail("no thread");
	storm_run();
	ended = true;
	pthread_join(thread, NULL);
	after = results_read();
	tap_ok(after.others > before.others, "a set of processes: %ld others",
	       after.others - before.others);
	counters_check(h, "a set of processes");
	h->adopt.maps[RASTRACE_PIDS] = -1;
}

/* The trigger lets so many records by, not one less; those under way then are
 * still recorded. */
static void test_trigger(struct handover *h)
{
	struct ras_trigger *trigger = handover_trigger(h);
	uint64_t before, recorded;

	handover_release(h);
	handover_adopt(h);
	handover_switch(h, MAJOR, true);
	before = recorded_sum(h, MAJOR);
	trigger->left = thread_records / 2;
	trigger->state = RAS_TRIGGER_COUNTING;
	storm_run();
	recorded = recorded_sum(h, MAJOR) - before;
	tap_is(trigger->state, RAS_TRIGGER_FROZEN, "the trigger froze it");
	tap_ok(recorded >= thread_records / 2 &&
	       recorded <= thread_records / 2 + 4 * h->cpus,
	       "after %llu records", (unsigned long long)recorded);
	trigger->state = RAS_TRIGGER_IDLE;
	counters_check(h, "trigger");
}

static bool processor_set(const char *state)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool set = fd >= 0 && write(fd, state, 1) == 1;

	if (fd >= 0)
		close(fd);
	return set;
}

/* A processor goes, and comes back: its slices stay. */
static void test_processors(struct handover *h)
{
	uint64_t before = recorded_sum(h, MAJOR);

	if (!processor_set("0")) {
		tap_skip("processors", "none can be taken away");
		return;
	}
	storm_run();
	tap_ok(processor_set("1"), "a processor goes, and comes back");
	storm_run();
	tap_ok(recorded_sum(h, MAJOR) >= before + thread_records *
	       (2 * h->cpus - 1), "all others wrote on");
	buffer_check(h, "processors");
	counters_check(h, "processors");
}

static uint64_t nested_records(struct handover *h)
{
	uint64_t sum = 0;

	for (unsigned int row = h->cpus; row < h->slices; row++)
		sum += handover_slice(h, row)->records;
	return sum;
}

static void processor_take(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		tap_bail("cannot stay on a processor: %s", strerror(errno));
}

/* Whenever it wakes up it is this thread's turn. */
static void *preempt(void *arg)
{
	const struct sched_param first = { .sched_priority = 1 };

	(void)arg;
	processor_take();
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		tap_bail("cannot go first: %s", strerror(errno));
	for (int i = 0; i < 1000; i++) {
		usleep(50 + i % 64);
		storm_write(MAJOR, 1, 8);
	}
	ended = true;
	return NULL;
}

/* No other task of the processor runs while a process writes: its slice is
 * never busy then. */
static void test_preempted(struct handover *h)
{
	uint64_t before = nested_records(h);
	unsigned long written = 0;
	pthread_t thread;

	handover_switch(h, 200, true);
	ended = false;
	if (pthread_create(&thread, NULL, preempt, NULL))
		tap_bail("no thread");
	processor_take();
	while (!ended)
		written += !sample_write("process");
	pthread_join(thread, NULL);
	tap_ok(written, "a process writes %lu records", written);
	tap_is(nested_records(h), before, "and isn't preempted in one of them");
}

int main(int argc, char **argv)
{
	struct handover h;

	if (argc > 1)
		thread_records = strtoul(argv[1], NULL, 0);
	handover_make(&h);
	tap_is(handover_adopt(&h), 0, "adopted");
	tap_is(handover_switch(&h, MAJOR, true), 0, "switched on");
	storm_run();
	buffer_check(&h, "a storm");
	counters_check(&h, "a storm");
	test_processors(&h);
	test_meddled(&h);
	test_processes(&h);
	test_trigger(&h);
	test_preempted(&h);
	tap_is(handover_release(&h), 0, "released");
	return tap_done();
}
