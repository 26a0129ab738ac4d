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
#include <unistd.h>
#include "lib/array.h"
#include "lib/json.h"
#include "lib/key_map.h"
#include "lib/outfile.h"
#include "tracefmt/json/json_field.h"
#include "tracefmt/output/print.h"
#include "tracefmt/output/summary.h"
#include "tracefmt/pair/pairing.h"

/* ---- what doesn't depend on the trace: the files of page/ ---- */

enum html_part {
	HTML_HEAD,		/* up to the script's nonce */
	HTML_STYLE,
	HTML_BODY,
	HTML_SCRIPT,		/* this and the others, up to HTML_PARTS */
	HTML_PARTS = HTML_SCRIPT + 8,
};

#define EMBED(name, file)						\
	asm(".pushsection .rodata\n"					\
	    ".global html_" #name ", html_" #name "_end\n"		\
	    "html_" #name ":\n"						\
	    ".incbin \"usr/tracefmt/html/page/" file "\"\n"		\
	    "html_" #name "_end:\n"					\
	    ".popsection\n");						\
	extern const char html_##name[], html_##name##_end[]

EMBED(head, "head.html");
EMBED(style, "page.css");
EMBED(body, "body.html");
EMBED(data, "data.js");
EMBED(expression, "expression.js");
EMBED(filter, "filter.js");
EMBED(timeline, "timeline.js");
EMBED(table, "table.js");
EMBED(latency, "latency.js");
EMBED(figures, "figures.js");
EMBED(page, "page.js");

#define PART(name)	{ html_##name, html_##name##_end }

