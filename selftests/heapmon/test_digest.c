// SPDX-License-Identifier: GPL-2.0
/* What a report sums up: weights, ends of processes, peaks, spans, threads. */
#include <errno.h>
#include <math.h>
#include "heapmon/report/report.h"
#include "tap.h"

#define SECOND	1000000000LL

struct bench {
	struct heap_trace trace;
	struct heap_model model;
	struct digest digest;
	uint32_t stack[3];	/* "one" and "two", both from "main" */
};

static uint32_t stack_of(struct heap_trace *trace, const char *name,
			 uint32_t parent)
{
	const struct heap_frame frame = {
		.symbol = heap_strings_add(&trace->strings, name),
	};

	return heap_trace_stack(trace, parent, heap_trace_frame(trace, &frame));
}

static void bench_open(struct bench *bench, uint64_t sample)
{
	uint32_t outer;

	*bench = (struct bench){ 0 };
	heap_trace_init(&bench->trace);
	bench->trace.sample = sample;
	heap_model_init(&bench->model, &bench->trace);
	digest_init(&bench->digest, &bench->trace);
	outer = stack_of(&bench->trace, "main", 0);
	bench->stack[1] = stack_of(&bench->trace, "one", outer);
	bench->stack[2] = stack_of(&bench->trace, "two", outer);
}

static void bench_close(struct bench *bench)
{
	digest_free(&bench->digest);
	heap_model_free(&bench->model);
	heap_trace_free(&bench->trace);
}

static void take(struct bench *bench, struct heap_event event)
{
	struct error err;
	struct heap_step step;

	heap_trace_widen(&bench->trace, event.time);
	if (heap_model_apply(&bench->model, &event, &step) ||
	    digest_step(&bench->digest, &bench->model, &step, &err))
		tap_ok(false, "an event is taken");
}

static void end(struct bench *bench)
{
	struct error err;

	tap_ok(!digest_end(&bench->digest, &bench->model, &err), "it ends");
}

#define ALLOC(p, t, at, bytes, s, when)					\
	((struct heap_event){						\
		.kind = HEAP_ALLOC, .function = HEAP_FUNCTION_MALLOC,	\
		.pid = p, .tid = t, .address = at, .size = bytes,	\
		.stack = s, .time = when })

#define FREE(p, t, at, when)						\
	((struct heap_event){						\
		.kind = HEAP_FREE, .function = HEAP_FUNCTION_FREE,	\
		.pid = p, .tid = t, .address = at, .time = when })

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

static bool sum_is(const struct digest_sum *sum, double count, double bytes)
{
	if (near(sum->count, count) && near(sum->bytes, bytes))
		return true;
	tap_diag("%f blocks, %f bytes", sum->count, sum->bytes);
	return false;
}

static void test_sites(void)
{
	struct bench b;
	const struct digest_site *one, *two;

	bench_open(&b, 0);
	take(&b, ALLOC(1, 1, 0x1000, 100, b.stack[1], SECOND));
	take(&b, ALLOC(1, 1, 0x2000, 300, b.stack[2], 2 * SECOND));
	take(&b, FREE(1, 2, 0x2000, 3 * SECOND));
	take(&b, ALLOC(1, 1, 0x3000, 50, b.stack[1], 4 * SECOND));
	take(&b, FREE(1, 1, 0x3000, 4 * SECOND));
	take(&b, ALLOC(1, 1, 0x4000, 200, b.stack[1], 5 * SECOND));
	end(&b);
	one = &b.digest.sites[b.stack[1]];
	two = &b.digest.sites[b.stack[2]];
	tap_ok(sum_is(&one->allocated, 3, 350), "what a stack allocated");
	tap_ok(sum_is(&one->freed, 1, 50), "what was freed of it");
	tap_ok(sum_is(&one->kept, 2, 300), "what was not");
	tap_ok(one->oldest == 4 * SECOND && !one->youngest, "and how old it is");
	tap_ok(sum_is(&b.digest.peak, 2, 400), "the peak");
	tap_ok(b.digest.peak_time == 2 * SECOND, "its time");
	tap_ok(sum_is(&one->peak, 1, 100) && sum_is(&two->peak, 1, 300),
	       "what each stack had of it");
	tap_ok(b.digest.temporary == 2 && one->temporary == 1 &&
	       two->temporary == 1, "temporary ones");
	tap_ok(b.digest.threads.count == 2 &&
	       digest_threads(&b.digest)[1].foreign == 1 &&
	       digest_threads(&b.digest)[0].foreign == 0, "freed for another thread");
	bench_close(&b);
}

