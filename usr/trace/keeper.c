// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "lib/buffer/pin.h"
#include "lib/arm/arm.h"

#define TICK_MS		(1000 / WATCH_TICKS)
#define IDLE_MS		10000
#define LEASE_MS	45000	/* proc(5), lease-break-time */
#define BLIND_MS	1000	/* without news of kernel modules, or of files
				 * that are written to */
#define CLEAN_S		10
#define DETACH_NS	50000000	/* links go in the background */
#define LITTLE_MS	1000
#define NEW_NS		2000000000	/* of a session */
#define STATS_NS	950000000	/* from one measurement to the next */
#define SAMPLE_NS	10000000	/* of a second the kernel measures */
#define NS_PER_MS	1000000ull
#define NS_PER_HUNDREDTH 100000	/* of a second: 0.01 % */
#define NICE		10

enum { SIGNALS, UEVENTS, MOUNTS, STACKS, POLLED };

struct keeper {
	char path[RUN_PATH_MAX];
	dev_t device;			/* of the run directory */
	int lock;			/* RUN/keep */
	struct pollfd polled[POLLED];
	struct buffer buffer;
	ino_t control;			/* its pin; 0: no buffer is open */
	struct watch *watches;
	size_t watch_count;
	struct hit_cost trap;
	bool trap_known;
	time_t cleaned;			/* processes that ended were forgotten */
	bool ticking;			/* points are followed */
	bool calls;			/* there are whole calls */
	uint64_t calls_next;		/* CLOCK_BOOTTIME, ns: those that can't
					 * return are looked for again */
	bool cpu_followed;		/* for --max-cpu */
	bool cpu_little;		/* they take little of it */
	uint64_t cpu_ns;		/* that the last look at it took */
	/* CLOCK_BOOTTIME, ns: of the next one, of the next measurement of
	 * programs, and until then new sessions are looked at often */
	uint64_t cpu_next, stats_next, cpu_new;
};

static void watch_forget(struct watch *watch)
{
	if (watch->stacks)
		stacks_close(watch->stacks);
	watch_close(watch);
}

static void buffer_forget(struct keeper *keeper)
{
	if (keeper->control)
		buffer_close(&keeper->buffer);
	keeper->control = 0;
	for (size_t i = 0; i < keeper->watch_count; i++)
		watch_forget(&keeper->watches[i]);
	keeper->watch_count = 0;
}

/* It may have been made anew. */
static int keeper_buffer_look(struct keeper *keeper)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/control", keeper->path);
	if (lstat(path, &st)) {
		buffer_forget(keeper);
		return -ENOENT;
	}
	if (st.st_ino == keeper->control)
		return 0;
	buffer_forget(keeper);
	if (buffer_open(&keeper->buffer, keeper->path, true, NULL))
		return -ENOENT;
	keeper->control = st.st_ino;
	return 0;
}

/* What is known of the session; NULL: out of memory. */
static struct watch *watch_find(struct keeper *keeper,
				const struct session *session)
{
	struct watch *watches;

	for (size_t i = 0; i < keeper->watch_count; i++)
		if (keeper->watches[i].session == session->entry->index)
			return &keeper->watches[i];
	watches = reallocarray(keeper->watches, keeper->watch_count + 1,
			       sizeof(*watches));
	if (!watches)
		return NULL;
	keeper->watches = watches;
	if (watch_open(&watches[keeper->watch_count], session, keeper->path,
		       &keeper->buffer))
		return NULL;
	return &watches[keeper->watch_count++];
}

/*
 * The file that an armed session has probes in. A lease on it (fcntl(2),
 * F_SETLEASE) makes the kernel ask, by SIGIO, before it lets the file be opened
 * for writing, and wait until the lease is given up. Without a lease the file's
 * times show that it was written to.
 */
static void file_follow(struct watch *watch, const struct ras_session *entry)
{
	struct stat st;

	watch->followed = entry->inode;
	if (!watch->followed || watch->leased)
		return;
	if (watch->file < 0)
		watch->file = open(entry->module,
				   O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	/* No lease as long as another process has the file open for writing. */
	if (watch->file >= 0 && !fstat(watch->file, &st) &&
	    st.st_dev == entry->device && st.st_ino == entry->inode)
		watch->leased = !fcntl(watch->file, F_SETLEASE, F_RDLCK);
}

/* Tables for the stacks of armed sessions */
static void stacks_follow(struct keeper *keeper,
			  const struct session_list *list)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct watch *watch;

	for (size_t i = 0; i < list->count; i++) {
		const struct session *session = &list->items[i];

		if (!session->armed || !(watch = watch_find(keeper, session)) ||
		    watch->stacks_known)
			continue;
		watch->stacks_known = true;
		watch->stacks = stacks_open(session->dir,
					    session->entry->inode);
		if (watch->stacks)
			epoll_ctl(keeper->polled[STACKS].fd, EPOLL_CTL_ADD,
				  stacks_fd(watch->stacks), &event);
	}
}

