// SPDX-License-Identifier: GPL-2.0
#include "stacks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "lib/buffer/buffer.h"
#include "lib/buffer/pin.h"
#include "lib/buffer/session.h"
#include "lib/maps_line.h"
#include "unwind.h"

#define STACKS_ROWS	(1u << 20)	/* 16 bytes each */

struct stacks {
	struct unwind_fds fds;
	struct unwind_state *unwind;
	struct ring_buffer *asks;
};

static const char *const names[] = {
	"unwind_rows", "unwind_segments", "unwind_spaces", "unwind_cache",
	"unwind_asks",
};

#define NAMES	(sizeof(names) / sizeof(*names))

int stacks_maps_make(struct body_heap *heap, const struct run_dir *run,
		     const char *dir, struct error *err)
{
	char path[PATH_MAX + 32];
	struct unwind_fds fds;
	int code = unwind_maps_make(&fds, STACKS_ROWS, true, err);
	const int pinned[] = {
		fds.rows, fds.segments, fds.spaces, fds.cache, fds.asks,
	};

	heap->rows_fd = fds.rows;
	heap->segments_fd = fds.segments;
	heap->spaces_fd = fds.spaces;
	heap->cache_fd = fds.cache;
	heap->asks_fd = fds.asks;
	for (size_t i = 0; i < NAMES && !code; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		code = run_dir_pin(run, path, pinned[i], RUN_PIN_PRIVATE, err);
	}
	return code;
}

void stacks_maps_close(struct body_heap *heap)
{
	unwind_maps_close(&(struct unwind_fds){
		.rows = heap->rows_fd, .segments = heap->segments_fd,
		.spaces = heap->spaces_fd, .cache = heap->cache_fd,
		.asks = heap->asks_fd,
	});
}

static int stacks_map_open(const char *dir, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return bpf_obj_get(path);
}

/* Has the process mapped the file? */
static bool process_has_mapped(uint32_t pid, uint64_t inode)
{
	struct maps_lines lines;
	struct maps_line mapping;
	bool found = false;

	if (maps_lines_open(&lines, pid))
		return false;
	while (!found && maps_lines_next(&lines, &mapping))
		found = mapping.inode == inode;
	maps_lines_close(&lines);
	return found;
}

static void processes_add(struct stacks *stacks, uint64_t inode)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint32_t pid = strtoul(entry->d_name, NULL, 10);

		if (isdigit((unsigned char)entry->d_name[0]) &&
		    process_has_mapped(pid, inode))
			unwind_add_process(stacks->unwind, pid, NULL);
	}
	if (dir)
		closedir(dir);
}

/*
 * A process that this one sees under another number than the kernel does has
 * another stack: it is left to frame pointers.
 */
static int asked(void *context, void *data, size_t size)
{
	struct stacks *stacks = context;
	struct unwind_process process;
	struct process_stat stat;
	uint32_t pid;

	if (size < sizeof(pid))
		return 0;
	pid = *(const uint32_t *)data;
	if (!bpf_map_lookup_elem(stacks->fds.spaces, &pid, &process) &&
	    !process_stat_read(pid, &stat) && stat.stack == process.stack)
		unwind_add_process(stacks->unwind, pid, NULL);
	return 0;
}

/* The loader may not have been where the variable for OpenTelemetry is. */
static void unknown_ask(struct stacks *stacks)
{
	uint32_t pids[UNWIND_SPACES], count = 0;
	struct unwind_process process;

	while (count < UNWIND_SPACES &&
	       !bpf_map_get_next_key(stacks->fds.spaces,
				     count ? &pids[count - 1] : NULL,
				     &pids[count]))
		count++;
	while (count--)
		if (!bpf_map_lookup_elem(stacks->fds.spaces, &pids[count],
					 &process) &&
		    process.otel.kind == UNWIND_OTEL_UNKNOWN)
			asked(stacks, &pids[count], sizeof(*pids));
}

/* Programs of before an upgrade may have others. */
static bool spaces_fit(int spaces)
{
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);

	return !bpf_obj_get_info_by_fd(spaces, &info, &size) &&
	       info.key_size == 4 &&
	       info.value_size == sizeof(struct unwind_process);
}

/* What an earlier keeper has given is taken back, for the rows are made anew. */
static void spaces_clear(int spaces)
{
	uint32_t pid;

	while (!bpf_map_get_next_key(spaces, NULL, &pid) &&
	       !bpf_map_delete_elem(spaces, &pid))
		;
	usleep(1000);	/* for hits that have begun */
}

