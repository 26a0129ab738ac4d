/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory tracker's stream, in any word size and byte order; rastrace_nfmt.h
 * describes it.
 */
#ifndef HEAPMON_TRACKER_PARSE_H
#define HEAPMON_TRACKER_PARSE_H

#include <rastrace_nfmt.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "heapmon/core/format.h"

/* The stream's pointers and byte order. */
struct tracker_form {
	unsigned int bits;
	bool big_endian;
};

#define TRACKER_HOST_BIG_ENDIAN	(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

struct tracker_record {
	int32_t type;
	uint64_t address;	/* MALLOC, FREE */
	int32_t size, tag, file, line;	/* MALLOC */
	int32_t symbol;		/* SYMBOL */
	const char *text;	/* its text, of `length` bytes and a NUL */
	size_t length;
};

/* Read the record at `at`. Its bytes; 0: it is cut, -EBADMSG: there is none. */
int64_t tracker_stream_parse(const uint8_t *data, size_t size, size_t at,
			     const struct tracker_form *form,
			     struct tracker_record *record);

/*
 * The form in which most of the stream makes sense, among those that `options`
 * allow. Returns the bytes that do; *whole: there is nothing else but the
 * beginning of a last record.
 */
size_t tracker_stream_form(const uint8_t *data, size_t size,
			   const struct heap_options *options,
			   struct tracker_form *form, bool *whole);

#endif