static void stacks_serve(struct keeper *keeper)
{
	bool clean = keeper->cleaned + CLEAN_S <= time(NULL);

	for (size_t i = 0; i < keeper->watch_count; i++) {
		if (!keeper->watches[i].stacks)
			continue;
		stacks_update(keeper->watches[i].stacks);
		if (clean)
			stacks_clean(keeper->watches[i].stacks);
	}
	if (clean)
		keeper->cleaned = time(NULL);
}

/* Is a file followed, with `blind` one that has no lease? */
static bool files_followed(const struct keeper *keeper, bool blind)
{
	for (size_t i = 0; i < keeper->watch_count; i++)
		if (keeper->watches[i].followed &&
		    !(blind && keeper->watches[i].leased))
			return true;
	return false;
}

static void files_follow(struct keeper *keeper, const struct session_list *list)
{
	struct watch *watch;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].armed &&
		    (watch = watch_find(keeper, &list->items[i])))
			file_follow(watch, list->items[i].entry);
}

/* Under the lock of the run directory, with sessions as they are now. */
static void points_end(struct keeper *keeper, uint16_t index, const bool *off,
		       uint16_t state)
{
	struct session_list list;
	struct run_dir run;

	if (run_dir_open(&run, false, NULL))
		return;
	if (!session_list_read(&list, &keeper->buffer, run.path, NULL)) {
		for (size_t i = 0; i < list.count; i++) {
			if (list.items[i].entry->index != index ||
			    !list.items[i].armed)
				continue;
			if (index == RAS_STATIC_SESSION)
				static_majors_off(&run, &keeper->buffer, off,
						  NULL);
			else
				retire_points(&run, &keeper->buffer,
					      &list.items[i], off, state, NULL);
		}
		session_list_free(&list);
	}
	kmod_hand_over(&run, NULL);
	run_dir_close(&run);
}

/* Mute the most expensive points until the rest is below the ceiling. */
static void expensive_mute(struct keeper *keeper, uint64_t used, uint64_t most)
{
	while (used > most) {
		struct watch_point *most_used = NULL;
		struct watch *of = NULL;
		bool *off;

		for (size_t i = 0; i < keeper->watch_count; i++) {
			struct watch *watch = &keeper->watches[i];

			for (uint32_t k = 0; k < watch->points; k++)
				if (!most_used ||
				    watch->items[k].used > most_used->used) {
					most_used = &watch->items[k];
					of = watch;
				}
		}
		if (!most_used || !most_used->used)
			return;
		off = calloc(of->points + 1, sizeof(*off));
		if (!off)
			return;
		off[most_used - of->items] = true;
		points_end(keeper, of->session, off, RAS_POINT_MUTED);
		free(off);
		used -= most_used->used;
		most_used->used = 0;
	}
}

/* What the armed points take, in hundredths of a per cent of a CPU. */
static uint64_t cpu_tick(struct keeper *keeper, const struct session_list *list)
{
	struct watch *watch;
	uint64_t used = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!list->items[i].armed ||
		    !(watch = watch_find(keeper, &list->items[i])))
			continue;
		watch_time(watch, &list->items[i], &keeper->trap);
		used += watch_tick(watch, &list->items[i], &keeper->buffer);
	}
	return used / NS_PER_HUNDREDTH;
}

static void cpu_note(struct ras_control *control, uint64_t used)
{
	control->used_cpu = used;
	__atomic_store_n(&control->used_time, buffer_time(), __ATOMIC_RELEASE);
}

/* What the kernel measures costs all programs of the machine something, and so
 * does the measurement of probes: it is left alone as long as what the points
 * take is little, by what is usual. */
static void cpu_look(struct keeper *keeper, const struct session_list *list)
{
	const struct timespec moment = { .tv_nsec = SAMPLE_NS };
	struct ras_control *control = keeper->buffer.control;
	uint64_t begun = buffer_time(), used = cpu_tick(keeper, list);
	bool little = used < USAGE_SMALL;
	int stats;

	keeper->cpu_ns = buffer_time() - begun;
	keeper->cpu_little = little;
	if (!little && !keeper->trap_known) {
		keeper->trap_known = true;
		hit_cost_recall(&keeper->trap, keeper->path);
		used = cpu_tick(keeper, list);
	}
	stats = little || begun < keeper->stats_next ? -1 :
		bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats >= 0) {
		keeper->stats_next = begun + STATS_NS;
		for (size_t i = 0; i < keeper->watch_count; i++)
			watch_programs_time(&keeper->watches[i], false);
		nanosleep(&moment, NULL);
		for (size_t i = 0; i < keeper->watch_count; i++)
			watch_programs_time(&keeper->watches[i], true);
		close(stats);
	}
	cpu_note(control, used);
	expensive_mute(keeper, used * NS_PER_HUNDREDTH,
		     (uint64_t)control->max_cpu * NS_PER_HUNDREDTH);
}

