// SPDX-License-Identifier: GPL-2.0
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

static volatile pid_t traced;

static void signal_pass(int number)
{
	kill(traced, number);
}

/* While the program runs. The first two come to it from the terminal, the last
 * is for writing to one that has been killed before it ran. */
static const struct {
	int number;
	void (*handler)(int);
} signals[] = {
	{ SIGINT, SIG_IGN }, { SIGQUIT, SIG_IGN },
	{ SIGTERM, signal_pass }, { SIGHUP, signal_pass },
	{ SIGPIPE, SIG_IGN },
};

#define SIGNALS	(sizeof(signals) / sizeof(signals[0]))

typedef void (*signal_handlers[SIGNALS])(int);

static int child_refused(struct error *err, const char *what)
{
	return error_set(err, -errno, "cannot %s: %s", what, strerror(errno));
}

int child_make(struct child *child, char **argv, struct error *err)
{
	int go[2], why[2], code = 0;
	int cause;
	char byte;

	*child = (struct child){ .argv = argv, .go = -1, .why = -1 };
	if (pipe2(go, O_CLOEXEC))
		return child_refused(err, "make a pipe");
	if (pipe2(why, O_CLOEXEC)) {
		code = child_refused(err, "make a pipe");
		close(go[0]);
		close(go[1]);
		return code;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);

		/* In the new process; without a byte to read, its parent is
		 * gone. */
		if (read(go[0], &byte, 1) != 1)
			_exit(0);
		execvp(argv[0], argv);
		cause = errno;
		_exit(write(why[1], &cause, sizeof(cause)) < 0);
	}
	if (child->pid < 0)
		code = child_refused(err, "fork");
	close(go[0]);
	close(why[1]);
	child->go = go[1];
	child->why = why[0];
	if (code)
		child_drop(child);
	return code;
}

int child_run(struct child *child, struct error *err)
{
	signal_handlers before;
	int status = 0, cause = 0;

	traced = child->pid;
	for (size_t i = 0; i < SIGNALS; i++) {
		before[i] = signal(signals[i].number, signals[i].handler);
		if (before[i] == SIG_IGN)
			signal(signals[i].number, SIG_IGN);
	}
	if (write(child->go, "", 1) != 1)
		cause = errno;
	else if (read(child->why, &cause, sizeof(cause)) != sizeof(cause))
		cause = 0;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i].number, before[i]);
	child->pid = -1;
	return cause ? error_set(err, -cause, "cannot run '%s': %s",
				 child->argv[0], strerror(cause)) : status;
}

void child_drop(struct child *child)
{
	if (child->go >= 0)
		close(child->go);
	if (child->why >= 0)
		close(child->why);
	child->go = child->why = -1;
	if (child->pid > 0)
		waitpid(child->pid, NULL, 0);
	child->pid = -1;
}
