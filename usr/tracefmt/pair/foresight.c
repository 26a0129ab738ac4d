// SPDX-License-Identifier: GPL-2.0
#include "foresight.h"

#include <errno.h>
#include <stdlib.h>
#include "lib/key_map.h"

/* Hashes that collide only add doubt. */
struct foresight {
	struct key_map roles;		/* 1 + role, by point */
	struct key_map open;		/* size_t: calls, by thread and function */
	struct key_map recursive;	/* 1, by function */
	struct key_map begun;		/* 1, by process */
};

struct foresight *foresight_open(void)
{
	return calloc(1, sizeof(struct foresight));
}

void foresight_close(struct foresight *f)
{
	size_t at = 0;
	void *count;

	if (!f)
		return;
	while ((count = key_map_next(&f->open, &at)))
		free(count);
	key_map_free(&f->roles);
	key_map_free(&f->open);
	key_map_free(&f->recursive);
	key_map_free(&f->begun);
	free(f);
}

static uint64_t foresight_function(const struct event *event)
{
	return key_map_mix(event->trace->file.header.key,
			   event->point->key >> 16 & ~(uint64_t)PAIR_POST);
}

static uint64_t foresight_process(const struct event *event)
{
	return key_map_mix(event->trace->file.header.key, event->record->pid);
}

static int mark_set(struct key_map *marks, uint64_t key)
{
	return key_map_find(marks, key) ? 0 : key_map_add_number(marks, key, 1);
}

/* 0: no memory. */
static uint64_t foresight_role(struct foresight *f, const struct event *event)
{
	uint64_t key = key_map_key(event->point);
	uint64_t role = key_map_number(&f->roles, key);

	if (role)
		return role;
	role = 1 + pair_role_of(event->point);
	return key_map_add_number(&f->roles, key, role) ? 0 : role;
}

int foresight_see(struct foresight *f, const struct event *event)
{
	uint64_t role = foresight_role(f, event), key;
	uint64_t function = foresight_function(event);
	size_t *open;

	if (!role)
		return -ENOMEM;
	if (role == 1 + PAIR_PLAIN)
		return 0;
	key = key_map_mix(key_map_mix(function, event->record->pid),
			  event->record->tid);
	open = key_map_find(&f->open, key);
	if (!open) {
		open = calloc(1, sizeof(*open));
		if (!open || key_map_add(&f->open, key, open)) {
			free(open);
			return -ENOMEM;
		}
	}
	if (role != 1 + PAIR_PRE) {
		if (!*open)
			return mark_set(&f->begun, foresight_process(event));
		--*open;
		return 0;
	}
	return (*open)++ ? mark_set(&f->recursive, function) : 0;
}

bool foresight_recursive(const struct foresight *f, const struct event *event)
{
	return key_map_find(&f->recursive, foresight_function(event));
}

bool foresight_begun(const struct foresight *f, const struct event *event)
{
	return key_map_find(&f->begun, foresight_process(event));
}