/* A block of n bytes is there with the chance 1 - exp(-n / 1000). */
static void test_weights(void)
{
	double small = 1 / (1 - exp(-0.01)), large = 1 / (1 - exp(-5.0));
	struct bench b;

	bench_open(&b, 1000);
	take(&b, ALLOC(1, 1, 0x1000, 10, b.stack[1], SECOND));
	take(&b, ALLOC(1, 1, 0x2000, 5000, b.stack[2], SECOND));
	take(&b, FREE(1, 1, 0x1000, SECOND));
	end(&b);
	tap_ok(sum_is(&b.digest.allocated, small + large,
		      10 * small + 5000 * large), "a sample is weighted");
	tap_ok(sum_is(&b.digest.freed, small, 10 * small),
	       "by the size of the block that is freed");
	tap_ok(sum_is(&b.digest.kept, large, 5000 * large), "what is kept, too");
	tap_ok(sum_is(&b.digest.sizes[1].allocated, small, 10 * small),
	       "and the sizes");
	bench_close(&b);
}

static void test_processes(void)
{
	struct bench b;

	bench_open(&b, 0);
	take(&b, (struct heap_event){ .kind = HEAP_BEGIN, .pid = 1,
				      .time = SECOND });
	take(&b, ALLOC(1, 1, 0x1000, 1000, b.stack[1], SECOND));
	take(&b, (struct heap_event){ .kind = HEAP_FORK, .pid = 2, .parent = 1,
				      .time = 2 * SECOND });
	take(&b, FREE(2, 2, 0x1000, 2 * SECOND));
	take(&b, ALLOC(2, 2, 0x5000, 600, b.stack[2], 3 * SECOND));
	take(&b, (struct heap_event){ .kind = HEAP_EXIT, .pid = 2,
				      .time = 4 * SECOND });
	take(&b, ALLOC(1, 1, 0x6000, 500, b.stack[1], 9 * SECOND));
	end(&b);
	tap_ok(sum_is(&b.digest.allocated, 3, 2100),
	       "what a child has of its parent isn't its own");
	tap_ok(sum_is(&b.digest.kept, 3, 2100), "nor was it freed");
	tap_ok(sum_is(&b.digest.left, 1, 600), "what an end leaves");
	tap_ok(sum_is(&b.digest.peak, 2, 1600), "isn't there any more");
	tap_is(b.digest.processes, 2, "both are counted");
	tap_ok(b.digest.sites[b.stack[2]].oldest == SECOND,
	       "and grows no older");
	bench_close(&b);
}

static void test_spans(void)
{
	struct bench b;
	double allocated = 0, most = 0;
	unsigned int used = 0;

	bench_open(&b, 0);
	for (int i = 0; i < 1000; i++)
		take(&b, ALLOC(1, 1, 0x10000 + i * 0x100, 8, b.stack[1],
			       SECOND + i * (SECOND / 10)));
	end(&b);
	for (int i = 0; i < DIGEST_SPANS; i++) {
		allocated += b.digest.spans[i].allocated.count;
		most = fmax(most, b.digest.spans[i].most);
		used += b.digest.spans[i].used;
	}
	tap_ok(allocated == 1000, "no event falls between spans");
	tap_ok(most == 8000, "the most bytes of all");
	tap_ok(used > DIGEST_SPANS / 2, "they are as short as can be");
	tap_ok(b.digest.span_length * used >= 99 * (uint64_t)SECOND + SECOND / 2,
	       "and reach to the end");
	bench_close(&b);
}

static void test_wrong(void)
{
	struct bench b;
	const struct digest_wrong *it;

	bench_open(&b, 0);
	take(&b, ALLOC(1, 1, 0x1000, 100, b.stack[1], SECOND));
	take(&b, FREE(1, 1, 0x1000, SECOND));
	for (int i = 0; i < 3; i++)
		take(&b, FREE(1, 1, 0x1000, SECOND + i));
	take(&b, FREE(1, 1, 0x8000, SECOND));
	end(&b);
	it = digest_wrongs(&b.digest);
	tap_ok(b.digest.wrongs.count == 1, "the same wrong at the same place once");
	tap_ok(it && it->wrong == HEAP_WRONG_DOUBLE && it->count == 3 &&
	       it->event.time == SECOND, "with how often, and the first");
	tap_ok(it && it->other.size == 100 && it->other_stack == b.stack[1],
	       "and the block it was about");
	tap_ok(b.digest.unknown == 1, "a block never seen isn't wrong");
	bench_close(&b);
}

