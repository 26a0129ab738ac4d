/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording: what `heapmon record` is asked for, and while it is under way what
 * is armed in the private run directory, the processes, and the file that
 * everything goes to.
 */
#ifndef HEAPMON_RECORDING_H
#define HEAPMON_RECORDING_H

#include <rastrace/heap.h>
#include "bpf/body.h"
#include "lib/buffer/mappings.h"
#include "lib/buffer/spooler.h"
#include "lib/arm/arm.h"
#include "heapmon/old/old.h"
#include "lib/launch.h"
#include "points.h"
#include "tracker.h"

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
	bool no_old, no_types;
	char **program;			/* with its arguments; NULL */
};

struct recorded {		/* a process */
	uint32_t pid, parent;	/* parent: until it has executed something */
	bool changed;		/* other code is mapped in it than was seen */
	bool mapped;		/* what this program of it maps was written */
};

struct recording {
	const struct record_settings *settings;
	struct run_dir common, private;
	struct buffer buffer;
	struct features features;
	struct allocator allocator;
	size_t armed;		/* of its files */
	size_t armed_first;	/* ... before anything was recorded */
	struct body_heap heap;
	uint32_t link_pid;	/* links are of this process; 0: of all */
	struct unwind_state *unwind;
	struct unwind_fds unwind_fds;
	struct tracker *tracker;
	struct spooler spooler;
	bool spooling;
	struct ras_heap_note *notes;	/* not written yet */
	size_t note_count, note_room;
	bool notes_failed;		/* no memory: some are missing */
	struct mappings_cache mappings;
	struct launch launch;
	struct recorded *processes;	/* that live */
	size_t process_count, process_room;
	uint64_t begun;		/* CLOCK_BOOTTIME, ns */
	unsigned int seen;	/* processes in all */
	unsigned int unseen;	/* that ended before they were looked at */
	uint64_t old_blocks, old_bytes, old_stopped;
	uint64_t tracker_lost;
	bool unwind_failed;	/* some process has no tables */
	struct error why;	/* of what couldn't be armed later on */
};

/* All is armed, the file begun and the program runs. 0, or a negative errno
 * with err set; recording_close() in any case. */
int recording_open(struct recording *r, const struct record_settings *settings,
		   struct error *err);
/* Until it is to end. 0, or a negative errno with err set. */
int recording_run(struct recording *r, struct error *err);
/* Disarm, and end the file. `code`: that of recording_run(). */
int recording_finish(struct recording *r, int code, struct error *err);
/* What it came to, to stderr. */
void recording_summarize(struct recording *r);
void recording_close(struct recording *r);

/* following.c: a note of the file; by time, those of one time in the order in which
 * they came. */
void following_note(struct recording *r, uint64_t time, uint32_t kind,
		    uint32_t pid, uint64_t a, uint64_t b);
void following_write_notes(struct recording *r);
/* The allocator's files that aren't armed yet. */
int arming_more(struct recording *r, struct error *err);
/* Recording stops at once; counters stay. */
int arming_off(struct recording *r, struct error *err);
/* A process to be recorded. */
int following_add(struct recording *r, uint32_t pid, bool from_exec,
		  struct error *err);
/* Look at all that happened, and at what was mapped. */
int following_update(struct recording *r, struct error *err);
/* Record the blocks that are there; warn if some are missing. */
void following_walk_old(struct recording *r, uint32_t pid);

#endif
