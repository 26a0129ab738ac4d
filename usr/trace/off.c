// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include "retire.h"
#include "select.h"

static int take_all(void *context, const char *value)
{
	*(bool *)context = true;
	return 0;
}

static const struct option_def options[] = {
	{ "all", 'a', NULL,
	  "disarm everything and remove the buffer, of any version",
	  take_all },
	{ NULL }
};

/* All operands are looked up before the first is disarmed. */
static int off_named(struct run_dir *run, int count, char **names,
		     struct error *err)
{
	struct session_list list;
	struct buffer buffer;
	int code = buffer_open(&buffer, run->path, true, err);

	if (code)
		return code;
	code = session_list_read(&list, &buffer, run->path, err);
	if (code) {
		buffer_close(&buffer);
		return code;
	}
	for (int i = 0; i < count && !code; i++)
		code = select_session(&list, names[i], err) ? 0 : -ENOENT;
	for (int i = 0; i < count && !code; i++) {
		struct session *session = select_session(&list, names[i], NULL);

		/* none: it is named twice */
		if (!session)
			continue;
		code = retire_session(run, &buffer, session, err);
		session->armed = false;
	}
	session_list_free(&list);
	buffer_close(&buffer);
	return code;
}

static int off(bool all, int count, char **names, struct error *err)
{
	struct run_dir run;
	int code = run_dir_open(&run, false, err);

	if (code == -ENOENT && all)
		return 0;
	if (code)
		return code;
	if (all)
		retire_everything(&run);
	else
		code = off_named(&run, count, names, err);
	run_dir_close(&run);
	return code;
}

static int off_run(int argc, char **argv)
{
	struct error err = { 0 };
	bool all = false;
	int status, first = command_parse(&command_off, argc, argv, 0, -1,
					  &all, &status);

	if (first < 0)
		return status;
	if (all == (argc > first)) {
		fprintf(stderr, "trace: off: name TDFs, or give --all\n"
			"trace: try 'trace off --help'\n");
		return COMMAND_MISUSE;
	}
	return command_end(off(all, argc - first, argv + first, &err), &err);
}

const struct command command_off = {
	.def = {
		.program = "trace", .name = "off", .operands = "[APP.tdf...]",
		.help = "disarm; what was recorded stays in the buffer",
		.options = options,
	},
	.run = off_run,
};
