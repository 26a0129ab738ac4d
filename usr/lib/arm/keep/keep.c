// SPDX-License-Identifier: GPL-2.0
#include "keep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <bpf/bpf.h>
#include "lib/arm/pinned/open_calls.h"
#include "lib/arm/pinned/sessions.h"
#include "lib/buffer/pin.h"

/* ns, where the kernel doesn't measure its programs for this user. */
#define RUN_ESTIMATE	200
/* ns of a trap that can't be measured here. */
#define TRAP_ESTIMATE	4000
#define NO_PROGRAM	UINT32_MAX
#define SECOND		1000000000ull
#define NS_PER_HUNDREDTH 100000	/* of a second: 0.01 % */

/* MAXHITS of the TDF and --max-hits: the smaller one. */
static uint32_t maxhits_least(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

int watch_open(struct watch *watch, const struct session *session,
	       const char *run, const struct buffer *buffer)
{
	uint32_t points = session->entry->points;
	struct tdf *tdf;

	/* without memory as without the file: every point may have MAXHITS */
	session_tdf_open(session, &tdf);
	*watch = (struct watch){
		.session = session->entry->index, .points = points,
		.maxhits = !tdf, .file = -1,
		.items = calloc(points + 1, sizeof(*watch->items)),
	};
	keep_tasks_read(&watch->tasks, session->dir);
	for (uint32_t i = 0; watch->items && i < points; i++) {
		watch->items[i].program = NO_PROGRAM;
		watch->items[i].maxhits =
			maxhits_least(tdf ? tdf->points[i].maxhits : 0,
				      watch->tasks.max_hits);
		watch->maxhits |= watch->items[i].maxhits;
	}
	tdf_close(tdf);
	if (buffer)
		watch->react = react_open(session, run, buffer->slices);
	return watch->items ? 0 : -ENOMEM;
}

void watch_close(struct watch *watch)
{
	for (size_t i = 0; i < watch->program_count; i++)
		if (watch->programs[i].fd >= 0)
			close(watch->programs[i].fd);
	if (watch->file >= 0)
		close(watch->file);
	react_close(watch->react);
	keep_tasks_free(&watch->tasks);
	free(watch->programs);
	free(watch->items);
	*watch = (struct watch){ 0 };
}

static bool is_armed(const struct session *session, uint32_t point)
{
	return session->points[point].state == RAS_POINT_ARMED;
}

/* The map of limits that a session with MAXHITS has; NULL: there is none. */
static struct ras_limit *limits_view(const struct session *session,
				     size_t *size)
{
	char path[PATH_MAX + 8];
	struct bpf_map_info info;
	void *view = NULL;
	int fd;

	snprintf(path, sizeof(path), "%s/limits", session->dir);
	if (access(path, F_OK))
		return NULL;
	fd = pin_map_open(path, &info, NULL);
	if (fd < 0)
		return NULL;
	if (info.value_size == sizeof(struct ras_limit) &&
	    info.max_entries == session->entry->points)
		view = pin_map_view(fd, &info, 0, size, NULL);
	close(fd);
	return view;
}

bool watch_has_maxhits(const struct watch *watch,
		       const struct session *session)
{
	struct ras_limit *limits;
	bool any = false;
	size_t size;

	if (!watch->maxhits)
		return false;
	limits = limits_view(session, &size);
	if (!limits)
		return false;
	for (uint32_t i = 0; i < watch->points && !any; i++)
		any = is_armed(session, i) && watch->items[i].maxhits;
	munmap(limits, size);
	return any;
}

/* Without the TDF only hits above MAXHITS show that it has been reached. */
uint32_t watch_maxhits_reached(const struct watch *watch,
			       const struct session *session, uint32_t cpus,
			       bool *off)
{
	struct ras_why *why = NULL;
	struct ras_limit *limits;
	uint32_t reached = 0;
	size_t size;

	if (!watch->maxhits)
		return 0;
	limits = limits_view(session, &size);
	if (limits)
		session_why_read(session, cpus, &why, NULL);
	for (uint32_t i = 0; limits && i < watch->points; i++) {
		uint32_t most = watch->items[i].maxhits;

		off[i] = is_armed(session, i) &&
			 ((most && limits[i].recorded >= most) ||
			  (why && why[i].filtered[RAS_FILTERED_MAXHITS]));
		reached += off[i];
	}
	free(why);
	if (limits)
		munmap(limits, size);
	return reached;
}

/* The index of the program with this id; NO_PROGRAM: out of memory. */
static uint32_t program_index(struct watch *watch, uint32_t id)
{
	struct watch_program *programs;
	size_t i = watch->program_count;

	/* links of a program mostly follow each other */
	while (i-- > 0)
		if (watch->programs[i].id == id)
			return i;
	programs = reallocarray(watch->programs, watch->program_count + 1,
				sizeof(*programs));
	if (!programs)
		return NO_PROGRAM;
	watch->programs = programs;
	programs[watch->program_count] = (struct watch_program){
		.id = id, .fd = bpf_prog_get_fd_by_id(id), .cost = RUN_ESTIMATE,
	};
	return watch->program_count++;
}

/* A link, POINT_SITE */
static void link_look(const char *path, const char *name, void *context)
{
	struct watch *watch = context;
	unsigned int point, site;
	struct bpf_link_info info = { 0 };
	uint32_t size = sizeof(info);
	int fd;

	if (sscanf(name, "%u_%u", &point, &site) != 2 ||
	    point >= watch->points)
		return;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size))
		watch->items[point].program = program_index(watch,
							    info.prog_id);
	close(fd);
}

