// SPDX-License-Identifier: GPL-2.0
/* A program that is sent a signal while its loader is followed, which is its own. */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "tap.h"
#include "lib/launch.h"

long __real_ptrace(int request, pid_t pid, void *address, void *data);
long __wrap_ptrace(int request, pid_t pid, void *address, void *data);

static const struct {
	const char *what;
	int request, number;	/* the signal is sent before the request */
} rows[] = {
	{ "SIGTERM before a step", PTRACE_SINGLESTEP, SIGTERM },
	{ "SIGTERM as it goes on", PTRACE_CONT, SIGTERM },
	{ "SIGTERM before it is let run", PTRACE_DETACH, SIGTERM },
	{ "SIGKILL before a step", PTRACE_SINGLESTEP, SIGKILL },
	{ "SIGKILL as it goes on", PTRACE_CONT, SIGKILL },
	{ "SIGKILL before it is let run", PTRACE_DETACH, SIGKILL },
};

static int sent_before, sent;

long __wrap_ptrace(int request, pid_t pid, void *address, void *data)
{
	if (request == sent_before && sent) {
		siginfo_t ended;

		kill(pid, sent);
		/* it has ended for sure */
		if (sent == SIGKILL)
			waitid(P_PID, pid, &ended, WEXITED | WNOWAIT);
		sent = 0;
	}
	return __real_ptrace(request, pid, address, data);
}

/* Its status at the end; -1: it could not be run. */
static int program_run(void)
{
	char *argv[] = { "true", NULL };
	struct launch launch;
	struct error err = { 0 };
	int code = launch_make(&launch, argv, &err);

	if (!code)
		code = launch_seize(&launch, &err);
	if (!code)
		code = launch_execute(&launch, &err);
	if (!code)
		code = launch_continue(&launch, &err);
	if (code && code != -ECHILD)
		tap_diag("%s", err.text);
	return code && code != -ECHILD ? -1 : launch_wait(&launch);
}

int main(void)
{
	tap_is(program_run(), 0, "no signal");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int status;

		sent_before = rows[i].request;
		sent = rows[i].number;
		status = program_run();
		tap_ok(!sent && status >= 0 && WIFSIGNALED(status) &&
		       WTERMSIG(status) == rows[i].number,
		       "%s: it is ended by it (status %#x)", rows[i].what,
		       (unsigned int)status);
	}
	return tap_done();
}
