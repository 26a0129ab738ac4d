// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "boot.h"
#include "dry_run.h"
#include "lib/arm/arm.h"

struct on_settings {
	struct job_settings job;	/* first: its options take this struct */
	bool dry, boot;
};

static const struct option_def options[] = {
	SETTINGS_OPTIONS("with --pid: also record the processes it starts from now on"),
	{ "max-cpu", 0, "PERCENT",
	  "disarm the most expensive tracepoints if all use more of a CPU",
	  settings_take_cpu },
	{ "group-read", 0, "GROUP",
	  "let members of this group read the buffer",
	  OPTION_PLACE(struct job_settings, group_read) },
	{ "dry-run", 'n', NULL,
	  "print what would be armed and the cost of a hit; arm nothing",
	  OPTION_PLACE(struct on_settings, dry) },
	{ "boot", 0, NULL,
	  "carry out the statements of the operand, or of " BOOT_CONF,
	  OPTION_PLACE(struct on_settings, boot) },
	{ NULL }
};

/* What the operands come to. */
struct on {
	const struct on_settings *settings;
	char **options;			/* as given, with their values */
	int option_count;
	struct job_list jobs;
	bool majors[RAS_STATIC_MAJORS];
	bool any_major;
};

static void operand_take(struct on *on, const char *operand)
{
	struct error err = { 0 };
	int code = static_majors_parse(operand, on->majors, &err);

	if (code > 0) {
		on->any_major = true;
	} else if (code < 0) {
		error_print("trace", &err);
		on->jobs.failures++;
	} else {
		job_list_add(&on->jobs, operand);
	}
}

/* What records them, a program and the kernel module, is one for all majors and
 * has none of these. */
static int majors_check(const struct on *on, struct error *err)
{
	const struct job_settings *settings = &on->settings->job;

	if (!on->any_major ||
	    (!settings->cgroups.count && !settings->filter.comm_count &&
	     !settings->filter.uid_count && !settings->context &&
	     !settings->max_rate && !settings->selection.count))
		return 0;
	error_set(err, -EINVAL,
		  "static majors can be filtered by --pid only, and have no context or rate");
	error_hint(err, "switch them by a command of their own: trace on 100");
	return -EINVAL;
}

/* `trace on` with the same options and the job's operands, later. */
static int job_wait(const struct on *on, const struct job *job,
		    const struct run_dir *run, struct error *err)
{
	char **argv = calloc(on->option_count + job->operand_count + 1,
			     sizeof(*argv));
	int code;

	if (!argv)
		return error_no_memory(err);
	memcpy(argv, on->options, on->option_count * sizeof(*argv));
	memcpy(argv + on->option_count, job->operands,
	       job->operand_count * sizeof(*argv));
	code = keep_wait(run, job->path, job->waits, argv, err);
	free(argv);
	if (!code)
		fprintf(stderr, "trace: '%s' is armed when the kernel module '%s' is loaded\n",
			job->operands[0], job->waits);
	return code;
}

static void jobs_wait(struct on *on, const struct run_dir *run)
{
	for (size_t i = 0; i < on->jobs.count; i++) {
		const struct job *job = &on->jobs.items[i];
		struct error err = { 0 };

		if (job->failed || !job->waits[0] ||
		    !job_wait(on, job, run, &err))
			continue;
		error_print("trace", &err);
		on->jobs.failures++;
	}
}

static int on_arm(struct on *on, const struct run_dir *run, struct error *err)
{
	const struct job_settings *settings = &on->settings->job;
	struct features features;
	struct buffer buffer;
	int code = job_buffer_open(&buffer, &features, run, settings, err);

	if (code)
		return code;
	code = job_list_check_armed(&on->jobs, &buffer, run, err);
	if (!code)
		job_list_arm(&on->jobs, run, &buffer, &features, false);
	if (!code && on->any_major)
		code = static_majors_on(run, &buffer, &features,
					settings, on->majors, err);
	if (!code && buffer.trigger->state == RAS_TRIGGER_FROZEN)
		fputs("trace: a trigger has stopped the recording: 'trace resume' goes on\n",
		      stderr);
	buffer_close(&buffer);
	return code;
}

static int on_run_dir(struct on *on, struct error *err)
{
	struct error keep = { 0 }, kmod = { 0 };
	struct run_dir run;
	int code = run_dir_open(&run, true, err);
	bool was_there;
	char path[PATH_MAX];

	if (code)
		return code;
	snprintf(path, sizeof(path), "%s/control", run.path);
	was_there = !access(path, F_OK);
	jobs_wait(on, &run);
	if (job_list_ready(&on->jobs) || on->any_major)
		code = on_arm(on, &run, err);
	/* what was refused leaves no buffer */
	if (!was_there)
		retire_unused(&run);
	/* where the majors are refused for it, that is reported already */
	if (kmod_hand_over(&run, &kmod) && !code)
		error_print("trace", &kmod);
	if (keep_start(&run, &keep))
		error_print("trace", &keep);
	run_dir_close(&run);
	return code;
}

static int on_operands(struct on *on, int count, char **operands,
		       struct error *err)
{
	int code;

	for (int i = 0; i < count; i++)
		operand_take(on, operands[i]);
	code = majors_check(on, err);
	if (!code)
		code = job_list_verify(&on->jobs, err);
	if (code)
		return code;
	if (on->settings->dry) {
		for (int i = 0; i < RAS_STATIC_MAJORS; i++)
			if (on->majors[i])
				printf("static major %d (0x%02x) would be recorded\n",
				       i, i);
		return dry_run(&on->jobs, err);
	}
	for (size_t i = 0; i < on->jobs.count; i++)
		if (!on->jobs.items[i].failed)
			return on_run_dir(on, err);
	return on->any_major ? on_run_dir(on, err) : 0;
}

/* What `trace on --boot` does is in the file alone. */
static const char *usage_check(const struct on_settings *settings,
			       int option_count, char **option, int operands)
{
	unsigned int words = 0;

	if (!settings->boot)
		return operands ? NULL : "an operand is missing";
	for (int i = 0; i < option_count; i++)
		words += strcmp(option[i], "--") != 0;
	if (words > 1)
		return "--boot goes with no other option";
	return operands > 1 ? "--boot takes one file" : NULL;
}

static int on_run(int argc, char **argv)
{
	struct on_settings settings = { .job.filter.pids_fd = -1 };
	struct on on = {
		.settings = &settings, .jobs.settings = &settings.job,
	};
	struct error err = { 0 };
	int status, first = command_parse(&command_on, argc, argv, 0, -1,
					  &settings, &status);
	const char *wrong;

	if (first < 0)
		return status;
	wrong = usage_check(&settings, first - 1, argv + 1, argc - first);
	if (wrong)
		return command_misuse(&command_on, wrong);
	if (settings.boot)
		return boot_run(argv[first]);
	on.options = argv + 1;
	on.option_count = first - 1;
	status = command_end(on_operands(&on, argc - first, argv + first,
					 &err), &err);
	status = on.jobs.failures ? COMMAND_FAILED : status;
	job_list_free(&on.jobs);
	selection_free(&settings.job.selection);
	return status;
}

const struct command command_on = {
	.def = {
		.program = "trace", .name = "on",
		.operands = "APP|APP(MINOR|GROUP|TYPE,...)|MAJORS...",
		.help = "arm tracepoints", .options = options,
	},
	.run = on_run,
};
