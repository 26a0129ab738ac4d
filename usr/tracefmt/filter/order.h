/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Between choosing and output: --newest-first, --last N, --around N. Events
 * that have to wait are kept in memory, many of them in an unnamed file of
 * TMPDIR.
 */
#ifndef TRACEFMT_ORDER_H
#define TRACEFMT_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include "lib/read/read.h"

struct store;

struct order_settings {
	bool newest_first;
	uint64_t last;		/* only the last N selected events; 0: all */
	uint64_t around;	/* and N events, selected or not, before and
				 * after each selected one, each once; 0: no */
	/* filter_order()'s: of those selected only the ones from so many ns
	 * before the newest event on, and up to so many; 0: all */
	uint64_t since_end, until_end;
};

/* Takes an event; its record stays for the call only. 0, or a negative
 * errno. */
typedef int (*order_take)(void *context, const struct event *event);

struct order;

/* NULL: no memory. Without any setting events go through at once. */
struct order *order_open(const struct order_settings *settings,
			 order_take take, void *context);
/* The next event of the stream, and whether it was selected. 0, or what take()
 * returned, -ENOMEM, or a negative errno of the file. */
int order_add(struct order *order, const struct event *event, bool selected);
/* There are no more events. 0, or as order_add(). */
int order_end(struct order *order);
void order_close(struct order *order);

#endif
