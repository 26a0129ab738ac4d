/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A reader of the buffer and of .ras files that was written from the text of
 * rastrace/buffer.h, rastrace/rasfile.h and ras(5) alone: no code of the
 * programs, so that it doesn't make their mistakes. It shows nothing but what
 * isn't as the text says.
 */
#ifndef SELFTESTS_SOAK_CHECK_H
#define SELFTESTS_SOAK_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rastrace/buffer.h>
#include <rastrace/rasfile.h>

#define SHOWN_MAX	30	/* complaints of a file or a buffer */

/* What is looked at: the file or directory, and what of it */
static const char *subject;
static char part_name[96];
static unsigned int complaints, all_complaints;

__attribute__((format(printf, 1, 2)))
static void part_is(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(part_name, sizeof(part_name), fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 1, 2)))
static void complain(const char *fmt, ...)
{
	va_list ap;

	all_complaints++;
	if (++complaints > SHOWN_MAX)
		return;
	printf("%s: %s: ", subject, part_name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* Complains unless it is so. */
#define holds(condition, ...) \
	((condition) ? true : (complain(__VA_ARGS__), false))

__attribute__((noreturn, format(printf, 2, 3)))
static void die(int status, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "reader: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(status);
}

static void *allocate(size_t count, size_t bytes)
{
	void *p = calloc(count ? count : 1, bytes ? bytes : 1);

	if (!p)
		die(2, "out of memory");
	return p;
}

static uint64_t round8(uint64_t n)
{
	return (n + 7) & ~7ULL;
}

static bool all_zero(const void *bytes, size_t count)
{
	const uint8_t *p = bytes;

	while (count--)
		if (*p++)
			return false;
	return true;
}

/* --- What is known of the data of a tracepoint (-d) */

#define LAYOUT_MAX	16

struct layout_step {
	char kind;		/* 'r' register, else an item: 'm' memory, 's'
				 * string, 'p' memory of bytes that count up */
	unsigned int bytes;
};

struct layout {
	unsigned int major, minor, count;
	struct layout_step steps[LAYOUT_MAX];
};

static struct layout layouts[32];
static unsigned int layout_count;

/* MAJOR/MINOR=STEP,...: a register's bytes, or a letter and the item's */
static void layout_add(const char *text)
{
	struct layout *layout = &layouts[layout_count];
	struct layout_step *step;
	int used = 0;

	if (layout_count == 32 ||
	    sscanf(text, "%u/%u=%n", &layout->major, &layout->minor,
		   &used) != 2 || !used)
		die(2, "no layout: '%s'", text);
	layout_count++;
	for (text += used; *text; text += used) {
		if (layout->count == LAYOUT_MAX)
			die(2, "too many items: '%s'", text);
		step = &layout->steps[layout->count++];
		step->kind = strchr("msp", *text) ? *text++ : 'r';
		if (sscanf(text, "%u%n", &step->bytes, &used) != 1)
			die(2, "no number of bytes: '%s'", text);
		used += text[used] == ',';
	}
}

static const struct layout *layout_of(const struct ras_record *record)
{
	for (unsigned int i = 0; i < layout_count; i++)
		if (layouts[i].major == record->major &&
		    layouts[i].minor == record->minor)
			return &layouts[i];
	return NULL;
}

/* --- Records of a tracepoint in a slice, by their numbers */

struct tally {
	bool used;
	uint32_t session, slice;
	uint16_t point;
	uint32_t gaps;		/* of the slice in front of the last one */
	uint32_t first, last;	/* numbers */
	uint64_t present;
	uint64_t missing;	/* between these */
};

static struct tally *tallies;
static size_t tally_space, tally_count;

static struct tally *tally_slot(uint32_t session, uint16_t point,
				uint32_t slice)
{
	uint64_t hash = ((uint64_t)session << 40 ^ (uint64_t)point << 20 ^
			 slice) * 0x9e3779b97f4a7c15ULL;
	size_t i = hash >> 20 & (tally_space - 1);

	while (tallies[i].used &&
	       (tallies[i].session != session || tallies[i].point != point ||
		tallies[i].slice != slice))
		i = (i + 1) & (tally_space - 1);
	return &tallies[i];
}

static void tally_grow(void)
{
	struct tally *old = tallies;
	size_t space = tally_space;

	tally_space = space ? 2 * space : 1024;
	tallies = allocate(tally_space, sizeof(*tallies));
	for (size_t i = 0; i < space; i++)
		if (old[i].used)
			*tally_slot(old[i].session, old[i].point,
				    old[i].slice) = old[i];
	free(old);
}

static void tally_forget(void)
{
	free(tallies);
	tallies = NULL;
	tally_space = tally_count = 0;
}

/* NULL: none of its records is there */
static struct tally *tally_find(uint32_t session, uint16_t point,
				uint32_t slice)
{
	struct tally *tally = tally_space ?
			      tally_slot(session, point, slice) : NULL;

	return tally && tally->used ? tally : NULL;
}

/* A record; `gaps`: so many times records of the slice are missing in front of
 * it. */
static void tally_add(const struct ras_record *record, uint32_t slice,
		      uint32_t gaps)
{
	struct tally *tally;
	uint32_t between;

	if (2 * tally_count >= tally_space)
		tally_grow();
	tally = tally_slot(record->session, record->point, slice);
	if (!tally->used) {
		tally_count++;
		*tally = (struct tally) {
			.used = true, .session = record->session,
			.slice = slice, .point = record->point,
			.first = record->seq, .last = record->seq,
			.gaps = gaps, .present = 1,
		};
		return;
	}
	between = record->seq - tally->last - 1;
	holds(gaps != tally->gaps ? between < 1u << 31 : !between,
	      "session %u, point %u: record %u follows %u", record->session,
	      record->point, record->seq, tally->last);
	tally->gaps = gaps;
	tally->missing += between;
	tally->last = record->seq;
	tally->present++;
}

#endif
