// SPDX-License-Identifier: GPL-2.0
#include "top_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/outfile.h"
#include "heapmon/command/commands.h"

/* ---- the recorder ---- */

static void recorder_run(struct top_feed *feed, int to, char **arguments,
			 unsigned int count, pid_t parent)
{
	int nothing = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(COMMAND_FAILED);
	setpgid(0, 0);		/* keys such as ^C are for the screen */
	dup2(nothing, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	dup2(feed->messages, STDERR_FILENO);
	close(to);
	close(feed->pipe);
	arguments[count++] = "--output";
	arguments[count++] = "-";
	arguments[count] = NULL;
	exit(heapmon_record.run(count, arguments));
}

static int recorder_start(struct top_feed *feed, char **arguments,
			  unsigned int count, struct error *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, -errno, "cannot make a pipe: %s",
				 strerror(errno));
	feed->pipe = ends[0];
	feed->recorder = fork();
	if (!feed->recorder)
		recorder_run(feed, ends[1], arguments, count, parent);
	close(ends[1]);
	if (feed->recorder > 0)
		return 0;
	close(ends[0]);
	return error_set(err, -errno, "cannot start a process: %s",
			 strerror(errno));
}

/* ---- events ---- */

/* The innermost frames, each called by the next. */
static char *where_make(const struct heap_trace *trace, uint32_t stack)
{
	char text[1024] = "(no stack)", name[256];
	unsigned int left = TOP_FRAMES;
	size_t used = 0;

	for (; stack && left && used + 1 < sizeof(text); left--) {
		heap_frame_name(trace, trace->stacks[stack].frame, name,
				sizeof(name));
		snprintf(text + used, sizeof(text) - used, "%s%s",
			 used ? " < " : "", name);
		used += strlen(text + used);
		stack = trace->stacks[stack].parent;
	}
	return strdup(text);
}

static bool where_know(struct top_feed *feed, uint32_t stack)
{
	if (!array_extend(&feed->where, &feed->where_count, &feed->where_room,
			  sizeof(*feed->where), stack))
		return false;
	if (!feed->where[stack])
		feed->where[stack] = where_make(&feed->trace, stack);
	return feed->where[stack];
}

static int feed_take(void *context, const struct heap_event *event,
		     struct error *err)
{
	struct top_feed *feed = context;
	struct heap_step step;
	int code;

	pthread_mutex_lock(&feed->lock);

	/* What the screen shows of the trace, which goes on growing meanwhile.
	 */
	snprintf(feed->command, sizeof(feed->command), "%s",
		 heap_text(&feed->trace, feed->trace.command));
	feed->lost = feed->trace.lost;
	feed->sample = feed->trace.sample;
	feed->begun = true;

	if (!where_know(feed, event->stack) ||
	    heap_model_apply(&feed->model, event, &step))
		code = error_no_memory(err);
	else
		code = digest_step(&feed->digest, &feed->model, &step, err);
	pthread_mutex_unlock(&feed->lock);
	return code;
}

static void *feed_run(void *context)
{
	struct top_feed *feed = context;
	const struct heap_options options = { 0 };
	const struct heap_sink sink = { .take = feed_take, .context = feed };
	struct error err = { 0 };
	char path[32];
	struct heap_input input = {
		.path = path, .options = &options, .trace = &feed->trace,
	};
	int code;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", feed->pipe);
	code = format_ras.read_events(&input, &sink, &err);
	pthread_mutex_lock(&feed->lock);
	feed->ended = true;
	feed->code = code;
	feed->err = err;
	pthread_mutex_unlock(&feed->lock);
	return NULL;
}

static int feed_begin(struct top_feed *feed, struct error *err)
{
	int code;

	pthread_mutex_init(&feed->lock, NULL);
	heap_trace_init(&feed->trace);
	digest_init(&feed->digest, &feed->trace);
	heap_model_init(&feed->model, &feed->trace);
	code = -pthread_create(&feed->thread, NULL, feed_run, feed);
	feed->running = !code;
	return code ? error_set(err, code, "cannot start a thread: %s",
				strerror(-code)) : 0;
}

int top_feed_open(struct top_feed *feed, char **arguments, unsigned int count,
		  struct error *err)
{
	int code;

	*feed = (struct top_feed){ .pipe = -1 };
	feed->messages = temp_file_open();
	if (feed->messages < 0)
		return error_set(err, feed->messages,
				 "cannot make a temporary file: %s",
				 strerror(-feed->messages));
	code = recorder_start(feed, arguments, count, err);
	return code ? code : feed_begin(feed, err);
}

int top_feed_close(struct top_feed *feed, struct error *err)
{
	int status = 0, code = 0;
	bool asked;
	char text[4096];
	off_t at;
	ssize_t got;

	pthread_mutex_lock(&feed->lock);
	asked = feed->recorder > 0 && !feed->ended;
	if (asked)
		kill(feed->recorder, SIGTERM);
	pthread_mutex_unlock(&feed->lock);
	if (feed->running)
		pthread_join(feed->thread, NULL);
	if (feed->pipe >= 0)
		close(feed->pipe);
	if (feed->recorder > 0)
		waitpid(feed->recorder, &status, 0);
	if (asked && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) {
		/* it hadn't begun yet */
	} else if (status) {
		/* Print what the recorder printed, when it failed. */
		at = 0;
		while ((got = pread(feed->messages, text, sizeof(text), at)) >
		       0) {
			fwrite(text, 1, got, stderr);
			at += got;
		}

		code = WIFEXITED(status) ? WEXITSTATUS(status) : COMMAND_FAILED;
	} else if (feed->code) {
		*err = feed->err;
		code = feed->code;
	}
	if (feed->messages >= 0)
		close(feed->messages);
	for (size_t i = 0; i < feed->where_count; i++)
		free(feed->where[i]);
	free(feed->where);
	digest_free(&feed->digest);
	heap_model_free(&feed->model);
	heap_trace_free(&feed->trace);
	return code;
}
