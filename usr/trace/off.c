// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/text.h"
#include "lib/arm/arm.h"

struct off_settings {
	struct job_settings job;	/* first: --minor, --group, --type */
	bool all;
};

static const struct option_def options[] = {
	{ "all", 'a', NULL,
	  "disarm everything and remove the buffer, also of another version",
	  OPTION_PLACE(struct off_settings, all) },
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
	unsigned int failures;		/* each was reported */
};

static bool off_is_static(const struct session *session)
{
	return session->entry->index == RAS_STATIC_SESSION;
}

/* Of the armed points of the chosen sessions, those that are selected. */
static int points_off_choose(struct off *off, const struct selection *selection,
			     const bool *chosen, struct error *err)
{
	struct selection_point *points;
	size_t room = 1, count = 0, at = 0;
	struct tdf *tdf = NULL;
	bool *picked;
	int code = 0;

	for (size_t i = 0; i < off->list.count; i++)
		room += chosen[i] ? off->list.items[i].entry->points : 0;
	points = calloc(room, sizeof(*points));
	picked = calloc(room, sizeof(*picked));
	for (size_t i = 0; points && i < off->list.count; i++) {
		const struct session *session = &off->list.items[i];

		if (!chosen[i])
			continue;
		if (!tdf && !code)
			code = session_tdf_open(session, &tdf);
		for (uint32_t k = 0; k < session->entry->points; k++)
			if (session->points[k].state == RAS_POINT_ARMED)
				points[count++] = (struct selection_point){
					session->points[k].minor,
					session->points[k].type,
					session->points[k].group,
				};
	}
	if (code || !points || !picked)
		code = error_no_memory(err);
	else
		code = selection_pick(selection, tdf, points, count, picked,
				      err);
	for (size_t i = 0; i < off->list.count && !code; i++) {
		const struct session *session = &off->list.items[i];

		for (uint32_t k = 0; chosen[i] && k < session->entry->points;
		     k++)
			if (session->points[k].state == RAS_POINT_ARMED &&
			    picked[at++])
				off->points[i][k] = off->wanted[i] = true;
	}
	tdf_close(tdf);
	free(points);
	free(picked);
	return code;
}

/* Give up what waits for its kernel module; was there any? */
static bool target_forget(struct off *off, const char *target)
{
	char path[PATH_MAX];

	return keep_forget(&off->run, target) ||
	       (!select_tdf(target, NULL, path, NULL) &&
		keep_forget(&off->run, path));
}

static int off_target_choose(struct off *off, const char *target,
			     const struct selection *selection,
			     struct error *err)
{
	bool *chosen = calloc(off->list.count + 1, sizeof(*chosen));
	int code;

	if (!chosen)
		return error_no_memory(err);
	code = select_armed(&off->list, target, chosen, err);
	if (code && target_forget(off, target)) {
		free(chosen);
		return 0;
	}
	if (!code && selection->count)
		code = points_off_choose(off, selection, chosen, err);
	/* Whole sessions, also those whose points have all ended. */
	for (size_t i = 0; i < off->list.count && !code && !selection->count;
	     i++) {
		const struct session *session = &off->list.items[i];

		if (!chosen[i])
			continue;
		off->wanted[i] = true;
		for (uint32_t k = 0; k < session->entry->points; k++) {
			off->points[i][k] = true;
			if (off_is_static(session))
				off->majors[k] = off->any_major = true;
		}
	}
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
		code = off_target_choose(off, target, &selection, err);
	selection_free(&selection);
	free(target);
	return code;
}

static int points_off(struct off *off, struct error *err)
{
	int code = 0;

	for (size_t i = 0; i < off->list.count && !code; i++) {
		const struct session *session = &off->list.items[i];

		if (!off->wanted[i] || off_is_static(session))
			continue;
		if (session->entry->changed) {
			fputs("trace: '", stderr);
			safe_text_print(stderr, session->entry->module, false);
			fputs("' was written to while it was armed: restart what was started since\n",
			      stderr);
		}
		code = retire_points(&off->run, &off->buffer, session,
				     off->points[i], RAS_POINT_OFF, err);
	}
	if (!code && off->any_major)
		code = static_majors_off(&off->run, &off->buffer, off->majors,
					 err);
	return code;
}

/* In the buffer that is open. */
static int off_sessions(struct off *off, int count, char **operands,
			struct error *err)
{
	int code = session_list_read(&off->list, &off->buffer, off->run.path,
				     err);
	bool failed;

	if (code)
		return code;
	off->points = calloc(off->list.count + 1, sizeof(*off->points));
	off->wanted = calloc(off->list.count + 1, sizeof(*off->wanted));
	failed = !off->points || !off->wanted;
	for (size_t i = 0; i < off->list.count && !failed; i++) {
		off->points[i] = calloc(off->list.items[i].entry->points + 1,
					sizeof(bool));
		failed = !off->points[i];
	}
	for (int i = 0; i < count && !failed; i++) {
		struct error why = { 0 };

		if (!operand_choose(off, operands[i], &why))
			continue;
		/* "'app' is not armed" is enough */
		if (!strstr(why.text, operands[i]))
			error_prefix(&why, "cannot disarm '%s': ", operands[i]);
		error_print("trace", &why);
		off->failures++;
	}
	code = failed ? error_no_memory(err) : points_off(off, err);
	for (size_t i = 0; i < off->list.count && off->points; i++)
		free(off->points[i]);
	free(off->points);
	free(off->wanted);
	session_list_free(&off->list);
	return code;
}

static int off_named(struct off *off, int count, char **operands,
		     struct error *err)
{
	int code = buffer_open(&off->buffer, off->run.path, true, err);

	if (!code) {
		code = off_sessions(off, count, operands, err);
		buffer_close(&off->buffer);
		return code;
	}
	if (code != -ENOENT)
		return code;
	/* Where nothing was armed yet, TDFs may wait for kernel modules. */
	for (int i = 0; i < count; i++) {
		if (target_forget(off, operands[i]))
			continue;
		fprintf(stderr, "trace: '%s' is not armed: there is no trace buffer\n",
			operands[i]);
		off->failures++;
	}
	return 0;
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

static int off_run(int argc, char **argv)
{
	struct off_settings settings = { 0 };
	struct off off = { .settings = &settings };
	struct error err = { 0 };
	int status, first = command_parse(&command_off, argc, argv, 0, -1,
					  &settings, &status);

	if (first >= 0 && (settings.all == (argc > first) ||
			   (settings.all && settings.job.selection.count))) {
		status = command_misuse(&command_off,
					"name TDFs, or give --all");
	} else if (first >= 0) {
		status = command_end(off_do(&off, argc - first, argv + first,
					    &err), &err);
		status = off.failures ? COMMAND_FAILED : status;
	}
	selection_free(&settings.job.selection);
	return status;
}

const struct command command_off = {
	.def = {
		.program = "trace", .name = "off",
		.operands = "[APP|APP(MINOR|GROUP|TYPE,...)|MAJORS...]",
		.help = "disarm tracepoints; the records stay in the buffer",
		.options = options,
	},
	.run = off_run,
};
