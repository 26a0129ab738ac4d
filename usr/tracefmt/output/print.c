// SPDX-License-Identifier: GPL-2.0
#include "print.h"

#include <errno.h>
#include <string.h>
#include "lib/read/read.h"

/*
 * The header is what is printed above an event's data: the date where it is another one, the
 * title, and
 *
 *	Event [10]  Major [5/0x0005]  Minor [307/0x0133]  PID [38/0x0026]
 *	  TID [38/0x0026]  Length [18]  Time [18:07:32.052123456]
 *	  Process [app]  Flags [fault, cut]
 *
 * on one line. What the events of a thread at a point have in common is kept in
 * scratch->more.
 */

/* Characters of it at most; the title comes on top. */
#define HEADER_MAX	1024

#define LINES		16	/* that are kept, a power of two */
#define FRONT_MAX	176	/* "]  Major [5/0x0005] ... Time [" */
#define BACK_MAX	96	/* "]  Process [app]" and the line end */

/* SGR of a terminal */
#define BOLD		"\033[1m"
#define GREEN		"\033[32m"
#define YELLOW		"\033[33m"
#define RED		"\033[31m"
#define PLAIN		"\033[0m"

/* What the header lines of a thread's events at a point have in common. */
struct header_line {
	const struct match_point *point;	/* NULL: not in use */
	uint32_t pid, tid, length;
	uint8_t front_length, back_length;
	bool named;
	char name[16];		/* of the process, if it is known */
	char front[FRONT_MAX + TEXT_SLACK];
	char back[BACK_MAX + TEXT_SLACK];
};

/* In scratch->more, which is zeroed at first. */
struct header_kept {
	struct header_line lines[LINES];
	uint64_t number;	/* of an event, without its last four digits */
	uint8_t number_length;
	char number_text[24 + TEXT_SLACK];
};

_Static_assert(sizeof(struct header_kept) <=
		       sizeof(((struct scratch *)0)->more),
	       "room for what is kept");

/* Code that rarely runs stays out of header_put(), which has few registers. */
#define RARELY	static __attribute__((noinline))

/* "Date [2026-02-03]" where the day differs from the last event's. */
RARELY char *day_put(const struct clock *clock, const struct event *event,
		     char *p)
{
	char date[32];

	if (clock->relative ||
	    (event->before != EVENT_FIRST &&
	     clock_day(clock, event->before) == clock_day(clock, event->time)))
		return p;
	clock_date(clock, event->time, date, sizeof(date));
	p = TEXT_PUT(p, "Date [");
	p = text_put(p, date, 10);
	return TEXT_PUT(p, "]\n\n");
}

/* ---- what is kept ---- */

static char *header_pair(char *p, uint32_t value)
{
	int digits = 4;

	while (digits < 8 && value >> (4 * digits))
		digits++;
	p = text_put_decimal(p, value);
	p = TEXT_PUT(p, "/0x");
	return text_put_hex(p, value, digits);
}

static void front_set(struct header_line *line, const struct ras_record *record)
{
	char *p = line->front;

	p = TEXT_PUT(p, "]  Major [");
	p = header_pair(p, record->major);
	p = TEXT_PUT(p, "]  Minor [");
	p = header_pair(p, record->minor);
	p = TEXT_PUT(p, "]  PID [");
	p = header_pair(p, record->pid);
	p = TEXT_PUT(p, "]  TID [");
	p = header_pair(p, record->tid);
	p = TEXT_PUT(p, "]  Length [");
	p = text_put_decimal(p, line->length);
	p = TEXT_PUT(p, "]  Time [");
	line->front_length = p - line->front;
}

RARELY void line_set(struct header_line *line, const struct event *event,
		     size_t length, const char *name, bool colour)
{
	char *p;

	line->point = event->point;
	line->pid = event->record->pid;
	line->tid = event->record->tid;
	line->length = length;
	line->named = name;
	if (name)
		memcpy(line->name, name, sizeof(line->name));
	front_set(line, event->record);

	/* The name has 16 bytes, with a zero unless it needs them all. */
	p = line->back;
	if (line->named) {
		p = TEXT_PUT(p, "]  Process [");
		if (colour)
			p = TEXT_PUT(p, GREEN);
		p = text_put_safe(p, line->name,
				  strnlen(line->name, sizeof(line->name)));
		if (colour)
			p = TEXT_PUT(p, PLAIN);
	}
	p = TEXT_PUT(p, "]\n");
	line->back_length = p - line->back;
}

static inline const struct header_line *header_line_find(
	struct header_kept *kept, const struct event *event, size_t length,
	bool colour)
{
	size_t at = event->record->tid + ((uintptr_t)event->point >> 6);
	struct header_line *line = &kept->lines[at & (LINES - 1)];
	const char *name = event_comm(event);

	if (!(line->point == event->point && line->tid == event->record->tid &&
	      line->pid == event->record->pid && line->length == length &&
	      (name ? line->named &&
			       !memcmp(line->name, name, sizeof(line->name)) :
		      !line->named)))
		line_set(line, event, length, name, colour);
	return line;
}

