/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The numbers in mpatrol's files: size_t, unsigned long and void * as they lay
 * in the memory of the machine that wrote them, and unsigned LEB128.
 */
#ifndef HEAPMON_BYTES_H
#define HEAPMON_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "heapmon/core/format.h"

#define MPATROL_VERSION		10501	/* 1.5.1, the last one */
#define MPATROL_MAGIC		4	/* characters */

struct mpatrol_form {
	unsigned int word;	/* bytes of size_t and void * */
	unsigned int number;	/* of unsigned long */
	bool big;		/* endian */
};

struct mpatrol_cursor {
	const uint8_t *data;
	size_t size, at;
	struct mpatrol_form form;
	bool wrong;		/* it went past the end, or a LEB128 number has
				 * more than 64 bits */
};

static inline size_t mpatrol_left(const struct mpatrol_cursor *cursor)
{
	return cursor->size - cursor->at;
}

/* 0 when there is none; cursor->wrong then. */
uint8_t mpatrol_byte(struct mpatrol_cursor *cursor);
uint64_t mpatrol_word(struct mpatrol_cursor *cursor);
uint64_t mpatrol_number(struct mpatrol_cursor *cursor);
uint64_t mpatrol_leb128(struct mpatrol_cursor *cursor);
/* Step over the magic number, if it is there. */
bool mpatrol_magic(struct mpatrol_cursor *cursor, const char *magic);

/*
 * Begin to read: magic number, form and version. The trace gets the form. 0, or
 * a negative errno with err set.
 */
int mpatrol_open(struct mpatrol_cursor *cursor, struct heap_input *input,
		 const char *magic, uint64_t *version, struct error *err);
/* Warn of a version that is newer than the last known one. */
void mpatrol_version_check(const struct heap_input *input, uint64_t version);
/* "... at byte N"; -EBADMSG. */
int mpatrol_damaged(const struct mpatrol_cursor *cursor,
		    struct heap_input *input, const char *what,
		    struct error *err);

/* What is to be written: LE64 unless --bits and --endian say otherwise. */
struct mpatrol_form mpatrol_form_wanted(const struct heap_options *options);

struct mpatrol_out {
	FILE *file;
	struct mpatrol_form form;
	bool overflow;		/* a number had more bits than a machine of
				 * this form has */
};

void mpatrol_put_word(struct mpatrol_out *out, uint64_t value);
void mpatrol_put_number(struct mpatrol_out *out, uint64_t value);
void mpatrol_put_leb128(struct mpatrol_out *out, uint64_t value);
void mpatrol_put_magic(struct mpatrol_out *out, const char *magic);
/* Magic number, form and version. */
void mpatrol_put_header(struct mpatrol_out *out, const char *magic);
/* Was there an overflow? 0, or -EOVERFLOW with err set. */
int mpatrol_put_check(const struct mpatrol_out *out, struct error *err);

#endif
