// SPDX-License-Identifier: GPL-2.0
/* Static records of kernel code: what is recorded from every context, what
 * isn't and why, and that each hit is counted once. Runs in a guest with
 * rastrace, rastrace_sample and rastrace_storm loaded. */
#include <pthread.h>
#include "handover.h"

#define MAJOR	200
#define SAMPLES	4

struct sample {
	uint32_t count;
	char context[12];
};

static const char *const contexts[SAMPLES] = {
	"process", "softirq", "hardirq", "nmi",
};

/* The last record of all slices whose major is this, by its time */
static const struct ras_record *record_last(struct handover *h,
					    unsigned int major)
{
	const struct ras_record *last = NULL;

	for (unsigned int row = 0; row < h->slices; row++) {
		const struct ras_slice *slice = handover_slice(h, row);
		uint64_t at = 0;

		while (at < slice->head) {
			const struct ras_record *r =
				(const void *)(slice->data + at);

			if (r->stamp != (at ^ HANDOVER_KEY) ||
			    r->length < RAS_RECORD_HEADER)
				tap_bail("slice %u is damaged at %llu", row,
					 (unsigned long long)at);
			if (r->major == major &&
			    (!last || r->time > last->time))
				last = r;
			at += (r->length + 7) & ~7u;
		}
	}
	return last;
}

static void test_off(struct handover *h)
{
	tap_is(sample_write("process"), -ENOENT, "without a buffer");
	tap_is(handover_adopt(h), 0, "the buffer is adopted");
	tap_is(handover_adopt(h), EBUSY, "a second one is not");
	tap_is(sample_write("process"), -ENOENT, "the major is off");
	handover_majors(h)[MAJOR] = 1;
	tap_is(sample_write("process"), -ENOENT, "on, but not switched yet");
	tap_is(handover_switch(h, MAJOR, true), 0, "switched");
	tap_is(recorded_sum(h, MAJOR), 0, "no record so far");
}

/* What was there before must not show through. */
static void slices_fill(struct handover *h, int byte)
{
	for (unsigned int row = 0; row < h->slices; row++)
		memset(handover_slice(h, row)->data, byte,
		       slice_size(h, row) + RAS_RECORD_MAX);
}

/* Which records of its slice come before it? */
static uint32_t seq_expected(struct handover *h, const struct ras_record *last)
{
	uint32_t before = 0;

	for (unsigned int row = 0; row < h->slices; row++) {
		const struct ras_slice *slice = handover_slice(h, row);

		if ((const uint8_t *)last >= slice->data &&
		    (const uint8_t *)last < slice->data + slice->head)
			before = handover_count(h, MAJOR, row)->recorded - 1;
	}
	return before;
}

static void test_contexts(struct handover *h)
{
	slices_fill(h, 0xaa);
	for (int i = 0; i < SAMPLES; i++) {
		const struct ras_record *r;
		const struct sample *s;

		tap_is(sample_write(contexts[i]), 0, "from %s", contexts[i]);
		r = record_last(h, MAJOR);
		s = (const void *)(r + 1);
		tap_ok(r && r->minor == i + 1 && r->point == MAJOR &&
		       r->session == RAS_STATIC_SESSION && !r->flags &&
		       !r->site && !r->stack &&
		       r->length == RAS_RECORD_HEADER + sizeof(*s) &&
		       !strcmp(s->context, contexts[i]),
		       "its record from %s", contexts[i]);
		if (!i)
			tap_ok(r && r->pid == (uint32_t)getpid() &&
			       r->tid == r->pid, "the process is named");
	}
	tap_is(recorded_sum(h, MAJOR), SAMPLES, "each is counted");
}

static void *thread_write(void *tid)
{
	*(uint32_t *)tid = syscall(SYS_gettid);
	return (void *)(long)sample_write("process");
}

/* What a record from another thread of this process comes to */
static long thread_result(uint32_t *tid)
{
	pthread_t thread;
	void *ret;

	if (pthread_create(&thread, NULL, thread_write, tid))
		tap_bail("no thread");
	pthread_join(thread, &ret);
	return (long)ret;
}

static void test_thread(struct handover *h)
{
	const struct ras_record *r;
	uint32_t tid = 0;

	tap_is(thread_result(&tid), 0, "from a thread");
	r = record_last(h, MAJOR);
	tap_ok(r && r->pid == (uint32_t)getpid() && r->tid == tid &&
	       r->tid != r->pid, "it is named, and its process");
	tap_is(r ? r->seq : 0, seq_expected(h, r), "numbered in its slice");
}

