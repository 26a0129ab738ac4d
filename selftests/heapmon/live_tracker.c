// SPDX-License-Identifier: GPL-2.0
/*
 * What is reported of processes: each fork, exec, end, mapping of code and growth
 * once, in their order, the end with the last thread.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tap.h"
#include "heapmon/record/tracker.c"

#define ROOM	4096

static struct tracker *tracker;

struct happened {
	struct tracker_event event;
	char path[256];
};

static struct happened all[ROOM];
static size_t count;

static int take(void *context, const struct tracker_event *event)
{
	struct happened *h = &all[count];

	if (count == ROOM)
		return -1;
	h->event = *event;
	if (event->path)
		snprintf(h->path, sizeof(h->path), "%s", event->path);
	count++;
	return 0;
}

static bool happens(enum tracker_kind kind, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].event.kind == kind && all[i].event.pid == pid)
			return true;
	return false;
}

/* Read until it has happened, or for 5 seconds. */
static bool await(enum tracker_kind kind, uint32_t pid)
{
	struct pollfd poller = { tracker_fd(tracker), POLLIN, 0 };

	for (int i = 0; i < 500 && !happens(kind, pid); i++) {
		poll(&poller, 1, 10);
		if (tracker_read(tracker, take, NULL))
			tap_bail("cannot read");
	}
	return happens(kind, pid);
}

static unsigned int times(enum tracker_kind kind, uint32_t pid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < count; i++)
		n += all[i].event.kind == kind && all[i].event.pid == pid;
	return n;
}

static void begin(bool follow)
{
	struct error err;

	if (tracker)
		tracker_close(tracker);
	count = 0;
	if (tracker_open(&tracker, follow, -1, &err))
		tap_bail("%s", err.text);
}

/* A child that waits for a byte before it does what it's for. */
static pid_t child_start(int pipes[2], void (*work)(void))
{
	pid_t child;
	char byte;

	if (pipe(pipes))
		tap_bail("no pipe");
	child = fork();
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(pipes[0], &byte, 1) == 1)
		work();
	_exit(0);
}

static void child_go(pid_t child, int pipes[2])
{
	if (write(pipes[1], "", 1) != 1)
		tap_bail("no pipe");
	waitpid(child, NULL, 0);
	close(pipes[0]);
	close(pipes[1]);
}

static pid_t run(bool follow, void (*work)(void))
{
	int pipes[2];
	pid_t child = child_start(pipes, work);

	begin(follow);
	tap_ok(!tracker_add(tracker, child) && tracker_live(tracker) == 1,
	       "a process is added");
	child_go(child, pipes);
	return child;
}

static void work_exec(void)
{
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "live_tracker", "--end", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static const struct happened *first(enum tracker_kind kind, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].event.kind == kind && all[i].event.pid == pid)
			return &all[i];
	return NULL;
}

static bool libc_mapped(uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].event.kind == TRACKER_MAP &&
		    all[i].event.pid == pid && strstr(all[i].path, "/libc"))
			return true;
	return false;
}

static void test_follow(void)
{
	pid_t parent = run(true, work_exec), child = 0;
	uint64_t last = 0;
	bool ascending = true;

	tap_ok(await(TRACKER_EXIT, parent), "it ends");
	for (size_t i = 0; i < count; i++) {
		if (all[i].event.kind == TRACKER_FORK &&
		    all[i].event.parent == (uint32_t)parent)
			child = all[i].event.pid;
		ascending &= all[i].event.time >= last;
		last = all[i].event.time;
	}
	tap_ok(child, "its fork is reported");
	tap_is(times(TRACKER_EXEC, child), 1, "the child's exec, once");
	tap_is(times(TRACKER_SHARE, child), 0, "its memory is its own");
	tap_is(times(TRACKER_EXEC, parent), 0, "no exec of the parent");
	tap_is(times(TRACKER_EXIT, child), 1, "the child's end, once");
	tap_ok(libc_mapped(child), "what it maps");
	tap_ok(ascending, "in the order of time");
	tap_ok(child && first(TRACKER_FORK, child)->event.time <
	       first(TRACKER_EXEC, child)->event.time &&
	       first(TRACKER_EXEC, child)->event.time <
	       first(TRACKER_EXIT, child)->event.time &&
	       first(TRACKER_EXIT, child)->event.time <
	       first(TRACKER_EXIT, parent)->event.time, "fork, exec, exit");
	tap_is(tracker_live(tracker), 0, "none lives");
}

static void test_alone(void)
{
	pid_t parent = run(false, work_exec);

	tap_ok(await(TRACKER_EXIT, parent), "it ends");
	tap_is(times(TRACKER_FORK, parent), 0, "children are not reported");
	for (size_t i = 0; i < count; i++)
		if (all[i].event.pid != (uint32_t)parent)
			tap_ok(false, "only of the process itself");
}

#define BIG	(3 << 20)
#define SMALL	(1 << 14)	/* beside it: one mapping for the kernel */

static char *map_at(char *at, size_t bytes)
{
	return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);
}

/* By its child, which is no other memory until it executes something; and by a
 * child of that, which has a memory of its own */
static void work_share(void)
{
	pid_t child = vfork();

	if (!child) {
		char *big = map_at(NULL, BIG);

		if (!fork()) {
			map_at(big - SMALL, SMALL);
			_exit(0);
		}
		execl("/proc/self/exe", "live_tracker", "--end", NULL);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

static pid_t child_of(pid_t parent)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].event.kind == TRACKER_FORK &&
		    all[i].event.parent == (uint32_t)parent)
			return all[i].event.pid;
	return 0;
}

