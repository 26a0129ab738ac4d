/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is printed above an event's data: the date where it is another one, the
 * title, and
 *
 *	Event [10]  Major [5/0x0005]  Minor [307/0x0133]  PID [38/0x0026]
 *	  TID [38/0x0026]  Length [18]  Time [18:07:32.052123456]
 *	  Process [app]  Flags [fault, cut]
 *
 * on one line. What the events of a thread at a point have in common is kept in
 * scratch->more.
 */
#ifndef TRACEFMT_HEADER_H
#define TRACEFMT_HEADER_H

#include "output.h"

/* Characters of it at most; the title comes on top. */
#define HEADER_MAX	1024

/* length: of the event's data; flags: EVENT_*. At p, returns the end. */
char *header_put(const struct output_settings *settings,
		 const struct event *event, size_t length, unsigned int flags,
		 struct scratch *scratch, char *p);

#endif