/* A point costs as much as the slowest of its sites. */
static void traps_find(struct watch *watch, const struct session *session,
		       const struct hit_cost *trap)
{
	/* of calls in librastrace, or when it isn't known */
	uint32_t other = trap->ns[session->entry->index == RAS_STATIC_SESSION ?
				  TDF_COST_NOP5 : TDF_COST_STEPPED];
	struct tdf *tdf;

	session_tdf_open(session, &tdf);
	for (uint32_t i = 0; i < watch->points; i++) {
		const struct tdf_point *point = tdf ? &tdf->points[i] : NULL;
		uint32_t most = tdf ? 0 : other;

		for (uint32_t k = 0; point && k < point->sites; k++) {
			unsigned int class =
				tdf->sites[point->first_site + k].cost;
			/* the kernel doesn't step its own probes this slowly */
			uint32_t ns = trap->ns[class < TDF_COST_UNKNOWN ?
					       class : TDF_COST_EMULATED];

			most = ns > most ? ns : most;
		}
		watch->items[i].trap = most ? most : TRAP_ESTIMATE;
	}
	tdf_close(tdf);
}

void watch_time(struct watch *watch, const struct session *session,
		const struct hit_cost *trap)
{
	if (watch->timed && watch->trap == trap->read_ns)
		return;
	watch->trap = trap->read_ns;
	traps_find(watch, session, trap);
	pins_each(session->dir, link_look, watch);
	watch->timed = true;
}

void watch_programs_time(struct watch *watch, bool end)
{
	for (size_t i = 0; i < watch->program_count; i++) {
		struct watch_program *program = &watch->programs[i];
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (program->fd < 0 ||
		    bpf_obj_get_info_by_fd(program->fd, &info, &size))
			continue;
		if (end && info.run_cnt > program->runs)
			program->cost = (info.run_time_ns - program->ns) /
					(info.run_cnt - program->runs);
		program->ns = info.run_time_ns;
		program->runs = info.run_cnt;
	}
}

static uint64_t point_hits(const struct ras_count *rows, uint32_t slices,
			   const struct ras_why *why, uint64_t aggregated)
{
	uint64_t hits = aggregated + session_why_open(why);

	for (uint32_t i = 0; i < slices; i++)
		hits += rows[i].recorded + rows[i].dropped;
	for (int i = 0; i < RAS_FILTERED_KINDS; i++)
		hits += why->filtered[i];
	return hits;
}

/* `elapsed`: ns since the tick that is the oldest known */
static uint64_t point_used(const struct watch *watch, struct watch_point *point,
			   uint64_t hits, uint64_t elapsed)
{
	uint64_t *then = &point->hits[watch->ticks % WATCH_TICKS];
	uint32_t run = point->program < watch->program_count ?
		watch->programs[point->program].cost : RUN_ESTIMATE;
	/* in the first second since the first tick, whose counts fill all */
	uint64_t more = watch->ticks ? hits - *then : 0;

	if (watch->ticks)
		*then = hits;
	else
		for (int i = 0; i < WATCH_TICKS; i++)
			point->hits[i] = hits;
	return elapsed <= SECOND ? more * (run + point->trap) :
	       (double)more * (run + point->trap) * SECOND / elapsed;
}

