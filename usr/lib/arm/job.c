// SPDX-License-Identifier: GPL-2.0
#include "job.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/number.h"
#include "lib/arm/pinned/bufmaps.h"
#include "filters.h"
#include "lib/arm/keep/keep.h"
#include "lib/arm/select/select.h"

#define AT_MOST_SPAN	(60 * 1000000000ull)	/* one in so many ns */

/* "cannot arm 'app(1)': what" */
static void operand_refused(struct job_list *list, const char *operand,
			    const struct error *why)
{
	struct error err = *why;

	error_prefix(&err, "cannot arm '%s': ", operand);
	error_print("trace", &err);
	list->failures++;
}

static void job_refused(struct job_list *list, struct job *job,
			const struct error *why)
{
	operand_refused(list, job->operands[0], why);
	job->failed = true;
}

static void job_close(struct job *job)
{
	if (job->tdf)
		target_close(job->targets, job->tdf);
	tdf_close(job->tdf);
	free(job->operands);
	free(job->picked);
	free(job->triggers);
	free(job->cost.bodies);
}

static struct job *job_find(struct job_list *list, const char *path)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].path, path))
			return &list->items[i];
	return NULL;
}

static int job_open(struct job *job, const char *path, struct error *err)
{
	uint32_t points;
	int code;

	*job = (struct job){ 0 };
	strcpy(job->path, path);
	code = tdf_open(&job->tdf, path, err);
	if (code)
		return code;
	points = job->tdf->header->points.count;
	job->picked = calloc(points + 1, sizeof(*job->picked));
	job->triggers = calloc(points + 1, sizeof(*job->triggers));
	if (!job->picked || !job->triggers)
		return error_no_memory(err);
	return points ? 0 :
		error_set(err, -EINVAL, "the TDF has no tracepoints");
}

static int job_pick(struct job *job, const struct selection *selection,
		    const char *operand, struct error *err)
{
	const char **operands = reallocarray(job->operands,
					     job->operand_count + 1,
					     sizeof(*operands));

	if (!operands)
		return error_no_memory(err);
	job->operands = operands;
	operands[job->operand_count] = operand;
	if (selection_pick_tdf(selection, job->tdf, job->picked, err))
		return -ENOENT;
	job->operand_count++;
	return 0;
}

/* A new job counts only when its first operand is right. */
static int job_list_pick(struct job_list *list, const char *path,
			 const struct selection *selection,
			 const char *operand, struct error *err)
{
	struct job *items, *job = job_find(list, path);
	int code;

	if (job)
		return job_pick(job, selection, operand, err);
	items = reallocarray(list->items, list->count + 1, sizeof(*items));
	if (!items)
		return error_no_memory(err);
	list->items = items;
	job = &items[list->count];
	code = job_open(job, path, err);
	if (!code)
		code = job_pick(job, selection, operand, err);
	if (code)
		job_close(job);
	else
		list->count++;
	return code;
}

void job_list_add(struct job_list *list, const char *operand)
{
	struct selection selection;
	struct error err = { 0 };
	char path[PATH_MAX], *target;
	int code = selection_parse(&selection, operand, &target, &err);

	if (!code) {
		code = selection_append(&selection, &list->settings->selection,
					&err);
		if (!code)
			code = select_tdf(target, list->settings, path, &err);
		if (!code)
			code = job_list_pick(list, path, &selection, operand,
					     &err);
		selection_free(&selection);
		free(target);
	}
	if (code)
		operand_refused(list, operand, &err);
}

void job_list_free(struct job_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		job_close(&list->items[i]);
	free(list->items);
	list->items = NULL;
	list->count = 0;
}

/* ":after 100" ends what --stop-on has; it is cut off. */
static int after_take(char *stop, uint64_t *after, struct error *err)
{
	char *colon = strrchr(stop, ':'), *end;

	if (!colon || strncmp(colon, ":after", 6))
		return 0;
	*colon = '\0';
	colon += 6;
	colon += strspn(colon, " =");
	errno = 0;
	*after = strtoull(colon, &end, 10);
	if (isdigit((unsigned char)*colon) && !*end && !errno &&
	    *after <= INT64_MAX)
		return 0;
	return error_set(err, -EINVAL, "'%s' is no number of records", colon);
}