/* All its points. */
static void session_off(struct keeper *keeper, const struct session *session)
{
	uint32_t points = session->entry->points;
	bool *off = malloc(points + 1);

	if (!off)
		return;
	memset(off, true, points + 1);
	points_end(keeper, session->entry->index, off, RAS_POINT_OFF);
	free(off);
}

/* Before another build is run with the probes of this one. */
static void session_end(struct keeper *keeper, const struct session *session,
			struct watch *watch)
{
	const struct timespec moment = { .tv_nsec = DETACH_NS };
	struct ras_session *entry = sesslog_find(&keeper->buffer,
						 session->entry->index);
	uint64_t last = buffer_time() + LEASE_MS * NS_PER_MS;
	char gone[PATH_MAX];

	if (entry && !entry->changed)
		entry->changed = session->entry->changed ?
			session->entry->changed : buffer_time();
	session_off(keeper, session);
	/* the writer waits until the lease is given up, at most so long */
	snprintf(gone, sizeof(gone), "%s/gone", keeper->path);
	do
		nanosleep(&moment, NULL);
	while (buffer_time() < last && pins_count(gone));
	if (watch && watch->file >= 0)
		close(watch->file);
	if (watch) {
		watch->file = -1;
		watch->followed = watch->leased = false;
	}
}

/* ns from one look at --max-cpu to the next: looking takes 1 % of a CPU at
 * most, and less as long as there is little to see. */
static uint64_t cpu_pause(const struct keeper *keeper)
{
	uint64_t pause = TICK_MS * NS_PER_MS;

	if (keeper->cpu_little && buffer_time() > keeper->cpu_new)
		pause = LITTLE_MS * NS_PER_MS;
	return pause > 100 * keeper->cpu_ns ? pause : 100 * keeper->cpu_ns;
}

/* Calls that can't return any more: often as long as half of the room is taken */
static void calls_look(struct keeper *keeper, const struct session_list *list)
{
	bool now = buffer_time() >= keeper->calls_next;
	size_t most = 0, open;

	for (size_t i = 0; i < list->count; i++) {
		if (!open_calls_any(&list->items[i]))
			continue;
		keeper->calls = true;
		open = now ? open_calls_sweep(&list->items[i],
					      keeper->buffer.control->cpus) : 0;
		most = open > most ? open : most;
	}
	if (now)
		keeper->calls_next = buffer_time() + NS_PER_MS *
			(most > RAS_OPEN_MAX / 2 ? LITTLE_MS : IDLE_MS);
}

static void sessions_look(struct keeper *keeper)
{
	size_t kept, known = keeper->watch_count;
	struct session_list list;
	bool armed = false;

	if (session_list_read(&list, &keeper->buffer, keeper->path, NULL))
		return;
	files_follow(keeper, &list);
	if (keeper->watch_count != known)
		keeper->cpu_new = buffer_time() + NEW_NS;
	stacks_follow(keeper, &list);
	stacks_serve(keeper);
	for (size_t i = 0; i < list.count; i++) {
		const struct session *session = &list.items[i];
		struct watch *watch = session->armed ?
			watch_find(keeper, session) : NULL;

		/* Was it, or will it be, written to? */
		if (session->armed &&
		    (session->entry->changed ||
		     (watch && watch->leased &&
		      fcntl(watch->file, F_GETLEASE) != F_RDLCK)))
			session_end(keeper, session, watch);
		else if (watch && watch->tasks.ends &&
			 watch->tasks.ends <= buffer_time())
			session_off(keeper, session);
	}
	for (size_t i = 0; i < keeper->watch_count; i++)
		keeper->watches[i].seen = false;
	for (size_t i = 0; i < list.count; i++) {
		const struct session *session = &list.items[i];
		struct watch *watch;
		bool *off;

		if (!session->armed || !(watch = watch_find(keeper, session)))
			continue;
		watch->seen = armed = true;
		if (!watch_has_maxhits(watch, session))
			continue;
		keeper->ticking = true;
		off = calloc(watch->points + 1, sizeof(*off));
		if (off && watch_maxhits_reached(watch, session,
						 keeper->buffer.control->cpus,
						 off))
			points_end(keeper, watch->session, off,
				   RAS_POINT_MAXHITS);
		free(off);
	}
	kept = 0;
	for (size_t i = 0; i < keeper->watch_count; i++) {
		struct watch *watch = &keeper->watches[i];

		if (watch->seen) {
			keeper->watches[kept++] = *watch;
			continue;
		}
		/* its last hits may be of a trigger */
		if (watch->react)
			react_look(watch->react);
		watch_forget(watch);
	}
	keeper->watch_count = kept;
	keeper->cpu_followed = armed && keeper->buffer.control->max_cpu;
	if (keeper->cpu_followed && buffer_time() >= keeper->cpu_next) {
		cpu_look(keeper, &list);
		keeper->cpu_next = buffer_time() + cpu_pause(keeper);
	}
	calls_look(keeper, &list);
	session_list_free(&list);
}

