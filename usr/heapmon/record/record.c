// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include <rastrace/tdf.h>
#include "lib/number.h"
#include "lib/formats/chunk.h"
#include "heapmon/command/commands.h"
#include "recording.h"
#include "stopping.h"

#define PROGRAM		"heapmon"
#define DEPTH_DEFAULT	16

/* ---- options ---- */

static int record_take_comm(void *context, const char *value)
{
	((struct record_settings *)context)->comm = value;
	return *value ? 0 : options_value_wrong("comm", value, "a name is expected");
}

static int take_allocator(void *context, const char *value)
{
	struct record_settings *settings = context;

	for (int i = 0; i < ALLOCATOR_NAMES; i++)
		if (!strcmp(allocator_names[i], value)) {
			settings->want.name = i;
			return 0;
		}
	return options_value_wrong("allocator", value,
			   "auto, glibc, musl, jemalloc, tcmalloc or mimalloc is expected");
}

static int take_object(void *context, const char *value)
{
	struct record_settings *settings = context;

	if (settings->want.object_count == SETTINGS_MOST)
		return options_value_wrong("object", value, "these are too many");
	settings->objects[settings->want.object_count++] = value;
	settings->want.objects = settings->objects;
	return 0;
}

static int record_take_depth(void *context, const char *value)
{
	struct record_settings *settings = context;
	uint64_t depth;

	if (!quantity_number(value, &depth) || depth > TDF_STACK_MAX)
		return options_value_wrong("depth", value,
				   "a number of frames from 0 to 32 is expected");
	settings->points.depth = depth;
	return 0;
}

static int take_min_size(void *context, const char *value)
{
	struct record_settings *settings = context;

	return quantity_bytes(value, &settings->min_size) ? 0 :
	       options_value_wrong("min-size", value, "bytes are expected: 64, 4K, 1M");
}

static int take_sample(void *context, const char *value)
{
	struct record_settings *settings = context;

	return quantity_bytes(value, &settings->sample) && settings->sample &&
	       settings->sample <= UINT32_MAX ? 0 :
	       options_value_wrong("sample", value,
			   "bytes are expected, below 4G: 512K");
}

static int record_take_duration(void *context, const char *value)
{
	struct record_settings *settings = context;

	return quantity_time(value, &settings->duration) ? 0 :
	       options_value_wrong("duration", value, QUANTITY_TIME);
}

static int record_take_compress(void *context, const char *value)
{
	return pack_method_take(PROGRAM, value,
				&((struct record_settings *)context)->pack);
}

static const struct option_def record_options[] = {
	{ "pid", 'p', "PID", "record this process; may be repeated",
	  settings_take_pid },
	{ "comm", 'c', "NAME", "record the processes with this name",
	  record_take_comm },
	{ "output", 'o', "FILE.ras", "write to this file",
	  OPTION_PLACE(struct record_settings, output) },
	{ "follow", 'f', NULL,
	  "with --pid, --comm: also the processes that they start from now on",
	  OPTION_PLACE(struct job_settings, follow) },
	{ "no-follow", 0, NULL,
	  "with a program: do not record the processes that it starts",
	  OPTION_PLACE(struct record_settings, no_follow) },
	{ "depth", 'd', "N", "record up to N frames of a stack, 0 to 32 (16)", record_take_depth },
	{ "min-size", 0, "BYTES", "record only blocks of at least this size",
	  take_min_size },
	{ "sample", 's', "BYTES",
	  "record one block per BYTES on average, chosen at random", take_sample },
	{ "mmap", 0, NULL, "also record mmap, munmap and mremap",
	  OPTION_PLACE(struct record_settings, want.maps) },
	{ "allocator", 'a', "NAME",
	  "probe only this allocator (default auto, all): auto|glibc|musl|jemalloc|tcmalloc|mimalloc",
	  take_allocator },
	{ "object", 0, "FILE",
	  "look for the allocator only in this file; may be repeated",
	  take_object },
	{ "prefix", 0, "TEXT",
	  "prefix of the function names: je_ for je_malloc",
	  OPTION_PLACE(struct record_settings, want.prefix) },
	{ "no-new", 0, NULL,
	  "do not record operator new of jemalloc, tcmalloc and mimalloc, which may throw",
	  OPTION_PLACE(struct record_settings, want.no_new) },
	{ "no-old", 0, NULL, "do not record the blocks that exist at the beginning",
	  OPTION_PLACE(struct record_settings, no_old) },
	{ "no-types", 0, NULL, "do not record the first word of blocks, which identifies their types",
	  OPTION_PLACE(struct record_settings, no_types) },
	{ "no-free-stacks", 0, NULL,
	  "do not record the stacks of releases; this costs less",
	  OPTION_PLACE(struct record_settings, points.no_free_stacks) },
	{ "buffer", 'b', "SIZE",
	  "bytes of the buffer per CPU, 64K to 256M, a power of two",
	  settings_take_buffer },
	{ "attach", 0, "KIND",
	  "attach probes with uprobe_multi or perf_event links: auto|multi|perf",
	  settings_take_attach },
	{ "compress", 'z', "[=METHOD]",
	  "compress; without METHOD, with zstd if it is installed: zlib|zstd", record_take_compress },
	{ "duration", 't', "TIME", "end after this time: 90 (seconds), 5m or 2h",
	  record_take_duration },
	{ NULL }
};

