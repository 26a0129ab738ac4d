// SPDX-License-Identifier: GPL-2.0
#include "quantity.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
