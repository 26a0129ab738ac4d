// SPDX-License-Identifier: GPL-2.0
/* What events mean: which blocks come and go, what is wrong with them, and the
 * sums, peaks and weights of it all. */
#include "selftests/tap.h"
#include <math.h>
#include "heapmon/core/blocks.h"
#include "heapmon/core/profile.h"

#define F(id) HEAP_FUNCTION_##id

static struct heap_trace trace;
static struct heap_model model;
static struct heap_profile profile;
static struct heap_step step;

static void begin(void)
{
	const struct heap_bounds bounds = HEAP_BOUNDS_DEFAULT;

	heap_trace_init(&trace);
	heap_model_init(&model, &trace);
	if (heap_profile_init(&profile, &trace, &bounds))
		tap_bail("no memory");
}

static void end(void)
{
	heap_profile_free(&profile);
	heap_model_free(&model);
	heap_trace_free(&trace);
}

static void apply(struct heap_event event)
{
	static struct heap_event last;	/* the step points to it */

	last = event;
	if (last.kind <= HEAP_FREE && !last.pid)
		last.pid = 1;
	if (!last.tid)
		last.tid = last.pid;
	if (heap_model_apply(&model, &last, &step) ||
	    heap_profile_take(&profile, &step))
		tap_bail("no memory");
}

#define EVENT(...) apply((struct heap_event){ __VA_ARGS__ })

static void come(uint64_t address, uint64_t size)
{
	EVENT(.kind = HEAP_ALLOC, .function = F(MALLOC), .address = address,
	      .size = size);
}

static void go(uint64_t address)
{
	EVENT(.kind = HEAP_FREE, .function = F(FREE), .address = address);
}

static void move(uint64_t old, uint64_t address, uint64_t size)
{
	EVENT(.kind = HEAP_REALLOC, .function = F(REALLOC), .old = old,
	      .address = address, .size = size);
}

static void test_life(void)
{
	begin();
	come(0x1000, 100);
	tap_ok(step.came && step.came->size == 100 && !step.gone &&
	       step.came->index == 1 && step.number == 1, "a block comes");
	move(0x1000, 0x2000, 300);
	tap_ok(step.gone && step.gone->size == 100 && step.came &&
	       step.came->index == 1 && step.came->number == 1 && !step.wrong,
	       "it moves, and keeps its index");
	tap_ok(!heap_model_find(&model, 1, 0x1000) &&
	       heap_model_find(&model, 1, 0x2000), "it is where it moved to");
	come(0x3000, 7);
	go(0x2000);
	tap_ok(step.gone && step.gone->size == 300 && !step.temporary,
	       "it goes");
	come(0x4000, 1);
	go(0x4000);
	tap_ok(step.temporary, "one that nothing came after was temporary");
	tap_is(model.allocated.count, 4, "allocated");
	tap_is(model.allocated.bytes, 408, "allocated bytes");
	tap_is(model.freed.bytes, 401, "freed bytes");
	tap_is(model.live.bytes, 7, "live bytes");
	tap_is(model.peak.bytes, 307, "bytes at the peak");
	tap_is(model.peak.count, 2, "blocks at the peak");
	tap_is(model.peak_number, 3, "event of the peak");
	end();
}

