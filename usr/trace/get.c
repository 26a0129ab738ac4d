// SPDX-License-Identifier: GPL-2.0
#include "commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "lib/formats/chunk.h"
#include "lib/buffer/pin.h"
#include "lib/buffer/picture.h"
#include "lib/arm/arm.h"

struct get_settings {
	struct snapshot_settings snapshot;
	bool crash;
};

static int get_take_compress(void *context, const char *value)
{
	struct get_settings *settings = context;
	return pack_method_take("trace", value, &settings->snapshot.pack);
}

static const struct option_def options[] = {
	{ "bundle", 0, NULL, "include the format files of the armed tracepoints",
	  OPTION_PLACE(struct get_settings, snapshot.bundle) },
	{ "compress", 'z', "[=METHOD]",
	  "compress; without METHOD, with zstd if it is installed: zlib|zstd",
	  get_take_compress },
	{ "crash", 0, NULL, "write the records that survived a panic, instead of the buffer",
	  OPTION_PLACE(struct get_settings, crash) },
	{ NULL }
};

static int get_buffer(const char *path,
		      const struct snapshot_settings *settings,
		      struct error *err)
{
	struct outfile *out;
	int code = run_dir_check_reader(pin_run(), err);

	if (!code)
		code = outfile_open(&out, path, err);
	return code ? code :
	       snapshot_save(pin_run(), out, settings, err);
}

static int get_crash(const char *path, struct error *err)
{
	bool kept = false;
	int code = crash_save(path, &kept, err);

	if (kept)
		fputs("trace: get: it stays in the memory for crashes, too: only root may take it out\n",
		      stderr);
	return code;
}

static int get(const char *path, const struct get_settings *settings,
	       struct error *err)
{
	/* which needs no /dev/stdout, as in an initramfs */
	if (!strcmp(path, "-"))
		path = "/proc/self/fd/1";
	return settings->crash ? get_crash(path, err) :
	       get_buffer(path, &settings->snapshot, err);
}

static int get_run(int argc, char **argv)
{
	struct get_settings settings = { 0 };
	struct error err = { 0 };
	int status, first = command_parse(&command_get, argc, argv, 1, 1,
					  &settings, &status);

	if (first < 0)
		return status;
	if (!strcmp(argv[first], "-") && isatty(STDOUT_FILENO)) {
		fputs("trace: get: this is not for a terminal: trace get - | tracefmt -\n",
		      stderr);
		return COMMAND_MISUSE;
	}
	if (settings.crash &&
	    (settings.snapshot.bundle || settings.snapshot.pack)) {
		fputs("trace: get: --crash saves it as it is: without --bundle and --compress\n",
		      stderr);
		return COMMAND_MISUSE;
	}
	return command_end(get(argv[first], &settings, &err), &err);
}

const struct command command_get = {
	.def = {
		.program = "trace", .name = "get", .operands = "FILE.ras",
		.help = "write the buffer to a file; recording continues",
		.options = options,
	},
	.run = get_run,
};
