/* SPDX-License-Identifier: GPL-2.0 */
/* Bytes that grow, and strings kept once: what the file writers build on. */
#ifndef LIB_BYTES_H
#define LIB_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/key_map.h"

struct bytes {
	uint8_t *data;
	size_t size;
	size_t room;
	bool failed;		/* out of memory, or over 4 GiB; sticks */
};

void bytes_add(struct bytes *bytes, const void *data, size_t size);
/* Text, as printf does. */
void bytes_print(struct bytes *bytes, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same as a text of its own; NULL: no memory. */
char *text_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Other ones; their failure is one of these. */
void bytes_join(struct bytes *bytes, const struct bytes *more);
/* Zeros up to a multiple of 8. */
void bytes_align(struct bytes *bytes);
void bytes_free(struct bytes *bytes);

/* A string table: offset 0 is "", equal strings are stored once. */
struct strings {
	struct bytes bytes;
	struct key_map offsets;	/* by hash of the text */
};

/* Offset of text (NULL: "") in the table. */
uint32_t strings_add(struct strings *strings, const char *text);
void strings_free(struct strings *strings);

#endif