static void test_wrong(void)
{
	begin();
	go(0x9000);
	tap_is(step.wrong, HEAP_WRONG_UNKNOWN, "a block that was never seen");
	tap_is(model.unknown.count, 1, "unknown ones are counted");
	go(0);
	tap_is(step.wrong, 0, "free(NULL)");
	come(0x1000, 64);
	go(0x1000);
	go(0x1000);
	tap_ok(step.wrong == HEAP_WRONG_DOUBLE && step.other &&
	       step.other->size == 64, "freed twice");
	come(0x1000, 64);
	go(0x1010);
	tap_ok(step.wrong == HEAP_WRONG_INSIDE && step.other &&
	       step.other->address == 0x1000, "an address inside of a block");
	go(0x1040);
	tap_is(step.wrong, HEAP_WRONG_UNKNOWN, "the address after a block");
	come(0x1000, 32);
	tap_ok(step.wrong == HEAP_WRONG_TWICE && step.gone &&
	       step.gone->size == 64, "an address given out twice");
	come(0x7000, 5);
	move(0x7000, 0x1000, 32);
	tap_ok(step.wrong == HEAP_WRONG_TWICE && step.gone->size == 5 &&
	       step.lost && step.lost->size == 32 && model.live.bytes == 32,
	       "also by realloc");
	tap_is(heap_profile_site(&profile, 0)->now.bytes, 32,
	       "which the sums know");
	come(0x0ff0, 32);
	tap_ok(step.wrong == HEAP_WRONG_OVERLAP && step.other->size == 32,
	       "across the begin of a block");
	end();
	begin();
	come(0x1000, 64);
	come(0x1020, 8);
	tap_is(step.wrong, HEAP_WRONG_OVERLAP, "within a block");
	EVENT(.kind = HEAP_ALLOC, .function = F(NEW), .address = 0x5000);
	go(0x5000);
	tap_is(step.wrong, HEAP_WRONG_KIND, "new, then free");
	come(0x5000, 8);
	EVENT(.kind = HEAP_FREE, .function = F(DELETE), .address = 0x5000);
	tap_is(step.wrong, HEAP_WRONG_KIND, "malloc, then delete");
	EVENT(.kind = HEAP_ALLOC, .function = F(NEW_ARRAY), .address = 0x5000);
	EVENT(.kind = HEAP_FREE, .function = F(DELETE), .address = 0x5000);
	tap_is(step.wrong, HEAP_WRONG_KIND, "new[], then delete");
	EVENT(.kind = HEAP_ALLOC, .function = F(NEW_NOTHROW),
	      .address = 0x5000);
	EVENT(.kind = HEAP_FREE, .function = F(DELETE_SIZED),
	      .address = 0x5000);
	tap_is(step.wrong, 0, "new in another form, then delete");
	end();
}

/* A stack of two frames of that module, the innermost with that symbol. */
static uint32_t two_frames(const char *module, const char *symbol, bool stopped)
{
	uint32_t file = heap_strings_add(&trace.strings, module);
	struct heap_frame outer = {
		.address = 1, .module = file, .stopped = stopped,
	};
	struct heap_frame inner = {
		.address = 2, .module = file,
		.symbol = heap_strings_add(&trace.strings, symbol),
	};
	uint32_t stack = heap_trace_stack(&trace, 0,
					  heap_trace_frame(&trace, &outer));

	return heap_trace_stack(&trace, stack,
				heap_trace_frame(&trace, &inner));
}

static void free_from(const char *module, const char *symbol, bool stopped)
{
	EVENT(.kind = HEAP_FREE, .address = 0x1000,
	      .stack = two_frames(module, symbol, stopped));
}

static void test_cache(void)
{
	begin();
	come(0x1000, 10);
	go(0x1000);
	free_from("/lib/libc.so.6", "__malloc_arena_thread_freeres", false);
	tap_ok(step.cache && !step.wrong, "a thread's cache is emptied");
	free_from("/lib/libc.so.6", "", false);
	tap_ok(step.cache && !step.wrong, "by a libc without symbols");
	free_from("/lib/libc.so.6", "", true);
	tap_is(step.wrong, HEAP_WRONG_DOUBLE, "who called it isn't known");
	free_from("/lib/libc.so.6", "fclose", false);
	tap_is(step.wrong, HEAP_WRONG_DOUBLE, "another function of libc");
	free_from("/bin/app", "", false);
	tap_is(step.wrong, HEAP_WRONG_DOUBLE, "a static program");
	come(0x1000, 10);
	free_from("/lib/libc.so.6", "__malloc_arena_thread_freeres", false);
	tap_ok(step.gone && !step.cache, "a block that lives goes all the same");
	end();
}

static void test_threads(void)
{
	begin();
	EVENT(.kind = HEAP_ALLOC, .address = 0x1000, .size = 10, .tid = 1);
	EVENT(.kind = HEAP_ALLOC, .address = 0x1000, .size = 20, .tid = 2);
	EVENT(.kind = HEAP_REALLOC, .old = 0x1000, .address = 0x2000,
	      .size = 30, .tid = 1);
	tap_ok(step.wrong == HEAP_WRONG_LATE && !step.gone && step.came,
	       "another thread got the block before realloc returned");
	EVENT(.kind = HEAP_FREE, .address = 0x1000, .tid = 2);
	tap_ok(!step.wrong && step.gone && step.gone->size == 20,
	       "which is its own");
	tap_is(model.live.bytes, 30, "what lives");
	end();
}

