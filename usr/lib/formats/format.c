// SPDX-License-Identifier: GPL-2.0
#include "format.h"

#include <errno.h>
#include <rastrace/tff.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT_BYTES_MAX	65535	/* that a control takes */

static char format_letter_upper(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

static bool format_alphanumeric(char c)
{
	c = format_letter_upper(c);
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

static bool format_letter_in(char c, const char *set)
{
	return c && strchr(set, c);
}

/* Digits only, at most FORMAT_BYTES_MAX; 0: something else. */
static unsigned int typed_number_parse(const char *p, size_t length)
{
	unsigned int value = 0;

	for (size_t i = 0; i < length; i++) {
		if (p[i] < '0' || p[i] > '9' || (!i && p[i] == '0'))
			return 0;
		value = value * 10 + (p[i] - '0');
		if (value > FORMAT_BYTES_MAX)
			return 0;
	}
	return value;
}

/* "32", "32be": the width of an integer or a float. */
static bool width_parse(const char *digits, size_t length,
			struct format_step *step)
{
	unsigned int bits;

	step->big = length > 2 && !memcmp(digits + length - 2, "be", 2);
	bits = typed_number_parse(digits, length - (step->big ? 2 : 0));
	step->bits = bits;
	step->bytes = (bits + 7) / 8;
	return bits && bits <= 64;
}

/* "hex5": a word and how many bytes. */
static bool sized_parse(const char *name, size_t length,
			struct format_step *step)
{
	static const struct {
		const char *word;
		enum format_type type;
	} words[] = {
		{ "hex", FORMAT_BYTES }, { "dump", FORMAT_DUMP },
		{ "str", FORMAT_STRING },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t n = strlen(words[i].word);

		if (length <= n || memcmp(name, words[i].word, n))
			continue;
		step->type = words[i].type;
		step->bytes = typed_number_parse(name + n, length - n);
		return step->bytes;
	}
	return false;
}

/* ---- names of values ---- */

/* Its value; 16: none. */
static unsigned int digit_value(char c)
{
	static const char digits[] = "0123456789ABCDEF";
	const char *at = c ? strchr(digits, format_letter_upper(c)) : NULL;

	return at ? at - digits : 16;
}

/* "12", "-1", "0x1F" up to one of `ends`; returns what follows, NULL: no such
 * number. */
static const char *value_parse(const char *p, const char *ends, uint64_t *value,
			       bool *is_signed)
{
	bool minus = *p == '-';
	unsigned int base = 10, digit;
	const char *digits;

	p += minus;
	if (p[0] == '0' && format_letter_upper(p[1]) == 'X') {
		base = 16;
		p += 2;
	}
	*value = 0;
	for (digits = p; (digit = digit_value(*p)) < base; p++) {
		if (*value > (UINT64_MAX - digit) / base)
			return NULL;
		*value = *value * base + digit;
	}
	if (minus)
		*value = -*value;
	*is_signed |= minus;
	return p > digits && format_letter_in(*p, ends) ? p : NULL;
}

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (format_alphanumeric(p[n]) || format_letter_in(p[n], "_.+-"))
		n++;
	return n;
}

/* "READ=1", "BOTH=3/3", before ',' or '}'; returns what follows, NULL: it is
 * none. */
static const char *named_parse(const char *p, struct format_step *step,
			       struct format_name *name)
{
	uint64_t all = step->bits < 64 ? (1ULL << step->bits) - 1 : UINT64_MAX;
	bool is_enum = step->type == FORMAT_ENUM, is_signed = false;
	uint64_t value, mask;

	*name = (struct format_name){ p, name_length(p) };
	if (!name->length || p[name->length] != '=')
		return NULL;
	p = value_parse(p + name->length + 1, is_enum ? ",}" : ",}/", &value,
			&is_signed);
	if (!p || (is_signed ? !is_enum || -value > all / 2 + 1 :
			       value > all))
		return NULL;
	mask = is_enum || !value ? all : value;
	if (*p == '/')
		p = value_parse(p + 1, ",}", &mask, &is_signed);
	if (!p || mask > all || is_signed > is_enum)
		return NULL;
	step->is_signed |= is_signed;
	name->value = value & all;
	name->mask = mask;
	return mask && !(name->value & ~mask) ? p : NULL;
}

/* "flags8:", "enum8:": returns what follows, NULL: it is something else. */
static const char *listed_parse(const char *name, size_t length,
				struct format_step *step)
{
	const char *colon = memchr(name, ':', length);
	size_t n = length > 5 && !memcmp(name, "flags", 5) ? 5 :
		   length > 4 && !memcmp(name, "enum", 4) ? 4 : 0;

	step->type = n == 5 ? FORMAT_FLAGS : FORMAT_ENUM;
	return n && colon && width_parse(name + n, colon - name - n, step) ?
	       colon + 1 : NULL;
}

/* "flags8:READ=1,WRITE=2" up to the brace. */
static bool names_parse(const char *name, size_t length,
			struct format_step *step, struct format *format)
{
	struct format_name *names = format ?
				    format->names + format->name_count : NULL;
	const char *p = listed_parse(name, length, step);
	struct format_name parsed;
	size_t n = 0;

	if (!p)
		return false;
	for (;; p++, n++) {
		p = named_parse(p + strspn(p, " "), step, &parsed);
		if (!p)
			return false;
		if (names)
			names[n] = parsed;
		if (*p == '}')
			break;
	}
	step->name_count = n + 1;
	step->text = name;
	step->length = length;
	return true;
}

bool format_name_listed(const char *name, size_t length)
{
	struct format_step step;

	return listed_parse(name, length, &step);
}

const struct format_name *format_enum_find(const struct format_step *step,
					   uint64_t value)
{
	for (size_t i = 0; i < step->name_count; i++)
		if ((value & step->names[i].mask) == step->names[i].value)
			return &step->names[i];
	return NULL;
}

/* ---- typed controls ---- */

#define SECONDS		1000000000

/*
 * Is it one of the typed controls that aren't C types? Names of its values are
 * added after those of format (or NULL).
 */
static bool format_typed_parse(const char *name, size_t length,
			       struct format_step *step, struct format *format)
{
	static const struct {
		char letter;
		enum format_type type;
		bool machine;	/* 32 and 64 bits only */
	} scalars[] = {
		{ 'd', FORMAT_INT }, { 'u', FORMAT_UINT }, { 'x', FORMAT_HEX },
		{ 'o', FORMAT_OCTAL }, { 'b', FORMAT_BINARY },
		{ 'f', FORMAT_FLOAT, true }, { 'p', FORMAT_POINTER, true },
	};
	static const struct {
		const char *name;
		enum format_type type;
		unsigned int bytes;
		uint32_t unit;
		bool big;
	} words[] = {
		{ "be16", FORMAT_UINT, 2, 0, true },
		{ "be32", FORMAT_UINT, 4, 0, true },
		{ "be64", FORMAT_UINT, 8, 0, true },
		{ "bool", FORMAT_BOOL, 1 }, { "c", FORMAT_CHAR, 1 },
		{ "s", FORMAT_STRING }, { "hex", FORMAT_BYTES },
		{ "dump", FORMAT_DUMP }, { "stack", FORMAT_STACK },
		{ "sym", FORMAT_SYM, 8 }, { "sym32", FORMAT_SYM, 4 },
		{ "time", FORMAT_TIME, 8, SECONDS },
		{ "time32", FORMAT_TIME, 4, SECONDS },
		{ "time64", FORMAT_TIME, 8, SECONDS },
		{ "time_ms", FORMAT_TIME, 8, 1000000 },
		{ "time_us", FORMAT_TIME, 8, 1000 },
		{ "time_ns", FORMAT_TIME, 8, 1 },
		{ "timespec", FORMAT_TIMESPEC, 16 },
		{ "timeval", FORMAT_TIMEVAL, 16 },
		{ "ms", FORMAT_DURATION, 8, 1000000 },
		{ "us", FORMAT_DURATION, 8, 1000 },
		{ "ns", FORMAT_DURATION, 8, 1 },
		{ "ip4", FORMAT_IP4, 4 }, { "ip6", FORMAT_IP6, 16 },
		{ "mac", FORMAT_MAC, 6 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (length != strlen(words[i].name) ||
		    memcmp(name, words[i].name, length))
			continue;
		step->type = words[i].type;
		step->bytes = words[i].bytes;
		step->unit = words[i].unit;
		step->bits = words[i].bytes * 8;
		step->big = words[i].big;
		return true;
	}

	if (sized_parse(name, length, step) ||
	    names_parse(name, length, step, format))
		return true;

	/* "d32": a letter and a width. */
	if (!width_parse(name + 1, length - 1, step))
		return false;
	for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++) {
		if (name[0] != scalars[i].letter)
			continue;
		step->type = scalars[i].type;
		return !scalars[i].machine || step->bits == 32 ||
		       step->bits == 64;
	}
	return false;
}

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