/* One that only has aggregates makes no record that could be a trigger. */
static bool point_is_silent(const struct tdf *tdf, uint32_t point)
{
	const struct tdf_point *p = &tdf->points[point];
	bool aggregates = false, others = false;

	for (uint32_t k = 0; k < p->sites; k++) {
		const struct tdf_site *site = &tdf->sites[p->first_site + k];
		const struct tdf_stmt *stmt = tdf->stmts + site->first_stmt;

		if (site->flags & TDF_SITE_ENTRY) {
			/* its key, and what the exits take of it */
			others |= site->stmts > 1u + p->entry_values;
			continue;
		}
		for (uint32_t i = 0; i < site->stmts; i++, stmt++) {
			aggregates |= stmt->kind == TDF_STMT_AGGREGATE;
			others |= stmt->kind != TDF_STMT_AGGREGATE &&
				  stmt->kind != TDF_STMT_BY &&
				  stmt->kind != TDF_STMT_IF &&
				  stmt->kind != TDF_STMT_KEY;
		}
	}
	return aggregates && !others;
}

static int trigger_point_add(struct job *job, enum keep_trigger_kind kind,
			     uint32_t point, struct error *err)
{
	struct keep_trigger *trigger = &job->tasks.triggers[kind];

	if (point_is_silent(job->tdf, point))
		return error_set(err, -EINVAL,
				 "tracepoint %u has aggregates alone, and makes no record",
				 job->tdf->points[point].minor);
	job->picked[point] = true;
	if (kind == KEEP_STOP)
		job->triggers[point] = true;
	for (unsigned int i = 0; i < trigger->count; i++)
		if (trigger->points[i] == point)
			return 0;
	if (trigger->count < KEEP_POINTS_MAX)
		trigger->points[trigger->count++] = point;
	else if (kind != KEEP_STOP)
		return error_set(err, -E2BIG,
				 "more than %d tracepoints of a TDF",
				 KEEP_POINTS_MAX);
	return 0;
}

/* "app(5)", "app(5):after 100": its points become triggers, and are armed. */
static int trigger_take(struct job_list *list, enum keep_trigger_kind kind,
			const char *value, bool first, struct error *err)
{
	char *text = strdup(value), *target = NULL;
	struct selection selection = { 0 };
	struct job *job = NULL;
	bool *chosen = NULL;
	char path[PATH_MAX];
	uint64_t after = 0;
	int code = text ? 0 : error_no_memory(err);

	if (!code && kind == KEEP_STOP) {
		code = after_take(text, &after, err);
		if (!code && !first && after != list->stop_after)
			code = error_set(err, -EINVAL,
					 "all need the same 'after'");
		list->stop_after = after;
	}
	if (!code)
		code = selection_parse(&selection, text, &target, err);
	for (size_t i = 0; !code && !job && i < list->count; i++)
		if (select_is_called(list->items[i].path, target))
			job = &list->items[i];
	if (!code && !job)
		code = select_tdf(target, list->settings, path, err);
	if (!code && !job) {
		job = job_find(list, path);
		code = job ? 0 :
		       error_set(err, -ENOENT,
				 "'%s' is not among what is to be armed",
				 target);
	}
	if (!code) {
		chosen = calloc(job->tdf->header->points.count + 1,
				sizeof(*chosen));
		code = chosen ? selection_pick_tdf(&selection, job->tdf, chosen,
						   err) : error_no_memory(err);
	}
	for (uint32_t i = 0; !code && i < job->tdf->header->points.count; i++)
		if (chosen[i])
			code = trigger_point_add(job, kind, i, err);
	selection_free(&selection);
	free(chosen);
	free(target);
	free(text);
	return code;
}

/* The user who armed with sudo(8), or the one who does. */
static void user_find_armed(struct job_list *list)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	uint64_t number;

	list->uid = geteuid();
	list->gid = getegid();
	if (list->uid || !uid || !quantity_number(uid, &number) ||
	    number >= UINT32_MAX)
		return;
	list->uid = number;
	if (gid && quantity_number(gid, &number) && number < UINT32_MAX)
		list->gid = number;
}

