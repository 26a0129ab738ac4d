// SPDX-License-Identifier: GPL-2.0
#include "sibling.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#define NOT_THERE	127	/* exit status, as of shells */
#define NAME_MOST	16

static void sibling_exec(char *const *argv)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path,
			     sizeof(path) - NAME_MOST - 1);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		snprintf(slash + 1, NAME_MOST, "%s", argv[0]);
		execv(path, argv);
	}
	execvp(argv[0], argv);
	_exit(NOT_THERE);
}

pid_t sibling_start(char *const *argv, int output, int messages,
		    struct error *err)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (output >= 0)
			dup2(output, STDOUT_FILENO);
		if (messages >= 0)
			dup2(messages, STDERR_FILENO);
		sibling_exec(argv);
	}
	return pid < 0 ? error_set(err, -errno, "cannot fork: %s",
				   strerror(errno)) : pid;
}

int sibling_wait(pid_t pid, const char *name, struct error *err)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status))
		return error_set(err, -EIO, "%s was ended by signal %d", name,
				 WTERMSIG(status));
	if (WEXITSTATUS(status) == NOT_THERE)
		return error_set(err, -ENOENT,
				 "there is no %s beside trace, nor in PATH",
				 name);
	return WEXITSTATUS(status);
}
