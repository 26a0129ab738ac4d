// SPDX-License-Identifier: GPL-2.0
/*
 * Whole calls, which are recorded at their end: whatever random threads do, with
 * pairs and other events among them, each call has the caller, the depth, the time
 * and the self time that it had. What comes too late has no self time.
 */
#include <tap.h>
#include "tracefmt/pair/pairing.h"
#include "tracefmt/pair/unfold.h"

#define THREADS		8
#define DEPTH		12
#define EVENTS		4000
#define MAJOR		0xc9
#define BOOT		1000000	/* wall clock at boot */

enum { WHOLE_A, WHOLE_B, PAIR, POST, PLAIN, POINTS };

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_below(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* ---- what there is in the trace ---- */

static struct ras_session entry = {
	.index = 1, .major = MAJOR, .points = POINTS,
};
static struct ras_session_point armed[POINTS];
static struct trace_session session = { .entry = &entry, .points = armed };
static struct match_point points[POINTS], halves[POINTS][2];
static struct trace trace;

static void points_make(void)
{
	static const uint16_t minors[] = { 1, 2, 3, 3 | PAIR_POST, 5 };
	static struct trace_session *sessions[] = { &session };

	trace.file.header.key = 1;
	trace.file.header.wall_offset = BOOT;
	trace.file.sessions = sessions;
	trace.file.session_count = 1;
	for (unsigned int i = 0; i < POINTS; i++) {
		armed[i].minor = minors[i];
		points[i] = (struct match_point){
			.key = 1ULL << 48 | (uint64_t)MAJOR << 32 |
			       (uint64_t)minors[i] << 16 | i,
			.session = &session, .armed = &armed[i],
		};
		for (int half = 0; half < 2 && i <= WHOLE_B; half++) {
			halves[i][half] = points[i];
			halves[i][half].half = MATCH_ENTRY + half;
			points[i].halves[half] = &halves[i][half];
		}
	}
}

struct whole_record {
	struct ras_record header;
	uint64_t began, elapsed;
};

/* ---- what happened ---- */

struct true_call {
	unsigned int point, thread, depth;
	uint64_t begin, end;	/* boot clock */
	uint64_t inside;
	struct true_call *parent;
	uint64_t number;	/* of its PRE, or only record */
};

static struct true_call calls[EVENTS];
static size_t call_count;
static struct true_call *by_number[EVENTS + 1];

struct seen_calls {
	struct pairing *pairing;
	uint64_t given, wrong, doubts, late;
	int64_t before;
	bool ordered;
};

static void call_judge(const struct pair_call *call, struct seen_calls *seen)
{
	const struct true_call *c = by_number[call->number];
	uint64_t parent = c->parent ? c->parent->number : 0;
	int64_t latency = c->end - c->begin;

	seen->given++;
	seen->doubts += call->doubt != PAIR_SURE;
	seen->wrong += call->parent != parent;
	if (call->doubt == PAIR_SURE &&
	    (call->latency != latency || call->depth != c->depth))
		seen->wrong++;
	if (!call->self_doubt &&
	    call->self != latency - (int64_t)c->inside)
		seen->wrong++;
	seen->late += call->doubt == PAIR_SURE && call->self_doubt;
}

static int event_see(void *context, const struct event *event)
{
	struct seen_calls *calls_seen = context;
	struct pair_seen seen;

	calls_seen->ordered &= event->time >= calls_seen->before;
	calls_seen->before = event->time;
	if (pairing_see(calls_seen->pairing, event, &seen))
		abort();
	for (size_t i = 0; i < seen.ended_count; i++)
		call_judge(seen.ended[i], calls_seen);
	return 0;
}

/* expected: it is only looked at */
static void event_make(struct unfold *unfold, unsigned int point,
		       unsigned int thread, uint64_t time, uint64_t began,
		       uint64_t number, bool expected)
{
	struct whole_record record = {
		.header = {
			.length = began ? sizeof(record) : RAS_RECORD_HEADER,
			.flags = began ? RAS_RECORD_WHOLE : 0,
			.time = time, .pid = 7, .tid = thread,
		},
		.began = began, .elapsed = time - began,
	};
	struct event event = {
		.record = &record.header, .point = &points[point],
		.trace = &trace, .number = number, .time = BOOT + time,
	};

	if (expected)
		unfold_expect(unfold, &event);
	else if (unfold_add(unfold, &event))
		abort();
}

static void event_add(struct unfold *unfold, unsigned int point,
		      unsigned int thread, uint64_t time, uint64_t began,
		      uint64_t number)
{
	event_make(unfold, point, thread, time, began, number, false);
}

static void call_end(struct unfold *unfold, struct true_call *call, uint64_t time,
		     uint64_t number)
{
	bool whole = call->point != PAIR;

	call->end = time;
	if (call->parent)
		call->parent->inside += time - call->begin;
	if (whole) {
		call->number = number;
		by_number[number] = call;
	}
	event_add(unfold, whole ? call->point : POST, call->thread, time,
		  whole ? call->begin : 0, number);
}

static struct true_call *call_begin(struct unfold *unfold, struct true_call *top,
				    unsigned int thread, uint64_t time,
				    uint64_t *number)
{
	struct true_call *c = &calls[call_count++];

	*c = (struct true_call){
		.point = random_below(3), .thread = thread, .begin = time,
		.parent = top, .depth = top ? top->depth + 1 : 0,
	};
	/* pairs don't recurse, so that there is no doubt */
	for (; top; top = top->parent)
		if (c->point == PAIR && top->point == PAIR)
			c->point = WHOLE_A;
	if (c->point != PAIR)
		return c;
	c->number = ++*number;
	by_number[c->number] = c;
	event_add(unfold, PAIR, thread, time, 0, c->number);
	return c;
}

static void random_run(struct unfold *unfold)
{
	struct true_call *tops[THREADS] = { NULL };
	uint64_t time = 1000, number = 0;

	call_count = 0;
	for (size_t i = 0; i < EVENTS / 2; i++) {
		unsigned int thread = random_below(THREADS);
		struct true_call *top = tops[thread];

		time += 1 + random_below(300);
		if (!random_below(10)) {
			event_add(unfold, PLAIN, thread, time, 0, ++number);
		} else if (!top || (top->depth < DEPTH && random_below(2))) {
			tops[thread] = call_begin(unfold, top, thread, time,
						  &number);
		} else {
			call_end(unfold, top, time, ++number);
			tops[thread] = top->parent;
		}
	}
	for (unsigned int i = 0; i < THREADS; i++)
		for (; tops[i]; tops[i] = tops[i]->parent)
			call_end(unfold, tops[i], ++time, ++number);
}

static void truth_test(void)
{
	struct seen_calls seen = { .ordered = true };
	uint64_t made = 0;

	for (int round = 0; round < 100; round++) {
		struct unfold *unfold = unfold_open(event_see, &seen, false);

		seen.before = 0;
		seen.pairing = pairing_open(0, NULL);
		event_make(unfold, WHOLE_A, 0, 2, 1, 1, true);
		random_run(unfold);
		made += call_count;
		if (unfold_end(unfold))
			abort();
		if (pairing_open_call(seen.pairing))
			seen.wrong++;
		pairing_close(seen.pairing);
		unfold_close(unfold);
	}
	tap_ok(seen.ordered, "what is given out is in the order of time");
	tap_is(seen.given, made, "each call is given out");
	tap_is(seen.doubts, 0, "without doubt");
	tap_is(seen.wrong, 0, "each has its caller, depth, time and self time");
	tap_is(seen.late, 0, "all have a self time");
}

/* ---- one thread, call by call ---- */

#define CALLS_MOST	4

struct call_times { uint64_t begin, end; };

/* What a call becomes; -1: its self time is not known */
struct call_wanted { uint64_t parent; int64_t self; uint32_t depth; };

#define NO_CALL		{ .self = INT64_MIN }

/* Calls of a thread, as they are recorded */
static const struct {
	const char *name;
	bool live, migrates;
	struct call_times calls[CALLS_MOST];
	struct call_wanted seen[CALLS_MOST];
} rows[] = {
	{ "nested", false, false, {{2, 4}, {5, 6}, {1, 9}},
	  {{3, 2, 1}, {3, 1, 1}, {0, 5, 0}} },
	{ "begun at the same time", false, false, {{1, 4}, {1, 9}},
	  {{2, 3, 1}, {0, 5, 0}} },
	{ "ended at the same time", false, false, {{4, 9}, {1, 9}},
	  {{2, 5, 1}, {0, 3, 0}} },
	{ "one after the other", false, false, {{1, 4}, {4, 9}},
	  {{0, 3, 0}, {0, 5, 0}} },
	{ "in no time", false, false, {{4, 4}, {1, 9}}, {{2, 0, 1}, {0, 8, 0}} },
	{ "coroutines: the second begins in the first, and ends later", false,
	  false,
	  {{1, 5}, {3, 9}}, {{0, 4, 0}, {0, 6, 0}} },
	{ "longer than what is waited for", true, false,
	  {{2000000000, 2000000100}, {4000000000, 4000000100},
	   {1000000000, 6000000000}},
	  {{0, 100, 0}, {0, 100, 0}, {0, -1, 0}} },
	{ "not longer than that", true, false,
	  {{1000000100, 1000000200}, {1000000000, 1900000000}},
	  {{2, 100, 1}, {0, 899999900, 0}} },
	{ "after one that came late", true, false,
	  {{2000000000, 2000000100}, {4000000000, 4000000100},
	   {1000000000, 1000000100}, {1500000000, 4000000200}},
	  {{0, 100, 0}, {0, 100, 0}, {0, -1, 0}, {0, -1, 0}} },
	{ "in goroutines", false, true, {{2, 4}, {1, 9}},
	  {{0, -1, 0}, {0, -1, 0}} },
};

static const struct tff_entry moving = { .flags = TFF_MIGRATES };
static const struct tff names = { .strings = "" };

struct row_seen {
	struct pairing *pairing;
	const struct call_wanted *wanted;
	const struct call_times *times;		/* or NULL */
	size_t given;
	bool right;
};

static int row_see(void *context, const struct event *event)
{
	struct row_seen *of = context;
	struct pair_seen seen;

	if (pairing_see(of->pairing, event, &seen))
		abort();
	for (size_t i = 0; i < seen.ended_count; i++) {
		const struct pair_call *call = seen.ended[i];
		size_t n = call->number - 1;

		of->given++;
		of->right &= call->doubt == PAIR_SURE && n < CALLS_MOST &&
			call->parent == of->wanted[n].parent &&
			call->depth == of->wanted[n].depth &&
			(call->self_doubt ? -1 : call->self) ==
			of->wanted[n].self &&
			(!of->times || call->latency ==
			 (int64_t)(of->times[n].end - of->times[n].begin));
	}
	return 0;
}

static void rows_test(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct row_seen seen = {
			.wanted = rows[i].seen, .times = rows[i].calls,
			.right = true, .pairing = pairing_open(0, NULL),
		};
		struct unfold *unfold = unfold_open(row_see, &seen,
						    rows[i].live);
		size_t count = 0;

		for (int half = 0; half < 2; half++) {
			halves[WHOLE_A][half].formatted = rows[i].migrates;
			halves[WHOLE_A][half].entry = &moving;
			halves[WHOLE_A][half].tff = &names;
		}
		for (; count < CALLS_MOST && rows[i].calls[count].end; count++)
			event_add(unfold, WHOLE_A, 1, rows[i].calls[count].end,
				  rows[i].calls[count].begin, count + 1);
		if (unfold_end(unfold))
			abort();
		tap_ok(seen.right && seen.given == count, "%s", rows[i].name);
		unfold_close(unfold);
		pairing_close(seen.pairing);
	}
}

