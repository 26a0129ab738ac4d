// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/buffer/pin.h"
#include "commands.h"
#include "slash.h"

#define PROGRAM	"trace"

static const struct command *const commands[] = {
	&command_on, &command_off, &command_query, &command_suspend,
	&command_resume, &command_get, &command_spool, &command_clear,
	&command_follow, &command_run, &command_show, &command_explain_loss,
	&command_top, &command_wait, &command_keep,
	NULL
};

static int take_pin_dir(void *context, const char *value)
{
	if (!*value) {
		fputs(PROGRAM ": --pin-dir: '' is no directory\n", stderr);
		return -1;
	}
	if (!setenv(PIN_RUN_VARIABLE, value, 1))
		return 0;
	perror(PROGRAM ": cannot take --pin-dir");
	return -1;
}

static const struct option_def options[] = {
	{ "pin-dir", 'd', "DIR",
	  "use this run directory, in a bpffs, instead of " PIN_RUN_DEFAULT,
	  take_pin_dir },
	{ NULL }
};

static const struct command_program program = {
	.name = PROGRAM,
	.help = "trace programs and the kernel without stopping them",
	.commands = commands,
	.options = options,
};

static int trace_run(int argc, char **argv)
{
	return command_main(&program, argc, argv);
}

int main(int argc, char **argv)
{
	return slash_used(argc, argv) ? slash_run(argc, argv, trace_run) :
	       trace_run(argc, argv);
}
