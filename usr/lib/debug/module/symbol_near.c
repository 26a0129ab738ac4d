// SPDX-License-Identifier: GPL-2.0
/* Names that are like one that wasn't found. */
#include "module_elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "demangle.h"
#include "symbol_find.h"
#include "symbol_near.h"

#define NEAR_LOOKUPS_MAX	64
#define NEAR_SYMBOLS_MAX	4000000	/* looked at by all of them */
#define NEAR_NAMES		3
#define NEAR_NAME_MAX		128

/* Distance of a symbol's name from the one wanted; limit + 1 when it is far. A
 * name that goes on, or wants only leading underscores, is near. */
static unsigned int near_score(const char *s, size_t n, const char *name,
			       size_t length, unsigned int limit)
{
	unsigned int row[NEAR_NAME_MAX + 1];

	if (n > NEAR_NAME_MAX)
		return limit + 1;
	while (n > length && *s == '_') {
		s++;
		n--;
	}
	if (n == length && !memcmp(s, name, n))
		return 1;
	if (length >= 3 && n > length && !memcmp(s, name, length))
		return limit;
	if (n > length + limit || length > n + limit)
		return limit + 1;

	/* Edit distance of two names, at most `limit` + 1: of the matrix only
	 * what is that near to its diagonal is computed. */
	for (size_t j = 0; j <= n; j++)
		row[j] = j <= limit ? j : limit + 1;
	for (size_t i = 1; i <= length; i++) {
		size_t first = i > limit ? i - limit : 1;
		size_t last = i + limit < n ? i + limit : n;
		unsigned int corner = row[first - 1];
		unsigned int least = i <= limit ? i : limit + 1;

		row[first - 1] = least;
		for (size_t j = first; j <= last; j++) {
			unsigned int best = corner + (name[i - 1] != s[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			if (best < least)
				least = best;
		}
		if (least > limit)
			return limit + 1;
	}
	return row[n];
}

struct near_name {
	const char *text;
	size_t length;
	unsigned int score;
};

struct near_list {
	struct near_name names[NEAR_NAMES];
	size_t count;
};

static int near_compare(const struct near_name *a, const struct near_name *b)
{
	size_t least = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->text, b->text, least);

	return order ? order : (a->length > b->length) -
			       (a->length < b->length);
}

/* Keep the best few, ordered by score and name. */
static void near_list_add(struct near_list *list, const struct near_name *name)
{
	size_t at = 0;

	while (at < list->count) {
		int order = near_compare(&list->names[at], name);

		if (!order)
			return;
		if (list->names[at].score > name->score ||
		    (list->names[at].score == name->score && order > 0))
			break;
		at++;
	}
	if (at == NEAR_NAMES)
		return;
	if (list->count < NEAR_NAMES)
		list->count++;
	for (size_t i = list->count - 1; i > at; i--)
		list->names[i] = list->names[i - 1];
	list->names[at] = *name;
}

static bool near_is_wanted(const struct module *module, enum module_want want,
			   const struct module_symbol *symbol)
{
	size_t available;

	return symbol->defined &&
	       (want == MODULE_DATA ||
		(!symbol->absolute &&
		 module_code(module, symbol->address, &available, NULL)));
}

static unsigned int near_limit(size_t length)
{
	return length < 7 ? (length + 2) / 3 : 3;
}

void module_symbol_near(struct module *module, const char *name,
			enum module_want want, char *text, size_t size)
{
	const struct demangle_index *index;
	size_t length = strlen(name), used = 0;
	unsigned int limit = near_limit(length);
	struct near_list list = { .count = 0 };

	text[0] = '\0';
	if (length < 2 || length > NEAR_NAME_MAX ||
	    ++module->near_lookups > NEAR_LOOKUPS_MAX ||
	    module->near_lookups * module->symbol_count > NEAR_SYMBOLS_MAX)
		return;
	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];
		struct near_name found = {
			symbol->name, symbol->name_length,
		};
		bool printable = found.length > 0;

		found.score = near_score(found.text, found.length, name,
					 length, limit);
		if (found.score > limit ||
		    !near_is_wanted(module, want, symbol))
			continue;
		for (size_t j = 0; j < found.length; j++)
			printable &= (unsigned char)found.text[j] > ' ' &&
				     found.text[j] != 0x7f;
		if (printable)
			near_list_add(&list, &found);
	}

	/* names of C++ by what names the function itself */
	index = module_symbol_full_names(module);
	name = demangle_base(demangle_start(name), &length);
	limit = near_limit(length);
	for (size_t i = 0; i < index->count; i++) {
		const struct demangle_entry *entry = &index->entries[i];
		struct near_name found = { .text = entry->full };

		found.score = near_score(entry->base, entry->base_length, name,
					 length, limit);
		if (found.score > limit ||
		    !near_is_wanted(module, want,
				    &module->symbols[entry->number]))
			continue;
		found.length = strlen(found.text);
		near_list_add(&list, &found);
	}
	for (size_t i = 0; i < list.count && used < size; i++)
		used += snprintf(text + used, size - used, "%s%.*s",
				 i ? ", " : "", (int)list.names[i].length,
				 list.names[i].text);
}
