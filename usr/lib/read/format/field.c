// SPDX-License-Identifier: GPL-2.0
#include "field.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/number.h"
#include "lib/text.h"
#include "lib/formats/format.h"
#include "lib/hash.h"
#include "lib/key_map.h"

#define NUMBER_SECOND	1000000000u

/*
 * Typed controls (format.h); all their bytes are at data. Those with bits: the
 * value in its order of bytes, bits above it zero (number_sign()).
 */
static uint64_t control_load(const struct format_step *step,
			     const uint8_t *data)
{
	uint64_t value = number_load(data, step->bytes);

	if (step->big)
		value = __builtin_bswap64(value) >> (64 - 8 * step->bytes);
	return step->bits < 64 ? value & ((1ULL << step->bits) - 1) : value;
}

/* Seconds and a fraction in units of so many ns. */
static bool time_pair_load(const uint8_t *data, uint32_t unit, int64_t *ns)
{
	int64_t seconds = number_load(data, 8);
	uint64_t fraction = number_load(data + 8, 8);

	return fraction < NUMBER_SECOND / unit &&
	       !__builtin_mul_overflow(seconds, (int64_t)NUMBER_SECOND, ns) &&
	       !__builtin_add_overflow(*ns, (int64_t)fraction * unit, ns);
}

/* TIME, TIMESPEC, TIMEVAL: ns since 1970; false: it doesn't fit, or its
 * fraction is a second or more. */
static bool control_load_time(const struct format_step *step,
			      const uint8_t *data, int64_t *ns)
{
	if (step->type == FORMAT_TIMESPEC)
		return time_pair_load(data, 1, ns);
	if (step->type == FORMAT_TIMEVAL)
		return time_pair_load(data, 1000, ns);
	return !__builtin_mul_overflow(number_sign(control_load(step,
								       data),
						   step->bits),
				       (int64_t)step->unit, ns);
}

/* DURATION: ns; false: it doesn't fit. */
static bool control_load_duration(const struct format_step *step,
				  const uint8_t *data, uint64_t *ns)
{
	return !__builtin_mul_overflow(control_load(step, data),
				       (uint64_t)step->unit, ns);
}

static char *put_binary(char *p, uint64_t value, unsigned int bits)
{
	while (bits--)
		*p++ = value >> bits & 1 ? '1' : '0';
	return p;
}

/* Digits of a fraction that has units of so many ns. */
static int unit_digits(uint32_t unit)
{
	int digits = 0;

	for (; unit < NUMBER_SECOND; unit *= 10)
		digits++;
	return digits;
}

/* "2026-02-03T18:07:32.5Z" with so many digits of the fraction; a number where
 * there is no such date. */
static char *control_put_time(char *p, int64_t seconds, uint64_t fraction,
			      int digits)
{
	time_t time = seconds;
	struct tm tm;

	if (gmtime_r(&time, &tm))
		p += sprintf(p, "%04lld-%02d-%02dT%02d:%02d:%02d",
			     tm.tm_year + 1900LL, tm.tm_mon + 1, tm.tm_mday,
			     tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		p = number_put_signed(p, seconds, 64);
	if (digits)
		p += sprintf(p, ".%0*llu", digits,
			     (unsigned long long)fraction);
	return TEXT_PUT(p, "Z");
}

static char *put_time_pair(char *p, const uint8_t *data, int digits)
{
	return control_put_time(p, number_load(data, 8),
				number_load(data + 8, 8), digits);
}

static char *put_time_units(const struct format_step *step, uint64_t value,
			    char *p)
{
	int64_t units = number_sign(value, step->bits);
	int64_t second = NUMBER_SECOND / step->unit;
	int64_t seconds = units / second - (units % second < 0);

	return control_put_time(p, seconds, (uint64_t)units - seconds * second,
				unit_digits(step->unit));
}

static char *control_put_address(char *p, int family, const uint8_t *data)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, data, text, sizeof(text));
	return text_put(p, text, strlen(text));
}

static char *put_enum(const struct format_step *step, uint64_t value, char *p)
{
	const struct format_name *name = format_enum_find(step, value);

	if (name)
		return text_put(p, name->text, name->length);
	return step->is_signed ? number_put_signed(p, value, step->bits) :
				 text_put_decimal(p, value);
}

