// SPDX-License-Identifier: GPL-2.0
#include "write_output.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "lib/outfile.h"

static int output_write_failed(const char *path, int cause, struct error *err)
{
	return error_set(err, -cause, "cannot write '%s': %s", path,
			 strerror(cause));
}

/* By a stream of its own; the descriptor stays open. */
static int write_to_fd(const char *path, int fd, write_output write,
		       void *context, struct error *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), ret;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	bool failed;

	if (!out) {
		ret = output_write_failed(path, errno, err);
		if (copy >= 0)
			close(copy);
		return ret;
	}
	ret = write(context, out, err);
	failed = ferror(out);
	errno = 0;
	failed |= fclose(out) != 0;
	return failed && !heapmon_fatal(ret) ?
	       output_write_failed(path, errno ? errno : EIO, err) : ret;
}

int heapmon_write_output(const char *path, char *const *inputs, int count,
			 write_output write, void *context, struct error *err)
{
	struct error later = { 0 };
	struct outfile *file;
	int ret, committed;

	if (!strcmp(path, "-"))
		return write_to_fd(path, STDOUT_FILENO, write, context, err);
	for (int i = 0; i < count; i++)
		if (outfile_is_input(path, inputs[i]))
			return error_set(err, -EINVAL,
					 "cannot write '%s': it is the trace itself",
					 path);
	ret = outfile_open(&file, path, err);
	if (ret)
		return ret;
	ret = write_to_fd(path, outfile_fd(file), write, context, err);
	if (heapmon_fatal(ret)) {
		outfile_abort(file);
		return ret;
	}
	committed = outfile_commit(file, &later);
	if (committed)
		*err = later;
	return committed ? committed : ret;
}
