// SPDX-License-Identifier: GPL-2.0
#include "unhit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "lib/identity.h"
#include "lib/path.h"
#include "lib/safe_text.h"

static uint64_t why_sum(const struct ras_why *why)
{
	uint64_t sum = 0;

	for (int i = 0; i < RAS_FILTERED_KINDS; i++)
		sum += why->filtered[i];
	return sum;
}

static bool session_hit(const struct session *session, uint32_t slices,
			uint32_t cpus)
{
	struct ras_count *rows = NULL;
	struct ras_why *why = NULL;
	uint32_t points = session->entry->points;
	bool hit = session_counts_read(session, slices, &rows, NULL) ||
		   session_why_read(session, cpus, &why, NULL);

	for (size_t i = 0; i < (size_t)points * slices && !hit; i++)
		hit = rows[i].recorded || rows[i].dropped;
	for (uint32_t i = 0; i < points && !hit; i++)
		hit = why_sum(&why[i]);
	free(rows);
	free(why);
	return hit;
}

bool unhit_any_hit(const struct session_list *list,
		   const struct buffer *buffer)
{
	for (size_t i = 0; i < list->count; i++)
		if (session_hit(&list->items[i], buffer->slices,
				buffer->control->cpus))
			return true;
	return false;
}

/* The program's file, opened, and its path; -1: it isn't found. */
static int program_open(const char *program, char path[PATH_MAX])
{
	const char *dirs = strchr(program, '/') ? NULL : getenv("PATH");
	int fd = -1;

	snprintf(path, PATH_MAX, "%s", program);
	if (!dirs)
		return open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && *dirs) {
		int n = strcspn(dirs, ":");

		snprintf(path, PATH_MAX, "%.*s%s%s", n, dirs, n ? "/" : "",
			 program);
		if (!access(path, X_OK))
			fd = open(path, O_RDONLY | O_CLOEXEC);
		dirs += n + (dirs[n] == ':');
	}
	return fd;
}

static bool is_traced(const struct job *job, const struct stat *st)
{
	for (uint32_t i = 0; i < job->tdf->header->modules.count; i++) {
		const struct target *target = &job->targets[i];

		for (uint32_t k = 0; k < target->file_count; k++)
			if (target->files[k].device == st->st_dev &&
			    target->files[k].inode == st->st_ino)
				return true;
	}
	return false;
}

static void line_print(const char *before, const char *path, const char *after)
{
	fputs(before, stderr);
	safe_text_print(stderr, path, true);
	fputs(after, stderr);
}

/* What to do about it, if that is known. */
static void remedy_print(const struct tdf_module *module, const char *traced,
			 const char *path, int fd)
{
	struct identity id;

	if (identity_read(fd, path, &id, NULL))
		return;
	if (id.kind == module->id_kind && id.length == module->id_length &&
	    !memcmp(id.id, module->id, id.length))
		line_print("trace: it is the same build, so name it: --module '",
			   path, "'\n");
	else if (!strcmp(path_base(traced), path_base(path)))
		fputs("trace: it is another build: compile the TSF for it (trcust)\n",
		      stderr);
}

static void module_tell(const struct tdf_module *module, const char *traced,
			const char *path, int fd)
{
	line_print("trace: no tracepoint was hit: '", path,
		   "' isn't the file that is traced, '");
	line_print("", traced, "'\n");
	remedy_print(module, traced, path, fd);
}

void unhit_tell(const struct job *job, const char *program)
{
	char path[PATH_MAX];
	int fd = program_open(program, path);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && !is_traced(job, &st))
		for (uint32_t i = 0; i < job->tdf->header->modules.count; i++)
			if (job->targets[i].file_count)
				module_tell(&job->tdf->modules[i],
					    job->targets[i].files[0].path,
					    path, fd);
	close(fd);
}