uint64_t watch_tick(struct watch *watch, const struct session *session,
		    const struct buffer *buffer)
{
	struct ras_count *rows = NULL;
	uint64_t sum = 0, now = buffer_time(), elapsed;
	struct ras_aggregated *sums = NULL;
	struct ras_why *why = NULL;

	if (session_counts_read(session, buffer->slices, &rows, NULL) ||
	    session_why_read(session, buffer->control->cpus, &why, NULL)) {
		free(rows);
		return 0;
	}
	/* none where no point has aggregates */
	session_aggregated_read(session, buffer->control->cpus, &sums, NULL);
	for (int i = 0; !watch->ticks && i < WATCH_TICKS; i++)
		watch->times[i] = now;
	elapsed = now - watch->times[watch->ticks % WATCH_TICKS];
	watch->times[watch->ticks % WATCH_TICKS] = now;
	for (uint32_t i = 0; i < watch->points; i++) {
		struct watch_point *point = &watch->items[i];

		point->used = is_armed(session, i) ?
			point_used(watch, point,
				   point_hits(rows + (size_t)i * buffer->slices,
					      buffer->slices, &why[i],
					      sums ? sums[i].hits : 0),
				   elapsed) : 0;
		sum += point->used;
	}
	watch->ticks++;
	free(rows);
	free(why);
	free(sums);
	return sum;
}

#define READY_MS	3000

static bool session_needs(const struct session *session)
{
	struct watch watch;
	bool needs;

	if (watch_open(&watch, session, NULL, NULL))
		return true;
	needs = keep_tasks_any(&watch.tasks) || open_calls_any(session) ||
		watch_has_maxhits(&watch, session);
	watch_close(&watch);
	return needs;
}

/* 1, 0, or -ENOMEM. */
static int sessions_need(const char *run)
{
	struct session_list list;
	struct buffer buffer;
	bool needs = false;
	int code = buffer_open(&buffer, run, false, NULL);

	if (code)
		return code == -ENOMEM ? code : 0;
	code = session_list_read(&list, &buffer, run, NULL);
	if (!code) {
		for (size_t i = 0; i < list.count && !needs; i++)
			needs = list.items[i].armed &&
				(list.items[i].entry->inode ||
				 buffer.control->max_cpu ||
				 session_needs(&list.items[i]));
		session_list_free(&list);
	}
	buffer_close(&buffer);
	return code == -ENOMEM ? code : needs;
}

/* Also where that is not known. */
bool keep_is_needed(const char *run)
{
	struct keep_request *requests;
	size_t count;

	if (!keep_requests_read(run, &requests, &count))
		keep_requests_free(requests, count);
	return count || sessions_need(run);
}

/* As a process of its own, without a terminal. Its standard output is a socket: it
 * waits there for the end of the file before it begins, and writes a byte when it
 * follows the files. */
static void keeper_exec(const char *run, int socket)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	int null = open("/dev/null", O_RDWR);

	program[n > 0 ? n : 0] = '\0';
	if (null < 0 || setsid() < 0 || chdir("/"))
		_exit(127);
	for (int fd = 0; fd < 3; fd++)
		dup2(fd == STDOUT_FILENO ? socket : null, fd);
	close_range(3, ~0U, 0);
	setenv(PIN_RUN_VARIABLE, run, 1);
	execl(program, "trace", "keep", (char *)NULL);
	execl("/proc/self/exe", "trace", "keep", (char *)NULL);
	_exit(127);
}

int keep_begin(struct keep_begun *begun, const struct run_dir *run,
	       struct error *err)
{
	char path[PATH_MAX];
	int ends[2];

