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
#include "device.h"
#include "pin.h"
#include "lib/identity.h"
#include "lib/sysbpf.h"

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

static int session_list_add(struct session_list *list,
			    const struct ras_session *entry)
{
	struct session *items = reallocarray(list->items, list->count + 1,
					     sizeof(*items));

	if (!items)
		return -ENOMEM;
	list->items = items;
	items[list->count++] = (struct session){
		.entry = entry, .points = (const void *)(entry + 1),
		.device_fd = -1,
	};
	return 0;
}

static int session_list_parse(struct session_list *list)
{
	size_t at = 0;

	while (at < list->log_size) {
		const struct ras_session *entry =
			(const void *)((char *)list->log + at);

		if (!entry_valid(entry, list->log_size - at))
			break;
		if (session_list_add(list, entry))
			return -ENOMEM;
		at += entry->size;
	}
	list->log_size = at;
	return 0;
}

static bool state_read(const char *dir, struct ras_state *state)
{
	struct bpf_map_info info;
	char path[PATH_MAX + 8];
	bool read;
	int fd;

	snprintf(path, sizeof(path), "%s/state", dir);
	fd = pin_map_open(path, &info, NULL);
	if (fd < 0)
		return false;
	read = info.value_size == sizeof(*state) &&
	       !bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, state);
	close(fd);
	return read;
}

/* The directory `name` under armed/ belongs to the session that its state names. */
static void list_match(struct session_list *list, const char *run,
		       const char *name)
{
	struct ras_state state;
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/armed/%s", run, name);
	if (!state_read(dir, &state))
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct session *session = &list->items[i];

		if (session->entry->index != state.session)
			continue;
		session->armed = true;
		session->state = state.state;
		snprintf(session->name, sizeof(session->name), "%s", name);
		strcpy(session->dir, dir);
	}
}

static int list_find_pins(struct session_list *list, const char *run)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/armed", run);
	dir = opendir(path);
	if (!dir && errno == ENOMEM)
		return -ENOMEM;
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
	return 0;
}

/* One that belongs to the static tracepoints, but for which are on. */
static struct ras_session *statics_make(void)
{
	size_t size = sizeof(struct ras_session) +
		      RAS_STATIC_MAJORS * sizeof(struct ras_session_point);
	struct ras_session *entry = calloc(1, size);
	struct ras_session_point *points;

	if (!entry)
		return NULL;
	entry->size = size;
	entry->index = RAS_STATIC_SESSION;
	entry->points = RAS_STATIC_MAJORS;
	strcpy(entry->tdf, "static tracepoints");
	points = (struct ras_session_point *)(entry + 1);
	for (unsigned int i = 0; i < RAS_STATIC_MAJORS; i++) {
		points[i].minor = i;
		points[i].state = RAS_POINT_UNSELECTED;
	}
	return entry;
}

static void statics_mark(struct ras_session *entry, const uint8_t *majors)
{
	struct ras_session_point *points = (void *)(entry + 1);

	for (unsigned int i = 0; i < RAS_STATIC_MAJORS; i++)
		if (majors[i])
			points[i].state = RAS_POINT_ARMED;
}

static struct session *statics_add(struct session_list *list)
{
	list->statics = statics_make();
	if (!list->statics || session_list_add(list, list->statics))
		return NULL;
	return &list->items[list->count - 1];
}

/* As the module has them; it has static tracepoints while a major is on. */
static int list_find_device(struct session_list *list, int fd)
{
	const uint8_t *majors = device_map(fd, RASTRACE_MAJORS,
					   RAS_STATIC_MAJORS, NULL);
	const struct ras_state *state = device_map(fd, RASTRACE_STATE,
						   sizeof(*state), NULL);
	struct session *session = NULL;
	int code = 0;

	for (size_t i = 0; i < list->count; i++) {
		list->items[i].armed = !list->items[i].entry->disarmed;
		list->items[i].state = RAS_STATE_ON;
	}
	if (majors && state) {
		session = statics_add(list);
		code = session ? 0 : -ENOMEM;
	}
	if (session) {
		statics_mark(list->statics, majors);
		session->armed = true;
		session->state = state->state;
		session->device_fd = fd;
	}
	if (majors)
		munmap((void *)majors, RAS_STATIC_MAJORS);
	if (state)
		munmap((void *)state, sizeof(*state));
	return code;
}