/* ---- pairs and whole calls that don't nest ---- */

struct mixed_event { unsigned int point; uint64_t time, began; };

/* By the numbers of calls: 1 + the event's place. The depth is that at the beginning,
 * when the call around it was not known to end first. */
static const struct {
	const char *name;
	struct mixed_event events[CALLS_MOST];
	struct call_wanted seen[CALLS_MOST];
} mixed[] = {
	{ "a pair ends in a whole call that began in it",
	  {{PAIR, 10, 0}, {POST, 20, 0}, {WHOLE_B, 21, 11}, {PLAIN, 22, 0}},
	  {{0, -1}, NO_CALL, {0, 10, 1}} },
	{ "a function's pair around its whole call",
	  {{PAIR, 10, 0}, {POST, 20, 0}, {WHOLE_A, 21, 11}, {PLAIN, 22, 0}},
	  {{0, -1}, NO_CALL, {0, 10}} },
	{ "and in it",
	  {{PAIR, 11, 0}, {WHOLE_A, 20, 10}, {POST, 21, 0}, {PLAIN, 22, 0}},
	  {{0, 10, 1}, {0, -1}} },
};

/* WHOLE_A and the pair are of one function, as far as names say. */
static void mixed_names(void)
{
	static const struct tff_entry one = { .desc = 0 }, other = { .desc = 4 };
	static const struct tff_section section = { .entries = 0 };
	static const struct tff strings = {
		.strings = "one\0two", .entries = &one,
	};

	for (unsigned int i = 0; i < POINTS; i++)
		for (int half = 0; half < 3; half++) {
			struct match_point *p = !half ? &points[i] :
				i <= WHOLE_B ? &halves[i][half - 1] : NULL;

			if (!p)
				continue;
			p->formatted = true;
			p->tff = &strings;
			p->section = &section;
			p->entry = i == WHOLE_B ? &other : &one;
		}
}

static void mixed_test(void)
{
	mixed_names();
	for (size_t i = 0; i < sizeof(mixed) / sizeof(*mixed); i++) {
		struct row_seen seen = {
			.wanted = mixed[i].seen, .right = true,
			.pairing = pairing_open(0, NULL),
		};
		struct unfold *unfold = unfold_open(row_see, &seen, false);

		event_make(unfold, WHOLE_A, 1, 2, 1, 1, true);
		for (size_t n = 0; n < CALLS_MOST; n++)
			event_add(unfold, mixed[i].events[n].point, 1,
				  mixed[i].events[n].time,
				  mixed[i].events[n].began, n + 1);
		if (unfold_end(unfold) || pairing_open_call(seen.pairing))
			abort();
		tap_ok(seen.right && seen.given == 2, "%s", mixed[i].name);
		unfold_close(unfold);
		pairing_close(seen.pairing);
	}
}

int main(void)
{
	points_make();
	truth_test();
	rows_test();
	mixed_test();
	return tap_done();
}
