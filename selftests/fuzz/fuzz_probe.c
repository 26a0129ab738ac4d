// SPDX-License-Identifier: GPL-2.0
/*
 * Any text as what `-e` takes: what is refused has a message, and a TSF that comes
 * of the rest ends its quotes and parentheses, so that nothing else gets into it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "trace/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_MAX	1000

/* Quotes and parentheses that a condition has end in what is made of it. */
static void check_ends(const char *text)
{
	int depth = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '"' || *p == '\'') {
			char quote = *p++;

			while (*p && *p != quote)
				p += *p == '\\' && p[1] ? 2 : 1;
			if (!*p)
				abort();
		} else if (strchr("([{", *p)) {
			depth++;
		} else if (strchr(")]}", *p) && --depth < 0) {
			abort();
		}
	}
	if (depth)
		abort();
}

static void check_condition(char *text)
{
	if (!text)
		abort();
	check_ends(text);
	free(text);
}

static void check_tsf(const struct probe_expr *expr, bool calls)
{
	char *tsf = NULL;
	size_t bytes;
	FILE *out = open_memstream(&tsf, &bytes);

	if (!out)
		abort();
	expr_write_tsf(expr, "/bin/true", 198, calls, out);
	if (fclose(out) || strncmp(tsf, "MODNAME=", 8))
		abort();
	free(tsf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct probe_expr expr;
	struct error err = { 0 };
	char text[TEXT_MAX + 1];
	int code;

	if (size > TEXT_MAX)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	code = expr_parse(&expr, text, &err);
	if (code && !err.text[0])
		abort();
	if (!code) {
		if (expr.values)
			check_ends(expr.values);
		if (expr.results)
			check_ends(expr.results);
		if (expr.whole) {
			check_condition(expr_if(&expr));
			if (expr_is_for_tracefmt(&expr))
				check_condition(expr_call_condition(&expr));
		}
		if (!expr_is_pattern(&expr)) {
			check_tsf(&expr, false);
			check_tsf(&expr, true);
		}
	}
	expr_free(&expr);
	return 0;
}
