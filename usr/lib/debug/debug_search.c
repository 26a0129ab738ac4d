// SPDX-License-Identifier: GPL-2.0
#include "debug_search.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opening a device may have an effect, so check what it is first. */
int debug_search_open(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	return open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool debug_search_try(const struct debug_search *search, const char *format,
		      ...)
{
	char path[PATH_MAX];
	va_list args;
	int length, fd;

	va_start(args, format);
	length = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (length < 0 || length >= PATH_MAX)
		return false;
	fd = debug_search_open(path);
	if (fd < 0)
		return false;
	if (search->take(search->context, fd, path))
		return true;
	close(fd);
	return false;
}

bool debug_search_all(const struct debug_search *search)
{
	const char *root = search->root, *hex = search->hex;
	const char *directory = search->directory, *below = directory;
	const char *link = search->link;
	size_t n = strlen(root);

	if (*hex && (debug_search_try(search, "%s" DEBUG_TREE DEBUG_BY_ID
				      ".debug", root, hex, hex + 2) ||
		     (directory &&
		      debug_search_try(search, "%s/.debug" DEBUG_BY_ID ".debug",
				       directory, hex, hex + 2))))
		return true;
	if (!link || !directory)
		return false;
	if (!strncmp(below, root, n) && (!below[n] || below[n] == '/'))
		below += n;
	return debug_search_try(search, "%s/%s", directory, link) ||
	       debug_search_try(search, "%s/.debug/%s", directory, link) ||
	       debug_search_try(search, "%s" DEBUG_TREE "%s/%s", root, below,
				link);
}