static int triggers_take(struct job_list *list, struct error *err)
{
	const struct job_settings *settings = list->settings;
	const struct settings_values *values[KEEP_TRIGGERS] = {
		[KEEP_STOP] = &settings->stops,
		[KEEP_SNAPSHOT] = &settings->snapshots,
		[KEEP_RUN] = &settings->runs,
	};
	char path[PATH_MAX], *slash;

	user_find_armed(list);
	if (settings->snapshot_file) {
		select_path(settings->snapshot_file, path);
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
		if (access(path[0] ? path : "/", W_OK | X_OK))
			return error_set(err, -errno,
					 "--snapshot-file '%s': %s",
					 settings->snapshot_file,
					 strerror(errno));
	}
	for (int kind = 0; kind < KEEP_TRIGGERS; kind++)
		for (unsigned int i = 0; i < values[kind]->count; i++) {
			const char *value = values[kind]->items[i];
			int code = trigger_take(list, kind, value, !i, err);

			if (!code)
				continue;
			error_prefix(err, "--%s-on '%s': ",
				     keep_trigger_names[kind], value);
			return code;
		}
	return 0;
}

static void job_verify(struct job_list *list, struct job *job)
{
	const struct job_settings *settings = list->settings;
	const struct target_search search = {
		.paths = settings->modules.items,
		.path_count = settings->modules.count,
		.pids = settings->pids,
		.pid_count = settings->pid_count,
	};
	struct error err = { 0 };

	if (keep_module_absent(job->tdf, job->waits))
		return;
	job->waits[0] = '\0';
	if (target_open(&job->targets, job->tdf, job->picked, &search, &err))
		job_refused(list, job, &err);
}

int job_list_verify(struct job_list *list, struct error *err)
{
	const struct job_settings *settings = list->settings;
	int code = filters_check(settings, err);

	if (!code && settings->follow && !settings->pid_count)
		code = error_set(err, -EINVAL,
				 "--follow is for the children of a --pid");
	if (!code && settings->modules.count && list->count > 1)
		code = error_set(err, -EINVAL,
				 "--module names the module of one TDF, but there are %zu TDFs",
				 list->count);
	if (!code)
		code = triggers_take(list, err);
	for (size_t i = 0; i < list->count && !code; i++)
		job_verify(list, &list->items[i]);
	return code;
}

static bool job_ready(const struct job *job)
{
	return !job->failed && !job->waits[0];
}

size_t job_list_ready(const struct job_list *list)
{
	size_t ready = 0;

	for (size_t i = 0; i < list->count; i++)
		ready += job_ready(&list->items[i]);
	return ready;
}

int job_buffer_open(struct buffer *buffer, struct features *features,
		    const struct run_dir *run,
		    const struct job_settings *settings, struct error *err)
{
	struct bufmaps_wanted wanted = {
		.bytes = settings->bytes, .group = settings->group_read,
	};
	int code = features_probe(features, settings->attach, err);
	uint64_t now = buffer_time();

	if (!code)
		code = bufmaps_open(buffer, run, &wanted, err);
	if (!code && settings->max_cpu)
		keep_max_cpu_set(buffer, settings->max_cpu == MAX_CPU_OFF ? 0 :
				 settings->max_cpu);
	else if (!code && buffer->control->created >= now)
		keep_max_cpu_set(buffer, settings->max_cpu_new);
	return code;
}

static bool point_is_trigger(const struct job *job, uint32_t point)
{
	for (int kind = 0; kind < KEEP_TRIGGERS; kind++) {
		const struct keep_trigger *trigger = &job->tasks.triggers[kind];

		for (unsigned int i = 0; i < trigger->count; i++)
			if (trigger->points[i] == point)
				return true;
	}
	return job->triggers[point];
}

/* Points that this session has armed are not picked any more. */
static int session_leave_out(struct job *job, const struct session *session,
			     uint32_t *left_out, struct error *err)
{
	const struct tdf *tdf = job->tdf;
	uint32_t k = 0;

	for (uint32_t i = 0; i < session->entry->points; i++) {
		const struct ras_session_point *point = &session->points[i];

		while (k < tdf->header->points.count &&
		       tdf->points[k].minor < point->minor)
			k++;
		if (k == tdf->header->points.count)
			break;
		if (tdf->points[k].minor != point->minor || !job->picked[k] ||
		    point->state != RAS_POINT_ARMED)
			continue;
		if (tdf->points[k].hash != point->hash ||
		    point_is_trigger(job, k)) {
			error_set(err, -EEXIST, job->triggers[k] ?
				  "tracepoint %u is armed already, and doesn't stop the recording" :
				  point_is_trigger(job, k) ?
				  "tracepoint %u is armed already, without this trigger" :
				  "tracepoint %u is armed already, as it was before the TDF was compiled anew",
				  point->minor);
			return -EEXIST;
		}
		job->picked[k] = false;
		++*left_out;
	}
	return 0;
}

