// SPDX-License-Identifier: GPL-2.0
#include "sessions.h"

#include <errno.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <bpf/bpf.h>
#include "aggregates.h"
#include "kmod.h"
#include "open_calls.h"
#include "lib/buffer/pin.h"
#include "lib/identity.h"
#include "lib/maps_line.h"

static struct ras_session *entry_at(struct buffer *buffer, size_t at)
{
	return (void *)((char *)buffer->sessions_view.base + at);
}

/* The end of a path distinguishes it better than its beginning. */
static void path_copy(char *to, size_t size, const char *path)
{
	size_t length = strlen(path);

	if (length >= size)
		path += length - (size - 1);
	strcpy(to, path);
}

static void points_fill(struct ras_session *entry, const struct tdf *tdf,
			const bool *picked)
{
	struct ras_session_point *points = (void *)(entry + 1);

	for (uint32_t i = 0; i < entry->points; i++)
		points[i] = (struct ras_session_point){
			.hash = tdf->points[i].hash,
			.minor = tdf->points[i].minor,
			.type = tdf->points[i].type,
			.group = tdf->points[i].group,
			.state = picked[i] ? RAS_POINT_ARMED :
					     RAS_POINT_UNSELECTED,
		};
}

static struct ras_session *log_full(struct error *err, const char *what)
{
	error_set(err, -ENOSPC, "the session log is full: %s", what);
	error_hint(err, "save the records (trace get FILE.ras); "
		   "'trace off --all' starts anew");
	return NULL;
}

struct ras_session *sesslog_add(struct buffer *buffer, const struct tdf *tdf,
				const bool *picked, const char *path,
				const struct tdf_module *module,
				const char *module_path,
				const struct ras_session *begin,
				struct error *err)
{
	struct ras_control *control = buffer->control;
	uint32_t points = tdf->header->points.count;
	uint32_t size = sizeof(struct ras_session) +
			points * sizeof(struct ras_session_point);
	struct ras_session *entry = entry_at(buffer, control->sessions_used);

	if (control->next_session > UINT16_MAX)
		return log_full(err, "it has counted to 65535");
	if (control->sessions_used > buffer->sessions_view.size ||
	    size > buffer->sessions_view.size - control->sessions_used)
		return log_full(err, "no room for another TDF");
	*entry = (struct ras_session){
		.index = control->next_session,
		.major = tdf->header->major,
		.points = points,
		.flags = begin->flags,
		.armed = buffer_time(),
		.id_kind = module->id_kind,
		.id_length = module->id_length,
		.context = begin->context,
		.max_rate = begin->max_rate,
		.device = begin->device,
		.inode = begin->inode,
		.bytes = begin->bytes,
		.mtime = begin->mtime,
		.ctime = begin->ctime,
	};
	entry->disarmed = entry->armed;
	memcpy(entry->id, module->id, sizeof(entry->id));
	path_copy(entry->tdf, sizeof(entry->tdf), path);
	path_copy(entry->module, sizeof(entry->module), module_path);
	points_fill(entry, tdf, picked);
	__atomic_store_n(&entry->size, size, __ATOMIC_RELEASE);
	control->next_session++;
	__atomic_store_n(&control->sessions_used,
			 control->sessions_used + size, __ATOMIC_RELEASE);
	return entry;
}

void sesslog_point_end(struct ras_session *entry, uint32_t point,
		       uint16_t state)
{
	struct ras_session_point *points = (void *)(entry + 1);

	if (point >= entry->points || points[point].state != RAS_POINT_ARMED)
		return;
	/* the state counts: a process killed in between has ended nothing */
	points[point].ended = buffer_time();
	__atomic_store_n(&points[point].state, state, __ATOMIC_RELEASE);
}

/* Will none be armed without those that are `off`? */
static bool sesslog_all_end(const struct ras_session *entry, const bool *off)
{
	const struct ras_session_point *points = (const void *)(entry + 1);

	for (uint32_t i = 0; i < entry->points; i++)
		if (points[i].state == RAS_POINT_ARMED && !off[i])
			return false;
	return true;
}