/* Those of one integer. */
static char *put_integer(const struct format_step *step, uint64_t value,
			 char *p)
{
	uint64_t rest;
	const char *bar;
	uint64_t second;

	switch (step->type) {
	case FORMAT_INT:
		return number_put_signed(p, value, step->bits);
	case FORMAT_HEX:
		return text_put_hex(p, value, (step->bits + 3) / 4);
	case FORMAT_OCTAL:
		if (value)
			*p++ = '0';
		return number_put_digits(p, value, 3);
	case FORMAT_BINARY:
		return put_binary(p, value, step->bits);
	case FORMAT_ENUM:
		return put_enum(step, value, p);
	case FORMAT_FLAGS:
		/* "READ | SYNC | 0x40", "0" */
		rest = value;
		bar = "";
		for (size_t i = 0; i < step->name_count; i++) {
			const struct format_name *name = &step->names[i];

			if ((value & name->mask) != name->value)
				continue;
			p = text_put(p, bar, strlen(bar));
			p = text_put(p, name->text, name->length);
			bar = " | ";
			rest &= ~name->mask;
		}
		if (rest || !*bar) {
			p = text_put(p, bar, strlen(bar));
			p = rest ? number_put_pointer(p, rest)
				 : TEXT_PUT(p, "0");
		}
		return p;
	case FORMAT_POINTER:
		return number_put_pointer(p, value);
	case FORMAT_BOOL:
		return number_put_bool(p, value);
	case FORMAT_TIME:
		return put_time_units(step, value, p);
	case FORMAT_DURATION:
		/* "1.000000002s" */
		second = NUMBER_SECOND / step->unit;
		p = text_put_decimal(p, value / second);
		*p++ = '.';
		p = text_put_padded(p, value % second, unit_digits(step->unit));
		*p++ = 's';
		return p;
	default:
		return text_put_decimal(p, value);
	}
}

char *control_put(const struct format_step *step, const uint8_t *data, char *p)
{
	uint64_t raw;

	switch (step->type) {
	case FORMAT_FLOAT:
		/* In the order of bytes that the machine has. */
		raw = control_load(step, data);
		return number_put_float(p, (const uint8_t *)&raw, step->bytes);
	case FORMAT_TIMESPEC:
		return put_time_pair(p, data, 9);
	case FORMAT_TIMEVAL:
		return put_time_pair(p, data, 6);
	case FORMAT_IP4:
		return control_put_address(p, AF_INET, data);
	case FORMAT_IP6:
		return control_put_address(p, AF_INET6, data);
	case FORMAT_MAC:
		for (int i = 0; i < 6; i++) {
			if (i)
				*p++ = ':';
			p = text_put_hex(p, data[i], 2);
		}
		return p;
	default:
		return put_integer(step, control_load(step, data), p);
	}
}

size_t control_room(const struct format_step *step)
{
	size_t room = NUMBER_MAX;

	for (size_t i = 0; i < step->name_count; i++)
		room += step->names[i].length + sizeof(" | ");
	return room;
}

#define NUMBER_DIGITS	12	/* of "_4096" and "arg4096", with some room */

/* ---- names ---- */

/* Blanks and what sets a value off from its label. */
static bool is_edge(char c)
{
	return c && strchr(" \t=:,;'\"`", c);
}

/* 1: a bracket that opens; -1: one that closes; 0: none, as "->". */
static int bracket_kind(const char *at, const char *start)
{
	if (*at == '>' && at > start && at[-1] == '-')
		return 0;
	if (strchr("([{<", *at))
		return 1;
	return strchr(")]}>", *at) ? -1 : 0;
}

/* The bracket at an end of the label belongs to it: its partner is there, too,
 * and they aren't around the whole label. */
static bool bracket_belongs(const char *at, const char *start, const char *end)
{
	const char *other = at == start ? end - 1 : start;
	int step = bracket_kind(at, start), depth = 0;

	if (step != (at == start ? 1 : -1))
		return false;
	for (; at >= start && at < end; at += step) {
		depth += bracket_kind(at, start);
		if (!depth)
			return at != other;
	}
	return false;
}

static bool is_trimmed(const char *at, const char *start, const char *end)
{
	return is_edge(*at) || (bracket_kind(at, start) &&
				!bracket_belongs(at, start, end));
}

static bool is_field_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

