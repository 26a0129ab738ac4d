// SPDX-License-Identifier: GPL-2.0
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/buffer/pin.h"
#include "lib/buffer/picture.h"
#include "lib/buffer/spooler.h"

#define PIPE_BYTES	(1 << 20)
#define INTERVAL_MOST	100		/* ms: a person is watching */
#define GONE_EVERY	500000000ULL	/* ns */

/* The spooler and its thread; one for the program. */
static struct {
	struct spooler spooler;
	pthread_t thread;
	sem_t stop;
	bool begun;
	int code;
	struct error err;
} live;

int live_open(struct trace_file *file, struct error *err)
{
	size_t size;
	void *data;
	int code = snapshot_take(pin_run(), &data, &size, err);

	return code ? code :
	       trace_file_open_memory(file, data, size, "the buffer", err);
}

/* ---- the thread ---- */

static int live_loop(struct spooler *s, struct error *err)
{
	uint64_t looked = buffer_time();
	bool last = false;
	int code;
	struct timespec until;
	int result;

	for (;;) {
		code = spooler_pass(s, err);
		if (code || last)
			return code;

		/* From pass to pass; true: it is to end. */
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += s->interval * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		do
			result = sem_timedwait(&live.stop, &until);
		while (result && errno == EINTR);
		last = !result;

		if (buffer_time() - looked < GONE_EVERY)
			continue;
		looked = buffer_time();
		if (spooler_gone(s))
			return error_set(err, LIVE_GONE,
					 "the buffer has been removed");
	}
}

/* A reader that has closed the pipe is no failure. */
static int failure_take(const struct spooler *s, int code, struct error *err)
{
	if (code >= 0 || s->files.cause == EPIPE)
		return code > 0 ? code : 0;
	return err->text[0] ? code :
	       error_set(err, code, "cannot follow: %s", strerror(-code));
}

static void *live_run(void *context)
{
	struct spooler *s = &live.spooler;
	int code = spooler_open(s, 0, &live.err), ended;

	if (!code)
		code = live_loop(s, &live.err);
	if (s->files.begun) {
		ended = spooler_finish(s, code == LIVE_GONE ? 0 : code, NULL);
		code = ended ? ended : code;
	}
	live.code = failure_take(s, code, &live.err);
	close(s->files.fd);
	spooler_close(s);
	return NULL;
}

/* ---- */

/* Signals are for the others. */
static int thread_start(void)
{
	sigset_t all, old;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	code = pthread_create(&live.thread, NULL, live_run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -code;
}

static int pipe_start(struct error *err)
{
	int ends[2], code;

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, -errno, "cannot make a pipe: %s",
				 strerror(errno));
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	code = dup2(ends[0], STDIN_FILENO) < 0 ? -errno : 0;
	if (ends[0] != STDIN_FILENO)
		close(ends[0]);
	live.spooler = (struct spooler){
		.run = pin_run(), .interval_most = INTERVAL_MOST,
		.files = { .fd = ends[1], .files = 1 },
	};
	sem_init(&live.stop, 0, 0);
	if (!code)
		code = thread_start();
	if (!code)
		return 0;
	close(ends[1]);
	return error_set(err, code, "cannot follow: %s", strerror(-code));
}

int live_follow(struct trace_file *file, struct error *err)
{
	int code = pipe_start(err);

	if (code)
		return code;
	live.begun = true;
	code = trace_file_open(file, "-", err);
	if (!code)
		return 0;
	live_end(err);
	return code;
}

bool live_followed(void)
{
	return live.begun;
}

void live_stop(void)
{
	if (live.begun)
		sem_post(&live.stop);
}

int live_end(struct error *err)
{
	if (!live.begun)
		return 0;
	live.begun = false;
	sem_post(&live.stop);
	close(STDIN_FILENO);
	pthread_join(live.thread, NULL);
	sem_destroy(&live.stop);
	if (live.code && err)
		*err = live.err;
	return live.code;
}
