// SPDX-License-Identifier: GPL-2.0
#include "heapmon/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/text.h"
#include "heapmon/core/reading.h"

#define PROGRAM		"heapmon"
#define BINS_MOST	(1ul << 24)

struct conversion {
	struct heap_options options;	/* commands.h: the first */
	const struct heap_format *to;
	const char *out;
	char *path;			/* of the input */
	struct heap_reading reading;
	struct heap_output output;
	bool begun;
	bool met;			/* something was read of the input */
	void *state;			/* of the writer */
	struct heap_strings warnings;	/* about the output */
	uint64_t *counts;		/* how often each was given */
	size_t count, room;
};

/* ---- options ---- */

static int take_to(void *context, const char *value)
{
	struct conversion *conversion = context;

	return heapmon_format("to", value, &conversion->to);
}

/* A decimal number; what follows it is at *end. */
static bool convert_number_read(const char *text, char **end, uint64_t *number)
{
	errno = 0;
	*number = strtoull(text, end, 10);
	return *text >= '0' && *text <= '9' && !errno;
}

static int take_bounds(void *context, const char *value)
{
	struct heap_bounds *bounds =
		&((struct conversion *)context)->options.bounds;
	char *end;

	if (convert_number_read(value, &end, &bounds->small) && *end == ',' &&
	    convert_number_read(end + 1, &end, &bounds->medium) &&
	    *end == ',' && convert_number_read(end + 1, &end, &bounds->large) &&
	    !*end && bounds->small < bounds->medium &&
	    bounds->medium < bounds->large)
		return 0;
	return options_value_wrong("bounds", value, "three ascending sizes are expected, "
		     "like 32,256,2048");
}

static int take_bins(void *context, const char *value)
{
	struct heap_bounds *bounds =
		&((struct conversion *)context)->options.bounds;
	char *end;

	if (convert_number_read(value, &end, &bounds->bins) && !*end &&
	    bounds->bins <= BINS_MOST)
		return 0;
	return options_value_wrong("bins", value, "a number up to 16777216 is expected");
}

static const struct option_def convert_options[] = {
	{ "from", 'f', "FORMAT", "format of FILE, if not detected: ras|mtrc|mptl|monitor|tracker",
	  heapmon_take_from },
	{ "to", 't', "FORMAT", "format of the output: mtrc|mptl|monitor|tracker|pprof|"
	  "collapsed|massif|heaptrack", take_to },
	{ "output", 'o', "FILE", "write to this file; '-' is standard output",
	  OPTION_PLACE(struct conversion, out) },
	{ "rebase", 0, NULL, "mtrc: use addresses from 0x1000 and small thread ids",
	  OPTION_PLACE(struct conversion, options.rebase) },
	{ "bounds", 0, "S,M,L", "mptl: upper limits of small, medium and "
	  "large blocks (32,256,2048)", take_bounds },
	{ "bins", 0, "N", "mptl: count each size below N on its own (1024)",
	  take_bins },
	{ "value", 0, "VALUE", "collapsed: what to count (default inuse_space): "
	  "alloc_space|alloc_objects|inuse_space|inuse_objects|peak_space|peak_objects|temporary",
	  OPTION_PLACE(struct conversion, options.value) },
	{ "bits", 0, "N", "word size of the output, as tracker, mtrc or mptl: 32|64",
	  heapmon_take_to_bits },
	{ "endian", 0, "ORDER", "byte order of the output: little|big",
	  heapmon_take_to_endian },
	{ "from-bits", 0, "N", "word size of FILE, a memory tracker's stream: 32|64",
	  heapmon_take_bits },
	{ "from-endian", 0, "ORDER", "byte order of FILE, a memory tracker's stream: little|big",
	  heapmon_take_endian },
	HEAPMON_READ_OPTIONS,
	{ NULL }
};

/* ---- warnings ---- */

static void convert_warn(void *context, const char *text)
{
	struct conversion *conversion = context;
	uint32_t number = heap_strings_add(&conversion->warnings, text);

	if (number && array_extend(&conversion->counts, &conversion->count,
				   &conversion->room,
				   sizeof(*conversion->counts), number))
		conversion->counts[number]++;
}

/* ---- the conversion ---- */

/* Not before the first step: by then the reader has described the file. */
static int convert_begin(struct conversion *conversion, struct error *err)
{
	int ret;

	conversion->state = calloc(1, conversion->to->state_size);
	if (!conversion->state)
		return error_no_memory(err);
	ret = conversion->to->begin(&conversion->output, conversion->state,
				    err);
	conversion->begun = !ret;
	return ret;
}

static int convert_step(void *context, const struct heap_model *model,
			const struct heap_step *step, struct error *err)
{
	struct conversion *conversion = context;
	int ret = conversion->begun ? 0 : convert_begin(conversion, err);

	conversion->met = true;
	if (ret)
		return ret;
	return conversion->to->step(&conversion->output, conversion->state,
				    model, step, err);
}

/* After all steps, if there were any. */
static int convert_end(struct conversion *conversion, bool failed,
		       struct error *err)
{
	int ret = 0;

