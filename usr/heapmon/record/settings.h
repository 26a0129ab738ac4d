/* SPDX-License-Identifier: GPL-2.0 */
/* What `heapmon record` is asked for. */
#ifndef HEAPMON_SETTINGS_H
#define HEAPMON_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/command.h"
#include "lib/arm/arm.h"
#include "allocator.h"
#include "points.h"

struct record_settings {
	struct job_settings job;	/* first: its options take this struct;
					 * pids, follow, bytes, attach */
	const char *output;
	int pack;			/* RAS_PACKED_*; 0 */
	const char *comm;		/* -c; NULL */
	bool no_follow;
	struct allocator_want want;
	const char *objects[SETTINGS_MOST];
	struct points_want points;
	uint64_t min_size, sample;
	uint64_t duration;		/* ns; 0: until it ends */
	bool no_old;
	char **program;			/* with its arguments; NULL */
};

extern const struct option_def record_options[];

/* Parse. 0, or -1 with *status set. */
int record_settings_parse(struct record_settings *settings,
			  const struct command *command, int argc,
			  char **argv, int *status);
/* -c COMM -> pids. 0, or a negative errno with err set. */
int record_settings_find_comm(struct record_settings *settings,
			      struct error *err);

#endif
