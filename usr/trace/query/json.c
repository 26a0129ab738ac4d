// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "lib/safe_text.h"

static unsigned int depth;
static bool follows;	/* something precedes in this bracket */

static void quote(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strlen(text), n;

	putchar('"');
	for (; left; s += n, left -= n) {
		n = *s < 0x80 ? 1 : safe_text_utf8(s, left);
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			printf("\\u%04x", *s);
		else if (!n)
			printf("\\ufffd");
		else
			fwrite(s, 1, n, stdout);
		n += !n;
	}
	putchar('"');
}

static void item(const char *key)
{
	if (follows)
		putchar(',');
	if (depth)
		printf("\n%*s", 2 * depth, "");
	if (key) {
		quote(key);
		fputs(": ", stdout);
	}
	follows = true;
}

void query_json_open(const char *key, char bracket)
{
	item(key);
	putchar(bracket);
	depth++;
	follows = false;
}

void query_json_close(char bracket)
{
	depth--;
	if (follows)
		printf("\n%*s", 2 * depth, "");
	putchar(bracket);
	if (!depth)
		putchar('\n');
	follows = depth;
}

void query_json_string(const char *key, const char *value)
{
	item(key);
	quote(value);
}

void query_json_number(const char *key, uint64_t value)
{
	item(key);
	printf("%" PRIu64, value);
}

void query_json_boolean(const char *key, bool value)
{
	item(key);
	fputs(value ? "true" : "false", stdout);
}

void query_json_null(const char *key)
{
	item(key);
	fputs("null", stdout);
}
