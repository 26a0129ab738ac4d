// SPDX-License-Identifier: GPL-2.0
/*
 * The form in which makedumpfile -F and QEMU write to what can't be sought in:
 * a header of 4096 bytes, then pieces, each with where it belongs and how long
 * it is (big-endian); -1 ends it.
 */
#include "dump_flat.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "lib/temp_file.h"

#define HEADER		4096
#define BUFFER		(64u << 10)

struct piece {
	uint64_t offset, size;		/* big-endian */
};

/* `size` bytes at `from` go to `to`, as far as they are there. */
static int flat_copy(struct dump *dump, uint64_t from, int fd, uint64_t to,
		     uint64_t size)
{
	uint8_t buffer[BUFFER];
	int code = 0;

	while (size && !code) {
		ssize_t n = pread(dump->fd, buffer,
				  size < BUFFER ? size : BUFFER, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		code = temp_file_write(fd, buffer, n, to);
		from += n;
		to += n;
		size -= n;
	}
	dump->cut |= size;
	return code;
}

static int pieces_copy(struct dump *dump, int fd)
{
	uint64_t at = HEADER;
	struct piece piece;
	int code = 0;

	while (!code && !dump->cut) {
		uint64_t to, size;

		if (pread(dump->fd, &piece, sizeof(piece), at) !=
		    sizeof(piece)) {
			dump->cut = true;
			break;
		}
		to = be64toh(piece.offset);
		size = be64toh(piece.size);
		if (to > INT64_MAX || size > INT64_MAX - to)
			break;
		at += sizeof(piece);
		code = flat_copy(dump, at, fd, to, size);
		at += size;
	}
	return code;
}

int dump_flat_open(struct dump *dump, const char *path, struct error *err)
{
	int fd = temp_file_open();
	int code = fd < 0 ? fd : pieces_copy(dump, fd);

	if (fd >= 0) {
		close(dump->fd);
		dump->fd = fd;
	}
	if (!code)
		return 0;
	error_set(err, code, "cannot put '%s' into its order: %s", path,
		  strerror(-code));
	error_hint(err, "it takes as much room in TMPDIR; or: makedumpfile -R DUMP <%s",
		   path);
	return code;
}
