// SPDX-License-Identifier: GPL-2.0
#include "sequence.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_START	256	/* a power of two */

static struct sequence *entry_find(const struct sequences *s,
				   const struct match_point *point,
				   uint32_t slice)
{
	uint64_t key = (uintptr_t)point + slice * 0xff51afd7ed558ccdULL;
	size_t at = key * 0x9e3779b97f4a7c15ULL >> 32;

	for (;; at++) {
		struct sequence *entry = &s->table[at & (s->size - 1)];

		if (!entry->point ||
		    (entry->point == point && entry->slice == slice))
			return entry;
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
		const struct sequence *entry = &s->table[i];

		if (entry->point)
			*entry_find(&grown, entry->point, entry->slice) =
				*entry;
	}
	free(s->table);
	*s = grown;
	return 0;
}

void sequence_open(struct sequences *sequences, struct trace_file *file)
{
	*sequences = (struct sequences){ .file = file };
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

static void entry_begin(struct sequences *s, struct sequence *entry,
			struct match_point *point,
			const struct merge_head *head)
{
	*entry = (struct sequence){
		.point = point, .slice = head->slice->index,
		.next = head->record->seq, .gaps = head->gaps,
	};
	s->count++;
	point->reached += head->record->seq;
	point->before += head->record->seq;
}

int sequence_see(struct sequences *s, struct match_point *point,
		 const struct merge_head *head)
{
	uint32_t seq = head->record->seq, ahead;
	struct sequence *entry;

	if (!point->armed)
		return 0;
	if (2 * s->count >= s->size && table_grow(s))
		return -ENOMEM;
	entry = entry_find(s, point, head->slice->index);
	if (!entry->point) {
		entry_begin(s, entry, point, head);
	} else if ((ahead = seq - (uint32_t)entry->next)) {
		if (entry->gaps == head->gaps || ahead > INT32_MAX)
			hole_tell(s, point, head->slice, entry->next, seq);
		/* backwards numbers prove nothing recorded */
		if (ahead <= INT32_MAX) {
			point->reached += ahead;
			entry->next += ahead;
		}
	}
	entry->gaps = head->gaps;
	entry->next++;
	point->reached++;
	return 0;
}

void sequence_close(struct sequences *s)
{
	free(s->table);
	s->table = NULL;
}
