// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as ld.so.conf, and as each file that it includes: it is read in time,
 * a name of a library's folder is as long as its line at most.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *text;
static size_t text_size;
static char longest[PATH_MAX];

static FILE *text_open(const char *path, const char *mode)
{
	return fmemopen((void *)text, text_size, "r");
}

/* Whatever the pattern, three files */
static int text_glob(const char *pattern, int flags,
		     int (*failed)(const char *path, int error), glob_t *found)
{
	static char name[] = "/etc/any";
	static char *names[] = { name, name, name, NULL };

	if (*pattern != '/')
		abort();
	found->gl_pathc = 3;
	found->gl_pathv = names;
	return 0;
}

static void text_globfree(glob_t *found)
{
}

/* No library is there. */
static char *no_path(const char *path, char *resolved)
{
	if (strlen(path) >= PATH_MAX)
		abort();
	strcpy(longest, path);
	errno = ENOENT;
	return NULL;
}

#define fopen text_open
#define glob(...) text_glob(__VA_ARGS__)
#define globfree text_globfree
#define realpath no_path
#include "lib/arm/static.c"
#undef fopen
#undef glob
#undef globfree
#undef realpath

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct static_files files = { 0 };
	unsigned int left = CONFIGS_MAX;

	text = data;
	text_size = size;
	*longest = '\0';
	config_search(&files, "/etc/ld.so.conf", &left);
	if (files.count || strlen(longest) > size + strlen("/" STATIC_LIBRARY))
		abort();
	static_files_close(&files);
	return 0;
}
