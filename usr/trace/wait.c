// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "lib/arm/arm.h"
#include "lib/buffer/pin.h"
#include "lib/number.h"
#include "lib/path.h"
#include "lib/text.h"

#define WAIT_US		50000	/* between two looks */
#define LOOKS_ALONE	20	/* without a keeper, before that is reported */
#define STATUS_TIME	3	/* the time was over */

struct wait_settings {
	uint64_t timeout;	/* ns; 0: none */
	uint64_t count;		/* files and commands */
};

static int wait_take_timeout(void *context, const char *value)
{
	if (quantity_time(value, &((struct wait_settings *)context)->timeout))
		return 0;
	fprintf(stderr, "trace: --timeout '%s': " QUANTITY_TIME "\n", value);
	return -1;
}

static int wait_take_count(void *context, const char *value)
{
	struct wait_settings *settings = context;

	if (quantity_number(value, &settings->count) && settings->count)
		return 0;
	fprintf(stderr, "trace: --count '%s': a number from 1 is expected\n",
		value);
	return -1;
}

static const struct option_def options[] = {
	{ "timeout", 't', "TIME", "give up after this time: 90 (seconds), 5m or 2h",
	  wait_take_timeout },
	{ "count", 'n', "N", "until so many files are written and commands have ended (1)",
	  wait_take_count },
	{ NULL }
};

/* What triggers there are, and what came of them. */
struct wait_look {
	bool any;		/* an armed session has one */
	bool kept;		/* ... which needs the keeper */
	bool stopped;		/* the recording is */
	uint64_t done, failed;
};

static void wait_session_look(struct wait_look *look,
			      const struct session *session,
			      const struct ras_trigger *trigger, bool print)
{
	struct keep_tasks tasks;
	struct keep_did did;

	keep_tasks_read(&tasks, session->dir);
	for (int kind = 0; kind < KEEP_TRIGGERS; kind++) {
		if (!tasks.triggers[kind].count)
			continue;
		look->any = true;
		look->kept |= kind != KEEP_STOP;
		if (kind == KEEP_STOP)
			continue;
		keep_did_read(&did, session->dir, kind);
		look->done += did.done;
		look->failed += did.failed;
		if (!print || !(did.done + did.failed))
			continue;
		printf("%s: ", keep_trigger_names[kind]);
		safe_text_print(stdout, did.last, false);
		putchar('\n');
	}
	keep_tasks_free(&tasks);
	if (trigger->state != RAS_TRIGGER_FROZEN ||
	    trigger->session != session->entry->index)
		return;
	look->stopped = true;
	if (print && trigger->point < session->entry->points) {
		fputs("stop: ", stdout);
		safe_text_print(stdout, path_base(session->entry->tdf), false);
		printf("(%u)\n", session->points[trigger->point].minor);
	}
}

/* The sessions that are meant. */
static int wait_look(struct wait_look *look, int count, char **names,
		     bool print, struct error *err)
{
	struct session_list list;
	struct buffer buffer;
	bool *chosen;
	int code = buffer_open(&buffer, pin_run(), false, err);

	*look = (struct wait_look){ 0 };
	if (code)
		return code;
	code = session_list_read(&list, &buffer, pin_run(), err);
	if (code) {
		buffer_close(&buffer);
		return code;
	}
	chosen = calloc(list.count + 1, sizeof(*chosen));
	code = chosen ? 0 : error_no_memory(err);
	for (int i = 0; i < count && !code; i++)
		code = select_armed(&list, names[i], chosen, err);
	for (size_t i = 0; i < list.count && !code; i++)
		if (list.items[i].armed && (chosen[i] || !count))
			wait_session_look(look, &list.items[i], buffer.trigger,
					  print);
	free(chosen);
	session_list_free(&list);
	buffer_close(&buffer);
	return code;
}

/* An exit status, or a negative errno with err set. */
static int wait_for(const struct wait_settings *settings, int count,
		    char **names, struct error *err)
{
	uint64_t begun = buffer_time(), wanted = settings->count;
	unsigned int alone = 0;
	bool looked = false;
	struct wait_look look;
	int code = run_dir_check_reader(pin_run(), err);

	if (code)
		return code;
	for (;;) {
		code = wait_look(&look, count, names, false, err);
		if (code)
			return code;
		if (look.stopped || look.done + look.failed >= wanted)
			break;
		if (!look.any)
			return error_set(err, -ENOENT, looked ?
					 "it was disarmed before a trigger was hit" :
					 "nothing that is armed has a trigger");
		alone = look.kept && !keeper_process_id(pin_run()) ?
			alone + 1 : 0;
		if (alone > LOOKS_ALONE) {
			error_set(err, -ESRCH,
				  "the keeper isn't running: what is hit has no effect");
			error_hint(err, "the next command that changes something starts it, such as 'trace resume'");
			return -ESRCH;
		}
		if (settings->timeout &&
		    buffer_time() - begun >= settings->timeout)
			return STATUS_TIME;
		looked = true;
		usleep(WAIT_US);
	}
	code = wait_look(&look, count, names, true, err);
	if (code)
		return code;
	return look.failed ? COMMAND_FAILED : COMMAND_DONE;
}

static int wait_run(int argc, char **argv)
{
	struct wait_settings settings = { .count = 1 };
	struct error err = { 0 };
	int status, first = command_parse(&command_wait, argc, argv, 0, -1,
					  &settings, &status);

	if (first < 0)
		return status;
	status = wait_for(&settings, argc - first, argv + first, &err);
	return status < 0 ? command_end(status, &err) : status;
}

const struct command command_wait = {
	.def = {
		.program = "trace", .name = "wait", .operands = "[APP...]",
		.help = "wait until a trigger has fired: 3 if the time is over before",
		.options = options,
	},
	.run = wait_run,
};
