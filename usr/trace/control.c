// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include "../lib/session.h"
#include "pins.h"
#include "retire.h"
#include "select.h"
#include "sesslog.h"

static const struct option_def no_options[] = { { NULL } };

/* What a command does with the live buffer, under the lock. */
typedef int control_action(struct run_dir *run, struct buffer *buffer,
			   const struct session_list *list, int count,
			   char **names, struct error *err);

static int control(control_action *action, int count, char **names,
		   struct error *err)
{
	struct session_list list;
	struct run_dir run;
	struct buffer buffer;
	int code = run_dir_open(&run, false, err);

	if (code)
		return code;
	code = buffer_open(&buffer, run.path, true, err);
	if (!code) {
		code = session_list_read(&list, &buffer, run.path, err);
		if (!code) {
			code = action(&run, &buffer, &list, count, names, err);
			session_list_free(&list);
		}
		buffer_close(&buffer);
	}
	run_dir_close(&run);
	return code;
}

static int states_set(const struct session_list *list, int count, char **names,
		      uint32_t state, struct error *err)
{
	int code = 0, armed = 0;

	for (int i = 0; i < count; i++)
		if (!select_session(list, names[i], err))
			return -ENOENT;
	for (int i = 0; i < count && !code; i++)
		code = retire_state_set(select_session(list, names[i],
						       err)->dir, state, err);
	for (size_t i = 0; !count && i < list->count && !code; i++) {
		if (!list->items[i].armed)
			continue;
		armed++;
		code = retire_state_set(list->items[i].dir, state, err);
	}
	if (!count && !armed && !code)
		return error_set(err, -ENOENT, "nothing is armed");
	return code;
}

static int suspend(struct run_dir *run, struct buffer *buffer,
		   const struct session_list *list, int count, char **names,
		   struct error *err)
{
	return states_set(list, count, names, RAS_STATE_SUSPENDED, err);
}

static int resume(struct run_dir *run, struct buffer *buffer,
		  const struct session_list *list, int count, char **names,
		  struct error *err)
{
	return states_set(list, count, names, RAS_STATE_ON, err);
}

/*
 * What is in the buffer now is cleared; sessions that are over are forgotten
 * with it. Their log entries go when nothing is armed, since entries of armed
 * sessions stay where they are.
 */
static int clear(struct run_dir *run, struct buffer *buffer,
		 const struct session_list *list, int count, char **names,
		 struct error *err)
{
	struct ras_control *control = buffer->control;
	bool armed = false;
	uint64_t size;

	for (uint32_t row = 0; row < buffer->slices; row++) {
		const struct ras_slice *slice = buffer_slice(buffer, row,
							     &size);

		__atomic_store_n(&control->tail[row],
				 __atomic_load_n(&slice->head,
						 __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
	}
	for (size_t i = 0; i < list->count; i++) {
		armed |= list->items[i].armed;
		if (!list->items[i].armed && list->items[i].dir[0])
			pins_remove(run->path, list->items[i].dir);
	}
	if (!armed)
		sesslog_reset(buffer);
	return 0;
}

static int suspend_run(int argc, char **argv)
{
	struct error err = { 0 };
	int status, first = command_parse(&command_suspend, argc, argv, 0, -1,
					  NULL, &status);

	return first < 0 ? status :
	       command_end(control(suspend, argc - first, argv + first, &err),
			   &err);
}

static int resume_run(int argc, char **argv)
{
	struct error err = { 0 };
	int status, first = command_parse(&command_resume, argc, argv, 0, -1,
					  NULL, &status);

	return first < 0 ? status :
	       command_end(control(resume, argc - first, argv + first, &err),
			   &err);
}

static int clear_run(int argc, char **argv)
{
	struct error err = { 0 };
	int status, first = command_parse(&command_clear, argc, argv, 0, 0,
					  NULL, &status);

	return first < 0 ? status :
	       command_end(control(clear, 0, NULL, &err), &err);
}

const struct command command_suspend = {
	.def = {
		.program = "trace", .name = "suspend",
		.operands = "[APP.tdf...]",
		.help = "stop recording for a while, of all without a name",
		.options = no_options,
	},
	.run = suspend_run,
};

const struct command command_resume = {
	.def = {
		.program = "trace", .name = "resume",
		.operands = "[APP.tdf...]",
		.help = "record again", .options = no_options,
	},
	.run = resume_run,
};

const struct command command_clear = {
	.def = {
		.program = "trace", .name = "clear", .operands = "",
		.help = "discard the records in the buffer",
		.options = no_options,
	},
	.run = clear_run,
};
