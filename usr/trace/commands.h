/* SPDX-License-Identifier: GPL-2.0 */
/* The commands of trace. */
#ifndef TRACE_COMMANDS_H
#define TRACE_COMMANDS_H

#include "lib/command.h"

extern const struct command command_on, command_off, command_query,
	command_suspend, command_resume, command_get, command_clear,
	command_spool, command_follow, command_run, command_show,
	command_explain_loss, command_wait, command_top, command_keep;

#endif