static uint64_t grown_of(pid_t pid)
{
	uint64_t grown = 0;

	for (size_t i = 0; i < count; i++)
		if (all[i].event.kind == TRACKER_GROW && !all[i].event.brk &&
		    all[i].event.pid == (uint32_t)pid)
			grown += all[i].event.size;
	return grown;
}

/* It executes something while its child works on in its memory. */
static int work_on(void *arg)
{
	usleep(100000);
	map_at(NULL, BIG);
	return 0;
}

static void work_leave(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	clone(work_on, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
	execl("/bin/sleep", "sleep", "0.3", NULL);
	_exit(1);
}

static void test_leave(void)
{
	pid_t parent = run(true, work_leave), child;

	tap_ok(await(TRACKER_EXIT, parent), "it ends, another program");
	child = child_of(parent);
	tap_is(times(TRACKER_SHARE, child), 1, "a child worked in its memory");
	tap_is(grown_of(child), BIG, "which that has when it is left alone");
}

static void test_share(void)
{
	pid_t parent = run(true, work_share), child, grandchild;
	const struct happened *share;

	tap_ok(await(TRACKER_EXIT, parent), "it ends");
	child = child_of(parent);
	grandchild = child_of(child);
	tap_ok(child, "its vfork is reported");
	tap_is(times(TRACKER_SHARE, child), 1, "whose memory it works in, once");
	share = first(TRACKER_SHARE, child);
	tap_ok(share && share->event.parent == (uint32_t)parent,
	       "it is its parent's");
	tap_ok(share && first(TRACKER_FORK, child)->event.time <=
	       share->event.time && share->event.time <
	       first(TRACKER_EXEC, child)->event.time, "fork, share, exec");
	tap_ok(grown_of(parent) >= BIG, "what it mapped there is its parent's");
	tap_ok(await(TRACKER_EXIT, grandchild), "its own child ends");
	tap_is(times(TRACKER_SHARE, grandchild), 0, "in a memory of its own");
	tap_is(grown_of(grandchild), SMALL, "which has what was mapped before");
	tap_ok(libc_mapped(child), "after exec it has its own");
}

static void *late(void *arg)
{
	usleep(100000);
	mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return NULL;
}

/* The first thread ends before the others. */
static void work_threads(void)
{
	pthread_t id;

	for (int i = 0; i < 3; i++)
		pthread_create(&id, NULL, late, NULL);
	pthread_exit(NULL);
}

static void test_threads(void)
{
	pid_t child = run(false, work_threads);

	tap_ok(await(TRACKER_EXIT, child), "it ends with its last thread");
	tap_is(times(TRACKER_EXIT, child), 1, "once");
	tap_ok(count && all[count - 1].event.kind == TRACKER_EXIT,
	       "and nothing is reported after it");
}

static char *mapped[3];

static void work_growth(void)
{
	sbrk(1 << 16);
	sbrk(1 << 14);
	for (int i = 0; i < 3; i++)
		mapped[i] = mmap(NULL, BIG, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(mapped[2], BIG);
	mmap(mapped[2], BIG, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	mmap(NULL, BIG, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* The kernel joins neighbours, and reports the whole. */
static void test_growth(void)
{
	pid_t child = run(false, work_growth);
	uint64_t brk = 0, other = 0;

	tap_ok(await(TRACKER_EXIT, child), "it ends");
	for (size_t i = 0; i < count; i++) {
		if (all[i].event.kind != TRACKER_GROW)
			continue;
		if (all[i].event.brk)
			brk += all[i].event.size;
		else
			other += all[i].event.size;
	}
	tap_is(brk, (1 << 16) + (1 << 14), "the heap grew by");
	tap_ok(other >= 3ull * BIG && other <= 4ull * BIG,
	       "mappings that may be written: %llu", (long long)other);
}

static uint64_t pieces[8];
static unsigned int piece_count;

static int piece_take(void *context, const struct tracker_event *event)
{
	if (piece_count < 4) {
		pieces[2 * piece_count] = event->address;
		pieces[2 * piece_count + 1] = event->address + event->size;
	}
	piece_count++;
	return 0;
}

static void expect_pieces(struct growth *growth, uint64_t start, uint64_t end,
			  const char *expected)
{
	struct tracker taker = { .take = piece_take };
	char text[128] = "";

	piece_count = 0;
	growth_take(growth, (struct growth_range){ start, end }, &taker,
		    (struct tracker_event){ TRACKER_GROW });
	for (unsigned int i = 0; i < piece_count && i < 4; i++)
		sprintf(text + strlen(text), "%llu-%llu ",
			(long long)pieces[2 * i], (long long)pieces[2 * i + 1]);
	tap_str(text, expected, "%llu-%llu is new: '%s'", (long long)start,
		(long long)end, expected);
}

static void test_pieces(void)
{
	struct growth growth = { 0 };

	expect_pieces(&growth, 10, 20, "10-20 ");
	expect_pieces(&growth, 5, 20, "5-10 ");
	expect_pieces(&growth, 30, 40, "30-40 ");
	expect_pieces(&growth, 30, 40, "30-40 ");
	expect_pieces(&growth, 1, 50, "1-5 20-30 40-50 ");
	expect_pieces(&growth, 2, 3, "");
	expect_pieces(&growth, 5, 20, "");
	expect_pieces(&growth, 45, 60, "50-60 ");
	growth_free(&growth);
}

static void test_gone(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	begin(true);
	usleep(50000);
	tap_is(tracker_add(tracker, child), -ESRCH, "a zombie has ended");
	waitpid(child, NULL, 0);
	tap_is(tracker_add(tracker, child), -ESRCH, "no process has that id");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return 0;
	if (geteuid())
		tap_skip_all("needs root");
	test_pieces();
	test_follow();
	test_share();
	test_leave();
	test_alone();
	test_threads();
	test_growth();
	test_gone();
	tracker_close(tracker);
	return tap_done();
}
