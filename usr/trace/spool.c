// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "commands.h"
#include "lib/arm/arm.h"
#include "lib/buffer/pin.h"
#include "lib/buffer/spooler.h"
#include "lib/number.h"

struct get_settings {
	struct snapshot_settings snapshot;
	bool crash, no_bundle;
};

static int get_take_compress(void *context, const char *value)
{
	struct get_settings *settings = context;
	return pack_method_take("trace", value, &settings->snapshot.pack);
}

static const struct option_def get_options[] = {
	{ "no-bundle", 0, NULL, "without the format files of the armed tracepoints",
	  OPTION_PLACE(struct get_settings, no_bundle) },
	{ "compress", 'z', "[=METHOD]",
	  "compress; without METHOD, with zstd if it is installed: zlib|zstd",
	  get_take_compress },
	{ "crash", 0, NULL, "write the records that survived a panic, instead of the buffer",
	  OPTION_PLACE(struct get_settings, crash) },
	{ NULL }
};

static int get(const char *path, const struct get_settings *settings,
	       struct error *err)
{
	struct outfile *out;
	bool kept = false;
	int code;

	/* which needs no /dev/stdout, as in an initramfs */
	if (!strcmp(path, "-"))
		path = "/proc/self/fd/1";
	if (settings->crash) {
		code = crash_save(path, &kept, err);
		if (kept)
			fputs("trace: get: it stays in the memory for crashes, too: only root may take it out\n",
			      stderr);
		return code;
	}
	code = run_dir_check_reader(pin_run(), err);
	if (!code)
		code = outfile_open(&out, path, err);
	return code ? code :
	       snapshot_save(pin_run(), out, &settings->snapshot, err);
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
	if (settings.crash && settings.snapshot.pack) {
		fputs("trace: get: --crash saves it as it is: without --compress\n",
		      stderr);
		return COMMAND_MISUSE;
	}
	settings.snapshot.bundle = !settings.no_bundle;
	return command_end(get(argv[first], &settings, &err), &err);
}

const struct command command_get = {
	.def = {
		.program = "trace", .name = "get", .operands = "FILE.ras",
		.help = "write the buffer to a file; recording continues",
		.options = get_options,
	},
	.run = get_run,
};

#define PROGRAM		"trace"
#define SIZE_LEAST	(64u << 10)
#define FILES_MOST	10000
#define FILES_DEFAULT	2	/* of a cycle */
#define SECOND		1000000000ULL
#define LOOK_EVERY	(SECOND / 2)	/* at the buffer; progress */

struct spool_settings {
	const char *output;
	bool follow, no_bundle;
	uint64_t size, duration;
	unsigned int files;
	int pack;
};

static volatile sig_atomic_t stop;

/* ---- options ---- */

static int option_wrong(const char *name, const char *value,
			const char *expected)
{
	fprintf(stderr, PROGRAM ": spool: --%s '%s': %s\n", name, value,
		expected);
	return -1;
}

static int take_size(void *context, const char *value)
{
	struct spool_settings *settings = context;

	return quantity_bytes(value, &settings->size) &&
	       settings->size >= SIZE_LEAST ? 0 :
	       option_wrong("size", value, "bytes of a file are expected, at least 64K");
}

static int take_files(void *context, const char *value)
{
	struct spool_settings *settings = context;
	uint64_t files;
	bool good = quantity_number(value, &files) && files &&
		    files <= FILES_MOST;

	settings->files = files;
	return good ? 0 :
	       option_wrong("files", value, "a number from 1 to 10000 is expected");
}

static int spool_take_duration(void *context, const char *value)
{
	struct spool_settings *settings = context;

	return quantity_time(value, &settings->duration) ? 0 :
	       option_wrong("duration", value, QUANTITY_TIME);
}

static int spool_take_compress(void *context, const char *value)
{
	return pack_method_take(PROGRAM, value,
				&((struct spool_settings *)context)->pack);
}

static const struct option_def options[] = {
	{ "output", 'o', "FILE", "write to this file; '-' is standard output",
	  OPTION_PLACE(struct spool_settings, output) },
	{ "follow", 'f', NULL, "write to standard output: trace spool -f | tracefmt -",
	  OPTION_PLACE(struct spool_settings, follow) },
	{ "size", 's', "SIZE", "start the next file after this many bytes (64M)",
	  take_size },
	{ "files", 'n', "N", "keep N files: FILE, FILE.1, ... (2)",
	  take_files },
	{ "compress", 'z', "[=METHOD]",
	  "compress; without METHOD, with zstd if it is installed: zlib|zstd",
	  spool_take_compress },
	{ "no-bundle", 0, NULL, "without the format files of the armed tracepoints",
	  OPTION_PLACE(struct spool_settings, no_bundle) },
	{ "duration", 't', "TIME", "end after this time: 90 (seconds), 5m or 2h",
	  spool_take_duration },
	{ NULL }
};

/* ---- running ---- */

static void spool_stop_note(int number)
{
	stop = 1;
}

/* The first one ends it in order, the second at once; but under nohup(1) the
 * terminal may go away. A shell ignores SIGINT for all its jobs. */
static void spool_signals_take(void)
{
	struct sigaction old, once = {
		.sa_handler = spool_stop_note, .sa_flags = SA_RESETHAND,
	};

	sigaction(SIGINT, &once, NULL);
	sigaction(SIGTERM, &once, NULL);
	if (!sigaction(SIGHUP, &once, &old) && old.sa_handler == SIG_IGN)
		signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);	/* write() fails */
	signal(SIGXFSZ, SIG_IGN);
}