/* ---- the lines ---- */

/* By bit, EVENT_*; NULL: it is shown in another way. */
static const char *const flag_names[EVENT_FLAGS] = {
	"trigger: it stops the recording", "muted", "fault", "cut", "paged in",
	"as of last context switch", "tail call: no return value yet",
	"forced format", "format doesn't fit", "from a damaged slice", NULL,
	"file was written to",
};

/* "  Flags [fault, cut]" and a line end */
RARELY char *header_flags(unsigned int flags, bool colour, char *p)
{
	const char *comma = "";

	p = TEXT_PUT(p, "  Flags [");
	if (colour)
		p = TEXT_PUT(p, YELLOW);
	for (size_t i = 0; i < EVENT_FLAGS; i++) {
		if (!(flags & 1u << i) || !flag_names[i])
			continue;
		p = text_put(p, comma, strlen(comma));
		p = text_put(p, flag_names[i], strlen(flag_names[i]));
		comma = ", ";
	}
	if (colour)
		p = TEXT_PUT(p, PLAIN);
	return TEXT_PUT(p, "]\n");
}

RARELY void header_number_set(struct header_kept *kept, uint64_t front)
{
	kept->number = front;
	kept->number_length = text_put_decimal(kept->number_text, front) -
			      kept->number_text;
}

/* Numbers ascend: the digits in front last. */
static inline char *header_number(struct header_kept *kept, uint64_t number,
				  char *p)
{
	uint64_t front = number / 10000;

	if (!front)
		return text_put_decimal(p, number);
	if (front != kept->number)
		header_number_set(kept, front);
	p = text_put_wide(p, kept->number_text, kept->number_length);
	return text_put_four(p, number - 10000 * front);
}

/* A line end is part of the title. */
RARELY char *title_put_colour(const struct match_point *point, char *p)
{
	p = point->formatted ? TEXT_PUT(p, BOLD) : TEXT_PUT(p, RED);
	p = text_put(p, point->title, point->title_length - 1);
	return TEXT_PUT(p, PLAIN "\n");
}

/* length: of the event's data; flags: EVENT_*. At p, returns the end. */
static char *header_put(const struct output_settings *settings,
			const struct event *event, size_t length,
			unsigned int flags, struct scratch *scratch, char *p)
{
	const struct match_point *point = event->point;
	struct header_kept *kept = (struct header_kept *)scratch->more;
	const struct header_line *line = header_line_find(kept, event, length,
							  settings->colour);

	if (!clock_is_kept(&scratch->clock, event->before) ||
	    !clock_is_kept(&scratch->clock, event->time))
		p = day_put(&scratch->clock, event, p);
	p = settings->colour ? title_put_colour(point, p) :
	    text_put_wide(p, point->title, point->title_length);
	p = TEXT_PUT(p, "Event [");
	p = header_number(kept, event->number, p);
	p = text_put_wide(p, line->front, line->front_length);
	p = clock_put(&scratch->clock, event->time, p);
	p = text_put_wide(p, line->back, line->back_length);
	if (flags & ~EVENT_UNKNOWN)
		p = header_flags(flags, settings->colour, p - 1);
	return p;
}

#define DUMP_ROW_MAX	(TEXT_ROW_MAX + 10)
#define RANGE_MAX	64	/* of the text around left over bytes */

/* "Data [+0000  04 00 5A ...  ..Z....]" */
static char *dump_put(char *p, const uint8_t *data, size_t n)
{
	for (size_t row = 0; row < n; row += TEXT_ROW) {
		p = TEXT_PUT(p, "Data [");
		p = text_put_row(p, data, n, row);
		p = TEXT_PUT(p, "]\n");
	}
	return p;
}

/* Bytes that no control has taken, a line for each stretch. */
static char *unseen_put(char *p, const uint8_t *data, const uint8_t *seen,
			size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		if (seen[i])
			continue;
		while (end < n && !seen[end])
			end++;
		p = TEXT_PUT(p, "<");
		p = text_put_decimal(p, end - i);
		p = TEXT_PUT(p, " bytes at +");
		p = text_put_hex(p, i, 4);
		p = TEXT_PUT(p, " not formatted:");
		for (; i < end; i++) {
			*p++ = ' ';
			p = text_put_hex(p, data[i], 2);
		}
		p = TEXT_PUT(p, ">\n");
	}
	return p;
}

/* ---- events ---- */

/* The text ends with a line end, or there is none. */
static char *line_end_put(char *p, const char *start)
{
	if (p > start && p[-1] != '\n')
		*p++ = '\n';
	return p;
}

/* What is printed of an event. */
struct printed {
	const struct event *event;
	const struct output_settings *settings;
	struct render_input input;
	struct context context;
	size_t length;		/* of the data */
};

