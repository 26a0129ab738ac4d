// SPDX-License-Identifier: GPL-2.0
#include "print.h"

#include <errno.h>
#include <stdio.h>
#include "context.h"

#define SECOND		1000000000LL
#define HEADER_MAX	768	/* of the header line, flags and date */
#define DUMP_ROW_MAX	(TEXT_ROW_MAX + 10)
#define RANGE_MAX	64	/* of the text around left over bytes */

static void time_split(const struct print *print, int64_t second,
		       struct tm *tm)
{
	time_t t = second;

	if (!(print->utc ? gmtime_r(&t, tm) : localtime_r(&t, tm)))
		*tm = (struct tm){ 0 };
}

static int64_t wall_time(const struct print *print, uint64_t time)
{
	return (int64_t)(time + (uint64_t)print->wall_offset);
}

/* Whole seconds, rounded down. */
static int64_t wall_second(int64_t wall)
{
	return wall / SECOND - (wall % SECOND < 0);
}

static char *relative_put(const struct print *print, uint64_t time, char *p)
{
	uint64_t distance = time - print->start;

	*p++ = time < print->start ? '-' : '+';
	distance = time < print->start ? -distance : distance;
	p = text_put_decimal(p, distance / SECOND);
	*p++ = '.';
	return text_put_padded(p, distance % SECOND, 9);
}

/* The clock is kept: converting is dear, and seconds last. */
static void clock_set(struct print *print, int64_t second)
{
	struct tm tm;
	char *p = print->clock;

	time_split(print, second, &tm);
	print->second = second;
	p = text_put_padded(p, tm.tm_hour, 2);
	*p++ = ':';
	p = text_put_padded(p, tm.tm_min, 2);
	*p++ = ':';
	text_put_padded(p, tm.tm_sec, 2);
}

char *print_time(struct print *print, uint64_t time, char *p)
{
	int64_t wall = wall_time(print, time);
	int64_t second = wall_second(wall);

	if (print->relative)
		return relative_put(print, time, p);
	if (second != print->second || !print->clock[0])
		clock_set(print, second);
	p = text_put(p, print->clock, 8);
	*p++ = '.';
	return text_put_padded(p, wall - second * SECOND, 9);
}

void print_date(const struct print *print, uint64_t time, char *text,
		size_t size)
{
	struct tm tm;

	time_split(print, wall_second(wall_time(print, time)), &tm);
	strftime(text, size, "%Y-%m-%d %H:%M:%S", &tm);
}

/* "Date [2026-02-03]" where the day differs from the last record's. */
static char *day_put(struct print *print, uint64_t time, char *p)
{
	int64_t second = wall_second(wall_time(print, time));
	struct tm tm;

	if (print->relative || (second == print->second && print->day))
		return p;
	time_split(print, second, &tm);
	if (print->day == tm.tm_year * 512 + tm.tm_yday + 1)
		return p;
	print->day = tm.tm_year * 512 + tm.tm_yday + 1;
	return p + strftime(p, 64, "Date [%Y-%m-%d]\n\n", &tm);
}

static char *pair_put(char *p, uint32_t value)
{
	int digits = 4;

	while (digits < 8 && value >> (4 * digits))
		digits++;
	p = text_put_decimal(p, value);
	p = TEXT_PUT(p, "/0x");
	return text_put_hex(p, value, digits);
}

static char *name_put(const struct print *print,
		      const struct ras_record *record, char *p)
{
	const char *name = NULL;

	if (print->book)
		name = book_name(print->book, record->pid, record->time);
	if (!name)
		return p;
	p = TEXT_PUT(p, "  Process [");
	p = text_put_safe(p, name, strnlen(name, 16));
	return TEXT_PUT(p, "]");
}

static char *header_put(struct print *print, const struct match_point *point,
			const struct ras_record *record, size_t length,
			char *p)
{
	p = text_put(p, point->title, point->title_length);
	p = TEXT_PUT(p, "Event [");
	p = text_put_decimal(p, print->records);
	p = text_put(p, point->codes, point->codes_length);
	p = pair_put(p, record->pid);
	p = TEXT_PUT(p, "]  TID [");
	p = pair_put(p, record->tid);
	p = TEXT_PUT(p, "]  Length [");
	p = text_put_decimal(p, length);
	p = TEXT_PUT(p, "]  Time [");
	p = print_time(print, record->time, p);
	p = TEXT_PUT(p, "]");
	return name_put(print, record, p);
}

enum {
	FLAG_TRIGGER, FLAG_MUTED, FLAG_FAULT, FLAG_CUT, FLAG_PAGED_IN,
	FLAG_STALE, FLAG_TAIL_CALL, FLAG_FORCED, FLAG_MISFIT, FLAG_DAMAGED,
};

static const char *const flag_names[] = {
	[FLAG_TRIGGER] = "trigger: it stops the recording",
	[FLAG_MUTED] = "muted",
	[FLAG_FAULT] = "fault",
	[FLAG_CUT] = "cut",
	[FLAG_PAGED_IN] = "paged in",
	[FLAG_STALE] = "as of last context switch",
	[FLAG_TAIL_CALL] = "tail call: no return value yet",
	[FLAG_FORCED] = "forced format",
	[FLAG_MISFIT] = "format doesn't fit",
	[FLAG_DAMAGED] = "from a damaged slice",
};

