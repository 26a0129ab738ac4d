// SPDX-License-Identifier: GPL-2.0
#include <signal.h>
#include <sys/wait.h>
#include "commands.h"
#include "printer.h"
#include "sibling.h"

static const struct option_def options[] = {
	PRINTER_OPTIONS,
	{ NULL }
};

/* ^C and others are for tracefmt, which prints what it has, and the figures. */
static int run_follow(int argc, char **argv)
{
	const struct printer_input input = { .follow = true };
	siginfo_t ended = { 0 };
	struct error err = { 0 };
	sigset_t signals;
	int status, number;
	pid_t pid;

	if (command_parse(&command_follow, argc, argv, 0, 0, NULL,
			  &status) < 0)
		return status;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	pid = printer_start(&input, &err);
	if (pid < 0)
		return command_end(pid, &err);
	/* SIGCHLD is also sent when it is stopped, and when it goes on */
	while (!ended.si_pid && !sigwait(&signals, &number)) {
		if (number != SIGCHLD)
			kill(pid, SIGTERM);
		else if (waitid(P_PID, pid, &ended,
				WEXITED | WNOHANG | WNOWAIT))
			break;
	}
	status = sibling_wait(pid, "tracefmt", &err);
	return status < 0 ? command_end(status, &err) : status;
}

const struct command command_follow = {
	.def = {
		.program = "trace", .name = "follow", .operands = "",
		.help = "print the records as they arrive",
		.options = options,
	},
	.run = run_follow,
};