static struct printed printed_make(const struct output *output,
				   const struct event *event)
{
	struct context context = context_of(event->record,
					    event->point->context);

	return (struct printed){
		.event = event,
		.settings = output->settings,
		.input = output_render_input(event, output->settings->symbols),
		.context = context,
		.length = event->record->length - RAS_RECORD_HEADER -
			  context.bytes,
	};
}

static int printed_decode(const struct printed *of, struct scratch *scratch)
{
	bool verbose = of->settings->verbose;

	if (verbose)
		memset(scratch->seen, 0, of->length);
	return output_decode(of->event, scratch,
			     verbose ? scratch->seen : NULL);
}

/* Of an event whose pieces are in scratch. */
static char *data_put(const struct printed *of, struct scratch *scratch,
		      char *p)
{
	const struct match_point *point = of->event->point;
	const uint8_t *data = (const uint8_t *)(of->input.record + 1) +
			      of->context.bytes;
	bool dump = of->settings->hex;

	if (of->context.misfit)
		return dump_put(p, data, of->length);
	if (of->input.record->flags & RAS_RECORD_MUTED) {
		/* The record represents more hits and has no data. */
		p = TEXT_PUT(p, "<more hits in this second are not recorded");
		if (point->session && point->session->entry->max_rate) {
			p = TEXT_PUT(p, ": above ");
			p = text_put_decimal(p,
					     point->session->entry->max_rate);
			p = TEXT_PUT(p, " in a second");
		}
		return TEXT_PUT(p, ">\n");
	}
	p = line_end_put(render_pieces(&of->input, scratch->pieces,
				       scratch->result.count, p), p);
	if (!point->formatted || !point->format.takes_data ||
	    scratch->result.misfit)
		dump = true;
	else if (of->settings->verbose)
		p = unseen_put(p, data, scratch->seen, of->length);
	return dump ? dump_put(p, data, of->length) : p;
}

/* Without bytes in rows, and the text about those left over. */
static inline size_t plain_room(const struct match_point *point,
				const struct context *context, size_t length)
{
	return point->title_length + HEADER_MAX +
	       (point->context ? context_room(context) : 0) +
	       render_room(&point->format, length);
}

static size_t printed_room(const struct printed *of)
{
	return plain_room(of->event->point, &of->context, of->length) +
	       (of->length / TEXT_ROW + 1) * DUMP_ROW_MAX +
	       (of->length + 1) * RANGE_MAX;
}

/* Nothing of what is printed depends on how the data was read. */
static bool event_is_plain(const struct output *output,
			   const struct event *event)
{
	const struct match_point *point = event->point;

	return point->format.plain && !point->forced &&
	       !event->record->flags && !event->damaged &&
	       !event_is_changed(event) &&
	       !output->settings->hex && !output->settings->verbose;
}

/* The short way (plain_put()); false: it isn't one for this event. */
static bool plain_event_put(const struct output *output,
			    const struct event *event, struct text *text,
			    struct scratch *scratch)
{
	const struct match_point *point = event->point;
	const struct ras_record *record = event->record;
	struct context context = context_of(record, point->context);
	size_t length = record->length - RAS_RECORD_HEADER - context.bytes;
	char *p, *start;

	if (context.misfit ||
	    text_reserve(text, plain_room(point, &context, length)))
		return false;
	start = header_put(output->settings, event, length, 0, scratch,
			   text->data + text->used);
	if (point->context)
		start = context_put(&context, output_render_input(event,
				    output->settings->symbols).owner, start);
	p = plain_put(&point->format, record, context.bytes, start);
	if (!p)
		return false;
	p = line_end_put(p, start);
	*p++ = '\n';
	text->used = p - text->data;
	return true;
}

int print_event(struct output *output, const struct event *event,
		struct text *text, struct scratch *scratch)
{
	struct printed of;
	unsigned int flags;
	char *p;

	if (event_is_plain(output, event) &&
	    plain_event_put(output, event, text, scratch))
		return 0;
	of = printed_make(output, event);

	/* Any event. */
	if (text_reserve(text, printed_room(&of)) ||
	    printed_decode(&of, scratch))
		return -ENOMEM;
	flags = event_flags(of.event, scratch->result.status,
			    scratch->result.misfit);
	p = text->data + text->used;
	p = header_put(of.settings, of.event, of.length, flags, scratch, p);
	p = context_put(&of.context, of.input.owner, p);
	p = data_put(&of, scratch, p);
	*p++ = '\n';
	text->used = p - text->data;
	return 0;
}

int print_body(const struct output *output, const struct event *event,
	       struct text *text, struct scratch *scratch)
{
	struct printed of = printed_make(output, event);
	char *p;

	if (text_reserve(text, printed_room(&of)) ||
	    printed_decode(&of, scratch))
		return -ENOMEM;
	p = context_put(&of.context, of.input.owner, text->data + text->used);
	p = data_put(&of, scratch, p);
	text->used = p - text->data;
	return 0;
}

const struct output_ops output_text = {
	.name = "text",
	.event = print_event,
};
