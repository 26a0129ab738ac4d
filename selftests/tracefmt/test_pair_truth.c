// SPDX-License-Identifier: GPL-2.0
/*
 * Calls of random threads that recurse and throw, on CPUs that lose records and
 * in traces that begin in the middle: each call that gets a latency or a self
 * time is right, and those that nothing speaks against get one.
 */
#include <tap.h>
#include "lib/read/match/stream.h"
#include "tracefmt/pair/pairing.h"
#include "builder.h"

#define FUNCTIONS	4
#define THREADS		16
#define CPUS		3
#define DEPTH		24
#define RECORDS		6000

static uint64_t truth_state;

static uint64_t truth_random(uint64_t below)
{
	truth_state ^= truth_state << 13;
	truth_state ^= truth_state >> 7;
	truth_state ^= truth_state << 17;
	return truth_state % below;
}

/* ---- what happens ---- */

struct truth_frame {
	unsigned int function;
	uint64_t pre;		/* 1 + the index of its record */
	int64_t inside;		/* ns of the calls directly in it */
	bool left;		/* one of these has thrown */
};

struct truth_record {
	int64_t time;
	unsigned int thread, cpu, point;
	uint64_t pre;		/* of a POST: of its call */
	int64_t self;		/* of a POST; -1: a call inside has thrown */
	bool lost;
	bool hole;		/* records of its CPU in front of it are lost */
};

struct truth_case {
	const char *name;
	bool throws;
	bool recurses;		/* all but the outermost call any, themselves, too */
	unsigned int losses;	/* per cent of all records */
	unsigned int begin;	/* index of the first record of the trace */
	bool armed;		/* it begins there because it is armed there */
};

static struct truth_record records[RECORDS];
static struct truth_frame frames[THREADS][DEPTH];
static size_t depths[THREADS];

static void truth_return(struct truth_record *r, unsigned int thread)
{
	struct truth_frame *frame = &frames[thread][--depths[thread]];
	int64_t latency = r->time - records[frame->pre - 1].time;

	r->point = FUNCTIONS + frame->function;
	r->pre = frame->pre;
	r->self = frame->left ? -1 : latency - frame->inside;
	if (depths[thread])
		frame[-1].inside += latency;
}

static void truth_call(const struct truth_case *c, struct truth_record *r,
		       unsigned int thread)
{
	size_t depth = depths[thread]++;

	r->point = !c->recurses ? depth % FUNCTIONS :
		   depth ? 1 + truth_random(FUNCTIONS - 1) : 0;
	frames[thread][depth] = (struct truth_frame){
		.function = r->point, .pre = r - records + 1,
	};
}

/* The innermost calls are left; one further out goes on. */
static void truth_throw(unsigned int thread)
{
	depths[thread] = 1 + truth_random(depths[thread] - 1);
	frames[thread][depths[thread] - 1].left = true;
}

static void truth_make(const struct truth_case *c)
{
	size_t most = c->recurses ? DEPTH : FUNCTIONS;
	unsigned int cpus[THREADS] = { 0 }, losing[CPUS] = { 0 };
	int64_t time = 1000000;

	memset(records, 0, sizeof(records));
	memset(depths, 0, sizeof(depths));
	for (size_t i = 0; i < RECORDS; i++) {
		struct truth_record *r = &records[i];
		unsigned int thread = truth_random(THREADS);
		size_t depth = depths[thread];

		if (c->throws && depth > 1 && !truth_random(12))
			truth_throw(thread);
		time += 1 + truth_random(500);
		r->time = time;
		r->thread = thread;
		if (!truth_random(8))
			cpus[thread] = truth_random(CPUS);
		r->cpu = cpus[thread];
		depth = depths[thread];
		if (depth && (depth == most || truth_random(2)))
			truth_return(r, thread);
		else
			truth_call(c, r, thread);
		/* in bursts */
		if (!losing[r->cpu] && truth_random(2000) < c->losses)
			losing[r->cpu] = 20;
		r->lost = i < c->begin || losing[r->cpu];
		losing[r->cpu] -= losing[r->cpu] > 0;
	}
}

/* Where the reader finds a hole. */
static void holes_find(const struct truth_case *c)
{
	bool hole[CPUS] = { 0 };

	for (size_t i = 0; i < RECORDS; i++) {
		struct truth_record *r = &records[i];

		if (r->lost) {
			hole[r->cpu] |= i >= c->begin || !c->armed;
			continue;
		}
		r->hole = hole[r->cpu];
		hole[r->cpu] = false;
	}
}

/* ---- what is made of it ---- */

static struct ras_session entry = {
	.index = 1, .major = 0xc9, .points = 2 * FUNCTIONS,
};
static struct ras_session_point armed[2 * FUNCTIONS];
static struct trace_session session = { .entry = &entry, .points = armed };
static struct match_point points[2 * FUNCTIONS];
static struct trace trace;

