// SPDX-License-Identifier: GPL-2.0
#include "temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TAKEN	(64u << 10)	/* bytes that are read at once */

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