struct stacks *stacks_open(const char *dir, uint64_t inode)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	int code;

	if (!stacks)
		return NULL;
	stacks->fds = (struct unwind_fds){
		.rows = stacks_map_open(dir, names[0]),
		.segments = stacks_map_open(dir, names[1]),
		.spaces = stacks_map_open(dir, names[2]), .cache = -1,
		.asks = stacks_map_open(dir, names[4]),
	};
	code = stacks->fds.rows < 0 || stacks->fds.segments < 0 ||
	       stacks->fds.asks < 0 || !spaces_fit(stacks->fds.spaces);
	if (!code)
		spaces_clear(stacks->fds.spaces);
	if (!code)
		code = unwind_open(&stacks->unwind, &stacks->fds, NULL);
	if (!code)
		stacks->asks = ring_buffer__new(stacks->fds.asks, asked,
						stacks, NULL);
	if (code || !stacks->asks) {
		stacks_close(stacks);
		return NULL;
	}
	processes_add(stacks, inode);
	return stacks;
}

int stacks_fd(const struct stacks *stacks)
{
	return ring_buffer__epoll_fd(stacks->asks);
}

void stacks_update(struct stacks *stacks)
{
	ring_buffer__consume(stacks->asks);
}

void stacks_clean(struct stacks *stacks)
{
	unwind_drop_ended(stacks->unwind);
	unknown_ask(stacks);
}

void stacks_close(struct stacks *stacks)
{
	ring_buffer__free(stacks->asks);
	if (stacks->unwind)
		unwind_close(stacks->unwind);
	unwind_maps_close(&stacks->fds);
	free(stacks);
}

/* ---- a thread ---- */

#define SERVED_MOST	64	/* sessions */
#define CLEAN_MS	1000

struct stacks_server {
	pthread_t thread;
	struct stacks *items[SERVED_MOST];
	struct pollfd polled[SERVED_MOST + 1];	/* the last: it ends */
	unsigned int count;
	bool runs;
};

static void server_add(struct stacks_server *server,
		       const struct session *session)
{
	struct stacks *stacks = server->count < SERVED_MOST ?
		stacks_open(session->dir, session->entry->inode) : NULL;

	if (!stacks)
		return;
	server->items[server->count] = stacks;
	server->polled[server->count++] = (struct pollfd){
		.fd = stacks_fd(stacks), .events = POLLIN,
	};
}

static void server_add_sessions(struct stacks_server *server, const char *run)
{
	struct session_list list;
	struct buffer buffer;

	if (buffer_open(&buffer, run, false, NULL))
		return;
	if (!session_list_read(&list, &buffer, run, NULL)) {
		for (size_t i = 0; i < list.count; i++)
			if (list.items[i].armed)
				server_add(server, &list.items[i]);
		session_list_free(&list);
	}
	buffer_close(&buffer);
}

static void *server_run(void *context)
{
	struct stacks_server *server = context;
	struct pollfd *end = &server->polled[server->count];

	while (!end->revents) {
		int ready = poll(server->polled, server->count + 1, CLEAN_MS);

		for (unsigned int i = 0; i < server->count; i++)
			if (ready)
				stacks_update(server->items[i]);
			else
				stacks_clean(server->items[i]);
	}
	return NULL;
}

/* A thread that no signal interrupts: they are for who waits for them. */
static int server_begin(struct stacks_server *server)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&server->thread, NULL, server_run, server);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

struct stacks_server *stacks_server_open(const char *run)
{
	struct stacks_server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server_add_sessions(server, run);
	server->polled[server->count] = (struct pollfd){
		.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN,
	};
	if (server->count && server->polled[server->count].fd >= 0)
		return server;
	stacks_server_close(server);
	return NULL;
}

void stacks_server_add(struct stacks_server *server, uint32_t pid)
{
	for (unsigned int i = 0; i < server->count; i++)
		unwind_add_process(server->items[i]->unwind, pid, NULL);
}

void stacks_server_start(struct stacks_server *server)
{
	server->runs = !server_begin(server);
}

void stacks_server_close(struct stacks_server *server)
{
	if (!server)
		return;
	if (server->runs) {
		eventfd_write(server->polled[server->count].fd, 1);
		pthread_join(server->thread, NULL);
	}
	for (unsigned int i = 0; i < server->count; i++)
		stacks_close(server->items[i]);
	if (server->polled[server->count].fd >= 0)
		close(server->polled[server->count].fd);
	free(server);
}
