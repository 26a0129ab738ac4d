// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include "../lib/pin.h"
#include "../lib/snapshot.h"
#include "run_dir.h"

static const struct option_def options[] = { { NULL } };

static int get(const char *path, struct error *err)
{
	struct outfile *out;
	int code = run_dir_check(pin_run(), err);

	if (!code)
		code = outfile_open(&out, path, err);
	return code ? code : snapshot_save(pin_run(), out, err);
}

static int get_run(int argc, char **argv)
{
	struct error err = { 0 };
	int status, first = command_parse(&command_get, argc, argv, 1, 1, NULL,
					  &status);

	return first < 0 ? status : command_end(get(argv[first], &err), &err);
}

const struct command command_get = {
	.def = {
		.program = "trace", .name = "get", .operands = "FILE.ras",
		.help = "write the buffer to a file; recording goes on",
		.options = options,
	},
	.run = get_run,
};
