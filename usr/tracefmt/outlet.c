// SPDX-License-Identifier: GPL-2.0
#include "outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- a file ---- */

static int file_refuse(const char *path, int code, struct error *err)
{
	return error_set(err, code, "cannot write '%s': %s", path,
			 strerror(-code));
}

static bool is_input(const struct stream *stream, const char *path)
{
	for (size_t i = 0; i < stream->count; i++)
		if (outfile_is_input(path, stream->traces[i]->name))
			return true;
	return false;
}

/* Another file may be put in the place of this one. */
static bool is_replaceable(const char *path)
{
	char *real = realpath(path, NULL);
	bool is = real && !eaccess(dirname(real), W_OK);

	free(real);
	return is;
}

/* What comes bit by bit is looked at meanwhile, and can't be had again: it is
 * written as it comes. So is what is no file of its own. */
static bool is_in_place(const struct stream *stream, const char *path,
			const struct stat *old)
{
	struct stat out;

	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			return true;
	return old && (!S_ISREG(old->st_mode) || !is_replaceable(path) ||
		       (!fstat(STDOUT_FILENO, &out) &&
			out.st_dev == old->st_dev &&
			out.st_ino == old->st_ino));
}

static int place_open(const char *path, struct error *err)
{
	int fd = outfile_open_in_place(path, err), code = 0;

	if (fd < 0)
		return fd;
	if (dup2(fd, STDOUT_FILENO) < 0)
		code = file_refuse(path, -errno, err);
	if (fd != STDOUT_FILENO)
		close(fd);
	return code;
}

static int outlet_file_open(struct outlet *outlet, const struct stream *stream,
			    struct error *err)
{
	struct stat st;
	bool old = !stat(outlet->path, &st);
	int code;

	if (is_input(stream, outlet->path))
		return error_set(err, -EINVAL,
				 "cannot write '%s': it is the trace itself",
				 outlet->path);
	if (is_in_place(stream, outlet->path, old ? &st : NULL))
		return place_open(outlet->path, err);
	code = outfile_open(&outlet->file, outlet->path, err);
	if (!code && dup2(outfile_fd(outlet->file), STDOUT_FILENO) < 0)
		code = file_refuse(outlet->path, -errno, err);
	return code;
}

static int outlet_file_close(struct outlet *outlet, bool whole,
			     struct error *err)
{
	int code = 0;

	if (close(STDOUT_FILENO))
		code = file_refuse(outlet->path, -errno, err);
	if (outlet->file && whole && !code)
		return outfile_commit(outlet->file, err);
	outfile_abort(outlet->file);
	return code;
}

/* ---- a pager ---- */

/* What comes bit by bit isn't for a pager, nor what ends only by ^C. */
static bool is_paged(const struct show_settings *settings,
		     const struct stream *stream)
{
	const char *term = getenv("TERM");

	if (settings->no_pager || settings->follow || settings->output.path ||
	    !isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb"))
		return false;
	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			return false;
	return true;
}

/* In the child. `failed` is closed by exec(), or gets the errno of it. */
static void pager_run(const char *command, const int text[2], int failed)
{
	int code;

	if (dup2(text[0], STDIN_FILENO) >= 0) {
		close(text[0]);
		close(text[1]);
		signal(SIGINT, SIG_DFL);
		signal(SIGPIPE, SIG_DFL);
		/* quit at once when it fits, colours pass, the screen stays */
		setenv("LESS", "FRX", 0);
		if (command)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		else
			execlp("less", "less", (char *)NULL);
	}
	code = errno;
	if (write(failed, &code, sizeof(code)) < 0)
		_exit(126);
	_exit(127);
}

/* Its process; 0: there is none. */
static pid_t pager_start(const char *command, const int text[2])
{
	int failed[2], code;
	pid_t pid;

	if (pipe2(failed, O_CLOEXEC))
		return 0;
	pid = fork();
	if (!pid)
		pager_run(command, text, failed[1]);
	close(failed[1]);
	if (pid > 0 && read(failed[0], &code, sizeof(code)) > 0) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(failed[0]);
	return pid > 0 ? pid : 0;
}

/* Without a pager it goes to the terminal. */
static void pager_open(struct outlet *outlet)
{
	const char *command = getenv("PAGER");
	int text[2];

	if (command && (!*command || !strcmp(command, "cat")))
		return;
	if (pipe2(text, O_CLOEXEC))
		return;
	outlet->pager = pager_start(command, text);
	if (outlet->pager) {
		/* ^C is for the pager; its end is ours */
		signal(SIGINT, SIG_IGN);
		if (isatty(STDERR_FILENO))
			dup2(text[1], STDERR_FILENO);
		dup2(text[1], STDOUT_FILENO);
	}
	close(text[0]);
	close(text[1]);
}

/* ---- */

static bool is_coloured(const struct show_settings *settings)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	if (settings->colour != COLOUR_AUTO)
		return settings->colour == COLOUR_ALWAYS;
	return !settings->output.path && isatty(STDOUT_FILENO) &&
	       !(none && *none) && term && strcmp(term, "dumb");
}

int outlet_open(struct outlet *outlet, struct show_settings *settings,
		const struct stream *stream, struct error *err)
{
	*outlet = (struct outlet){ 0 };
	settings->output.colour = is_coloured(settings);
	if (settings->output.path && settings->format != &output_ctf) {
		outlet->path = settings->output.path;
		return outlet_file_open(outlet, stream, err);
	}
	if (is_paged(settings, stream))
		pager_open(outlet);
	return 0;
}

int outlet_close(struct outlet *outlet, bool whole, struct error *err)
{
	int code = fflush(stdout) ? -errno : ferror(stdout) ? -EIO : 0;
	int closed;
	int null;

	if (outlet->pager) {
		/* It reads until both ends are closed. */
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
		while (waitpid(outlet->pager, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (!outlet->path)
		return code;
	if (code)
		file_refuse(outlet->path, code, err);
	closed = outlet_file_close(outlet, whole && !code, code ? NULL : err);
	return code ? code : closed;
}