	*begun = (struct keep_begun){ 0 };
	if (!realpath(run->path, path))
		return error_set(err, -errno, "cannot find '%s': %s",
				 run->path, strerror(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(err, -errno, "cannot start the keeper: %s",
				 strerror(errno));
	begun->child = fork();
	if (!begun->child)
		keeper_exec(path, ends[1]);
	close(ends[1]);
	begun->socket = ends[0];
	if (begun->child > 0)
		return 0;
	begun->child = 0;
	close(ends[0]);
	return error_set(err, -EAGAIN, "cannot start the keeper: %s",
			 strerror(errno));
}

void keep_go(const struct keep_begun *begun, const struct run_dir *run)
{
	struct pollfd ready = { .fd = begun->socket, .events = POLLIN };
	char byte;

	shutdown(begun->socket, SHUT_WR);
	/* it ends without a byte where another keeper has the lock; to look that up
	 * in /proc/locks took 14 ms */
	if (poll(&ready, 1, READY_MS) < 1 || read(begun->socket, &byte, 1) != 1)
		keeper_process_signal(run->path, SIGHUP);
	close(begun->socket);
}

void keep_cancel(const struct keep_begun *begun)
{
	kill(begun->child, SIGKILL);
	waitpid(begun->child, NULL, 0);
	close(begun->socket);
}

/* No other program's standard output is such a socket. */
static bool output_is_socket(void)
{
	socklen_t size = sizeof(int);
	int type;

	return !getsockopt(STDOUT_FILENO, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_SEQPACKET;
}

void keep_await(void)
{
	char byte;

	if (output_is_socket())
		while (read(STDOUT_FILENO, &byte, 1) < 0 && errno == EINTR)
			;
}

void keep_announce(void)
{
	if (output_is_socket())
		send(STDOUT_FILENO, "", 1, MSG_NOSIGNAL);
}

int keep_start(const struct run_dir *run, struct error *err)
{
	struct keep_begun begun;
	int code;

	if (keeper_process_signal(run->path, SIGHUP))
		return 0;
	if (!keep_is_needed(run->path))
		return 0;
	code = keep_begin(&begun, run, err);
	if (!code)
		keep_go(&begun, run);
	return code;
}

/* One tick of all watches; what they take in ns of a second. */
static uint64_t usage_tick(struct keep_usage *usage, const struct hit_cost *trap)
{
	uint64_t used = 0;

	for (size_t i = 0; i < usage->list.count; i++) {
		if (!usage->watches[i].items)
			continue;
		watch_time(&usage->watches[i], &usage->list.items[i], trap);
		used += watch_tick(&usage->watches[i], &usage->list.items[i],
				   &usage->buffer);
	}
	return used;
}

void keep_usage_begin(struct keep_usage *usage, const char *run)
{
	const struct hit_cost unknown = { 0 };

	*usage = (struct keep_usage){ 0 };
	if (buffer_open(&usage->buffer, run, false, NULL))
		return;
	if (session_list_read(&usage->list, &usage->buffer, run, NULL)) {
		buffer_close(&usage->buffer);
		return;
	}
	usage->watches = calloc(usage->list.count + 1, sizeof(*usage->watches));
	for (size_t i = 0; usage->watches && i < usage->list.count; i++)
		if (usage->list.items[i].armed)
			watch_open(&usage->watches[i], &usage->list.items[i],
				   run, NULL);
	if (usage->watches)
		usage_tick(usage, &unknown);
	else
		keep_usage_end(usage, run);
}

uint32_t keep_usage_end(struct keep_usage *usage, const char *run)
{
	struct hit_cost trap = { 0 };
	uint64_t used = 0;

	if (!usage->buffer.control)
		return 0;
	if (usage->watches)
		used = usage_tick(usage, &trap) / NS_PER_HUNDREDTH;
	if (used > USAGE_SMALL) {
		hit_cost_recall(&trap, run);
		used = usage_tick(usage, &trap) / NS_PER_HUNDREDTH;
	}
	for (size_t i = 0; usage->watches && i < usage->list.count; i++)
		if (usage->watches[i].items)
			watch_close(&usage->watches[i]);
	free(usage->watches);
	session_list_free(&usage->list);
	buffer_close(&usage->buffer);
	*usage = (struct keep_usage){ 0 };
	return used < UINT32_MAX ? used : UINT32_MAX;
}

void keep_usage_warn(uint32_t used)
{
	if (used > USAGE_WARN)
		fprintf(stderr, "trace: the tracepoints take %.1f %% of a CPU in their first second: 'trace query' prints the hits and the cost of each\n",
			used / 100.0);
}

void keep_max_cpu_set(const struct buffer *buffer, unsigned int percent)
{
	buffer->control->max_cpu = percent * 100;
}

int keep_state_read(struct keep_state *state, const char *run,
		    struct error *err)
{
	int need;

	*state = (struct keep_state){ .pid = keeper_process_id(run) };
	if (keep_requests_read(run, &state->requests, &state->count))
		return error_no_memory(err);
	need = state->count ? 1 : sessions_need(run);
	if (need < 0)
		return error_no_memory(err);
	state->needed = need;
	return 0;
}

void keep_state_free(struct keep_state *state)
{
	keep_requests_free(state->requests, state->count);
	*state = (struct keep_state){ 0 };
}
