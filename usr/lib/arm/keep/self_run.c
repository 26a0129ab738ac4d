// SPDX-License-Identifier: GPL-2.0
#include "self_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

static void self_execute(char *const *argv, const char *directory,
			 bool detached, int output)
{
	int null = detached ? open("/dev/null", O_RDWR) : -1;
	sigset_t none;

	if ((detached && null < 0) || chdir(directory))
		_exit(127);
	if (detached) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	dup2(output, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

int self_run(char *const *argv, const char *directory, bool detached,
	     FILE **output)
{
	int status = 0, fd = memfd_create("output", MFD_CLOEXEC);
	pid_t child;

	*output = fd < 0 ? NULL : fdopen(fd, "w+");
	if (!*output)
		return -1;
	child = fork();
	if (!child)
		self_execute(argv, directory, detached, fd);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	rewind(*output);
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
