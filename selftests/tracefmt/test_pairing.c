// SPDX-License-Identifier: GPL-2.0
/*
 * PRE with POST: random calls of several threads, sessions and traces against a
 * plain model, the bounds of memory, who is PRE and POST, names of functions,
 * and percentiles against sorted latencies.
 */
#include <tap.h>
#include "lib/read/match/stream.h"
#include "tracefmt/pair/figures.h"
#include "tracefmt/pair/pairing.h"
#include "builder.h"

#define MINORS		6	/* PRE 1 to 6, each with its POST */
#define SESSIONS	3	/* 1 and 2 of one module, 3 of another one */
#define PLAIN		0x20

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* ---- a trace with its points ---- */

struct world {
	struct ras_session entries[SESSIONS];
	struct ras_session_point armed[SESSIONS][2 * MINORS + 1];
	struct trace_session sessions[SESSIONS];
	struct trace_session *pointers[SESSIONS];
	struct match_point points[SESSIONS][2 * MINORS + 1];
	struct trace trace;
};

/* Points 0 to 5 are PRE, 6 to 11 their POST, 12 is neither. */
static uint16_t minor_of(unsigned int point)
{
	return point == 2 * MINORS ? PLAIN :
	       point < MINORS ? point + 1 : (point - MINORS + 1) | PAIR_POST;
}

static void session_make(struct world *world, unsigned int s)
{
	world->entries[s] = (struct ras_session){
		.index = s + 1, .major = 0xc9, .points = 2 * MINORS + 1,
		.id_kind = TDF_ID_BUILD, .id_length = 1, .id = { s / 2 + 1 },
	};
	world->sessions[s] = (struct trace_session){
		.entry = &world->entries[s], .points = world->armed[s],
	};
	world->pointers[s] = &world->sessions[s];
	for (unsigned int i = 0; i <= 2 * MINORS; i++) {
		world->armed[s][i].minor = minor_of(i);
		world->points[s][i] = (struct match_point){
			.key = (uint64_t)(s + 1) << 48 | 0xc9ULL << 32 |
			       (uint64_t)minor_of(i) << 16 | i,
			.session = &world->sessions[s],
			.armed = &world->armed[s][i],
		};
	}
}

static struct world *world_make(uint64_t key)
{
	struct world *world = calloc(1, sizeof(*world));

	if (!world)
		abort();
	for (unsigned int s = 0; s < SESSIONS; s++)
		session_make(world, s);
	world->trace.file.header.key = key;
	world->trace.file.sessions = world->pointers;
	world->trace.file.session_count = SESSIONS;
	return world;
}

/* An event of the world; record is where it is put. */
static struct event event_make(struct world *world, struct ras_record *record,
			       unsigned int session, unsigned int point,
			       uint64_t number, uint32_t tid)
{
	*record = (struct ras_record){
		.length = RAS_RECORD_HEADER, .pid = 7, .tid = tid,
	};
	return (struct event){
		.record = record, .point = &world->points[session][point],
		.trace = &world->trace, .number = number, .time = 10 * number,
	};
}

/* ---- the model ---- */

#define MODEL_THREADS	3
#define MODEL_DEPTH	4096

struct model_call {
	unsigned int session, function;
	uint64_t number;
};

static struct model_call model[MODEL_THREADS][MODEL_DEPTH];
static size_t model_depth[MODEL_THREADS];

static bool model_nests(unsigned int a, unsigned int b)
{
	return a == b || a / 2 != b / 2;
}

/* What a POST closes; false: nothing. The numbers of calls that have none go to
 * `lost`. */
