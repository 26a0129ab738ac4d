// SPDX-License-Identifier: GPL-2.0
#include "keep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/buffer/pin.h"
#include "keep_request.h"
#include "keep_watch.h"
#include "lib/arm/pinned/keeper_process.h"

#define READY_MS	3000

static bool session_needs(const struct session *session)
{
	char path[PATH_MAX + 8];
	struct watch watch;
	bool needs;

	snprintf(path, sizeof(path), "%s/limits", session->dir);
	if (access(path, F_OK) || watch_open(&watch, session))
		return false;
	needs = watch_has_maxhits(&watch, session);
	watch_close(&watch);
	return needs;
}

static bool sessions_need(const char *run)
{
	struct session_list list;
	struct buffer buffer;
	bool needs = false;

	if (buffer_open(&buffer, run, false, NULL))
		return false;
	if (!session_list_read(&list, &buffer, run, NULL)) {
		for (size_t i = 0; i < list.count && !needs; i++)
			needs = list.items[i].armed &&
				(list.items[i].entry->inode ||
				 buffer.control->max_cpu ||
				 session_needs(&list.items[i]));
		session_list_free(&list);
	}
	buffer_close(&buffer);
	return needs;
}

bool keep_is_needed(const char *run)
{
	struct keep_request *requests;
	size_t count;

	if (!keep_requests_read(run, &requests, &count))
		keep_requests_free(requests, count);
	return count || sessions_need(run);
}

/* As a process of its own, without a terminal. It closes `ready`, as its standard
 * output, when it follows the files. */
static void keeper_exec(const char *run, int ready)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int null = open("/dev/null", O_RDWR);

	program[n > 0 ? n : 0] = '\0';
	if (null < 0 || setsid() < 0 || chdir("/"))
		_exit(127);
	for (int fd = 0; fd < 3; fd++)
		dup2(fd == STDOUT_FILENO ? ready : null, fd);
	close_range(3, ~0U, 0);
	setenv(PIN_RUN_VARIABLE, run, 1);
	execl(program, "trace", "keep", (char *)NULL);
	execl("/proc/self/exe", "trace", "keep", (char *)NULL);
	_exit(127);
}

int keep_start(const struct run_dir *run, struct error *err)
{
	struct pollfd ready = { .events = POLLIN };
	char path[PATH_MAX];
	int ends[2];
	pid_t child;

	if (keeper_process_signal(run->path, SIGHUP))
		return 0;
	if (!keep_is_needed(run->path))
		return 0;
	if (!realpath(run->path, path))
		return error_set(err, -errno, "cannot find '%s': %s",
				 run->path, strerror(errno));
	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, -errno, "cannot start the keeper: %s",
				 strerror(errno));
	child = fork();
	if (!child)
		keeper_exec(path, ends[1]);
	if (child < 0)
		error_set(err, -errno, "cannot start the keeper: %s",
			  strerror(errno));
	close(ends[1]);
	ready.fd = ends[0];
	if (child > 0)
		poll(&ready, 1, READY_MS);
	close(ends[0]);
	return child > 0 ? 0 : -EAGAIN;
}

void keep_max_cpu_set(const struct buffer *buffer, unsigned int percent)
{
	buffer->control->max_cpu = percent * 100;
}

int keep_state_read(struct keep_state *state, const char *run,
		    struct error *err)
{
	*state = (struct keep_state){ .pid = keeper_process_id(run) };
	if (keep_requests_read(run, &state->requests, &state->count))
		return error_no_memory(err);
	state->needed = state->count || sessions_need(run);
	return 0;
}

void keep_state_free(struct keep_state *state)
{
	keep_requests_free(state->requests, state->count);
	*state = (struct keep_state){ 0 };
}
