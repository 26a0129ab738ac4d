// SPDX-License-Identifier: GPL-2.0
#include "select.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "lib/path.h"

#define TDF_ENDING	".tdf"
#define ETC_DIR		"/etc/rastrace"
#define PATH_VARIABLE	"TRACE_PATH"

void select_path(const char *name, char path[PATH_MAX])
{
	const char *slash = strrchr(name, '/');
	char folder[PATH_MAX], resolved[PATH_MAX];

	if (realpath(name, path))
		return;
	snprintf(folder, sizeof(folder), "%.*s",
		 slash ? (int)(slash - name + 1) : 1, slash ? name : ".");
	if (!realpath(folder, resolved) ||
	    snprintf(path, PATH_MAX, "%s/%s",
		     strcmp(resolved, "/") ? resolved : "",
		     path_base(name)) >= PATH_MAX)
		snprintf(path, PATH_MAX, "%s", name);
}

static bool select_ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length >= tail && !strcasecmp(text + length - tail, ending);
}

/* A TDF, of any version? Other files may have its name, such as the module. */
static bool is_tdf(const char *path)
{
	char magic[sizeof(((struct tdf_header *)0)->magic)];
	int fd = selection_is_file(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool found;

	if (fd < 0)
		return false;
	found = read(fd, magic, sizeof(magic)) == sizeof(magic) &&
		!memcmp(magic, TDF_MAGIC, sizeof(magic));
	close(fd);
	return found;
}

bool select_is_called(const char *tdf, const char *name)
{
	const char *base = path_base(tdf);
	size_t length = strlen(name);

	return !strncmp(base, name, length) &&
	       (!base[length] || !strcasecmp(base + length, TDF_ENDING));
}

/* NAME, NAME.tdf, and "libx.tdf" for libx.so.2, at a place that ends with a
 * slash or is "". */
static bool tdf_at(const char *folder, int length, const char *name,
		   char path[PATH_MAX])
{
	/* of a library or a kernel module; NULL: it has none */
	const char *ending = strstr(name, ".so") ?: strstr(name, ".ko");
	char file[PATH_MAX];

	for (int i = 0; i < (ending ? 3 : 2); i++) {
		int stem = i < 2 ? (int)strlen(name) : ending - name;

		if (snprintf(file, sizeof(file), "%.*s%s%.*s%s", length,
			     folder, length && folder[length - 1] != '/' ?
			     "/" : "", stem, name, i ? TDF_ENDING : "") >=
		    (int)sizeof(file) || !is_tdf(file))
			continue;
		select_path(file, path);
		return true;
	}
	return false;
}

/* In one of the directories of a list with colons. With `beside`, only where
 * there is a file of that name, too. */
static bool tdf_in_list(const char *list, const char *name, bool beside,
			char path[PATH_MAX])
{
	char module[PATH_MAX];

	while (list && *list) {
		int length = strcspn(list, ":");

		if (length && (!beside ||
			       (snprintf(module, sizeof(module), "%.*s/%s",
					 length, list, name) <
				(int)sizeof(module) &&
				selection_is_file(module))) &&
		    tdf_at(list, length, name, path))
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

static bool tdf_beside_given(const char *name,
			     const struct job_settings *settings,
			     char path[PATH_MAX])
{
	for (unsigned int i = 0; settings && i < settings->modules.count; i++) {
		const char *module = settings->modules.items[i];
		const char *slash = strrchr(module, '/');

		if (tdf_at(module, slash ? slash - module + 1 : 0, name, path))
			return true;
	}
	return false;
}

/* By the name of a module, without a directory. */
static bool tdf_search(const char *name, const struct job_settings *settings,
		       char path[PATH_MAX])
{
	return tdf_beside_given(name, settings, path) ||
	       tdf_in_list(getenv("PATH"), name, true, path) ||
	       tdf_in_list("/usr/local/lib:/usr/lib64:/usr/lib:/lib64:/lib",
			   name, true, path) ||
	       tdf_in_list(getenv(PATH_VARIABLE), name, false, path) ||
	       tdf_at(ETC_DIR, strlen(ETC_DIR), name, path) ||
	       tdf_at("", 0, name, path);
}

/* The kernel is called so in a TSF. */
static bool is_kernel(const char *name)
{
	return !strcasecmp(name, "KERNEL") || !strcasecmp(name, "OS2KRNL");
}

static bool tdf_find(const char *name, const struct job_settings *settings,
		     char path[PATH_MAX])
{
	if (strchr(name, '/'))
		return tdf_at("", 0, name, path);
	if (is_tdf(name)) {
		select_path(name, path);
		return true;
	}
	return tdf_search(name, settings, path) ||
	       (is_kernel(name) &&
		(tdf_search("kernel", settings, path) ||
		 tdf_search("vmlinux", settings, path)));
}

int select_tdf(const char *name, const struct job_settings *settings,
	       char path[PATH_MAX], struct error *err)
{
	if (tdf_find(name, settings, path))
		return 0;
	/* opening it will report what it is instead */
	if (select_ends_with(name, TDF_ENDING) || strchr(name, '/') ||
	    selection_is_file(name)) {
		select_path(name, path);
		return 0;
	}
	error_set(err, -ENOENT, "there is no TDF '%s'", name);
	error_hint(err, "looked for %s and %s" TDF_ENDING
		   " beside the module, in " PATH_VARIABLE ", " ETC_DIR
		   " and the current directory", name, name);
	return -ENOENT;
}

bool select_is_of(const struct session *session, const char *path)
{
	const size_t most = sizeof(session->entry->tdf) - 1;
	size_t length = strlen(path);

	/* the log holds the end of a longer path */
	if (length > most)
		path += length - most;
	return session->armed && !strcmp(session->entry->tdf, path);
}

static bool choose_by_path(const struct session_list *list, const char *path,
			   bool *chosen)
{
	bool any = false;

	for (size_t i = 0; i < list->count; i++)
		if (select_is_of(&list->items[i], path))
			any = chosen[i] = true;
	return any;
}

/* "app_2" is the second session of a TDF, or of another app.tdf. */
static bool name_is_first(const struct session *session)
{
	const char *base = path_base(session->entry->tdf);
	size_t length = strlen(base);

	if (select_ends_with(base, TDF_ENDING))
		length -= strlen(TDF_ENDING);
	return strlen(session->name) <= length;
}

static bool choose_by_name(const struct session_list *list, const char *name,
			   bool *chosen)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct session *session = &list->items[i];

		if (!session->armed || strcmp(session->name, name))
			continue;
		if (name_is_first(session) && session->entry->tdf[0] == '/')
			return choose_by_path(list, session->entry->tdf,
					      chosen);
		return chosen[i] = true;
	}
	return false;
}

/* By the name of the module that was armed. */
static bool choose_by_module(const struct session_list *list, const char *name,
			     bool *chosen)
{
	bool any = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct session *session = &list->items[i];
		const char *module = session->entry->module;

		if (session->armed &&
		    (!strcmp(path_base(module), name) ||
		     (is_kernel(name) && !strcmp(module, "vmlinux"))))
			any = chosen[i] = true;
	}
	return any;
}

