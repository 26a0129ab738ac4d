// SPDX-License-Identifier: GPL-2.0
#include "pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The slash that ends /REGEX/; NULL: it is no regular expression. */
static const char *regex_end(const char *text)
{
	const char *end = strrchr(text, '/');

	if (*text != '/' || end == text)
		return NULL;
	return !end[1] || !strcmp(end + 1, "i") ? end : NULL;
}

static int pattern_regex_make(regex_t **regex, const char *text,
			      const char *end, struct error *err)
{
	char *copy = strndup(text + 1, end - text - 1), why[128];
	int flags = REG_EXTENDED | REG_NEWLINE | (end[1] ? REG_ICASE : 0);
	int code;

	*regex = malloc(sizeof(**regex));
	if (!copy || !*regex) {
		free(copy);
		free(*regex);
		return error_no_memory(err);
	}
	code = regcomp(*regex, copy, flags);
	free(copy);
	if (!code)
		return 0;
	regerror(code, *regex, why, sizeof(why));
	free(*regex);
	return error_set(err, -EINVAL, "'%s': %s", text, why);
}

int patterns_add(struct patterns *patterns, const char *text,
		 struct error *err)
{
	struct pattern *items = reallocarray(patterns->items,
					     patterns->count + 1,
					     sizeof(*items));
	struct pattern pattern = { .text = text };
	const char *end = regex_end(text);
	int code;

	if (!items)
		return error_no_memory(err);
	patterns->items = items;
	if (!*text)
		return error_set(err, -EINVAL, "a text is missing");
	code = end ? pattern_regex_make(&pattern.regex, text, end, err) : 0;
	if (!code)
		items[patterns->count++] = pattern;
	return code;
}

static bool pattern_matches(const struct pattern *pattern, const char *text,
			    size_t length)
{
	regmatch_t range = { .rm_eo = length };

	if (!pattern->regex)
		return memmem(text, length, pattern->text,
			      strlen(pattern->text));
	return !regexec(pattern->regex, text, 1, &range, REG_STARTEND);
}

bool patterns_match(const struct patterns *patterns, const char *text,
		    size_t length)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (pattern_matches(&patterns->items[i], text, length))
			return true;
	return false;
}

void patterns_free(struct patterns *patterns)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (patterns->items[i].regex)
			regfree(patterns->items[i].regex);
		free(patterns->items[i].regex);
	}
	free(patterns->items);
	*patterns = (struct patterns){ 0 };
}
