/* SPDX-License-Identifier: GPL-2.0 */
/* What was asked for on the command line. */
#ifndef TRACEFMT_SETTINGS_H
#define TRACEFMT_SETTINGS_H

#include <stdbool.h>
#include "tracefmt/filter/filter.h"
#include "tracefmt/filter/order.h"
#include "lib/read/read.h"
#include "tracefmt/output/output.h"
#include "tracefmt/output/summary.h"

struct show_settings {
	char **tffs;
	size_t tff_count;
	bool strict;		/* a record without a TFF entry is an error */
	bool force;		/* use entries of other data hashes */
	bool summary_only, quiet;
	bool aggregates;	/* only these, instead of the figures */
	enum summary_by summary_by;
	bool follow;
	const char *vmcore;	/* a memory dump to be read, too */
	bool no_pager;
	enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour;
	const struct output_ops *format;
	bool formatted;		/* --format was given, not as auto */
	bool automatic;		/* as auto: lines on a terminal */
	const struct output_ops *wanted;	/* without --format; NULL: not
						 * configured */
	bool prefixed;		/* --prefix was given */
	const char *prefix_from;	/* what gave the template, for messages */
	char *config;		/* text of the configuration file */
	struct filter *filter;
	struct order_settings order;
	struct symbols_settings symbols;
	struct debuginfod server;	/* of symbols */
	struct output_settings output;
};

/* Fills settings from argv; the index of the first operand, or OPTIONS_*
 * (lib/options.h). */
int settings_parse(struct show_settings *settings, int argc, char **argv);
void settings_free(struct show_settings *settings);

#endif
