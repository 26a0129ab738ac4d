// SPDX-License-Identifier: GPL-2.0
#include "format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/tff.h>

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

/* Digits only, at most FORMAT_SKIP_MAX; 0: something else. */
static unsigned int number_parse(const char *p, size_t length)
{
	unsigned int value = 0;

	for (size_t i = 0; i < length; i++) {
		if (p[i] < '0' || p[i] > '9' || (!i && p[i] == '0'))
			return 0;
		value = value * 10 + (p[i] - '0');
		if (value > FORMAT_SKIP_MAX)
			return 0;
	}
	return value;
}

/* "d32": a letter and the width in bits, 8 or 16 to 64. */
static bool scalar_parse(const char *name, size_t length,
			 struct format_step *step)
{
	static const struct {
		char letter;
		enum format_type type;
		unsigned int least;	/* bits */
	} scalars[] = {
		{ 'd', FORMAT_INT, 8 }, { 'u', FORMAT_UINT, 8 },
		{ 'x', FORMAT_HEX, 8 }, { 'o', FORMAT_OCTAL, 8 },
		{ 'b', FORMAT_BINARY, 8 }, { 'f', FORMAT_FLOAT, 32 },
		{ 'p', FORMAT_POINTER, 32 },
	};
	unsigned int bits = number_parse(name + 1, length - 1);

	if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
		return false;
	for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++) {
		if (name[0] != scalars[i].letter || bits < scalars[i].least)
			continue;
		step->type = scalars[i].type;
		step->bytes = bits / 8;
		return true;
	}
	return false;
}

/* Is it one of the typed controls that aren't C types? */
static bool name_parse(const char *name, size_t length,
		       struct format_step *step)
{
	static const struct {
		const char *name;
		enum format_type type;
		unsigned int bytes;
	} words[] = {
		{ "bool", FORMAT_BOOL, 1 }, { "c", FORMAT_CHAR, 1 },
		{ "s", FORMAT_STRING, 0 }, { "hex", FORMAT_BYTES, 0 },
		{ "dump", FORMAT_DUMP, 0 }, { "be16", FORMAT_BIG, 2 },
		{ "be32", FORMAT_BIG, 4 }, { "be64", FORMAT_BIG, 8 },
		{ "time", FORMAT_TIME, 8 }, { "time32", FORMAT_TIME, 4 },
		{ "time64", FORMAT_TIME, 8 },
		{ "timespec", FORMAT_TIMESPEC, 16 },
		{ "timeval", FORMAT_TIMEVAL, 16 },
		{ "ns", FORMAT_DURATION, 8 }, { "ip4", FORMAT_IP4, 4 },
		{ "ip6", FORMAT_IP6, 16 }, { "mac", FORMAT_MAC, 6 },
		{ "sym", FORMAT_SYM, 8 }, { "sym32", FORMAT_SYM, 4 },
		{ "stack", FORMAT_STACK, 0 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (length != strlen(words[i].name) ||
		    memcmp(name, words[i].name, length))
			continue;
		step->type = words[i].type;
		step->bytes = words[i].bytes;
		return true;
	}
	if (length > 3 && !memcmp(name, "hex", 3)) {
		step->type = FORMAT_BYTES;
		step->bytes = number_parse(name + 3, length - 3);
		return step->bytes;
	}
	return scalar_parse(name, length, step);
}

/* Behind "%{": the name up to the brace, on one line. */
static const char *typed_parse(const char *name, struct format_step *step,
			       const struct format_types *types)
{
	size_t length = strcspn(name, "}%\n");

	if (!length || name[length] != '}')
		return NULL;
	step->letter = '{';
	if (name_parse(name, length, step))
		return name + length + 1;
	step->type = FORMAT_NAMED;
	step->bytes = 0;
	step->text = name;
	step->length = length;
	step->ctype = types ? types->find(types->context, name, length) : 0;
	return step->ctype == TFF_CTYPE_NONE ? NULL : name + length + 1;
}

/* A control that takes data, at p: what follows it, NULL: it is none. */
static const char *data_parse(const char *p, struct format_step *step,
			      const struct format_types *types)
{
	if (p[0] == '%' && p[1] == '{')
		return typed_parse(p + 2, step, types);
	if (*p != '%' || !letter_in(letter_upper(p[1]), FORMAT_DATA))
		return NULL;
	step->letter = letter_upper(p[1]);
	return step->letter == 'I' ? skip_parse(p + 2, &step->count) : p + 2;
}

/* A control at p: fills the step, returns what follows; NULL: it is none. */
static const char *control_parse(const char *p, struct format_step *step,
				 const struct format_types *types)
{
	struct format_step repeated;
	const char *data;

	*step = (struct format_step){ .kind = FORMAT_CONTROL };
	if (*p != '%')
		return NULL;
	if (!letter_in(letter_upper(p[1]), FORMAT_PREFIXES FORMAT_CODES))
		return data_parse(p, step, types);
	step->letter = letter_upper(p[1]);
	p += 2;
	if (letter_in(step->letter, FORMAT_CODES))
		return p;
	/* blanks between a prefix and a data control are part of the prefix;
	 * %R is nothing without a control to repeat */
	data = p + strspn(p, " ");
	if (data_parse(data, &repeated, types))
		return data;
	return step->letter == 'P' ? p : NULL;
}

/* Append a control; the name in it is kept. */
static void control_add(struct format *format, size_t *used,
			const struct format_step *control)
{
	struct format_step *step = &format->steps[format->count++];

	*step = *control;
	if (!step->length)
		return;
	step->text = memcpy(format->text + *used, control->text,
			    control->length);
	*used += step->length;
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

static void format_parse(struct format *format, const char *string,
			 const struct format_types *types)
{
	const char *p = string, *next;
	struct format_step step;
	size_t used = 0, length;

	while (*p) {
		next = control_parse(p, &step, types);
		if (next) {
			step.at = p - string;
			control_add(format, &used, &step);
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

int format_compile(struct format *format, const char *string,
		   const struct format_types *types)
{
	*format = (struct format){ .unknown_at = (size_t)-1 };
	format->steps = calloc(steps_max(string), sizeof(*format->steps));
	format->text = malloc(strlen(string) + 1);
	if (!format->steps || !format->text) {
		format_free(format);
		return -ENOMEM;
	}
	format_parse(format, string, types);
	return 0;
}

void format_free(struct format *format)
{
	free(format->steps);
	free(format->text);
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

	return *name && name_parse(name, strlen(name), &step);
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
