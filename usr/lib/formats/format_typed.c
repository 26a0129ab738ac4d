// SPDX-License-Identifier: GPL-2.0
#include "format_typed.h"

#include <string.h>

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

bool format_typed_parse(const char *name, size_t length,
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
