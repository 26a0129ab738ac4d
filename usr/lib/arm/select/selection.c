// SPDX-License-Identifier: GPL-2.0
#include "selection.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define LIST_TEXT	400	/* of what there is, in a hint */

static struct selection_item *item_new(struct selection *selection)
{
	struct selection_item *items =
		reallocarray(selection->items, selection->count + 1,
			     sizeof(*items));

	if (!items)
		return NULL;
	selection->items = items;
	items[selection->count] = (struct selection_item){ 0 };
	return &items[selection->count++];
}

/* As in a TSF: decimal, also with leading zeros, or 0x; where it ends. */
static const char *selection_number_parse(const char *text, uint32_t *number)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned long value;
	char *end;

	if (!isxdigit((unsigned char)text[hex ? 2 : 0]) ||
	    (!hex && !isdigit((unsigned char)text[0])))
		return text;
	errno = 0;
	value = strtoul(text, &end, hex ? 16 : 10);
	*number = errno || value > UINT32_MAX ? UINT32_MAX : value;
	return end;
}

/* "5" or "5-9"; false: it is something else */
static bool selection_range_parse(const char *text, uint32_t *first,
				  uint32_t *last)
{
	const char *end = selection_number_parse(text, first);

	*last = *first;
	if (end == text)
		return false;
	if (*end == '-') {
		text = end + 1;
		end = selection_number_parse(text, last);
	}
	return end != text && !*end;
}

static int item_parse(struct selection *selection, enum selection_kind kind,
		      const char *text, struct error *err)
{
	uint32_t first = 0, last = 0;
	bool number = kind <= SELECTION_MINOR &&
		      selection_range_parse(text, &first, &last);
	struct selection_item *item;

	if (!*text)
		return error_set(err, -EINVAL, "something is missing between commas");
	if (kind == SELECTION_MINOR && !number)
		return error_set(err, -EINVAL,
				 "'%s' is no minor: 5, 0x10 or 5-9 for example",
				 text);
	if (number && (first > UINT16_MAX || last > UINT16_MAX))
		return error_set(err, -EINVAL,
				 "'%s' is out of range: minors are 0 to %u",
				 text, UINT16_MAX);
	if (number && first > last)
		return error_set(err, -EINVAL,
				 "the range '%s' ends before it begins", text);
	item = item_new(selection);
	if (!item)
		return error_no_memory(err);
	*item = (struct selection_item){
		.kind = number ? SELECTION_MINOR : kind,
		.first = first, .last = last,
		/* longer ones are cut where they are defined, too */
		.name = number ? NULL : strndup(text, TDF_NAME_MAX),
	};
	return number || item->name ? 0 : error_no_memory(err);
}

static char *blanks_cut(char *text)
{
	char *end;

	text += strspn(text, " \t");
	end = text + strlen(text);
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	return text;
}

int selection_add(struct selection *selection, enum selection_kind kind,
		  const char *list, struct error *err)
{
	char *copy = strdup(list), *rest = copy, *part;
	int code = copy ? 0 : error_no_memory(err);

	while (!code && (part = strsep(&rest, ",")))
		code = item_parse(selection, kind, blanks_cut(part), err);
	free(copy);
	return code;
}

bool selection_is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

int selection_parse(struct selection *selection, const char *operand,
		    char **target, struct error *err)
{
	size_t length = strlen(operand);
	const char *open = strrchr(operand, '(');
	char *list;
	int code;

	*selection = (struct selection){ 0 };
	*target = NULL;
	if (selection_is_file(operand) || !open) {
		*target = strdup(operand);
		return *target ? 0 : error_no_memory(err);
	}
	if (open == operand)
		return error_set(err, -EINVAL, "there is no name before the '('");
	if (operand[length - 1] != ')')
		return error_set(err, -EINVAL, "it doesn't end with ')'");
	list = strndup(open + 1, operand + length - 1 - (open + 1));
	*target = strndup(operand, open - operand);
	code = list && *target ? selection_add(selection, SELECTION_ANY, list,
					       err) :
	       error_no_memory(err);
	free(list);
	if (code) {
		selection_free(selection);
		free(*target);
		*target = NULL;
	}
	return code;
}

int selection_append(struct selection *selection,
		     const struct selection *more, struct error *err)
{
	for (size_t i = 0; i < more->count; i++) {
		struct selection_item *item = item_new(selection);
		const char *name = more->items[i].name;

		if (!item)
			return error_no_memory(err);
		*item = more->items[i];
		item->name = name ? strdup(name) : NULL;
		if (name && !item->name)
			return error_no_memory(err);
	}
	return 0;
}

void selection_free(struct selection *selection)
{
	for (size_t i = 0; i < selection->count; i++)
		free(selection->items[i].name);
	free(selection->items);
	*selection = (struct selection){ 0 };
}

/* "1-3, 7, 9, ..." */
static void minors_print(const struct selection_point *points, size_t count,
			 char *text)
{
	size_t used = 0, i = 0;

	*text = '\0';
	while (i < count) {
		size_t k = i;

		while (k + 1 < count &&
		       points[k + 1].minor == points[k].minor + 1)
			k++;
		if (used > LIST_TEXT - 32) {
			strcpy(text + used, ", ...");
			return;
		}
		used += sprintf(text + used, k > i ? "%s%u-%u" : "%s%u",
				i ? ", " : "", points[i].minor,
				points[k].minor);
		i = k + 1;
	}
}

static void names_print(const struct tdf *tdf, const struct tdf_name *names,
			uint32_t count, char *text)
{
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < count && used < LIST_TEXT - 32; i++)
		used += sprintf(text + used, "%s%s", i ? ", " : "",
				tdf_string(tdf, names[i].name));
	if (!used)
		strcpy(text, "none");
}

