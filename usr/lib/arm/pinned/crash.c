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

static ssize_t crash_read_piece(int fd, uint8_t piece[PIECE], struct error *err)
{
	ssize_t n;

	do
		n = read(fd, piece, PIECE);
	while (n < 0 && errno == EINTR);
	return n >= 0 ? n :
	       error_set(err, -errno, "cannot read '%s': %s", DEVICE_PATH,
			 strerror(errno));
}

static int device_save(int fd, const struct rastrace_info *info,
		       const char *path, struct error *err)
{
	uint8_t piece[PIECE];
	struct outfile *out;
	ssize_t size = crash_read_piece(fd, piece, err);
	int code;

	if (size < 0)
		return size;
	if (!size && !info->crash) {
		error_set(err, -ENODATA,
			  "the kernel module has no memory that outlives a panic");
		error_hint(err, "load it with crash_mem=, see rastrace(4)");
		return -ENODATA;
	}
	if (!size) {
		error_set(err, -ENODATA, "no panic has left a trace, or it is saved already");
		error_hint(err, "with kdump it is in the dump: tracefmt --vmcore FILE");
		return -ENODATA;
	}
	if (size < (ssize_t)sizeof(struct ras_file) ||
	    memcmp(piece, RAS_FILE_MAGIC, strlen(RAS_FILE_MAGIC)))
		return error_set(err, -EINVAL,
				 "what the kernel module has is no trace");
	code = outfile_open(&out, path, err);
	if (code)
		return code;
	while (size > 0) {
		outfile_write(out, piece, size);
		size = crash_read_piece(fd, piece, err);
	}
	if (!size)
		return outfile_commit(out, err);
	outfile_abort(out);
	return size;
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
