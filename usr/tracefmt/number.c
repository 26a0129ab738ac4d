// SPDX-License-Identifier: GPL-2.0
#include "number.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "text.h"

char *number_put_signed(char *p, uint64_t raw, unsigned int bits)
{
	int64_t value = (int64_t)(raw << (64 - bits)) >> (64 - bits);

	if (value < 0)
		*p++ = '-';
	return text_put_decimal(p, value < 0 ? -(uint64_t)value :
					       (uint64_t)value);
}

/* No digit more than it takes, at least one. */
static char *put_digits(char *p, uint64_t value, unsigned int shift)
{
	int digits = 1;

	while (digits * shift < 64 && value >> (digits * shift))
		digits++;
	for (int i = digits - 1; i >= 0; i--, value >>= shift)
		p[i] = text_digits[value & ((1u << shift) - 1)];
	return p + digits;
}

char *number_put_pointer(char *p, uint64_t value)
{
	p = TEXT_PUT(p, "0x");
	return put_digits(p, value, 4);
}

/* The shortest number that reads as the same value. */
static char *put_double(char *p, double value, bool is_single)
{
	int precision = is_single ? 6 : 15, most = is_single ? 9 : 17, n;

	for (;; precision++) {
		n = snprintf(p, NUMBER_MAX, "%.*g", precision, value);
		if (precision == most || isnan(value) ||
		    (is_single ? strtof(p, NULL) == (float)value :
				 strtod(p, NULL) == value))
			return p + n;
	}
}

char *number_put_float(char *p, const uint8_t *data, size_t bytes)
{
	double wide;
	float narrow;

	if (bytes == sizeof(narrow)) {
		memcpy(&narrow, data, sizeof(narrow));
		return put_double(p, narrow, true);
	}
	memcpy(&wide, data, sizeof(wide));
	return put_double(p, wide, false);
}

char *number_put_bool(char *p, uint64_t value)
{
	if (value > 1)
		return text_put_decimal(p, value);
	return value ? TEXT_PUT(p, "true") : TEXT_PUT(p, "false");
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
	return put_digits(p, value, 3);
}

/* Unsigned, the highest byte first. */
static char *put_big(char *p, const uint8_t *data, unsigned int bytes)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < bytes; i++)
		value = value << 8 | data[i];
	return text_put_decimal(p, value);
}

/* "2026-02-03T18:07:32Z"; a fraction in units of 10^-digits goes before the Z.
 * A number where there is no such date. */
static char *put_time(char *p, uint64_t raw, unsigned int bits,
		      const uint64_t *fraction, int digits)
{
	char number[NUMBER_MAX];
	time_t seconds;
	struct tm tm;

	*number_put_signed(number, raw, bits) = '\0';
	seconds = strtoll(number, NULL, 10);
	if (!gmtime_r(&seconds, &tm))
		p = text_put(p, number, strlen(number));
	else
		p += sprintf(p, "%04lld-%02d-%02dT%02d:%02d:%02d",
			     tm.tm_year + 1900LL, tm.tm_mon + 1, tm.tm_mday,
			     tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (fraction)
		p += sprintf(p, ".%0*llu", digits,
			     (unsigned long long)*fraction);
	return TEXT_PUT(p, "Z");
}

static char *put_time_pair(char *p, const uint8_t *data, int digits)
{
	uint64_t fraction = number_load(data + 8, 8);

	return put_time(p, number_load(data, 8), 64, &fraction, digits);
}

/* "1.000000002s" */
static char *put_duration(char *p, uint64_t ns)
{
	p = text_put_decimal(p, ns / 1000000000);
	*p++ = '.';
	p = text_put_padded(p, ns % 1000000000, 9);
	*p++ = 's';
	return p;
}

static char *put_address(char *p, int family, const uint8_t *data)
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

/* Those of more bytes than a number has, or in another order. */
static char *put_structured(enum format_type type, unsigned int bytes,
			    const uint8_t *data, char *p)
{
	switch (type) {
	case FORMAT_FLOAT:
		return number_put_float(p, data, bytes);
	case FORMAT_BIG:
		return put_big(p, data, bytes);
	case FORMAT_TIMESPEC:
		return put_time_pair(p, data, 9);
	case FORMAT_TIMEVAL:
		return put_time_pair(p, data, 6);
	case FORMAT_IP4:
		return put_address(p, AF_INET, data);
	case FORMAT_IP6:
		return put_address(p, AF_INET6, data);
	case FORMAT_MAC:
		return put_mac(p, data);
	default:
		return p;
	}
}

char *number_put_control(enum format_type type, unsigned int bytes,
			const uint8_t *data, char *p)
{
	uint64_t value = number_load(data, bytes < 8 ? bytes : 8);

	switch (type) {
	case FORMAT_INT:
		return number_put_signed(p, value, bytes * 8);
	case FORMAT_UINT:
		return text_put_decimal(p, value);
	case FORMAT_HEX:
		return text_put_hex(p, value, bytes * 2);
	case FORMAT_OCTAL:
		return put_octal(p, value);
	case FORMAT_BINARY:
		return put_binary(p, value, bytes * 8);
	case FORMAT_POINTER:
		return number_put_pointer(p, value);
	case FORMAT_BOOL:
		return number_put_bool(p, value);
	case FORMAT_TIME:
		return put_time(p, value, bytes * 8, NULL, 0);
	case FORMAT_DURATION:
		return put_duration(p, value);
	default:
		return put_structured(type, bytes, data, p);
	}
}