static bool model_post(unsigned int thread, unsigned int session,
		       unsigned int function, uint64_t *number, uint64_t *lost,
		       size_t *lost_count)
{
	struct model_call *calls = model[thread];
	size_t n = model_depth[thread], at = n, kept;

	*lost_count = 0;
	while (at && (calls[at - 1].session != session ||
		      calls[at - 1].function != function))
		at--;
	if (!at)
		return false;
	kept = --at;
	*number = calls[at].number;
	for (size_t i = n; i-- > at + 1;)
		if (model_nests(calls[i].session, session))
			lost[(*lost_count)++] = calls[i].number;
	for (size_t i = at + 1; i < n; i++)
		if (!model_nests(calls[i].session, session))
			calls[kept++] = calls[i];
	model_depth[thread] = kept;
	return true;
}

static bool post_is_right(const struct pair_seen *seen, unsigned int thread,
			  unsigned int session, unsigned int function,
			  uint64_t number)
{
	static uint64_t lost[MODEL_DEPTH];
	const uint64_t *lost_at = lost;
	size_t lost_count;
	uint64_t pre = 0;

	if (!model_post(thread, session, function, &pre, lost, &lost_count))
		return seen->role == PAIR_POST_ALONE &&
		       seen->ended_count == 1 && !seen->ended[0]->number &&
		       seen->ended[0]->doubt == PAIR_NO_PRE;
	if ((seen->role != PAIR_POST_MATCHED &&
	     seen->role != PAIR_POST_UNSURE) || seen->call.number != pre ||
	    (seen->role == PAIR_POST_MATCHED) != (seen->doubt == PAIR_SURE) ||
	    seen->latency != (int64_t)(10 * (number - pre)))
		return false;
	for (size_t i = 0; i < seen->ended_count; i++)
		if (seen->ended[i]->doubt == PAIR_NO_POST &&
		    (!lost_count-- || seen->ended[i]->number != *lost_at++))
			return false;
	return !lost_count;
}

static bool step_is_right(struct pairing *pairing, struct world **worlds,
			  uint64_t number)
{
	unsigned int thread = random_next() % MODEL_THREADS;
	unsigned int session = random_next() % SESSIONS;
	unsigned int point = random_next() % (2 * MINORS + 1);
	struct world *world = worlds[number / 5000 % 2];
	size_t depth = model_depth[thread];
	struct ras_record record;
	struct pair_seen seen;
	struct event event = event_make(world, &record, session, point, number,
					thread);

	if (pairing_see(pairing, &event, &seen))
		return false;
	if (point == 2 * MINORS)
		return seen.role == PAIR_PLAIN && seen.depth == depth;
	if (point >= MINORS)
		return post_is_right(&seen, thread, session, point - MINORS,
				     number);
	model[thread][model_depth[thread]++] = (struct model_call){
		session, point, number,
	};
	return seen.role == PAIR_PRE && seen.depth == depth &&
	       seen.call.beside == (session == 1) && !seen.ended_count;
}

static void test_random(void)
{
	struct world *worlds[] = { world_make(1), world_make(1) };
	struct pairing *pairing = pairing_open(0, NULL);
	size_t left = 0, open = 0, wrong = 0;
	const struct pair_call *call;

	for (uint64_t number = 1; number <= 200000; number++)
		wrong += !step_is_right(pairing, worlds, number);
	tap_is(wrong, 0, "200000 random events are paired as by the model");
	for (unsigned int i = 0; i < MODEL_THREADS; i++)
		left += model_depth[i];
	while ((call = pairing_open_call(pairing)))
		open += call->doubt == PAIR_OPEN;
	tap_is(open, left, "what is open at the end is the same");
	pairing_close(pairing);
	free(worlds[0]);
	free(worlds[1]);
}

/* ---- bounds ---- */

