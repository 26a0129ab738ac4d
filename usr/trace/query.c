// SPDX-License-Identifier: GPL-2.0
#include "trace/query/query_json.h"
#include "trace/query/query_metrics.h"
#include "trace/query/query_text.h"

#include <errno.h>
#include <stdio.h>
#include "lib/buffer/pin.h"
#include "commands.h"
#include "lib/arm/arm.h"

struct query_options {
	bool json, metrics;
};

static const struct option_def options[] = {
	{ "json", 'j', NULL, "print a JSON object",
	  OPTION_PLACE(struct query_options, json) },
	{ "metrics", 0, NULL, "print OpenMetrics text, for monitoring",
	  OPTION_PLACE(struct query_options, metrics) },
	{ NULL }
};

static int query_print(const struct query *query,
		       const struct query_options *how, struct error *err)
{
	if (how->json)
		return query_print_json(query, err);
	if (how->metrics)
		query_print_metrics(query);
	else
		query_print_text(query);
	return 0;
}

static void query_warn_left(const char *path, const char *name, void *context)
{
	if (!run_dir_is_left(name))
		return;
	fprintf(stderr, "trace: '%s' is left of what was killed, and may still record\n"
		"trace: its records: trace -d %s get FILE; the next on, run or off --all removes it\n",
		path, path);
}

static int query(const struct query_options *how, int count, char **operands,
		 struct error *err)
{
	struct query query;
	struct buffer buffer;
	int code = run_dir_check(pin_run(), err);

	if (!code)
		code = buffer_open(&buffer, pin_run(), false, err);
	if (code == -ENOENT && !count) {
		/* Nothing was ever armed, but something may wait for it. */
		query = (struct query){ 0 };
		keep_state_read(&query.keep, pin_run(), NULL);
		kmod_read(&query.kmod, pin_run());
		code = query_print(&query, how, err);
		keep_state_free(&query.keep);
	} else if (!code) {
		code = query_read(&query, &buffer, count, operands, err);
		if (!code) {
			code = query_print(&query, how, err);
			query_free(&query);
		}
		buffer_close(&buffer);
	}
	if (!code)
		pins_each(pin_run(), query_warn_left, NULL);
	return code;
}

static int query_run(int argc, char **argv)
{
	struct query_options how = { 0 };
	struct error err = { 0 };
	int status, first = command_parse(&command_query, argc, argv, 0, -1,
					  &how, &status);

	if (first < 0)
		return status;
	if (how.json && how.metrics)
		return command_misuse(&command_query,
				      "--json or --metrics, not both");
	return command_end(query(&how, argc - first, argv + first, &err),
			   &err);
}

const struct command command_query = {
	.def = {
		.program = "trace", .name = "query",
		.operands = "[APP|APP(MINOR,...)...]",
		.help = "print the armed tracepoints, their figures and the buffer's state",
		.options = options,
	},
	.run = query_run,
};
