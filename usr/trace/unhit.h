/* SPDX-License-Identifier: GPL-2.0 */
/* A run in which no tracepoint was hit. */
#ifndef TRACE_UNHIT_H
#define TRACE_UNHIT_H

#include "lib/buffer/session.h"
#include "lib/arm/arm.h"

/* Has any tracepoint of these sessions been hit? What can't be read, has. */
bool unhit_any_hit(const struct session_list *list,
		   const struct buffer *buffer);

/* Say so when the program, named as for execvp(3), isn't a traced file. */
void unhit_tell(const struct job *job, const char *program);

#endif
