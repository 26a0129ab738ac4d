// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "../lib/outfile.h"
#include "../lib/pin.h"
#include "../lib/session.h"
#include "../lib/snapshot.h"
#include "job.h"
#include "pins.h"
#include "retire.h"

struct run_settings {
	struct job_settings job;	/* first: its options take this struct */
	const char *output;
};

static int take_output(void *context, const char *value)
{
	((struct run_settings *)context)->output = value;
	return 0;
}

static const struct option_def options[] = {
	JOB_OPTIONS,
	{ "output", 'o', "FILE.ras", "write the records there instead of printing",
	  take_output },
	{ NULL }
};

static volatile pid_t traced;

static void signal_pass(int number)
{
	kill(traced, number);
}

/* While the program runs. The first two come to it from the terminal. */
static const struct {
	int number;
	void (*handler)(int);
} signals[] = {
	{ SIGINT, SIG_IGN }, { SIGQUIT, SIG_IGN },
	{ SIGTERM, signal_pass }, { SIGHUP, signal_pass },
};

#define SIGNALS	(sizeof(signals) / sizeof(signals[0]))

typedef void (*signal_handlers[SIGNALS])(int);

static void signals_take(signal_handlers before)
{
	for (size_t i = 0; i < SIGNALS; i++) {
		before[i] = signal(signals[i].number, signals[i].handler);
		if (before[i] == SIG_IGN)
			signal(signals[i].number, SIG_IGN);
	}
}

static void signals_return(const signal_handlers before)
{
	for (size_t i = 0; i < SIGNALS; i++)
		signal(signals[i].number, before[i]);
}

/* Fork and exec, with signals blocked until it is known whom they are passed
 * to. 0 or errno; why exec failed goes to the pipe. */
static int program_start(char **argv, int pipe, signal_handlers before)
{
	sigset_t all, mask;
	int cause = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	traced = fork();
	if (traced < 0)
		cause = errno;
	else if (traced)
		signals_take(before);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (traced)
		return cause;
	execvp(argv[0], argv);
	cause = errno;
	_exit(write(pipe, &cause, sizeof(cause)) < 0);
}

/* Returns wait status, or a negative errno with err set. */
static int program_run(char **argv, struct error *err)
{
	int status = 0, cause, ends[2];
	signal_handlers before;

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, -errno, "cannot make a pipe: %s",
				 strerror(errno));
	cause = program_start(argv, ends[1], before);
	close(ends[1]);
	if (!cause) {
		if (read(ends[0], &cause, sizeof(cause)) != sizeof(cause))
			cause = 0;
		while (waitpid(traced, &status, 0) < 0 && errno == EINTR)
			;
		signals_return(before);
	}
	close(ends[0]);
	return cause ? error_set(err, -cause, "cannot run '%s': %s", argv[0],
				 strerror(cause)) : status;
}

static void status_tell(const char *program, int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "trace: '%s' was ended by signal %d (%s)\n",
			program, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "trace: '%s' exited with status %d\n", program,
			WEXITSTATUS(status));
}

/* Disarm all that is armed in the private directory. */
static int private_off(const struct run_dir *private, struct error *err)
{
	struct session_list list;
	struct buffer buffer;
	int code = buffer_open(&buffer, private->path, true, err);

	if (code)
		return code;
	code = session_list_read(&list, &buffer, private->path, err);
	if (!code) {
		for (size_t i = 0; i < list.count && !code; i++)
			if (list.items[i].armed)
				code = retire_session(private, &buffer,
						      &list.items[i], err);
		session_list_free(&list);
	}
	buffer_close(&buffer);
	return code;
}

/* tracefmt beside this program, else the one in PATH */
static void tracefmt_exec(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 10);
	char *slash;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		strcpy(slash + 1, "tracefmt");
		execl(path, "tracefmt", (char *)NULL);
	}
	execlp("tracefmt", "tracefmt", (char *)NULL);
	_exit(127);
}

static int records_print(const struct run_dir *private, struct error *err)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		setenv(PIN_RUN_VARIABLE, private->path, 1);
		tracefmt_exec();
	}
	if (child < 0)
		return error_set(err, -errno, "cannot fork: %s",
				 strerror(errno));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(err, -ENOENT, "there is no tracefmt beside trace, nor in PATH");
	return error_set(err, -EIO, "tracefmt could not print all records");
}

/* In the private directory: arm, run, disarm, give out. */
static int run_private(struct job *job, const struct run_dir *private,
		       const struct run_settings *settings, char **argv,
		       struct error *err)
{
	struct outfile *out = NULL;
	int status = 0, code = 0;

	/* first, so that no run is in vain */
	if (settings->output)
		code = outfile_open(&out, settings->output, err);
	if (!code)
		code = job_arm(job, 1, private, &settings->job, err);
	if (!code) {
		status = program_run(argv, err);
		code = status < 0 ? status : 0;
	}
	if (!code) {
		status_tell(argv[0], status);
		code = private_off(private, err);
	}
	if (code) {
		outfile_abort(out);
		return code;
	}
	return out ? snapshot_save(private->path, out, err) :
	       records_print(private, err);
}

/*
 * The records go to a buffer of their own, which nothing else writes and which
 * goes with this process.
 */
static int run(const char *tdf, char **argv,
	       const struct run_settings *settings, struct error *err)
{
	struct run_dir common, private;
	struct job job;
	int code = job_open(&job, tdf, &settings->job, err);

	if (code)
		return code;
	code = run_dir_open(&common, true, err);
	if (!code) {
		code = run_dir_open_private(&private, &common, err);
		run_dir_close(&common);
	}
	if (!code) {
		code = run_private(&job, &private, settings, argv, err);
		retire_everything(&private);
		pins_remove(common.path, private.path);
	}
	job_close(&job);
	return code;
}

static int run_run(int argc, char **argv)
{
	struct run_settings settings = { 0 };
	struct error err = { 0 };
	int status, first = command_parse(&command_run, argc, argv, 2, -1,
					  &settings, &status);

	if (first < 0)
		return status;
	return command_end(run(argv[first], argv + first + 1, &settings, &err),
			   &err);
}

const struct command command_run = {
	.def = {
		.program = "trace", .name = "run",
		.operands = "APP.tdf -- PROGRAM [ARGUMENT...]",
		.help = "arm, run a program, disarm and print",
		.options = options,
	},
	.run = run_run,
};
