// SPDX-License-Identifier: GPL-2.0
#include "format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tff.h>
#include "format_typed.h"

#define FORMAT_PREFIXES	"PR"
#define FORMAT_DATA	"IBWDFQASULC"
#define FORMAT_CODES	"XY"

/* In either case. */
static bool letter_is(char c, const char *set)
{
	return format_letter_in(format_letter_upper(c), set);
}

/* Digits of %Innn, and the blank or end after them (semantics: the blank
 * belongs to the control). Returns what follows, NULL: not of this form. */
static const char *skip_parse(const char *p, unsigned int *count)
{
	if (*p < '0' || *p > '9')
		return NULL;
	for (*count = 0; *p >= '0' && *p <= '9'; p++) {
		*count = *count * 10 + (*p - '0');
		if (*count > FORMAT_BYTES_MAX)
			return NULL;
	}
	if (*p == ' ')
		return p + 1;
	return *p == '\n' || *p == '\r' || !*p ? p : NULL;
}

/* A control that takes data, at p: what follows it, NULL: it is none. */
static const char *data_parse(const char *p, struct format_step *step,
			      const struct format_types *types,
			      struct format *format)
{
	const char *name;
	size_t length;

	if (p[0] == '%' && p[1] == '{') {
		/* After "%{": the name up to the brace, on one line. */
		name = p + 2;
		length = strcspn(name, "}%\n");
		if (!length || name[length] != '}')
			return NULL;
		step->letter = '{';
		if (format_typed_parse(name, length, step, format))
			return name + length + 1;
		*step = (struct format_step){
			.kind = FORMAT_CONTROL,
			.letter = '{',
			.type = FORMAT_NAMED,
			.text = name,
			.length = length,
		};
		step->ctype =
			types ? types->find(types->context, name, length) : 0;
		return step->ctype == TFF_CTYPE_NONE ? NULL : name + length + 1;
	}
	if (*p != '%' || !letter_is(p[1], FORMAT_DATA))
		return NULL;
	step->letter = format_letter_upper(p[1]);
	return step->letter == 'I' ? skip_parse(p + 2, &step->count) : p + 2;
}

/* A control at p: fills the step, returns what follows; NULL: it is none. */
static const char *control_parse(const char *p, struct format_step *step,
				 const struct format_types *types,
				 struct format *format)
{
	struct format_step repeated = { 0 };
	const char *data;

	*step = (struct format_step){ .kind = FORMAT_CONTROL };
	if (*p != '%')
		return NULL;
	if (!letter_is(p[1], FORMAT_PREFIXES FORMAT_CODES))
		return data_parse(p, step, types, format);
	step->letter = format_letter_upper(p[1]);
	p += 2;
	if (format_letter_in(step->letter, FORMAT_CODES))
		return p;
	/* blanks between a prefix and a data control are part of the prefix;
	 * %R is nothing without a control to repeat */
	data = p + strspn(p, " ");
	if (data_parse(data, &repeated, types, format))
		return data;
	return step->letter == 'P' ? p : NULL;
}

/* Append a control; the names in it are kept. */
static void control_add(struct format *format, size_t *used,
			const struct format_step *control)
{
	struct format_step *step = &format->steps[format->count++];
	struct format_name *names;

	*step = *control;
	if (!step->length)
		return;
	step->text = memcpy(format->text + *used, control->text,
			    control->length);
	*used += step->length;
	if (!step->name_count)
		return;
	names = format->names + format->name_count;
	format->name_count += step->name_count;
	step->names = names;
	for (size_t i = 0; i < step->name_count; i++)
		names[i].text = step->text + (names[i].text - control->text);
}

/* Append literal text, to the text step before it if there is one. */
static void format_text_add(struct format *format, size_t *used, const char *p,
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

/* "W" after "%P", for "%P%W": fills the step, returns what follows; NULL: it
 * is text. */
static const char *joined_parse(const char *p, struct format_step *step)
{
	if (step->letter != 'P' || !letter_is(*p, FORMAT_DATA))
		return NULL;
	*step = (struct format_step){
		.kind = FORMAT_CONTROL, .letter = format_letter_upper(*p),
	};
	if (step->letter == 'I')
		return skip_parse(p + 1, &step->count);
	return format_alphanumeric(p[1]) ? NULL : p + 1;
}

/* Every control has a '%', or one has two controls ("%PW"), and at most one
 * text comes before each. */
static size_t steps_max(const char *string)
{
	size_t n = 1;

	for (; *string; string++)
		n += *string == '%' ? 3 : 0;
	return n;
}

/* Every name has a '='. */
static size_t names_max(const char *string)
{
	size_t n = 0;

	for (; *string; string++)
		n += *string == '=';
	return n;
}

int format_compile(struct format *format, const char *string,
		   const struct format_types *types)
{
	const char *p;
	const char *next;
	struct format_step step;
	size_t used;
	size_t length;

	*format = (struct format){ .unknown_at = (size_t)-1 };
	format->steps = calloc(steps_max(string), sizeof(*format->steps));
	format->text = malloc(strlen(string) + 1);
	format->names = calloc(names_max(string) + 1, sizeof(*format->names));
	if (!format->steps || !format->text || !format->names) {
		format_free(format);
		return -ENOMEM;
	}
	p = string;
	used = 0;
	while (*p) {
		next = control_parse(p, &step, types, format);
		if (next) {
			step.at = p - string;
			control_add(format, &used, &step);
			p = next;
			next = joined_parse(p, &step);
			if (!next)
				continue;
			step.at = p - 1 - string;
			control_add(format, &used, &step);
			p = next;
			continue;
		}
		length = *p == '%' ? 1 : strcspn(p, "%");
		format_text_add(format, &used, p, length);
		if (p[0] == '%' && p[1] == '%')
			p++;
		else if (*p == '%' && format->unknown_at == (size_t)-1)
			format->unknown_at = p - string;
		p += length;
	}
	return 0;
}

void format_free(struct format *format)
{
	free(format->steps);
	free(format->text);
	free(format->names);
	*format = (struct format){ .unknown_at = (size_t)-1 };
}

size_t format_type_tag(const char *name, size_t length, uint8_t *kind)
{
	static const struct {
		const char *word;
		uint8_t kind;
	} tags[] = {
		{ "struct ", TFF_CTYPE_STRUCT }, { "class ", TFF_CTYPE_STRUCT },
		{ "union ", TFF_CTYPE_UNION }, { "enum ", TFF_CTYPE_ENUM },
	};

	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		size_t n = strlen(tags[i].word);

		*kind = tags[i].kind;
		if (length > n && !strncmp(name, tags[i].word, n))
			return n;
	}
	return 0;
}

int format_type_match(const char *ctype, uint8_t kind, const char *name,
		      size_t length)
{
	uint8_t tag_kind;
	size_t tag = format_type_tag(name, length, &tag_kind);

	if (!strncmp(ctype, name, length) && !ctype[length])
		return 2;
	return tag && tag_kind == kind &&
	       !strncmp(ctype, name + tag, length - tag) &&
	       !ctype[length - tag];
}

bool format_name_reserved(const char *name)
{
	struct format_step step;

	return *name && format_typed_parse(name, strlen(name), &step, NULL);
}

unsigned int format_step_bytes(const struct format_step *step)
{
	switch (step->letter) {
	case 'I':
		return step->count;
	case 'B':
	case 'C':
		return 1;
	case 'W':
		return 2;
	case 'D':
	case 'F':
	case 'A':
		return 4;
	case 'Q':
	case 'L':
		return 8;
	case '{':
		return step->bytes;
	default:
		return 0;
	}
}
