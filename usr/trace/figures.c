// SPDX-License-Identifier: GPL-2.0
#include "figures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/rasfile.h>
#include "../lib/ring.h"

/* The records of one (point, slice) that are in the buffer. */
struct seen {
	uint64_t present;
	uint32_t first, next;	/* sequence numbers: of the first, behind the
				 * last */
	bool gap;
};

struct tally {
	const struct session *session;
	struct ras_count *rows;		/* read before the slices */
	struct seen *seen;		/* like rows */
};

struct census {
	const struct buffer *buffer;
	struct tally *tallies;		/* one per session of the list */
	size_t count;
	int by_index[65536];		/* session index to tally; -1: none */
	struct figures *figures;
};

static int tally_read(struct tally *tally, const struct session *session,
		      uint32_t slices, struct error *err)
{
	int code = session_counts_read(session, slices, &tally->rows, err);

	tally->session = session;
	if (code == -ENOENT)
		return 0;
	if (code)
		return code;
	tally->seen = calloc((size_t)session->entry->points * slices + 1,
			     sizeof(*tally->seen));
	return tally->seen ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static void record_see(struct census *census, uint32_t row,
		       const struct ras_record *record)
{
	int index = census->by_index[record->session];
	struct tally *tally;
	struct seen *seen;

	census->figures->records++;
	census->figures->bytes += record->length;
	if (index < 0 || !census->tallies[index].seen)
		return;
	tally = &census->tallies[index];
	if (record->point >= tally->session->entry->points ||
	    record->minor != tally->session->points[record->point].minor) {
		census->figures->damaged += record->length;
		return;
	}
	seen = &tally->seen[record->point * census->buffer->slices + row];
	if (!seen->present)
		seen->first = record->seq;
	else if (seen->next != record->seq)
		seen->gap = true;
	seen->next = record->seq + 1;
	seen->present++;
}

static int slice_see(struct census *census, uint32_t row, struct error *err)
{
	const struct buffer *buffer = census->buffer;
	const struct ras_slice *slice;
	const struct ras_record *record;
	struct ring_walk walk = { 0 };
	struct ring ring;
	uint64_t size;
	uint8_t *copy;

	slice = buffer_slice(buffer, row, &size);
	if (row < buffer->control->cpus)
		census->figures->dropped += slice->dropped;
	if (!slice->head)
		return 0;
	copy = malloc(size);
	if (!copy)
		return error_set(err, -ENOMEM, "out of memory");
	ring_copy(&ring, slice, size, buffer->control->key,
		  buffer_tail(buffer, row), copy);
	walk.position = ring.first;
	while ((record = ring_next(&ring, buffer->control->key, &walk)))
		record_see(census, row, record);
	census->figures->damaged += walk.damaged;
	free(copy);
	return 0;
}

/*
 * A counter is 64 bits wide and a sequence number its low half. `before` was
 * read before the slice was copied and the number may have moved on since,
 * or be one behind (counted, not yet published).
 */
static uint64_t seq_widen(uint32_t seq, uint64_t before)
{
	return before + (int32_t)(seq - (uint32_t)before);
}

static void row_add(struct figures *figures, struct figure *figure,
		    const struct ras_count *before,
		    const struct ras_count *after, const struct seen *seen)
{
	uint64_t recorded = before->recorded, overwritten = recorded;

	if (seen->present) {
		recorded = seq_widen(seen->next, before->recorded);
		overwritten = recorded - (uint32_t)(seen->next - seen->first);
		if (seen->gap || overwritten + seen->present != recorded ||
		    recorded + 1 < before->recorded ||
		    recorded > after->recorded + 1)
			figures->damaged++;
	}
	figure->recorded += recorded;
	figure->overwritten += overwritten;
	figure->present += seen->present;
	figure->filtered += after->filtered;
	figure->dropped += after->dropped;
	figure->faults += after->faults;
}

static int tally_sum(struct census *census, const struct tally *tally,
		     struct figure **result, struct error *err)
{
	uint32_t points = tally->session->entry->points;
	uint32_t slices = census->buffer->slices;
	struct ras_count *after;
	struct figure *figures;
	uint64_t *missed;
	int code;

	code = session_counts_read(tally->session, slices, &after, err);
	if (code)
		return code == -ENOENT ? 0 : code;
	figures = calloc(points + 1, sizeof(*figures));
	missed = calloc(points + 1, sizeof(*missed));
	if (figures && missed)
		session_missed_read(tally->session, missed);
	for (uint32_t i = 0; figures && missed && i < points; i++) {
		figures[i].missed = missed[i];
		for (uint32_t k = 0; k < slices; k++) {
			size_t row = (size_t)i * slices + k;

			row_add(census->figures, &figures[i],
				&tally->rows[row], &after[row],
				&tally->seen[row]);
		}
	}
	*result = figures;
	if (!figures || !missed)
		code = error_set(err, -ENOMEM, "out of memory");
	free(after);
	free(missed);
	return code;
}

static int census_take(struct census *census, const struct session_list *list,
		       struct error *err)
{
	int code = 0;

	memset(census->by_index, -1, sizeof(census->by_index));
	for (size_t i = 0; i < list->count && !code; i++) {
		const struct session *session = &list->items[i];

		census->by_index[session->entry->index] = i;
		code = tally_read(&census->tallies[i], session,
				  census->buffer->slices, err);
	}
	for (uint32_t row = 0; row < census->buffer->slices && !code; row++)
		code = slice_see(census, row, err);
	for (size_t i = 0; i < list->count && !code; i++)
		if (census->tallies[i].seen)
			code = tally_sum(census, &census->tallies[i],
					 &census->figures->sessions[i], err);
	return code;
}

int figures_read(struct figures *figures, const struct buffer *buffer,
		 const struct session_list *list, struct error *err)
{
	struct census *census = calloc(1, sizeof(*census));
	int code = -ENOMEM;

	*figures = (struct figures){ .count = list->count };
	figures->sessions = calloc(list->count + 1,
				   sizeof(*figures->sessions));
	if (census) {
		census->buffer = buffer;
		census->figures = figures;
		census->tallies = calloc(list->count + 1,
					 sizeof(*census->tallies));
	}
	if (!census || !census->tallies || !figures->sessions)
		error_set(err, code, "out of memory");
	else
		code = census_take(census, list, err);
	for (size_t i = 0; census && census->tallies && i < list->count; i++) {
		free(census->tallies[i].rows);
		free(census->tallies[i].seen);
	}
	if (census)
		free(census->tallies);
	free(census);
	if (code)
		figures_free(figures);
	return code;
}

void figures_free(struct figures *figures)
{
	for (size_t i = 0; figures->sessions && i < figures->count; i++)
		free(figures->sessions[i]);
	free(figures->sessions);
	*figures = (struct figures){ 0 };
}