/* What can't be; NULL: all of it can. */
static const char *record_settings_wrong(const struct record_settings *settings)
{
	unsigned int kinds = !!settings->program + !!settings->comm +
			     !!settings->job.pid_count;

	if (!settings->output)
		return "where to? --output FILE.ras";
	if (!kinds)
		return "of which process? --pid PID, --comm NAME, or -- PROGRAM";
	if (kinds > 1)
		return "--pid, --comm and a program exclude each other";
	if (settings->job.follow && settings->no_follow)
		return "--follow and --no-follow exclude each other";
	if (settings->program && !strcmp(settings->output, "-"))
		return "standard output is the program's: --output FILE.ras";
	return NULL;
}

/* 0, or -1 with *status set. */
static int record_settings_parse(struct record_settings *settings, int argc,
				 char **argv, int *status)
{
	struct job_settings *job = &settings->job;
	unsigned int kept = 0, i;
	const char *wrong;
	int first;

	*settings = (struct record_settings){
		.points.depth = DEPTH_DEFAULT, .job.resident_only = true,
	};
	first = options_parse(&heapmon_record.def, argc, argv, true, settings);
	*status = first == OPTIONS_DONE ? COMMAND_DONE : COMMAND_MISUSE;
	if (first < 0)
		return -1;
	if (first < argc)
		settings->program = argv + first;
	wrong = record_settings_wrong(settings);
	if (wrong) {
		command_misuse(&heapmon_record, wrong);
		return -1;
	}
	for (unsigned int at = 0; at < job->pid_count; at++) {
		for (i = 0; i < kept && job->pids[i] != job->pids[at]; i++)
			;
		if (i == kept)
			job->pids[kept++] = job->pids[at];
	}
	job->pid_count = kept;
	job->follow |= settings->program && !settings->no_follow;
	settings->points.types = !settings->no_types;
	if (settings->want.prefix && !*settings->want.prefix)
		settings->want.prefix = NULL;
	return 0;
}

/* ---- processes by name ---- */

static bool comm_is(pid_t pid, const char *comm)
{
	char name[32] = "";
	ssize_t n = proc_read(pid, "comm", name, sizeof(name) - 1);

	if (n < 0)
		return false;
	name[strcspn(name, "\n")] = '\0';
	/* the kernel keeps 15 characters */
	return *name && !strncmp(name, comm, 15) &&
	       strlen(name) == strnlen(comm, 15);
}

/* -c COMM -> pids. 0, or a negative errno with err set. */
static int record_settings_find_comm(struct record_settings *settings,
				     struct error *err)
{
	struct job_settings *job = &settings->job;
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int code = 0, pid;

	while (dir && !code && (entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    pid == getpid() || !comm_is(pid, settings->comm))
			continue;
		if (job->pid_count == SETTINGS_MOST)
			code = error_set(err, -E2BIG,
					 "there are more than %u processes '%s'",
					 SETTINGS_MOST, settings->comm);
		else
			job->pids[job->pid_count++] = pid;
	}
	if (dir)
		closedir(dir);
	if (code || job->pid_count)
		return code;
	error_set(err, -ESRCH, "there is no process '%s'", settings->comm);
	error_hint(err, "start it by heapmon: heapmon record -o FILE.ras -- PROGRAM");
	return -ESRCH;
}

/* ---- the command ---- */

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
				r->launch.argv[0], WTERMSIG(r->launch.status),
				strsignal(WTERMSIG(r->launch.status)));
		else
			fprintf(stderr, "heapmon: '%s' exited with status %d\n",
				r->launch.argv[0], WEXITSTATUS(r->launch.status));
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
	struct recording r = { 0 };
	int status, code = 0;

	if (record_settings_parse(&settings, argc, argv, &status))
		return status;

	/* The program, or those of that name, become the processes asked for. */
	if (settings.comm)
		code = record_settings_find_comm(&settings, &err);
	if (!code && settings.program)
		code = launch_make(&r.launch, settings.program, &err);
	stopping_take();
	if (!code && settings.program) {
		r.launch.asked = stopping_asked;
		code = launch_seize(&r.launch, &err);
		if (!code)
			code = launch_execute(&r.launch, &err);
		if (code && stopping_check(&err))
			code = -ECANCELED;
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
		.program = PROGRAM, .name = "record",
		.operands = "[-- PROGRAM [ARGUMENT...]]",
		.help = "record the allocations and releases of processes",
		.options = record_options,
	},
	.run = record_run,
};
