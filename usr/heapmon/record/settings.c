// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rastrace/tdf.h>
#include "lib/formats/pack.h"
#include "lib/quantity.h"

#define PROGRAM		"heapmon"
#define DEPTH_DEFAULT	16

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

static int record_take_prefix(void *context, const char *value)
{
	((struct record_settings *)context)->want.prefix =
		*value ? value : NULL;
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

static int take_no_types(void *context, const char *value)
{
	((struct record_settings *)context)->points.types = false;
	return 0;
}

const struct option_def record_options[] = {
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
	  record_take_prefix },
	{ "no-new", 0, NULL,
	  "do not record operator new of jemalloc, tcmalloc and mimalloc, which may throw",
	  OPTION_PLACE(struct record_settings, want.no_new) },
	{ "no-old", 0, NULL, "do not record the blocks that exist at the beginning",
	  OPTION_PLACE(struct record_settings, no_old) },
	{ "no-types", 0, NULL, "do not record the first word of blocks, which identifies their types",
	  take_no_types },
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

static int record_settings_check(struct record_settings *settings,
				 const struct command *command)
{
	unsigned int kinds = !!settings->program + !!settings->comm +
			     !!settings->job.pid_count;
	const char *wrong = NULL;
	unsigned int kept;
	unsigned int i;

	if (!settings->output)
		wrong = "where to? --output FILE.ras";
	else if (!kinds)
		wrong = "of which process? --pid PID, --comm NAME, or -- PROGRAM";
	else if (kinds > 1)
		wrong = "--pid, --comm and a program exclude each other";
	else if (settings->job.follow && settings->no_follow)
		wrong = "--follow and --no-follow exclude each other";
	else if (settings->program && !strcmp(settings->output, "-"))
		wrong = "standard output is the program's: --output FILE.ras";
	if (!wrong) {
		kept = 0;
		for (unsigned int at = 0; at < settings->job.pid_count; at++) {
			for (i = 0; i < kept && settings->job.pids[i] !=
							settings->job.pids[at];
			     i++)
				;
			if (i == kept)
				settings->job.pids[kept++] =
					settings->job.pids[at];
		}
		settings->job.pid_count = kept;
		settings->job.follow |= settings->program &&
					!settings->no_follow;
		return 0;
	}
	command_misuse(command, wrong);
	return -1;
}

int record_settings_parse(struct record_settings *settings,
			  const struct command *command, int argc,
			  char **argv, int *status)
{
	int first;

	*settings = (struct record_settings){
		.points = { .depth = DEPTH_DEFAULT, .types = true },
		.job.resident_only = true,
	};
	first = options_parse(&command->def, argc, argv, true, settings);
	*status = first == OPTIONS_DONE ? COMMAND_DONE : COMMAND_MISUSE;
	if (first < 0)
		return -1;
	if (first < argc)
		settings->program = argv + first;
	return record_settings_check(settings, command);
}

/* ---- processes by name ---- */

static bool comm_is(const char *pid, const char *comm)
{
	char path[280], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		*name = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	/* the kernel keeps 15 characters */
	return *name && !strncmp(name, comm, 15) &&
	       strlen(name) == strnlen(comm, 15);
}

int record_settings_find_comm(struct record_settings *settings,
			      struct error *err)
{
	struct job_settings *job = &settings->job;
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int code = 0;

	while (dir && !code && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    atoi(entry->d_name) == getpid() ||
		    !comm_is(entry->d_name, settings->comm))
			continue;
		if (job->pid_count == SETTINGS_MOST)
			code = error_set(err, -E2BIG,
					 "there are more than %u processes '%s'",
					 SETTINGS_MOST, settings->comm);
		else
			job->pids[job->pid_count++] = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (code || job->pid_count)
		return code;
	error_set(err, -ESRCH, "there is no process '%s'", settings->comm);
	error_hint(err, "start it by heapmon: heapmon record -o FILE.ras -- PROGRAM");
	return -ESRCH;
}
