// SPDX-License-Identifier: GPL-2.0
/*
 * A trigger stops the recording of everything, so many records after its own.
 */
#include <pthread.h>
#include "bed.h"

static int load(struct bed *bed, int point, bool trigger, uint64_t after)
{
	int prog;

	bed_clear(bed);
	bed_reg(bed, 0, 8);
	bed->target.trigger = trigger;
	bed->target.trigger_after = after;
	prog = bed_load(bed);
	if (prog < 0)
		tap_bail("%s", bed->log);
	return prog;
}

static void hit(struct bed *bed, int prog, int point)
{
	bed->input.cookie = RAS_COOKIE(0x20 + point, point, 0);
	bed_input(bed);
	bed_run(prog);
}

static void idle(struct bed *bed)
{
	memset(bed->trigger, 0, sizeof(*bed->trigger));
}

/* Points and flags of the records from `position` on, as text. */
static const char *records(const struct bed *bed, uint64_t position)
{
	static char text[64];
	size_t n = 0;

	while (position < bed_slice(bed)->head && n < sizeof(text) - 2) {
		const struct ras_record *r = bed_record(bed, position);

		text[n++] = '0' + r->point;
		if (r->flags & RAS_RECORD_TRIGGER)
			text[n++] = '!';
		position += (r->length + 7) & ~7u;
	}
	text[n] = '\0';
	return text;
}

static const struct ras_record *trigger_record(const struct bed *bed,
					       uint64_t position)
{
	const struct ras_record *r = bed_record(bed, position);

	while (!(r->flags & RAS_RECORD_TRIGGER)) {
		position += (r->length + 7) & ~7u;
		r = bed_record(bed, position);
	}
	return r;
}

static void test_after(struct bed *bed, unsigned int after,
		       const char *expected)
{
	int plain = load(bed, 1, false, 0), stop = load(bed, 2, true, after);
	uint64_t position = bed_slice(bed)->head;
	const struct ras_trigger *t = bed->trigger;
	struct ras_why before = *bed_why(bed, 1), *why = bed_why(bed, 1);
	const struct ras_record *r;
	int lost;

	idle(bed);
	hit(bed, plain, 1);
	hit(bed, plain, 1);
	hit(bed, stop, 2);
	for (int i = 0; i < 4; i++)
		hit(bed, i == 1 ? stop : plain, i == 1 ? 2 : 1);
	lost = 4 - (after < 4 ? after : 4) - (after < 2);
	tap_ok(!strcmp(records(bed, position), expected),
	       "%u records more: '%s'", after, records(bed, position));
	tap_is(why->filtered[RAS_FILTERED_FROZEN],
	       before.filtered[RAS_FILTERED_FROZEN] + lost,
	       "the hits after them are counted");
	r = trigger_record(bed, position);
	tap_ok(t->time == r->time && t->session == BED_SESSION &&
	       t->point == 2 && r->point == 2, "the point is named");
	if (after < 4)
		tap_ok(t->state == RAS_TRIGGER_FROZEN && t->left == 0,
		       "frozen, none is left");
	else
		tap_ok(t->state == RAS_TRIGGER_COUNTING &&
		       t->left == (__s64)after - 4, "still counting");
	idle(bed);
	position = bed_slice(bed)->head;
	hit(bed, plain, 1);
	tap_ok(!strcmp(records(bed, position), "1"), "idle: all goes on");
	close(plain);
	close(stop);
}

/* A hit that isn't recorded stops nothing, and nothing counts it. */
static void test_not_recorded(struct bed *bed)
{
	int prog;

	idle(bed);
	bed_clear(bed);
	bed_memory(bed, TDF_STMT_IF, 0, RPN(OP_breg, 0));
	bed->target.trigger = true;
	bed->target.trigger_after = 10;
	prog = bed_load(bed);
	bed->input.regs.rax = 0;
	hit(bed, prog, 2);
	tap_is(bed->trigger->state, RAS_TRIGGER_IDLE, "not by its IF");
	bed->input.regs.rax = 1;
	hit(bed, prog, 2);
	tap_is(bed->trigger->state, RAS_TRIGGER_COUNTING, "it stops");
	bed->input.regs.rax = 0;
	hit(bed, prog, 2);
	tap_is(bed->trigger->left, 10, "what isn't recorded isn't counted");
	close(prog);
	idle(bed);
}

#define THREADS	4
#define AFTER	1000

static void *hits(void *argument)
{
	int prog = *(int *)argument, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < cpus; i++)
		CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int i = 0; i < 20000; i++)
		bed_run(prog);
	return NULL;
}

/* All hit the trigger at once: one has it, and as many as asked for follow;
 * more only when they were under way. */
static void test_threads(struct bed *bed)
{
	int prog = load(bed, 2, true, AFTER), triggers = 0;
	pthread_t threads[THREADS];
	uint64_t recorded = 0, before = 0;

	idle(bed);
	for (unsigned int i = 0; i < bed_slices(bed); i++)
		before += bed->counts[2 * bed_slices(bed) + i].recorded;
	bed->input.cookie = RAS_COOKIE(0x22, 2, 0);
	bed_input(bed);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hits, &prog);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i < bed_slices(bed); i++)
		recorded += bed->counts[2 * bed_slices(bed) + i].recorded;
	recorded -= before;
	for (unsigned int cpu = 0; cpu < bed->target.cpus; cpu++) {
		const struct ras_slice *slice = (const void *)(bed->buffer +
			((bed->slice_stride + 7) & ~7UL) * cpu);

		for (uint64_t p = 0; p < slice->head; ) {
			const struct ras_record *r = (const void *)
				(slice->data + p);

			triggers += r->point == 2 && r->minor == 0x22 &&
				    r->flags & RAS_RECORD_TRIGGER &&
				    r->time == bed->trigger->time;
			p += (r->length + 7) & ~7u;
		}
	}
	tap_is(triggers, 1, "%d threads: one record is the trigger's", THREADS);
	tap_ok(recorded >= 1 + AFTER && recorded <= 1 + AFTER + 2 * THREADS,
	       "%lu records of %d", recorded, 1 + AFTER);
	tap_is(bed->trigger->state, RAS_TRIGGER_FROZEN, "frozen");
	close(prog);
	idle(bed);
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	test_after(&bed, 3, "112!121");
	test_after(&bed, 2, "112!12");
	test_after(&bed, 1, "112!1");
	test_after(&bed, 0, "112!");
	test_after(&bed, 9, "112!1211");
	bed.module.machine = EM_AARCH64;	/* publishes otherwise */
	test_after(&bed, 2, "112!12");
	bed.module.machine = EM_X86_64;
	test_not_recorded(&bed);
	bed_maps(&bed, 1 << 20, RAS_NEST_BYTES);
	bed_state(&bed, RAS_STATE_ON);
	test_threads(&bed);
	return tap_done();
}
