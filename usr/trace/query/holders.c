// SPDX-License-Identifier: GPL-2.0
#include "holders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "lib/buffer/mappings.h"
#include "lib/maps_line.h"

/* The log holds the end of a longer path. */
static bool holder_path_fits(struct maps_line *maps, const char *module)
{
	const size_t most = sizeof(((struct ras_session *)0)->module) - 1;
	size_t wanted = strlen(module), length;
	const char *path = maps->path;

	if (maps->deleted)
		*maps->deleted = '\0';
	length = strlen(path);
	if (wanted == most && length > most)
		path += length - most;
	return !strcmp(path, module);
}

static bool armed_is(const struct ras_session *entry, const struct stat *st)
{
	return st->st_dev == entry->device && st->st_ino == entry->inode;
}

/* What is mapped there: 0, or a negative errno when it can't be seen. */
static int mapping_judge(struct holder *holder, const struct maps_line *maps,
			 const struct ras_session *entry)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, code = 0;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64
		 "-%" PRIx64, holder->pid, maps->start, maps->end);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	holder->kind = HOLDER_ARMED;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		code = -EINVAL;
	else if (!armed_is(entry, &st))
		code = identity_read(fd, path, &holder->id, NULL);
	if (!code && !armed_is(entry, &st))
		holder->kind = holder->id.kind == entry->id_kind &&
			       holder->id.length == entry->id_length &&
			       !memcmp(holder->id.id, entry->id,
				       entry->id_length) ?
			HOLDER_COPY : HOLDER_OTHER;
	close(fd);
	return code;
}

/* 1: it has the module; 0: it hasn't; negative: it can't be looked into. */
static int process_judge(struct holder *holder,
			 const struct ras_session *entry)
{
	char *line = NULL, path[64];
	struct maps_line maps;
	size_t room = 0;
	int code = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", holder->pid);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	while (!code && getline(&line, &room, file) > 0) {
		if (!maps_line_parse(line, &maps) || maps.mode[2] != 'x' ||
		    !holder_path_fits(&maps, entry->module))
			continue;
		code = mapping_judge(holder, &maps, entry);
		code = code ? code : 1;
	}
	/* ESRCH, ENOENT: it ended meanwhile */
	if (code == -ENOENT || code == -ESRCH)
		code = 0;
	free(line);
	fclose(file);
	return code;
}

static void comm_read(struct holder *holder)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", holder->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(holder->comm, sizeof(holder->comm), file))
		holder->comm[0] = '\0';
	holder->comm[strcspn(holder->comm, "\n")] = '\0';
	fclose(file);
}

static int holders_add(struct holders *holders, uint32_t pid,
		       const struct ras_session *entry)
{
	struct holder holder = { .pid = pid }, *items;
	int code = process_judge(&holder, entry);

	if (code <= 0) {
		if (code < 0 && !holders->unseen++) {
			holders->unseen_pid = pid;
			holders->unseen_cause = -code;
		}
		return 0;
	}
	items = reallocarray(holders->items, holders->count + 1,
			     sizeof(*items));
	if (!items)
		return -ENOMEM;
	holders->items = items;
	comm_read(&holder);
	mappings_process_start(pid, &holder.started);
	items[holders->count++] = holder;
	return 0;
}

int holders_find(struct holders *holders, const struct ras_session *entry,
		 struct error *err)
{
	struct dirent *name;
	int code = 0;
	DIR *dir;

	*holders = (struct holders){ 0 };
	if (!entry->inode)
		return 0;
	dir = opendir("/proc");
	while (dir && !code && (name = readdir(dir))) {
		char *end;
		unsigned long pid = strtoul(name->d_name, &end, 10);

		if (pid && !*end)
			code = holders_add(holders, pid, entry);
	}
	if (dir)
		closedir(dir);
	if (!code)
		return 0;
	holders_free(holders);
	return error_no_memory(err);
}

void holders_free(struct holders *holders)
{
	free(holders->items);
	*holders = (struct holders){ 0 };
}