static void test_data(struct handover *h)
{
	const struct ras_record *r;
	const uint8_t *data;
	bool same = true;

	handover_switch(h, 7, true);
	tap_is(storm_write(7, 65535, 0), 0, "a record without data");
	r = record_last(h, 7);
	tap_ok(r && r->length == RAS_RECORD_HEADER && r->minor == 65535,
	       "is its header");
	tap_is(storm_write(7, 1, RAS_STATIC_DATA_MAX), 0, "the most data");
	tap_is(storm_write(7, 1, RAS_STATIC_DATA_MAX + 1), -EMSGSIZE,
	       "more is cut");
	r = record_last(h, 7);
	data = (const void *)(r + 1);
	for (unsigned int i = 0; i < RAS_STATIC_DATA_MAX; i++)
		same = same && data[i] == (uint8_t)i;
	tap_ok(r->flags == RAS_RECORD_CUT && same &&
	       r->length == RAS_RECORD_HEADER + RAS_STATIC_DATA_MAX,
	       "to the most, and says so");
	tap_is(storm_write(7, 65536, 0), -EINVAL, "there is no minor 65536");
	tap_is(storm_write(256, 1, 0), -ENOENT, "nor a major 256");
	tap_is(recorded_sum(h, 7), 3, "three records");
	handover_majors(h)[7] = 0;
	tap_is(storm_write(7, 1, 0), -ENOENT, "off in the map is off at once");
	tap_is(handover_switch(h, 7, false), 0, "off again");
	tap_is(storm_write(7, 1, 0), -ENOENT, "and no record");
}

static void test_suspended(struct handover *h)
{
	handover_state(h)->state = RAS_STATE_SUSPENDED;
	tap_is(sample_write("process"), -EAGAIN, "suspended");
	tap_is(filtered_sum(h, MAJOR, RAS_FILTERED_SUSPENDED), 1, "is counted");
	handover_state(h)->state = RAS_STATE_OFF;
	tap_is(sample_write("process"), -ENOENT, "being armed: off");
	handover_state(h)->state = 77;
	tap_is(sample_write("process"), -ENOENT, "an unknown state: off");
	handover_state(h)->state = RAS_STATE_ON;
	tap_is(sample_write("process"), 0, "resumed");
}

static void test_trigger(struct handover *h)
{
	struct ras_trigger *trigger = handover_trigger(h);
	uint64_t before = recorded_sum(h, MAJOR);

	trigger->left = 2;
	trigger->state = RAS_TRIGGER_CLAIMED;
	tap_is(sample_write("process"), 0, "a claimed trigger lets records by");
	tap_is(trigger->left, 2, "and doesn't count them");
	trigger->state = RAS_TRIGGER_COUNTING;
	tap_is(sample_write("nmi"), 0, "while it counts, too");
	tap_is(trigger->left, 1, "down");
	tap_is(trigger->state, RAS_TRIGGER_COUNTING, "while some are left");
	tap_is(sample_write("process"), 0, "the last one is recorded");
	tap_is(trigger->state, RAS_TRIGGER_FROZEN, "and freezes the buffer");
	tap_is(sample_write("process"), -EAGAIN, "a frozen one takes no more");
	tap_is(filtered_sum(h, MAJOR, RAS_FILTERED_FROZEN), 1, "is counted");
	tap_is(recorded_sum(h, MAJOR), before + 3, "three were recorded");
	trigger->state = RAS_TRIGGER_COUNTING;
	trigger->left = -5;
	tap_is(sample_write("process"), 0, "one that was under way");
	tap_is(trigger->state, RAS_TRIGGER_FROZEN, "freezes as well");
	trigger->state = RAS_TRIGGER_IDLE;
}

static void locks_set(struct handover *h, unsigned int first, uint64_t value)
{
	for (unsigned int row = first; row < h->slices; row++)
		handover_slice(h, row)->lock = value;
}

