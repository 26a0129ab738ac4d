// SPDX-License-Identifier: GPL-2.0
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/key_map.h"
#include "tracefmt/output/print.h"
#include "expression.h"
#include "expression_parse.h"
#include "choice.h"

enum number_kind {
	NUMBER_MAJOR, NUMBER_MINOR,	/* of a point */
	NUMBER_PID, NUMBER_TID, NUMBER_CPU, NUMBER_EVENT,
	NUMBER_KINDS,
};

/* What holds for all records of a point; or all calls of two points, one of which
 * may be NULL. */
struct filter_point {
	const struct match_point *point, *exit;
	bool of_call;
	bool holds;		/* of a point */
	struct expression_bound **bounds;	/* one for each expression */
};

struct filter {
	struct ranges numbers[NUMBER_KINDS];
	struct name_filter groups, types, comms;
	struct time_span span;		/* as asked for */
	struct time_span times;		/* of the stream */
	struct expression **expressions;
	size_t expression_count;
	struct patterns patterns;
	struct output_settings settings;	/* of the searched text */
	const struct stream *stream;
	struct text text;
	bool begun, bound;
	struct key_map points;		/* struct filter_point, by point */
	struct scratch sides[2];	/* of a call */
	uint64_t undecided;
};

struct filter *filter_open(void)
{
	return calloc(1, sizeof(struct filter));
}

static void filter_point_free(struct filter *filter, struct filter_point *point)
{
	for (size_t i = 0; point->bounds && i < filter->expression_count; i++)
		expression_unbind(point->bounds[i]);
	free(point->bounds);
	free(point);
}

void filter_close(struct filter *filter)
{
	struct filter_point *point;
	size_t at = 0;

	if (!filter)
		return;
	for (size_t i = 0; i < NUMBER_KINDS; i++)
		ranges_free(&filter->numbers[i]);
	name_filter_free(&filter->groups);
	name_filter_free(&filter->types);
	name_filter_free(&filter->comms);
	while ((point = key_map_next(&filter->points, &at)))
		filter_point_free(filter, point);
	for (size_t i = 0; i < filter->expression_count; i++)
		expression_free(filter->expressions[i]);
	free(filter->expressions);
	patterns_free(&filter->patterns);
	free(filter->text.data);
	free(filter->sides[0].pieces);
	free(filter->sides[1].pieces);
	key_map_free(&filter->points);
	free(filter);
}

/* ---- options ---- */

static const struct {
	const char *name;
	uint64_t most;
} number_options[NUMBER_KINDS] = {
	[NUMBER_MAJOR] = { "major", UINT16_MAX },
	[NUMBER_MINOR] = { "minor", UINT16_MAX },
	[NUMBER_PID] = { "pid", UINT32_MAX },
	[NUMBER_TID] = { "tid", UINT32_MAX },
	[NUMBER_CPU] = { "cpu", UINT32_MAX },
	[NUMBER_EVENT] = { "event", UINT64_MAX },
};

static int bound_add(struct span_bound *bound, const char *value,
		     struct error *err)
{
	if (bound->kind != SPAN_OPEN)
		return error_set(err, -EINVAL, "it was given before");
	return span_parse(bound, value, err);
}

static int option_add(struct filter *filter, const char *option,
		      const char *value, struct error *err)
{
	struct expression **more;
	int code;

	for (size_t i = 0; i < NUMBER_KINDS; i++)
		if (!strcmp(option, number_options[i].name))
			return ranges_add(&filter->numbers[i], value,
					  number_options[i].most, err);
	if (!strcmp(option, "group"))
		return name_filter_add_list(&filter->groups, value, err);
	if (!strcmp(option, "type"))
		return name_filter_add_list(&filter->types, value, err);
	if (!strcmp(option, "comm"))
		return name_filter_add(&filter->comms, value, err);
	if (!strcmp(option, "since"))
		return bound_add(&filter->span.since, value, err);
	if (!strcmp(option, "until"))
		return bound_add(&filter->span.until, value, err);
	if (!strcmp(option, "field")) {
		more = reallocarray(filter->expressions,
				    filter->expression_count + 1,
				    sizeof(*more));
		if (!more)
			return error_no_memory(err);
		filter->expressions = more;
		code = expression_parse(&more[filter->expression_count], value,
					err);
		filter->expression_count += !code;
		return code;
	}
	if (!strcmp(option, "text"))
		return patterns_add(&filter->patterns, value, err);
	return error_set(err, -EINVAL, "there is no such option");
}

int filter_add(struct filter *filter, const char *option, const char *value,
	       struct error *err)
{
	int code = option_add(filter, option, value, err);

	if (code)
		error_prefix(err, "--%s: ", option);
	return code;
}

bool filter_empty(const struct filter *filter)
{
	for (size_t i = 0; i < NUMBER_KINDS; i++)
		if (filter->numbers[i].count)
			return false;
	return !filter->groups.count && !filter->types.count &&
	       !filter->comms.count && !filter->expression_count &&
	       !filter->patterns.count &&
	       filter->span.since.kind == SPAN_OPEN &&
	       filter->span.until.kind == SPAN_OPEN;
}