void sesslog_drop_last(struct buffer *buffer, struct ras_session *entry)
{
	__atomic_store_n(&buffer->control->sessions_used,
			 (char *)entry - (char *)buffer->sessions_view.base,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&entry->size, 0, __ATOMIC_RELEASE);
}

struct ras_session *sesslog_find(struct buffer *buffer, uint16_t index)
{
	size_t used = buffer->control->sessions_used, at = 0;

	if (used > buffer->sessions_view.size)
		used = buffer->sessions_view.size;
	while (used - at >= sizeof(struct ras_session)) {
		struct ras_session *entry = entry_at(buffer, at);

		if (entry->size < sizeof(*entry) || entry->size > used - at)
			break;
		if (entry->index == index)
			return entry;
		at += entry->size;
	}
	return NULL;
}

void sesslog_reset(struct buffer *buffer)
{
	__atomic_store_n(&buffer->control->sessions_used, 0, __ATOMIC_RELEASE);
	memset(buffer->sessions_view.base, 0, buffer->sessions_view.size);
}

static bool tdf_is_of(const struct tdf *tdf, const struct session *session)
{
	if (tdf->header->points.count != session->entry->points)
		return false;
	for (uint32_t i = 0; i < session->entry->points; i++)
		if (tdf->points[i].minor != session->points[i].minor ||
		    tdf->points[i].hash != session->points[i].hash ||
		    tdf->points[i].type != session->points[i].type ||
		    tdf->points[i].group != session->points[i].group)
			return false;
	return true;
}

int session_tdf_open(const struct session *session, struct tdf **tdf)
{
	int code = tdf_open(tdf, session->entry->tdf, NULL);

	if (code) {
		*tdf = NULL;
		return code == -ENOMEM ? code : 0;
	}
	if (!tdf_is_of(*tdf, session)) {
		tdf_close(*tdf);
		*tdf = NULL;
	}
	return 0;
}