/* The text before the control; prefixes and skips may be between. */
static char *field_label_make(const struct decode_format *format, size_t at)
{
	const struct decode_step *step;
	const char *start, *end;

	while (at && strchr("PRI", format->steps[at - 1].letter) &&
	       format->steps[at - 1].letter != STEP_TEXT)
		at--;
	if (!at || format->steps[at - 1].letter != STEP_TEXT)
		return strdup("");
	step = &format->steps[at - 1];
	end = step->text + step->length;
	for (start = end; start > step->text && start[-1] != '\n'; start--)
		;
	while (start < end && (is_trimmed(start, start, end) ||
			       is_trimmed(end - 1, start, end)))
		if (is_trimmed(start, start, end))
			start++;
		else
			end--;
	return strndup(start, end - start);
}

/* The label, fit for a name, at p; "" when nothing of it is. */
static void field_name_clean(const char *label, char *p)
{
	char *start = p;

	if (*label >= '0' && *label <= '9')
		*p++ = '_';
	for (; *label; label++) {
		if (is_field_name(*label))
			*p++ = *label;
		else if (p > start && p[-1] != '_')
			*p++ = '_';
	}
	while (p > start && p[-1] == '_')
		p--;
	*p = '\0';
}

static bool field_name_given(const struct key_map *names, const char *name)
{
	uint64_t key = hash_fnv(HASH_FNV_START, name, strlen(name));
	const char *given;
	size_t step = 0;

	while ((given = key_map_each(names, key, &step)))
		if (!strcmp(given, name))
			return true;
	return false;
}

/* names: those given so far */
static int field_name_make(struct key_map *names,
			   const struct decode_format *format,
			   struct field *field, size_t number)
{
	size_t length;

	field->label = field_label_make(format, field->step - format->steps);
	field->name = field->label ?
		      malloc(strlen(field->label) + 2 * NUMBER_DIGITS) : NULL;
	if (!field->name)
		return -ENOMEM;
	field_name_clean(field->label, field->name);
	if (!field->name[0])
		sprintf(field->name, "arg%zu", number);
	/* A name that is there already gets a number at its end. */
	length = strlen(field->name);
	for (unsigned int n = 2; field_name_given(names, field->name); n++)
		sprintf(field->name + length, "_%u", n);
	return key_map_add(names, hash_fnv(HASH_FNV_START, field->name,
					   strlen(field->name)), field->name);
}

/* ---- kinds ---- */

static void number_set(struct field *field, enum field_kind kind, uint8_t base,
		       size_t bytes)
{
	field->kind = kind;
	field->base = base;
	field->bytes = bytes;
	field->bits = bytes < 8 ? 8 * bytes : 64;
}

static void named_set(struct field *field, const struct decode_format *format)
{
	static const enum field_kind kinds[] = {
		[VALUE_UNSIGNED] = FIELD_UNSIGNED,
		[VALUE_SIGNED] = FIELD_SIGNED, [VALUE_BOOL] = FIELD_BOOL,
		[VALUE_CHARACTER] = FIELD_CTYPE,
		[VALUE_POINTER] = FIELD_POINTER, [VALUE_ENUM] = FIELD_ENUM,
		[VALUE_FLOAT] = FIELD_FLOAT,
	};
	uint32_t ctype = field->step->ctype;
	const struct tff_ctype *type = &format->types.types[ctype];
	enum value_kind kind = value_kind(&format->types, ctype);

	field->ctype = ctype;
	field->kind = kind <= VALUE_FLOAT ? kinds[kind] : FIELD_CTYPE;
	field->is_signed = kind <= VALUE_ENUM && value_is_signed(type);
	if (field->kind != FIELD_CTYPE)
		number_set(field, field->kind,
			   field->kind == FIELD_POINTER ? 16 : 10, type->bytes);
	else if (kind == VALUE_CHARACTER && type->bytes == 1)
		field->kind = FIELD_STRING;
	else if (type->kind == TFF_CTYPE_BYTES)
		field->kind = FIELD_BYTES;
}