void filter_order(const struct filter *filter, struct order_settings *order)
{
	if (filter->span.since.kind == SPAN_LAST)
		order->since_end = filter->span.since.ns;
	if (filter->span.until.kind == SPAN_LAST)
		order->until_end = filter->span.until.ns;
}

int filter_start(struct filter *filter, const struct stream *stream,
		 const struct output_settings *settings, struct error *err)
{
	filter->settings = (struct output_settings){
		.utc = settings->utc, .symbols = settings->symbols,
	};
	filter->stream = stream;
	filter->begun = false;
	return filter->patterns.count && !filter->text.data ?
	       text_open(&filter->text, -1) : 0;
}

/* ---- points ---- */

static bool number_holds(const struct filter *filter, enum number_kind kind,
			 uint64_t number)
{
	return !filter->numbers[kind].count ||
	       ranges_have(&filter->numbers[kind], number);
}

/* 0 or -ENOMEM. */
static int point_bind(struct filter *filter, struct filter_point *entry)
{
	size_t count = filter->expression_count;

	if (!count || !(entry->holds || entry->of_call))
		return 0;
	entry->bounds = calloc(count, sizeof(*entry->bounds));
	for (size_t i = 0; entry->bounds && i < count; i++) {
		entry->bounds[i] = entry->of_call ?
			expression_bind_call(filter->expressions[i],
					     entry->point, entry->exit) :
			expression_bind(filter->expressions[i], entry->point);
		if (!entry->bounds[i])
			return -ENOMEM;
	}
	filter->bound = true;
	return entry->bounds ? 0 : -ENOMEM;
}

/* NULL: no memory. */
static struct filter_point *point_find(struct filter *filter,
				       const struct event *event)
{
	struct filter_point *entry;
	size_t step = 0;

	while ((entry = key_map_each(&filter->points,
				     key_map_key(event->point), &step)))
		if (!entry->of_call)
			return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->point = event->point;
	entry->holds =
		number_holds(filter, NUMBER_MAJOR, event->record->major) &&
		number_holds(filter, NUMBER_MINOR, event->record->minor) &&
		name_filter_have_group(&filter->groups, event->point) &&
		name_filter_have_type(&filter->types, event->point);
	if (point_bind(filter, entry) ||
	    key_map_add(&filter->points, key_map_key(event->point), entry)) {
		filter_point_free(filter, entry);
		return NULL;
	}
	return entry;
}

/* The same for a call. */
static struct filter_point *filter_call_find(struct filter *filter,
					     const struct pair_call *call)
{
	uint64_t key = key_map_mix(key_map_key(call->entry.point),
				   key_map_key(call->exit.point));
	struct filter_point *entry;
	size_t step = 0;

	while ((entry = key_map_each(&filter->points, key, &step)))
		if (entry->of_call && entry->point == call->entry.point &&
		    entry->exit == call->exit.point)
			return entry;
	entry = malloc(sizeof(*entry));
	if (!entry)
		return NULL;
	*entry = (struct filter_point){
		.point = call->entry.point, .exit = call->exit.point,
		.of_call = true,
	};
	if (point_bind(filter, entry) ||
	    key_map_add(&filter->points, key, entry)) {
		filter_point_free(filter, entry);
		return NULL;
	}
	return entry;
}

/* ---- events ---- */

/* Decoded once for all expressions. 1: one holds; 0, or -ENOMEM. */
static int expressions_hold(const struct filter *filter,
			    const struct filter_point *point,
			    const struct event *event, struct scratch *scratch)
{
	bool decoded = false;

	for (size_t i = 0; i < filter->expression_count; i++) {
		const struct expression_bound *bound = point->bounds[i];

		if (!decoded && expression_wants_data(bound)) {
			if (output_decode(event, scratch, NULL))
				return -ENOMEM;
			decoded = true;
		}
		if (expression_holds(bound, event, scratch,
				     filter->settings.symbols))
			return 1;
	}
	return !filter->expression_count;
}

/* Search the DESC and the lines below the header line. 1, 0, or -ENOMEM. */
static int text_holds(struct filter *filter, const struct event *event,
		      struct scratch *scratch)
{
	const struct match_point *point = event->point;
	const struct output output = {
		.settings = &filter->settings, .stream = filter->stream,
	};
	struct text *text = &filter->text;

	if (!filter->patterns.count)
		return 1;
	text->used = 0;
	if (text_reserve(text, point->title_length))
		return -ENOMEM;
	memcpy(text->data, point->title, point->title_length);
	text->used = point->title_length;
	if (print_body(&output, event, text, scratch) || text_reserve(text, 1))
		return -ENOMEM;
	text->data[text->used] = '\0';
	return patterns_match(&filter->patterns, text->data, text->used);
}

