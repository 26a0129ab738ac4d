// SPDX-License-Identifier: GPL-2.0
#include "header.h"

#include <string.h>

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

char *header_put(const struct output_settings *settings,
		 const struct event *event, size_t length, unsigned int flags,
		 struct scratch *scratch, char *p)
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
