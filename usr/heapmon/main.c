// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include "heapmon/command/commands.h"

static const struct command *const commands[] = {
	&heapmon_record, &heapmon_report, &heapmon_convert, &heapmon_top, NULL
};

static const struct option_def options[] = { { NULL } };

static const struct command_program program = {
	.name = "heapmon",
	.help = "trace the heap of running programs",
	.commands = commands,
	.options = options,
};

int main(int argc, char **argv)
{
	return command_main(&program, argc, argv);
}
