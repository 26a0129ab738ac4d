// SPDX-License-Identifier: GPL-2.0
#include "format.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_PREFIXES	"PR"
#define FORMAT_DATA	"IBWDFQASULC"
#define FORMAT_CODES	"XY"
#define FORMAT_SKIP_MAX	65535

static char letter_upper(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

static bool letter_in(char c, const char *set)
{
	return c && strchr(set, c);
}

/* Digits of %Innn, and the blank or end behind them (semantics: the blank
 * belongs to the control). Returns what follows, NULL: not of this form. */
static const char *skip_parse(const char *p, unsigned int *count)
{
	if (*p < '0' || *p > '9')
		return NULL;
	for (*count = 0; *p >= '0' && *p <= '9'; p++) {
		*count = *count * 10 + (*p - '0');
		if (*count > FORMAT_SKIP_MAX)
			return NULL;
	}
	if (*p == ' ')
		return p + 1;
	return *p == '\n' || *p == '\r' || !*p ? p : NULL;
}

/* A control that takes data, at p: what follows it, NULL: it is none. */
static const char *data_parse(const char *p, struct format_step *step)
{
	if (*p != '%' || !letter_in(letter_upper(p[1]), FORMAT_DATA))
		return NULL;
	step->letter = letter_upper(p[1]);
	return step->letter == 'I' ? skip_parse(p + 2, &step->count) : p + 2;
}

/* A control at p: fills the step, returns what follows; NULL: it is none. */
static const char *control_parse(const char *p, struct format_step *step)
{
	struct format_step repeated;
	const char *data;

	*step = (struct format_step){ .kind = FORMAT_CONTROL };
	if (*p != '%')
		return NULL;
	if (!letter_in(letter_upper(p[1]), FORMAT_PREFIXES FORMAT_CODES))
		return data_parse(p, step);
	step->letter = letter_upper(p[1]);
	p += 2;
	if (letter_in(step->letter, FORMAT_CODES))
		return p;
	/* blanks between a prefix and a data control are part of the prefix;
	 * %R is nothing without a control to repeat */
	data = p + strspn(p, " ");
	if (data_parse(data, &repeated))
		return data;
	return step->letter == 'P' ? p : NULL;
}

/* Append literal text, to the text step before it if there is one. */
static void text_add(struct format *format, size_t *used, const char *p,
		     size_t length)
{
	size_t n = format->count;

	memcpy(format->text + *used, p, length);
	if (n && format->steps[n - 1].kind == FORMAT_TEXT)
		format->steps[n - 1].length += length;
	else
		format->steps[format->count++] = (struct format_step){
			.kind = FORMAT_TEXT,
			.text = format->text + *used,
			.length = length,
		};
	*used += length;
}

static void format_parse(struct format *format, const char *string)
{
	const char *p = string, *next;
	struct format_step step;
	size_t used = 0, length;

	while (*p) {
		next = control_parse(p, &step);
		if (next) {
			step.at = p - string;
			format->steps[format->count++] = step;
			p = next;
			continue;
		}
		length = *p == '%' ? 1 : strcspn(p, "%");
		text_add(format, &used, p, length);
		if (p[0] == '%' && p[1] == '%')
			p++;
		else if (*p == '%' && format->unknown_at == (size_t)-1)
			format->unknown_at = p - string;
		p += length;
	}
}

/* Every control has a '%', and at most one text stands before each. */
static size_t steps_max(const char *string)
{
	size_t n = 1;

	for (; *string; string++)
		n += *string == '%' ? 2 : 0;
	return n;
}

int format_compile(struct format *format, const char *string)
{
	*format = (struct format){ .unknown_at = (size_t)-1 };
	format->steps = calloc(steps_max(string), sizeof(*format->steps));
	format->text = malloc(strlen(string) + 1);
	if (!format->steps || !format->text) {
		format_free(format);
		return -ENOMEM;
	}
	format_parse(format, string);
	return 0;
}

void format_free(struct format *format)
{
	free(format->steps);
	free(format->text);
	*format = (struct format){ .unknown_at = (size_t)-1 };
}