#define BY(thread, k, at, ...) \
	EVENT(.kind = HEAP_##k, .tid = thread, .address = at, __VA_ARGS__)

/* What others get of a block while the realloc that moves it is under way. */
static void test_late(void)
{
	begin();
	BY(1, ALLOC, 0x1000, .size = 100);
	for (int i = 0; i < 2; i++) {
		BY(2, ALLOC, 0x1000, .size = 20);
		BY(2, FREE, 0x1000, .size = 0);
	}
	BY(2, ALLOC, 0x1000, .size = 20);
	BY(1, REALLOC, 0x2000, .old = 0x1000, .size = 300);
	tap_ok(step.wrong == HEAP_WRONG_LATE && step.excuses &&
	       step.since == 1 && !step.gone, "others got it, and freed it");
	BY(2, FREE, 0x1000, .size = 0);
	tap_ok(!step.wrong && step.gone, "the last of them, too");
	BY(1, FREE, 0x2000, .size = 0);
	tap_ok(model.allocated.count == 5 && model.freed.count == 5 &&
	       model.allocated.bytes == 460 && model.freed.bytes == 460 &&
	       !model.live.count && !model.live.bytes && !model.unknown.count,
	       "all that came went");
	BY(1, REALLOC, 0x3000, .old = 0x1000, .size = 300);
	tap_is(step.wrong, HEAP_WRONG_DOUBLE, "one that was freed before");
	end();
	begin();
	BY(1, ALLOC, 0x1000, .size = 100);
	BY(2, ALLOC, 0x1000, .size = 20);
	BY(3, REALLOC, 0x1000, .old = 0x5000, .size = 30);
	BY(2, REALLOC, 0x2000, .old = 0x1000, .size = 40);
	tap_is(step.wrong, HEAP_WRONG_LATE, "two calls at once");
	BY(1, FREE, 0x1000, .function = F(REALLOC));
	tap_is(step.wrong, HEAP_WRONG_LATE, "one of them to 0 bytes");
	BY(3, FREE, 0x1000, .size = 0);
	tap_ok(step.gone && step.gone->size == 30 && model.live.bytes == 40,
	       "the last one's is there");
	end();
}

static void test_excuses(void)
{
	begin();
	BY(1, ALLOC, 0x1000, .size = 0x1000);
	BY(2, ALLOC, 0x1800, .size = 16);
	tap_is(step.wrong, HEAP_WRONG_OVERLAP, "in a block that lives");
	BY(1, REALLOC, 0x1000, .old = 0x1000, .size = 100);
	tap_ok(step.excuses && step.since == 1 && step.gone,
	       "unless realloc gives it away");
	BY(2, ALLOC, 0x1020, .size = 16);
	BY(1, ALLOC, 0x9000, .size = 16);
	BY(1, REALLOC, 0x4000, .old = 0x1000, .size = 200);
	tap_ok(!step.excuses, "which it can't before it is called");
	BY(2, ALLOC, 0x4020, .size = 16);
	BY(1, FREE, 0x4000, .size = 0);
	tap_ok(!step.excuses, "nor can free");
	end();
	begin();
	BY(1, ALLOC, 0x1000, .size = 100);
	BY(2, ALLOC, 0x1000, .size = 20);
	tap_is(step.wrong, HEAP_WRONG_TWICE, "given out twice");
	BY(1, FREE, 0x7000, .size = 0);
	BY(1, REALLOC, 0x2000, .old = 0x1000, .size = 30);
	tap_ok(!step.wrong && step.gone && !step.excuses,
	       "the thread did something else since");
	end();
}

static void test_loss(void)
{
	begin();
	come(0x1000, 10);
	come(0x2000, 10);
	go(0x2000);
	EVENT(.kind = HEAP_LOSS, .lost = 3);
	come(0x1000, 20);
	tap_ok(!step.wrong && step.gone, "its free may have been lost");
	go(0x2000);
	tap_is(step.wrong, HEAP_WRONG_UNKNOWN, "so may have been an allocation");
	go(0x1000);
	go(0x1000);
	tap_is(step.wrong, HEAP_WRONG_DOUBLE, "after it all is as before");
	EVENT(.kind = HEAP_LOSS, .lost = HEAP_LOST_UNKNOWN, .lasts = true);
	come(0x3000, 20);
	come(0x3000, 20);
	tap_is(step.wrong, 0, "while it lasts nothing is sure");
	EVENT(.kind = HEAP_LOSS, .lost = HEAP_LOST_UNKNOWN);
	come(0x3000, 20);
	tap_is(step.wrong, 0, "nor what came then");
	come(0x3000, 20);
	tap_is(step.wrong, HEAP_WRONG_TWICE, "until it is over");
	end();
}

static void test_processes(void)
{
	struct heap_each all = { 0 }, of_step = { 0 };
	int count = 0, left = 0;

	begin();
	come(0x1000, 10);
	come(0x2000, 20);
	EVENT(.kind = HEAP_FORK, .pid = 2, .parent = 1);
	EVENT(.kind = HEAP_FREE, .pid = 2, .address = 0x1000);
	tap_ok(!step.wrong && step.gone && step.gone->old,
	       "a child frees what it has of its parent");
	EVENT(.kind = HEAP_FREE, .pid = 2, .address = 0x1000);
	tap_is(step.wrong, HEAP_WRONG_DOUBLE, "once");
	go(0x2000);
	EVENT(.kind = HEAP_FREE, .pid = 2, .address = 0x2000);
	tap_ok(!step.wrong && step.gone,
	       "also what the parent has freed since");
	come(0x3000, 30);
	EVENT(.kind = HEAP_FREE, .pid = 2, .address = 0x3000);
	tap_is(step.wrong, HEAP_WRONG_UNKNOWN,
	       "not what came to the parent since");
	come(0x4000, 1);
	go(0x4000);
	EVENT(.kind = HEAP_FREE, .pid = 2, .address = 0x4000);
	tap_is(step.wrong, HEAP_WRONG_UNKNOWN, "even when it is gone again");
	EVENT(.kind = HEAP_ALLOC, .pid = 2, .address = 0x1000, .size = 100);
	tap_is(model.live.bytes, 140, "both have blocks");
	EVENT(.kind = HEAP_EXIT, .pid = 2);
	while (heap_step_next_left(&step, &of_step))
		left++;
	tap_is(left, 1, "what the child leaves");
	tap_is(model.left.bytes, 100, "its bytes");
	EVENT(.kind = HEAP_FREE, .pid = 2, .address = 0x1000);
	tap_is(step.wrong, HEAP_WRONG_UNKNOWN, "another process with its id");
	while (heap_model_next(&model, &all))
		count++;
	tap_is(count, 3, "they were not freed");
	EVENT(.kind = HEAP_ALLOC, .pid = 3, .address = 0x1000, .size = 90);
	tap_is(model.peak.bytes, 140, "what is left is no part of a peak");
	end();
}

static void test_old(void)
{
	begin();
	come(0x1000, 10);
	EVENT(.kind = HEAP_OLD, .pid = 1, .address = 0x1000, .size = 24);
	tap_ok(!step.wrong && !step.came && !step.gone,
	       "a block that is known already is none that came");
	tap_is(heap_profile_site(&profile, 0)->now.bytes, 10,
	       "and isn't counted again");
	EVENT(.kind = HEAP_OLD, .pid = 1, .address = 0x2000, .size = 24);
	tap_ok(step.came->old, "an old one");
	tap_is(model.live.bytes, 10, "old ones aren't counted as allocated");
	move(0x2000, 0x2000, 40);
	tap_ok(!step.came->old && step.gone->old, "until they are resized");
	tap_is(model.live.bytes, 50, "from then on they are");
	tap_is(model.old.count, 0, "no old ones are left");
	tap_is(model.freed.count, 0, "nor have they been freed");
	end();
}

static uint32_t stack_of(uint64_t address)
{
	struct heap_frame frame = { .address = address };

	return heap_trace_stack(&trace, 0, heap_trace_frame(&trace, &frame));
}

static void test_profile(void)
{
	struct heap_weighted weighted;
	struct heap_site *site;
	uint32_t a, b;

	begin();
	a = stack_of(1);
	b = stack_of(2);
	tap_is(stack_of(1), a, "equal stacks are one");
	EVENT(.kind = HEAP_ALLOC, .address = 0x1000, .size = 32, .stack = a);
	EVENT(.kind = HEAP_ALLOC, .address = 0x2000, .size = 33, .stack = a);
	EVENT(.kind = HEAP_ALLOC, .address = 0x4000, .size = 5000, .stack = b);
	EVENT(.kind = HEAP_FREE, .address = 0x1000, .stack = b);
	EVENT(.kind = HEAP_FREE, .address = 0x4000, .stack = b);
	EVENT(.kind = HEAP_ALLOC, .address = 0x8000, .size = 10, .stack = a);
	heap_profile_peak(&profile);
	site = heap_profile_site(&profile, a);
	tap_ok(site->sums.allocs[0] == 2 && site->sums.allocs[1] == 1 &&
	       site->sums.alloc_bytes[0] == 42 && site->sums.frees[0] == 1 &&
	       site->sums.free_bytes[0] == 32, "a free is its allocation's");
	tap_ok(site->peak_bytes == 65 && site->peak_count == 2,
	       "one part of the peak");
	tap_is(heap_profile_site(&profile, b)->peak_bytes, 5000, "the other");
	tap_ok(profile.alloc_bins[31] == 1 && profile.alloc_bins[1023] == 1 &&
	       profile.large_alloc_bytes == 5000, "bins");
	end();
	begin();
	trace.sample = 1000;
	EVENT(.kind = HEAP_ALLOC, .address = 0x1000, .size = 10);
	heap_site_weighted(&profile, heap_profile_site(&profile, 0), &weighted);
	tap_ok(fabs(weighted.allocs - 1 / (1 - exp(-0.01))) < 1e-9 &&
	       fabs(weighted.alloc_bytes - 10 * weighted.allocs) < 1e-9,
	       "a sampled block represents others");
	end();
}

/* ---- the order of addresses ---- */

#define MANY	5000

/* Added in the order of `step`, every third one taken out again. */
static int addresses_wrong(uint32_t first, uint32_t step)
{
	struct heap_addresses addresses = { 0 };
	int wrong = 0;

	for (uint32_t i = 0, at = first; i < MANY; i++, at += step)
		heap_addresses_add(&addresses, 10 * (uint64_t)(at % MANY),
				   at % MANY + 1);
	for (uint32_t i = 2; i < MANY; i += 3)
		heap_addresses_remove(&addresses, 10 * (uint64_t)i);
	for (uint32_t i = 0; i < 10 * MANY; i++) {
		uint32_t at = i / 10;

		at -= at % 3 == 2;
		wrong += heap_addresses_upto(&addresses, i) != at + 1;
	}
	heap_addresses_free(&addresses);
	return wrong;
}

static void test_addresses(void)
{
	struct heap_addresses addresses = { 0 };

	tap_is(addresses_wrong(0, 1), 0, "addresses that ascend");
	tap_is(addresses_wrong(MANY - 1, MANY - 1), 0, "descend");
	tap_is(addresses_wrong(1234, 1999), 0, "or neither");
	heap_addresses_add(&addresses, 0, 1);
	heap_addresses_remove(&addresses, 0);
	tap_is(heap_addresses_upto(&addresses, 99), 0, "none is left");
	heap_addresses_free(&addresses);
}

/* ---- many events, beside an array ---- */

#define PLACES	4096

static struct { bool live, was; uint64_t size; } places[PLACES];

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1103515245 + 12345;
	return (random_state >> 8) % limit;
}

