// SPDX-License-Identifier: GPL-2.0
/* trace top: what is added up in the kernel while it goes on, screen after screen. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "commands.h"
#include "lib/aggregate_print.h"
#include "lib/number.h"
#include "trace/query/query_read.h"

#define ROWS	15	/* of a table */

struct top_options {
	uint64_t rounds;	/* 0: until it is interrupted */
	double interval;	/* s */
	uint64_t rows;
};

/* The hits of a table as of the screen before */
struct top_total {
	uint32_t session, point, statement;
	uint64_t hits;
};

struct top_screen {
	const struct top_options *options;
	struct text text;
	struct top_total *before, *now;
	size_t before_count, now_count;
	uint64_t time;		/* of the screen before, ns; 0: there was none */
};

static int top_take_rounds(void *context, const char *value)
{
	struct top_options *options = context;

	return quantity_number(value, &options->rounds) && options->rounds ? 0 :
	       options_value_wrong("rounds", value, "a number from 1 is wanted");
}

static int top_take_interval(void *context, const char *value)
{
	struct top_options *options = context;
	char *end;

	options->interval = strtod(value, &end);
	if (end != value && !*end && options->interval >= 0.1 &&
	    options->interval <= 3600)
		return 0;
	return options_value_wrong("interval", value,
				   "0.1 to 3600 seconds are wanted");
}

static int top_take_rows(void *context, const char *value)
{
	struct top_options *options = context;

	return quantity_number(value, &options->rows) && options->rows ? 0 :
	       options_value_wrong("rows", value, "a number from 1 is wanted");
}

static const struct option_def options[] = {
	{ "rounds", 'n', "N", "print so many screens, then end",
	  top_take_rounds },
	{ "interval", 'i', "SECONDS", "time between two screens (default 1)",
	  top_take_interval },
	{ "rows", 'r', "N", "rows of each table (default 15)", top_take_rows },
	{ NULL }
};

/* Those of the same table before; -1: it was not there */
static int64_t hits_before(const struct top_screen *screen,
			   const struct top_total *now)
{
	for (size_t i = 0; i < screen->before_count; i++) {
		const struct top_total *t = &screen->before[i];

		if (t->session == now->session && t->point == now->point &&
		    t->statement == now->statement)
			return t->hits <= now->hits ? (int64_t)t->hits : 0;
	}
	return -1;
}

static void table_add(struct top_screen *screen, uint64_t time,
		      uint32_t session, const struct aggregate_table *table)
{
	struct top_total *total = &screen->now[screen->now_count++];
	int64_t before;

	*total = (struct top_total){
		.session = session, .point = table->legend->point,
		.statement = table->legend->statement,
	};
	for (size_t i = 0; i < table->row_count; i++)
		total->hits += table->rows[i].count;
	before = hits_before(screen, total);
	aggregate_name_add(&screen->text, table);
	if (before >= 0 && time > screen->time)
		text_print(&screen->text, "    %.0f hits/s\n",
			   (total->hits - before) * 1e9 /
				   (time - screen->time));
	aggregate_table_add(&screen->text, table, screen->options->rows);
	text_add_char(&screen->text, '\n');
}

/* Takes a picture and prints it. */
static int top_screen_print(struct top_screen *screen, int count, char **operands,
			struct error *err)
{
	bool terminal = isatty(STDOUT_FILENO);
	struct query query;
	size_t tables = 0;
	int code = query_read(&query, count, operands, err);

	if (code)
		return code;
	for (size_t i = 0; i < query.list.count; i++)
		tables += query.sessions[i].aggregates.table_count;
	free(screen->before);
	screen->before = screen->now;
	screen->before_count = screen->now_count;
	screen->now = calloc(tables + 1, sizeof(*screen->now));
	screen->now_count = 0;
	for (size_t i = 0; screen->now && i < query.list.count; i++) {
		const struct aggregates *a = &query.sessions[i].aggregates;

		for (size_t k = 0; k < a->table_count; k++)
			if (query.chosen[i][a->tables[k].legend->point])
				table_add(screen, query.time, a->session,
					  &a->tables[k]);
	}
	if (!screen->now)
		code = error_no_memory(err);
	else if (!screen->now_count)
		code = error_set(err, -ENOENT, "no tracepoint has aggregates");
	if (!code && terminal)
		fputs("\033[H\033[J", stdout);
	if (!code)
		fwrite(screen->text.data, 1, screen->text.used, stdout);
	screen->text.used = 0;
	screen->time = query.time;
	query_free(&query);
	return code ? code : fflush(stdout) ? -EIO : 0;
}

static int top(const struct top_options *how, int count, char **operands,
	       struct error *err)
{
	double whole = floor(how->interval);
	const struct timespec pause = {
		.tv_sec = whole, .tv_nsec = (how->interval - whole) * 1e9,
	};
	struct top_screen screen = { .options = how, .text = { .fd = -1 } };
	int code = top_screen_print(&screen, count, operands, err);

	for (uint64_t i = 1; !code && (!how->rounds || i < how->rounds); i++) {
		nanosleep(&pause, NULL);
		code = top_screen_print(&screen, count, operands, err);
	}
	free(screen.before);
	free(screen.now);
	free(screen.text.data);
	return code;
}

static int top_command_run(int argc, char **argv)
{
	struct top_options how = { .interval = 1, .rows = ROWS };
	struct error err = { 0 };
	int status, first = command_parse(&command_top, argc, argv, 0, -1, &how,
					  &status);

	return first < 0 ? status :
	       command_end(top(&how, argc - first, argv + first, &err), &err);
}

const struct command command_top = {
	.def = {
		.program = "trace", .name = "top",
		.operands = "[APP|APP(MINOR,...)...]",
		.help = "print what is added up in the kernel, again and again",
		.options = options,
	},
	.run = top_command_run,
};
