// SPDX-License-Identifier: GPL-2.0
/*
 * --format=html: one page (page/) with everything in it: the rows of the newest
 * events, the tracepoints, how many events there were over time, and the figures.
 * It is written at the end; until then memory stays the same but for the
 * tracepoints.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include "lib/array.h"
#include "lib/json.h"
#include "lib/key_map.h"
#include "tracefmt/json/json_field.h"
#include "tracefmt/output/print.h"
#include "tracefmt/output/summary.h"
#include "tracefmt/pair/pairing.h"
#include "tiles.h"

/* ---- what doesn't depend on the trace: the files of page/ ---- */

enum html_part {
	HTML_HEAD,		/* up to the script's nonce */
	HTML_STYLE,
	HTML_BODY,
	HTML_SCRIPT,		/* this and the others, up to HTML_PARTS */
	HTML_PARTS = HTML_SCRIPT + 11,
};

#define EMBED(name, file)						\
	asm(".pushsection .rodata\n"					\
	    ".global html_" #name ", html_" #name "_end\n"		\
	    "html_" #name ":\n"						\
	    ".incbin \"usr/" file "\"\n"				\
	    "html_" #name "_end:\n"					\
	    ".popsection\n");						\
	extern const char html_##name[], html_##name##_end[]

EMBED(head, "tracefmt/html/page/head.html");
EMBED(style, "tracefmt/html/page/page.css");
EMBED(body, "tracefmt/html/page/body.html");
EMBED(names, "lib/page/names.js");
EMBED(tiles, "tracefmt/html/page/tiles.js");
EMBED(data, "tracefmt/html/page/data.js");
EMBED(points, "tracefmt/html/page/points.js");
EMBED(expression, "tracefmt/html/page/expression.js");
EMBED(filter, "tracefmt/html/page/filter.js");
EMBED(timeline, "tracefmt/html/page/timeline.js");
EMBED(table, "tracefmt/html/page/table.js");
EMBED(latency, "tracefmt/html/page/latency.js");
EMBED(figures, "tracefmt/html/page/figures.js");
EMBED(page, "tracefmt/html/page/page.js");

#define PART(name)	{ html_##name, html_##name##_end }

static const struct { const char *begin, *end; } html_pages[HTML_PARTS] = {
	[HTML_HEAD] = PART(head), [HTML_STYLE] = PART(style),
	[HTML_BODY] = PART(body),
	[HTML_SCRIPT] = PART(names), PART(tiles), PART(data), PART(points),
	PART(expression), PART(filter), PART(timeline), PART(table),
	PART(latency), PART(figures), PART(page),
};

/* ---- strings ---- */

#define HTML_STRING_MAX(n)	(6 * (n) + 2)

/* A string of n bytes from anywhere as JSON without "<", made safe as in
 * text.h (layout: its line ends and tabs are kept) at p, which has
 * HTML_STRING_MAX(n) bytes; returns the end. The safe text is at the end of the
 * room, and becomes JSON from there: writing never overtakes reading. */
static char *html_put_string(char *p, const void *bytes, size_t n, bool layout)
{
	char *end = p + HTML_STRING_MAX(n), *safe = end - 4 * n;
	size_t length = safe_text_put(safe, bytes, n, layout) - safe;

	return json_put_html(p, memmove(end - length, safe, length), length);
}

static void html_string_part(struct json *json, const char *key,
			     const char *string, size_t n)
{
	struct text *text = json->text;

	json_key(json, key);
	if (!text_reserve(text, HTML_STRING_MAX(n)))
		text->used = html_put_string(text->data + text->used, string, n,
					     true) - text->data;
}

static void html_string(struct json *json, const char *key, const char *string)
{
	html_string_part(json, key, string, strlen(string));
}

/* ---- how many events there were over time ---- */

#define DENSITY_COUNTS	1024

/* Of any span: when it gets longer than the counts reach, two of them become
 * one. */
struct html_density {
	uint64_t width;		/* ns of each; a power of two, 0: none yet */
	uint64_t counts[DENSITY_COUNTS];
};

static void density_widen(struct html_density *density)
{
	uint64_t *counts = density->counts;

	for (unsigned int i = 0; i < DENSITY_COUNTS / 2; i++)
		counts[i] = counts[2 * i] + counts[2 * i + 1];
	memset(counts + DENSITY_COUNTS / 2, 0,
	       DENSITY_COUNTS / 2 * sizeof(*counts));
	density->width *= 2;
}

