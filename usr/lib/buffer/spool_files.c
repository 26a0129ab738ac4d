// SPDX-License-Identifier: GPL-2.0
#include "spool_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/outfile.h"

#define WAIT_STEP	50		/* ms */
#define WAIT_STEPS	40		/* for a reader that doesn't read */
#define PIPE_PIECE	4096		/* a pipe that is ready has room for it */

static int files_refuse(const struct spool_files *files, int cause,
			struct error *err)
{
	return error_set(err, -cause, "cannot write '%s': %s", files->name,
			 strerror(cause));
}

static void spool_file_name(const struct spool_files *files,
			    unsigned int number, char path[PATH_MAX])
{
	if (number)
		snprintf(path, PATH_MAX, "%s.%u", files->name, number);
	else
		snprintf(path, PATH_MAX, "%s", files->name);
}

/* Everyone moves on by one; the last one is overwritten. 0 or errno. */
static int files_move(const struct spool_files *files)
{
	char from[PATH_MAX], to[PATH_MAX];

	for (unsigned int n = files->files - 1; n > 0; n--) {
		spool_file_name(files, n - 1, from);
		spool_file_name(files, n, to);
		if (rename(from, to) && errno != ENOENT)
			return errno;
	}
	return 0;
}

/* What is in the way: 0, it isn't any more; 1: it is to be written as it
 * is; or a negative errno. */
static int files_clear_way(const struct spool_files *files)
{
	struct stat st;
	int cause;

	if (lstat(files->name, &st))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(st.st_mode))
		return -ELOOP;
	if (!S_ISREG(st.st_mode))
		return 1;
	cause = files->files > 1 ? files_move(files) : 0;
	if (cause)
		return -cause;
	return unlink(files->name) && errno != ENOENT ? -errno : 0;
}

/* open(2) of a FIFO that nothing reads waits, and restarts after signals. */
static int way_open(const struct spool_files *files)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, fd;
	struct stat st;

	if (!files->stopped || stat(files->name, &st) ||
	    !S_ISFIFO(st.st_mode))
		return open(files->name, flags);
	while ((fd = open(files->name, flags | O_NONBLOCK)) < 0 &&
	       errno == ENXIO) {
		if (files->stopped()) {
			errno = ECANCELED;
			return -1;
		}
		poll(NULL, 0, WAIT_STEP);
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, 0);
	return fd;
}

static void pipe_find(struct spool_files *files)
{
	struct stat st;

	files->pipe = !fstat(files->fd, &st) &&
		      (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

static int spool_file_begin(struct spool_files *files, struct error *err)
{
	int way = outfile_refuse_planted(files->name, err);

	if (way)
		return way;
	way = files_clear_way(files);
	if (way == -ELOOP) {
		error_set(err, way, "'%s' is a symbolic link", files->name);
		error_hint(err, "name the file itself");
		return way;
	}
	if (way < 0)
		return files_refuse(files, -way, err);
	files->regular = !way;
	/* made by us: no link or file of another user */
	files->fd = way ? way_open(files) :
		open(files->name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_CREAT |
		     O_EXCL, 0666);
	if (files->fd < 0)
		return files_refuse(files, errno, err);
	pipe_find(files);
	files->size = files->last = 0;
	files->begun++;
	return 0;
}

int spool_files_open(struct spool_files *files, struct error *err)
{
	if (files->name)
		return spool_file_begin(files, err);
	if (files->fd < 0)
		files->fd = STDOUT_FILENO;
	pipe_find(files);
	files->begun = 1;
	return 0;
}

int spool_files_close(struct spool_files *files, struct error *err)
{
	int cause = 0;

	if (files->fd < 0 || !files->name)
		return 0;
	if (files->regular && !files->size)
		unlink(files->name);
	else if (files->regular && fsync(files->fd))
		cause = errno;
	if (close(files->fd) && !cause)
		cause = errno;
	files->fd = -1;
	return cause ? files_refuse(files, cause, err) : 0;
}

void spool_files_remove(const struct spool_files *files)
{
	if (files->fd >= 0 && files->name && files->regular)
		unlink(files->name);
}

int spool_files_rotate(struct spool_files *files, struct error *err)
{
	int code = spool_files_close(files, err);

	return code ? code : spool_file_begin(files, err);
}

/* Away with the part of a chunk that there was room for. */
static int spool_file_fail(struct spool_files *files, int cause)
{
	if (files->regular && ftruncate(files->fd, files->size))
		cause = cause ? cause : errno;
	if (files->regular)
		lseek(files->fd, files->size, SEEK_SET);
	files->cause = cause;
	return -cause;
}

void spool_files_cut(struct spool_files *files, uint64_t size)
{
	if (!files->regular || ftruncate(files->fd, size) ||
	    lseek(files->fd, size, SEEK_SET) < 0)
		return;
	files->total -= files->size - size;
	files->size = size;
}

const char *spool_files_kept(const struct spool_files *files)
{
	return files->total ? "what was written before is kept, and can be read" :
			      "nothing could be written";
}

/* A write(2) that can end: false when the reader of a pipe doesn't read, and the
 * program has been asked to end. */
static bool room_wait(const struct spool_files *files)
{
	struct pollfd fd = { .fd = files->fd, .events = POLLOUT };

	if (!files->pipe || !files->stopped)
		return true;
	if (files->cause)
		return false;
	for (unsigned int n = 0; n < WAIT_STEPS; n += files->stopped())
		if (poll(&fd, 1, WAIT_STEP) > 0)
			return true;
	return false;
}

int spool_files_take(void *context, const void *chunk, size_t size)
{
	struct spool_files *files = context;
	size_t done = 0;

	while (done < size) {
		size_t most = size - done;
		ssize_t n;

		if (!room_wait(files))
			return spool_file_fail(
				files, files->cause ? files->cause : ETIMEDOUT);
		if (files->pipe && files->stopped && most > PIPE_PIECE)
			most = PIPE_PIECE;
		n = write(files->fd, (const char *)chunk + done, most);
		if (n < 0 && errno != EINTR)
			return spool_file_fail(files, errno);
		done += n < 0 ? 0 : n;
	}
	files->last = files->size;
	files->size += size;
	files->total += size;
	return 0;
}
