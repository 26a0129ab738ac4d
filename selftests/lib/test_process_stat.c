// SPDX-License-Identifier: GPL-2.0
/* /proc/PID/stat is parsed, whatever the name of the process. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "tap.h"
#include "lib/maps_line.h"

/* the fields between the state and the start */
#define BETWEEN	" 1 7 7 0 -1 4194560 90 0 0 0 5 6 0 0 20 0 1 0 "
/* those between the start and the stack */
#define THEN	" 8192 12 184 4194304 4198400 "

static const struct {
	const char *what, *text;
	char state;		/* 0: it is none */
	uint64_t start, stack;
} rows[] = {
	{ "a program", "7 (app) S" BETWEEN "4711" THEN "140727 0\n", 'S', 4711,
	  140727 },
	{ "blanks in its name", "7 (a b  c) R" BETWEEN "1" THEN "9 0\n", 'R', 1, 9 },
	{ "a stat in its name", "7 (x) Z 1 2 3) S" BETWEEN "2" THEN "9 0\n", 'S', 2, 9 },
	{ "parentheses", "7 (((a)))))) T" BETWEEN "3" THEN "9 0\n", 'T', 3, 9 },
	{ "a newline", "7 (a\n7 (b) X 1) D" BETWEEN "4" THEN "9 0\n", 'D', 4, 9 },
	{ "no name", "7 () I" BETWEEN "5" THEN "9 0\n", 'I', 5, 9 },
	{ "the stack as the last", "7 (app) S" BETWEEN "6" THEN "0", 'S', 6 },
	{ "the greatest numbers", "7 (app) S" BETWEEN "18446744073709551615"
	  THEN "18446744073709551615\n", 'S', UINT64_MAX, UINT64_MAX },
	{ "cut before the stack", "7 (app) S" BETWEEN "6" THEN },
	{ "cut before the start", "7 (app) S" BETWEEN },
	{ "cut after the state", "7 (app) S" },
	{ "cut before the state", "7 (app) " },
	{ "cut in the name", "7 (ap" },
	{ "a start that is no number", "7 (app) S" BETWEEN "x\n" },
	{ "nothing", "" },
};

static void parse_check(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct process_stat stat = { 0 };
		bool good = process_stat_parse(rows[i].text, &stat);

		tap_ok(good == !!rows[i].state &&
		       (!good || (stat.state == rows[i].state &&
				  stat.start == rows[i].start &&
				  stat.stack == rows[i].stack)),
		       "%s: %d, '%c', %llu, %llu", rows[i].what, good,
		       good ? stat.state : '-', (unsigned long long)stat.start,
		       (unsigned long long)stat.stack);
	}
}

static pid_t child_start(const char *name)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (pipe(ready) || (pid = fork()) < 0)
		tap_bail("there is no child");
	if (!pid) {
		close(ready[0]);
		prctl(PR_SET_NAME, name);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1))
		tap_bail("the child says something");
	close(ready[0]);
	return pid;
}

int main(void)
{
	struct process_stat stat = { 0 }, ours = { 0 };
	siginfo_t info;
	pid_t pid;

	parse_check();
	pid = child_start("a) Z 1\n2) X 3");
	tap_ok(!process_stat_read(getpid(), &ours) && ours.state == 'R' &&
	       !process_stat_read(pid, &stat) && strchr("SR", stat.state) &&
	       stat.start >= ours.start && stat.start < ours.start + 6000,
	       "a child started when the test did, or a little later");
	tap_ok(!process_thread_ended(pid, pid), "it runs");
	kill(pid, SIGKILL);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
	tap_ok(process_thread_ended(pid, pid), "it has ended, as a zombie");
	tap_ok(!process_stat_read(pid, &stat) && stat.state == 'Z',
	       "which its stat says");
	waitpid(pid, NULL, 0);
	tap_ok(process_thread_ended(pid, pid), "it is gone");
	tap_ok(process_stat_read(pid, &stat) == -ENOENT,
	       "and there is no such process");
	return tap_done();
}