/* An event so many ns after the first one; one before it is added to the first
 * count. */
static void html_density_add(struct html_density *density, int64_t time)
{
	uint64_t at = time < 0 ? 0 : time;

	if (!density->width)
		density->width = 1;
	while (at / density->width >= DENSITY_COUNTS)
		density_widen(density);
	density->counts[at / density->width]++;
}

/* ---- the tracepoints that events are of ---- */

struct html_points {
	const struct match_point **points;	/* by number */
	size_t count, room;
	struct key_map numbers;	/* number + 1, by point */
	size_t last;		/* the number found last */
};

/* Its number, from 0, as they come; -ENOMEM. */
static int64_t html_points_number(struct html_points *points,
				  const struct match_point *point)
{
	size_t number;

	if (points->last < points->count &&
	    points->points[points->last] == point)
		return points->last;
	number = key_map_number(&points->numbers, key_map_key(point));
	if (!number) {
		number = points->count + 1;
		if (!array_grow(&points->points, points->count, &points->room,
				sizeof(*points->points)) ||
		    key_map_add_number(&points->numbers, key_map_key(point),
				       number))
			return -ENOMEM;
		points->points[points->count++] = point;
	}
	points->last = number - 1;
	return points->last;
}

/* An array of the strings at offset `member` of the fields. */
static void html_points_names(struct json *json, const char *key,
			      const struct field_set *set, size_t member)
{
	json_open(json, key, '[');
	for (size_t i = 0; i < set->count; i++) {
		const char *field = (const char *)&set->fields[i];

		html_string(json, NULL, *(char *const *)(field + member));
	}
	json_close(json, ']');
}

