// SPDX-License-Identifier: GPL-2.0
#include "sequence.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_START	256	/* a power of two */

static struct point_sequence **entry_place(const struct sequences *s,
					   const struct match_point *point,
					   uint32_t slice)
{
	uint64_t key = (uintptr_t)point + slice * 0xff51afd7ed558ccdULL;
	size_t at = key * 0x9e3779b97f4a7c15ULL >> 32;

	for (;; at++) {
		struct point_sequence **place = &s->table[at & (s->size - 1)];

		if (!*place ||
		    ((*place)->point == point && (*place)->slice == slice))
			return place;
	}
}

static int table_grow(struct sequences *s)
{
	struct sequences grown = *s;

	grown.size = s->size ? 2 * s->size : TABLE_START;
	grown.table = calloc(grown.size, sizeof(*grown.table));
	if (!grown.table)
		return -ENOMEM;
	for (size_t i = 0; i < s->size; i++) {
		struct point_sequence *entry = s->table[i];

		if (entry)
			*entry_place(&grown, entry->point, entry->slice) =
				entry;
	}
	free(s->table);
	*s = grown;
	return 0;
}

void sequence_open(struct sequences *sequences, struct trace_file *file)
{
	*sequences = (struct sequences){ .file = file };
}

struct point_sequence *sequence_find(struct sequences *s,
				     struct match_point *point, uint32_t slice)
{
	struct point_sequence **place;

	if (2 * s->count >= s->size && table_grow(s))
		return NULL;
	place = entry_place(s, point, slice);
	if (*place)
		return *place;
	*place = malloc(sizeof(**place));
	if (!*place)
		return NULL;
	**place = (struct point_sequence){ .point = point, .slice = slice };
	s->count++;
	return *place;
}

static void hole_tell(struct sequences *s, const struct match_point *point,
		      const struct trace_slice *slice, uint32_t next,
		      uint32_t seq)
{
	damage_add(&s->file->damage,
		   "records of major %u, minor %u in CPU %u's slice: number %u follows where %u should",
		   point->session->entry->major, point->armed->minor,
		   slice->cpu, seq, next);
}

static void entry_move(struct sequences *s, struct point_sequence *entry,
		       const struct merge_head *head)
{
	uint32_t seq = head->record->seq;
	uint32_t ahead = seq - (uint32_t)entry->next;

	if (ahead && (entry->gaps == head->slice->gaps || ahead > INT32_MAX))
		hole_tell(s, entry->point, head->slice, entry->next, seq);
	/* backwards numbers prove nothing recorded */
	if (ahead <= INT32_MAX) {
		entry->point->reached += ahead;
		entry->next += ahead;
	}
}

void sequence_jump(struct sequences *s, struct point_sequence *entry,
		   const struct merge_head *head)
{
	if (entry->begun) {
		entry_move(s, entry, head);
	} else {
		entry->begun = true;
		entry->next = head->record->seq;
		entry->point->reached += head->record->seq;
		entry->point->before += head->record->seq;
	}
	entry->gaps = head->slice->gaps;
}

void sequence_close(struct sequences *s)
{
	for (size_t i = 0; i < s->size; i++)
		free(s->table[i]);
	free(s->table);
	s->table = NULL;
	s->size = 0;
}
