// SPDX-License-Identifier: GPL-2.0
#include "control.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <time.h>
#include "lib/number.h"
#include "lib/text.h"
#include "lib/formats/format_typed.h"

#define NUMBER_SECOND	1000000000u

uint64_t control_load(const struct format_step *step,
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

bool control_load_time(const struct format_step *step, const uint8_t *data,
		      int64_t *ns)
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

bool control_load_duration(const struct format_step *step, const uint8_t *data,
			  uint64_t *ns)
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

static char *put_octal(char *p, uint64_t value)
{
	if (value)
		*p++ = '0';
	return number_put_digits(p, value, 3);
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

/* "1.000000002s" */
static char *put_duration(const struct format_step *step, uint64_t value,
			  char *p)
{
	uint64_t second = NUMBER_SECOND / step->unit;

	p = text_put_decimal(p, value / second);
	*p++ = '.';
	p = text_put_padded(p, value % second, unit_digits(step->unit));
	*p++ = 's';
	return p;
}

static char *control_put_address(char *p, int family, const uint8_t *data)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, data, text, sizeof(text));
	return text_put(p, text, strlen(text));
}

static char *put_mac(char *p, const uint8_t *data)
{
	for (int i = 0; i < 6; i++) {
		if (i)
			*p++ = ':';
		p = text_put_hex(p, data[i], 2);
	}
	return p;
}

static char *put_enum(const struct format_step *step, uint64_t value, char *p)
{
	const struct format_name *name = format_enum_find(step, value);

	if (name)
		return text_put(p, name->text, name->length);
	return step->is_signed ? number_put_signed(p, value, step->bits) :
				 text_put_decimal(p, value);
}

/* "READ | SYNC | 0x40", "0" */
static char *put_flags(const struct format_step *step, uint64_t value, char *p)
{
	uint64_t rest = value;
	const char *bar = "";

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
		p = rest ? number_put_pointer(p, rest) : TEXT_PUT(p, "0");
	}
	return p;
}

/* In the order of bytes that the machine has. */
static char *put_float(const struct format_step *step, const uint8_t *data,
		       char *p)
{
	uint64_t raw = control_load(step, data);

	return number_put_float(p, (const uint8_t *)&raw, step->bytes);
}

/* Those of one integer. */
static char *put_integer(const struct format_step *step, uint64_t value,
			 char *p)
{
	switch (step->type) {
	case FORMAT_INT:
		return number_put_signed(p, value, step->bits);
	case FORMAT_HEX:
		return text_put_hex(p, value, (step->bits + 3) / 4);
	case FORMAT_OCTAL:
		return put_octal(p, value);
	case FORMAT_BINARY:
		return put_binary(p, value, step->bits);
	case FORMAT_ENUM:
		return put_enum(step, value, p);
	case FORMAT_FLAGS:
		return put_flags(step, value, p);
	case FORMAT_POINTER:
		return number_put_pointer(p, value);
	case FORMAT_BOOL:
		return number_put_bool(p, value);
	case FORMAT_TIME:
		return put_time_units(step, value, p);
	case FORMAT_DURATION:
		return put_duration(step, value, p);
	default:
		return text_put_decimal(p, value);
	}
}

char *control_put(const struct format_step *step, const uint8_t *data,
			 char *p)
{
	switch (step->type) {
	case FORMAT_FLOAT:
		return put_float(step, data, p);
	case FORMAT_TIMESPEC:
		return put_time_pair(p, data, 9);
	case FORMAT_TIMEVAL:
		return put_time_pair(p, data, 6);
	case FORMAT_IP4:
		return control_put_address(p, AF_INET, data);
	case FORMAT_IP6:
		return control_put_address(p, AF_INET6, data);
	case FORMAT_MAC:
		return put_mac(p, data);
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