/* At more places than are kept; one of these again. */
static void test_wrong_many(void)
{
	struct heap_event event = FREE(1, 1, 0x1000, SECOND);
	struct bench b;

	bench_open(&b, 0);
	take(&b, ALLOC(1, 1, 0x1000, 100, b.stack[1], SECOND));
	for (int i = 0; i < DIGEST_WRONG_MOST + 3; i++) {
		event.stack = i;
		take(&b, event);
	}
	event.stack = 7;
	take(&b, event);
	end(&b);
	tap_is(b.digest.wrongs.count, DIGEST_WRONG_MOST,
	       "so many places are kept");
	tap_is(b.digest.wrong_more, 2, "more are counted");
	tap_is(digest_wrongs(&b.digest)[6].count, 2,
	       "a place that is kept goes on counting");
	bench_close(&b);
}

/* One event: an address given out twice, and across the block after it. */
static void test_wrong_both(void)
{
	struct bench b;
	const struct digest_wrong *it;

	bench_open(&b, 0);
	take(&b, ALLOC(1, 1, 0x1000, 16, b.stack[1], SECOND));
	take(&b, ALLOC(1, 1, 0x1010, 32, b.stack[2], SECOND));
	take(&b, ALLOC(1, 1, 0x1000, 64, b.stack[1], SECOND));
	end(&b);
	it = digest_wrongs(&b.digest);
	tap_ok(b.digest.wrongs.count == 2, "two things wrong at once");
	tap_ok(it && it[0].wrong == HEAP_WRONG_TWICE &&
	       it[0].other.size == 16, "the block whose address it was");
	tap_ok(it && it[1].wrong == HEAP_WRONG_OVERLAP &&
	       it[1].other.size == 32, "and the one that it reaches into");
	bench_close(&b);
}

#define REALLOC(t, from, at, bytes, s)					\
	((struct heap_event){						\
		.kind = HEAP_REALLOC, .function = HEAP_FUNCTION_REALLOC, \
		.pid = 1, .tid = t, .old = from, .address = at,		\
		.size = bytes, .stack = s, .time = SECOND })

/* Others get what a realloc under way has given away: not wrong. */
static void test_doubts(void)
{
	struct bench b;
	const struct digest_wrong *it;

	bench_open(&b, 0);
	take(&b, ALLOC(1, 1, 0x1000, 0x1000, b.stack[1], SECOND));
	take(&b, ALLOC(1, 2, 0x1400, 16, b.stack[2], SECOND));
	take(&b, ALLOC(1, 3, 0x1000, 16, b.stack[2], SECOND));
	take(&b, FREE(1, 3, 0x1000, SECOND));
	take(&b, REALLOC(1, 0x1000, 0x8000, 64, b.stack[1]));
	take(&b, ALLOC(1, 2, 0x8010, 8, b.stack[2], SECOND));
	take(&b, FREE(1, 1, 0x1400, 2 * SECOND));
	take(&b, FREE(1, 1, 0x1400, 2 * SECOND));
	take(&b, ALLOC(1, 2, 0x8008, 4, b.stack[2], SECOND));
	end(&b);
	it = digest_wrongs(&b.digest);
	tap_is(b.digest.wrongs.count, 2, "what nothing excuses is wrong");
	tap_ok(it && it[0].wrong == HEAP_WRONG_OVERLAP &&
	       it[0].event.size == 8 && it[0].other.size == 64 &&
	       it[0].count == 2, "in a block that stays");
	tap_ok(it && it[1].wrong == HEAP_WRONG_DOUBLE && it[1].count == 1,
	       "in the order in which it happened");
	tap_ok(sum_is(&b.digest.allocated, 6, 0x1000 + 16 + 16 + 64 + 8 + 4) &&
	       sum_is(&b.digest.freed, 3, 0x1000 + 16 + 16) &&
	       sum_is(&b.digest.kept, 3, 64 + 8 + 4), "the sums");
	bench_close(&b);
}

/* More than can be held back. */
static void test_doubts_many(void)
{
	struct bench b;
	const uint64_t many = 3 * DIGEST_DOUBTS_MOST;
	uint64_t at = 0x100000;

	bench_open(&b, 0);
	for (uint64_t i = 0; i < many; i++, at += 0x100) {
		take(&b, ALLOC(1, 1, at, 64, b.stack[1], SECOND));
		take(&b, ALLOC(1, 2, at + 16, 8, b.stack[2], SECOND));
	}
	take(&b, REALLOC(1, at - 0x100, 0x1000, 8, b.stack[1]));
	tap_ok(b.digest.doubts.count <= DIGEST_DOUBTS_MOST,
	       "so many are held back");
	end(&b);
	tap_ok(b.digest.wrongs.count == 1 &&
	       digest_wrongs(&b.digest)->count == many - 1,
	       "none is reported twice, or not");
	bench_close(&b);
}