static const struct { const char *begin, *end; } html_pages[HTML_PARTS] = {
	[HTML_HEAD] = PART(head), [HTML_STYLE] = PART(style),
	[HTML_BODY] = PART(body),
	[HTML_SCRIPT] = PART(data), PART(expression), PART(filter),
	PART(timeline), PART(table), PART(latency), PART(figures), PART(page),
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

/* ---- the rows until the page is written ---- */

#define HTML_ROWS	200000u		/* of a page, at most */
#define HTML_BYTES	(96ull << 20)	/* of these rows, at most */
#define HTML_BLOCK	2000u		/* rows that are read at once */
#define HTML_BLOCK_BYTES (1u << 20)	/* and with which it is full, too */
#define HTML_BLOCKS	(HTML_ROWS / HTML_BLOCK + HTML_BYTES / HTML_BLOCK_BYTES)

struct html_block {
	uint64_t offset, bytes;
	uint32_t rows;
};

struct html_half {
	int fd;			/* -1: not opened yet */
	struct html_block blocks[HTML_BLOCKS + 1];
	uint32_t block_count;
	uint32_t rows;
	uint64_t bytes;
};

/* The newest ones of any number, in two unnamed files of TMPDIR that are filled in
 * turns. */
struct html_store {
	struct html_half halves[2];
	unsigned int now;	/* which of them is filled */
	struct text text;	/* of the half that is filled */
};

#define ROWS_BEGIN "<script type=\"application/json\" class=\"rows\">[\n"
#define ROWS_END   "\n]</script>\n"

static bool half_is_full(const struct html_half *half)
{
	return half->rows >= HTML_ROWS || half->bytes >= HTML_BYTES ||
	       half->block_count > HTML_BLOCKS;
}

/* The other half, which is older, is given up for what comes. */
static int half_turn(struct html_store *store)
{
	struct html_half *half = &store->halves[!store->now];
	int code = store->text.fd < 0 ? 0 : text_flush(&store->text);

	if (code)
		return temp_file_fail(-code);
	if (half->fd < 0)
		half->fd = temp_file_open();
	if (half->fd < 0)
		return half->fd;
	if (ftruncate(half->fd, 0) || lseek(half->fd, 0, SEEK_SET))
		return -errno;
	half->block_count = half->rows = 0;
	half->bytes = 0;
	store->text.fd = half->fd;
	store->now = !store->now;
	return 0;
}

/* store is zeroed. 0, or a negative errno. */
static int html_store_open(struct html_store *store)
{
	int code = text_open(&store->text, -1);

	store->halves[0].fd = store->halves[1].fd = -1;
	return code ? code : half_turn(store);
}

static struct html_block *block_open(struct html_half *half)
{
	struct html_block *last;

	if (half->block_count) {
		last = &half->blocks[half->block_count - 1];
		if (last->rows < HTML_BLOCK && last->bytes < HTML_BLOCK_BYTES)
			return last;
	}
	last = &half->blocks[half->block_count++];
	*last = (struct html_block){ .offset = half->bytes };
	return last;
}

/* Where the next row's JSON is put, n bytes at most. 0, or a negative errno. */
static int html_store_row(struct html_store *store, size_t n, char **row)
{
	struct html_half *half = &store->halves[store->now];
	struct html_block *block;
	int code = half_is_full(half) ? half_turn(store) : 0;

	if (code)
		return code;
	half = &store->halves[store->now];
	if (text_reserve(&store->text, n + 2))
		return -ENOMEM;
	block = block_open(half);
	*row = store->text.data + store->text.used;
	if (block->rows)
		*row = TEXT_PUT(*row, ",\n");
	return 0;
}

/* It ends at p. 0, or a negative errno. */
static int html_store_add(struct html_store *store, const char *p)
{
	struct html_half *half = &store->halves[store->now];
	struct html_block *block = &half->blocks[half->block_count - 1];
	size_t bytes = p - (store->text.data + store->text.used);

	store->text.used += bytes;
	block->bytes += bytes;
	half->bytes += bytes;
	block->rows++;
	half->rows++;
	text_pass(&store->text);
	return store->text.error ? temp_file_fail(store->text.error) : 0;
}

/* Blocks of a half that are among the newest ones; `rows` and `bytes` are what
 * may still be kept. Returns the index of the first. */
static uint32_t half_first(const struct html_half *half, uint64_t *rows,
			   uint64_t *bytes)
{
	uint32_t first = half->block_count;

	for (; first; first--) {
		const struct html_block *block = &half->blocks[first - 1];

		if (block->rows > *rows || block->bytes > *bytes) {
			*rows = *bytes = 0;
			break;
		}
		*rows -= block->rows;
		*bytes -= block->bytes;
	}
	return first;
}

struct kept {
	uint32_t old, now;	/* first blocks of the halves */
	uint64_t rows;
};

static struct kept kept_find(const struct html_store *store)
{
	/* a half is full when it is above a limit */
	uint64_t rows = HTML_ROWS, bytes = HTML_BYTES + 2 * HTML_BLOCK_BYTES;
	struct kept kept;

	kept.now = half_first(&store->halves[store->now], &rows, &bytes);
	kept.old = half_first(&store->halves[!store->now], &rows, &bytes);
	kept.rows = 0;
	for (unsigned int i = 0; i < 2; i++) {
		const struct html_half *half = &store->halves[i];
		uint32_t b = i == store->now ? kept.now : kept.old;

		for (; b < half->block_count; b++)
			kept.rows += half->blocks[b].rows;
	}
	return kept;
}

static int half_write(const struct html_half *half, uint32_t first,
		      struct text *text)
{
	int code = 0;

	for (; first < half->block_count && !code; first++) {
		const struct html_block *block = &half->blocks[first];

		TEXT_ADD(text, ROWS_BEGIN);
		code = temp_file_take(half->fd, block->offset, block->bytes,
				      text);
		TEXT_ADD(text, ROWS_END);
	}
	return code;
}

/* A script element with an array of rows for each block, the oldest first. 0,
 * or a negative errno. */
static int html_store_write(struct html_store *store, struct text *text)
{
	struct kept kept = kept_find(store);
	int code = text_flush(&store->text);

	if (!code)
		code = half_write(&store->halves[!store->now], kept.old, text);
	if (!code)
		code = half_write(&store->halves[store->now], kept.now, text);
	return code;
}

static void html_store_close(struct html_store *store)
{
	for (unsigned int i = 0; i < 2; i++)
		if (store->halves[i].fd >= 0)
			close(store->halves[i].fd);
	free(store->text.data);
}

/* ---- a row ---- */

struct html {
	struct output_settings settings;	/* for the text of events */
	struct pairing *pairing;
	struct html_store store;
	struct html_points points;
	struct html_density density;
	struct text body, values;	/* of one event */
	uint64_t given;		/* events */
	int64_t latest;		/* ns since output->start */
};

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

/*
 * An event as an array, at the end of the store:
 *
 *	[number, ns since output->start, trace, CPU, pid, tid, comm, point,
 *	 flags (EVENT_*), length, role (PAIR_*), depth, latency, number of the
 *	 PRE, text, "[value, ...]"]
 *
 * Values as json_field.h has them, in the order of the point's fields; the last
 * ones may be missing. 0, or a negative errno.
 */
static int html_row_add(struct output *output, const struct event *event,
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
	json_number(&json, "kept", kept_find(&html->store).rows);
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
	html_store_close(&html->store);
	free(html->points.points);
	key_map_free(&html->points.numbers);
	free(html->body.data);
	free(html->values.data);
}

static int html_open(struct output *output, struct text *text,
		     struct error *err)
{
	struct html *html = output->own;
	int code;

	html->settings = *output->settings;
	html->settings.prefix = NULL;
	html->settings.colour = false;
	code = html_store_open(&html->store);
	if (code)
		return code;
	html->pairing = pairing_open();
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
	int code;

	TEXT_ADD(text, "<script type=\"application/json\" id=\"meta\">\n");
	code = html_meta_add(output, text);
	TEXT_ADD(text, "</script>\n");
	return code ? code : html_store_write(&html->store, text);
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
	.open = html_open,
	.event = html_event,
	.close = html_close,
	.free = html_free,
};
