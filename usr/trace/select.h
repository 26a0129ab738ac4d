/* SPDX-License-Identifier: GPL-2.0 */
/* Which armed session an operand means. */
#ifndef TRACE_SELECT_H
#define TRACE_SELECT_H

#include <limits.h>
#include "../lib/session.h"

/* The absolute path of a TDF, that need not be there (any more). */
void select_path(const char *name, char path[PATH_MAX]);

/* The armed session of the TDF at this absolute path; NULL: it isn't armed. */
struct session *select_by_path(const struct session_list *list,
			       const char *path);

/* By the TDF's path, or by the session's name ("app"). NULL with err set. */
struct session *select_session(const struct session_list *list,
			       const char *operand, struct error *err);

#endif
