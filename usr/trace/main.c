// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../lib/pin.h"
#include "commands.h"
#include "slash.h"

#define PROGRAM	"trace"

static const struct command *const commands[] = {
	&command_on, &command_off, &command_query, &command_suspend,
	&command_resume, &command_get, &command_spool, &command_clear,
	&command_run, &command_show, &command_explain_loss, &command_keep,
};

#define COMMANDS	(sizeof(commands) / sizeof(commands[0]))

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
	  "in this bpffs directory instead of " PIN_RUN_DEFAULT,
	  take_pin_dir },
	{ NULL }
};

static int output_check(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	perror(PROGRAM ": cannot write to stdout");
	return COMMAND_FAILED;
}

/* The program's own help: the commands stand in the table above. */
static int program_main(int argc, char **argv, const char **name)
{
	char help[2048] =
		"trace programs and the kernel without stopping them\n\ncommands:\n";
	struct command_def program = {
		.program = PROGRAM,
		.operands = "COMMAND [ARGUMENT...]",
		.help = help,
		.options = options,
	};
	int first;

	for (size_t i = 0; i < COMMANDS; i++) {
		size_t used = strlen(help);

		snprintf(help + used, sizeof(help) - used, "  %-12s %s%s",
			 commands[i]->def.name, commands[i]->def.help,
			 i + 1 < COMMANDS ? "\n" : "");
	}
	first = options_parse(&program, argc, argv, true, NULL);
	*name = first > 0 && first < argc ? argv[first] : NULL;
	if (first == OPTIONS_DONE)
		return COMMAND_DONE;
	if (first >= 0 && !*name)
		fprintf(stderr, PROGRAM ": a command is missing\n"
			PROGRAM ": try '" PROGRAM " --help'\n");
	return *name ? first : COMMAND_MISUSE;
}

static int run(int argc, char **argv)
{
	const char *name;
	int first = program_main(argc, argv, &name);

	if (!name)
		return output_check(first);
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->def.name, name))
			return output_check(commands[i]->run(argc - first,
							     argv + first));
	fprintf(stderr, PROGRAM ": unknown command '%s'\n"
		PROGRAM ": try '" PROGRAM " --help'\n", name);
	return COMMAND_MISUSE;
}

int main(int argc, char **argv)
{
	return slash_used(argc, argv) ? slash_run(argc, argv, run) :
	       run(argc, argv);
}
