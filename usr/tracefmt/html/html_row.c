// SPDX-License-Identifier: GPL-2.0
#include "html.h"

#include <errno.h>
#include "lib/read/read.h"
#include "html_json.h"
#include "tracefmt/json/json_field.h"
#include "tracefmt/output/print.h"

#define ROW_NUMBERS	16	/* of a row, with a comma each */

/* What output_text says of the event, without its title and header line. */
static int body_make(struct output *output, const struct event *event,
		     struct scratch *scratch, const char **body, size_t *length)
{
	struct html *html = output->own;
	struct output as_text = *output;
	struct event alone = *event;
	const char *end;
	int code;

	as_text.settings = &html->settings;
	alone.before = alone.time;	/* no date in front */
	html->body.used = 0;
	code = print_event(&as_text, &alone, &html->body, scratch);
	if (code)
		return code;
	end = html->body.data + html->body.used;
	*body = html->body.data + event->point->title_length;
	*body = memchr(*body, '\n', end - *body);
	*body = *body ? *body + 1 : end;
	while (end > *body && end[-1] == '\n')
		end--;
	*length = end - *body;
	return 0;
}

static char *row_number_put(char *p, uint64_t value)
{
	*p++ = ',';
	return text_put_decimal(p, value);
}

static char *identity_put(const struct output *output,
			  const struct event *event, char *p)
{
	const char *comm = event_thread_comm(event);

	*p++ = '[';
	p = text_put_decimal(p, event->number);
	*p++ = ',';
	p = number_put_signed(p, (uint64_t)event->time -
			      (uint64_t)output->start, 64);
	p = row_number_put(p, event->trace->index);
	p = row_number_put(p, event->cpu);
	p = row_number_put(p, event->record->pid);
	p = row_number_put(p, event->record->tid);
	*p++ = ',';
	return html_put_string(p, comm ? comm : "",
			       comm ? strnlen(comm, 16) : 0, false);
}

static char *row_pair_put(const struct pair_seen *seen, char *p)
{
	bool matched = seen->role == PAIR_POST_MATCHED;

	p = row_number_put(p, seen->role);
	p = row_number_put(p, seen->depth);
	*p++ = ',';
	p = number_put_signed(p, matched ? seen->latency : 0, 64);
	return row_number_put(p, matched ? seen->call.number : 0);
}

/* All values of the event, an array, in html->values. */
static int values_make(const struct output *output, const struct event *event,
		       struct scratch *scratch)
{
	struct html *html = output->own;
	struct value_budget budget = VALUE_BUDGET;
	struct json_field of;
	size_t known = 0;
	uint8_t note;
	int code = output_decode(event, scratch, NULL);

	if (code)
		return code;
	of = json_field_begin(output, event, scratch, &budget);
	html->values.used = 0;
	TEXT_ADD(&html->values, "[");
	for (; json_field_next(&of); known++) {
		for (; known < of.piece->step->field; known++)
			TEXT_ADD(&html->values, "null,");
		json_add_field(&of, &html->values, &note);
		TEXT_ADD(&html->values, ",");
	}
	/* the last comma */
	html->values.used -= known > 0;
	TEXT_ADD(&html->values, "]");
	return -html->values.error;
}

int html_row_add(struct output *output, const struct event *event,
		 const struct pair_seen *seen, struct scratch *scratch)
{
	struct html *html = output->own;
	int64_t point = html_points_number(&html->points, event->point);
	struct event_data data = event_data(event);
	const char *body;
	size_t length;
	int code;
	char *p;

	if (point < 0)
		return point;
	code = body_make(output, event, scratch, &body, &length);
	if (!code)
		code = values_make(output, event, scratch);
	if (!code)
		code = html_store_row(&html->store, HTML_STRING_MAX(length) +
				      HTML_STRING_MAX(html->values.used) +
				      HTML_STRING_MAX(16) +
				      ROW_NUMBERS * NUMBER_MAX, &p);
	if (code)
		return code;
	p = identity_put(output, event, p);
	p = row_number_put(p, point);
	p = row_number_put(p, event_flags(event, scratch->result.status,
					  scratch->result.misfit));
	p = row_number_put(p, data.length);
	p = row_pair_put(seen, p);
	*p++ = ',';
	p = html_put_string(p, body, length, true);
	*p++ = ',';
	/* as a string: it is parsed when it is looked at, and its numbers may
	 * be larger than those of a script */
	p = html_put_string(p, html->values.data, html->values.used, false);
	*p++ = ']';
	return html_store_add(&html->store, p);
}
