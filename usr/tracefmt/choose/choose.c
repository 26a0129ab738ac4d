// SPDX-License-Identifier: GPL-2.0
#include "choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/key_map.h"
#include "tracefmt/output/print.h"
#include "expression.h"
#include "names.h"
#include "pattern.h"
#include "ranges.h"
#include "span.h"

enum number_kind {
	NUMBER_MAJOR, NUMBER_MINOR,	/* of a point */
	NUMBER_PID, NUMBER_TID, NUMBER_CPU, NUMBER_EVENT,
	NUMBER_KINDS,
};

/* What holds for all records of a point. */
struct point_choice {
	const struct match_point *point;
	bool holds;
	struct expression_bound **bounds;	/* one for each expression */
};

struct choose {
	struct ranges numbers[NUMBER_KINDS];
	struct names groups, types, comms;
	struct span span;
	struct expression **expressions;
	size_t expression_count;
	struct patterns patterns;
	struct output_settings settings;	/* of the searched text */
	const struct stream *stream;
	struct text text;
	bool begun, bound;
	struct key_map points;		/* struct point_choice, by point */
	uint64_t undecided;
};

struct choose *choose_open(void)
{
	return calloc(1, sizeof(struct choose));
}

static void point_free(struct choose *choose, struct point_choice *point)
{
	for (size_t i = 0; point->bounds && i < choose->expression_count; i++)
		expression_unbind(point->bounds[i]);
	free(point->bounds);
	free(point);
}

