// SPDX-License-Identifier: GPL-2.0
#include "outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES	4096

void directory_each(int fd,
		    void (*visit)(int fd, const char *name, void *context),
		    void *context)
{
	_Alignas(struct dirent) char bytes[BYTES];
	long size;

	while ((size = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0) {
		const struct dirent *entry;

		for (long at = 0; at < size; at += entry->d_reclen) {
			entry = (const void *)(bytes + at);
			if (strcmp(entry->d_name, ".") &&
			    strcmp(entry->d_name, ".."))
				visit(fd, entry->d_name, context);
		}
	}
}

#define OPENED_SIZE	32
#define NAME_TRIES	100

struct outfile {
	int fd;
	int error;		/* first errno met, kept */
	bool in_place;		/* a device or pipe: written directly */
	char *path;
	char *temporary;	/* NULL: the file has no name yet */
	size_t buffered;
	uint8_t buffer[64 * 1024];
};

static void outfile_flush(struct outfile *out)
{
	size_t done = 0;

	while (done < out->buffered && !out->error) {
		ssize_t n = write(out->fd, out->buffer + done,
				  out->buffered - done);

		if (n < 0 && errno != EINTR)
			out->error = errno;
		else if (n > 0)
			done += n;
	}
	out->buffered = 0;
}

static void outfile_free(struct outfile *out)
{
	free(out->path);
	free(out->temporary);
	free(out);
}

/* The directory has the bits of `mode`, and the file belongs neither to this
 * user nor to the owner of the directory. */
static bool outfile_is_foreign(const char *path, const struct stat *st,
			       mode_t mode)
{
	char *copy = strdup(path);
	struct stat dir;
	bool known = copy && !stat(dirname(copy), &dir);

	free(copy);
	return known && (dir.st_mode & mode) == mode &&
	       st->st_uid != geteuid() && st->st_uid != dir.st_uid;
}

/* *follow: 0 for a link that may be followed, else O_NOFOLLOW: another user may
 * put a link there before the file is opened. */
static int planted_refuse(const char *path, int *follow, struct error *err)
{
	struct stat st;
	const char *what = NULL;

	*follow = O_NOFOLLOW;
	if (lstat(path, &st))
		return 0;
	/* fs.protected_symlinks=1 and fs.protected_fifos=1 refuse these */
	if (S_ISLNK(st.st_mode) &&
	    outfile_is_foreign(path, &st, S_IWOTH | S_ISVTX))
		what = "symbolic link";
	else if (S_ISFIFO(st.st_mode) && outfile_is_foreign(path, &st, S_IWOTH))
		what = "FIFO";
	else if (S_ISLNK(st.st_mode))
		*follow = 0;
	return what ? error_set(err, -EACCES, "'%s' is a %s of another user in a directory that all may write to",
				path, what) : 0;
}

int outfile_refuse_planted(const char *path, struct error *err)
{
	int follow;

	return planted_refuse(path, &follow, err);
}

/* What a symbolic link names is replaced, not the link. The file has been
 * opened by its name, so that the kernel has checked the links. */
static int outfile_resolve(struct outfile *out, const char *path,
			   const struct stat *opened)
{
	struct stat st;

	out->path = realpath(path, NULL);
	if (!out->path || lstat(out->path, &st))
		return errno;
	return st.st_dev == opened->st_dev && st.st_ino == opened->st_ino ?
	       0 : EAGAIN;
}

/* The path by which linkat(2) finds a file that has no name. */
static void outfile_opened(const struct outfile *out, char opened[OPENED_SIZE])
{
	snprintf(opened, OPENED_SIZE, "/proc/self/fd/%d", out->fd);
}

/* Without a name where that can be, so that a process that is killed leaves
 * nothing. */
static int outfile_make(struct outfile *out)
{
	char *copy = strdup(out->path), opened[OPENED_SIZE];

	if (!copy)
		return ENOMEM;
	out->fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(copy);
	outfile_opened(out, opened);
	if (out->fd >= 0 && !access(opened, F_OK))
		return 0;
	if (out->fd >= 0)
		close(out->fd);
	if (asprintf(&out->temporary, "%s.XXXXXX", out->path) < 0)
		return ENOMEM;
	out->fd = mkostemp(out->temporary, O_CLOEXEC);
	return out->fd < 0 ? errno : 0;
}

/* Of a file that is replaced, group and mode are kept if it is our own and under
 * this name only: another user may have made it, or linked a file of ours. */
static int outfile_create(struct outfile *out, const struct stat *old)
{
	bool own = old && old->st_uid == geteuid() && old->st_nlink == 1;
	mode_t mask = umask(0);
	int code = outfile_make(out);

	umask(mask);
	if (code)
		return code;
	if (own && old->st_gid != getegid() &&
	    fchown(out->fd, -1, old->st_gid) && errno != EPERM)
		return errno;
	return fchmod(out->fd, own ? old->st_mode & 0777 : 0666 & ~mask) ?
	       errno : 0;
}

static int outfile_find(struct outfile *out, const char *path, int follow)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
		      follow), code;
	struct stat st;

	if (fd < 0 && errno != ENOENT)
		return errno;
	if (fd < 0) {
		out->path = strdup(path);
		return out->path ? outfile_create(out, NULL) : ENOMEM;
	}
	if (fstat(fd, &st)) {
		code = errno;
	} else if (S_ISREG(st.st_mode)) {
		code = outfile_resolve(out, path, &st);
		if (!code)
			code = outfile_create(out, &st);
	} else if (S_ISFIFO(st.st_mode) &&
		   outfile_is_foreign(path, &st, S_IWOTH)) {
		code = EACCES;
	} else {
		out->in_place = true;
		out->fd = fd;
		out->path = strdup(path);
		return out->path && !fcntl(fd, F_SETFL, 0) ? 0 : errno;
	}
	close(fd);
	return code;
}

