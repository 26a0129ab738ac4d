/* SPDX-License-Identifier: GPL-2.0 */
/* What is the same in the JSON of all events of a tracepoint, made once. */
#ifndef TRACEFMT_JSON_POINT_H
#define TRACEFMT_JSON_POINT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include "lib/key_map.h"
#include "tracefmt/output/columns.h"
#include "json_plain.h"

struct json_point {
	const struct match_point *point;
	char *head;		/* ,"major":5,... up to the types; may be read
				 * TEXT_SLACK further */
	size_t head_length;
	struct json_key *keys;	/* of point->fields */
	bool some;		/* of the fields are wanted */
	struct json_plain *plain;	/* NULL: records never are */
};

/* Used by several threads. */
struct json_points {
	pthread_mutex_t lock;
	struct columns *columns;
	struct key_map made;		/* struct json_point, by point */
};

int json_points_open(struct json_points *points, struct columns *columns);
/* NULL: no memory. */
const struct json_point *json_points_get(struct json_points *points,
					 const struct event *event);
void json_points_close(struct json_points *points);

#endif
