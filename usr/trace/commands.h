/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of trace: each parses its arguments, prints what is to be said
 * and returns the exit status. */
#ifndef TRACE_COMMANDS_H
#define TRACE_COMMANDS_H

#include "../lib/error.h"
#include "../lib/options.h"

#define COMMAND_DONE	0
#define COMMAND_FAILED	1
#define COMMAND_MISUSE	2

struct command {
	struct command_def def;
	int (*run)(int argc, char **argv);
};

extern const struct command command_on, command_off, command_query,
	command_suspend, command_resume, command_get, command_clear,
	command_spool, command_run, command_show, command_explain_loss,
	command_keep;

/*
 * Parse, and check the number of operands (most < 0: any). Returns the index
 * of the first operand, or -1 with *status set.
 */
int command_parse(const struct command *command, int argc, char **argv,
		  int least, int most, void *context, int *status);

/* Print the error, if there is one, and turn it into the exit status. */
int command_end(int code, const struct error *err);

#endif
