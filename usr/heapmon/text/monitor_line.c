// SPDX-License-Identifier: GPL-2.0
#include "monitor.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void blanks_skip(struct monitor_span *rest)
{
	while (rest->length && is_blank(*rest->text)) {
		rest->text++;
		rest->length--;
	}
}

/* The first `length` bytes. */
static struct monitor_span span_take(struct monitor_span *rest, size_t length)
{
	struct monitor_span span = { rest->text, length };

	rest->text += length;
	rest->length -= length;
	return span;
}

static struct monitor_span word_take(struct monitor_span *rest)
{
	size_t length = 0;

	blanks_skip(rest);
	while (length < rest->length && !is_blank(rest->text[length]))
		length++;
	return span_take(rest, length);
}

static bool span_is(const struct monitor_span *span, const char *text)
{
	return span->length == strlen(text) &&
	       !memcmp(span->text, text, span->length);
}

/* All of it as a number up to `most`. */
static bool span_number(const struct monitor_span *span, unsigned int base,
			uint64_t most, uint64_t *number)
{
	uint64_t value = 0;

	for (size_t i = 0; i < span->length; i++) {
		char c = span->text[i];
		unsigned int digit = c >= '0' && c <= '9' ? c - '0' :
			c >= 'a' && c <= 'f' ? c - 'a' + 10 :
			c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;

		if (digit >= base || value > (most - digit) / base)
			return false;
		value = value * base + digit;
	}
	*number = value;
	return span->length;
}

static bool thread_parse(const struct monitor_span *word,
			 struct monitor_line *line)
{
	const char *dash = memchr(word->text, '-', word->length);
	struct monitor_span process, thread;
	uint64_t pid, tid;

	if (!dash)
		return false;
	process = (struct monitor_span){ word->text, dash - word->text };
	thread = (struct monitor_span){ dash + 1,
		word->length - process.length - 1 };
	if (!span_number(&process, 10, UINT32_MAX, &pid) ||
	    !span_number(&thread, 10, UINT32_MAX, &tid))
		return false;
	line->pid = pid;
	line->tid = tid;
	return true;
}

static bool time_parse(const struct monitor_span *word,
		       struct monitor_line *line)
{
	uint64_t time;

	line->old = span_is(word, "old");
	line->time = HEAP_NO_TIME;
	if (line->old)
		return true;
	if (!span_number(word, 10, INT64_MAX / 1000, &time))
		return false;
	line->time = time * 1000;
	return true;
}

static bool address_parse(const struct monitor_span *word,
			  struct monitor_line *line)
{
	struct monitor_span digits = { word->text + 2, word->length - 2 };

	return word->length > 2 && word->text[0] == '0' &&
	       (word->text[1] == 'x' || word->text[1] == 'X') &&
	       span_number(&digits, 16, UINT64_MAX, &line->address);
}

static bool size_parse(const struct monitor_span *word,
		       struct monitor_line *line)
{
	line->deleted = span_is(word, "del");
	if (line->deleted)
		return !line->old;
	return span_number(word, 10, UINT64_MAX, &line->size);
}

static bool is_one_of(char c, const char *chars)
{
	return c && strchr(chars, c);
}

/* A word; or more of them: the parameters of a template may have blanks. */
static struct monitor_span type_take(struct monitor_span *rest)
{
	struct monitor_span all, word;
	size_t length = 0, depth = 0;

	blanks_skip(rest);
	all = *rest;
	word = word_take(rest);
	for (; length < all.length; length++) {
		if (is_blank(all.text[length]) && !depth)
			break;
		if (is_one_of(all.text[length], "<({["))
			depth++;
		else if (depth && is_one_of(all.text[length], ">)}]"))
			depth--;
	}
	if (depth || length <= word.length)
		return word;
	*rest = all;
	return span_take(rest, length);
}

static bool event_parse(struct monitor_span rest, struct monitor_line *line)
{
	struct monitor_span word = word_take(&rest);

	if (!thread_parse(&word, line))
		return false;
	word = word_take(&rest);
	if (!time_parse(&word, line))
		return false;
	word = word_take(&rest);
	if (!address_parse(&word, line))
		return false;
	word = word_take(&rest);
	if (!size_parse(&word, line))
		return false;
	line->type = type_take(&rest);
	if (!line->type.length)
		return false;
	blanks_skip(&rest);
	line->crawl = rest;
	return true;
}

/* What is written between the stars. */
static void banner_parse(struct monitor_span rest, struct monitor_line *line)
{
	struct monitor_span word = word_take(&rest);

	line->kind = MONITOR_LOST;
	blanks_skip(&rest);
	if (span_is(&rest, MONITOR_LOSS)) {
		if (span_is(&word, "some"))
			line->lost = HEAP_LOST_UNKNOWN;
		if (span_is(&word, "some") ||
		    span_number(&word, 10, UINT64_MAX - 1, &line->lost))
			return;
	}
	line->kind = line->text.length ? MONITOR_BANNER : MONITOR_NOTHING;
}

static bool is_heading(struct monitor_span rest)
{
	struct monitor_span thread = word_take(&rest), time = word_take(&rest);

	return span_is(&thread, "Thread") && span_is(&time, "Time");
}

void monitor_line_parse(const char *text, size_t length,
			struct monitor_line *line)
{
	struct monitor_span rest = { text, length };

	*line = (struct monitor_line){ .kind = MONITOR_BAD };
	while (rest.length && is_blank(rest.text[rest.length - 1]))
		rest.length--;
	blanks_skip(&rest);
	while (rest.length && *rest.text == '*') {
		line->corrupt = true;
		span_take(&rest, 1);
	}
	blanks_skip(&rest);
	line->text = rest;
	if (event_parse(rest, line))
		line->kind = MONITOR_EVENT;
	else if (line->corrupt)
		banner_parse(rest, line);
	else if (!rest.length || is_heading(rest))
		line->kind = MONITOR_NOTHING;
}
