// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/buffer/mappings.h"
#include "lib/arm/arm.h"

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
	kmod_hand_over(&run, NULL);
	keep_start(&run, NULL);
	run_dir_close(&run);
	return code;
}

static int control_choose(const struct session_list *list, const char *name,
			  bool *chosen, struct error *err)
{
	bool majors[RAS_STATIC_MAJORS] = { false };
	struct selection selection;
	char *target;
	int code = selection_parse(&selection, name, &target, err);

	if (code) {
		error_prefix(err, "'%s': ", name);
		return code;
	}
	if (selection.count) {
		code = error_set(err, -EINVAL,
				 "'%s': suspend and resume take all tracepoints of a TDF",
				 name);
		error_hint(err, "some can be disarmed: trace off '%s'", name);
	} else {
		code = select_armed(list, target, chosen, err);
	}
	selection_free(&selection);
	free(target);
	if (code != -ENOENT || static_majors_parse(name, majors, NULL) <= 0)
		return code;
	/* Majors have one state: that of the session that they are. */
	error_set(err, -EINVAL,
		  "'%s': static majors are suspended and resumed all together",
		  name);
	error_hint(err, "their name is 'static'; some can be switched off: trace off %s",
		   name);
	return -EINVAL;
}

/* Of the sessions that the names mean; without any, of all that are armed. */
static int states_set(const struct session_list *list, int count, char **names,
		      uint32_t state, struct error *err)
{
	bool *chosen = calloc(list->count + 1, sizeof(*chosen)), any = false;
	int code = 0;

	if (!chosen)
		return error_no_memory(err);
	for (int i = 0; i < count && !code; i++)
		code = control_choose(list, names[i], chosen, err);
	for (size_t i = 0; i < list->count; i++) {
		if (!count)
			chosen[i] = list->items[i].armed;
		any |= chosen[i];
	}
	if (!code && !any)
		code = error_set(err, -ENOENT, "nothing is armed");
	for (size_t i = 0; i < list->count && !code; i++)
		if (chosen[i])
			code = retire_state_set(list->items[i].dir, state, err);
	free(chosen);
	return code;
}

static int suspend(struct run_dir *run, struct buffer *buffer,
		   const struct session_list *list, int count, char **names,
		   struct error *err)
{
	return states_set(list, count, names, RAS_STATE_SUSPENDED, err);
}

/* false: it isn't frozen. */
static bool trigger_reset(struct buffer *buffer)
{
	uint64_t frozen = RAS_TRIGGER_FROZEN;

	if (!__atomic_compare_exchange_n(&buffer->trigger->state, &frozen,
					 RAS_TRIGGER_IDLE, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return false;
	fputs("trace: the trigger had stopped the recording; it goes on, "
	      "and stops at the next one\n", stderr);
	return true;
}

/* Frozen, nothing would be recorded in spite of the state, nor of what is armed
 * next. */
static int resume(struct run_dir *run, struct buffer *buffer,
		  const struct session_list *list, int count, char **names,
		  struct error *err)
{
	bool armed = false;
	int code;

	for (size_t i = 0; i < list->count; i++)
		armed |= list->items[i].armed;
	if (!count && !armed && trigger_reset(buffer))
		return 0;
	code = states_set(list, count, names, RAS_STATE_ON, err);
	if (!code)
		trigger_reset(buffer);
	return code;
}

/*
 * What is in the buffer now is cleared; sessions that are over are forgotten
 * with it. Their log entries and processes go when nothing is armed, since entries
 * of armed sessions stay where they are. The trigger stays as it is, too.
 */
static int clear(struct run_dir *run, struct buffer *buffer,
		 const struct session_list *list, int count, char **names,
		 struct error *err)
{
	bool armed = false;
	uint64_t size;
	int code = 0;

	buffer->control->cleared = buffer_time();
	for (uint32_t row = 0; row < buffer->slices; row++) {
		const struct ras_slice *slice = buffer_slice(buffer, row,
							     &size);

		__atomic_store_n(&buffer->control->tail[row],
				 __atomic_load_n(&slice->head,
						 __ATOMIC_ACQUIRE),
				 __ATOMIC_RELAXED);
	}
	for (size_t i = 0; i < list->count; i++) {
		const struct session *session = &list->items[i];

		armed |= session->armed &&
			 session->entry->index != RAS_STATIC_SESSION;
		if (session->armed && !code)
			code = aggregates_clear(session, err);
		if (!session->armed && session->dir[0])
			pins_remove(run->path, session->dir);
	}
	if (!armed) {
		sesslog_reset(buffer);
		processes_forget(buffer);
	}
	if (buffer->trigger->state == RAS_TRIGGER_FROZEN)
		fputs("trace: the trigger has stopped the recording: "
		      "'trace resume' goes on\n", stderr);
	return code;
}

static int control_run(const struct command *command, control_action *action,
		       int operands, int argc, char **argv)
{
	struct error err = { 0 };
	int status, first = command_parse(command, argc, argv, 0, operands,
					  NULL, &status);

	return first < 0 ? status :
	       command_end(control(action, argc - first, argv + first, &err),
			   &err);
}

static int suspend_run(int argc, char **argv)
{
	return control_run(&command_suspend, suspend, -1, argc, argv);
}

static int resume_run(int argc, char **argv)
{
	return control_run(&command_resume, resume, -1, argc, argv);
}

static int clear_run(int argc, char **argv)
{
	return control_run(&command_clear, clear, 0, argc, argv);
}

const struct command command_suspend = {
	.def = {
		.program = "trace", .name = "suspend",
		.operands = "[APP...]",
		.help = "stop the recording of the named files, or of all files",
		.options = no_options,
	},
	.run = suspend_run,
};

const struct command command_resume = {
	.def = {
		.program = "trace", .name = "resume",
		.operands = "[APP...]",
		.help = "restart the recording, also after a trigger stopped it",
		.options = no_options,
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