/* Everything once; is there something left to follow? */
static bool keeper_look(struct keeper *keeper)
{
	bool requests, tasks = false;

	keeper->ticking = keeper->cpu_followed = keeper->calls = false;
	if (!keeper_buffer_look(keeper))
		sessions_look(keeper);
	requests = keep_arm_requests(keeper->path);
	for (size_t i = 0; i < keeper->watch_count; i++)
		tasks |= keep_tasks_any(&keeper->watches[i].tasks);
	return requests || tasks || keeper->ticking || keeper->cpu_followed ||
	       keeper->calls || files_followed(keeper, false);
}

/* Is the run directory still the one that it was? */
static bool is_mounted(const struct keeper *keeper)
{
	struct stat st;

	return !stat(keeper->path, &st) && st.st_dev == keeper->device;
}

/* A command that finds a keeper leaves its work to it: the last look is under
 * the lock of the run directory. */
static bool keeper_end(struct keeper *keeper)
{
	struct run_dir run;
	char path[PATH_MAX];

	if (run_dir_open(&run, false, NULL))
		return !is_mounted(keeper);
	if (keep_is_needed(run.path)) {
		run_dir_close(&run);
		return false;
	}
	snprintf(path, sizeof(path), "%s/keep", run.path);
	rmdir(path);
	close(keeper->lock);
	keeper->lock = -1;
	run_dir_close(&run);
	return true;
}

/* Until the next look at everything: ms */
static int keeper_patience(const struct keeper *keeper)
{
	int timeout = keeper->ticking ? TICK_MS :
		keeper->polled[UEVENTS].fd < 0 ||
		files_followed(keeper, true) ? BLIND_MS : IDLE_MS;
	uint64_t now = buffer_time(), ends;

	if (keeper->cpu_followed && keeper->cpu_next <= now + timeout * NS_PER_MS)
		timeout = keeper->cpu_next > now ?
			  (keeper->cpu_next - now) / NS_PER_MS + 1 : 0;
	if (keeper->calls && keeper->calls_next <= now + timeout * NS_PER_MS)
		timeout = keeper->calls_next > now ?
			  (keeper->calls_next - now) / NS_PER_MS + 1 : 0;
	for (size_t i = 0; i < keeper->watch_count; i++) {
		ends = keeper->watches[i].tasks.ends;
		if (ends && ends <= now + timeout * NS_PER_MS)
			/* over already: it could not be disarmed */
			timeout = ends > now ? (ends - now) / NS_PER_MS + 1 :
				  TICK_MS;
	}
	return timeout;
}

