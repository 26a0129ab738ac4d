// SPDX-License-Identifier: GPL-2.0
#include "monitor_line.h"

#include <ctype.h>
#include <string.h>

static bool monitor_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void monitor_blanks_skip(struct monitor_span *rest)
{
	while (rest->length && monitor_is_blank(*rest->text)) {
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

static struct monitor_span monitor_word_take(struct monitor_span *rest)
{
	size_t length = 0;

	monitor_blanks_skip(rest);
	while (length < rest->length && !monitor_is_blank(rest->text[length]))
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
static struct monitor_span monitor_type_take(struct monitor_span *rest)
{
	struct monitor_span all, word;
	size_t length = 0, depth = 0;

	monitor_blanks_skip(rest);
	all = *rest;
	word = monitor_word_take(rest);
	for (; length < all.length; length++) {
		if (monitor_is_blank(all.text[length]) && !depth)
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
	struct monitor_span word = monitor_word_take(&rest);
	struct monitor_span process;
	struct monitor_span thread;
	uint64_t pid;
	uint64_t tid;
	const char *dash = memchr(word.text, '-', word.length);

	if (!dash)
		return false;
	process = (struct monitor_span){ word.text, dash - word.text };
	thread = (struct monitor_span){ dash + 1,
		word.length - process.length - 1 };
	if (!span_number(&process, 10, UINT32_MAX, &pid) ||
	    !span_number(&thread, 10, UINT32_MAX, &tid))
		return false;
	line->pid = pid;
	line->tid = tid;
	word = monitor_word_take(&rest);
	if (!time_parse(&word, line))
		return false;
	word = monitor_word_take(&rest);
	if (!address_parse(&word, line))
		return false;
	word = monitor_word_take(&rest);
	if (!size_parse(&word, line))
		return false;
	line->type = monitor_type_take(&rest);
	if (!line->type.length)
		return false;
	monitor_blanks_skip(&rest);
	line->crawl = rest;
	return true;
}

/* What is written between the stars. */
static void banner_parse(struct monitor_span rest, struct monitor_line *line)
{
	struct monitor_span word = monitor_word_take(&rest);

	line->kind = MONITOR_LOST;
	monitor_blanks_skip(&rest);
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
	struct monitor_span thread = monitor_word_take(&rest),
			    time = monitor_word_take(&rest);

	return span_is(&thread, "Thread") && span_is(&time, "Time");
}

void monitor_line_parse(const char *text, size_t length,
			struct monitor_line *line)
{
	struct monitor_span rest = { text, length };

	*line = (struct monitor_line){ .kind = MONITOR_BAD };
	while (rest.length && monitor_is_blank(rest.text[rest.length - 1]))
		rest.length--;
	monitor_blanks_skip(&rest);
	while (rest.length && *rest.text == '*') {
		line->corrupt = true;
		span_take(&rest, 1);
	}
	monitor_blanks_skip(&rest);
	line->text = rest;
	if (event_parse(rest, line))
		line->kind = MONITOR_EVENT;
	else if (line->corrupt)
		banner_parse(rest, line);
	else if (!rest.length || is_heading(rest))
		line->kind = MONITOR_NOTHING;
}

/* ---- stack crawls ---- */

/* Does the name so far end in the word `operator`? */
static bool after_operator(const char *begin, const char *at)
{
	const size_t length = strlen("operator");

	return at >= begin + length &&
	       !memcmp(at - length, "operator", length) &&
	       (at == begin + length ||
		!(isalnum((unsigned char)at[-(int)length - 1]) ||
		  at[-(int)length - 1] == '_'));
}

static const char *name_end(const struct monitor_crawl *crawl, size_t *depth)
{
	const char *at = crawl->at;
	bool two;

	*depth = 0;
	while (at < crawl->end) {
		if (*at == '|' && after_operator(crawl->at, at)) {
			/* The end of a bar at `at` after `operator`: operator|,
			 * operator|=, or operator||, which is known from a
			 * separator by its parameters. */
			two = crawl->end - at > 2 && at[1] == '|' &&
			      (at[2] == '(' || at[2] == '<');

			at = at + (two ? 2 : 1);

			continue;
		}
		if (*at == '|' && (!*depth || crawl->plain))
			break;
		if (*at == '(')
			++*depth;
		else if (*at == ')' && *depth)
			--*depth;
		at++;
	}
	return at;
}

static struct monitor_span span_trim(const char *begin, const char *end)
{
	while (begin < end && *begin == ' ')
		begin++;
	while (begin < end && end[-1] == ' ')
		end--;
	return (struct monitor_span){ begin, end - begin };
}

bool monitor_crawl_next(struct monitor_crawl *crawl, struct monitor_span *name)
{
	const char *end;
	size_t depth;

	if (crawl->at == crawl->end)
		return false;
	end = name_end(crawl, &depth);
	if (end == crawl->end && depth && !crawl->plain) {
		crawl->plain = true;
		end = name_end(crawl, &depth);
	}
	*name = span_trim(crawl->at, end);
	crawl->at = end < crawl->end ? end + 1 : end;
	return true;
}