/* 1, 0, or -ENOMEM; of_call: the expressions are none of its business. */
static int event_holds(struct filter *filter, const struct event *event,
		       bool of_call, struct scratch *scratch)
{
	const struct ras_record *record = event->record;
	const struct filter_point *point;
	int holds = 0;

	if (!filter->begun) {
		filter->times = filter->span;
		span_begin(&filter->times, filter->stream->first,
			   filter->settings.utc);
		filter->begun = true;
	}
	if (!number_holds(filter, NUMBER_PID, record->pid) ||
	    !number_holds(filter, NUMBER_TID, record->tid) ||
	    !number_holds(filter, NUMBER_CPU, event->cpu) ||
	    !number_holds(filter, NUMBER_EVENT, event->number) ||
	    !span_has(&filter->times, event) ||
	    !name_filter_have_comm(&filter->comms, event))
		return 0;
	point = point_find(filter, event);
	if (!point)
		return -ENOMEM;
	if (point->holds)
		holds = of_call ? 1 :
			expressions_hold(filter, point, event, scratch);
	if (holds == 1)
		holds = text_holds(filter, event, scratch);

	/* Only a TFF entry would show whether the event is wanted. */
	if (!holds && !event->point->formatted &&
	    (filter->groups.count || filter->types.count ||
	     filter->expression_count) &&
	    number_holds(filter, NUMBER_MAJOR, record->major) &&
	    number_holds(filter, NUMBER_MINOR, record->minor))
		filter->undecided++;
	return holds;
}

int filter_holds(struct filter *filter, const struct event *event,
		 struct scratch *scratch)
{
	return event_holds(filter, event, false, scratch);
}

int filter_holds_call(struct filter *filter, const struct pair_call *call)
{
	const struct event *sides[] = { &call->entry, &call->exit };
	const struct filter_point *point;
	bool decoded = false;
	int holds = 0;

	for (size_t i = 0; i < 2 && !holds; i++)
		if (sides[i]->point)
			holds = event_holds(filter, sides[i], true,
					    &filter->sides[i]);
	if (holds != 1 || !filter->expression_count)
		return holds;
	point = filter_call_find(filter, call);
	if (!point)
		return -ENOMEM;
	for (size_t i = 0; i < filter->expression_count; i++) {
		const struct expression_bound *bound = point->bounds[i];

		for (size_t k = 0; k < 2 && !decoded &&
		     expression_wants_data(bound); k++)
			if (sides[k]->point &&
			    output_decode(sides[k], &filter->sides[k], NULL))
				return -ENOMEM;
		decoded |= expression_wants_data(bound);
		if (expression_holds_call(bound, call, &filter->sides[0],
					  &filter->sides[1],
					  filter->settings.symbols))
			return 1;
	}
	return 0;
}

bool filter_is_of_calls(const struct filter *filter)
{
	for (size_t i = 0; i < filter->expression_count; i++)
		if (expression_is_of_calls(filter->expressions[i]))
			return true;
	return false;
}

bool filter_has_since(const struct filter *filter)
{
	return filter->span.since.kind != SPAN_OPEN;
}

bool filter_splits(const struct filter *filter)
{
	return filter->numbers[NUMBER_CPU].count ||
	       filter->numbers[NUMBER_EVENT].count ||
	       filter->expression_count || filter->patterns.count;
}

uint64_t filter_undecided(const struct filter *filter)
{
	return filter->undecided;
}

bool filter_done(const struct filter *filter, const struct event *event)
{
	const struct ranges *numbers = &filter->numbers[NUMBER_EVENT];

	/* the newest event must be met */
	if (filter->span.since.kind == SPAN_LAST ||
	    filter->span.until.kind == SPAN_LAST)
		return false;
	return span_passed(&filter->times, event) ||
	       (numbers->count &&
		event->number >= numbers->items[numbers->count - 1].last);
}

/* ---- the end ---- */

static int name_filter_report(const struct name_filter *names, const char *kind,
			      size_t i, struct error *note)
{
	if (!name_filter_unknown(names, i))
		return 0;
	error_set(note, 0, "no format file of the events has a %s '%s'",
		  kind, names->items[i].text);
	return 2;
}

int filter_report(const struct filter *filter, size_t i, struct error *note)
{
	const struct name_filter *groups = &filter->groups,
			       *types = &filter->types;

	if (!filter->points.count)
		return -1;	/* there were no events */
	if (i < groups->count)
		return name_filter_report(groups, "group", i, note);
	i -= groups->count;
	if (i < types->count)
		return name_filter_report(types, "type", i, note);
	if (!filter->bound)
		return -1;
	i -= types->count;
	for (size_t k = 0; k < filter->expression_count; k++) {
		const struct expression *e = filter->expressions[k];
		int code;

		for (size_t n = 0; (code = expression_report(e, n, note)) >= 0;
		     n++)
			if (!i--)
				return code;
	}
	return -1;
}