/* Taking the run directory, to change what is in it. */

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
	static const char *const names[] = {
		"count", "why", "aggregates", "aggregated", "legend",
		"stack_table",
	};
	char past[32], from[PATH_MAX + 8], to[PATH_MAX + 8];
	int code;

	snprintf(past, sizeof(past), "past/%u", session->entry->index);
	code = run_dir_make(run, "past", err);
	if (!code)
		code = run_dir_make(run, past, err);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !code; i++) {
		snprintf(from, sizeof(from), "%s/%s", session->dir, names[i]);
		snprintf(to, sizeof(to), "%s/%s/%s", run->path, past,
			 names[i]);
		/* ENOENT: there is none, or a killed trace has
		 * come that far */
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
	aggregates_sweep(session);
	open_calls_sweep(session, buffer->control->cpus);
	code = open_calls_keep(session, buffer->control->cpus, err);
	if (!code)
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

/* Links of whole calls that have ended */
struct whole_links {
	const char *dir;
	const struct ras_session *entry;
	const struct tdf *tdf;		/* NULL: not known */
	bool exits;			/* these; else the others */
};

static void whole_link_close(const char *path, const char *name, void *context)
{
	const struct whole_links *links = context;
	unsigned int point, site;
	bool exit = false;
	int fd;

	if (!link_has_ended(name, (void *)links->entry) ||
	    sscanf(name, "%u_%u", &point, &site) != 2)
		return;
	if (links->tdf) {
		if (site >= links->tdf->header->sites.count ||
		    !(links->tdf->points[point].flags & TDF_POINT_WHOLE))
			return;
		exit = !(links->tdf->sites[site].flags & TDF_SITE_ENTRY);
	}
	if (exit != links->exits)
		return;
	fd = bpf_obj_get(path);
	unlink(path);
	if (fd >= 0)
		close(fd);	/* it is gone when this returns */
}

static void whole_links_close(void *context, bool exits)
{
	struct whole_links *links = context;

	links->exits = exits;
	pins_each(links->dir, whole_link_close, links);
}

/*
 * Exits go before entries: a call whose entry has no probe any more could end with
 * what an earlier call in its place, which was left, has logged. Without the TDF it
 * isn't known which they are, so that nothing is recorded meanwhile.
 */
static void whole_links_remove(const struct session *session,
			       const struct ras_session *entry,
			       const struct buffer *buffer)
{
	struct whole_links links = { .dir = session->dir, .entry = entry };
	struct tdf *tdf = NULL;
	bool stop;

	if (!open_calls_any(session))
		return;
	session_tdf_open(session, &tdf);
	links.tdf = tdf;
	stop = !tdf && session->state == RAS_STATE_ON;
	if (stop)
		retire_state_set(session->dir, RAS_STATE_SUSPENDED, NULL);
	open_calls_end(session, buffer->control->cpus,
		       (const void *)(entry + 1), whole_links_close, &links);
	if (stop)
		retire_state_set(session->dir, RAS_STATE_ON, NULL);
	tdf_close(tdf);
}

int retire_points(const struct run_dir *run, struct buffer *buffer,
		  const struct session *session, const bool *off,
		  uint16_t state, struct error *err)
{
	struct ras_session *entry = sesslog_find(buffer,
						 session->entry->index);
	bool whole;
	int code;

	if (!entry || entry->points != session->entry->points)
		return error_set(err, -ENOENT,
				 "session %u isn't in the session log",
				 session->entry->index);
	whole = state == RAS_POINT_OFF && sesslog_all_end(entry, off);
	/* first, so that a process killed among the points has ended all */
	code = whole ? retire_state_set(session->dir, RAS_STATE_OFF, err) : 0;
	if (code)
		return code;
	for (uint32_t i = 0; i < entry->points; i++)
		if (off[i])
			sesslog_point_end(entry, i, state);
	if (whole)
		return retire_session(run, buffer, session, err);
	whole_links_remove(session, entry, buffer);
	pins_remove_some(run->path, session->dir, link_has_ended, entry);
	return 0;
}

/* Finish what a killed trace began: sessions between off and on. */
static void retire_unfinished(const struct run_dir *run)
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
		else if (session->armed && entry && ended) {
			whole_links_remove(session, entry, &buffer);
			pins_remove_some(run->path, session->dir,
					 link_has_ended, entry);
		}
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

#define LOCK_ATTEMPTS	100
#define LOCK_PAUSE_US	20000

static int run_mount(const char *path, struct error *err)
{
	struct stat st;
	bool made;
	int code;

	/* a link and an existing bpffs are for run_dir_check() to judge */
	if (run_dir_is_bpffs(path) ||
	    (!lstat(path, &st) && S_ISLNK(st.st_mode)))
		return 0;
	made = !mkdir(path, 0700);
	if (!made && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", path);
	if (pins_count(path))
		return error_set(err, -ENOTEMPTY,
				 "cannot mount a bpffs on '%s': it isn't empty",
				 path);
	if (!mount("rastrace", path, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   "mode=0700"))
		return 0;
	code = -errno;
	if (made)
		rmdir(path);
	return pin_refused(err, code, "cannot mount a bpffs on '%s'", path);
}

/*
 * RUN.lock, where a file can be made beside the directory; else, when that is
 * in a bpffs of others, RUN/lock/, which is there while it is held.
 */
static int lock_open(struct run_dir *run, char name[PATH_MAX],
		     struct error *err)
{
	int fd, code;

	snprintf(name, PATH_MAX, "%s.lock", run->path);
	run->lock_inside = false;
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	run->lock_made |= fd >= 0;
	if (fd < 0 && errno == EEXIST) {
		fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		/* the process that made it could not use the directory */
		if (fd < 0 && errno == ENOENT)
			return -EAGAIN;
	}
	if (fd >= 0)
		return fd;
	code = -errno;
	if (run_dir_check(run->path, NULL))
		return pin_refused(err, code, "cannot open '%s'", name);
	snprintf(name, PATH_MAX, "%s/lock", run->path);
	run->lock_inside = true;
	if (mkdir(name, 0700) && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", name);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0)
		return fd;
	/* its holder has just given it up */
	if (errno == ENOENT)
		return -EAGAIN;
	return pin_refused(err, -errno, "cannot open '%s'", name);
}

/* Sets run->lock; -EAGAIN: another process has it, or has just given it up. */
static int lock_try(struct run_dir *run, char name[PATH_MAX],
		    struct error *err)
{
	int code = 0, fd = lock_open(run, name, err);
	struct stat opened, named;

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB))
		code = errno == EWOULDBLOCK ? -EAGAIN :
			pin_refused(err, -errno, "cannot lock '%s'", name);
	else if (fstat(fd, &opened) || stat(name, &named) ||
		 opened.st_dev != named.st_dev ||
		 opened.st_ino != named.st_ino)
		code = -EAGAIN;
	if (code)
		close(fd);
	else
		run->lock = fd;
	return code;
}

static int lock_take(struct run_dir *run, struct error *err)
{
	char name[PATH_MAX], holder[16] = "unknown";
	int tries, pid, code = lock_try(run, name, err);

	for (tries = 0; code == -EAGAIN && tries < LOCK_ATTEMPTS; tries++) {
		usleep(LOCK_PAUSE_US);
		code = lock_try(run, name, err);
	}
	if (code != -EAGAIN)
		return code;
	pid = run_dir_lock_holder(name);
	if (pid > 0)
		snprintf(holder, sizeof(holder), "%d", pid);
	error_set(err, -EBUSY, "another trace (process %s) is at work in '%s'",
		  holder, run->path);
	error_hint(err, "wait for it to end and try again");
	return -EBUSY;
}

bool run_dir_is_left(const char *name)
{
	unsigned long long start;
	struct process_stat now;
	int pid, code;

	if (sscanf(name, "run_%d_%llu", &pid, &start) != 2)
		return false;
	code = process_stat_read(pid, &now);
	return code ? code == -ENOENT || code == -ESRCH : now.start != start;
}

static void private_clean(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	if (run_dir_is_left(name))
		pins_remove(run->path, path);
}

static void new_clean(const char *path, const char *name, void *context)
{
	const struct run_dir *run = context;

	pins_remove(run->path, path);
}

int run_dir_open(struct run_dir *run, bool create, struct error *err)
{
	size_t length = snprintf(run->path, sizeof(run->path), "%s",
				 pin_run());
	char path[PATH_MAX];
	struct stat st;
	int code = 0;

	run->lock = -1;
	run->lock_made = false;
	if (length >= sizeof(run->path))
		return error_set(err, -ENAMETOOLONG,
				 "the name of the run directory is too long");
	/* without slashes at the end: the lock is beside the directory */
	while (length > 1 && run->path[length - 1] == '/')
		run->path[--length] = '\0';
	if (!lstat(run->path, &st) && !S_ISDIR(st.st_mode) &&
	    !S_ISLNK(st.st_mode))
		return error_set(err, -ENOTDIR, "'%s' is no directory",
				 run->path);
	if (!create || run_dir_is_bpffs(run->path))
		code = run_dir_check(run->path, err);
	if (code)
		return code;
	code = lock_take(run, err);
	if (code)
		return code;
	code = create ? run_mount(run->path, err) : 0;
	if (!code)
		code = run_dir_check(run->path, err);
	if (!code) {
		/* What a trace that was killed has left. */
		snprintf(path, sizeof(path), "%s/new", run->path);
		pins_each(path, new_clean, run);
		pins_each(run->path, private_clean, run);
		pins_remove_rest(run->path);
		retire_unfinished(run);
		return 0;
	}
	if (run->lock_made) {
		/* It was made for a directory that can't be used. */
		snprintf(path, sizeof(path), "%s.lock", run->path);
		unlink(path);
	}
	run_dir_close(run);
	return code;
}

void run_dir_close(struct run_dir *run)
{
	char name[PATH_MAX];

	if (run->lock < 0)
		return;
	snprintf(name, sizeof(name), "%s/lock", run->path);
	if (run->lock_inside)
		rmdir(name);
	close(run->lock);
	run->lock = -1;
}