static void typed_set(struct field *field)
{
	static const struct {
		enum format_type type;
		enum field_kind kind;
		uint8_t base;
	} kinds[] = {
		{ FORMAT_INT, FIELD_SIGNED, 10 },
		{ FORMAT_UINT, FIELD_UNSIGNED, 10 },
		{ FORMAT_HEX, FIELD_UNSIGNED, 16 },
		{ FORMAT_OCTAL, FIELD_UNSIGNED, 8 },
		{ FORMAT_BINARY, FIELD_UNSIGNED, 2 },
		{ FORMAT_ENUM, FIELD_ENUM, 10 },
		{ FORMAT_FLAGS, FIELD_FLAGS, 16 },
		{ FORMAT_FLOAT, FIELD_FLOAT, 10 },
		{ FORMAT_POINTER, FIELD_POINTER, 16 },
		{ FORMAT_BOOL, FIELD_BOOL, 10 },
		{ FORMAT_TIME, FIELD_TIME, 10 },
		{ FORMAT_TIMESPEC, FIELD_TIME, 10 },
		{ FORMAT_TIMEVAL, FIELD_TIME, 10 },
		{ FORMAT_DURATION, FIELD_DURATION, 10 },
	};
	const struct format_step *source = &field->step->source;

	field->kind = FIELD_TEXT;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].type == source->type)
			number_set(field, kinds[i].kind, kinds[i].base,
				   source->bytes);
	if (source->bits)
		field->bits = source->bits;
	field->is_signed = source->is_signed || source->type == FORMAT_INT;
}

/* Names of ENUM and FLAGS. */
static int values_name(struct field *field)
{
	const struct format_step *source = &field->step->source;

	if (field->step->letter != STEP_TYPED || !source->name_count)
		return 0;
	field->names = calloc(source->name_count, sizeof(*field->names));
	if (!field->names)
		return -ENOMEM;
	for (; field->name_count < source->name_count; field->name_count++) {
		const struct format_name *name =
			&source->names[field->name_count];

		field->names[field->name_count] =
			strndup(name->text, name->length);
		if (!field->names[field->name_count])
			return -ENOMEM;
	}
	return 0;
}

static void kind_set(struct field *field, const struct decode_format *format)
{
	switch (field->step->letter) {
	case 'C':
	case 'S':
		field->kind = FIELD_STRING;
		break;
	case 'U':
	case STEP_HEX:
	case STEP_DUMP:
		field->kind = FIELD_BYTES;
		break;
	case STEP_SYM:
		number_set(field, FIELD_ADDRESS, 16, field->step->bytes);
		break;
	case STEP_STACK:
		field->kind = FIELD_STACK;
		break;
	case 'A':
		field->kind = FIELD_TEXT;
		break;
	case STEP_VALUE:
		named_set(field, format);
		break;
	case STEP_TYPED:
		typed_set(field);
		break;
	default:	/* B W D F Q L */
		number_set(field, FIELD_UNSIGNED, 16, field->step->bytes);
	}
}

/* ---- the set ---- */

static int field_set_fill(struct field_set *set, struct decode_format *format,
			  struct key_map *names)
{
	for (size_t i = 0; i < format->count; i++) {
		struct decode_step *step = &format->steps[i];
		struct field *field = &set->fields[set->count];

		step->field = DECODE_NO_FIELD;
		if (step->letter == STEP_TEXT || step->hidden ||
		    strchr("PRXYI", step->letter))
			continue;
		step->field = set->count++;
		*field = (struct field){
			.array = step->repeats, .ctype = TFF_CTYPE_NONE,
			.step = step,
		};
		kind_set(field, format);
		if (values_name(field) ||
		    field_name_make(names, format, field, set->count))
			return -ENOMEM;
	}
	return 0;
}

int field_set_make(struct field_set *set, struct decode_format *format)
{
	struct key_map names = { 0 };
	int code = -ENOMEM;

	*set = (struct field_set){
		.fields = calloc(format->count + 1, sizeof(*set->fields)),
	};
	if (set->fields)
		code = field_set_fill(set, format, &names);
	key_map_free(&names);
	if (code)
		field_set_free(set);
	return code;
}

void field_set_free(struct field_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct field *field = &set->fields[i];

		for (size_t n = 0; n < field->name_count; n++)
			free(field->names[n]);
		free(field->names);
		free(field->name);
		free(field->label);
	}
	free(set->fields);
	*set = (struct field_set){ 0 };
}

const struct field *field_find(const struct field_set *set, const char *name,
			       size_t length)
{
	for (size_t i = 0; i < set->count; i++)
		if (!strncmp(set->fields[i].name, name, length) &&
		    !set->fields[i].name[length])
			return &set->fields[i];
	return NULL;
}