	if (!conversion->begun && !failed) {
		ret = convert_begin(conversion, err);
		failed = ret;
	}
	if (!conversion->begun)
		return ret;
	return conversion->to->end(&conversion->output, conversion->state,
				   &conversion->reading.model, failed, err);
}

/* Read, and write to `out`. -EBADMSG: the input is damaged, and what could be read
 * of it was written. */
static int convert_write(void *context, FILE *out, struct error *err)
{
	struct conversion *conversion = context;
	const struct reading_follower follower = { convert_step, conversion };
	const struct heap_format *to = conversion->to;
	struct heap_reading *reading = &conversion->reading;
	bool sums = to->write_profile, failed;
	struct error later = { 0 };
	int ret, written = 0;

	conversion->output.file = out;
	ret = reading_run(reading, conversion->path, &conversion->options, sums,
			  sums ? NULL : &follower, err);
	failed = ret && ret != -EBADMSG;
	conversion->met |= reading->profile.site_count;
	if (!failed && !sums && reading->sums) {
		ret = error_set(err, -EINVAL,
				"a file in the format '%s' has sums only, "
				"'%s' is made of events",
				reading->format->name, to->name);
		error_hint(err, "mptl, pprof and collapsed are made of sums");
		failed = true;
	} else if (!sums) {
		written = convert_end(conversion, failed, &later);
	} else if (!failed) {
		written = to->write_profile(&conversion->output,
					    &reading->profile, &reading->model,
					    &later);
	}
	if (written && !failed) {
		*err = later;
		ret = written;
	}
	if (reading->trace.tagged && !to->tags)
		convert_warn(conversion, "the tags are left out");
	/* nothing could be read of a damaged file: no file is written */
	return ret == -EBADMSG && !conversion->met ? -EINVAL : ret;
}

/* ---- the command ---- */

static int convert_check(const struct conversion *conversion)
{
	const char *name;

	if (!conversion->to)
		return command_misuse(&heapmon_convert, "--to is missing");
	name = conversion->to->name;
	if ((conversion->options.to_bits || conversion->options.to_endian) &&
	    !conversion->to->words) {
		fprintf(stderr, PROGRAM ": convert: --bits and --endian are of what is written, and have no effect on '%s'\n"
			PROGRAM ": --from-bits and --from-endian are of what is read\n",
			name);
		return COMMAND_MISUSE;
	}
	if (conversion->to->begin || conversion->to->write_profile)
		return COMMAND_DONE;
	fprintf(stderr, PROGRAM ": files in the format '%s' can be read, but "
		"not written\n", name);
	return COMMAND_MISUSE;
}

static int convert(struct conversion *conversion)
{
	struct error err = { 0 };
	int ret;

	conversion->output = (struct heap_output){
		.path = conversion->out, .options = &conversion->options,
		.trace = &conversion->reading.trace,
		.warn = convert_warn, .context = conversion,
	};
	ret = heapmon_write_output(conversion->out, &conversion->path, 1,
				   convert_write, conversion, &err);
	for (size_t i = 1; i < conversion->count; i++) {
		fprintf(stderr, PROGRAM ": %s: ", conversion->to->name);
		safe_text_print(stderr,
				heap_strings_get(&conversion->warnings, i),
				true);
		if (conversion->counts[i] > 1)
			fprintf(stderr, " (%" PRIu64 " times)",
				conversion->counts[i]);
		fputc('\n', stderr);
	}

	/* What a reader of the output can't see, or easily overlooks. */
	if (conversion->reading.trace.min_size)
		fprintf(stderr, PROGRAM ": blocks below %" PRIu64 " bytes are "
			"missing in it: they were not recorded\n",
			conversion->reading.trace.min_size);
	if (conversion->reading.trace.sample)
		fprintf(stderr, PROGRAM ": blocks are missing in it: those "
			"recorded are a sample, one in each %" PRIu64
			" bytes\n", conversion->reading.trace.sample);
	if (conversion->reading.trace.lost == HEAP_LOST_UNKNOWN)
		fputs(PROGRAM ": an unknown number of events is missing in "
		      "it\n", stderr);
	else if (conversion->reading.trace.lost)
		fprintf(stderr, PROGRAM ": %" PRIu64 " events are missing in "
			"it\n", conversion->reading.trace.lost);

	return command_end(ret, &err);
}

static int convert_main(int argc, char **argv)
{
	struct conversion conversion = {
		.options.bounds = HEAP_BOUNDS_DEFAULT, .out = "-",
	};
	int status, first = command_parse(&heapmon_convert, argc, argv, 1, 1,
					  &conversion, &status);

	if (first >= 0)
		status = convert_check(&conversion);
	if (first >= 0 && status == COMMAND_DONE) {
		conversion.path = argv[first];
		status = convert(&conversion);
	}
	heap_strings_free(&conversion.warnings);
	free(conversion.counts);
	free(conversion.options.symbols);
	free(conversion.state);
	reading_free(&conversion.reading);
	return status;
}

const struct command heapmon_convert = {
	.def = {
		.program = PROGRAM,
		.name = "convert",
		.operands = "FILE",
		.help = "convert a recording or the trace of another heap "
			"tool",
		.options = convert_options,
	},
	.run = convert_main,
};
