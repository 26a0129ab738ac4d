// SPDX-License-Identifier: GPL-2.0
#include "allocator.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "lib/array.h"
#include "lib/maps_line.h"
#include "lib/path.h"

const char *const allocator_names[ALLOCATOR_NAMES] = {
	"auto", "glibc", "musl", "jemalloc", "tcmalloc", "mimalloc",
};

static bool was_seen(const struct allocator *a, const struct maps_line *m)
{
	for (size_t i = 0; i < a->seen_count; i++)
		if (a->seen[i].device == m->device &&
		    a->seen[i].inode == m->inode)
			return true;
	return false;
}

static bool object_wanted(const struct allocator_want *want, const char *path)
{
	if (!want->object_count)
		return true;
	for (unsigned int i = 0; i < want->object_count; i++)
		if (!strcmp(want->objects[i], path) ||
		    !strcmp(want->objects[i], path_base(path)))
			return true;
	return false;
}

/* What glibc's ld.so has for itself, until libc is there. */
static bool is_loader(const char *path)
{
	const char *base = path_base(path);

	return (!strncmp(base, "ld-linux", 8) || !strncmp(base, "ld-2.", 5) ||
		!strncmp(base, "ld.so", 5)) && !strstr(base, "musl");
}

/* By its name when that leads to the file that is mapped, also in another root
 * directory; else what is mapped itself. */
static int allocator_mapped_open(const struct maps_line *m, uint32_t pid,
				 char path[PATH_MAX])
{
	static const char *const forms[] = { "%2$s", "/proc/%1$u/root%2$s" };
	int fd = maps_line_open(m, pid);
	struct stat st;

	for (unsigned int i = 0; i < 2; i++) {
		int named;
		struct stat other;

		if (snprintf(path, PATH_MAX, forms[i], pid, m->path) >=
		    PATH_MAX)
			continue;
		named = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (named < 0)
			continue;
		if (!fstat(named, &other) && S_ISREG(other.st_mode) &&
		    (fd < 0 ? other.st_ino == m->inode :
		     !fstat(fd, &st) && st.st_ino == other.st_ino &&
		     st.st_dev == other.st_dev)) {
			if (fd >= 0)
				close(fd);
			return named;
		}
		close(named);
	}
	snprintf(path, PATH_MAX, "%s", m->path);
	return fd;
}

/* C++ operators are wanted whatever the allocator is. */
static bool place_wanted(const struct allocator_file *file,
			 const struct allocator_want *want,
			 enum heap_function function)
{
	if (want->no_new && allocator_file_makes_new(file) &&
	    heap_function_throws(function))
		return false;
	return want->name == ALLOCATOR_AUTO || file->name == ALLOCATOR_AUTO ||
	       file->name == want->name || heap_function_is_cxx(function);
}

static int allocator_file_add(struct allocator *a, const struct maps_line *m,
			      uint32_t pid, const struct allocator_want *want,
			      struct error *err)
{
	struct allocator_file *file;
	struct stat st;
	int code;
	size_t kept;

	if (!array_grow(&a->files, a->count, &a->room, sizeof(*file)))
		return error_no_memory(err);
	file = &a->files[a->count];
	memset(file, 0, sizeof(*file));
	file->fd = allocator_mapped_open(m, pid, file->path);
	if (file->fd < 0)
		return 0;	/* the process may be gone: another may have it */
	if (array_grow(&a->seen, a->seen_count, &a->seen_room,
		       sizeof(*a->seen)))
		a->seen[a->seen_count++] = (struct allocator_seen){
			m->device, m->inode,
		};
	code = fstat(file->fd, &st) ? -errno : allocator_file_read(file, want);
	if (!code) {
		kept = 0;
		for (size_t i = 0; i < file->count; i++)
			if (place_wanted(file, want, file->places[i].function))
				file->places[kept++] = file->places[i];
		file->count = kept;
	}
	if (!code && file->count) {
		file->device = st.st_dev;
		file->inode = st.st_ino;
		a->count++;
		return 0;
	}
	close(file->fd);
	free(file->places);
	return code == -ENOMEM ? error_no_memory(err) : 0;
}

int allocator_add_process(struct allocator *allocator, uint32_t pid,
			  const struct allocator_want *want, struct error *err)
{
	struct maps_lines lines;
	struct maps_line m;
	int code = maps_lines_open(&lines, pid);

	if (code)
		return error_set(err, code == -ENOENT ? -ESRCH : code,
				 "cannot look at process %u: %s", pid,
				 code == -ENOENT ? "it isn't there" :
				 strerror(-code));
	while (!code && maps_lines_next(&lines, &m)) {
		if (m.path[0] != '/' || m.mode[2] != 'x')
			continue;	/* not the code of a file */
		if (m.deleted)
			*m.deleted = '\0';
		if (!was_seen(allocator, &m) && object_wanted(want, m.path) &&
		    !is_loader(m.path))
			code = allocator_file_add(allocator, &m, pid, want,
						  err);
	}
	maps_lines_close(&lines);
	return code;
}

bool allocator_file_gives(const struct allocator_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		const struct heap_function_def *function =
			&heap_functions[file->places[i].function];

		if (function->kind <= FUNCTION_RESIZE &&
		    !heap_function_is_cxx(function->minor))
			return true;
	}
	return false;
}

bool allocator_file_throws(const struct allocator_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		if (heap_function_throws(file->places[i].function))
			return allocator_file_makes_new(file);
	return false;
}

bool allocator_found(const struct allocator *allocator)
{
	for (size_t i = 0; i < allocator->count; i++)
		if (allocator_file_gives(&allocator->files[i]))
			return true;
	return false;
}

int allocator_missing(const struct allocator_want *want, const char *where,
		      struct error *err)
{
	const char *prefix = want->prefix ? want->prefix : "";

	error_set(err, -ENOENT,
		  "no allocator was found in %s: looked for %smalloc, %scalloc, %srealloc, %sfree%s in .dynsym, .symtab and .gnu_debugdata of %s",
		  where, prefix, prefix, prefix, prefix,
		  want->prefix ? "" : " and operator new",
		  want->object_count ? "the files of --object" :
				       "all files that are mapped");
	error_hint(err, "name the file that has it (--object), or what its functions begin with (--prefix je_); a stripped static program has no names");
	return -ENOENT;
}

void allocator_free(struct allocator *allocator)
{
	for (size_t i = 0; i < allocator->count; i++) {
		close(allocator->files[i].fd);
		free(allocator->files[i].places);
	}
	free(allocator->files);
	free(allocator->seen);
	*allocator = (struct allocator){ 0 };
}
