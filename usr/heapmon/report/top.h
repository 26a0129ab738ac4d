/* SPDX-License-Identifier: GPL-2.0 */
/* heapmon top: a recording that is summed up while it is made. */
#ifndef HEAPMON_TOP_H
#define HEAPMON_TOP_H

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>
#include "digest.h"

/* ---- top_feed.c: the recording ---- */

struct top_feed {
	pid_t recorder;		/* heapmon record, a child */
	int messages;		/* what it says: an unnamed file */
	int pipe;
	pthread_t thread;
	bool running;		/* the thread was started */
	struct heap_trace trace;	/* of the thread */
	struct heap_model model;
	pthread_mutex_t lock;	/* for what follows */
	struct digest digest;	/* not its trace */
	char **where;		/* by stack: its innermost frames; NULL: not
				 * met yet */
	size_t where_count, where_room;
	char command[64];
	uint64_t lost, sample;	/* as the trace has them */
	bool begun;		/* there was an event */
	bool ended;		/* there are no more */
	int code;		/* of reading them */
	struct error err;
};

#define TOP_FRAMES	4	/* of a stack */

/* `arguments`: those of heapmon record, with room for three more. 0, or a
 * negative errno with err set. */
int top_feed_open(struct top_feed *feed, char **arguments, unsigned int count,
		  struct error *err);
/* End the recording. 0; its exit status, when it failed and has said why on
 * stderr; or a negative errno with err set. */
int top_feed_close(struct top_feed *feed, struct error *err);

/* ---- top_screen.c: what is shown ---- */

enum top_sort {
	TOP_LIVE, TOP_BLOCKS, TOP_CALLS, TOP_BYTES, TOP_TEMPORARY, TOP_SORTS
};

extern const char *const top_sort_names[TOP_SORTS];

struct top_screen {
	FILE *out;
	enum top_sort sort;
	unsigned int rows, columns;	/* columns 0: lines aren't cut */
	double interval;		/* s */
	struct digest_sum *before;	/* allocated, by stack, at `time` */
	size_t before_count;
	struct digest_sum allocated, freed;	/* of all stacks, at `time` */
	double time;			/* s; rates are since then: the last
					 * screen that was half an interval
					 * after the one before */
	double begun;
};

/* Rates are from now on. With the feed's lock held. False: no memory. */
bool top_screen_begin(struct top_screen *screen, const struct top_feed *feed,
		      double now);

/* With the feed's lock held. False: no memory. */
bool top_screen_print(struct top_screen *screen, const struct top_feed *feed,
		      double now);
void top_screen_free(struct top_screen *screen);

#endif
