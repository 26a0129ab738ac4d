// SPDX-License-Identifier: GPL-2.0
#include "stopping.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

#define NUMBERS	(sizeof(numbers) / sizeof(numbers[0]))

static volatile sig_atomic_t stops;	/* signals that have come */
static volatile sig_atomic_t last;
static volatile pid_t program;		/* gets the first one, too */

static void stopping_stop_note(int number)
{
	int before = errno;

	stops++;
	last = number;
	if (program > 0 && number != SIGINT && stops == 1)
		kill(program, number);
	errno = before;
}

void stopping_hold(bool hold)
{
	static sigset_t before;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NUMBERS; i++)
		sigaddset(&set, numbers[i]);
	if (hold)
		sigprocmask(SIG_BLOCK, &set, &before);
	else
		sigprocmask(SIG_SETMASK, &before, NULL);
}

void stopping_take(void)
{
	struct sigaction action = { .sa_handler = stopping_stop_note }, old;

	for (size_t i = 0; i < NUMBERS; i++)
		if (!sigaction(numbers[i], &action, &old) &&
		    old.sa_handler == SIG_IGN && numbers[i] == SIGHUP)
			signal(SIGHUP, SIG_IGN);
}

void stopping_program(pid_t pid)
{
	program = pid;
}

/* One that has ended may not have been waited for yet. */
static bool program_runs(void)
{
	siginfo_t info = { 0 };

	return program > 0 &&
	       !waitid(P_PID, program, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       !info.si_pid;
}

bool stopping_asked(void)
{
	return stops > (program_runs() ? 1 : 0);
}

int stopping_number(void)
{
	return last;
}

int stopping_check(struct error *err)
{
	if (!stopping_asked())
		return 0;
	return error_set(err, -ECANCELED,
			 "ended by signal %d (%s) before the recording began",
			 last, strsignal(last));
}