static void test_overrun(struct handover *h)
{
	uint64_t nested = 0, dropped = 0;

	for (unsigned int cpu = 0; cpu < h->cpus; cpu++)
		handover_slice(h, cpu)->lock = 1;
	tap_is(sample_write("hardirq"), 0, "the main slice is busy");
	for (unsigned int row = h->cpus; row < h->slices; row++)
		nested += handover_count(h, MAJOR, row)->recorded;
	tap_is(nested, 1, "a nesting one takes the record");
	for (unsigned int row = h->cpus; row < h->slices; row++)
		handover_slice(h, row)->lock = (row - h->cpus + 1) %
					       RAS_NEST_LEVELS != 0;
	tap_is(sample_write("process"), 0, "all but the last are busy");
	locks_set(h, 0, 1);
	for (int i = 0; i < SAMPLES; i++)
		tap_is(sample_write(contexts[i]), -ENOBUFS,
		       "all are busy: %s", contexts[i]);
	tap_is(dropped_sum(h, MAJOR), SAMPLES, "each is counted");
	for (unsigned int cpu = 0; cpu < h->cpus; cpu++)
		dropped += handover_slice(h, cpu)->dropped;
	tap_is(dropped, SAMPLES, "by the slices, too");
	locks_set(h, 0, 0);
	tap_is(sample_write("process"), 0, "free again");
}

static void test_processes(struct handover *h)
{
	uint64_t before = filtered_sum(h, MAJOR, RAS_FILTERED_PROCESS);
	uint32_t tid;

	h->adopt.maps[RASTRACE_PIDS] = h->pids;
	tap_is(handover_adopt(h), EBUSY, "not replaced unasked");
	h->adopt.flags = RASTRACE_ADOPT_AGAIN;
	tap_is(handover_adopt(h), 0, "replaced, with a set of processes");
	h->adopt.flags = 0;
	tap_is(sample_write("process"), -ESRCH, "this one isn't in it");
	pid_set(h->pids, getpid(), true);
	tap_is(sample_write("process"), 0, "now it is");
	tap_is(thread_result(&tid), 0, "with all of its threads");
	pid_set(h->pids, getpid(), false);
	tap_is(sample_write("process"), -ESRCH, "and not any more");
	tap_is(filtered_sum(h, MAJOR, RAS_FILTERED_PROCESS), before + 2,
	       "both are counted");
	handover_release(h);
	h->adopt.maps[RASTRACE_PIDS] = -1;
	tap_is(handover_adopt(h), 0, "without one");
	tap_is(sample_write("process"), 0, "all are recorded");
}

/* Another buffer replaces one that has no other user left. */
static void test_orphaned(struct handover *h)
{
	struct rastrace_info info = { .size = sizeof(info) };
	struct handover other;

	handover_make(&other);
	other.adopt.flags = RASTRACE_ADOPT_AGAIN;
	tap_is(handover_adopt(&other), EBUSY, "another buffer replaces none");
	handover_drop(h);
	ioctl(other.device, RASTRACE_INFO, &info);
	tap_is(info.adopted, RASTRACE_ORPHANED, "but one that is orphaned");
	tap_is(sample_write("process"), 0, "which still takes records");
	tap_is(handover_adopt(&other), 0, "is replaced");
	tap_is(sample_write("process"), -ENOENT, "and its majors are off");
	tap_is(handover_release(&other), 0, "released");
}

/* What user space may do to what it can write is its loss only. */
static void test_damage(struct handover *h)
{
	static const uint64_t heads[] = {
		1, 7, HANDOVER_SLICE - 1, HANDOVER_SLICE, ~0ULL, 1ULL << 63,
	};
	struct ras_control kept = *handover_control(h);
	bool written = true;

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		for (unsigned int row = 0; row < h->slices; row++)
			handover_slice(h, row)->head = heads[i];
		written = written && !sample_write("process") &&
			  !sample_write("nmi");
	}
	tap_ok(written, "heads out of bounds");
	memset(handover_control(h), 0xff, h->sizes[RASTRACE_CONTROL]);
	tap_is(sample_write("process"), 0, "a damaged control map");
	tap_is(handover_release(h), 0, "is released");
	tap_is(handover_adopt(h), EINVAL, "and not adopted again");
	tap_is(sample_write("process"), -ENOENT, "so nothing is recorded");
	*handover_control(h) = kept;
	tap_is(handover_adopt(h), 0, "corrected, it is");
}

int main(void)
{
	struct handover h;

	handover_make(&h);
	test_off(&h);
	test_contexts(&h);
	test_thread(&h);
	test_data(&h);
	test_suspended(&h);
	test_trigger(&h);
	test_overrun(&h);
	test_processes(&h);
	test_damage(&h);
	test_orphaned(&h);
	return tap_done();
}
