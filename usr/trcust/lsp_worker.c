// SPDX-License-Identifier: GPL-2.0
#include "lsp_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_PIECE	(64u << 10)

/* What precedes the path and the text. */
struct worker_header {
	uint32_t kind, encoding;
	uint64_t path_size, size, offset;
};

/* False: the other side has gone. */
static bool worker_write(int fd, const void *bytes, size_t size)
{
	const char *p = bytes;

	while (size) {
		ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= n;
	}
	return true;
}

static bool worker_read(int fd, void *bytes, size_t size)
{
	char *p = bytes;

	while (size) {
		ssize_t n = read(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		size -= n;
	}
	return true;
}

/* In the new process: jobs, until the server ends. */
static void worker_loop(struct lsp_jobs *jobs, int fd)
{
	struct worker_header header;
	struct text answer = { 0 };
	uint64_t used;

	while (worker_read(fd, &header, sizeof(header))) {
		char *path = malloc(header.path_size + 1);
		char *text = malloc(header.size + 1);
		struct lsp_job job = {
			.kind = header.kind, .encoding = header.encoding,
			.path = path, .text = text, .size = header.size,
			.offset = header.offset,
		};

		if (!path || !text ||
		    !worker_read(fd, path, header.path_size) ||
		    !worker_read(fd, text, header.size))
			break;
		path[header.path_size] = text[header.size] = '\0';
		answer.used = 0;
		if (lsp_job_run(jobs, &job, &answer))
			break;		/* the server reports that it has ended */
		free(path);
		free(text);
		used = answer.used;
		if (!worker_write(fd, &used, sizeof(used)) ||
		    !worker_write(fd, answer.data, used))
			break;
	}
}

static int worker_start(struct lsp_worker *w, struct error *err)
{
	struct lsp_jobs jobs = { .s = w->s };
	pid_t parent = getpid();
	int fds[2], null;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return error_set(err, -errno, "no socket: %s", strerror(errno));
	w->pid = fork();
	if (w->pid < 0) {
		w->pid = 0;
		close(fds[0]);
		close(fds[1]);
		return error_set(err, -errno, "no process: %s",
				 strerror(errno));
	}
	if (!w->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		/* standard input and output are the editor's */
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		close(fds[0]);
		worker_loop(&jobs, fds[1]);
		_exit(1);
	}
	close(fds[1]);
	w->fd = fds[0];
	return 0;
}

int lsp_worker_begin(struct lsp_worker *w, const struct lsp_job *job,
		     struct error *err)
{
	const struct worker_header header = {
		.kind = job->kind, .encoding = job->encoding,
		.path_size = strlen(job->path), .size = job->size,
		.offset = job->offset,
	};
	int code;

	w->answer.used = w->expected = 0;
	/* one that has ended since the last job is replaced */
	for (int tries = 0; tries < 2; tries++) {
		code = w->pid ? 0 : worker_start(w, err);
		if (code)
			return code;
		if (worker_write(w->fd, &header, sizeof(header)) &&
		    worker_write(w->fd, job->path, header.path_size) &&
		    worker_write(w->fd, job->text, header.size))
			return 0;
		lsp_worker_end(w);
	}
	return error_set(err, -EBADMSG, "the process that reads modules ends");
}

void lsp_worker_end(struct lsp_worker *w)
{
	if (!w->pid)
		return;
	kill(w->pid, SIGKILL);
	close(w->fd);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
}

/* Why the process has ended. */
static int worker_ended(struct lsp_worker *w, struct error *err)
{
	int status = 0, code;

	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(w->fd);
	w->pid = 0;
	if (WIFSIGNALED(status))
		code = error_set(err, -EBADMSG, "reading the module ended with "
				 "signal %d (%s)", WTERMSIG(status),
				 strsignal(WTERMSIG(status)));
	else
		code = error_set(err, -EBADMSG,
				 "the module can't be read: out of memory");
	error_hint(err, "its debug information may be damaged: build it again");
	return code;
}

int lsp_worker_take(struct lsp_worker *w, struct error *err)
{
	ssize_t n;

	if (text_reserve(&w->answer, ANSWER_PIECE)) {
		w->answer.error = 0;
		lsp_worker_end(w);
		return error_set(err, -EBADMSG, "out of memory");
	}
	n = recv(w->fd, w->answer.data + w->answer.used, ANSWER_PIECE,
		 MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n <= 0)
		return worker_ended(w, err);
	w->answer.used += n;
	if (w->answer.used < sizeof(w->expected))
		return -EAGAIN;
	memcpy(&w->expected, w->answer.data, sizeof(w->expected));
	if (w->answer.used - sizeof(w->expected) < w->expected)
		return -EAGAIN;
	memmove(w->answer.data, w->answer.data + sizeof(w->expected),
		w->expected);
	w->answer.used = w->expected;
	return 0;
}
