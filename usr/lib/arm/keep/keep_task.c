// SPDX-License-Identifier: GPL-2.0
#include "keep_task.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const keep_trigger_names[KEEP_TRIGGERS] = {
	[KEEP_STOP] = "stop", [KEEP_SNAPSHOT] = "snapshot", [KEEP_RUN] = "run",
};

#define TASK_PARTS	8
#define TASK_PATH	(PATH_MAX + 32)

static void task_number_add(struct link_text *text, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	link_text_add(text, digits);
}

/* Most, span, uid, gid, the points, then text and directory */
static void trigger_text_make(struct link_text *text,
			      const struct keep_trigger *trigger)
{
	char points[KEEP_POINTS_MAX * 12] = "";
	size_t length = 0;

	for (unsigned int i = 0; i < trigger->count; i++)
		length += snprintf(points + length, sizeof(points) - length,
				   "%u ", trigger->points[i]);
	task_number_add(text, trigger->most);
	task_number_add(text, trigger->span);
	task_number_add(text, trigger->uid);
	task_number_add(text, trigger->gid);
	link_text_add(text, points);
	link_text_add(text, trigger->text ? trigger->text : "");
	link_text_add(text, trigger->directory ? trigger->directory : "/");
}

static void trigger_text_take(struct keep_trigger *trigger, char *text)
{
	char *parts[TASK_PARTS], *p, *end;

	*trigger = (struct keep_trigger){ 0 };
	if (link_text_split(text, parts, TASK_PARTS) != 7)
		return;
	trigger->most = strtoul(parts[0], NULL, 10);
	trigger->span = strtoull(parts[1], NULL, 10);
	trigger->uid = strtoul(parts[2], NULL, 10);
	trigger->gid = strtoul(parts[3], NULL, 10);
	for (p = parts[4]; trigger->count < KEEP_POINTS_MAX; p = end) {
		trigger->points[trigger->count] = strtoul(p, &end, 10);
		if (end == p)
			break;
		trigger->count++;
	}
	if (!trigger->most || trigger->most > KEEP_RATE_MAX)
		trigger->most = 1;
	trigger->text = strdup(parts[5]);
	trigger->directory = strdup(parts[6]);
	if (!trigger->text || !trigger->directory)
		trigger->count = 0;
}

static void did_text_take(struct keep_did *did, char *text)
{
	char *parts[TASK_PARTS];

	*did = (struct keep_did){ 0 };
	if (link_text_split(text, parts, TASK_PARTS) != 6)
		return;
	did->hits = strtoull(parts[0], NULL, 10);
	did->done = strtoull(parts[1], NULL, 10);
	did->failed = strtoull(parts[2], NULL, 10);
	did->passed = strtoull(parts[3], NULL, 10);
	did->time = strtoull(parts[4], NULL, 10);
	snprintf(did->last, sizeof(did->last), "%s", parts[5]);
}

/* The text of a link in that directory; allocated, NULL: none. */
static char *task_read(const char *dir, const char *name, const char *more)
{
	char path[TASK_PATH];

	snprintf(path, sizeof(path), "%s/%s%s", dir, name, more);
	return link_text_read(path);
}

static int trigger_write(const struct keep_trigger *trigger, const char *dir,
			 const char *name, struct error *err)
{
	struct link_text text = { .length = 0 };
	char path[TASK_PATH];
	int code;

	trigger_text_make(&text, trigger);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	code = link_text_write(&text, path, err);
	if (code == -E2BIG)
		error_set(err, code, "the %s is too long to be kept",
			  strcmp(name, "run") ? "file's name" : "command");
	return code;
}

int keep_tasks_write(const struct keep_tasks *tasks, const char *dir,
		     struct error *err)
{
	struct link_text text = { .length = 0 };
	char path[TASK_PATH];
	int code = 0;

	if (tasks->ends || tasks->max_hits) {
		task_number_add(&text, tasks->ends);
		task_number_add(&text, tasks->max_hits);
		snprintf(path, sizeof(path), "%s/ends", dir);
		code = link_text_write(&text, path, err);
	}
	for (int i = 0; i < KEEP_TRIGGERS && !code; i++)
		if (tasks->triggers[i].count)
			code = trigger_write(&tasks->triggers[i], dir,
					     keep_trigger_names[i], err);
	return code;
}

void keep_tasks_read(struct keep_tasks *tasks, const char *dir)
{
	char *text = task_read(dir, "ends", ""), *parts[TASK_PARTS];

	*tasks = (struct keep_tasks){ 0 };
	if (text && link_text_split(text, parts, TASK_PARTS) == 2) {
		tasks->ends = strtoull(parts[0], NULL, 10);
		tasks->max_hits = strtoul(parts[1], NULL, 10);
	}
	free(text);
	for (int i = 0; i < KEEP_TRIGGERS; i++) {
		text = task_read(dir, keep_trigger_names[i], "");
		if (text)
			trigger_text_take(&tasks->triggers[i], text);
		free(text);
	}
}

void keep_tasks_free(struct keep_tasks *tasks)
{
	for (int i = 0; i < KEEP_TRIGGERS; i++) {
		free(tasks->triggers[i].text);
		free(tasks->triggers[i].directory);
	}
	*tasks = (struct keep_tasks){ 0 };
}

bool keep_tasks_any(const struct keep_tasks *tasks)
{
	return tasks->ends || tasks->triggers[KEEP_SNAPSHOT].count ||
	       tasks->triggers[KEEP_RUN].count;
}

void keep_did_read(struct keep_did *did, const char *dir,
		   enum keep_trigger_kind kind)
{
	char *text = task_read(dir, keep_trigger_names[kind], "_did");

	*did = (struct keep_did){ 0 };
	if (text)
		did_text_take(did, text);
	free(text);
}

void keep_did_write(const struct keep_did *did, const char *dir,
		    enum keep_trigger_kind kind)
{
	struct link_text text = { .length = 0 };
	char path[TASK_PATH];

	task_number_add(&text, did->hits);
	task_number_add(&text, did->done);
	task_number_add(&text, did->failed);
	task_number_add(&text, did->passed);
	task_number_add(&text, did->time);
	link_text_add(&text, did->last);
	snprintf(path, sizeof(path), "%s/%s_did", dir, keep_trigger_names[kind]);
	link_text_write(&text, path, NULL);
}