int select_armed(const struct session_list *list, const char *name,
		 bool *chosen, struct error *err)
{
	char path[PATH_MAX];

	select_path(name, path);
	if (choose_by_path(list, path, chosen) ||
	    choose_by_name(list, name, chosen) ||
	    (tdf_find(name, NULL, path) &&
	     choose_by_path(list, path, chosen)) ||
	    choose_by_module(list, name, chosen))
		return 0;
	error_set(err, -ENOENT, "'%s' is not armed", name);
	error_hint(err, "'trace query' shows what is");
	return -ENOENT;
}

/* What is armed is known by more names than what is over. */
static int sessions_find(const struct session_list *list, const char *target,
			 bool *found, struct error *err)
{
	char path[PATH_MAX];
	bool any = false;
	int code = select_armed(list, target, found, err);

	select_path(target, path);
	for (size_t i = 0; i < list->count; i++) {
		const struct session *session = &list->items[i];
		const char *tdf = session->entry->tdf;

		found[i] |= !strcmp(tdf, path) || select_is_called(tdf, target);
		any |= found[i];
	}
	if (any && err)
		*err = (struct error){ 0 };
	return any ? 0 : code;
}

static int points_pick(const struct session *session, const struct tdf *tdf,
		       const struct selection *selection, bool *picked,
		       struct error *err)
{
	uint32_t count = session->entry->points;
	struct selection_point *points = calloc(count + 1, sizeof(*points));
	int code;

	if (!points)
		return error_no_memory(err);
	for (uint32_t i = 0; i < count; i++)
		points[i] = (struct selection_point){
			.minor = session->points[i].minor,
			.type = session->points[i].type,
			.group = session->points[i].group,
		};
	code = selection_pick(selection, tdf, points, count, picked, err);
	free(points);
	return code;
}

/* A TDF that was compiled anew may have lost a point that an older session of
 * it has: one session that has it is enough. */
static int sessions_pick(const struct session_list *list,
			 struct tdf *const *tdfs,
			 const struct selection *selection, const bool *found,
			 bool *const *chosen, struct error *err)
{
	int code = -ENOENT;
	bool any = false;

	for (size_t i = 0; i < list->count; i++) {
		if (!found[i])
			continue;
		code = points_pick(&list->items[i], tdfs[i], selection,
				   chosen[i], err);
		any |= !code;
	}
	if (any && err)
		*err = (struct error){ 0 };
	return any ? 0 : code;
}

int choice_add(const struct session_list *list, struct tdf *const *tdfs,
	       const char *operand, bool *const *chosen, struct error *err)
{
	bool *found = calloc(list->count + 1, sizeof(*found));
	struct selection selection = { 0 };
	char *target;
	int code;

	if (!found)
		return error_no_memory(err);
	code = selection_parse(&selection, operand, &target, err);
	if (!code) {
		code = sessions_find(list, target, found, err);
		if (!code)
			code = sessions_pick(list, tdfs, &selection, found,
					     chosen, err);
		free(target);
		selection_free(&selection);
	}
	if (code && err && !strstr(err->text, operand))
		error_prefix(err, "'%s': ", operand);
	free(found);
	return code;
}
