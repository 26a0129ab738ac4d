// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/safe_text.h"
#include "lib/arm/arm.h"

struct off_settings {
	struct job_settings job;	/* first: --minor, --group, --type */
	bool all;
};

static int take_all(void *context, const char *value)
{
	((struct off_settings *)context)->all = true;
	return 0;
}

static const struct option_def options[] = {
	{ "all", 'a', NULL,
	  "disarm everything and remove the buffer, of any version",
	  take_all },
	SETTINGS_SELECTION,
	{ NULL }
};

/* What the operands come to: off[session][point]. */
struct off {
	const struct off_settings *settings;
	struct run_dir run;
	struct buffer buffer;
	struct session_list list;
	bool **points;
	bool *wanted;			/* per session */
	bool majors[RAS_STATIC_MAJORS];
	bool any_major;
	unsigned int failures;		/* each was told */
};

static bool is_static(const struct session *session)
{
	return session->entry->index == RAS_STATIC_SESSION;
}

static int off_open(struct off *off, struct error *err)
{
	int code = buffer_open(&off->buffer, off->run.path, true, err);

	if (code)
		return code;
	code = session_list_read(&off->list, &off->buffer, off->run.path, err);
	if (code) {
		buffer_close(&off->buffer);
		return code;
	}
	off->points = calloc(off->list.count + 1, sizeof(*off->points));
	off->wanted = calloc(off->list.count + 1, sizeof(*off->wanted));
	for (size_t i = 0; i < off->list.count && off->points; i++)
		off->points[i] = calloc(off->list.items[i].entry->points + 1,
					sizeof(bool));
	return 0;
}

static void off_close(struct off *off)
{
	for (size_t i = 0; i < off->list.count && off->points; i++)
		free(off->points[i]);
	free(off->points);
	free(off->wanted);
	session_list_free(&off->list);
	buffer_close(&off->buffer);
}

static bool off_allocated(const struct off *off)
{
	for (size_t i = 0; off->points && i < off->list.count; i++)
		if (!off->points[i])
			return false;
	return off->points && off->wanted;
}

/* The armed points of the chosen sessions, one behind the other. */
struct armed {
	struct selection_point *points;
	bool *picked;
	size_t count;
};

static int armed_collect(struct armed *armed, const struct off *off,
			 const bool *chosen)
{
	size_t room = 1;

	for (size_t i = 0; i < off->list.count; i++)
		room += chosen[i] ? off->list.items[i].entry->points : 0;
	armed->points = calloc(room, sizeof(*armed->points));
	armed->picked = calloc(room, sizeof(*armed->picked));
	if (!armed->points || !armed->picked)
		return -ENOMEM;
	for (size_t i = 0; i < off->list.count; i++) {
		const struct session *session = &off->list.items[i];

		for (uint32_t k = 0; chosen[i] && k < session->entry->points;
		     k++)
			if (session->points[k].state == RAS_POINT_ARMED)
				armed->points[armed->count++] =
					(struct selection_point){
						session->points[k].minor,
						session->points[k].type,
						session->points[k].group,
					};
	}
	return 0;
}

static void armed_mark(const struct armed *armed, struct off *off,
		       const bool *chosen)
{
	size_t at = 0;

	for (size_t i = 0; i < off->list.count; i++) {
		const struct session *session = &off->list.items[i];

		for (uint32_t k = 0; chosen[i] && k < session->entry->points;
		     k++) {
			if (session->points[k].state != RAS_POINT_ARMED ||
			    !armed->picked[at++])
				continue;
			off->points[i][k] = off->wanted[i] = true;
		}
	}
}

static int points_choose(struct off *off, const struct selection *selection,
			 const bool *chosen, struct error *err)
{
	struct armed armed = { 0 };
	struct tdf *tdf = NULL;
	int code = armed_collect(&armed, off, chosen);

	for (size_t i = 0; i < off->list.count && !tdf; i++)
		if (chosen[i])
			tdf = session_tdf_open(&off->list.items[i]);
	if (code)
		error_no_memory(err);
	else
		code = selection_pick(selection, tdf, armed.points,
				      armed.count, armed.picked, err);
	if (!code)
		armed_mark(&armed, off, chosen);
	tdf_close(tdf);
	free(armed.points);
	free(armed.picked);
	return code;
}

/* Whole sessions, also those whose points have all ended. */
static void sessions_choose(struct off *off, const bool *chosen)
{
	for (size_t i = 0; i < off->list.count; i++) {
		const struct session *session = &off->list.items[i];

		if (!chosen[i])
			continue;
		off->wanted[i] = true;
		for (uint32_t k = 0; k < session->entry->points; k++) {
			off->points[i][k] = true;
			if (is_static(session))
				off->majors[k] = off->any_major = true;
		}
	}
}

/* It waits for its kernel module, and does so no more. */
static bool target_forget(struct off *off, const char *target)
{
	char path[PATH_MAX];

	return keep_forget(&off->run, target) ||
	       (!select_tdf(target, NULL, path, NULL) &&
		keep_forget(&off->run, path));
}

