// SPDX-License-Identifier: GPL-2.0
/*
 * trace may be killed after any instruction: a point that has ended in the
 * session log always says when. sesslog_point_end() runs a step at a time.
 */
#include "tap.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "lib/arm/pinned/sessions.h"

#define STEPS_MAX	1000000

struct log {
	struct ras_session entry;
	struct ras_session_point point;
};

static void child(struct log *log)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	sesslog_point_end(&log->entry, 0, RAS_POINT_OFF);
	_exit(0);
}

int main(void)
{
	struct log *log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int steps = 0, untold = 0, armed = 0;
	int status;
	pid_t pid;

	if (log == MAP_FAILED)
		return 1;
	log->entry.points = 1;
	pid = fork();
	if (!pid)
		child(log);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	       steps++ < STEPS_MAX) {
		armed += log->point.state == RAS_POINT_ARMED;
		untold += log->point.state != RAS_POINT_ARMED &&
			  !log->point.ended;
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	}
	kill(pid, SIGKILL);
	tap_ok(WIFEXITED(status) && !WEXITSTATUS(status), "it ran to its end");
	tap_ok(armed && steps > armed, "armed at first, then not");
	tap_ok(log->point.state == RAS_POINT_OFF && log->point.ended, "it has ended");
	tap_ok(!untold, "at no step without the time (%u of %u)", untold, steps);
	return tap_done();
}