static void test_deep(void)
{
	struct world *world = world_make(2);
	struct pairing *pairing = pairing_open(0, NULL);
	uint64_t n = PAIR_BYTES / 64, unmatched = 0, open = 0;
	struct ras_record record;
	struct pair_seen seen;
	struct event event;

	for (uint64_t i = 1; i <= n; i++) {
		event = event_make(world, &record, 0, 0, i, 1);
		if (pairing_see(pairing, &event, &seen))
			break;
		unmatched += seen.ended_count;
	}
	event = event_make(world, &record, 0, MINORS, n + 1, 1);
	pairing_see(pairing, &event, &seen);
	tap_ok(seen.role == PAIR_POST_UNSURE && seen.call.number == n,
	       "the innermost one of very many open calls is closed");
	tap_ok(unmatched >= n / 2, "of these the outer ones are given up");
	while (pairing_open_call(pairing))
		open++;
	tap_is(unmatched + open, n, "and all are accounted for");
	pairing_close(pairing);
	free(world);
}

static void test_threads(void)
{
	struct world *world = world_make(3);
	struct pairing *pairing = pairing_open(0, NULL);
	uint64_t n = 2 * PAIR_THREADS, unmatched = 0, open = 0;
	struct ras_record record;
	struct pair_seen seen;
	struct event event;
	bool first = false;

	for (uint64_t i = 1; i <= n; i++) {
		event = event_make(world, &record, 0, 0, i, i);
		if (pairing_see(pairing, &event, &seen))
			break;
		if (seen.ended_count && !unmatched)
			first = seen.ended[0]->tid == 1;
		unmatched += seen.ended_count;
	}
	tap_ok(first, "of too many threads the quietest one is given up");
	event = event_make(world, &record, 0, MINORS, n + 1, 5);
	pairing_see(pairing, &event, &seen);
	tap_is(seen.role, PAIR_POST_ALONE, "its POST is alone");
	event = event_make(world, &record, 0, MINORS, n + 2, n - 5);
	pairing_see(pairing, &event, &seen);
	tap_is(seen.role, PAIR_POST_MATCHED, "that of another one isn't");
	while (pairing_open_call(pairing))
		open++;
	tap_is(unmatched + open + 1, n, "all calls are accounted for");
	pairing_close(pairing);
	free(world);
}

/* A record that came late is older than the PRE: it isn't its POST. */
static void test_late(void)
{
	struct world *world = world_make(4);
	struct pairing *pairing = pairing_open(0, NULL);
	struct ras_record record;
	struct pair_seen seen;
	struct event event = event_make(world, &record, 0, 0, 5, 1);

	pairing_see(pairing, &event, &seen);
	event = event_make(world, &record, 0, MINORS, 6, 1);
	event.time = 10 * 5 - 1;
	pairing_see(pairing, &event, &seen);
	tap_is(seen.role, PAIR_POST_ALONE, "a POST older than the PRE");
	event.time = INT64_MIN;
	pairing_see(pairing, &event, &seen);
	tap_is(seen.role, PAIR_POST_ALONE, "and one of no sane time");
	event.time = INT64_MAX;
	pairing_see(pairing, &event, &seen);
	tap_is(seen.latency, INT64_MAX - 50, "a latency of centuries");
	event = event_make(world, &record, 0, 1, 3, 1);
	pairing_see(pairing, &event, &seen);
	tap_is(seen.late, INT64_MAX - 30, "what is older in the thread is late");
	event = event_make(world, &record, 0, 1, 4, 2);
	pairing_see(pairing, &event, &seen);
	tap_is(seen.late, 0, "in another thread it isn't");
	pairing_close(pairing);
	free(world);
}

/* ---- roles ---- */

