// SPDX-License-Identifier: GPL-2.0
#include "keep_react.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "lib/buffer/picture.h"
#include "lib/buffer/pin.h"

#define FILES_MOST	9999	/* FILE.9999.ras is the last one */
#define WRITE_LOOKS	10	/* from one writing of what is counted to the next */
#define GROUPS_MAX	256
#define MESSAGE_MAX	512

struct react_trigger {
	struct keep_did did;
	uint64_t seen[KEEP_POINTS_MAX];	/* records of each point */
	uint64_t times[KEEP_RATE_MAX];	/* of the last ones, a ring */
	unsigned int begun;	/* since the keeper runs */
	unsigned int number;	/* of the last file */
	pid_t child;		/* it is being done; 0: nothing is */
	int messages;		/* what that wrote; -1 */
	char what[PATH_MAX + 16];	/* the file */
	bool dirty;		/* `did` isn't written yet */
};

struct react {
	char run[PATH_MAX], dir[PATH_MAX];
	char tdf[PATH_MAX];
	uint16_t *minors;	/* per point */
	struct keep_tasks tasks;
	struct react_trigger triggers[KEEP_TRIGGERS];
	int counts;		/* the session's map of counters; -1: none */
	const struct ras_count *rows;
	size_t size;		/* bytes of these */
	uint32_t slices;
	unsigned int looks;
};

static bool react_has(const struct react *react, int kind)
{
	return react->tasks.triggers[kind].count;
}

/* The map of counters, and what the points are called. */
static int react_points_open(struct react *react, const struct session *session)
{
	uint32_t points = session->entry->points;
	struct bpf_map_info info;
	char path[PATH_MAX + 8];

	react->minors = calloc(points + 1, sizeof(*react->minors));
	for (uint32_t i = 0; react->minors && i < points; i++)
		react->minors[i] = session->points[i].minor;
	for (int i = KEEP_SNAPSHOT; i < KEEP_TRIGGERS; i++)
		for (unsigned int k = 0; k < react->tasks.triggers[i].count;
		     k++)
			if (react->tasks.triggers[i].points[k] >= points)
				return -EINVAL;
	snprintf(path, sizeof(path), "%s/count", session->dir);
	react->counts = pin_map_open(path, &info, NULL);
	if (react->counts >= 0 && info.value_size == sizeof(*react->rows) &&
	    info.max_entries == (uint64_t)points * react->slices)
		react->rows = pin_map_view(react->counts, &info, 0,
					   &react->size, NULL);
	return react->rows && react->minors ? 0 : -ENOMEM;
}

struct react *react_open(const struct session *session, const char *run,
			 uint32_t slices)
{
	struct react *react = calloc(1, sizeof(*react));

	if (!react)
		return NULL;
	react->counts = -1;
	react->slices = slices;
	snprintf(react->run, sizeof(react->run), "%s", run);
	snprintf(react->dir, sizeof(react->dir), "%s", session->dir);
	snprintf(react->tdf, sizeof(react->tdf), "%s", session->entry->tdf);
	keep_tasks_read(&react->tasks, session->dir);
	for (int i = 0; i < KEEP_TRIGGERS; i++) {
		react->triggers[i].messages = -1;
		keep_did_read(&react->triggers[i].did, session->dir, i);
	}
	if ((react_has(react, KEEP_SNAPSHOT) || react_has(react, KEEP_RUN)) &&
	    !react_points_open(react, session))
		return react;
	react_close(react);
	return NULL;
}

void react_close(struct react *react)
{
	if (!react)
		return;
	for (int i = 0; i < KEEP_TRIGGERS; i++)
		if (react->triggers[i].messages >= 0)
			close(react->triggers[i].messages);
	if (react->rows)
		munmap((void *)react->rows, react->size);
	if (react->counts >= 0)
		close(react->counts);
	keep_tasks_free(&react->tasks);
	free(react->minors);
	free(react);
}