static void points_make(void)
{
	static struct trace_session *sessions[] = { &session };

	trace.file.header.key = 1;
	trace.file.sessions = sessions;
	trace.file.session_count = 1;
	for (unsigned int i = 0; i < 2 * FUNCTIONS; i++) {
		uint16_t minor = (i % FUNCTIONS + 1) |
				 (i < FUNCTIONS ? 0 : PAIR_POST);

		armed[i].minor = minor;
		points[i] = (struct match_point){
			.key = 1ULL << 48 | 0xc9ULL << 32 |
			       (uint64_t)minor << 16 | i,
			.session = &session, .armed = &armed[i],
		};
	}
}

struct truth_result {
	uint64_t sure, selves, doubts, wrong;
};

static void call_judge(const struct pair_call *call,
		       struct truth_result *result)
{
	const struct truth_record *post;

	if (call->doubt != PAIR_SURE) {
		result->doubts += call->doubt < PAIR_NO_POST;
		result->wrong += !call->self_doubt;
		return;
	}
	post = &records[call->exit.number - 1];
	result->sure++;
	if (post->pre != call->number ||
	    call->latency != post->time - records[post->pre - 1].time)
		result->wrong++;
	if (call->self_doubt)
		return;
	result->selves++;
	result->wrong += call->self != post->self;
}

/* The next record of the CPU is looked at, as the reader does. */
static void cpu_load(unsigned int cpu, size_t from)
{
	while (from < RECORDS && (records[from].cpu != cpu ||
				  records[from].lost))
		from++;
	if (from < RECORDS && records[from].hole &&
	    (uint64_t)records[from].time > trace.file.slices.lost_until)
		trace.file.slices.lost_until = records[from].time;
}

static void truth_replay(const struct truth_case *c,
			 struct truth_result *result)
{
	struct foresight *foresight = foresight_open();
	struct pairing *pairing = pairing_open(PAIRING_PATHS, foresight);
	struct pair_call *call;
	struct pair_seen seen;

	trace.file.slices.lost_until = 0;
	entry.armed = c->armed ? records[c->begin].time : 0;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		cpu_load(cpu, 0);
	for (size_t n = 0; n < 2 * RECORDS; n++) {
		size_t i = n % RECORDS;
		const struct truth_record *r = &records[i];
		struct ras_record record = {
			.length = RAS_RECORD_HEADER, .pid = 7,
			.tid = r->thread,
		};
		struct event event = {
			.record = &record, .point = &points[r->point],
			.trace = &trace, .number = i + 1, .time = r->time,
		};

		if (r->lost)
			continue;
		if (n < RECORDS) {	/* the first look */
			if (n < c->begin + RECORDS / 10 &&
			    foresight_see(foresight, &event))
				abort();
			continue;
		}
		if (!pairing || pairing_see(pairing, &event, &seen))
			abort();
		for (size_t k = 0; k < seen.ended_count; k++)
			call_judge(seen.ended[k], result);
		cpu_load(r->cpu, i + 1);
	}
	while ((call = pairing_open_call(pairing)))
		call_judge(call, result);
	pairing_close(pairing);
	foresight_close(foresight);
}

static const struct truth_case cases[] = {
	{ .name = "calls", },
	{ .name = "recursion", .recurses = true },
	{ .name = "exceptions", .throws = true },
	{ .name = "both", .recurses = true, .throws = true },
	{ .name = "losses", .losses = 5 },
	{ .name = "losses and recursion", .losses = 5, .recurses = true },
	{ .name = "losses, recursion, exceptions", .losses = 5,
	  .recurses = true, .throws = true },
	{ .name = "armed in the middle", .begin = 3000, .armed = true,
	  .recurses = true, .throws = true },
	{ .name = "a ring that begins in the middle", .begin = 3000,
	  .recurses = true, .throws = true },
	{ .name = "a ring of calls that don't recurse", .begin = 3000,
	  .throws = true },
	{ .name = "all of it", .begin = 1000, .losses = 5, .recurses = true,
	  .throws = true },
};

int main(void)
{
	unsigned int rounds = getenv("LONG") ? 20000 : 200;

	points_make();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct truth_case *c = &cases[i];
		struct truth_result result = { 0 };

		truth_state = 88172645463325252ULL + i;
		for (unsigned int round = 0; round < rounds; round++) {
			truth_make(c);
			holes_find(c);
			truth_replay(c, &result);
		}
		tap_is(result.wrong, 0, "%s: each figure is right", c->name);
		printf("# %s: %llu calls with a latency, %llu with a self time, %llu in doubt\n",
		       c->name, (unsigned long long)result.sure,
		       (unsigned long long)result.selves,
		       (unsigned long long)result.doubts);
		if (c->begin || c->losses || c->throws || c->recurses)
			tap_ok(result.sure > rounds, "%s: some have one",
			       c->name);
		else
			tap_is(result.doubts, 0, "%s: all have one", c->name);
	}
	return tap_done();
}
