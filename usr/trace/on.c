// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "job.h"

static const struct option_def options[] = { JOB_OPTIONS, { NULL } };

/* All are verified before the first is armed. */
static int jobs_open(struct job *jobs, int count, char **names,
		     const struct job_settings *settings, struct error *err)
{
	int code = 0;

	for (int i = 0; i < count && !code; i++)
		code = job_open(&jobs[i], names[i], settings, err);
	return code;
}

static int on(int count, char **names, const struct job_settings *settings,
	      struct error *err)
{
	struct job *jobs = calloc(count, sizeof(*jobs));
	struct run_dir run;
	int code;

	if (!jobs)
		return error_set(err, -ENOMEM, "out of memory");
	code = jobs_open(jobs, count, names, settings, err);
	if (!code)
		code = run_dir_open(&run, true, err);
	if (!code) {
		code = job_arm(jobs, count, &run, settings, err);
		run_dir_close(&run);
	}
	for (int i = 0; i < count; i++)
		job_close(&jobs[i]);
	free(jobs);
	return code;
}

static int on_run(int argc, char **argv)
{
	struct job_settings settings = { 0 };
	struct error err = { 0 };
	int status, first = command_parse(&command_on, argc, argv, 1, -1,
					  &settings, &status);

	if (first < 0)
		return status;
	if (settings.module && argc - first > 1) {
		fprintf(stderr, "trace: on: --module names one file, but there are %d TDFs\n"
			"trace: try 'trace on --help'\n", argc - first);
		return COMMAND_MISUSE;
	}
	return command_end(on(argc - first, argv + first, &settings, &err),
			   &err);
}

const struct command command_on = {
	.def = {
		.program = "trace", .name = "on", .operands = "APP.tdf...",
		.help = "arm the tracepoints of TDFs", .options = options,
	},
	.run = on_run,
};
