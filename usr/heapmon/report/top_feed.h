/* SPDX-License-Identifier: GPL-2.0 */
/* A recording that is summed up while it is made, for heapmon top. */
#ifndef HEAPMON_TOP_FEED_H
#define HEAPMON_TOP_FEED_H

#include <pthread.h>
#include <stdio.h>
#include <sys/types.h>
#include "digest.h"

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

#endif
