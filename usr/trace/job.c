// SPDX-License-Identifier: GPL-2.0
#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "../lib/session.h"
#include "arm.h"
#include "bufmaps.h"
#include "retire.h"
#include "select.h"

int job_take_buffer(void *context, const char *value)
{
	struct job_settings *settings = context;
	struct error err = { 0 };
	int code = bufmaps_size_parse(value, &settings->bytes, &err);

	if (code < 0) {
		error_print("trace", &err);
		return -1;
	}
	if (code)
		fprintf(stderr, "trace: buffer size '%s' is rounded up to %llu KiB\n",
			value, (unsigned long long)settings->bytes >> 10);
	return 0;
}

int job_take_module(void *context, const char *value)
{
	((struct job_settings *)context)->module = value;
	return 0;
}

int job_take_attach(void *context, const char *value)
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
	fprintf(stderr, "trace: '%s' is no kind of link: auto, multi or perf\n",
		value);
	return -1;
}

/* "cannot arm 'app.tdf': what" */
static int job_refused(const struct job *job, int code, struct error *err)
{
	struct error why = *err;

	error_set(err, code, "cannot arm '%s': %s", job->name, why.text);
	if (why.hint[0])
		error_hint(err, "%s", why.hint);
	return code;
}

int job_open(struct job *job, const char *name,
	     const struct job_settings *settings, struct error *err)
{
	int code;

	*job = (struct job){ .name = name };
	code = tdf_open(&job->tdf, name, err);
	if (code)
		return code;
	select_path(name, job->path);
	code = target_open(&job->targets, job->tdf, settings->module, err);
	if (!code)
		return 0;
	job_refused(job, code, err);
	job_close(job);
	return code;
}

void job_close(struct job *job)
{
	if (job->tdf)
		target_close(job->targets, job->tdf);
	tdf_close(job->tdf);
	job->tdf = NULL;
	job->targets = NULL;
}

static int armed_check(const struct job *job, const struct buffer *buffer,
		       const struct run_dir *run, struct error *err)
{
	struct session_list list;
	int code = session_list_read(&list, buffer, run->path, err);

	if (code)
		return code;
	if (select_by_path(&list, job->path)) {
		code = error_set(err, -EEXIST, "it is armed already");
		error_hint(err, "disarm it first: trace off '%s'", job->name);
	}
	session_list_free(&list);
	return code;
}

/* What this call has armed goes again. */
static void jobs_disarm(const struct job *jobs, size_t count,
			const struct run_dir *run, struct buffer *buffer)
{
	struct session_list list;

	if (session_list_read(&list, buffer, run->path, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		const struct session *session =
			select_by_path(&list, jobs[i].path);

		if (session)
			retire_session(run, buffer, session, NULL);
	}
	session_list_free(&list);
}

static int jobs_arm(struct job *jobs, size_t count, const struct run_dir *run,
		    struct buffer *buffer, const struct features *features,
		    struct error *err)
{
	int code = 0;

	for (size_t i = 0; i < count && !code; i++) {
		code = armed_check(&jobs[i], buffer, run, err);
		for (size_t k = 0; k < i && !code; k++)
			if (!strcmp(jobs[i].path, jobs[k].path))
				code = error_set(err, -EEXIST,
						 "it is named twice");
		if (code)
			return job_refused(&jobs[i], code, err);
	}
	for (size_t i = 0; i < count && !code; i++) {
		code = arm_tdf(run, buffer, features, jobs[i].tdf,
			       jobs[i].path, jobs[i].targets, err);
		if (!code)
			continue;
		job_refused(&jobs[i], code, err);
		jobs_disarm(jobs, i, run, buffer);
	}
	return code;
}

int job_arm(struct job *jobs, size_t count, const struct run_dir *run,
	    const struct job_settings *settings, struct error *err)
{
	struct features features;
	struct buffer buffer;
	int code;

	code = features_probe(&features, settings->attach, err);
	if (!code)
		code = bufmaps_open(&buffer, run, settings->bytes, err);
	if (code)
		return code;
	code = jobs_arm(jobs, count, run, &buffer, &features, err);
	buffer_close(&buffer);
	return code;
}
