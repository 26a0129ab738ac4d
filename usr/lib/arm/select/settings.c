// SPDX-License-Identifier: GPL-2.0
#include "settings.h"

#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "lib/command.h"
#include "lib/names.h"
#include "lib/number.h"
#include "lib/arm/pinned/bufmaps.h"

#define AT_MOST_MAX	100
#define STACK_DEFAULT	TDF_STACK_MAX

_Static_assert(RAS_SLICE_MIN == 64 << 10 && RAS_SLICE_MAX == 256 << 20 &&
	       RAS_SLICE_DEFAULT == 1 << 20 && TDF_STACK_MAX == 32,
	       "texts say so, of --buffer and --context=stack");

static int settings_refused(const struct error *err)
{
	error_print(command_program_name(), err);
	return -1;
}

static int settings_value_wrong(const char *option, const char *value,
				const char *what)
{
	fprintf(stderr, "%s: --%s: '%s' is no %s\n", command_program_name(),
		option, value, what);
	return -1;
}

static int too_many(const char *option, unsigned int most)
{
	fprintf(stderr, "%s: --%s can be given %u times at most\n",
		command_program_name(), option, most);
	return -1;
}

static bool settings_number_parse(const char *text, uint64_t least,
				  uint64_t most, const char *unit,
				  uint64_t *number)
{
	return quantity_number_unit(text, unit, number) && *number >= least &&
	       *number <= most;
}

int settings_add(struct settings_values *values,
			      const char *option, const char *value)
{
	if (values->count == SETTINGS_MOST)
		return too_many(option, SETTINGS_MOST);
	values->items[values->count++] = value;
	return 0;
}

int settings_take_buffer(void *context, const char *value)
{
	struct job_settings *settings = context;
	struct error err = { 0 };
	int code = bufmaps_size_parse(value, &settings->bytes, &err);

	if (code < 0)
		return settings_refused(&err);
	if (code)
		fprintf(stderr, "%s: buffer size '%s' is rounded up to %llu KiB\n",
			command_program_name(), value, (unsigned long long)settings->bytes >> 10);
	return 0;
}

int settings_take_module(void *context, const char *value)
{
	struct job_settings *settings = context;

	return settings_add(&settings->modules, "module", value);
}

int settings_take_attach(void *context, const char *value)
{
	static const char *const names[] = {
		[ATTACH_AUTO] = "auto", [ATTACH_MULTI] = "multi",
		[ATTACH_PERF] = "perf",
	};

	for (int i = 0; i < 3; i++)
		if (!strcmp(names[i], value)) {
			((struct job_settings *)context)->attach = i;
			return 0;
		}
	fprintf(stderr, "%s: '%s' is no kind of link: auto, multi or perf\n",
		command_program_name(), value);
	return -1;
}

int settings_take_reads(void *context, const char *value)
{
	static const char *const names[] = {
		[READS_AUTO] = "auto", [READS_HELPER] = "helper",
		[READS_DIRECT] = "direct",
	};

	for (int i = 0; i < 3; i++)
		if (!strcmp(names[i], value)) {
			((struct job_settings *)context)->reads = i;
			return 0;
		}
	fprintf(stderr, "%s: '%s' is no way to read memory: auto, helper or direct\n",
		command_program_name(), value);
	return -1;
}

int settings_take_stacks(void *context, const char *value)
{
	enum stacks_choice *stacks = &((struct job_settings *)context)->stacks;

	if (strcmp(value, "auto") && strcmp(value, "frames")) {
		fprintf(stderr, "%s: '%s' is no way to find callers: auto or frames\n",
			command_program_name(), value);
		return -1;
	}
	*stacks = *value == 'f' ? STACKS_FRAMES : STACKS_AUTO;
	return 0;
}

static int selection_take(void *context, enum selection_kind kind,
			  const char *value)
{
	struct job_settings *settings = context;
	struct error err = { 0 };

	return selection_add(&settings->selection, kind, value, &err) ?
	       settings_refused(&err) : 0;
}

