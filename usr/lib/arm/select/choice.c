// SPDX-License-Identifier: GPL-2.0
#include "choice.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "select.h"
#include "selection.h"

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
