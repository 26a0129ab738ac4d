/* SPDX-License-Identifier: GPL-2.0 */
/* A TDF that is to be armed, verified against this machine. */
#ifndef TRACE_JOB_H
#define TRACE_JOB_H

#include <limits.h>
#include "../lib/buffer.h"
#include "features.h"
#include "run_dir.h"
#include "target.h"

/* How to arm: the options of `trace on` and `trace run`. */
struct job_settings {
	uint64_t bytes;			/* --buffer, 0: not given */
	const char *module;		/* --module */
	enum attach_choice attach;	/* --attach */
};

/* The values' `take` for options; context is struct job_settings. */
int job_take_buffer(void *context, const char *value);
int job_take_module(void *context, const char *value);
int job_take_attach(void *context, const char *value);

#define JOB_OPTIONS \
	{ "buffer", 'b', "SIZE", \
	  "bytes for each CPU: 64K to 256M, a power of two (default 1M)", \
	  job_take_buffer }, \
	{ "module", 'm', "PATH", "where the traced program or library is", \
	  job_take_module }, \
	{ "attach", 0, "KIND", \
	  "auto, or multi (uprobe_multi) or perf (perf_event) links", \
	  job_take_attach }

struct job {
	char path[PATH_MAX];	/* absolute */
	const char *name;	/* as given */
	struct tdf *tdf;
	struct target *targets;
};

/* 0, or a negative errno with err set. */
int job_open(struct job *job, const char *name,
	     const struct job_settings *settings, struct error *err);
void job_close(struct job *job);

/* Arm `count` jobs in the buffer of `run`: all, or when one fails, none. */
int job_arm(struct job *jobs, size_t count, const struct run_dir *run,
	    const struct job_settings *settings, struct error *err);

#endif
