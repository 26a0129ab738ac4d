// SPDX-License-Identifier: GPL-2.0
#include "retire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../lib/pin.h"
#include "../lib/sysbpf.h"
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
		code = sysbpf_map_lookup(fd, 0, &value);
	value.state = state;
	if (!code)
		code = sysbpf_map_update(fd, 0, &value);
	close(fd);
	return code ? pin_refused(err, code, "cannot set '%s'", path) : 0;
}

static void log_close(struct buffer *buffer, uint16_t index)
{
	struct ras_session *entry = sesslog_find(buffer, index);

	if (entry && !entry->disarmed)
		__atomic_store_n(&entry->disarmed, buffer_time(),
				 __ATOMIC_RELEASE);
}

/* What outlives the session: its counters. */
static int counts_keep(const struct run_dir *run, const struct session *session,
		       struct error *err)
{
	char name[32], from[PATH_MAX + 8], to[PATH_MAX];
	int code;

	snprintf(name, sizeof(name), "past/%u", session->entry->index);
	code = run_dir_make(run, "past", err);
	if (!code)
		code = run_dir_make(run, name, err);
	if (code)
		return code;
	snprintf(from, sizeof(from), "%s/count", session->dir);
	snprintf(to, sizeof(to), "%s/%s/count", run->path, name);
	/* ENOENT: a killed trace has come that far */
	if (rename(from, to) && errno != ENOENT)
		return pin_refused(err, -errno, "cannot rename '%s' to '%s'",
				   from, to);
	return 0;
}

int retire_session(const struct run_dir *run, struct buffer *buffer,
		   const struct session *session, struct error *err)
{
	int code;

	code = retire_state_set(session->dir, RAS_STATE_OFF, err);
	if (code)
		return code;
	log_close(buffer, session->entry->index);
	code = counts_keep(run, session, err);
	if (code)
		return code;
	pins_remove(run->path, session->dir);
	return 0;
}

void retire_halves(const struct run_dir *run)
{
	struct session_list list;
	struct buffer buffer;

	if (buffer_open(&buffer, run->path, true, NULL))
		return;
	if (!session_list_read(&list, &buffer, run->path, NULL)) {
		for (size_t i = 0; i < list.count; i++) {
			struct session *session = &list.items[i];

			if (session->armed && session->state == RAS_STATE_OFF)
				retire_session(run, &buffer, session, NULL);
			if (!session->armed)
				log_close(&buffer, session->entry->index);
		}
		session_list_free(&list);
	}
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

static void entry_remove(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	if (unlink(path) && errno == EISDIR && strcmp(name, "gone"))
		pins_remove(run->path, path);
}

void retire_everything(struct run_dir *run)
{
	char armed[PATH_MAX];

	snprintf(armed, sizeof(armed), "%s/armed", run->path);
	pins_each(armed, armed_stop, NULL);
	pins_each(run->path, private_stop, NULL);
	pins_each(run->path, entry_remove, run);
}
