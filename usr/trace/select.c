// SPDX-License-Identifier: GPL-2.0
#include "select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void select_path(const char *name, char path[PATH_MAX])
{
	const char *slash = strrchr(name, '/');
	char folder[PATH_MAX], resolved[PATH_MAX];

	if (realpath(name, path))
		return;
	snprintf(folder, sizeof(folder), "%.*s",
		 slash ? (int)(slash - name + 1) : 1, slash ? name : ".");
	if (!realpath(folder, resolved) ||
	    snprintf(path, PATH_MAX, "%s/%s", resolved,
		     slash ? slash + 1 : name) >= PATH_MAX)
		snprintf(path, PATH_MAX, "%s", name);
}

struct session *select_by_path(const struct session_list *list,
			       const char *path)
{
	const size_t most = sizeof(list->items->entry->tdf) - 1;
	size_t length = strlen(path);

	/* the log holds the end of a longer path */
	if (length > most)
		path += length - most;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].armed &&
		    !strcmp(list->items[i].entry->tdf, path))
			return &list->items[i];
	return NULL;
}

struct session *select_session(const struct session_list *list,
			       const char *operand, struct error *err)
{
	struct session *session;
	char path[PATH_MAX];

	select_path(operand, path);
	session = select_by_path(list, path);
	if (session)
		return session;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].armed &&
		    !strcmp(list->items[i].name, operand))
			return &list->items[i];
	error_set(err, -ENOENT, "'%s' is not armed", operand);
	error_hint(err, "'trace query' shows what is");
	return NULL;
}
