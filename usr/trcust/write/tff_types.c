// SPDX-License-Identifier: GPL-2.0
#include "tff_types.h"

#include <stdlib.h>
#include <string.h>
#include "lib/formats/format.h"

static int tff_name_compare(const void *a, const void *b, void *known)
{
	const struct ctype *types = ((const struct ctypes *)known)->types;

	return strcmp(types[*(const uint32_t *)a].name,
		      types[*(const uint32_t *)b].name);
}

void tff_types_open(struct tff_types *types, const struct ctypes *known)
{
	size_t n = known->count;

	*types = (struct tff_types){
		.known = known,
		.by_name = calloc(n + 1, sizeof(*types->by_name)),
		.indices = calloc(n + 1, sizeof(*types->indices)),
	};
	types->failed = known->failed || !types->by_name || !types->indices;
	for (size_t i = 0; !types->failed && i < n; i++) {
		types->by_name[i] = i;
		types->indices[i] = CTYPE_NONE;
	}
	if (!types->failed)
		qsort_r(types->by_name, n, sizeof(*types->by_name),
			tff_name_compare, (void *)known);
}

static uint32_t find_exact(const struct tff_types *types, const char *name,
			   size_t length)
{
	size_t low = 0, high = types->known->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t i = types->by_name[middle];
		const char *own = types->known->types[i].name;
		int order = strncmp(own, name, length);

		if (!order && !own[length])
			return i;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return CTYPE_NONE;
}

/* The type that a control names, which the TFF needs; CTYPE_NONE. */
static uint32_t want_name(const void *context, const char *name, size_t length)
{
	const struct tff_types *types = context;
	uint32_t found = find_exact(types, name, length);
	uint8_t kind;
	size_t tag = format_type_tag(name, length, &kind);

	if (found == CTYPE_NONE && tag) {
		found = find_exact(types, name + tag, length - tag);
		if (found != CTYPE_NONE &&
		    types->known->types[found].kind != kind)
			found = CTYPE_NONE;
	}
	if (found != CTYPE_NONE)
		types->indices[found] = 0;
	return found;
}

void tff_types_want(struct tff_types *types, const char *fmt)
{
	struct format_types known = { want_name, types };
	struct format format;

	if (types->failed || !strstr(fmt, "%{"))
		return;
	types->failed = format_compile(&format, fmt, &known);
	format_free(&format);
}

/* Parts are before what they make up: backwards, all are found in one go. */
void tff_types_settle(struct tff_types *types)
{
	uint32_t next = 0;

	for (size_t i = types->failed ? 0 : types->known->count; i--;) {
		const struct ctype *type = &types->known->types[i];

		if (types->indices[i] == CTYPE_NONE)
			continue;
		if (type->kind == TFF_CTYPE_ARRAY)
			types->indices[type->target] = 0;
		for (size_t j = 0; j < type->member_count; j++)
			if (type->kind != TFF_CTYPE_ENUM)
				types->indices[type->members[j].ctype] = 0;
	}
	for (size_t i = 0; !types->failed && i < types->known->count; i++)
		if (types->indices[i] != CTYPE_NONE)
			types->indices[i] = next++;
}

uint32_t tff_types_index(const struct tff_types *types, uint32_t type)
{
	return types->failed || type >= types->known->count ?
	       CTYPE_NONE : types->indices[type];
}

void tff_types_close(struct tff_types *types)
{
	free(types->by_name);
	free(types->indices);
}