/* As a child of its own process group, with one descriptor for messages. */
static pid_t react_fork(struct react_trigger *t)
{
	sigset_t none;
	pid_t child;

	t->messages = memfd_create("messages", MFD_CLOEXEC);
	if (t->messages < 0)
		return -1;
	child = fork();
	if (child < 0) {
		close(t->messages);
		t->messages = -1;
	}
	if (child)
		return child;
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(t->messages, STDERR_FILENO);
	/* among them the keeper's lock */
	close_range(3, ~0U, 0);
	return 0;
}

/* "dir/app.ras" becomes "dir/app.1.ras", which isn't there yet. */
static bool snapshot_file_choose(struct react_trigger *t, const char *file)
{
	size_t stem = strlen(file);
	struct stat st;

	if (stem > 4 && !strcmp(file + stem - 4, ".ras"))
		stem -= 4;
	while (t->number < FILES_MOST) {
		snprintf(t->what, sizeof(t->what), "%.*s.%u.ras", (int)stem,
			 file, ++t->number);
		if (lstat(t->what, &st) && errno == ENOENT)
			return true;
	}
	return false;
}

static _Noreturn void snapshot_child(const struct react *react,
				     const char *path)
{
	const struct snapshot_settings settings = { .bundle = true };
	struct outfile *out = NULL;
	struct error err = { 0 };
	int code = outfile_open(&out, path, &err);

	if (!code)
		code = snapshot_save(react->run, out, &settings, &err);
	if (code)
		dprintf(STDERR_FILENO, "%s\n", err.text);
	_exit(code != 0);
}

/* Of /etc/group alone, as --uid does. */
static int react_groups_find(const char *name, gid_t gid,
			     gid_t groups[GROUPS_MAX])
{
	FILE *file = fopen("/etc/group", "re");
	const struct group *group;
	int count = 1;

	groups[0] = gid;
	while (file && count < GROUPS_MAX && (group = fgetgrent(file)))
		for (char **member = group->gr_mem; *member; member++)
			if (!strcmp(*member, name) && group->gr_gid != gid &&
			    count < GROUPS_MAX)
				groups[count++] = group->gr_gid;
	if (file)
		fclose(file);
	return count;
}

/* The environment has nothing of the keeper's. 0, or a negative errno. */
static int react_user_become(uid_t uid, gid_t gid)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *user = NULL;
	gid_t groups[GROUPS_MAX];
	int count = 1;

	while (file && (user = fgetpwent(file)))
		if (user->pw_uid == uid)
			break;
	clearenv();
	setenv("PATH", uid ? "/usr/local/bin:/usr/bin:/bin" :
	       "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	       1);
	setenv("SHELL", "/bin/sh", 1);
	setenv("HOME", user ? user->pw_dir : "/", 1);
	if (user) {
		setenv("USER", user->pw_name, 1);
		setenv("LOGNAME", user->pw_name, 1);
		gid = user->pw_gid;
	}
	groups[0] = gid;
	if (user)
		count = react_groups_find(user->pw_name, gid, groups);
	if (file)
		fclose(file);
	if (geteuid() == uid && uid)
		return 0;
	setpriority(PRIO_PROCESS, 0, 0);
	return setgroups(count, groups) || setresgid(gid, gid, gid) ||
	       setresuid(uid, uid, uid) ? -errno : 0;
}

static void react_setenv(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	setenv(name, text, 1);
}

static _Noreturn void command_child(const struct react *react,
				    const struct keep_trigger *t,
				    uint64_t hits, uint32_t point)
{
	int null = open("/dev/null", O_RDWR);

	if (react_user_become(t->uid, t->gid)) {
		dprintf(STDERR_FILENO, "cannot become user %u: %s\n", t->uid,
			strerror(errno));
		_exit(127);
	}
	setenv(PIN_RUN_VARIABLE, react->run, 1);
	setenv("RASTRACE_TDF", react->tdf, 1);
	react_setenv("RASTRACE_MINOR", react->minors[point]);
	react_setenv("RASTRACE_HITS", hits);
	if (chdir(t->directory) && chdir("/"))
		_exit(127);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close(null);
	execl("/bin/sh", "sh", "-c", t->text, (char *)NULL);
	_exit(127);
}

/* At most so many in that time. */
static bool react_is_allowed(const struct react_trigger *t,
			     const struct keep_trigger *trigger, uint64_t now)
{
	return t->begun < trigger->most ||
	       now - t->times[(t->begun - trigger->most) % KEEP_RATE_MAX] >=
	       trigger->span;
}

