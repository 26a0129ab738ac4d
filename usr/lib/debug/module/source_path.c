// SPDX-License-Identifier: GPL-2.0
#include "source_path.h"

#include <string.h>
#include <strings.h>

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

static bool char_equal(char a, char b, bool exact)
{
	if (is_separator(a) || exact)
		return a == b || (is_separator(a) && is_separator(b));
	return !strncasecmp(&a, &b, 1);
}

bool source_path_matches(const char *path, const char *wanted, bool exact)
{
	size_t n, length = strlen(path);

	while (wanted[0] == '.' &&
	       (is_separator(wanted[1]) ||
		(wanted[1] == '.' && is_separator(wanted[2]))))
		wanted += wanted[1] == '.' ? 3 : 2;
	n = strlen(wanted);
	if (!n || n > length)
		return false;
	for (size_t i = 1; i <= n; i++)
		if (!char_equal(path[length - i], wanted[n - i], exact))
			return false;
	return n == length || is_separator(path[length - n]) ||
	       is_separator(path[length - n - 1]);
}

const char *source_path_base(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (is_separator(*path))
			base = path + 1;
	return base;
}
