// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include "heapmon/command/commands.h"
#include "recording.h"
#include "stopping.h"

static int record_to_file(struct recording *r,
			  const struct record_settings *settings,
			  struct error *err)
{
	int code = recording_open(r, settings, err);

	if (code && r->spooling)
		spool_files_remove(&r->spooler.files);
	if (code)
		return code;
	code = recording_run(r, err);
	code = recording_finish(r, code, err);
	if (r->launch.pid && r->launch.ended) {
		if (WIFSIGNALED(r->launch.status))
			fprintf(stderr,
				"heapmon: '%s' was ended by signal %d (%s)\n",
				r->launch.name, WTERMSIG(r->launch.status),
				strsignal(WTERMSIG(r->launch.status)));
		else
			fprintf(stderr, "heapmon: '%s' exited with status %d\n",
				r->launch.name, WEXITSTATUS(r->launch.status));
	}
	if (code)
		return code;
	recording_summarize(r);

	/* Neither the program nor what it executed had one, or it couldn't be
	 * probed: which has been said. */
	if (allocator_found(&r->allocator))
		return 0;
	return error_set(err, -ENOENT, "nothing was recorded: there was no "
			 "allocator to probe");
}

static int record_run(int argc, char **argv)
{
	struct record_settings settings;
	struct error err = { 0 };
	int status, code;
	struct recording r;

	if (record_settings_parse(&settings, &heapmon_record, argc, argv,
				  &status))
		return status;

	/* The program, or those of that name, become the processes asked for.
	 */
	r = (struct recording){ 0 };
	code = 0;
	if (settings.comm)
		code = record_settings_find_comm(&settings, &err);
	if (!settings.program)
		stopping_take();
	if (!code && settings.program) {
		code = launch_start(&r.launch, settings.program, &err);
		settings.job.pids[settings.job.pid_count++] = r.launch.pid;
	}
	if (!code)
		code = record_to_file(&r, &settings, &err);
	recording_close(&r);

	status = command_end(code, &err);
	/* as one that doesn't handle it: the shell sees what has ended it */
	if (code == -ECANCELED) {
		signal(stopping_number(), SIG_DFL);
		raise(stopping_number());
	}
	return status;
}

const struct command heapmon_record = {
	.def = {
		.program = "heapmon", .name = "record",
		.operands = "[-- PROGRAM [ARGUMENT...]]",
		.help = "record the allocations and releases of processes",
		.options = record_options,
	},
	.run = record_run,
};
