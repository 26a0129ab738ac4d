#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What heapmon(1), CAVEATS, says of return probes: programs that change stacks
# between calls, jump, throw and end threads do what they did before, and what
# they allocate is recorded; while a call is under way the stack ends at the
# kernel's address.
. "$(dirname "$0")/../tap.sh"
need_root
need cc c++
cd "$TMP" || exit 1

cat >returns.cc <<'END'
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static ucontext_t outside, inside[3];
static char stacks[3][65536];
static void *volatile block;
static volatile int total, samples, whole;

static void routine(int own)
{
	for (int i = 0;; i++) {
		void *volatile mine = malloc(100 + i);

		swapcontext(&inside[own], &outside);
		free(mine);
		total++;
	}
}

/* 3 + 4000 blocks, 3 of which stay */
static void coroutines()
{
	for (int i = 0; i < 3; i++) {
		getcontext(&inside[i]);
		inside[i].uc_stack.ss_sp = stacks[i];
		inside[i].uc_stack.ss_size = sizeof(stacks[i]);
		makecontext(&inside[i], (void (*)())routine, 1, i);
	}
	for (int i = 0; i < 2001; i++) {
		block = malloc(3000);
		swapcontext(&outside, &inside[i % 3]);
		free(block);
	}
	printf("%d turns\n", total);
}

static void jumps()
{
	static jmp_buf back;

	for (volatile int i = 0; i < 500; i++)
		if (!setjmp(back)) {
			block = malloc(20);
			longjmp(back, 1);
		} else {
			free(block);
		}
	puts("jumped");
}

static void no_memory()
{
	throw 7;
}

static void throws()
{
	volatile size_t much = (size_t)1 << (sizeof(much) * 8 - 2);
	int caught = 0;

	std::set_new_handler(no_memory);
	for (int i = 0; i < 200; i++)
		try {
			block = operator new(much);
		} catch (int) {
			caught++;
		}
	printf("caught %d\n", caught);
}

static void clean(void *)
{
	puts("cleaned");
}

static void *thread(void *)
{
	pthread_cleanup_push(clean, NULL);
	for (;;) {
		block = malloc(30);
		free(block);
		pthread_testcancel();
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancels()
{
	void *result;
	pthread_t id;

	for (int i = 0; i < 4; i++) {
		pthread_create(&id, NULL, thread, NULL);
		usleep(10000);
		pthread_cancel(id);
		pthread_join(id, &result);
		printf("cancelled %d\n", result == PTHREAD_CANCELED);
	}
}

static void *first_frame;

static void walk(int)
{
	void *frames[64];
	int count = backtrace(frames, 64);

	samples++;
	whole += count > 3 && frames[count - 1] == first_frame;
}

/* The last frame is that of _start() in each of them. */
static void walks()
{
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = {};
	void *frames[64];

	first_frame = frames[backtrace(frames, 64) - 1];
	signal(SIGALRM, walk);
	setitimer(ITIMER_REAL, &often, NULL);
	while (samples < 300) {
		block = malloc(100000);
		free(block);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("walked %s\n", whole == samples ? "whole" : "cut");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	switch (argv[1][0]) {
	case 'c':	coroutines(); break;
	case 'j':	jumps(); break;
	case 't':	throws(); break;
	case 'e':	cancels(); break;
	case 'w':	walks(); break;
	}
}
END
c++ -w -O1 -pthread -o returns returns.cc 2>build.log ||
	skip_all "cannot build"

# figures: "ALLOCATIONS RELEASES" of the last recording
figures() {
	sed -n 's/.*: \([0-9]*\) allocations*, .*, \([0-9]*\) releases*$/\1 \2/p' log
}

# same WHAT LETTER
same() {
	./returns "$2" >before 2>&1
	was=$?
	"$BIN/heapmon" record -o file.ras -- ./returns "$2" >after 2>log
	is "$(cat after)" "$(cat before)" "$1: does the same" ||
		diag_file log
	is "$was" 0 "$1: ends well"
	like "$(cat log)" "exited with status 0" "$1: recorded, too"
}

same nothing n
base=$(figures)
# more ALLOCATIONS RELEASES: than those of a program that does nothing
more() {
	is "$(echo "$(figures) $base" | awk '{ print $1 - $3, $2 - $4 }')" \
		"$1 $2" "$what: all blocks"
}
what=coroutines
same $what c
more 4002 3999
what=longjmp
same $what j
more 500 500
same "an exception" t
same "a cancelled thread" e
"$BIN/heapmon" record -o file.ras -- ./returns w >after 2>log
is "$(cat after)" "walked cut" "a handler's walk ends at the kernel's address"
tap_done
