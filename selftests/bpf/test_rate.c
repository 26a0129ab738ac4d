// SPDX-License-Identifier: GPL-2.0
/*
 * The ceiling of records per second: as many are recorded, one more says that
 * the point is muted, the others are counted; then another second begins.
 */
#include <pthread.h>
#include "bed.h"

#define SECOND	1000000000ULL
#define RATE	5

static int load(struct bed *bed)
{
	int prog;

	bed_reg(bed, 0, 8);
	bed_memory(bed, TDF_STMT_MEM, 4, RPN(OP_breg + 3, 0));
	prog = bed_load(bed);
	if (prog < 0)
		tap_bail("%s", bed->log);
	bed_input(bed);
	return prog;
}

static void prepare(struct bed *bed)
{
	static uint32_t word = 0x11223344;

	bed_clear(bed);
	bed->input.cookie = RAS_COOKIE(0x12, 1, 0);
	bed->input.regs.rbx = (uintptr_t)&word;
	bed->target.max_rate = RATE;
	memset(bed->limits, 0, BED_POINTS * sizeof(*bed->limits));
}

static void run(int prog, int hits)
{
	for (int i = 0; i < hits; i++)
		bed_run(prog);
}

/* hits = recorded + filtered, by this many records from `before` on */
static bool counted(const struct bed *bed, const struct bed_counts *before,
		    unsigned int hits, unsigned int records)
{
	struct bed_counts after = bed_counts(bed, 1);
	__u64 filtered = after.why.filtered[RAS_FILTERED_RATE] -
			 before->why.filtered[RAS_FILTERED_RATE];

	if (after.count.recorded == before->count.recorded + records &&
	    filtered == hits - records)
		return true;
	tap_diag("recorded %llu filtered %llu",
		 after.count.recorded - before->count.recorded, filtered);
	return false;
}

static void test_muted(struct bed *bed)
{
	struct bed_counts before = bed_counts(bed, 1);
	uint64_t p = bed_slice(bed)->head;
	const struct ras_record *r;
	int prog, wrong = 0;

	prepare(bed);
	prog = load(bed);
	run(prog, 20);
	tap_ok(counted(bed, &before, 20, RATE + 1),
	       "%d of 20 hits are recorded, and that more are muted", RATE);
	for (int i = 0; i < RATE; i++) {
		r = bed_record(bed, p);
		wrong += r->flags || r->seq != before.count.recorded + i ||
			 r->length != RAS_RECORD_HEADER + 8 + 3 + 4;
		p += (r->length + 7) & ~7u;
	}
	tap_is(wrong, 0, "these have their data");
	r = bed_record(bed, p);
	tap_ok(r->flags == RAS_RECORD_MUTED && r->pid == (__u32)getpid() &&
	       r->length == RAS_RECORD_HEADER && r->point == 1 && r->time &&
	       r->seq == before.count.recorded + RATE,
	       "the record that says so is a header");
	tap_is(p + RAS_RECORD_HEADER, bed_slice(bed)->head,
	       "it is the last one");
	before = bed_counts(bed, 1);
	bed->limits[1].second -= SECOND - SECOND / 4;
	run(prog, 2);
	tap_ok(counted(bed, &before, 2, 0), "not a second later");
	bed->limits[1].second -= SECOND / 4;
	run(prog, 9);
	tap_ok(counted(bed, &before, 11, RATE + 1), "a second later");
	before = bed_counts(bed, 1);
	bed->limits[1].second += SECOND / 2;
	bed->limits[1].rate = 0;
	run(prog, RATE);
	tap_ok(counted(bed, &before, RATE, RATE),
	       "another CPU's clock is ahead: no new second");
	tap_is(bed->limits[1].rate, RATE, "and these count for this one");
	close(prog);
}

/* PASSCOUNT, MAXHITS and IF come first; the muted record is none of them. */
static void test_limits(struct bed *bed)
{
	struct bed_counts before = bed_counts(bed, 1), after;
	int prog;

	prepare(bed);
	bed->point.passcount = 3;
	bed->point.maxhits = RATE + 2;
	bed_memory(bed, TDF_STMT_IF, 0, RPN(OP_breg, 0));
	prog = load(bed);
	bed->input.regs.rax = 0;
	bed_input(bed);
	run(prog, 4);
	bed->input.regs.rax = 1;
	bed_input(bed);
	run(prog, 20);
	bed->limits[1].second = 0;
	run(prog, 20);
	close(prog);
	after = bed_counts(bed, 1);
	tap_is(after.count.recorded, before.count.recorded + RATE + 3,
	       "recorded: MAXHITS, and that the point was muted");
	tap_ok(after.why.filtered[RAS_FILTERED_CONDITION] ==
	       before.why.filtered[RAS_FILTERED_CONDITION] + 4 &&
	       after.why.filtered[RAS_FILTERED_PASSED] ==
	       before.why.filtered[RAS_FILTERED_PASSED] + 3 &&
	       after.why.filtered[RAS_FILTERED_RATE] ==
	       before.why.filtered[RAS_FILTERED_RATE] + 17 - RATE - 1 &&
	       after.why.filtered[RAS_FILTERED_MAXHITS] ==
	       before.why.filtered[RAS_FILTERED_MAXHITS] + 18,
	       "every other hit by its reason");
	tap_is(bed->limits[1].recorded, RATE + 2,
	       "the muted record doesn't count for MAXHITS");
}

#define THREADS	2
#define HITS	50000

struct worker {
	pthread_t thread;
	int prog, cpu;
};

static void *work(void *argument)
{
	struct worker *w = argument;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	run(w->prog, HITS);
	return NULL;
}

static uint64_t recorded_all(const struct bed *bed)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < bed_slices(bed); i++)
		sum += bed->counts[bed_slices(bed) + i].recorded;
	return sum;
}

static void test_threads(struct bed *bed)
{
	struct worker workers[THREADS];
	uint64_t before = recorded_all(bed), seconds;
	struct timespec start, end;

	prepare(bed);
	bed->target.max_rate = 100;
	workers[0].prog = load(bed);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < THREADS; i++) {
		workers[i].cpu = i % bed->target.cpus;
		workers[i].prog = workers[0].prog;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	clock_gettime(CLOCK_MONOTONIC, &end);
	close(workers[0].prog);
	seconds = end.tv_sec - start.tv_sec + 2;
	before = recorded_all(bed) - before;
	tap_ok(before >= 100 && before <= seconds * (100 + 1 + THREADS),
	       "%d threads in %lu seconds: %lu records", THREADS, seconds,
	       before);
}

int main(void)
{
	static struct bed bed;

	bed_open(&bed, BODY_TEST);
	test_muted(&bed);
	test_limits(&bed);
	test_threads(&bed);
	return tap_done();
}
