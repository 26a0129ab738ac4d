// SPDX-License-Identifier: GPL-2.0
#include "launch.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "breakpoint.h"
#include "loader.h"
#include "stopping.h"

#define HITS_MOST	64	/* of the loader's breakpoint */

static int launch_refused(struct error *err, int cause, const char *what)
{
	error_set(err, -cause, "cannot %s: %s", what, strerror(cause));
	if (cause == EPERM)
		error_hint(err, "ptrace(2) is needed to stop the program at its start");
	return -cause;
}

/* Until it stops; false: it has ended */
static bool launch_stop_wait(struct launch *launch, int *number)
{
	int status;

	while (waitpid(launch->pid, &status, 0) < 0)
		if (errno != EINTR || stopping_asked())
			return false;
	if (WIFSTOPPED(status)) {
		*number = status >> 8;
		return true;
	}
	launch->ended = true;
	launch->status = status;
	return false;
}

/* Let it run until the stop that is waited for; other signals are its own. */
static bool run_until(struct launch *launch, int wanted)
{
	int number = 0, pass = 0;

	do {
		if (ptrace(PTRACE_CONT, launch->pid, 0, pass))
			return false;
		if (!launch_stop_wait(launch, &number))
			return false;
		pass = number;
	} while (number != wanted);
	return true;
}

/* ---- a breakpoint ---- */

static int text_exchange(pid_t pid, uint64_t address, uint64_t insn,
			 uint64_t *before)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, address, 0);
	if (errno)
		return -errno;
	*before = word & BREAKPOINT_MASK;
	word = (word & ~BREAKPOINT_MASK) | insn;
	return ptrace(PTRACE_POKETEXT, pid, address, word) ? -errno : 0;
}

/* Once: then it is at the breakpoint, which is removed again. */
static int breakpoint_run(struct launch *launch, uint64_t address)
{
	uint64_t insn, dummy;
	int code = text_exchange(launch->pid, address, BREAKPOINT, &insn);

	if (code)
		return code;
	if (!run_until(launch, SIGTRAP))
		return -ECHILD;
	code = text_exchange(launch->pid, address, insn, &dummy);
	return code ? code : breakpoint_leave(launch->pid, address);
}

static int launch_step(struct launch *launch)
{
	int number;

	if (ptrace(PTRACE_SINGLESTEP, launch->pid, 0, 0))
		return -errno;
	return launch_stop_wait(launch, &number) ? 0 : -ECHILD;
}

/* The loader notifies debuggers before and after it maps. */
static int libraries_wait(struct launch *launch)
{
	struct loader loader;
	int code = loader_read(&loader, launch->pid);

	for (int i = 0; !code && i < HITS_MOST; i++) {
		code = breakpoint_run(launch, loader.stop);
		if (code || loader_is_done(&loader, launch->pid))
			return code;
		code = launch_step(launch);
	}
	return code;
}

/* ---- from beginning to end ---- */

static int exec_wait(struct launch *launch, int why, struct error *err)
{
	int number, cause = 0;

	if (!launch_stop_wait(launch, &number) ||
	    ptrace(PTRACE_SETOPTIONS, launch->pid, 0,
		   PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) ||
	    !run_until(launch, SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
		if (stopping_check(err))
			return -ECANCELED;
		if (read(why, &cause, sizeof(cause)) == sizeof(cause))
			return error_set(err, -cause, "cannot run '%s': %s",
					 launch->name, strerror(cause));
		return error_set(err, -ECHILD,
				 "'%s' ended before it was executed",
				 launch->name);
	}
	return 0;
}

int launch_start(struct launch *launch, char **argv, struct error *err)
{
	int why[2], code;
	int cause;

	*launch = (struct launch){ .name = argv[0] };
	if (pipe2(why, O_CLOEXEC))
		return launch_refused(err, errno, "make a pipe");
	/* the program gets the signals as heapmon itself got them */
	stopping_hold(true);
	launch->pid = fork();
	if (!launch->pid) {
		/* In the new process */
		cause = 0;
		stopping_hold(false);
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			cause = errno;
		if (!cause) {
			raise(SIGSTOP);
			execvp(argv[0], argv);
			cause = errno;
		}
		_exit(write(why[1], &cause, sizeof(cause)) < 0);
	}
	stopping_take();
	stopping_hold(false);
	close(why[1]);
	if (launch->pid < 0) {
		code = launch_refused(err, errno, "fork");
		launch->pid = 0;
	} else {
		launch->stopped = true;
		code = exec_wait(launch, why[0], err);
	}
	close(why[0]);
	/* where the loader can't be followed it is armed from its first
	 * instruction on */
	if (!code && libraries_wait(launch) == -ECHILD)
		code = stopping_asked() ? stopping_check(err) :
		       error_set(err, -ECHILD,
				 "'%s' ended while its libraries were loaded",
				 launch->name);
	if (code)
		launch_drop(launch);
	return code;
}

int launch_continue(struct launch *launch, struct error *err)
{
	launch->stopped = false;
	if (launch->pid && ptrace(PTRACE_DETACH, launch->pid, 0, 0))
		return launch_refused(err, errno, "let the program run");
	return 0;
}

bool launch_poll(struct launch *launch)
{
	int status;

	if (!launch->pid || launch->ended)
		return true;
	if (waitpid(launch->pid, &status, WNOHANG) == launch->pid) {
		launch->ended = true;
		launch->status = status;
	}
	return launch->ended;
}

void launch_drop(struct launch *launch)
{
	if (!launch->pid || launch->ended || !launch->stopped)
		return;
	kill(launch->pid, SIGKILL);
	while (waitpid(launch->pid, &launch->status, 0) < 0 && errno == EINTR)
		;
	launch->ended = true;
}
