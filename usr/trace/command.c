// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include "commands.h"

#define PROGRAM	"trace"

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
	fprintf(stderr, PROGRAM ": %s: %s\n" PROGRAM ": try '" PROGRAM " %s --help'\n",
		command->def.name, wrong, command->def.name);
	*status = COMMAND_MISUSE;
	return -1;
}

int command_end(int code, const struct error *err)
{
	if (!code)
		return COMMAND_DONE;
	error_print(PROGRAM, err);
	return COMMAND_FAILED;
}