static void html_points_put(struct json *json, const struct html_points *points)
{
	const struct match_point *point;
	char name[PAIR_NAME_MAX];
	const char *group;

	json_open(json, "points", '[');
	for (size_t i = 0; i < points->count; i++) {
		point = points->points[i];
		json_open(json, NULL, '{');
		json_number(json, "major", pair_major(point));
		json_number(json, "minor", pair_minor(point));
		html_string(json, "name", pair_name(point, name));
		html_string_part(json, "desc", point->title,
				 point->title_length - 1);
		if (point->formatted) {
			group = match_point_group(point);
			html_string(json, "module", tff_string(
					    point->tff, point->section->path));
			if (*group)
				html_string(json, "group", group);
			html_points_names(json, "fields", &point->fields,
					  offsetof(struct field, name));
			html_points_names(json, "labels", &point->fields,
					  offsetof(struct field, label));
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

/* ---- names of processes ---- */

#define HTML_COMM	16	/* bytes of a name, with zeros */

struct html_comms {
	char (*names)[HTML_COMM];	/* by number */
	size_t count, room;
	struct key_map numbers;	/* number + 1, by hash */
};

/* Its number, from 0, as they come; -ENOMEM. */
static int64_t html_comms_number(struct html_comms *comms, const char *comm)
{
	char name[HTML_COMM] = "";
	uint64_t parts[2], key, number;
	size_t step = 0;

	if (comm)
		memcpy(name, comm, strnlen(comm, HTML_COMM));
	memcpy(parts, name, sizeof(parts));
	key = key_map_mix(key_map_mix(0, parts[0]), parts[1]);
	while ((number = key_map_each_number(&comms->numbers, key, &step)))
		if (!memcmp(comms->names[number - 1], name, HTML_COMM))
			return number - 1;
	if (!array_grow(&comms->names, comms->count, &comms->room,
			HTML_COMM) ||
	    key_map_add_number(&comms->numbers, key, comms->count + 1))
		return -ENOMEM;
	memcpy(comms->names[comms->count], name, HTML_COMM);
	return comms->count++;
}

static void html_comms_put(struct json *json, const struct html_comms *comms)
{
	json_open(json, "comms", '[');
	for (size_t i = 0; i < comms->count; i++)
		html_string_part(json, NULL, comms->names[i],
				 strnlen(comms->names[i], HTML_COMM));
	json_close(json, ']');
}

/* ---- a row ---- */

struct html {
	struct output_settings settings;	/* for the text of events */
	struct pairing *pairing;
	struct tiles *tiles;
	struct html_points points;
	struct html_comms comms;
	struct html_density density;
	struct text body, values;	/* of one event; and */
	struct text safe[2];	/* as they are kept */
	uint64_t given, kept;	/* events */
	int64_t latest;		/* ns since output->start */
};

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

/* n bytes, fit to be shown, as all of the text. */
static int html_safe_set(struct text *text, const char *bytes, size_t n,
			 bool layout)
{
	text->used = 0;
	if (text_reserve(text, 4 * n))
		return -ENOMEM;
	text->used = safe_text_put(text->data, bytes, n, layout) - text->data;
	return 0;
}

/* 0, or a negative errno. */
static int html_row_add(struct output *output, const struct event *event,
			const struct pair_seen *seen, struct scratch *scratch)
{
	struct html *html = output->own;
	int64_t point = html_points_number(&html->points, event->point);
	int64_t comm = html_comms_number(&html->comms,
					 event_thread_comm(event));
	bool matched = seen->role == PAIR_POST_MATCHED;
	struct tile_row row = {
		.number = event->number,
		.time = (uint64_t)event->time - (uint64_t)output->start,
		.latency = matched ? seen->latency : 0,
		.self = matched && !seen->call.self_doubt ? seen->call.self :
							    -1,
		.call = matched ? html->given - seen->call.own : 0,
		.trace = event->trace->index, .cpu = event->cpu,
		.pid = event->record->pid, .tid = event->record->tid,
		.comm = comm, .point = point, .depth = seen->depth,
		.length = event_data(event).length, .role = seen->role,
	};
	const char *body;
	size_t length;
	int code;

	if (point < 0 || comm < 0)
		return -ENOMEM;
	code = body_make(output, event, scratch, &body, &length);
	if (!code)
		code = values_make(output, event, scratch);
	if (!code)
		code = html_safe_set(&html->safe[0], body, length, true);
	if (!code)
		code = html_safe_set(&html->safe[1], html->values.data,
				     html->values.used, false);
	if (code)
		return code;
	row.flags = event_flags(event, scratch->result.status,
				scratch->result.misfit);
	return tiles_add(html->tiles, &row, &html->safe[0], &html->safe[1]);
}

/* ---- what isn't of one event ---- */

/* What summary.h prints. */
static int html_figures_put(struct json *json, const struct output *output)
{
	struct clock clock = {
		.utc = output->settings->utc,
		.relative = output->settings->relative,
		.start = output->stream->first,
	};
	char *figures = NULL;
	size_t size;
	FILE *file = open_memstream(&figures, &size);
	int code;

	if (!file)
		return -ENOMEM;
	code = summary_print(file, output->stream, &clock);
	if (fclose(file))
		code = -ENOMEM;
	if (!code)
		html_string(json, "figures", figures);
	free(figures);
	return code;
}

static void html_trace_put(struct json *json, const struct trace *trace)
{
	const struct trace_file *file = &trace->file;
	const struct damage *damage = &file->damage;
	uint64_t dropped = 0;

	for (size_t i = 0; i < file->slices.count; i++)
		dropped += file->slices.items[i]->dropped -
			   file->slices.items[i]->dropped_base;
	json_open(json, NULL, '{');
	html_string(json, "name", trace->name);
	html_string(json, "host", file->host);
	html_string(json, "kernel", file->kernel);
	json_signed(json, "found", trace->found);
	json_signed(json, "unmatched", trace->unmatched);
	json_signed(json, "late", trace->late);
	json_signed(json, "dropped", dropped);
	json_signed(json, "overwritten", file->pass.lost - file->lost_base);
	json_open(json, "damage", '[');
	for (size_t i = 0; i < damage->count && i < DAMAGE_LINES; i++)
		html_string(json, NULL, damage->lines[i]);
	json_close(json, ']');
	json_signed(json, "damages", damage->count);
	json_close(json, '}');
}

/* 0, or a negative errno; some are kept in text only. */
static int html_meta_add(const struct output *output, struct text *text)
{
	const struct html *html = output->own;
	const struct output_settings *s = output->settings;
	struct json json = { .text = text, .html = true };
	unsigned int count = DENSITY_COUNTS;
	char start[NUMBER_MAX + 1];
	int code;

	json_open(&json, NULL, '{');
	json_number(&json, "given", html->given);
	json_number(&json, "kept", html->kept);
	json_signed(&json, "latest", html->latest);
	/* too large for the numbers of a script */
	*number_put_signed(start, output->start, 64) = '\0';
	json_string(&json, "start", start);
	json_string(&json, "clock", s->relative ? "relative" :
		    s->utc ? "utc" : "local");
	json_open(&json, "traces", '[');
	for (size_t i = 0; i < output->stream->count; i++)
		html_trace_put(&json, output->stream->traces[i]);
	json_close(&json, ']');
	json_open(&json, "density", '{');
	json_signed(&json, "width", html->density.width);
	json_open(&json, "counts", '[');
	while (count && !html->density.counts[count - 1])
		count--;
	for (unsigned int i = 0; i < count; i++)
		json_number(&json, NULL, html->density.counts[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	code = html_figures_put(&json, output);
	html_comms_put(&json, &html->comms);
	html_points_put(&json, &html->points);
	json_close(&json, '}');
	TEXT_ADD(text, "\n");
	return code;
}

/* ---- the output ---- */

/* The page's own script may run, nothing else, and nothing is loaded. */
#define POLICY							\
	"<meta http-equiv=\"Content-Security-Policy\" content=\""	\
	"default-src 'none'; style-src 'nonce-%s'; "		\
	"script-src 'nonce-%s'\">\n"

static void html_free(struct output *output)
{
	struct html *html = output->own;

	pairing_close(html->pairing);
	tiles_close(html->tiles);
	free(html->points.points);
	key_map_free(&html->points.numbers);
	free(html->comms.names);
	key_map_free(&html->comms.numbers);
	free(html->body.data);
	free(html->values.data);
	free(html->safe[0].data);
	free(html->safe[1].data);
}

static int html_open(struct output *output, struct text *text,
		     struct error *err)
{
	struct html *html = output->own;
	int code;

	html->settings = *output->settings;
	html->settings.prefix = NULL;
	html->settings.colour = false;
	code = tiles_open(&html->tiles);
	if (code)
		return code;
	html->pairing = pairing_open(output->pairing_wanted, output->foresight);
	if (!html->pairing || text_open(&html->body, -1) ||
	    text_open(&html->values, -1))
		return -ENOMEM;
	return 0;
}

static int html_event(struct output *output, const struct event *event,
		      struct text *text, struct scratch *scratch)
{
	struct html *html = output->own;
	int64_t time = (int64_t)((uint64_t)event->time -
				 (uint64_t)output->start);
	struct pair_seen seen;
	int code = pairing_see(html->pairing, event, &seen);

	if (code)
		return code;
	html->given++;
	if (seen.role == PAIR_PRE)
		seen.kept->own = html->given;
	if (time > html->latest)
		html->latest = time;
	html_density_add(&html->density, time);
	return html_row_add(output, event, &seen, scratch);
}

/* ---- the page ---- */

static void html_part_add(struct text *text, unsigned int part)
{
	text_add(text, html_pages[part].begin,
		 html_pages[part].end - html_pages[part].begin);
}

static void head_add(struct text *text, const char *nonce)
{
	html_part_add(text, HTML_HEAD);
	text_print(text, POLICY, nonce, nonce);
	text_print(text, "<style nonce=\"%s\">\n", nonce);
	html_part_add(text, HTML_STYLE);
	TEXT_ADD(text, "</style>\n");
	html_part_add(text, HTML_BODY);
}

static int html_data_add(struct output *output, struct text *text)
{
	struct html *html = output->own;
	int code = tiles_end(html->tiles, &html->kept);

	if (code)
		return code;
	TEXT_ADD(text, "<script type=\"application/json\" id=\"meta\">\n");
	code = html_meta_add(output, text);
	TEXT_ADD(text, "</script>\n");
	return code ? code : tiles_write(html->tiles, text);
}

static int html_close(struct output *output, struct text *text,
		      struct error *err)
{
	uint64_t random;
	char nonce[17];
	int code;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -errno;
	*text_put_hex(nonce, random, 16) = '\0';
	head_add(text, nonce);
	code = html_data_add(output, text);
	text_print(text, "<script nonce=\"%s\">\n", nonce);
	for (unsigned int i = HTML_SCRIPT; i < HTML_PARTS; i++)
		html_part_add(text, i);
	TEXT_ADD(text, "</script>\n</body>\n</html>\n");
	return code ? code : -text->error;
}

const struct output_ops output_html = {
	.name = "html",
	.own_bytes = sizeof(struct html),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.open = html_open,
	.event = html_event,
	.close = html_close,
	.free = html_free,
};
