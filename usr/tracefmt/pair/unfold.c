// SPDX-License-Identifier: GPL-2.0
#include "unfold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

/* What comes first of events at the same time: the ends of calls that began
 * earlier, and events that are no calls; then beginnings; then the ends of calls
 * that began just then. */
enum held_rank { HELD_EVENT, HELD_BEGIN, HELD_END };

/* An event that is held. The record is the end's, after which nothing of the call
 * comes. */
struct held {
	struct event event;
	int64_t time;		/* its place */
	enum held_rank rank;
	int64_t until;		/* BEGIN: when the call ends */
	uint64_t order;		/* as they came; a beginning before its end */
	size_t bytes;
	uint64_t record[];
};

struct unfold {
	int (*give)(void *context, const struct event *event);
	void *context;
	bool live, holds;
	struct held **heap;	/* the next one on top */
	size_t count, room, bytes;
	uint64_t added;
	int64_t newest;		/* time of those added */
	int64_t given;		/* and of those given */
};

struct unfold *unfold_open(int (*give)(void *context, const struct event *event),
			   void *context, bool live)
{
	struct unfold *unfold = calloc(1, sizeof(*unfold));

	if (unfold)
		*unfold = (struct unfold){
			.give = give, .context = context, .live = live,
			.newest = INT64_MIN, .given = INT64_MIN,
		};
	return unfold;
}

/* When the call began; false: it is none, or that is not known. */
static bool unfold_began(const struct event *event, int64_t *began)
{
	const struct ras_record *record = event->record;
	struct context context;
	uint64_t ns;

	if (!(record->flags & RAS_RECORD_WHOLE) || !event->point->halves[0])
		return false;
	context = context_of(record, event->point->context);
	ns = record->time - context.began;
	return context.began && !context.misfit &&
	       context.began <= record->time &&
	       !__builtin_sub_overflow(event->time, ns, began);
}

/* ---- the heap ---- */

static bool held_before(const struct held *a, const struct held *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->rank != HELD_BEGIN)
		return a->order < b->order;
	/* the outer one */
	return a->until != b->until ? a->until > b->until : a->order > b->order;
}

static void heap_push(struct unfold *unfold, struct held *held)
{
	struct held **heap = unfold->heap;
	size_t at = unfold->count++;

	for (; at && held_before(held, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = held;
	unfold->bytes += held->bytes;
}

static struct held *heap_pop(struct unfold *unfold)
{
	struct held **heap = unfold->heap, *top = heap[0];
	struct held *last = heap[--unfold->count];
	size_t at = 0, next;

	while ((next = 2 * at + 1) < unfold->count) {
		next += next + 1 < unfold->count &&
			held_before(heap[next + 1], heap[next]);
		if (!held_before(heap[next], last))
			break;
		heap[at] = heap[next];
		at = next;
	}
	heap[at] = last;
	unfold->bytes -= top->bytes;
	return top;
}

/* With the record's copy, or, if it is in `end`, without. NULL: no memory. */
static struct held *unfold_hold(struct unfold *unfold, const struct held *from,
			     const struct held *end)
{
	uint32_t length = end ? 0 : from->event.record->length;
	size_t bytes = sizeof(*from) + ((length + 7) & ~7u);
	struct held *held = malloc(bytes);

	if (!held || !array_grow(&unfold->heap, unfold->count, &unfold->room,
				 sizeof(*unfold->heap))) {
		free(held);
		return NULL;
	}
	*held = *from;
	held->bytes = bytes;
	held->event.record = end ? end->event.record :
			     memcpy(held->record, from->event.record, length);
	heap_push(unfold, held);
	return held;
}

/* ---- events ---- */

static int unfold_give(struct unfold *unfold)
{
	struct held *held = heap_pop(unfold);
	int code = unfold->give(unfold->context, &held->event);

	if (held->time > unfold->given)
		unfold->given = held->time;
	free(held);
	return code;
}

/* What is older. */
static int unfold_release(struct unfold *unfold, int64_t now)
{
	int code = 0;

	while (unfold->live && unfold->count && !code &&
	       unfold->heap[0]->time < now &&
	       (uint64_t)now - (uint64_t)unfold->heap[0]->time > UNFOLD_WAIT)
		code = unfold_give(unfold);
	return code;
}

void unfold_expect_all(struct unfold *unfold)
{
	unfold->holds = true;
}

void unfold_expect(struct unfold *unfold, const struct event *event)
{
	int64_t began;

	unfold->holds |= unfold_began(event, &began);
}

/* The beginning of the call that `end` is of. NULL: no memory. */
static struct held *unfold_begin(struct unfold *unfold, const struct held *end,
			      const struct match_point *half, int64_t began)
{
	struct held begin = {
		.event = end->event, .time = began, .rank = HELD_BEGIN,
		.until = end->time, .order = end->order - 1,
	};

	begin.event.point = half;
	begin.event.time = began;
	if (began < unfold->given) {
		/* late: right before its end */
		begin.time = end->time;
		begin.rank = end->rank;
	}
	return unfold_hold(unfold, &begin, end);
}

int unfold_add(struct unfold *unfold, const struct event *event)
{
	int64_t began;
	bool whole = unfold_began(event, &began);
	struct held held = {
		.event = *event, .time = event->time, .order = unfold->added + 1,
	}, *end;
	int code;

	unfold->added += 2;
	unfold->holds |= whole;
	if (event->time > unfold->newest)
		unfold->newest = event->time;
	if (!unfold->holds) {
		unfold->given = unfold->newest;
		return unfold->give(unfold->context, event);
	}
	if (whole) {
		held.event.point = event->point->halves[1];
		held.rank = began == event->time ? HELD_END : HELD_EVENT;
	}
	end = unfold_hold(unfold, &held, NULL);
	if (!end || (whole && !unfold_begin(unfold, end, event->point->halves[0],
					 began)))
		return -ENOMEM;
	code = unfold_release(unfold, unfold->newest);
	while (!code && unfold->bytes > UNFOLD_BYTES)
		code = unfold_give(unfold);
	return code;
}

int unfold_pass(struct unfold *unfold, int64_t now)
{
	return unfold_release(unfold, now);
}

int unfold_end(struct unfold *unfold)
{
	int code = 0;

	while (unfold->count && !code)
		code = unfold_give(unfold);
	return code;
}

void unfold_close(struct unfold *unfold)
{
	if (!unfold)
		return;
	while (unfold->count)
		free(heap_pop(unfold));
	free(unfold->heap);
	free(unfold);
}
