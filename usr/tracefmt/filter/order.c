// SPDX-License-Identifier: GPL-2.0
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include "store.h"

struct order {
	struct order_settings settings;
	order_take take;
	void *context;
	bool direct;		/* nothing of what follows is there */
	/* --since and --until of the trace's end */
	struct store *undecided;
	int64_t newest;		/* of all events so far */
	/* --around */
	struct store *before;	/* events that were not selected, the newest */
	uint64_t following;	/* so many more follow a selected one */
	/* --last, --newest-first */
	struct store *kept;
	uint64_t selected;	/* of these */
	size_t from;		/* the block of the first that is wanted */
	uint64_t from_selected;	/* in the blocks from there on */
	uint64_t skip;		/* order_end(): selected ones to be left out */
	uint64_t first;		/* the first number that is wanted */
};

static bool store_want(struct store **store, bool wanted)
{
	*store = wanted ? store_open() : NULL;
	return *store || !wanted;
}

struct order *order_open(const struct order_settings *settings,
			 order_take take, void *context)
{
	struct order *order = calloc(1, sizeof(*order));

	if (!order)
		return NULL;
	order->settings = *settings;
	order->take = take;
	order->context = context;
	order->newest = INT64_MIN;
	if (!store_want(&order->undecided,
			settings->since_end || settings->until_end) ||
	    !store_want(&order->before, settings->around) ||
	    !store_want(&order->kept,
			settings->last || settings->newest_first)) {
		order_close(order);
		return NULL;
	}
	order->direct = !order->undecided && !order->before && !order->kept;
	return order;
}

void order_close(struct order *order)
{
	if (!order)
		return;
	store_close(order->undecided);
	store_close(order->before);
	store_close(order->kept);
	free(order);
}

/* ---- --last ---- */

/* Give up the blocks in front of the last N selected events and what is
 * around them. A new block has been begun. */
static void kept_trim(struct order *order)
{
	uint64_t around = order->settings.around;
	struct store *kept = order->kept;
	struct store_block block;

	for (;;) {
		block = store_block(kept, order->from);
		if (order->from_selected - block.selected <
		    order->settings.last)
			break;
		order->from_selected -= block.selected;
		order->from++;
	}
	while (order->from) {
		block = store_block(kept, 0);
		if (store_block(kept, order->from).first - block.last <= around)
			break;
		store_drop(kept);
		order->selected -= block.selected;
		order->from--;
	}
}

static int order_event_give(struct order *order, const struct event *event,
			    bool selected)
{
	size_t blocks;
	int code;

	if (!order->kept)
		return order->take(order->context, event);
	blocks = store_blocks(order->kept);
	code = store_add(order->kept, event, selected);
	if (code)
		return code;
	order->selected += selected;
	order->from_selected += selected;
	if (order->settings.last && store_blocks(order->kept) > blocks)
		kept_trim(order);
	return 0;
}

/* ---- --around ---- */

static int before_take(void *context, const struct event *event, bool selected)
{
	struct order *order = context;

	return event->number < order->first ? 0 :
	       order_event_give(order, event, selected);
}

/* Those in front of a selected event that weren't given yet. */
static int before_give(struct order *order, uint64_t number)
{
	uint64_t around = order->settings.around;
	int code = 0;

	order->first = number > around ? number - around : 0;
	for (size_t i = 0; i < store_blocks(order->before) && !code; i++)
		code = store_read(order->before, i, false, before_take, order);
	while (store_blocks(order->before))
		store_drop(order->before);
	return code;
}

static int before_keep(struct order *order, const struct event *event)
{
	int code = store_add(order->before, event, false);

	while (!code && event->number - store_block(order->before, 0).last >=
			order->settings.around)
		store_drop(order->before);
	return code;
}

static int decided_add(struct order *order, const struct event *event,
		       bool selected)
{
	int code;

	if (order->settings.around) {
		if (selected) {
			code = before_give(order, event->number);
			order->following = order->settings.around;
			return code ? code :
				      order_event_give(order, event, true);
		}
		if (!order->following)
			return before_keep(order, event);
		order->following--;
		return order_event_give(order, event, false);
	}
	return selected ? order_event_give(order, event, true) : 0;
}

/* ---- the trace's end ---- */

/* Is it in the wanted span, if the trace ends with the newest event? */
static bool end_has(const struct order *order, const struct event *event)
{
	uint64_t distance = (uint64_t)order->newest - (uint64_t)event->time;
	const struct order_settings *s = &order->settings;

	return (!s->since_end || distance <= s->since_end) &&
	       (!s->until_end || distance >= s->until_end);
}

static int undecided_take(void *context, const struct event *event,
			  bool selected)
{
	struct order *order = context;

	return decided_add(order, event, selected && end_has(order, event));
}

/* No later event changes the result of end_has() for the first block. */
static bool block_is_decided(const struct order *order)
{
	struct store_block block = store_block(order->undecided, 0);
	uint64_t distance = (uint64_t)order->newest - (uint64_t)block.newest;
	const struct order_settings *s = &order->settings;

	return s->since_end ? distance > s->since_end :
			      distance >= s->until_end;
}

int order_add(struct order *order, const struct event *event, bool selected)
{
	int code;

	if (order->direct)
		return selected ? order->take(order->context, event) : 0;
	if (!order->undecided)
		return decided_add(order, event, selected);
	code = 0;
	if (order->newest < event->time)
		order->newest = event->time;
	if (selected || order->settings.around)
		code = store_add(order->undecided, event, selected);
	while (!code && store_blocks(order->undecided) > 1 &&
	       block_is_decided(order)) {
		code = store_read(order->undecided, 0, false, undecided_take,
				  order);
		store_drop(order->undecided);
	}
	return code;
}

/* ---- the end ---- */

/* Positive: the first event that is wanted has been found. */
static int order_first_find(void *context, const struct event *event,
			    bool selected)
{
	struct order *order = context;

	if (!selected || order->skip--)
		return 0;
	order->first = event->number > order->settings.around ?
		       event->number - order->settings.around : 0;
	return 1;
}

static int first_set(struct order *order)
{
	size_t blocks = store_blocks(order->kept);
	int code = 0;

	order->first = 0;
	if (!order->settings.last || order->selected <= order->settings.last)
		return 0;
	order->skip = order->selected - order->settings.last;
	for (size_t i = 0; i < blocks && !code; i++)
		code = store_read(order->kept, i, false, order_first_find,
				  order);
	return code < 0 ? code : 0;
}

static int kept_take(void *context, const struct event *event, bool selected)
{
	struct order *order = context;

	return event->number < order->first ? 0 :
	       order->take(order->context, event);
}

int order_end(struct order *order)
{
	bool newest_first = order->settings.newest_first;
	size_t blocks;
	int code;

	code = 0;
	while (!code && order->undecided && store_blocks(order->undecided)) {
		code = store_read(order->undecided, 0, false, undecided_take,
				  order);
		store_drop(order->undecided);
	}
	if (code || !order->kept)
		return code;
	code = first_set(order);
	blocks = store_blocks(order->kept);
	for (size_t i = 0; i < blocks && !code; i++)
		code = store_read(order->kept,
				  newest_first ? blocks - 1 - i : i,
				  newest_first, kept_take, order);
	return code;
}
