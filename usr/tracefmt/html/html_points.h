/* SPDX-License-Identifier: GPL-2.0 */
/* The tracepoints that events are of, numbered as they come. */
#ifndef TRACEFMT_HTML_POINTS_H
#define TRACEFMT_HTML_POINTS_H

#include <stddef.h>
#include "lib/key_map.h"
#include "lib/read/read.h"

struct html_points {
	const struct match_point **points;	/* by number */
	size_t count, room;
	struct key_map numbers;	/* number + 1, by point */
	size_t last;		/* the number found last */
};

/* Its number, from 0; -ENOMEM. */
int64_t html_points_number(struct html_points *points,
			   const struct match_point *point);
/* An array of objects; a failure is kept in text. */
void html_points_add(const struct html_points *points, struct text *text);
void html_points_free(struct html_points *points);

#endif
