// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/outfile.h"
#include "lib/number.h"

#define PROGRAM	"heapmon"

/* ---- options ---- */

int heapmon_format(const char *option, const char *value,
		   const struct heap_format **format)
{
	*format = heap_format_find(value);
	if (*format)
		return 0;
	options_value_wrong(option, value, "there is no such format");
	fputs(PROGRAM ": there are:", stderr);
	for (size_t i = 0; heap_formats[i]; i++)
		fprintf(stderr, " %s", heap_formats[i]->name);
	fputc('\n', stderr);
	return -1;
}

int heapmon_take_from(void *context, const char *value)
{
	return heapmon_format("from", value,
			      &((struct heap_options *)context)->from);
}

int heapmon_take_pid(void *context, const char *value)
{
	struct heap_options *options = context;
	uint64_t pid;

	if (!quantity_number(value, &pid) || !pid || pid > INT_MAX)
		return options_value_wrong("pid", value,
				   "a process id is a decimal number");
	options->pid = pid;
	return 0;
}

static int bits_take(const char *option, const char *value, unsigned int *bits)
{
	if (strcmp(value, "32") && strcmp(value, "64"))
		return options_value_wrong(option, value, "32 or 64 is expected");
	*bits = atoi(value);
	return 0;
}

static int endian_take(const char *option, const char *value, int *endian)
{
	if (strcmp(value, "little") && strcmp(value, "big"))
		return options_value_wrong(option, value,
				   "'little' or 'big' is expected");
	*endian = value[0];
	return 0;
}

/* The input's: convert calls them --from-bits and --from-endian. */
int heapmon_take_bits(void *context, const char *value)
{
	return bits_take("bits", value,
			 &((struct heap_options *)context)->bits);
}

int heapmon_take_endian(void *context, const char *value)
{
	return endian_take("endian", value,
			   &((struct heap_options *)context)->endian);
}

int heapmon_take_to_bits(void *context, const char *value)
{
	return bits_take("bits", value,
			 &((struct heap_options *)context)->to_bits);
}

int heapmon_take_to_endian(void *context, const char *value)
{
	return endian_take("endian", value,
			   &((struct heap_options *)context)->to_endian);
}

int heapmon_take_symbols(void *context, const char *value)
{
	struct heap_options *options = context;
	char **dirs = reallocarray(options->symbols, options->symbol_count + 1,
				   sizeof(*dirs));

	if (!dirs)
		return options_value_wrong("symbols", value, "out of memory");
	dirs[options->symbol_count++] = (char *)value;
	options->symbols = dirs;
	return 0;
}

/* ---- what is written ---- */

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
