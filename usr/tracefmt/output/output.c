// SPDX-License-Identifier: GPL-2.0
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND		1000000000LL

int64_t clock_second(int64_t time)
{
	return time / SECOND - (time % SECOND < 0);
}

static void time_split(bool utc, int64_t second, struct tm *tm)
{
	time_t t = second;

	if (!(utc ? gmtime_r(&t, tm) : localtime_r(&t, tm)))
		*tm = (struct tm){ 0 };
}

static char *of_day_put(const struct tm *tm, char *p)
{
	p = text_put_padded(p, tm->tm_hour, 2);
	*p++ = ':';
	p = text_put_padded(p, tm->tm_min, 2);
	*p++ = ':';
	return text_put_padded(p, tm->tm_sec, 2);
}

char *clock_put_any(struct clock *clock, int64_t time, char *p)
{
	int64_t second;
	struct tm tm;
	uint64_t distance;

	if (clock->relative) {
		distance = (uint64_t)time - (uint64_t)clock->start;
		*p++ = time < clock->start ? '-' : '+';
		distance = time < clock->start ? -distance : distance;
		p = text_put_decimal(p, distance / SECOND);
		*p++ = '.';
		return text_put_padded(p, distance % SECOND, 9);
	}
	second = clock_second(time);
	time_split(clock->utc, second, &tm);
	clock->second = (uint64_t)second * SECOND;
	*of_day_put(&tm, clock->text) = '.';
	return clock_put(clock, time, p);
}

void clock_date(const struct clock *clock, int64_t time, char *text,
		size_t size)
{
	struct tm tm;

	time_split(clock->utc, clock_second(time), &tm);
	strftime(text, size, "%Y-%m-%d %H:%M:%S", &tm);
}

int clock_day(const struct clock *clock, int64_t time)
{
	struct tm tm;

	time_split(clock->utc, clock_second(time), &tm);
	return tm.tm_year * 512 + tm.tm_yday;
}

char *clock_put_iso(int64_t time, char *p)
{
	int64_t second = clock_second(time);
	struct tm tm;

	time_split(true, second, &tm);
	p += strftime(p, 20, "%Y-%m-%dT", &tm);
	p = of_day_put(&tm, p);
	*p++ = '.';
	p = text_put_padded(p, time - second * SECOND, 9);
	*p++ = 'Z';
	return p;
}

static int pieces_reserve(struct scratch *scratch, size_t room)
{
	void *pieces;

	if (scratch->room >= room)
		return 0;
	pieces = reallocarray(scratch->pieces, room, sizeof(*scratch->pieces));
	if (!pieces)
		return -ENOMEM;
	scratch->pieces = pieces;
	scratch->room = room;
	return 0;
}

int output_decode(const struct event *event, struct scratch *scratch,
		  uint8_t *seen)
{
	const struct match_point *point = event->point;
	struct event_data data = event_data(event);

	scratch->result = (struct decode_result){ .misfit = data.misfit };
	if (!point->formatted || data.misfit ||
	    event->record->flags & RAS_RECORD_MUTED)
		return 0;
	if (pieces_reserve(scratch, DECODE_PIECES(&point->format, data.length)))
		return -ENOMEM;
	decode_record(&point->format, event->record, data.skip,
		      scratch->pieces, seen, &scratch->result);
	return 0;
}

const char *output_module_find(const struct stream *stream)
{
	const char *only = NULL;

	for (size_t i = 0; i < stream->count; i++) {
		const struct trace_file *file = &stream->traces[i]->file;

		if (file->source.pipe)
			return NULL;
		for (size_t k = 0; k < file->session_count; k++) {
			const char *module = file->sessions[k]->module;

			if (only && strcmp(only, module))
				return NULL;
			only = module;
		}
	}
	if (!only)
		return NULL;
	return strrchr(only, '/') ? strrchr(only, '/') + 1 : only;
}

/* "(app) " of app, "(libc) " of libc.so.6; other words in parentheses remain. */
const char *output_desc(const struct output *output, const char *desc)
{
	const char *module = output->module;
	size_t n;

	if (!module || *desc != '(')
		return desc;
	n = strcspn(desc + 1, ")");
	if (strncmp(desc + 1, module, n) || !strchr(".-", module[n]) ||
	    strncmp(desc + 1 + n, ") ", 2))
		return desc;
	return desc[n + 3] ? desc + n + 3 : desc;
}

void output_free(struct output *output)
{
	if (output->own && output->ops->free)
		output->ops->free(output);
	free(output->own);
	output->own = NULL;
	pairing_close(output->pairing);
	output->pairing = NULL;
	foresight_close(output->foresight);
	output->foresight = NULL;
}
