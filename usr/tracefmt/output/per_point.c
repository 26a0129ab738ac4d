// SPDX-License-Identifier: GPL-2.0
#include "per_point.h"

void *per_point_make(struct per_point *per, const struct event *event)
{
	uint64_t key = key_map_key(event->point);
	void *made;

	pthread_mutex_lock(&per->lock);
	made = key_map_find(&per->made, key);
	if (!made && !key_map_reserve(&per->made)) {
		made = per->make(per->own, event);
		if (made)
			key_map_add(&per->made, key, made);
	}
	pthread_mutex_unlock(&per->lock);
	return made;
}

int per_point_open(struct per_point *per,
		   void *(*make)(void *own, const struct event *event),
		   void *own)
{
	*per = (struct per_point){ .make = make, .own = own };
	return -pthread_mutex_init(&per->lock, NULL);
}

void per_point_close(struct per_point *per)
{
	key_map_free(&per->made);
	pthread_mutex_destroy(&per->lock);
}
