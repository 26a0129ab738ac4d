// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned int depth;
static bool follows;	/* something precedes in this bracket */

/* Bytes of the UTF-8 sequence at s (RFC 3629); 0: it is none. */
static int utf8_length(const unsigned char *s)
{
	int n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 :
		s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void quote(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putchar('"');
	while (*s) {
		int n = utf8_length(s);

		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f || !n)
			printf("\\u%04x", *s);
		else
			printf("%.*s", n, (const char *)s);
		s += n ? n : 1;
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

void json_open(const char *key, char bracket)
{
	item(key);
	putchar(bracket);
	depth++;
	follows = false;
}

void json_close(char bracket)
{
	depth--;
	if (follows)
		printf("\n%*s", 2 * depth, "");
	putchar(bracket);
	if (!depth)
		putchar('\n');
	follows = depth;
}

void json_string(const char *key, const char *value)
{
	item(key);
	quote(value);
}

void json_number(const char *key, uint64_t value)
{
	item(key);
	printf("%" PRIu64, value);
}

void json_boolean(const char *key, bool value)
{
	item(key);
	fputs(value ? "true" : "false", stdout);
}

void json_null(const char *key)
{
	item(key);
	fputs("null", stdout);
}