static void react_begin(struct react *react, enum keep_trigger_kind kind,
			uint64_t hits, uint32_t point, uint64_t now)
{
	const struct keep_trigger *trigger = &react->tasks.triggers[kind];
	struct react_trigger *t = &react->triggers[kind];
	bool ready = kind == KEEP_RUN ||
		     snapshot_file_choose(t, trigger->text);

	t->times[t->begun++ % KEEP_RATE_MAX] = t->did.time = now;
	t->child = ready ? react_fork(t) : -1;
	if (!t->child && kind == KEEP_SNAPSHOT)
		snapshot_child(react, t->what);
	if (!t->child)
		command_child(react, trigger, hits, point);
	if (t->child > 0)
		return;
	t->child = 0;
	t->did.failed++;
	if (ready)
		snprintf(t->did.last, sizeof(t->did.last),
			 "it could not be begun: %s", strerror(errno));
	else
		snprintf(t->did.last, sizeof(t->did.last),
			 "there is '%.900s' already: no more files are written",
			 t->what);
}

static void react_trigger_look(struct react *react, enum keep_trigger_kind kind)
{
	const struct keep_trigger *trigger = &react->tasks.triggers[kind];
	struct react_trigger *t = &react->triggers[kind];
	uint64_t total = 0, most = 0, now = buffer_time(), hits, fresh;
	uint32_t point = 0;

	for (unsigned int i = 0; i < trigger->count; i++) {
		uint32_t index = trigger->points[i];
		const struct ras_count *row = react->rows +
					      (size_t)index * react->slices;

		hits = 0;
		for (uint32_t k = 0; k < react->slices; k++)
			hits += __atomic_load_n(&row[k].recorded,
						__ATOMIC_RELAXED);
		total += hits;
		fresh = hits - t->seen[i];
		t->seen[i] = hits;
		if (fresh > most) {
			most = fresh;
			point = index;
		}
	}
	if (total <= t->did.hits)
		return;
	hits = total - t->did.hits;
	t->did.hits = total;
	t->dirty = true;
	if (t->child || !react_is_allowed(t, trigger, now))
		t->did.passed += hits;
	else
		react_begin(react, kind, hits, point, now);
}

static void react_write(struct react *react)
{
	for (int i = KEEP_SNAPSHOT; i < KEEP_TRIGGERS; i++) {
		struct react_trigger *t = &react->triggers[i];

		if (t->dirty)
			keep_did_write(&t->did, react->dir, i);
		t->dirty = false;
	}
}

void react_look(struct react *react)
{
	pin_map_refresh(react->counts, (void *)react->rows, react->size, NULL);
	for (int i = KEEP_SNAPSHOT; i < KEEP_TRIGGERS; i++)
		if (react_has(react, i))
			react_trigger_look(react, i);
	if (++react->looks % WRITE_LOOKS == 0)
		react_write(react);
}

static void react_messages_read(struct react_trigger *t,
				char text[MESSAGE_MAX])
{
	ssize_t n = pread(t->messages, text, MESSAGE_MAX - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	close(t->messages);
	t->messages = -1;
}

bool react_child_ended(struct react *react, pid_t child, int status)
{
	char why[MESSAGE_MAX];

	for (int i = KEEP_SNAPSHOT; i < KEEP_TRIGGERS; i++) {
		struct react_trigger *t = &react->triggers[i];
		size_t room = sizeof(t->did.last);

		if (t->child != child)
			continue;
		t->child = 0;
		t->dirty = true;
		react_messages_read(t, why);
		if (!status)
			t->did.done++;
		else
			t->did.failed++;
		if (why[0])
			snprintf(t->did.last, room, "%s", why);
		else if (WIFSIGNALED(status))
			snprintf(t->did.last, room, "ended by signal %d",
				 WTERMSIG(status));
		else if (i == KEEP_RUN)
			snprintf(t->did.last, room, "exit status %d",
				 WEXITSTATUS(status));
		else
			snprintf(t->did.last, room, "%.1000s", t->what);
		react_write(react);
		return true;
	}
	return false;
}