static int target_choose(struct off *off, const char *target,
			 const struct selection *selection, struct error *err)
{
	bool *chosen = calloc(off->list.count + 1, sizeof(*chosen));
	int code;

	if (!chosen)
		return error_no_memory(err);
	code = select_armed(&off->list, target, chosen, err);
	if (code && target_forget(off, target))
		code = 0;
	else if (!code && selection->count)
		code = points_choose(off, selection, chosen, err);
	else if (!code)
		sessions_choose(off, chosen);
	free(chosen);
	return code;
}

static int operand_choose(struct off *off, const char *operand,
			  struct error *err)
{
	struct selection selection;
	char *target;
	int code = static_majors_parse(operand, off->majors, err);

	if (code) {
		off->any_major |= code > 0;
		return code < 0 ? code : 0;
	}
	code = selection_parse(&selection, operand, &target, err);
	if (code)
		return code;
	code = selection_append(&selection, &off->settings->job.selection,
				err);
	if (!code)
		code = target_choose(off, target, &selection, err);
	selection_free(&selection);
	free(target);
	return code;
}

static void operands_choose(struct off *off, int count, char **operands)
{
	for (int i = 0; i < count; i++) {
		struct error err = { 0 };

		if (!operand_choose(off, operands[i], &err))
			continue;
		/* "'app' is not armed" says it all */
		if (!strstr(err.text, operands[i]))
			error_prefix(&err, "cannot disarm '%s': ",
				     operands[i]);
		error_print("trace", &err);
		off->failures++;
	}
}

static void change_tell(const struct session *session)
{
	if (!session->entry->changed)
		return;
	fputs("trace: '", stderr);
	safe_text_print(stderr, session->entry->module, false);
	fputs("' was written to while it was armed: restart what was started since\n",
	      stderr);
}

static int points_off(struct off *off, struct error *err)
{
	int code = 0;

	for (size_t i = 0; i < off->list.count && !code; i++) {
		if (!off->wanted[i] || is_static(&off->list.items[i]))
			continue;
		change_tell(&off->list.items[i]);
		code = retire_points(&off->run, &off->buffer,
				     &off->list.items[i], off->points[i],
				     RAS_POINT_OFF, err);
	}
	if (!code && off->any_major)
		code = static_majors_off(&off->run, &off->buffer, off->majors,
					 err);
	return code;
}

/* Where nothing was armed yet, TDFs may wait for kernel modules. */
static void requests_forget(struct off *off, int count, char **operands)
{
	for (int i = 0; i < count; i++) {
		if (target_forget(off, operands[i]))
			continue;
		fprintf(stderr, "trace: '%s' is not armed: there is no trace buffer\n",
			operands[i]);
		off->failures++;
	}
}

static int off_named(struct off *off, int count, char **operands,
		     struct error *err)
{
	int code = off_open(off, err);

	if (code == -ENOENT) {
		requests_forget(off, count, operands);
		return 0;
	}
	if (code)
		return code;
	if (!off_allocated(off))
		code = error_no_memory(err);
	if (!code) {
		operands_choose(off, count, operands);
		code = points_off(off, err);
	}
	off_close(off);
	return code;
}

static int off_do(struct off *off, int count, char **operands,
		  struct error *err)
{
	int code = run_dir_open(&off->run, false, err);

	if (code == -ENOENT && off->settings->all)
		return 0;
	if (code)
		return code;
	if (off->settings->all)
		retire_everything(&off->run);
	else
		code = off_named(off, count, operands, err);
	kmod_hand_over(&off->run, NULL);
	keep_start(&off->run, NULL);
	run_dir_close(&off->run);
	return code;
}

/* The exit status. */
static int off_operands(struct off *off, int count, char **operands)
{
	struct error err = { 0 };
	int status;

	if (off->settings->all == (count > 0) ||
	    (off->settings->all && off->settings->job.selection.count)) {
		fprintf(stderr, "trace: off: name TDFs, or give --all\n"
			"trace: try 'trace off --help'\n");
		return COMMAND_MISUSE;
	}
	status = command_end(off_do(off, count, operands, &err), &err);
	return off->failures ? COMMAND_FAILED : status;
}

static int off_run(int argc, char **argv)
{
	struct off_settings settings = { 0 };
	struct off off = { .settings = &settings };
	int status, first = command_parse(&command_off, argc, argv, 0, -1,
					  &settings, &status);

	if (first >= 0)
		status = off_operands(&off, argc - first, argv + first);
	selection_free(&settings.job.selection);
	return status;
}

const struct command command_off = {
	.def = {
		.program = "trace", .name = "off",
		.operands = "[APP|APP(MINOR|GROUP|TYPE,...)|MAJORS...]",
		.help = "disarm; what was recorded stays in the buffer",
		.options = options,
	},
	.run = off_run,
};
