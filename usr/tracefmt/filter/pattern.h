/* SPDX-License-Identifier: GPL-2.0 */
/* What is looked for in an event's text: a string, or a regular expression
 * between slashes, where a final "i" ignores case. */
#ifndef TRACEFMT_PATTERN_H
#define TRACEFMT_PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include "lib/error.h"

struct pattern {
	const char *text;	/* lives as long as the value of the option */
	regex_t *regex;		/* NULL: search the text itself */
};

struct patterns {
	struct pattern *items;
	size_t count;
};

/* 0, or a negative errno with err set. */
int patterns_add(struct patterns *patterns, const char *text,
		 struct error *err);
/* Is one of them there? A zero follows the text. */
bool patterns_match(const struct patterns *patterns, const char *text,
		    size_t length);
void patterns_free(struct patterns *patterns);

#endif
