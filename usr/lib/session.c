// SPDX-License-Identifier: GPL-2.0
#include "session.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <rastrace/rasfile.h>
#include <rastrace/tdf.h>
#include "pin.h"
#include "sysbpf.h"

static bool entry_valid(const struct ras_session *entry, size_t left)
{
	return left >= sizeof(*entry) && entry->size >= sizeof(*entry) &&
	       entry->size <= left && !(entry->size & 7) &&
	       entry->points <= TDF_POINTS_MAX &&
	       entry->points * sizeof(struct ras_session_point) ==
	       entry->size - sizeof(*entry) &&
	       entry->id_length <= sizeof(entry->id) &&
	       memchr(entry->tdf, 0, sizeof(entry->tdf)) &&
	       memchr(entry->module, 0, sizeof(entry->module));
}

static int list_add(struct session_list *list, const struct ras_session *entry)
{
	struct session *items = reallocarray(list->items, list->count + 1,
					     sizeof(*items));

	if (!items)
		return -ENOMEM;
	list->items = items;
	items[list->count++] = (struct session){
		.entry = entry, .points = (const void *)(entry + 1),
	};
	return 0;
}

static int list_parse(struct session_list *list)
{
	size_t at = 0;

	while (at < list->log_size) {
		const struct ras_session *entry =
			(const void *)((char *)list->log + at);

		if (!entry_valid(entry, list->log_size - at))
			break;
		if (list_add(list, entry))
			return -ENOMEM;
		at += entry->size;
	}
	list->log_size = at;
	return 0;
}

/* The directory `name` under armed/ belongs to the session its state says. */
static void list_match(struct session_list *list, const char *run,
		       const char *name)
{
	struct bpf_map_info info;
	struct ras_state state;
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/armed/%s/state", run, name);
	fd = pin_map_open(path, &info, NULL);
	if (fd < 0)
		return;
	if (info.value_size != sizeof(state) ||
	    sysbpf_map_lookup(fd, 0, &state))
		state.session = RAS_STATIC_SESSION;
	close(fd);
	for (size_t i = 0; i < list->count; i++) {
		struct session *session = &list->items[i];

		if (session->entry->index != state.session)
			continue;
		session->armed = true;
		session->state = state.state;
		snprintf(session->name, sizeof(session->name), "%s", name);
		snprintf(session->dir, sizeof(session->dir), "%s/armed/%s",
			 run, name);
	}
}

static void list_find_pins(struct session_list *list, const char *run)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/armed", run);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			list_match(list, run, entry->d_name);
	if (dir)
		closedir(dir);
	for (size_t i = 0; i < list->count; i++) {
		struct session *session = &list->items[i];

		if (session->armed)
			continue;
		snprintf(path, sizeof(path), "%s/past/%u", run,
			 session->entry->index);
		if (!access(path, F_OK))
			strcpy(session->dir, path);
	}
}

int session_list_read(struct session_list *list, const struct buffer *buffer,
		      const char *run, struct error *err)
{
	size_t used = __atomic_load_n(&buffer->control->sessions_used,
				      __ATOMIC_ACQUIRE);

	*list = (struct session_list){ 0 };
	if (used > buffer->sessions_view.size)
		used = buffer->sessions_view.size;
	list->log_size = used;
	list->log = malloc(used + 8);
	if (!list->log)
		return error_set(err, -ENOMEM, "out of memory");
	memcpy(list->log, buffer->sessions_view.base, used);
	if (list_parse(list)) {
		session_list_free(list);
		return error_set(err, -ENOMEM, "out of memory");
	}
	list_find_pins(list, run);
	return 0;
}

void session_list_free(struct session_list *list)
{
	free(list->items);
	free(list->log);
	*list = (struct session_list){ 0 };
}

int session_counts_read(const struct session *session, uint32_t slices,
			struct ras_count **rows, struct error *err)
{
	struct bpf_map_info info;
	char path[PATH_MAX + 8];
	void *view;
	size_t size;
	int fd;

	*rows = NULL;
	if (!session->dir[0])
		return error_set(err, -ENOENT,
				 "session %u has no counters any more",
				 session->entry->index);
	snprintf(path, sizeof(path), "%s/count", session->dir);
	fd = pin_map_open(path, &info, err);
	if (fd < 0)
		return fd;
	if (info.value_size != sizeof(struct ras_count) ||
	    info.max_entries != (uint64_t)session->entry->points * slices) {
		close(fd);
		return error_set(err, -EINVAL,
				 "'%s' doesn't fit its session", path);
	}
	view = pin_map_view(fd, &info, 0, &size, err);
	close(fd);
	if (!view)
		return -ENOMEM;
	*rows = malloc(size);
	if (*rows)
		memcpy(*rows, view, size);
	munmap(view, size);
	return *rows ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static void missed_add(const struct session *session, const char *name,
		       uint64_t *missed)
{
	char path[PATH_MAX + NAME_MAX + 2];
	unsigned int point, site;
	uint64_t n;
	int fd;

	if (sscanf(name, "%u_%u", &point, &site) != 2 ||
	    point >= session->entry->points)
		return;
	snprintf(path, sizeof(path), "%s/%s", session->dir, name);
	fd = sysbpf_object_get(path);
	if (fd < 0)
		return;
	if (!sysbpf_link_missed(fd, &n)) {
		if (missed[point] == RAS_MISSED_UNKNOWN)
			missed[point] = 0;
		missed[point] += n;
	}
	close(fd);
}

void session_missed_read(const struct session *session, uint64_t *missed)
{
	struct dirent *entry;
	DIR *dir;

	for (uint32_t i = 0; i < session->entry->points; i++)
		missed[i] = RAS_MISSED_UNKNOWN;
	/* the kernel tells it of kprobes only */
	if (!session->armed || !(session->entry->flags & RAS_SESSION_KERNEL))
		return;
	dir = opendir(session->dir);
	while (dir && (entry = readdir(dir)))
		missed_add(session, entry->d_name, missed);
	if (dir)
		closedir(dir);
}
