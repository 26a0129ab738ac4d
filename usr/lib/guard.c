// SPDX-License-Identifier: GPL-2.0
#include "guard.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared with the child, which has it in `guarded`. */
struct guard_note {
	char path[PATH_MAX];
};

static struct guard_note *guarded;

void guard_file(const char *path)
{
	if (guarded)
		snprintf(guarded->path, sizeof(guarded->path), "%s", path);
}

/* The limit counts the CPU time of the process from its start. One that was
 * set from outside, as ulimit -t does, is kept. */
void guard_step(void)
{
	struct rlimit limit;
	struct rusage used;

	if (!guarded || getrusage(RUSAGE_SELF, &used) ||
	    getrlimit(RLIMIT_CPU, &limit))
		return;
	if (limit.rlim_max != RLIM_INFINITY)
		return;
	limit.rlim_cur = used.ru_utime.tv_sec + used.ru_stime.tv_sec +
			 GUARD_SECONDS;
	setrlimit(RLIMIT_CPU, &limit);
}

static void guard_child_run(int (*work)(void *context), void *context,
			    struct guard_note *note, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	guarded = note;
	guard_step();
	exit(work(context));
}

/* SIGKILL: the kernel sends it to the child when memory runs out. */
static bool is_crash(int signal)
{
	static const int crashes[] = {
		SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTRAP, SIGSYS,
		SIGXCPU, SIGKILL,
	};

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		if (crashes[i] == signal)
			return true;
	return false;
}

static int child_result(int status, const struct guard_note *note, char **path,
			struct error *err)
{
	int number = WTERMSIG(status);

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!is_crash(number)) {
		signal(number, SIG_DFL);
		raise(number);
	}
	if (path)
		*path = strdup(note->path);
	if (number == SIGXCPU)
		return error_set(err, -EBADMSG,
				 "reading it takes too much CPU time");
	return error_set(err, -EBADMSG, "reading it ended with signal %d (%s)",
			 number, strsignal(number));
}

int guard_run(int (*work)(void *context), void *context, char **path,
	      struct error *err)
{
	struct guard_note *note = mmap(NULL, sizeof(*note),
				       PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t parent = getpid(), pid = -1;
	int status;

	if (note != MAP_FAILED) {
		/* where it is ignored, which a program inherits, the kernel
		 * keeps no status for waitpid() */
		signal(SIGCHLD, SIG_DFL);
		fflush(NULL);
		pid = fork();
	}
	if (!pid)
		guard_child_run(work, context, note, parent);
	if (pid < 0) {
		status = work(context);
	} else {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		status = child_result(status, note, path, err);
	}
	if (note != MAP_FAILED)
		munmap(note, sizeof(*note));
	return status;
}