/* As written, else in either case. */
static const struct tdf_name *selection_name_find(const struct tdf *tdf,
						  const struct tdf_name *names,
						  uint32_t count,
						  const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(tdf_string(tdf, names[i].name), name))
			return &names[i];
	for (uint32_t i = 0; i < count; i++)
		if (!strcasecmp(tdf_string(tdf, names[i].name), name))
			return &names[i];
	return NULL;
}

/* What a selection's names come to. */
struct picking {
	const struct tdf *tdf;
	const struct selection_point *points;
	size_t count;
	bool *found;		/* per point */
	uint16_t groups[TDF_GROUPS_MAX];
	unsigned int group_count;
	uint16_t types;
	bool typed;
};

static int name_unknown(const struct picking *p, enum selection_kind kind,
			const char *name, struct error *err)
{
	static const char *const kinds[] = {
		[SELECTION_ANY] = "group or type",
		[SELECTION_GROUP] = "group", [SELECTION_TYPE] = "type",
	};
	const struct tdf_header *header = p->tdf->header;
	char groups[LIST_TEXT], types[LIST_TEXT];

	names_print(p->tdf, p->tdf->groups, header->groups.count, groups);
	names_print(p->tdf, p->tdf->types, header->types.count, types);
	error_set(err, -ENOENT, "there is no %s '%s'", kinds[kind], name);
	if (kind == SELECTION_GROUP)
		error_hint(err, "groups: %s", groups);
	else if (kind == SELECTION_TYPE)
		error_hint(err, "types: %s", types);
	else
		error_hint(err, "groups: %s; types: %s", groups, types);
	return -ENOENT;
}

static int pick_name(struct picking *p, const struct selection_item *item,
		     struct error *err)
{
	const struct tdf_header *header;
	const struct tdf_name *name = NULL;

	if (!p->tdf) {
		error_set(err, -ENOENT,
			  "what '%s' means is not known without the TDF as it was armed",
			  item->name);
		error_hint(err, "give the minors");
		return -ENOENT;
	}
	header = p->tdf->header;
	if (item->kind != SELECTION_TYPE)
		name = selection_name_find(p->tdf, p->tdf->groups,
					   header->groups.count, item->name);
	if (name) {
		if (p->group_count < TDF_GROUPS_MAX)
			p->groups[p->group_count++] = name->id;
		return 0;
	}
	if (item->kind != SELECTION_GROUP)
		name = selection_name_find(p->tdf, p->tdf->types,
					   header->types.count, item->name);
	if (!name)
		return name_unknown(p, item->kind, item->name, err);
	p->types |= name->id;
	p->typed = true;
	return 0;
}

static int pick_minors(struct picking *p, const struct selection_item *item,
		       struct error *err)
{
	char range[32], text[LIST_TEXT];
	bool any = false;

	for (size_t i = 0; i < p->count; i++)
		if (p->points[i].minor >= item->first &&
		    p->points[i].minor <= item->last)
			any = p->found[i] = true;
	if (any)
		return 0;
	snprintf(range, sizeof(range),
		 item->first == item->last ? "%u" : "%u-%u", item->first,
		 item->last);
	minors_print(p->points, p->count, text);
	error_set(err, -ENOENT, "there is no tracepoint %s", range);
	error_hint(err, *text ? "there are %s" : "there are none%s", text);
	return -ENOENT;
}

static int pick_named(struct picking *p, struct error *err)
{
	bool any = false;

	if (!p->group_count && !p->typed)
		return 0;
	for (size_t i = 0; i < p->count; i++) {
		bool grouped = !p->group_count;

		for (unsigned int k = 0; k < p->group_count; k++)
			grouped |= p->groups[k] == p->points[i].group;
		if (grouped && (!p->typed || p->types & p->points[i].type))
			any = p->found[i] = true;
	}
	if (any)
		return 0;
	return error_set(err, -ENOENT, p->group_count && p->typed ?
			 "no tracepoint is of the group and of the type as well" :
			 "no tracepoint is of that %s",
			 p->group_count ? "group" : "type");
}

int selection_pick(const struct selection *selection, const struct tdf *tdf,
		   const struct selection_point *points, size_t count,
		   bool *picked, struct error *err)
{
	struct picking p = {
		.tdf = tdf, .points = points, .count = count,
		.found = calloc(count + 1, sizeof(*p.found)),
	};
	int code = p.found ? 0 : error_no_memory(err);

	for (size_t i = 0; i < selection->count && !code; i++)
		code = selection->items[i].kind == SELECTION_MINOR ?
			pick_minors(&p, &selection->items[i], err) :
			pick_name(&p, &selection->items[i], err);
	if (!code)
		code = pick_named(&p, err);
	for (size_t i = 0; i < count && !code; i++)
		picked[i] |= p.found[i] || !selection->count;
	free(p.found);
	return code;
}

int selection_pick_tdf(const struct selection *selection,
		       const struct tdf *tdf, bool *picked, struct error *err)
{
	uint32_t count = tdf->header->points.count;
	struct selection_point *points = calloc(count + 1, sizeof(*points));
	int code;

	if (!points)
		return error_no_memory(err);
	for (uint32_t i = 0; i < count; i++)
		points[i] = (struct selection_point){
			.minor = tdf->points[i].minor,
			.type = tdf->points[i].type,
			.group = tdf->points[i].group,
		};
	code = selection_pick(selection, tdf, points, count, picked, err);
	free(points);
	return code;
}