static void test_roles(void)
{
	struct world *world = world_make(5);
	struct match_point *pre = &world->points[0][0];
	struct match_point *post = &world->points[0][MINORS];

	tap_is(pair_role_of(pre), PAIR_PRE, "a PRE");
	tap_is(pair_role_of(post), PAIR_POST_ALONE, "a POST");
	tap_is(pair_role_of(&world->points[0][2 * MINORS]), PAIR_PLAIN,
	       "a minor without a POST");
	world->armed[0][MINORS].state = RAS_POINT_UNSELECTED;
	tap_is(pair_role_of(pre), PAIR_PLAIN,
	       "a PRE whose POST was not selected");
	world->armed[0][MINORS].state = RAS_POINT_OFF;
	tap_is(pair_role_of(pre), PAIR_PRE, "or was, up to a time");
	world->entries[0].points = 1;
	tap_is(pair_role_of(pre), PAIR_PLAIN, "or isn't in the session");
	pre->armed = NULL;
	tap_is(pair_role_of(pre), PAIR_PLAIN, "a record that was never armed");
	pre->session = NULL;
	tap_is(pair_role_of(pre), PAIR_PLAIN, "a static one without a format");
	free(world);
}

/* ---- names ---- */

static const struct {
	const char *pre, *post, *name;
} names[] = {
	{ "(OS) DosSleep Pre-Invocation", "(OS) DosSleep Post-Invocation",
	  "(OS) DosSleep" },
	{ "(OS) DosOpen Pre-Invocation", "(OS) DosOpenC Post-Invocation",
	  "(OS) DosOpen" },
	{ "work entry", "work exit", "work" },
	{ "work", "work returns", "work" },
	{ "enter work", "leave work", "enter work" },
	{ "(app) read begin", "(app) done reading", "(app) read" },
	{ "f(int, int) pre", "f(int, int) post", "f(int, int)" },
	{ "a b", "a b", "a b" },
	{ "pre", "post", "pre" },
	{ "", "", "" },
	{ "evil\033[2J Pre-Invocation", "evil\033[2J Post-Invocation",
	  "evil\\x1B[2J" },
	{ "single pre-invocation", NULL, "single" },
	{ "a::b<c<d>> Pre-Invocation", "a::b<c<d>> Post-Invocation",
	  "a::b<c<d>>" },
	{ "a::operator= Pre-Invocation", "a::operator= Post-Invocation",
	  "a::operator=" },
	{ "a::operator-> Pre", "a::operator-> Post", "a::operator->" },
	{ "work ->", "work <-", "work" },
	{ "work => x", "work => y", "work" },
};

static void name_check(size_t row, const char *long_pre)
{
	struct tff_builder builder = { .major = 1 };
	const char *pre = long_pre ? long_pre : names[row].pre;
	struct match_point point = { .key = 1 << 16, .formatted = true };
	char name[PAIR_NAME_MAX];
	struct bytes bytes;
	struct error err;
	struct tff *tff;

	tff_section_begin(&builder, "app", 1);
	tff_entry_add(&builder, 1, 0, 0, pre, "");
	if (long_pre || names[row].post)
		tff_entry_add(&builder, 1 | PAIR_POST, 0, 0,
			      long_pre ? long_pre : names[row].post, "");
	bytes = tff_finish(&builder);
	if (tff_parse(&tff, bytes.data, bytes.size, "x.tff", &err))
		abort();
	point.tff = tff;
	point.section = &tff->sections[0];
	point.entry = &tff->entries[0];
	if (long_pre) {
		pair_name(&point, name);
		tap_ok(strlen(name) == PAIR_NAME_MAX - 2 &&
		       !strncmp(name, long_pre, strlen(name)),
		       "a long name ends with a whole character");
	} else {
		tap_str(pair_name(&point, name), names[row].name,
			"name of '%s'", names[row].pre);
	}
	if (!long_pre && names[row].post) {
		point.key = (1ULL | PAIR_POST) << 16;
		point.entry = &tff->entries[1];
		tap_str(pair_name(&point, name), names[row].name,
			"and of its POST");
	}
	tff_close(tff);
	bytes_free(&bytes);
}

static void test_names(void)
{
	struct match_point point = { .key = 0xc9ULL << 32 | 0x8001ULL << 16 };
	char name[PAIR_NAME_MAX], wide[201];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		name_check(i, NULL);
	for (size_t i = 0; i < 100; i++)
		memcpy(wide + 2 * i, "\303\244", 2);
	wide[200] = '\0';
	name_check(0, wide);
	tap_str(pair_name(&point, name), "major 0x00C9 minor 0x0001",
		"without a format the numbers are the name");
}

