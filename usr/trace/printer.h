/* SPDX-License-Identifier: GPL-2.0 */
/* tracefmt, which prints for commands of trace, and its options in theirs. */
#ifndef TRACE_PRINTER_H
#define TRACE_PRINTER_H

#include <stdbool.h>
#include <sys/types.h>
#include "lib/error.h"

/* What each takes is kept for printer_start(). */
int printer_take_format(void *context, const char *value);
int printer_take_pair(void *context, const char *value);
int printer_take_tree(void *context, const char *value);
int printer_take_calls(void *context, const char *value);
int printer_take_summary(void *context, const char *value);
int printer_take_last(void *context, const char *value);
int printer_take_slow(void *context, const char *value);
int printer_take_fields(void *context, const char *value);
int printer_take_field(void *context, const char *value);
int printer_take_prefix(void *context, const char *value);
int printer_take_utc(void *context, const char *value);
int printer_take_relative(void *context, const char *value);
int printer_take_hex(void *context, const char *value);
int printer_take_symbols(void *context, const char *value);
int printer_take_color(void *context, const char *value);
int printer_take_quiet(void *context, const char *value);

#define PRINTER_OPTIONS \
	{ "format", 0, "FORMAT", "as tracefmt: print in this form", \
	  printer_take_format }, \
	{ "pair", 0, NULL, "as tracefmt: latencies and return values", \
	  printer_take_pair }, \
	{ "tree", 0, NULL, "as tracefmt: the calls of each thread as a tree", \
	  printer_take_tree }, \
	{ "calls", 0, NULL, "as tracefmt: calls instead of records", \
	  printer_take_calls }, \
	{ "summary", 0, "[=BY]", "as tracefmt: only the figures", \
	  printer_take_summary }, \
	{ "last", 0, "N", "as tracefmt: only the last N events", \
	  printer_take_last }, \
	{ "slow", 0, "TIME", "as tracefmt: latencies from this time on", \
	  printer_take_slow }, \
	{ "fields", 0, "LIST", "as tracefmt: only these columns", \
	  printer_take_fields }, \
	{ "field", 0, "EXPRESSION", "as tracefmt: only events for which this is true", \
	  printer_take_field }, \
	{ "prefix", 0, "TEMPLATE", "as tracefmt: before each line", \
	  printer_take_prefix }, \
	{ "utc", 0, NULL, "as tracefmt: times in UTC", printer_take_utc }, \
	{ "relative", 0, NULL, "as tracefmt: seconds since the first record", \
	  printer_take_relative }, \
	{ "hex", 0, NULL, "as tracefmt: also the data in hexadecimal", \
	  printer_take_hex }, \
	{ "symbols", 0, "DIR", "as tracefmt: files that have names of addresses", \
	  printer_take_symbols }, \
	{ "color", 0, "[=WHEN]", "as tracefmt: use colours", \
	  printer_take_color }, \
	{ "colour", 0, "[=WHEN]", "as --color", printer_take_color }, \
	{ "no-summary", 0, NULL, "as tracefmt: without the figures", \
	  printer_take_quiet }

/* One of the options that were taken needs all events. */
bool printer_is_whole(void);

struct printer_input {
	const char *tff;	/* a directory; NULL: none */
	const char *condition;	/* on calls; NULL: none */
	bool follow;		/* until SIGTERM */
};

/*
 * Print the buffer of PIN_RUN_VARIABLE: lines on a terminal, if nothing else was
 * chosen. SIGTERM waits until tracefmt can take it; ^C is not for one that follows.
 * Its process, or a negative errno with err set.
 */
pid_t printer_start(const struct printer_input *input, struct error *err);
/* 0, or a negative errno with err set. */
int printer_wait(pid_t pid, struct error *err);

#endif
