/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What happens to armed points without a command: points that have reached their
 * MAXHITS lose their links, the most expensive ones do above --max-cpu, sessions end
 * (--for), triggers are answered, whole calls that can't return any more give their
 * room back, and TDFs that wait for a kernel module are armed when it is loaded.
 * One process for each run directory does it, the keeper: `trace keep`. Commands
 * start it when there is something to do, and it ends when there isn't. Tracing
 * doesn't depend on it.
 *
 *	RUN/keep/	its process holds a lock on it
 *	RUN/wait/N	a symbolic link to a request's text: a TDF that waits
 *	RUN/wait/N_why	a symbolic link to the text why it was refused when
 *			the module was loaded
 */
#ifndef TRACE_KEEP_H
#define TRACE_KEEP_H

#include "keep_react.h"
#include "keep_request.h"
#include "lib/arm/probe/hit_cost.h"
#include "lib/buffer/session.h"

/* What the keeper knows of an armed session, and follows. */

#define WATCH_TICKS	4	/* in a second */

struct watch_program {
	uint32_t id;
	int fd;
	uint64_t ns, runs;	/* in it, when last looked at */
	uint32_t cost;		/* ns of a run */
};

struct watch_point {
	uint32_t maxhits;	/* 0: none */
	uint32_t trap;		/* ns of a hit beside the program's */
	uint32_t program;	/* index; of several, the last */
	uint64_t hits[WATCH_TICKS];	/* counted till the last ticks */
	uint64_t used;		/* ns in the last second */
};

struct watch {
	uint16_t session;
	bool seen;		/* in this tick */
	bool timed;		/* programs and traps are known */
	unsigned int trap;	/* read_ns of what they were computed with */
	bool maxhits;		/* some point has one, or that isn't known */
	bool followed;		/* it has a file, which is followed */
	bool leased;
	struct keep_tasks tasks;
	struct react *react;	/* NULL: it has no trigger */
	bool stacks_known;	/* ... whether it has stacks */
	struct stacks *stacks;	/* NULL: it has none */
	int file;		/* -1: it can't be opened */
	unsigned int ticks;
	uint64_t times[WATCH_TICKS];	/* of the last ticks */
	uint32_t points;
	struct watch_point *items;
	struct watch_program *programs;
	size_t program_count;
};

/* `buffer` NULL: to see what it needs, not to follow it. 0 or a negative errno. */
int watch_open(struct watch *watch, const struct session *session,
	       const char *run, const struct buffer *buffer);
void watch_close(struct watch *watch);

/* Is there an armed point that will have its MAXHITS? */
bool watch_has_maxhits(const struct watch *watch,
		       const struct session *session);
/* off[i] becomes true for those that have it; how many. */
uint32_t watch_maxhits_reached(const struct watch *watch,
			       const struct session *session, uint32_t cpus,
			       bool *off);

/* From now on watch_tick() computes times; again when more is known of what a
 * trap takes. */
void watch_time(struct watch *watch, const struct session *session,
		const struct hit_cost *trap);
/* Call it before and after (`end`) some time in which the kernel measures its
 * programs. */
void watch_programs_time(struct watch *watch, bool end);
/* Count the hits; items[].used is what they took in a second. Returns the sum. */
uint64_t watch_tick(struct watch *watch, const struct session *session,
		    const struct buffer *buffer);

/*
 * Start a keeper if there is something to do for it and none runs. Every command
 * that changes something calls this before it gives up the lock of `run`. A
 * failure, in err, is no reason for the command to fail: tracing goes on.
 */
int keep_start(const struct run_dir *run, struct error *err);

/*
 * A keeper that was started before what it has to do is there, while that takes its
 * time. It waits: _go, when what is armed is there, returns when it watches;
 * _cancel ends it. One whose `child` is 0 isn't there.
 */
struct keep_begun {
	pid_t child;
	int socket;
};

int keep_begin(struct keep_begun *begun, const struct run_dir *run,
	       struct error *err);
void keep_go(const struct keep_begun *begun, const struct run_dir *run);
void keep_cancel(const struct keep_begun *begun);
/* In the keeper: until the command has called keep_go(); and that it watches */
void keep_await(void);
void keep_announce(void);

/* Is there something to do for one? */
bool keep_is_needed(const char *run);

/*
 * What the armed tracepoints of a run directory take, without a keeper: begin,
 * wait a second, end. The result is in hundredths of a per cent of a CPU.
 */
struct keep_usage {
	struct buffer buffer;
	struct session_list list;
	struct watch *watches;		/* NULL: the use isn't known */
};

void keep_usage_begin(struct keep_usage *usage, const char *run);
uint32_t keep_usage_end(struct keep_usage *usage, const char *run);

/* Print a message if that is much. */
void keep_usage_warn(uint32_t used);

#define USE_NS		1000000000ull	/* in which that is found out */
#define USAGE_WARN	500	/* hundredths of a per cent: more is reported */
#define USAGE_SMALL	100	/* less isn't measured exactly */

/* --max-cpu: a ceiling for all points, in per cent of one CPU's time; 0 takes
 * it away. */
void keep_max_cpu_set(const struct buffer *buffer, unsigned int percent);

/* For query: no lock is needed. */
struct keep_state {
	int pid;			/* of the keeper; 0: there is none;
					 * -1: one that can't be seen */
	bool needed;			/* there is something to do for it */
	struct keep_request *requests;	/* that wait */
	size_t count;
};

int keep_state_read(struct keep_state *state, const char *run,
		    struct error *err);
void keep_state_free(struct keep_state *state);

#endif
