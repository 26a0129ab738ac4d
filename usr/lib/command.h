/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programs that consist of commands: each parses its arguments, prints its
 * messages and returns the exit status.
 */
#ifndef LIB_COMMAND_H
#define LIB_COMMAND_H

#include "error.h"
#include "options.h"

#define COMMAND_DONE	0
#define COMMAND_FAILED	1
#define COMMAND_MISUSE	2

struct command {
	struct command_def def;
	int (*run)(int argc, char **argv);
};

struct command_program {
	const char *name, *help;
	const struct command *const *commands;	/* ends with NULL */
	const struct option_def *options;	/* in front of the command */
};

/* Run the command that argv names; the exit status. */
int command_main(const struct command_program *program, int argc, char **argv);

/*
 * Parse, and check the number of operands (most < 0: any). Returns the index
 * of the first operand, or -1 with *status set.
 */
int command_parse(const struct command *command, int argc, char **argv,
		  int least, int most, void *context, int *status);

/* Report wrong arguments, and name --help. Returns COMMAND_MISUSE. */
int command_misuse(const struct command *command, const char *why);

/* Name of the program that runs, for messages; "" before command_main(). */
const char *command_program_name(void);

/* Print the error of the program that runs, if there is one, and turn it into the
 * exit status. */
int command_end(int code, const struct error *err);

#endif