int outfile_open(struct outfile **result, const char *path, struct error *err)
{
	struct outfile *out = malloc(sizeof(*out));
	int follow, code;

	*result = NULL;
	if (!out)
		return error_no_memory(err);
	memset(out, 0, offsetof(struct outfile, buffer));
	out->fd = -1;
	code = planted_refuse(path, &follow, err);
	if (code) {
		outfile_abort(out);
		return code;
	}
	code = outfile_find(out, path, follow);
	if (code) {
		outfile_abort(out);
		return error_set(err, -code, "cannot write '%s': %s", path,
				 strerror(code));
	}
	*result = out;
	return 0;
}

/* A file that another user has put there is replaced, or refused; so is a
 * second name of a file of ours, which another user may have made. */
static int in_place_find(const char *path, int follow)
{
	const int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC;
	struct stat st;
	int fd;

	if (lstat(path, &st))
		return errno == ENOENT ? open(path, flags | O_CREAT | O_EXCL,
					      0666) : -1;
	if (S_ISREG(st.st_mode) &&
	    (st.st_uid != geteuid() || st.st_nlink > 1)) {
		if (!unlink(path))
			return open(path, flags | O_CREAT | O_EXCL, 0666);
		if (outfile_is_foreign(path, &st, S_IWOTH))
			return -1;
	}
	fd = open(path, follow ? flags | follow : flags | O_CREAT, 0666);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    !ftruncate(fd, 0))
		return fd;
	close(fd);
	return -1;
}

int outfile_open_in_place(const char *path, struct error *err)
{
	int follow, code = planted_refuse(path, &follow, err), fd;

	if (code)
		return code;
	fd = in_place_find(path, follow);
	return fd >= 0 ? fd : error_set(err, -errno, "cannot write '%s': %s",
					path, strerror(errno));
}

void outfile_write(struct outfile *out, const void *data, size_t size)
{
	const uint8_t *p = data;

	while (size) {
		size_t room = sizeof(out->buffer) - out->buffered;
		size_t n = size < room ? size : room;

		memcpy(out->buffer + out->buffered, p, n);
		out->buffered += n;
		p += n;
		size -= n;
		if (out->buffered == sizeof(out->buffer))
			outfile_flush(out);
	}
}

int outfile_fd(const struct outfile *out)
{
	return out->fd;
}

static int outfile_tell(const struct outfile *out, struct error *err)
{
	if (!out->error)
		return 0;
	return error_set(err, -out->error, "cannot write '%s': %s", out->path,
			 strerror(out->error));
}