/* ---- values ---- */

static double float_load(const struct field *field, const uint8_t *data)
{
	uint64_t raw = number_load(data, field->bytes);
	double wide;
	float narrow;

	if (field->step->source.big)
		raw = __builtin_bswap64(raw) >> (64 - 8 * field->bytes);
	if (field->bytes == sizeof(wide)) {
		memcpy(&wide, &raw, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, &raw, sizeof(narrow));
	return narrow;
}

/* An integer, of a control with bits or not. */
static void integer_read(const struct field *field, struct field_value *value)
{
	const struct format_step *source = &field->step->source;

	value->u = field->step->letter == STEP_TYPED && source->bits ?
		   control_load(source, value->data) :
		   number_load(value->data, field->bytes);
	if (field->is_signed)
		value->i = number_sign(value->u, field->bits);
}

/* Times that don't fit 64 bits are text only. */
static void field_number_read(const struct field *field,
			      struct field_value *value)
{
	const struct format_step *source = &field->step->source;

	switch (field->kind) {
	case FIELD_TIME:
		if (!control_load_time(source, value->data, &value->i))
			value->kind = FIELD_TEXT;
		break;
	case FIELD_DURATION:
		if (!control_load_duration(source, value->data, &value->u))
			value->kind = FIELD_TEXT;
		break;
	case FIELD_FLOAT:
		value->f = float_load(field, value->data);
		break;
	default:
		integer_read(field, value);
	}
}

/* Bytes that there must be for a value. */
static uint32_t least_bytes(const struct field *field)
{
	switch (field->kind) {
	case FIELD_STRING:	/* without what follows its zero */
		return field->step->letter == 'C';
	case FIELD_CTYPE:
		return 1;
	default:
		return field->step->bytes;
	}
}

/* The first bytes of such a value are useful. */
static bool takes_part(enum field_kind kind)
{
	return kind == FIELD_STRING || kind == FIELD_BYTES ||
	       kind == FIELD_CTYPE;
}

struct field_value field_value(const struct field *field,
			       const struct decode_piece *piece)
{
	struct field_value value = {
		.kind = field->kind, .note = piece->note,
		.data = piece->data, .length = piece->bytes,
		.pointer = piece->pointer,
	};

	if (piece->nothing)
		return value;
	switch (piece->note) {
	case NOTE_NONE:
	case NOTE_CUT:
	case NOTE_NO_END:
		value.there = piece->bytes >= least_bytes(field);
		break;
	case NOTE_SHORT:
		value.there = piece->bytes && takes_part(field->kind);
		break;
	default:
		return value;
	}
	if (!value.there && value.note == NOTE_NONE)
		value.note = NOTE_SHORT;
	else if (value.there && field->bytes)
		field_number_read(field, &value);
	if (field->kind == FIELD_STACK &&
	    RAS_ITEM_KIND(piece->status) != RAS_ITEM_STACK)
		value.kind = FIELD_BYTES;
	return value;
}

/* A hostile type has any number of enumerators. */
#define ENUMERATORS_MOST	65536

const char *field_enum_name(const struct decode_format *format,
			    const struct field *field, uint64_t value)
{
	uint32_t work = ENUMERATORS_MOST;
	const struct format_step *source;
	const struct format_name *name;

	if (field->kind != FIELD_ENUM)
		return NULL;
	if (field->names) {
		source = &field->step->source;
		name = format_enum_find(source, value);
		return name ? field->names[name - source->names] : NULL;
	}
	return value_enumerator(&format->types, field->ctype, value, &work);
}

const struct decode_piece *field_piece(const struct field *field,
				       const struct decode_piece *pieces,
				       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pieces[i].step == field->step)
			return &pieces[i];
	return NULL;
}

char *field_text_put(const struct field *field,
		     const struct decode_piece *piece, char *p)
{
	const uint8_t *data = piece->data;
	bool memory = piece->in_item;

	if (field->step->letter != 'A')
		return control_put(&field->step->source, data, p);
	/* registers: segment first; memory: offset first */
	p = text_put_hex(p, number_load(data + (memory ? 2 : 0), 2), 4);
	*p++ = ':';
	return text_put_hex(p, number_load(data + (memory ? 0 : 2), 2), 4);
}
