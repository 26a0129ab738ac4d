/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mpatrol's files have in common. Their numbers: size_t, unsigned long and
 * void * as they lay in the memory of the machine that wrote them, and unsigned
 * LEB128.
 */
#ifndef HEAPMON_MPATROL_H
#define HEAPMON_MPATROL_H

#include <stdio.h>
#include "heapmon/core/format.h"
#include "lib/cursor.h"

#define MPATROL_VERSION		10501	/* 1.5.1, the last one */
#define MPATROL_MAGIC		4	/* characters */

struct mpatrol_form {
	unsigned int word;	/* bytes of size_t and void * */
	unsigned int number;	/* of unsigned long */
	bool big;		/* endian */
};

/* ---- reading ---- */

struct mpatrol_cursor {
	struct cursor in;
	struct heap_input *input;
	struct mpatrol_form form;
};

static inline size_t mpatrol_left(const struct mpatrol_cursor *cursor)
{
	return cursor->in.end - cursor->in.at;
}

uint64_t mpatrol_word(struct mpatrol_cursor *cursor);
uint64_t mpatrol_number(struct mpatrol_cursor *cursor);
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
int mpatrol_damaged(const struct mpatrol_cursor *cursor, const char *what,
		    struct error *err);

/* ---- writing ---- */

struct mpatrol_out {
	FILE *file;
	struct mpatrol_form form;
	bool overflow;		/* a number had more bits than a machine of
				 * this form has */
};

/* LE64 unless --bits and --endian say otherwise. */
struct mpatrol_out mpatrol_out_open(const struct heap_output *output);
void mpatrol_put_word(struct mpatrol_out *out, uint64_t value);
void mpatrol_put_number(struct mpatrol_out *out, uint64_t value);
void mpatrol_put_leb128(struct mpatrol_out *out, uint64_t value);
/* Magic number, form and version. */
void mpatrol_put_header(struct mpatrol_out *out, const char *magic);
/* The magic number again. 0, or -EOVERFLOW with err set if there was an
 * overflow. */
int mpatrol_put_trailer(struct mpatrol_out *out, const char *magic,
			struct error *err);

/* ---- events ---- */

/* What mpatrol keeps of where an event was: the function that called. */
#define CALLER_NAME_SIZE	1024	/* of mptrace's buffer for a name */

struct caller {
	char function[CALLER_NAME_SIZE];	/* or module+offset; "" */
	const char *file;			/* "" not known */
	uint32_t line;				/* 0 not known */
};

/* The innermost frame of the stack; all empty when there is none. */
void caller_find(const struct heap_trace *trace, uint32_t stack,
		 struct caller *caller);

/* The block in whose place another one came: its free was lost. NULL: there was
 * none. */
static inline const struct heap_block *
mpatrol_displaced(const struct heap_step *step)
{
	if (step->event->kind == HEAP_REALLOC)
		return step->lost;
	return step->came ? step->gone : NULL;
}

#endif
