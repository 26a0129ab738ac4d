// SPDX-License-Identifier: GPL-2.0
#include "crash.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <rastrace/rasfile.h>
#include "lib/buffer/device.h"
#include "lib/outfile.h"

#define PIECE		(64u << 10)

static ssize_t piece_read(int fd, void *to, size_t size, struct error *err)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n >= 0 ? n :
	       error_set(err, -errno, "cannot read '%s': %s", DEVICE_PATH,
			 strerror(errno));
}

static int nothing_there(const struct rastrace_info *info, struct error *err)
{
	if (!info->crash) {
		error_set(err, -ENODATA,
			  "the kernel module has no memory that outlives a panic");
		error_hint(err, "load it with crash_mem=, see rastrace(4)");
		return -ENODATA;
	}
	error_set(err, -ENODATA, "no panic has left a trace, or it is saved already");
	error_hint(err, "with kdump it is in the dump: tracefmt --vmcore FILE");
	return -ENODATA;
}

static int first_check(const uint8_t *piece, ssize_t size, struct error *err)
{
	if (size >= (ssize_t)sizeof(struct ras_file) &&
	    !memcmp(piece, RAS_FILE_MAGIC, strlen(RAS_FILE_MAGIC)))
		return 0;
	return error_set(err, -EINVAL, "what the kernel module has is no trace");
}

static int file_copy(int fd, const uint8_t *first, ssize_t size,
		     const char *path, struct error *err)
{
	struct outfile *out;
	uint8_t piece[PIECE];
	int code = outfile_open(&out, path, err);

	if (code)
		return code;
	for (; size > 0; first = piece) {
		outfile_write(out, first, size);
		size = piece_read(fd, piece, sizeof(piece), err);
	}
	if (!size)
		return outfile_commit(out, err);
	outfile_abort(out);
	return size;
}

static int device_save(int fd, const struct rastrace_info *info,
		       const char *path, struct error *err)
{
	uint8_t first[PIECE];
	ssize_t size = piece_read(fd, first, sizeof(first), err);
	int code;

	if (size <= 0)
		return size ? size : nothing_there(info, err);
	code = first_check(first, size, err);
	return code ? code : file_copy(fd, first, size, path, err);
}

int crash_save(const char *path, bool *kept, struct error *err)
{
	struct rastrace_info info;
	int fd = device_open(&info, err), code;

	if (fd < 0)
		return fd;
	code = device_save(fd, &info, path, err);
	*kept = !code && ioctl(fd, RASTRACE_FORGET);
	close(fd);
	return code;
}
