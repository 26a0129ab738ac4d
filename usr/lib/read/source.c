// SPDX-License-Identifier: GPL-2.0
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/outfile.h"

#define PIECE	(1u << 20)	/* a pipe's lengths aren't trusted */

int trace_source_open(struct trace_source *source, const char *path)
{
	bool standard = !strcmp(path, "-");
	struct stat st;
	off_t at;

	*source = (struct trace_source){
		.fd = standard ? STDIN_FILENO :
				 open(path, O_RDONLY | O_CLOEXEC),
	};
	if (source->fd < 0 || fstat(source->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	at = lseek(source->fd, 0, SEEK_CUR);
	source->pipe = !S_ISREG(st.st_mode) || at;
	source->size = source->pipe ? 0 : st.st_size;
	return 0;
}

void source_open_memory(struct trace_source *source, void *data, size_t size)
{
	*source = (struct trace_source){ .data = data, .fd = -1, .size = size };
}

void trace_source_close(struct trace_source *source)
{
	free((void *)source->data);
	if (source->fd > STDERR_FILENO)
		close(source->fd);
	*source = (struct trace_source){ .fd = -1 };
}

/* As much as comes, n at most. */
static ssize_t fd_read(struct trace_source *source, void *to, size_t n,
		       uint64_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = source->pipe ?
			read(source->fd, (char *)to + done, n - done) :
			pread(source->fd, (char *)to + done, n - done,
			      at + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += got;
	}
	return done;
}

static int pipe_read(struct trace_source *source, uint64_t n,
		     struct source_bytes *bytes)
{
	size_t room = 0;

	while (bytes->size < n && !source->ended) {
		size_t want = n - bytes->size;
		void *more;
		ssize_t got;

		if (want > (room ? room : PIECE))
			want = room ? room : PIECE;
		room = bytes->size + want;
		more = realloc(bytes->owned, room + 8);
		if (!more)
			return -ENOMEM;
		bytes->owned = more;
		bytes->data = more;
		got = fd_read(source, (char *)more + bytes->size, want, 0);
		if (got < 0)
			return got;
		bytes->size += got;
		source->size += got;
		source->ended = (size_t)got < want;
	}
	return 0;
}

int trace_source_read(struct trace_source *source, uint64_t at, uint64_t n,
		      struct source_bytes *bytes)
{
	ssize_t got;

	*bytes = (struct source_bytes){ 0 };
	if (source->pipe)
		return pipe_read(source, n, bytes);
	if (at >= source->size)
		return 0;
	if (n > source->size - at)
		n = source->size - at;
	bytes->size = n;
	if (source->data) {
		bytes->data = source->data + at;
		return 0;
	}
	bytes->owned = malloc(n + 8);
	if (!bytes->owned)
		return -ENOMEM;
	bytes->data = bytes->owned;
	got = fd_read(source, bytes->owned, n, at);
	bytes->size = got < 0 ? 0 : got;
	return got < 0 ? (int)got : 0;
}

ssize_t trace_source_fetch(struct trace_source *source, uint64_t at, size_t n,
			   void *to)
{
	if (at >= source->size)
		return 0;
	if (n > source->size - at)
		n = source->size - at;
	if (!source->data)
		return fd_read(source, to, n, at);
	memcpy(to, source->data + at, n);
	return n;
}

/* ---- what a pipe has, kept in a file ---- */

int source_open_temporary(struct trace_source *source)
{
	int fd = temp_file_open();

	if (fd < 0)
		return fd;
	*source = (struct trace_source){ .fd = fd, .temporary = true };
	return 0;
}

int trace_source_put(struct trace_source *to, uint64_t at, const void *data,
		     size_t n)
{
	int code = temp_file_write(to->fd, data, n, at);

	if (!code && to->size < at + n)
		to->size = at + n;
	return code;
}

int64_t source_put_pipe(struct trace_source *to, uint64_t at, uint64_t n,
			struct trace_source *from)
{
	uint64_t done = 0;
	int code = 0;

	while (done < n && !from->ended && !code) {
		uint64_t want = n - done < PIECE ? n - done : PIECE;
		struct source_bytes bytes;

		code = trace_source_read(from, from->size, want, &bytes);
		if (!code)
			code = trace_source_put(to, at + done, bytes.data,
						bytes.size);
		done += bytes.size;
		free(bytes.owned);
	}
	return code ? code : (int64_t)done;
}

void trace_source_forget(struct trace_source *source, uint64_t at, uint64_t n)
{
	if (source->temporary)
		fallocate(source->fd, FALLOC_FL_PUNCH_HOLE |
			  FALLOC_FL_KEEP_SIZE, at, n);
}

#define PAGE		4096u

void window_set(struct source_window *window, const struct source_bytes *bytes)
{
	free(window->owned);
	*window = (struct source_window){
		.data = bytes->data, .size = bytes->size,
		.owned = bytes->owned,
		.room = bytes->owned ? bytes->size : 0,
	};
}

void window_open(struct source_window *window, uint64_t offset, uint64_t left)
{
	window->data = NULL;
	window->size = 0;
	window->offset = offset;
	window->left = left;
}

/* Keep the last bytes, and put what follows after them. */
static ssize_t bytes_fetch(struct source_window *window,
			   struct trace_source *source, size_t kept,
			   size_t want)
{
	size_t room = kept + want + 2 * PAGE;
	void *spent = NULL;
	ssize_t got;
	uint8_t *to;
	uintptr_t p;

	if (window->room < room) {
		spent = window->owned;
		window->owned = malloc(room);
		window->room = window->owned ? room : 0;
	}
	if (!window->owned) {
		free(spent);
		return -ENOMEM;
	}
	/*
	 * The new bytes go after the kept ones: copying out of the page cache
	 * is several times as fast when both sides have the same alignment.
	 */
	p = (uintptr_t)window->owned + kept;
	to = (uint8_t *)((p + PAGE - 1) / PAGE * PAGE + window->offset % PAGE);
	if (kept)
		memmove(to - kept, window->data + window->size - kept, kept);
	free(spent);
	got = trace_source_fetch(source, window->offset, want, to);
	window->data = to - kept;
	window->size = kept + (got < 0 ? 0 : got);
	return got;
}

bool window_fill(struct source_window *window, struct trace_source *source,
		 size_t used, size_t most)
{
	size_t want = window->left < most ? window->left : most;
	ssize_t got = bytes_fetch(window, source, window->size - used, want);

	window->offset += want;
	window->left -= want;
	if (got == (ssize_t)want)
		return true;
	window->exhausted = got == -ENOMEM;
	if (window->exhausted)
		window->size = 0;
	window->left = 0;
	return false;
}

void window_free(struct source_window *window)
{
	free(window->owned);
	*window = (struct source_window){ 0 };
}
