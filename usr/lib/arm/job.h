/* SPDX-License-Identifier: GPL-2.0 */
/* TDFs that are to be armed: found, and verified against this machine. */
#ifndef TRACE_JOB_H
#define TRACE_JOB_H

#include "arm_tdf.h"

struct job {
	char path[PATH_MAX];	/* absolute */
	const char **operands;	/* that mean it, at least one */
	size_t operand_count;
	struct tdf *tdf;
	struct target *targets;	/* once it is verified */
	bool *picked;		/* per point: is to be armed */
	bool *triggers;		/* per point: stops the recording */
	struct keep_tasks tasks;	/* what the keeper does with it */
	char waits[KERNEL_MODULE_NAME];	/* for this kernel module; or "" */
	struct arm_cost cost;	/* of a dry run */
	bool failed;		/* reported; nothing of it is armed */
};

struct job_list {
	struct job *items;
	size_t count;
	const struct job_settings *settings;
	uint64_t stop_after;	/* of --stop-on */
	uid_t uid;		/* whose command --run-on runs */
	gid_t gid;
	unsigned int failures;	/* operands and jobs; each was reported */
};

/* Take an operand: its TDF becomes a job, or its tracepoints are added to the
 * job there is. What can't be armed is reported. */
void job_list_add(struct job_list *list, const char *operand);
void job_list_free(struct job_list *list);

/*
 * Check what the settings ask for, then find and verify the modules. Jobs that
 * fail are reported and marked; `waits` is set for those that wait for a kernel
 * module. 0, or a negative errno with err set: nothing can be armed.
 */
int job_list_verify(struct job_list *list, struct error *err);

/* Jobs that are to be armed now. */
size_t job_list_ready(const struct job_list *list);

/* The buffer for them, and what the kernel offers. 0, or a negative errno with
 * err set. */
int job_buffer_open(struct buffer *buffer, struct features *features,
		    const struct run_dir *run,
		    const struct job_settings *settings, struct error *err);

/* Leave out what is armed already; where that is all, the job fails. */
int job_list_check_armed(struct job_list *list, const struct buffer *buffer,
			 const struct run_dir *run, struct error *err);

/* Arm what is ready, each job wholly or not at all; what fails is reported and
 * marked. With `dry` nothing is attached, and job->cost filled in. */
void job_list_arm(struct job_list *list, const struct run_dir *run,
		  struct buffer *buffer, const struct features *features,
		  bool dry);

#endif