static void job_check_armed(struct job_list *list, struct job *job,
			    const struct session_list *sessions)
{
	struct error err = { 0 };
	uint32_t left_out = 0, left = 0;
	int code = 0;

	for (size_t i = 0; i < sessions->count && !code; i++)
		if (select_is_of(&sessions->items[i], job->path))
			code = session_leave_out(job, &sessions->items[i],
						 &left_out, &err);
	for (uint32_t i = 0; i < job->tdf->header->points.count; i++)
		left += job->picked[i];
	if (!code && left_out && !left)
		code = error_set(&err, -EEXIST, "it is armed already");
	if (code) {
		error_hint(&err, "disarm it first: trace off '%s'",
			   job->operands[0]);
		job_refused(list, job, &err);
	} else if (left_out) {
		fprintf(stderr, "trace: of '%s', %u tracepoint%s armed already; the other %u %s now\n",
			job->operands[0], left_out,
			left_out == 1 ? " is" : "s are", left,
			left == 1 ? "is" : "are");
	}
}

int job_list_check_armed(struct job_list *list, const struct buffer *buffer,
			 const struct run_dir *run, struct error *err)
{
	struct session_list sessions;
	int code = session_list_read(&sessions, buffer, run->path, err);

	if (code)
		return code;
	for (size_t i = 0; i < list->count; i++)
		if (job_ready(&list->items[i]))
			job_check_armed(list, &list->items[i], &sessions);
	session_list_free(&sessions);
	return 0;
}

/* What the keeper has to know of a job; the strings are in `path` and
 * `directory`, or the settings'. */
static struct keep_tasks job_tasks_find(const struct job_list *list,
					const struct job *job,
					char path[PATH_MAX],
					char directory[PATH_MAX])
{
	const struct job_settings *settings = list->settings;
	struct keep_tasks tasks = job->tasks;

	if (settings->duration)
		tasks.ends = buffer_time() + settings->duration;
	tasks.max_hits = settings->max_hits;
	if (!getcwd(directory, PATH_MAX))
		strcpy(directory, "/");
	if (settings->snapshot_file)
		select_path(settings->snapshot_file, path);
	for (int kind = 0; kind < KEEP_TRIGGERS; kind++) {
		struct keep_trigger *trigger = &tasks.triggers[kind];

		trigger->most = settings->at_most ? settings->at_most : 1;
		trigger->span = settings->at_most ? settings->at_most_span :
						    AT_MOST_SPAN;
		trigger->uid = list->uid;
		trigger->gid = list->gid;
		trigger->directory = directory;
	}
	tasks.triggers[KEEP_SNAPSHOT].text = path;
	tasks.triggers[KEEP_RUN].text = (char *)settings->run_command;
	return tasks;
}

void job_list_arm(struct job_list *list, const struct run_dir *run,
		  struct buffer *buffer, const struct features *features,
		  bool dry)
{
	for (size_t i = 0; i < list->count; i++) {
		struct job *job = &list->items[i];
		uint32_t modules = job->tdf->header->modules.count;
		char path[PATH_MAX], directory[PATH_MAX];
		struct keep_tasks tasks = job_tasks_find(list, job, path,
							 directory);
		struct error err = { 0 };
		struct arm arm = {
			.tasks = &tasks, .run = run, .buffer = buffer, .features = features,
			.settings = list->settings, .tdf = job->tdf,
			.path = job->path, .targets = job->targets,
			.picked = job->picked, .triggers = job->triggers,
			.stop_after = list->stop_after,
			.link_pid = filters_link_pid(list->settings, features),
			.dry = dry ? &job->cost : NULL,
		};

		if (!job_ready(job))
			continue;
		for (uint32_t k = 0; k < modules; k++)
			if (job->tdf->modules[k].kind != TDF_MODULE_USER)
				arm.link_pid = 0;
		for (uint32_t k = 0; k < modules; k++)
			job->targets[k].pid = arm.link_pid;
		if (dry)
			job->cost.bodies =
				calloc(job->tdf->header->sites.count + 1,
				       sizeof(*job->cost.bodies));
		if (dry && !job->cost.bodies) {
			error_no_memory(&err);
			job_refused(list, job, &err);
		} else if (arm_tdf(&arm, &err)) {
			job_refused(list, job, &err);
		}
	}
}