void choose_close(struct choose *choose)
{
	struct point_choice *point;
	size_t at = 0;

	if (!choose)
		return;
	for (size_t i = 0; i < NUMBER_KINDS; i++)
		ranges_free(&choose->numbers[i]);
	names_free(&choose->groups);
	names_free(&choose->types);
	names_free(&choose->comms);
	while ((point = key_map_next(&choose->points, &at)))
		point_free(choose, point);
	for (size_t i = 0; i < choose->expression_count; i++)
		expression_free(choose->expressions[i]);
	free(choose->expressions);
	patterns_free(&choose->patterns);
	free(choose->text.data);
	key_map_free(&choose->points);
	free(choose);
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

static int expression_add(struct choose *choose, const char *value,
			  struct error *err)
{
	struct expression **more = reallocarray(choose->expressions,
						choose->expression_count + 1,
						sizeof(*more));
	int code;

	if (!more)
		return error_no_memory(err);
	choose->expressions = more;
	code = expression_parse(&more[choose->expression_count], value, err);
	choose->expression_count += !code;
	return code;
}

static int option_add(struct choose *choose, const char *option,
		      const char *value, struct error *err)
{
	for (size_t i = 0; i < NUMBER_KINDS; i++)
		if (!strcmp(option, number_options[i].name))
			return ranges_add(&choose->numbers[i], value,
					  number_options[i].most, err);
	if (!strcmp(option, "group"))
		return names_add_list(&choose->groups, value, err);
	if (!strcmp(option, "type"))
		return names_add_list(&choose->types, value, err);
	if (!strcmp(option, "comm"))
		return names_add(&choose->comms, value, err);
	if (!strcmp(option, "since"))
		return bound_add(&choose->span.since, value, err);
	if (!strcmp(option, "until"))
		return bound_add(&choose->span.until, value, err);
	if (!strcmp(option, "field"))
		return expression_add(choose, value, err);
	if (!strcmp(option, "text"))
		return patterns_add(&choose->patterns, value, err);
	return error_set(err, -EINVAL, "there is no such option");
}

int choose_add(struct choose *choose, const char *option, const char *value,
	       struct error *err)
{
	int code = option_add(choose, option, value, err);

	if (code)
		error_prefix(err, "--%s: ", option);
	return code;
}

bool choose_empty(const struct choose *choose)
{
	for (size_t i = 0; i < NUMBER_KINDS; i++)
		if (choose->numbers[i].count)
			return false;
	return !choose->groups.count && !choose->types.count &&
	       !choose->comms.count && !choose->expression_count &&
	       !choose->patterns.count &&
	       choose->span.since.kind == SPAN_OPEN &&
	       choose->span.until.kind == SPAN_OPEN;
}

void choose_order(const struct choose *choose, struct order_settings *order)
{
	if (choose->span.since.kind == SPAN_LAST)
		order->since_end = choose->span.since.ns;
	if (choose->span.until.kind == SPAN_LAST)
		order->until_end = choose->span.until.ns;
}

int choose_start(struct choose *choose, const struct stream *stream,
		 const struct output_settings *settings, struct error *err)
{
	choose->settings = (struct output_settings){
		.utc = settings->utc, .symbols = settings->symbols,
	};
	choose->stream = stream;
	return choose->patterns.count ? text_open(&choose->text, -1) : 0;
}

/* ---- points ---- */

static bool number_holds(const struct choose *choose, enum number_kind kind,
			 uint64_t number)
{
	return !choose->numbers[kind].count ||
	       ranges_have(&choose->numbers[kind], number);
}

static bool point_holds(struct choose *choose, const struct event *event)
{
	return number_holds(choose, NUMBER_MAJOR, event->record->major) &&
	       number_holds(choose, NUMBER_MINOR, event->record->minor) &&
	       names_have_group(&choose->groups, event->point) &&
	       names_have_type(&choose->types, event->point);
}

/* 0 or -ENOMEM. */
static int point_bind(struct choose *choose, struct point_choice *entry)
{
	size_t count = choose->expression_count;

	if (!count || !entry->holds)
		return 0;
	entry->bounds = calloc(count, sizeof(*entry->bounds));
	for (size_t i = 0; entry->bounds && i < count; i++) {
		entry->bounds[i] = expression_bind(choose->expressions[i],
						   entry->point);
		if (!entry->bounds[i])
			return -ENOMEM;
	}
	choose->bound = true;
	return entry->bounds ? 0 : -ENOMEM;
}

/* NULL: no memory. */
static struct point_choice *point_find(struct choose *choose,
				       const struct event *event)
{
	struct point_choice *entry =
		key_map_find(&choose->points, key_map_key(event->point));

	if (entry)
		return entry;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->point = event->point;
	entry->holds = point_holds(choose, event);
	if (point_bind(choose, entry) ||
	    key_map_add(&choose->points, key_map_key(event->point), entry)) {
		point_free(choose, entry);
		return NULL;
	}
	return entry;
}

/* ---- events ---- */

/* Decoded once for all expressions. 1: one holds; 0, or -ENOMEM. */
static int expressions_hold(const struct choose *choose,
			    const struct point_choice *point,
			    const struct event *event, struct scratch *scratch)
{
	bool decoded = false;

	for (size_t i = 0; i < choose->expression_count; i++) {
		const struct expression_bound *bound = point->bounds[i];

		if (!decoded && expression_wants_data(bound)) {
			if (output_decode(event, scratch, NULL))
				return -ENOMEM;
			decoded = true;
		}
		if (expression_holds(bound, event, scratch,
				     choose->settings.symbols))
			return 1;
	}
	return !choose->expression_count;
}

/* The DESC and the lines below the header line, likewise. */
static int text_holds(struct choose *choose, const struct event *event,
		      struct scratch *scratch)
{
	const struct match_point *point = event->point;
	const struct output output = {
		.settings = &choose->settings, .stream = choose->stream,
	};
	struct text *text = &choose->text;

	if (!choose->patterns.count)
		return 1;
	text->used = 0;
	if (text_reserve(text, point->title_length))
		return -ENOMEM;
	memcpy(text->data, point->title, point->title_length);
	text->used = point->title_length;
	if (print_body(&output, event, text, scratch) || text_reserve(text, 1))
		return -ENOMEM;
	text->data[text->used] = '\0';
	return patterns_match(&choose->patterns, text->data, text->used);
}

static bool header_holds(const struct choose *choose,
			 const struct event *event)
{
	const struct ras_record *record = event->record;

	return number_holds(choose, NUMBER_PID, record->pid) &&
	       number_holds(choose, NUMBER_TID, record->tid) &&
	       number_holds(choose, NUMBER_CPU, event->cpu) &&
	       number_holds(choose, NUMBER_EVENT, event->number) &&
	       span_has(&choose->span, event) &&
	       names_have_comm(&choose->comms, event);
}

static int data_holds(struct choose *choose, const struct point_choice *point,
		      const struct event *event, struct scratch *scratch)
{
	int holds = expressions_hold(choose, point, event, scratch);

	return holds == 1 ? text_holds(choose, event, scratch) : holds;
}

/* What was asked for only a TFF entry would tell. */
static bool is_undecided(const struct choose *choose,
			 const struct event *event)
{
	return !event->point->formatted &&
	       (choose->groups.count || choose->types.count ||
		choose->expression_count) &&
	       number_holds(choose, NUMBER_MAJOR, event->record->major) &&
	       number_holds(choose, NUMBER_MINOR, event->record->minor);
}

int choose_holds(struct choose *choose, const struct event *event,
		 struct scratch *scratch)
{
	const struct point_choice *point;
	int holds;

	if (!choose->begun) {
		span_begin(&choose->span, event->time, choose->settings.utc);
		choose->begun = true;
	}
	if (!header_holds(choose, event))
		return 0;
	point = point_find(choose, event);
	if (!point)
		return -ENOMEM;
	holds = point->holds ? data_holds(choose, point, event, scratch) : 0;
	if (!holds)
		choose->undecided += is_undecided(choose, event);
	return holds;
}

uint64_t choose_undecided(const struct choose *choose)
{
	return choose->undecided;
}

bool choose_done(const struct choose *choose, const struct event *event)
{
	const struct ranges *numbers = &choose->numbers[NUMBER_EVENT];

	/* the newest event must be met */
	if (choose->span.since.kind == SPAN_LAST ||
	    choose->span.until.kind == SPAN_LAST)
		return false;
	return span_passed(&choose->span, event) ||
	       (numbers->count &&
		event->number >= numbers->items[numbers->count - 1].last);
}

/* ---- the end ---- */

static int names_tell(const struct names *names, const char *kind, size_t i,
		      struct error *note)
{
	if (!names_unknown(names, i))
		return 0;
	error_set(note, 0, "no format file of the events has a %s '%s'",
		  kind, names->items[i].text);
	return 2;
}

static int expressions_tell(const struct choose *choose, size_t i,
			    struct error *note)
{
	for (size_t k = 0; k < choose->expression_count; k++) {
		const struct expression *e = choose->expressions[k];
		int told;

		for (size_t n = 0; (told = expression_tell(e, n, note)) >= 0;
		     n++)
			if (!i--)
				return told;
	}
	return -1;
}

int choose_tell(const struct choose *choose, size_t i, struct error *note)
{
	const struct names *groups = &choose->groups, *types = &choose->types;

	if (!choose->points.count)
		return -1;
	if (i < groups->count)
		return names_tell(groups, "group", i, note);
	i -= groups->count;
	if (i < types->count)
		return names_tell(types, "type", i, note);
	return choose->bound ? expressions_tell(choose, i - types->count,
						note) : -1;
}