struct spool_progress {
	bool shown;		/* standard error is a terminal */
	uint64_t begun, time, records;
};

static void spool_progress_show(struct spool_progress *progress,
				const struct spooler *s, uint64_t now)
{
	uint64_t span = now - progress->time;
	char bytes[AMOUNT_TEXT];

	if (!progress->shown)
		return;
	amount_print_bytes(bytes, s->files.total);
	fprintf(stderr, "\r\033[K%llu records/s, %llu records, %s, %llu lost",
		(unsigned long long)((s->total - progress->records) *
				     (double)SECOND / (span ? span : 1)),
		(unsigned long long)s->total, bytes,
		(unsigned long long)s->lost);
	fflush(stderr);
	progress->records = s->total;
}

/* Until it is to end: 0, or why it can't go on. */
static int spool_follow(struct spooler *s,
			const struct spool_settings *settings,
			struct spool_progress *progress, struct error *err)
{
	int code = 0;
	bool last;

	do {
		uint64_t now;

		last = stop;
		code = spooler_pass(s, err);
		now = buffer_time();
		if (settings->duration &&
		    now - progress->begun >= settings->duration)
			last = true;
		if (now - progress->time >= LOOK_EVERY) {
			spool_progress_show(progress, s, now);
			progress->time = now;
			if (spooler_gone(s))
				last = true;
		}
		if (!code && !last && !stop)
			usleep(s->interval * 1000);
	} while (!code && !last);
	return code;
}

static void result_tell(const struct spooler *s)
{
	char bytes[AMOUNT_TEXT], more[32] = "";

	amount_print_bytes(bytes, s->files.total);
	if (s->files.begun > 1)
		snprintf(more, sizeof(more), " in %u files", s->files.begun);
	fprintf(stderr, PROGRAM ": spooled %llu records, %s%s\n",
		(unsigned long long)s->total, bytes, more);
	if (s->lost)
		fprintf(stderr, PROGRAM ": %llu records were overwritten before they could be read\n"
			PROGRAM ": a larger buffer keeps them longer: trace on --buffer\n",
			(unsigned long long)s->lost);
	if (spooler_gone(s))
		fputs(PROGRAM ": the buffer has been removed\n", stderr);
}

/* The reader of the pipe doesn't want more: that is an end like others. */
static int spool_write_failed(const struct spooler *s, int code,
			      struct error *err)
{
	if (s->files.cause == EPIPE && !s->files.regular)
		return 0;
	if (!s->files.cause)
		return err->text[0] ? code :
		       error_set(err, code, "%s", strerror(-code));
	error_set(err, code, "cannot write '%s': %s",
		  s->files.name ? s->files.name : "standard output",
		  strerror(s->files.cause));
	error_hint(err, "%s", spool_files_kept(&s->files));
	return code;
}

static int spool(const struct spool_settings *settings, struct error *err)
{
	struct spool_progress progress = { .shown = isatty(STDERR_FILENO) };
	struct spooler s = {
		.run = pin_run(), .bundle = !settings->no_bundle,
		.files = {
			.name = settings->follow ? NULL : settings->output,
			.most = settings->size, .files = settings->files,
			.fd = -1,
		},
	};
	int code = run_dir_check_reader(s.run, err), ended;

	if (code)
		return code;
	spool_signals_take();
	code = spooler_open(&s, settings->pack, err);
	progress.begun = progress.time = buffer_time();
	if (!code)
		code = spool_follow(&s, settings, &progress, err);
	if (s.files.begun) {
		ended = spooler_finish(&s, code, err);
		code = ended ? spool_write_failed(&s, ended, err) : 0;
		if (progress.shown)
			fputs("\r\033[K", stderr);
		result_tell(&s);
	}
	spooler_close(&s);
	return code;
}

static int spool_settings_check(struct spool_settings *settings)
{
	const char *wrong = NULL;

	if (settings->output && !strcmp(settings->output, "-"))
		settings->follow = true;
	else if (settings->output && settings->follow)
		wrong = "--follow writes to standard output, not to a file";
	if (!settings->output && !settings->follow)
		wrong = "where to? --output FILE.ras, or --follow";
	if (settings->follow && (settings->size || settings->files))
		wrong = "standard output is no file: --size and --files are for --output";
	if (!wrong && settings->follow && isatty(STDOUT_FILENO))
		wrong = "this is not for a terminal: trace spool --follow | tracefmt -";
	if (settings->files && !settings->size)
		settings->size = 64u << 20;
	if (!settings->files)
		settings->files = settings->size ? FILES_DEFAULT : 1;
	return wrong ? command_misuse(&command_spool, wrong) : 0;
}

static int spool_command(int argc, char **argv)
{
	struct spool_settings settings = { 0 };
	struct error err = { 0 };
	int status, first = command_parse(&command_spool, argc, argv, 0, 0,
					  &settings, &status);

	if (first < 0)
		return status;
	if (spool_settings_check(&settings))
		return COMMAND_MISUSE;
	return command_end(spool(&settings, &err), &err);
}

const struct command command_spool = {
	.def = {
		.program = "trace", .name = "spool", .operands = "",
		.help = "write records to files as they arrive",
		.options = options,
	},
	.run = spool_command,
};
