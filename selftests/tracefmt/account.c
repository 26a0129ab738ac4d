// SPDX-License-Identifier: GPL-2.0
/*
 * account THREADS CALLS: calls to be traced, by so many threads, which keep an
 * account of each: a call gets a number, which is its argument and its result.
 * The functions call each other and themselves, and longjmp() out of several at
 * once to any that is open. Prints, of each call that returned, its number and
 * CLOCK_BOOTTIME in ns before and after it.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define KEEP	__attribute__((noinline, noclone, used))
#define DEPTH	8

struct account {
	uint64_t number, before, after;
};

struct account_thread {
	pthread_t thread;
	uint64_t index, state;
	struct account *calls;
	long count, most;
	jmp_buf back[DEPTH + 1];
	int depth;
};

static __thread struct account_thread *self;

uint64_t KEEP step_a(uint64_t number);
uint64_t KEEP step_b(uint64_t number);
uint64_t KEEP step_c(uint64_t number);

static uint64_t boot_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static unsigned int random_below(unsigned int n)
{
	self->state = self->state * 6364136223846793005ull + 1442695040888963407ull;
	return (self->state >> 33) % n;
}

static void call_one(uint64_t (*function)(uint64_t))
{
	struct account *call;
	uint64_t result;

	if (self->count == self->most)
		return;
	call = &self->calls[self->count++];
	call->number = self->index << 32 | (call - self->calls);
	call->before = boot_now();
	result = function(call->number);
	call->after = boot_now();
	if (result != call->number)
		abort();
}

/* At any depth. */
static void call_any(void)
{
	static uint64_t (*const functions[])(uint64_t) = {
		step_a, step_b, step_c,
	};

	call_one(functions[random_below(3)]);
}

static void calls_make(void)
{
	volatile int depth = self->depth;

	if (depth == DEPTH)
		return;
	if (setjmp(self->back[depth])) {
		self->depth = depth;
		return;
	}
	for (int i = random_below(4); i; i--) {
		self->depth = depth + 1;
		call_any();
		self->depth = depth;
	}
	if (depth > 1 && !random_below(6))
		longjmp(self->back[random_below(depth)], 1);
}

uint64_t KEEP step_a(uint64_t number)
{
	calls_make();
	return number;
}

uint64_t KEEP step_b(uint64_t number)
{
	calls_make();
	return number + (self->depth > 1000);
}

uint64_t KEEP step_c(uint64_t number)
{
	calls_make();
	return number + (self->depth > 1001);
}

/* What the others are in always returns. */
uint64_t KEEP root(uint64_t number)
{
	self->depth = 0;
	if (!setjmp(self->back[0])) {
		self->depth = 1;
		call_any();
	}
	return number;
}

static void *thread_run(void *context)
{
	self = context;
	while (self->count < self->most)
		call_one(root);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[1]) : 1;
	struct account_thread *threads = calloc(count, sizeof(*threads));

	for (int i = 0; i < count; i++) {
		struct account_thread *t = &threads[i];

		t->index = t->state = i + 1;
		t->most = atol(argv[2]);
		t->calls = calloc(t->most, sizeof(*t->calls));
		if (!t->calls || pthread_create(&t->thread, NULL, thread_run, t))
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i].thread, NULL);
	for (int i = 0; i < count; i++)
		for (long k = 0; k < threads[i].most; k++)
			if (threads[i].calls[k].after)
				printf("%llu %llu %llu\n",
				       (unsigned long long)
					       threads[i].calls[k].number,
				       (unsigned long long)
					       threads[i].calls[k].before,
				       (unsigned long long)
					       threads[i].calls[k].after);
	return 0;
}