static int list_find_pinned(struct session_list *list, const char *run)
{
	int code = list_find_pins(list, run), fd;
	char dir[PATH_MAX], path[PATH_MAX + 8];
	uint8_t majors[RAS_STATIC_MAJORS];
	struct bpf_map_info info;
	struct session *session;
	struct ras_state state;
	bool on;

	if (code)
		return code;
	snprintf(dir, sizeof(dir), "%s/static", run);
	on = state_read(dir, &state);
	if (!on) {
		snprintf(dir, sizeof(dir), "%s/past/%u", run,
			 RAS_STATIC_SESSION);
		if (access(dir, F_OK))
			return 0;
	}
	session = statics_add(list);
	if (!session)
		return -ENOMEM;
	strcpy(session->dir, dir);
	if (!on)
		return 0;
	snprintf(path, sizeof(path), "%s/majors", dir);
	fd = pin_map_open(path, &info, NULL);
	if (fd >= 0) {
		if (info.value_size == sizeof(majors) &&
		    !bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, majors))
			statics_mark(list->statics, majors);
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/pids", dir);
	if (!access(path, F_OK))
		list->statics->flags = RAS_SESSION_FILTERED;
	session->armed = true;
	session->state = state.state;
	strcpy(session->name, "static");
	return 0;
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
		return error_no_memory(err);
	memcpy(list->log, buffer->sessions_view.base, used);
	if (!session_list_parse(list) &&
	    !(buffer->device_fd < 0 ? list_find_pinned(list, run) :
	      list_find_device(list, buffer->device_fd))) {
		/* In the copy: only retire_unfinished(), with the lock, writes it
		 * into the log. */
		for (size_t i = 0; i < list->count; i++) {
			struct ras_session *entry =
				(void *)list->items[i].entry;

			if (list->items[i].armed && !entry->changed)
				entry->changed = module_file_changed(entry);
		}

		return 0;
	}
	session_list_free(list);
	return error_no_memory(err);
}

void session_list_free(struct session_list *list)
{
	free(list->items);
	free(list->log);
	free(list->statics);
	*list = (struct session_list){ 0 };
}

/* Where the pin is once the session is disarmed */
static void past_path(const struct session *session, const char *name,
		      char path[PATH_MAX + 32])
{
	int base = strlen(session->dir) - strlen(session->name);

	snprintf(path, PATH_MAX + 32, "%.*s../past/%u/%s", base, session->dir,
		 session->entry->index, name);
}

/* A session that is disarmed meanwhile has moved to its place under past/. */
int session_map_open(const struct session *session, const char *name,
		     struct bpf_map_info *info, struct error *err)
{
	char path[PATH_MAX + 32];
	int fd;

	if (!session->dir[0])
		return error_set(err, -ENOENT,
				 "session %u has no counters any more",
				 session->entry->index);
	snprintf(path, sizeof(path), "%s/%s", session->dir, name);
	fd = pin_map_open(path, info, err);
	if (fd != -ENOENT || !session->armed)
		return fd;
	past_path(session, name, path);
	return pin_map_open(path, info, err);
}

int session_aggregates_open(const struct session *session, uint32_t *key_bytes,
			    uint32_t *entries, struct error *err)
{
	const uint32_t type = BPF_MAP_TYPE_PERCPU_HASH;
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/aggregates", session->dir);
	fd = pin_hash_open(path, type, 0, sizeof(struct ras_aggregate), err);
	if (fd == -ENOENT && session->armed) {
		past_path(session, "aggregates", path);
		fd = pin_hash_open(path, type, 0, sizeof(struct ras_aggregate),
				   err);
	}
	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) ||
	    info.key_size > RAS_AGGREGATE_KEY_MAX || info.key_size & 7 ||
	    info.max_entries > RAS_AGGREGATES_MAX) {
		close(fd);
		return error_set(err, -EINVAL,
				 "'%s' was not made by trace: another kind of map",
				 path);
	}
	*key_bytes = info.key_size;
	*entries = info.max_entries;
	return fd;
}

/* What a session counts: a map of rows, some for each of its points. */
struct session_rows {
	const char *name;
	int part;		/* of the static tracepoints' in the device */
	size_t size;		/* of a row */
	uint64_t count;		/* for each point */
};

static void *rows_map(const struct session *session,
		      const struct session_rows *rows, size_t *size,
		      struct error *err)
{
	struct bpf_map_info info;
	void *view;
	int fd;

	*size = session->entry->points * rows->count * rows->size;
	if (session->device_fd >= 0)
		return device_map(session->device_fd, rows->part, *size, err);
	fd = session_map_open(session, rows->name, &info, err);
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	if (info.value_size != rows->size ||
	    info.max_entries != session->entry->points * rows->count) {
		error_set(err, -EINVAL,
			  "the map '%s' in '%s' doesn't fit its session",
			  rows->name, session->dir);
		view = NULL;
		errno = EINVAL;
	} else {
		view = pin_map_view(fd, &info, 0, size, err);
	}
	close(fd);
	return view;
}

/* Copy the session's rows. */
static int rows_read(const struct session *session,
		     const struct session_rows *rows, void **copy,
		     struct error *err)
{
	size_t size;
	void *view = rows_map(session, rows, &size, err);

	*copy = NULL;
	if (!view)
		return -errno;
	*copy = malloc(size);
	if (*copy)
		memcpy(*copy, view, size);
	munmap(view, size);
	return *copy ? 0 : error_no_memory(err);
}

int session_counts_read(const struct session *session, uint32_t slices,
			struct ras_count **rows, struct error *err)
{
	const struct session_rows counts = {
		"count", RASTRACE_COUNT, sizeof(**rows), slices,
	};
	void *copy;
	int code = rows_read(session, &counts, &copy, err);