/* What was done for triggers, and what removed pins and took its time. */
static void children_reap(struct keeper *keeper)
{
	int status;
	pid_t child;

	while ((child = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < keeper->watch_count; i++)
			if (keeper->watches[i].react &&
			    react_child_ended(keeper->watches[i].react, child,
					      status))
				break;
}

/* Is there a trigger? */
static bool triggers_look(struct keeper *keeper)
{
	bool any = false;

	for (size_t i = 0; i < keeper->watch_count; i++) {
		if (!keeper->watches[i].react)
			continue;
		react_look(keeper->watches[i].react);
		any = true;
	}
	return any;
}

static int keeper_pause(struct keeper *keeper)
{
	uint64_t end = buffer_time() + keeper_patience(keeper) * NS_PER_MS, now;
	struct signalfd_siginfo signal;
	char event[4096];
	int left, ready;

	do {
		now = buffer_time();
		left = end > now ? (end - now) / NS_PER_MS : 0;
		if (triggers_look(keeper) && left > REACT_MS)
			left = REACT_MS;
		ready = poll(keeper->polled, POLLED, left);
		children_reap(keeper);
	} while (!ready && buffer_time() + NS_PER_MS < end);

	/* the next look finds what they announce */
	while (keeper->polled[UEVENTS].fd >= 0 &&
	       recv(keeper->polled[UEVENTS].fd, event, sizeof(event),
		    MSG_DONTWAIT) > 0)
		;
	while (read(keeper->polled[SIGNALS].fd, &signal, sizeof(signal)) ==
	       sizeof(signal))
		if (signal.ssi_signo != SIGHUP && signal.ssi_signo != SIGIO)
			return -EINTR;
	return 0;
}

static void keeper_run(struct keeper *keeper)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct session_list list;

	/* The command that started the keeper goes on once the files have
	 * leases: from then on none is written to unseen; and once there are
	 * tables for the stacks of what runs. Hits are counted from then on,
	 * too. */
	if (!keeper_buffer_look(keeper) &&
	    !session_list_read(&list, &keeper->buffer, keeper->path, NULL)) {
		files_follow(keeper, &list);
		stacks_follow(keeper, &list);
		if (keeper->buffer.control->max_cpu)
			cpu_note(keeper->buffer.control,
				 cpu_tick(keeper, &list));
		session_list_free(&list);
	}
	keep_announce();
	dup2(null, STDOUT_FILENO);
	close(null);

	while (is_mounted(keeper)) {
		if (!keeper_look(keeper) && keeper_end(keeper))
			return;
		if (keeper_pause(keeper))
			return;
	}
}

static int keep(struct error *err)
{
	const struct sockaddr_nl address = {
		.nl_family = AF_NETLINK, .nl_groups = 1,
	};
	struct keeper keeper = { .path = "" };
	char path[PATH_MAX];
	struct stat st;
	sigset_t set;
	int uevents, code;

	keep_await();
	code = run_dir_check(pin_run(), err);
	if (!code && !realpath(pin_run(), keeper.path))
		code = error_set(err, -errno, "cannot find '%s'", pin_run());
	if (code)
		return code;

	/* Signals, among them a lease's SIGIO, news of kernel modules, and
	 * changes of mounts end its pauses. Commands send SIGHUP to the
	 * holder of the lock, so the signals are blocked before. */
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGIO);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	uevents = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
			 NETLINK_KOBJECT_UEVENT);
	if (uevents >= 0 &&
	    bind(uevents, (const void *)&address, sizeof(address))) {
		close(uevents);
		uevents = -1;
	}
	keeper.polled[SIGNALS] = (struct pollfd){
		.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
		.events = POLLIN,
	};
	keeper.polled[UEVENTS] = (struct pollfd){
		.fd = uevents, .events = POLLIN,
	};
	keeper.polled[MOUNTS] = (struct pollfd){
		.fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC),
		.events = POLLPRI,
	};
	keeper.polled[STACKS] = (struct pollfd){
		.fd = epoll_create1(EPOLL_CLOEXEC), .events = POLLIN,
	};

	/* There is one keeper: it holds a lock on RUN/keep. */
	snprintf(path, sizeof(path), "%s/keep", keeper.path);
	if (mkdir(path, 0700) && errno != EEXIST)
		return pin_refused(err, -errno, "cannot make '%s'", path);
	keeper.lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
			   O_CLOEXEC);
	if (keeper.lock < 0)
		return pin_refused(err, -errno, "cannot open '%s'", path);
	if (flock(keeper.lock, LOCK_EX | LOCK_NB) || fstat(keeper.lock, &st)) {
		code = -errno;
		error_set(err, code,
			  "another keeper (process %d) is at work in '%s'",
			  run_dir_lock_holder(path), keeper.path);
		close(keeper.lock);
		return code;
	}
	keeper.device = st.st_dev;
	setenv(PIN_RUN_VARIABLE, keeper.path, 1);
	prctl(PR_SET_NAME, "trace-keep");
	setpriority(PRIO_PROCESS, 0, NICE);
	keeper_run(&keeper);
	buffer_forget(&keeper);
	free(keeper.watches);
	if (keeper.lock >= 0)
		close(keeper.lock);
	return 0;
}

static const struct option_def options[] = { { NULL } };

static int keep_run(int argc, char **argv)
{
	struct error err = { 0 };
	int status, first = command_parse(&command_keep, argc, argv, 0, 0,
					  NULL, &status);

	return first < 0 ? status : command_end(keep(&err), &err);
}

const struct command command_keep = {
	.def = {
		.program = "trace", .name = "keep", .operands = "",
		.help = "watch armed tracepoints; other commands start it when needed",
		.options = options,
	},
	.run = keep_run,
};
