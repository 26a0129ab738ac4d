// SPDX-License-Identifier: GPL-2.0
#include "search.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define SEARCH_NAME_LENGTH	11	/* TRC00C5.TFF */
#define SEARCH_SYSTEM		"/usr/lib/rastrace"

/* The major of a name TRCxxxx.TFF; -1: it is no such name. */
static int name_major(const char *name)
{
	unsigned int major;
	char own[16];

	if (strlen(name) != SEARCH_NAME_LENGTH ||
	    sscanf(name + 3, "%4x", &major) != 1)
		return -1;
	tff_file_name(own, major);
	return strcasecmp(own, name) ? -1 : (int)major;
}

static bool search_file_known(const struct search *search,
			      const struct stat *st)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->files[i]->device == st->st_dev &&
		    search->files[i]->inode == st->st_ino)
			return true;
	return false;
}

/* Takes over path. In front of what came with a trace. */
static int search_file_add(struct search *search, char *path,
			   const struct stat *st, unsigned int major)
{
	struct search_file **place;
	struct search_file *file = path ? calloc(1, sizeof(*file)) : NULL;
	void *array = file ? reallocarray(search->files, search->count + 1,
					  sizeof(*search->files)) : NULL;

	if (!array) {
		free(file);
		free(path);
		return -ENOMEM;
	}
	search->files = array;
	file->path = path;
	file->device = st->st_dev;
	file->inode = st->st_ino;
	file->major = major;
	place = &search->files[search->count - search->bundled];
	memmove(place + 1, place, search->bundled * sizeof(*place));
	*place = file;
	search->count++;
	return 0;
}

static struct search_file *file_added(const struct search *search)
{
	return search->files[search->count - search->bundled - 1];
}

static int file_compare(const void *a, const void *b)
{
	const struct search_file *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

static int directory_add(struct search *search, const char *path, DIR *dir)
{
	size_t first = search->count - search->bundled, added;
	struct dirent *entry;
	int code = 0;

	while (!code && (entry = readdir(dir))) {
		int major = name_major(entry->d_name);
		struct stat st;
		char *name;

		if (major < 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, 0) ||
		    !S_ISREG(st.st_mode) || search_file_known(search, &st))
			continue;
		if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
			name = NULL;
		code = search_file_add(search, name, &st, major);
	}
	added = search->count - search->bundled - first;
	if (added)
		qsort(search->files + first, added, sizeof(*search->files),
		      file_compare);
	return code;
}

static void directory_note(struct search *search, const char *path)
{
	char *old = search->directories;

	if (asprintf(&search->directories, "%s%s%s", old ? old : "",
		     old ? ", " : "", path) >= 0) {
		free(old);
		return;
	}
	search->directories = old;
	search->exhausted = true;
}

static int search_path_add(struct search *search, const char *path,
			   struct error *err)
{
	struct stat st;
	DIR *dir;
	int code;
	struct search_file *file;
	struct tff *tff;

	if (!stat(path, &st) && S_ISREG(st.st_mode)) {
		/* A TFF that was named: its header has the major. */
		if (search_file_known(search, &st))
			return 0;
		code = tff_open(&tff, path, err);
		if (code)
			return code;
		code = search_file_add(search, strdup(path), &st,
				       tff->header->major);
		if (code) {
			tff_close(tff);
			return error_no_memory(err);
		}
		file = file_added(search);
		file->tff = tff;
		file->tried = true;
		return 0;
	}
	dir = opendir(path);
	if (!dir)
		return error_set(err, -errno, "cannot read directory '%s': %s",
				 path, strerror(errno));
	code = directory_add(search, path, dir);
	closedir(dir);
	directory_note(search, path);
	return code ? error_no_memory(err) : 0;
}

int search_add(struct search *search, const char *path, struct error *err)
{
	int code = search_path_add(search, path, err);

	search->exhausted |= code == -ENOMEM;
	return code;
}

void search_add_environment(struct search *search)
{
	const char *value = getenv("TRACEFMT_PATH");
	char *list = value ? strdup(value) : NULL, *rest = list, *path;

	search->exhausted |= value && !list;
	while (list && (path = strsep(&rest, ":")))
		if (*path)
			search_add(search, path, NULL);
	free(list);
}

void search_add_place(struct search *search, const char *tdf)
{
	char *directory = strdup(tdf);
	char *slash = directory ? strrchr(directory, '/') : NULL;

	search->exhausted |= !directory;
	if (slash) {
		slash[slash == directory] = '\0';
		search_add(search, directory, NULL);
	}
	free(directory);
}

void search_add_system(struct search *search)
{
	search_add(search, ".", NULL);
	search_add(search, SEARCH_SYSTEM, NULL);
}

int search_add_bundled(struct search *search, const char *name,
		       const void *data, size_t size)
{
	struct stat st = { 0 };
	struct error err;
	struct tff *tff = NULL;
	int code = tff_parse(&tff, data, size, name, &err);
	char *path;

	if (code == -ENOMEM)
		return code;
	if (code)
		return 0;
	if (asprintf(&path, "%s in the trace", name) < 0)
		path = NULL;
	code = search_file_add(search, path, &st, tff->header->major);
	if (code) {
		tff_close(tff);
		return code;
	}
	file_added(search)->tff = tff;
	file_added(search)->tried = true;
	search->bundled++;
	return 0;
}

static void search_file_open(struct search *search, struct search_file *file)
{
	int code = tff_open(&file->tff, file->path, &file->error);

	file->tried = true;
	search->exhausted |= code == -ENOMEM;
	if (code)
		return;
	if (file->tff->header->major == file->major)
		return;
	error_set(&file->error, -EINVAL, "'%s' is for major %u", file->path,
		  file->tff->header->major);
	tff_close(file->tff);
	file->tff = NULL;
}

struct search_file *search_next(struct search *search, unsigned int major,
				size_t *at)
{
	while (*at < search->count) {
		struct search_file *file = search->files[(*at)++];

		if (file->major != major)
			continue;
		if (!file->tried)
			search_file_open(search, file);
		return file;
	}
	return NULL;
}

void search_free(struct search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		tff_close(search->files[i]->tff);
		free(search->files[i]->path);
		free(search->files[i]);
	}
	free(search->files);
	free(search->directories);
	*search = (struct search){ 0 };
}