	*rows = copy;
	return code;
}

#define OPEN_BATCH	1024	/* entries that are read at a time */

/* Counts the entries of the map by point, a part of them at a time; no one twice. */
static void open_count(int fd, const struct bpf_map_info *info,
		       uint32_t points, uint64_t *open)
{
	struct ras_open_key *keys = calloc(OPEN_BATCH, sizeof(*keys));
	void *values = calloc(OPEN_BATCH, info->value_size);
	uint32_t batch = 0;
	bool first = true;
	int code = keys && values ? 0 : -ENOMEM;

	while (!code) {
		uint32_t count = OPEN_BATCH;

		code = bpf_map_lookup_batch(fd, first ? NULL : &batch, &batch,
					    keys, values, &count, NULL);
		first = false;
		for (uint32_t i = 0; (!code || code == -ENOENT) && i < count;
		     i++)
			if (keys[i].point < points)
				open[keys[i].point]++;
	}
	free(values);
	free(keys);
}

/* The same of the slots */
static void slots_count(int fd, const struct bpf_map_info *info,
			uint32_t points, uint64_t *open)
{
	uint8_t *slots = calloc(info->max_entries, info->value_size);
	bool read = slots && !sysbpf_array_read(fd, info, slots);

	for (uint32_t i = 0; read && i < info->max_entries; i++) {
		struct ras_open_slot slot;

		memcpy(&slot, slots + (size_t)i * info->value_size,
		       sizeof(slot));
		if (slot.owner && slot.owner >> 32 < points)
			open[slot.owner >> 32]++;
	}
	free(slots);
}

void session_open_read(const struct session *session, uint64_t *open)
{
	static const char *const names[] = { "open", "slots" };
	uint32_t points = session->entry->points;
	char path[PATH_MAX + 8];

	for (uint32_t i = 0; i < points; i++)
		open[i] = 0;
	for (int i = 0; i < 2 && session->armed && session->device_fd < 0; i++) {
		struct bpf_map_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd;

		snprintf(path, sizeof(path), "%s/%s", session->dir, names[i]);
		fd = bpf_obj_get(path);
		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size))
			info.type = BPF_MAP_TYPE_UNSPEC;
		if (info.type == BPF_MAP_TYPE_HASH &&
		    info.key_size == sizeof(struct ras_open_key))
			open_count(fd, &info, points, open);
		else if (info.type == BPF_MAP_TYPE_ARRAY &&
			 info.value_size >= sizeof(struct ras_open_slot))
			slots_count(fd, &info, points, open);
		close(fd);
	}
}

/* totals += calls that have not returned */
static int why_open_add(const struct session *session, struct ras_why *totals,
			struct error *err)
{
	uint32_t points = session->entry->points;
	uint64_t *open = calloc(points + 1, sizeof(*open));

	if (!open)
		return error_no_memory(err);
	session_open_read(session, open);
	for (uint32_t i = 0; i < points; i++)
		totals[i].open += open[i];
	free(open);
	return 0;
}

int session_why_read(const struct session *session, uint32_t cpus,
		     struct ras_why **totals, struct error *err)
{
	uint32_t points = session->entry->points;
	struct ras_why *rows;
	const struct session_rows why = {
		"why", RASTRACE_WHY, sizeof(*rows), cpus,
	};
	void *copy;
	int code = rows_read(session, &why, &copy, err);

	*totals = NULL;
	if (code)
		return code;
	rows = copy;
	/* a row is as long as its sum, which is written where no row is
	 * read any more */
	for (uint32_t i = 0; i < points; i++) {
		struct ras_why total = { 0 };

		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			session_why_add(&total, &rows[(size_t)i * cpus + cpu]);
		rows[i] = total;
	}
	*totals = rows;
	return why_open_add(session, rows, err);
}

int session_aggregated_read(const struct session *session, uint32_t cpus,
			    struct ras_aggregated **totals, struct error *err)
{
	uint32_t points = session->entry->points;
	struct ras_aggregated *rows;
	const struct session_rows aggregated = {
		"aggregated", 0, sizeof(*rows), cpus,
	};
	void *copy;
	int code = session->device_fd >= 0 ? -ENOENT :
		   rows_read(session, &aggregated, &copy, err);

	*totals = NULL;
	if (code)
		return code;
	rows = copy;
	for (uint32_t i = 0; i < points; i++) {
		struct ras_aggregated total = { 0 };

		for (uint32_t cpu = 0; cpu < cpus; cpu++) {
			total.hits += rows[(size_t)i * cpus + cpu].hits;
			total.lost += rows[(size_t)i * cpus + cpu].lost;
		}
		rows[i] = total;
	}
	*totals = rows;
	return 0;
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
	fd = bpf_obj_get(path);
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
	/* the kernel reports it for kprobes only */
	if (!session->armed || !(session->entry->flags & RAS_SESSION_KERNEL))
		return;
	dir = opendir(session->dir);
	while (dir && (entry = readdir(dir)))
		missed_add(session, entry->d_name, missed);
	if (dir)
		closedir(dir);
}
