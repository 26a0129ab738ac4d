/* SPDX-License-Identifier: GPL-2.0 */
/* The names of typed controls: %{d32}, %{flags8:READ=1,WRITE=2} */
#ifndef LIB_FORMAT_TYPED_H
#define LIB_FORMAT_TYPED_H

#include <string.h>
#include "format.h"

#define FORMAT_BYTES_MAX	65535	/* that a control takes */

static inline char format_letter_upper(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

static inline bool format_alphanumeric(char c)
{
	c = format_letter_upper(c);
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
}

static inline bool format_letter_in(char c, const char *set)
{
	return c && strchr(set, c);
}

/*
 * Is it one of the typed controls that aren't C types? Names of its values are
 * added after those of format (or NULL).
 */
bool format_typed_parse(const char *name, size_t length,
			struct format_step *step, struct format *format);
/* It begins like "enum8:" or "flags8:": names of values are missing. */
bool format_name_listed(const char *name, size_t length);
/* The name of a value of FORMAT_ENUM; NULL: it has none. */
const struct format_name *format_enum_find(const struct format_step *step,
					   uint64_t value);

#endif