static bool come_matches(uint32_t at, uint64_t size)
{
	unsigned int expected = places[at].live ? HEAP_WRONG_TWICE : 0;
	uint32_t next = at + 1;

	if (at && places[at - 1].live && places[at - 1].size > 16)
		expected |= HEAP_WRONG_OVERLAP;
	if (size > 16 && next < PLACES && places[next].live)
		expected |= HEAP_WRONG_OVERLAP;
	come(0x10000 + 16 * at, size);
	places[at].live = places[at].was = true;
	places[at].size = size;
	return step.wrong == expected;
}

static bool go_matches(uint32_t at)
{
	unsigned int expected = 0;

	if (!places[at].live) {
		expected = places[at].was ? HEAP_WRONG_DOUBLE :
					    HEAP_WRONG_UNKNOWN;
		if (at && places[at - 1].live && places[at - 1].size > 16)
			expected = HEAP_WRONG_INSIDE;
	}
	go(0x10000 + 16 * at);
	places[at].live = false;
	return step.wrong == expected && !step.gone == !!expected;
}

static void test_many(void)
{
	uint64_t live = 0, count = 0;
	int bad = 0;

	begin();
	for (int i = 0; i < 200000; i++) {
		uint32_t at = random_below(PLACES);

		if (random_below(2))
			bad += !come_matches(at, 1 + random_below(32));
		else
			bad += !go_matches(at);
	}
	tap_is(bad, 0, "200000 random events mean what they do in an array");
	for (int i = 0; i < PLACES; i++) {
		count += places[i].live;
		live += places[i].live ? places[i].size : 0;
	}
	tap_is(model.live.count, count, "so many blocks live");
	tap_is(model.live.bytes, live, "so many bytes");
	end();
}

int main(void)
{
	test_life();
	test_wrong();
	test_cache();
	test_threads();
	test_late();
	test_excuses();
	test_loss();
	test_processes();
	test_old();
	test_profile();
	test_addresses();
	test_many();
	return tap_done();
}
