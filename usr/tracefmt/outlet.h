/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the text goes: standard output, which becomes the file of -o, or leads
 * to a pager when it is a terminal.
 */
#ifndef TRACEFMT_OUTLET_H
#define TRACEFMT_OUTLET_H

#include <sys/types.h>
#include "lib/outfile.h"
#include "settings.h"

struct outlet {
	const char *path;	/* of the file; NULL: none */
	struct outfile *file;	/* it, until it is whole; NULL: as it comes */
	pid_t pager;		/* 0: none */
};

/* The stream's traces are open. Sets settings->output.colour. 0, or a negative
 * errno with err set. */
int outlet_open(struct outlet *outlet, struct show_settings *settings,
		const struct stream *stream, struct error *err);
/* What was written has arrived, and been read in the pager. A file that is not
 * `whole` leaves what was there before. 0, or a negative errno with err set. */
int outlet_close(struct outlet *outlet, bool whole, struct error *err);

#endif