/* The walk meets a block that was allocated when probes stood already. */
static void test_old(void)
{
	struct bench b;

	bench_open(&b, 0);
	take(&b, ALLOC(1, 1, 0x1000, 100, b.stack[1], SECOND));
	for (int i = 0; i < 2; i++)
		take(&b, (struct heap_event){
			.kind = HEAP_OLD, .pid = 1, .time = SECOND,
			.address = i ? 0x2000 : 0x1000, .size = 100,
			.type_kind = HEAP_TYPE_NO_TABLE,
		});
	end(&b);
	tap_ok(sum_is(&b.digest.allocated, 1, 100), "it is allocated once");
	tap_ok(sum_is(&b.digest.old, 1, 100), "and not an old one, too");
	tap_ok(sum_is(&digest_types(&b.digest)[0].old, 1, 100), "nor its type");
	bench_close(&b);
}

/* realloc gives out an address where a block lives: that one is lost. */
static void test_lost(void)
{
	struct bench b;
	struct heap_event event;

	bench_open(&b, 0);
	take(&b, ALLOC(1, 1, 0x1000, 100, b.stack[1], SECOND));
	take(&b, ALLOC(1, 1, 0x2000, 30, b.stack[2], SECOND));
	event = ALLOC(1, 1, 0x1000, 50, b.stack[2], SECOND);
	event.kind = HEAP_REALLOC;
	event.old = 0x2000;
	take(&b, event);
	end(&b);
	tap_ok(sum_is(&b.digest.freed, 2, 130), "a lost block is freed");
	tap_ok(sum_is(&b.digest.sites[b.stack[1]].freed, 1, 100),
	       "where it came from");
	tap_ok(sum_is(&b.digest.kept, 1, 50), "what is there is not");
	tap_ok(sum_is(&b.digest.present, 1, 50), "and present");
	tap_ok(digest_wrongs(&b.digest)[0].other.size == 100,
	       "the block whose address was given out");
	tap_is(digest_wrong_address(&digest_wrongs(&b.digest)[0]), 0x1000,
	       "and that address");
	event.address = 0x3000;
	take(&b, event);
	tap_ok(digest_wrongs(&b.digest)[1].wrong == HEAP_WRONG_DOUBLE,
	       "a realloc of a block that is freed");
	tap_is(digest_wrong_address(&digest_wrongs(&b.digest)[1]), 0x2000,
	       "its address");
	bench_close(&b);
}

/* All notes, a line each. */
static void notes_are(const struct digest *digest, const char *expected)
{
	char text[256], all[2048] = "";
	const char *note;

	for (unsigned int i = 0;
	     (note = report_note(digest, i, text, sizeof(text))); i++) {
		strcat(all, note);
		strcat(all, "\n");
	}
	if (!tap_ok(!strcmp(all, expected), "notes"))
		tap_diag("%s", all);
}

static void test_notes(void)
{
	struct bench b;

	bench_open(&b, 0);
	notes_are(&b.digest, "");
	b.trace.lost = 3;
	b.trace.damaged = 2;
	b.trace.sample = 4096;
	b.trace.min_size = 64;
	notes_are(&b.digest,
		  "3 events are missing: blocks may be listed that were freed, and others be missing\n"
		  "the file could not be read in 2 places\n"
		  "a sample of the blocks, one in each 4096 bytes: figures are estimates by the weights of the blocks\n"
		  "blocks of less than 64 bytes were not recorded\n"
		  "too many count as temporary: what was allocated between isn't all here\n");
	b.trace.lost = HEAP_LOST_UNKNOWN;
	b.trace.damaged = b.trace.sample = b.trace.min_size = 0;
	notes_are(&b.digest,
		  "an unknown number of events is missing: blocks may be listed that were freed, and others be missing\n");
	bench_close(&b);
}

static void test_extremes(void)
{
	struct bench b;

	bench_open(&b, UINT64_MAX);
	take(&b, ALLOC(1, 1, 0x1000, 0, b.stack[1], INT64_MIN + 1));
	take(&b, ALLOC(1, 1, 0x2000, UINT64_MAX, b.stack[1], INT64_MAX));
	take(&b, FREE(1, 1, 0x1000, INT64_MAX));
	end(&b);
	tap_ok(isfinite(b.digest.allocated.count) &&
	       isfinite(b.digest.allocated.bytes), "sums stay finite");
	tap_ok(b.digest.sizes[DIGEST_SIZES - 1].allocated.count > 0,
	       "the largest size has its class");
	bench_close(&b);
}

int main(void)
{
	test_sites();
	test_weights();
	test_processes();
	test_spans();
	test_wrong();
	test_wrong_both();
	test_wrong_many();
	test_doubts();
	test_doubts_many();
	test_old();
	test_lost();
	test_notes();
	test_extremes();
	return tap_done();
}
