// SPDX-License-Identifier: GPL-2.0
#include "command.h"

#include <stdio.h>
#include <string.h>

#define HELP_BYTES	2048

static const char *running = "";	/* name of the program */

int command_misuse(const struct command *command, const char *why)
{
	const struct command_def *def = &command->def;

	fprintf(stderr, "%s: %s: %s\n%s: try '%s %s --help'\n", def->program,
		def->name, why, def->program, def->program, def->name);
	return COMMAND_MISUSE;
}

int command_parse(const struct command *command, int argc, char **argv,
		  int least, int most, void *context, int *status)
{
	int first = options_parse(&command->def, argc, argv, false, context);
	const char *wrong = NULL;

	if (first < 0) {
		*status = first == OPTIONS_DONE ? COMMAND_DONE : COMMAND_MISUSE;
		return -1;
	}
	if (argc - first < least)
		wrong = "an operand is missing";
	else if (most >= 0 && argc - first > most)
		wrong = "too many operands";
	if (!wrong)
		return first;
	*status = command_misuse(command, wrong);
	return -1;
}

const char *command_program_name(void)
{
	return running;
}

int command_end(int code, const struct error *err)
{
	if (!code)
		return COMMAND_DONE;
	error_print(running, err);
	return COMMAND_FAILED;
}

static int output_check(int status)
{
	return error_check_stdout(running, "cannot write to stdout") ?
	       COMMAND_FAILED : status;
}

static void help_make(const struct command_program *program, char *help,
		      size_t size)
{
	const struct command *const *command = program->commands;
	size_t used = snprintf(help, size, "%s\n\ncommands:", program->help);

	for (; *command && used < size; command++)
		used += snprintf(help + used, size - used, "\n  %-12s %s",
				 (*command)->def.name, (*command)->def.help);
}

/* The index of the command's name; or -1 with *status set. */
static int command_find(const struct command_program *program, int argc,
			char **argv, int *status)
{
	char help[HELP_BYTES];
	struct command_def def = {
		.program = program->name,
		.operands = "COMMAND [ARGUMENT...]",
		.help = help,
		.options = program->options,
	};
	int first;

	help_make(program, help, sizeof(help));
	first = options_parse(&def, argc, argv, true, NULL);
	if (first > 0 && first < argc)
		return first;
	*status = first == OPTIONS_DONE ? COMMAND_DONE : COMMAND_MISUSE;
	if (first >= 0)
		fprintf(stderr, "%s: a command is missing\n%s: try '%s --help'\n",
			program->name, program->name, program->name);
	return -1;
}

int command_main(const struct command_program *program, int argc, char **argv)
{
	const struct command *const *command = program->commands;
	int status, first;

	running = program->name;
	first = command_find(program, argc, argv, &status);
	if (first < 0)
		return output_check(status);
	for (; *command; command++)
		if (!strcmp((*command)->def.name, argv[first]))
			return output_check((*command)->run(argc - first,
							    argv + first));
	fprintf(stderr, "%s: unknown command '%s'\n%s: try '%s --help'\n",
		running, argv[first], running, running);
	return COMMAND_MISUSE;
}