/* ---- figures ---- */

static int number_compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

#define LATENCIES	5000

/* As many bits as `most`, each number of them alike. */
static void test_latency(unsigned int most)
{
	static const unsigned int permille[] = { 1, 250, 500, 900, 990, 999,
						 1000 };
	static int64_t all[LATENCIES];
	struct latency latency = { 0 };
	uint64_t octaves = 0;
	size_t wrong = 0;

	for (size_t i = 0; i < LATENCIES; i++) {
		all[i] = random_next() >> (64 - most + random_next() % most);
		latency_add(&latency, all[i]);
	}
	qsort(all, LATENCIES, sizeof(*all), number_compare);
	for (size_t i = 0; i < sizeof(permille) / sizeof(*permille); i++) {
		int64_t exact = all[LATENCIES * permille[i] / 1000 - 1];
		int64_t got = latency_permille(&latency, permille[i]);
		int64_t off = got > exact ? got - exact : exact - got;

		wrong += off > (exact < 128 ? 0 : exact / 100);
	}
	tap_is(wrong, 0, "percentiles of %u bits", most);
	tap_ok(latency.least == all[0] && latency.most == all[LATENCIES - 1] &&
	       latency.count == LATENCIES, "least, most and count");
	for (unsigned int i = 0; i < 63; i++)
		octaves += latency_octave(&latency, i);
	tap_is(octaves, LATENCIES, "the histogram has them all");
	latency_free(&latency);
}

static void test_latency_text(void)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0 ns" }, { 999, "999 ns" }, { 1000, "1.000 us" },
		{ 9999, "9.999 us" }, { 12345, "12.35 us" },
		{ 123456, "123.5 us" }, { 999949, "999.9 us" },
		{ 999950, "1.000 ms" }, { 12345678, "12.35 ms" },
		{ 1500000000, "1.500 s" }, { 3600000000000, "3600 s" },
		{ INT64_MAX, "9223372037 s" },
	};
	char text[TEXT_DURATION];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		*text_put_duration(text, rows[i].ns) = '\0';
		tap_str(text, rows[i].text, "%lld ns",
			(long long)rows[i].ns);
	}
}

static void test_value_counts(void)
{
	struct value_counts counts = { 0 };
	char text[200];

	for (int i = 0; i < 1000; i++)
		value_counts_add(&counts, text, sprintf(text, "%d", i % 100));
	for (int i = 0; i < 3; i++)
		value_counts_add(&counts, "7", 1);
	memset(text, 'a', sizeof(text));
	value_counts_sort(&counts);
	tap_is(counts.count, VALUE_COUNTS_MOST, "so many values are counted");
	tap_is(counts.others, 10 * (100 - VALUE_COUNTS_MOST),
	       "others are counted");
	tap_ok(counts.rows[0].count == 13 && counts.rows[0].length == 1 &&
	       counts.rows[0].text[0] == '7', "the most frequent one is first");
	free(counts.rows);
	counts = (struct value_counts){ 0 };
	value_counts_add(&counts, text, sizeof(text));
	text[150] = 'b';
	value_counts_add(&counts, text, sizeof(text));
	tap_is(counts.count, 2, "long texts that differ late are two");
	tap_ok(counts.rows[0].length == VALUE_COUNTS_TEXT &&
	       !memcmp(counts.rows[0].text + VALUE_COUNTS_TEXT - 4, "a...", 4),
	       "and cut");
	free(counts.rows);
}

int main(void)
{
	test_random();
	test_deep();
	test_threads();
	test_late();
	test_roles();
	test_names();
	test_latency(4);
	test_latency(20);
	test_latency(63);
	test_latency_text();
	test_value_counts();
	return tap_done();
}