int outfile_sync(struct outfile *out, struct error *err)
{
	outfile_flush(out);
	if (!out->in_place && !out->error && fsync(out->fd))
		out->error = errno;
	return outfile_tell(out, err);
}

static int outfile_link(const struct outfile *out, const char *name)
{
	char opened[OPENED_SIZE];

	outfile_opened(out, opened);
	return linkat(AT_FDCWD, opened, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ?
	       errno : 0;
}

static int outfile_link_beside(struct outfile *out)
{
	int code = EEXIST;

	for (int i = 0; i < NAME_TRIES && code == EEXIST; i++) {
		free(out->temporary);
		if (asprintf(&out->temporary, "%s.%d_%d", out->path, getpid(),
			     i) < 0) {
			out->temporary = NULL;
			return ENOMEM;
		}
		code = outfile_link(out, out->temporary);
	}
	if (code) {
		free(out->temporary);
		out->temporary = NULL;
	}
	return code;
}

/* A link replaces nothing: where there is a file, it takes a rename. */
static int outfile_settle(struct outfile *out)
{
	int code = 0;

	if (!out->temporary) {
		code = outfile_link(out, out->path);
		if (code != EEXIST)
			return code;
		code = outfile_link_beside(out);
	}
	return code ? code : rename(out->temporary, out->path) ? errno : 0;
}

int outfile_commit(struct outfile *out, struct error *err)
{
	int code = outfile_sync(out, err);

	if (!out->in_place && !out->error)
		out->error = outfile_settle(out);
	if (close(out->fd) && !out->error)
		out->error = errno;
	out->fd = -1;
	code = code ? code : outfile_tell(out, err);
	if (code)
		outfile_abort(out);
	else
		outfile_free(out);
	return code;
}

void outfile_abort(struct outfile *out)
{
	if (!out)
		return;
	if (out->fd >= 0)
		close(out->fd);
	if (out->temporary)
		unlink(out->temporary);
	outfile_free(out);
}

int outfile_lock_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = -1;

	if (copy)
		fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

bool outfile_is_same(const char *a, const char *b)
{
	struct stat st[2];

	return !strcmp(a, b) ||
	       (!stat(a, &st[0]) && !stat(b, &st[1]) &&
		st[0].st_dev == st[1].st_dev && st[0].st_ino == st[1].st_ino);
}

bool outfile_is_input(const char *path, const char *input)
{
	struct stat out, in;

	if (stat(path, &out) || !S_ISREG(out.st_mode) ||
	    (strcmp(input, "-") ? stat(input, &in) : fstat(STDIN_FILENO, &in)))
		return false;
	return out.st_dev == in.st_dev && out.st_ino == in.st_ino;
}

static _Atomic int failure;

static const char *folder_of(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/tmp";
}

/* Not every file system has O_TMPFILE. */
static int named_open(const char *folder)
{
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/rastrace-XXXXXX",
			     folder) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int temp_file_fail(int error)
{
	failure = error;
	return -error;
}

int temp_file_open(void)
{
	const char *folder = folder_of();
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = named_open(folder);
	return fd < 0 ? temp_file_fail(-fd) : fd;
}

int temp_file_write(int fd, const void *data, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t put = pwrite(fd, (const char *)data + done, n - done,
				     at + done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return temp_file_fail(put ? errno : ENOSPC);
		done += put;
	}
	return 0;
}

int temp_file_read(int fd, void *data, size_t n, uint64_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = pread(fd, (char *)data + done, n - done,
				    at + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		done += got;
	}
	return 0;
}

#define TAKEN	(64u << 10)	/* bytes that are read at once */

int temp_file_take(int fd, uint64_t at, uint64_t n, struct text *text)
{
	while (n) {
		size_t piece = n < TAKEN ? n : TAKEN;
		int code = text_reserve(text, piece);

		if (!code)
			code = temp_file_read(fd, text->data + text->used,
					      piece, at);
		if (code)
			return code;
		text->used += piece;
		at += piece;
		n -= piece;
		text_pass(text);
	}
	return 0;
}

bool temp_file_failed(int code, const char **folder)
{
	*folder = folder_of();
	return code && code == -failure;
}