int settings_take_minor(void *context, const char *value)
{
	return selection_take(context, SELECTION_MINOR, value);
}

int settings_take_group(void *context, const char *value)
{
	return selection_take(context, SELECTION_GROUP, value);
}

int settings_take_type(void *context, const char *value)
{
	return selection_take(context, SELECTION_TYPE, value);
}

int settings_take_pid(void *context, const char *value)
{
	struct job_settings *settings = context;
	uint64_t pid;

	if (!settings_number_parse(value, 1, INT32_MAX, "", &pid))
		return settings_value_wrong("pid", value,
					    "process id (decimal)");
	if (settings->pid_count == SETTINGS_MOST)
		return too_many("pid", SETTINGS_MOST);
	settings->pids[settings->pid_count++] = pid;
	return 0;
}

int settings_take_comm(void *context, const char *value)
{
	struct body_filter *filter = &((struct job_settings *)context)->filter;

	if (!*value)
		return settings_value_wrong("comm", value, "name of a thread");
	if (filter->comm_count == BODY_FILTERS)
		return too_many("comm", BODY_FILTERS);
	/* the kernel cuts them as well */
	strncpy(filter->comms[filter->comm_count++], value,
		sizeof(filter->comms[0]) - 1);
	return 0;
}

int settings_take_cgroup(void *context, const char *value)
{
	struct job_settings *settings = context;

	if (settings->cgroups.count == BODY_FILTERS)
		return too_many("cgroup", BODY_FILTERS);
	return settings_add(&settings->cgroups, "cgroup", value);
}

/* Of /etc/passwd alone: a static program can't ask other directories. */
static bool user_find(const char *name, uint64_t *uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *entry = NULL;

	while (file && (entry = fgetpwent(file)))
		if (!strcmp(entry->pw_name, name))
			break;
	if (entry)
		*uid = entry->pw_uid;
	if (file)
		fclose(file);
	return entry;
}

int settings_take_uid(void *context, const char *value)
{
	struct body_filter *filter = &((struct job_settings *)context)->filter;
	uint64_t uid;

	if (!settings_number_parse(value, 0, UINT32_MAX - 1, "", &uid) &&
	    !user_find(value, &uid))
		return settings_value_wrong("uid", value,
					    "user of /etc/passwd, nor a number");
	if (filter->uid_count == BODY_FILTERS)
		return too_many("uid", BODY_FILTERS);
	filter->uids[filter->uid_count++] = uid;
	return 0;
}

/* One of the list: "comm", "stack", "stack:12" */
static int context_take(struct job_settings *settings, const char *name)
{
	size_t length = strcspn(name, ":");
	uint64_t depth = STACK_DEFAULT;
	uint32_t bit = 0;

	for (int i = 0; names_context[i] && !bit; i++)
		if (length && strlen(names_context[i]) == length &&
		    !strncasecmp(names_context[i], name, length))
			bit = 1u << i;
	if (!bit || (name[length] && bit != RAS_CONTEXT_STACK))
		return settings_value_wrong("context", name,
					    "context: comm, uid, cgroup, cpu, ppid, stack or otel");
	if (name[length] &&
	    !settings_number_parse(name + length + 1, 1, TDF_STACK_MAX, "",
				   &depth))
		return settings_value_wrong("context", name,
					    "depth of a stack: stack:1 to stack:32");
	settings->context |= bit;
	if (bit == RAS_CONTEXT_STACK)
		settings->context_depth = depth;
	return 0;
}

int settings_take_context(void *context, const char *value)
{
	char *copy = strdup(value), *rest = copy, *name;
	int code = copy ? 0 : -1;

	if (!copy)
		fprintf(stderr, "%s: out of memory\n",
			command_program_name());
	while (!code && (name = strsep(&rest, ",")))
		code = context_take(context, name);
	free(copy);
	return code;
}

