// SPDX-License-Identifier: GPL-2.0
#include "retire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <bpf/bpf.h>
#include "lib/identity.h"
#include "lib/buffer/pin.h"
#include "keeper_process.h"
#include "kmod.h"
#include "pins.h"
#include "sesslog.h"

int retire_state_set(const char *dir, uint32_t state, struct error *err)
{
	struct bpf_map_info info;
	struct ras_state value;
	char path[PATH_MAX + 8];
	int fd, code;

	snprintf(path, sizeof(path), "%s/state", dir);
	fd = pin_map_open(path, &info, err);
	if (fd < 0)
		return fd;
	code = info.value_size == sizeof(value) ? 0 : -EINVAL;
	if (!code)
		code = bpf_map_lookup_elem(fd, &(uint32_t){ 0 }, &value);
	value.state = state;
	if (!code)
		code = bpf_map_update_elem(fd, &(uint32_t){ 0 }, &value,
					   BPF_ANY);
	close(fd);
	return code ? pin_refused(err, code, "cannot set '%s'", path) : 0;
}

static void log_close(struct buffer *buffer, uint16_t index)
{
	struct ras_session *entry = sesslog_find(buffer, index);

	if (entry && !entry->changed)
		entry->changed = module_file_changed(entry);
	if (entry && !entry->disarmed)
		__atomic_store_n(&entry->disarmed, buffer_time(),
				 __ATOMIC_RELEASE);
}

/* What outlives the session: its figures. */
static int figures_keep(const struct run_dir *run,
			const struct session *session, struct error *err)
{
	static const char *const names[] = { "count", "why" };
	char past[32], from[PATH_MAX + 8], to[PATH_MAX + 8];
	int code;

	snprintf(past, sizeof(past), "past/%u", session->entry->index);
	code = run_dir_make(run, "past", err);
	if (!code)
		code = run_dir_make(run, past, err);
	for (int i = 0; i < 2 && !code; i++) {
		snprintf(from, sizeof(from), "%s/%s", session->dir, names[i]);
		snprintf(to, sizeof(to), "%s/%s/%s", run->path, past,
			 names[i]);
		/* ENOENT: a killed trace has come that far */
		if (rename(from, to) && errno != ENOENT)
			code = pin_refused(err, -errno,
					   "cannot rename '%s' to '%s'", from,
					   to);
	}
	return code;
}

int retire_session(const struct run_dir *run, struct buffer *buffer,
		   const struct session *session, struct error *err)
{
	int code;

	code = retire_state_set(session->dir, RAS_STATE_OFF, err);
	if (code)
		return code;
	log_close(buffer, session->entry->index);
	code = figures_keep(run, session, err);
	if (code)
		return code;
	pins_remove(run->path, session->dir);
	return 0;
}

/* Is it a link, POINT_SITE, of a point that has ended? */
static bool link_has_ended(const char *name, void *context)
{
	const struct ras_session *entry = context;
	const struct ras_session_point *points = (const void *)(entry + 1);
	unsigned int point, site;

	return sscanf(name, "%u_%u", &point, &site) == 2 &&
	       point < entry->points &&
	       points[point].state != RAS_POINT_ARMED;
}

int retire_points(const struct run_dir *run, struct buffer *buffer,
		  const struct session *session, const bool *off,
		  uint16_t state, struct error *err)
{
	struct ras_session *entry = sesslog_find(buffer,
						 session->entry->index);

	if (!entry || entry->points != session->entry->points)
		return error_set(err, -ENOENT,
				 "session %u isn't in the session log",
				 session->entry->index);
	for (uint32_t i = 0; i < entry->points; i++)
		if (off[i])
			sesslog_point_end(entry, i, state);
	if (state == RAS_POINT_OFF && !sesslog_points_armed(entry))
		return retire_session(run, buffer, session, err);
	pins_remove_some(run->path, session->dir, link_has_ended, entry);
	return 0;
}

void retire_unfinished(const struct run_dir *run)
{
	static const char *const names[] = { "armed", "static", "past" };
	struct session_list list;
	struct buffer buffer;
	char path[PATH_MAX];
	int code = buffer_open(&buffer, run->path, true, NULL);

	/* Without the buffer nothing of it may stay: a killed
	 * retire_everything() got so far. */
	for (size_t i = 0; code == -ENOENT &&
	     i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", run->path, names[i]);
		if (!access(path, F_OK))
			pins_remove(run->path, path);
	}
	if (code)
		return;
	if (session_list_read(&list, &buffer, run->path, NULL)) {
		buffer_close(&buffer);
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct session *session = &list.items[i];
		struct ras_session *entry = sesslog_find(&buffer,
							 session->entry->index);
		bool ended = false;

		for (uint32_t k = 0; k < session->entry->points; k++)
			ended |= session->points[k].state != RAS_POINT_ARMED &&
				 session->points[k].state !=
				 RAS_POINT_UNSELECTED;
		if (entry && !entry->changed)
			entry->changed = session->entry->changed;
		if (session->armed && session->state == RAS_STATE_OFF)
			retire_session(run, &buffer, session, NULL);
		else if (session->armed && entry && ended)
			pins_remove_some(run->path, session->dir,
					 link_has_ended, entry);
		if (!session->armed)
			log_close(&buffer, session->entry->index);
	}
	session_list_free(&list);
	buffer_close(&buffer);
}

static void armed_stop(const char *path, const char *name, void *context)
{
	retire_state_set(path, RAS_STATE_OFF, NULL);
}

static void private_stop(const char *path, const char *name, void *context)
{
	char armed[PATH_MAX + 8];

	snprintf(armed, sizeof(armed), "%s/armed", path);
	pins_each(armed, armed_stop, NULL);
}

static void retire_entry(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	/* the lock is held, and goes when it is given up */
	if (unlink(path) && errno == EISDIR && strcmp(name, "gone") &&
	    strcmp(name, "lock"))
		pins_remove(run->path, path);
}

void retire_everything(struct run_dir *run)
{
	char armed[PATH_MAX], control[PATH_MAX], statics[PATH_MAX];

	snprintf(armed, sizeof(armed), "%s/armed", run->path);
	snprintf(control, sizeof(control), "%s/control", run->path);
	snprintf(statics, sizeof(statics), "%s/static", run->path);
	keeper_process_stop(run->path);
	if (run_dir_group(run) != RUN_NO_GROUP)
		chmod(run->path, 0700);
	pins_each(armed, armed_stop, NULL);
	retire_state_set(statics, RAS_STATE_OFF, NULL);
	kmod_release(run);
	pins_each(run->path, private_stop, NULL);
	/* first of all: no buffer may stay that counts what is gone */
	unlink(control);
	pins_each(run->path, retire_entry, run);
}

/* A run directory of its own in there. */
static void private_count(const char *path, const char *name, void *context)
{
	*(unsigned int *)context += !strncmp(name, "run_", 4);
}

void retire_unused(struct run_dir *run)
{
	static const char *const names[] = { "armed", "wait", "static" };
	unsigned int uses = 0;
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", run->path, names[i]);
		uses += pins_count(path);
	}
	pins_each(run->path, private_count, &uses);
	if (!uses)
		retire_everything(run);
}
