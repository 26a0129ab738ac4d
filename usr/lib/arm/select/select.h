/* SPDX-License-Identifier: GPL-2.0 */
/* Which TDF, and which armed sessions, an operand means. */
#ifndef TRACE_SELECT_H
#define TRACE_SELECT_H

#include "lib/buffer/session.h"
#include "settings.h"

/* The absolute path of a TDF, that need not be there (any more). */
void select_path(const char *name, char path[PATH_MAX]);

/*
 * The file of a TDF: its path, or the name of its module, looked for as NAME
 * and NAME.tdf in the module's directory, TRACE_PATH, /etc/rastrace and the
 * current directory. settings (or NULL) may say where the module is. 0, or a
 * negative errno with err set.
 */
int select_tdf(const char *name, const struct job_settings *settings,
	       char path[PATH_MAX], struct error *err);

/*
 * Set chosen[i] for the armed sessions of the list that a name means: the path
 * of a TDF, the name of a session ("app" means all of its TDF, "app_2" that
 * one), or as in select_tdf(). 0, or -ENOENT with err set.
 */
int select_armed(const struct session_list *list, const char *name,
		 bool *chosen, struct error *err);

/* "/etc/rastrace/app.tdf" is called "app", and "app.tdf". */
bool select_is_called(const char *tdf, const char *name);

/* Is it an armed session of the TDF at this absolute path? */
bool select_is_of(const struct session *session, const char *path);

/* Which sessions, armed or over, and which of their tracepoints operands name:
 * "app", "app(3)", "app(QUE,PRE)" (selection.h). */

/*
 * Set chosen[session of the list][point] for what the operand means; the others
 * stay. tdfs[] has the TDF of each session, or NULL. 0, or a negative errno with
 * err set: -ENOENT when it means nothing that was ever armed.
 */
int choice_add(const struct session_list *list, struct tdf *const *tdfs,
	       const char *operand, bool *const *chosen, struct error *err);

#endif