int settings_take_aggregates(void *context, const char *value)
{
	uint64_t keys;

	if (!settings_number_parse(value, 1, RAS_AGGREGATES_MAX, "", &keys))
		return settings_value_wrong("aggregates", value,
					    "number of keys, 1 to 1048576");
	((struct job_settings *)context)->aggregates = keys;
	return 0;
}

int settings_take_stack_ids(void *context, const char *value)
{
	uint64_t stacks;

	if (!settings_number_parse(value, 0, RAS_STACK_IDS_MAX, "", &stacks))
		return settings_value_wrong("stack-ids", value,
					    "number of stacks, 0 to 1048576");
	((struct job_settings *)context)->stack_ids =
		stacks ? stacks : STACK_IDS_OFF;
	return 0;
}

int settings_take_rate(void *context, const char *value)
{
	uint64_t rate;

	if (!settings_number_parse(value, 1, INT32_MAX, "/s", &rate))
		return settings_value_wrong("max-rate", value,
					    "number of records per second, from 1");
	((struct job_settings *)context)->max_rate = rate;
	return 0;
}

int settings_take_stop(void *context, const char *value)
{
	struct job_settings *settings = context;

	return settings_add(&settings->stops, "stop-on", value);
}

int settings_take_cpu(void *context, const char *value)
{
	uint64_t percent;

	if (!strcmp(value, "off"))
		percent = MAX_CPU_OFF;
	else if (!settings_number_parse(value, 1, 100, "%", &percent))
		return settings_value_wrong("max-cpu", value,
					    "per cent, 1 to 100, nor off");
	((struct job_settings *)context)->max_cpu = percent;
	return 0;
}

int settings_take_snapshot(void *context, const char *value)
{
	struct job_settings *settings = context;

	return settings_add(&settings->snapshots, "snapshot-on", value);
}

int settings_take_run(void *context, const char *value)
{
	struct job_settings *settings = context;

	return settings_add(&settings->runs, "run-on", value);
}

/* "10/h", "1/90s" */
int settings_take_most(void *context, const char *value)
{
	struct job_settings *settings = context;
	char text[64];
	uint64_t most;
	const char *slash = strchr(value, '/');
	bool bare = slash && slash[1] && !isdigit((unsigned char)slash[1]);

	snprintf(text, sizeof(text), "%s%s", bare ? "1" : "",
		 slash ? slash + 1 : "");
	if (!slash || !isdigit((unsigned char)*value) ||
	    (most = strtoul(value, NULL, 10)) > AT_MOST_MAX || !most ||
	    strspn(value, "0123456789") != (size_t)(slash - value) ||
	    !quantity_time(text, &settings->at_most_span))
		return settings_value_wrong("at-most", value,
					    "number in a time, from 1/s to 100/h: 10/h, 1/90s, 3/5m");
	settings->at_most = most;
	return 0;
}

int settings_take_for(void *context, const char *value)
{
	if (quantity_time(value, &((struct job_settings *)context)->duration))
		return 0;
	return settings_value_wrong("for", value, "time: 90, 90s, 5m or 2h");
}

int settings_take_hits(void *context, const char *value)
{
	uint64_t hits;

	if (!settings_number_parse(value, 1, UINT32_MAX, "", &hits))
		return settings_value_wrong("max-hits", value,
					    "number of records, from 1");
	((struct job_settings *)context)->max_hits = hits;
	return 0;
}

const char *settings_triggers_check(const struct job_settings *settings)
{
	if (!settings->snapshots.count != !settings->snapshot_file)
		return "--snapshot-on and --snapshot-file go together";
	if (!settings->runs.count != !settings->run_command)
		return "--run-on and --run-command go together";
	if ((settings->snapshot_file && !*settings->snapshot_file) ||
	    (settings->run_command && !*settings->run_command))
		return "--snapshot-file and --run-command can't be empty";
	if (settings->at_most && !settings->snapshots.count &&
	    !settings->runs.count)
		return "--at-most is for --snapshot-on and --run-on";
	return NULL;
}
