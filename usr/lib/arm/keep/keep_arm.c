// SPDX-License-Identifier: GPL-2.0
#include "keep_arm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/arm/pinned/run_open.h"
#include "keep_request.h"

#define WHY_MAX		1024

static void on_exec(const struct keep_request *request, int err)
{
	int null = open("/dev/null", O_RDWR);
	size_t count = 0;
	char **argv;
	sigset_t none;

	while (request->argv[count])
		count++;
	argv = calloc(count + 3, sizeof(*argv));
	if (!argv || null < 0 || chdir(request->cwd))
		_exit(127);
	argv[0] = "trace";
	argv[1] = "on";
	memcpy(argv + 2, request->argv, count * sizeof(*argv));
	dup2(null, 0);
	dup2(null, 1);
	dup2(err, 2);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", argv);
	_exit(127);
}

/* The first line of what it says, without its own name. */
static void why_read(int fd, char why[WHY_MAX])
{
	static const char name[] = "trace: ";
	char rest[512];
	size_t length = 0;
	ssize_t n;

	while (length + 1 < WHY_MAX &&
	       (n = read(fd, why + length, WHY_MAX - 1 - length)) > 0)
		length += n;
	while (read(fd, rest, sizeof(rest)) > 0)
		;
	why[length] = '\0';
	why[strcspn(why, "\n")] = '\0';
	if (!strncmp(why, name, strlen(name)))
		memmove(why, why + strlen(name), strlen(why + strlen(name)) + 1);
}

/* Its exit status; -1: it couldn't be run. */
static int on_run(const struct keep_request *request, char why[WHY_MAX])
{
	int ends[2], status;
	pid_t child;

	why[0] = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	child = fork();
	if (!child)
		on_exec(request, ends[1]);
	close(ends[1]);
	if (child > 0)
		why_read(ends[0], why);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The request may have been given up in the meantime: then it is no more. */
static void request_settle(const struct keep_request *request, bool armed,
			   const char *why)
{
	struct keep_request *requests;
	struct run_dir run;
	size_t count;

	if (run_dir_open(&run, false, NULL))
		return;
	if (!keep_requests_read(run.path, &requests, &count)) {
		for (size_t i = 0; i < count; i++) {
			if (requests[i].number != request->number ||
			    strcmp(requests[i].tdf, request->tdf))
				continue;
			if (armed)
				keep_request_drop(&run, request->number);
			else
				keep_request_refuse(&run, request->number,
						    why);
		}
		keep_requests_free(requests, count);
	}
	run_dir_close(&run);
}

static void request_try(const struct keep_request *request)
{
	bool there = keep_module_is_live(request->module);
	char why[WHY_MAX];
	int status;

	if (!there && request->refused)
		request_settle(request, false, NULL);
	if (!there || request->refused)
		return;
	status = on_run(request, why);
	/* gone again: it waits on */
	if (!status || keep_module_is_live(request->module))
		request_settle(request, !status, why);
}

bool keep_arm_requests(const char *path)
{
	struct keep_request *requests;
	size_t count;

	if (keep_requests_read(path, &requests, &count))
		return true;
	for (size_t i = 0; i < count; i++)
		request_try(&requests[i]);
	keep_requests_free(requests, count);
	return count > 0;
}
