// SPDX-License-Identifier: GPL-2.0
#include "print.h"

#include <errno.h>
#include <string.h>
#include "lib/read/read.h"
#include "header.h"

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

/* The short way (format/plain.h); false: it isn't one for this event. */
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