static unsigned int flags_collect(const struct match_point *point,
				  const struct ras_record *record,
				  const struct render_result *result,
				  bool damaged)
{
	uint8_t status = result->status;

	return !!(record->flags & RAS_RECORD_TRIGGER) << FLAG_TRIGGER |
	       !!(record->flags & RAS_RECORD_MUTED) << FLAG_MUTED |
	       !!(record->flags & RAS_RECORD_FAULT) << FLAG_FAULT |
	       (record->flags & RAS_RECORD_CUT || status & RAS_ITEM_CUT) <<
			FLAG_CUT |
	       (record->flags & RAS_RECORD_PAGED_IN ||
		status & RAS_ITEM_PAGED_IN) << FLAG_PAGED_IN |
	       !!(status & RAS_ITEM_STALE) << FLAG_STALE |
	       !!(record->flags & RAS_RECORD_TAIL_CALL) << FLAG_TAIL_CALL |
	       point->forced << FLAG_FORCED | result->misfit << FLAG_MISFIT |
	       damaged << FLAG_DAMAGED;
}

/* Insert "  Flags [fault, cut]" at `at`, where the header line ends. */
static char *flags_insert(unsigned int flags, char *at, char *end)
{
	char words[384], *p = TEXT_PUT(words, "  Flags [");
	const char *comma = "";

	for (size_t i = 0; i < sizeof(flag_names) / sizeof(*flag_names); i++) {
		if (!(flags & 1u << i))
			continue;
		p = text_put(p, comma, strlen(comma));
		p = text_put(p, flag_names[i], strlen(flag_names[i]));
		comma = ", ";
	}
	*p++ = ']';
	memmove(at + (p - words), at, end - at);
	memcpy(at, words, p - words);
	return end + (p - words);
}

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

/* The record says that there are more hits, and has no data. */
static char *muted_put(const struct match_point *point, char *p)
{
	p = TEXT_PUT(p, "<more hits in this second are not recorded");
	if (point->session && point->session->entry->max_rate) {
		p = TEXT_PUT(p, ": above ");
		p = text_put_decimal(p, point->session->entry->max_rate);
		p = TEXT_PUT(p, " in a second");
	}
	return TEXT_PUT(p, ">\n");
}

/* What is printed of a record. */
struct printed {
	const struct match_point *point;
	struct render_input input;
	struct context context;
	struct render_result result;
	size_t length;		/* of the data */
};

static char *data_put(const struct print *print, struct printed *of, char *p)
{
	const struct match_point *point = of->point;
	const uint8_t *data = (const uint8_t *)(of->input.record + 1) +
			      of->input.skip;
	struct render_result *result = &of->result;
	uint8_t seen[RAS_RECORD_MAX];
	char *start = p;
	bool dump = print->hex;

	if (of->input.record->flags & RAS_RECORD_MUTED)
		return muted_put(point, p);
	if (point->formatted) {
		if (print->verbose)
			memset(seen, 0, of->length);
		p = render_record(&point->format, &of->input, p,
				  print->verbose ? seen : NULL, result);
		if (p > start && p[-1] != '\n')
			*p++ = '\n';
	}
	if (!point->formatted || !point->format.takes_data || result->misfit)
		dump = true;
	else if (print->verbose)
		p = unseen_put(p, data, seen, of->length);
	return dump ? dump_put(p, data, of->length) : p;
}

static struct printed printed_make(const struct print *print,
				   const struct match_point *point,
				   const struct ras_record *record)
{
	struct printed of = {
		.point = point, .context = context_find(record, point->context),
		.input = { .record = record,
			   .owner = { print->book, record->pid } },
	};

	of.input.skip = of.context.bytes;
	of.length = record->length - RAS_RECORD_HEADER - of.context.bytes;
	of.result.misfit = of.context.misfit;
	return of;
}

static size_t printed_room(const struct printed *of)
{
	return of->point->title_length + HEADER_MAX +
	       context_room(&of->context) +
	       render_room(&of->point->format, of->length) +
	       (of->length / TEXT_ROW + 1) * DUMP_ROW_MAX +
	       (of->length + 1) * RANGE_MAX;
}

int print_record(struct print *print, const struct match_point *point,
		 const struct merge_head *head)
{
	const struct ras_record *record = head->record;
	struct printed of = printed_make(print, point, record);
	unsigned int flags;
	char *p, *line_end;

	if (text_reserve(print->text, printed_room(&of)))
		return -ENOMEM;
	p = print->text->data + print->text->used;
	p = day_put(print, record->time, p);
	line_end = header_put(print, point, record, of.length, p);
	p = TEXT_PUT(line_end, "\n");
	p = context_put(&of.context, of.input.owner, p);
	if (of.context.misfit)
		p = dump_put(p, (const uint8_t *)(record + 1), of.length);
	else
		p = data_put(print, &of, p);
	flags = flags_collect(point, record, &of.result, head->damaged);
	if (flags)
		p = flags_insert(flags, line_end, p);
	*p++ = '\n';
	print->text->used = p - print->text->data;
	text_pass(print->text);
	return 0;
}
