// SPDX-License-Identifier: GPL-2.0
#include "sequence.h"

#include <errno.h>
#include <stdlib.h>

void sequence_open(struct sequences *sequences, struct trace_file *file)
{
	*sequences = (struct sequences){ .file = file };
}

struct point_sequence *sequence_find(struct sequences *s,
				     struct match_point *point, uint32_t slice)
{
	uint64_t key = key_map_mix(key_map_key(point), slice);
	struct point_sequence *sequence;
	size_t step = 0;

	while ((sequence = key_map_each(&s->by_place, key, &step)))
		if (sequence->point == point && sequence->slice == slice)
			return sequence;
	sequence = malloc(sizeof(*sequence));
	if (!sequence || key_map_add(&s->by_place, key, sequence)) {
		free(sequence);
		return NULL;
	}
	*sequence = (struct point_sequence){ .point = point, .slice = slice };
	return sequence;
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
	struct point_sequence *sequence;
	size_t at = 0;

	while ((sequence = key_map_next(&s->by_place, &at)))
		free(sequence);
	key_map_free(&s->by_place);
}
