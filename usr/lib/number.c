// SPDX-License-Identifier: GPL-2.0
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "text.h"

char *number_put_signed(char *p, uint64_t raw, unsigned int bits)
{
	int64_t value = number_sign(raw, bits);

	if (value < 0)
		*p++ = '-';
	return text_put_decimal(p, value < 0 ? -(uint64_t)value :
					       (uint64_t)value);
}

char *number_put_digits(char *p, uint64_t value, unsigned int shift)
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
	return number_put_digits(p, value, 4);
}

char *number_put_float(char *p, const uint8_t *data, size_t bytes)
{
	bool is_single = bytes == sizeof(float);
	int precision = is_single ? 6 : 15, most = is_single ? 9 : 17, n;
	double value;
	float narrow;

	if (is_single) {
		memcpy(&narrow, data, sizeof(narrow));
		value = narrow;
	} else {
		memcpy(&value, data, sizeof(value));
	}
	for (;; precision++) {
		n = snprintf(p, NUMBER_MAX, "%.*g", precision, value);
		if (precision == most || isnan(value) ||
		    (is_single ? strtof(p, NULL) == narrow :
				 strtod(p, NULL) == value))
			return p + n;
	}
}

char *number_put_wide(char *p, unsigned __int128 value, bool is_signed)
{
	bool negative = is_signed && (__int128)value < 0;
	char digits[40], *first = digits + sizeof(digits);

	if (negative)
		value = -value;
	do {
		*--first = '0' + (int)(value % 10);
		value /= 10;
	} while (value);
	if (negative)
		*p++ = '-';
	return text_put(p, first, digits + sizeof(digits) - first);
}

char *number_put_bool(char *p, uint64_t value)
{
	if (value > 1)
		return text_put_decimal(p, value);
	return value ? TEXT_PUT(p, "true") : TEXT_PUT(p, "false");
}

#define SECOND	1000000000ULL

/* The factors of `letters`; the last of `units` is for none. */
static bool quantity_read(const char *text, const char *letters,
			  const uint64_t *units, uint64_t *number)
{
	const char *letter;
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text) || (*end && end[1]))
		return false;
	letter = strchr(letters, toupper((unsigned char)*end));
	return letter && !__builtin_mul_overflow(
		*number, units[letter - letters], number);
}

bool quantity_number(const char *text, uint64_t *number)
{
	return quantity_number_unit(text, "", number);
}

bool quantity_number_unit(const char *text, const char *unit,
			  uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && isdigit((unsigned char)*text) &&
	       (!*end || !strcmp(end, unit));
}

bool quantity_bytes(const char *text, uint64_t *bytes)
{
	static const uint64_t units[] = { 1 << 10, 1 << 20, 1 << 30, 1 };

	return quantity_read(text, "KMG", units, bytes);
}

bool quantity_time(const char *text, uint64_t *time)
{
	static const uint64_t units[] = {
		SECOND, 60 * SECOND, 3600 * SECOND, SECOND,
	};

	return quantity_read(text, "SMH", units, time) && *time;
}
