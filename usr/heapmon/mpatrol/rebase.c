// SPDX-License-Identifier: GPL-2.0
#include "rebase.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/temp_file.h"
#include "lib/key_map.h"

#define PAGE		UINT64_C(0x1000)
#define LAST_PAGE	(UINT64_MAX / PAGE)
#define UNORDERED	1024	/* spans that may wait to be put in order */

/* Pages without a gap. */
struct rebase_span {
	uint64_t first;		/* page; array_count_upto() */
	uint64_t last;
	uint64_t moved;		/* where the first is now */
};

struct rebase {
	FILE *spool;
	struct rebase_span *spans;
	size_t span_count, span_room;
	size_t ordered;		/* the first so many ascend, with gaps between
				 * them */
	struct key_map threads;	/* their numbers */
	int error;		/* the first, a negative errno; 0 */
};

int rebase_new(struct rebase **rebase, struct error *err)
{
	struct rebase *made = calloc(1, sizeof(*made));
	int fd;

	if (!made)
		return error_no_memory(err);
	fd = temp_file_open();
	if (fd >= 0)
		made->spool = fdopen(fd, "w+");
	if (!made->spool) {
		int ret = fd < 0 ? fd : -ENOMEM;

		if (fd >= 0)
			close(fd);
		free(made);
		return error_set(err, ret, "cannot make a temporary file: %s",
				 strerror(-ret));
	}
	*rebase = made;
	return 0;
}

void rebase_free(struct rebase *rebase)
{
	if (!rebase)
		return;
	fclose(rebase->spool);
	free(rebase->spans);
	key_map_free(&rebase->threads);
	free(rebase);
}

/* ---- pages ---- */

/* Of those in order: the one that the page is in; NULL: none. */
static const struct rebase_span *rebase_span_find(const struct rebase *rebase,
						  uint64_t page)
{
	size_t at = array_count_upto(rebase->spans, rebase->ordered,
				     sizeof(*rebase->spans), page);

	return at && rebase->spans[at - 1].last >= page ?
	       &rebase->spans[at - 1] : NULL;
}

/* All in order; those that overlap, or are neighbours, become one. */
static void spans_order(struct rebase *rebase)
{
	struct rebase_span *spans = rebase->spans;
	size_t count = 0;

	if (rebase->ordered == rebase->span_count)
		return;
	qsort(spans, rebase->span_count, sizeof(*spans), array_compare);
	for (size_t i = 0; i < rebase->span_count; i++) {
		struct rebase_span *last = count ? &spans[count - 1] : NULL;

		if (!last || spans[i].first > last->last + 1)
			spans[count++] = spans[i];
		else if (spans[i].last > last->last)
			last->last = spans[i].last;
	}
	rebase->span_count = rebase->ordered = count;
}

static bool pages_use(struct rebase *rebase, uint64_t address, uint64_t size)
{
	uint64_t first = address / PAGE, last = first;
	const struct rebase_span *span = rebase_span_find(rebase, first);

	if (size && size - 1 <= UINT64_MAX - address)
		last = (address + size - 1) / PAGE;
	else if (size)
		last = LAST_PAGE;
	if (span && last <= span->last)
		return true;
	if (!array_grow(&rebase->spans, rebase->span_count, &rebase->span_room,
			sizeof(*rebase->spans)))
		return false;
	rebase->spans[rebase->span_count++] =
		(struct rebase_span){first, last, 0};
	if (rebase->span_count - rebase->ordered > rebase->ordered + UNORDERED)
		spans_order(rebase);
	return true;
}

static void spans_move(struct rebase *rebase)
{
	uint64_t page = 1;

	for (size_t i = 0; i < rebase->span_count; i++) {
		struct rebase_span *span = &rebase->spans[i];

		span->moved = page;
		page += span->last - span->first + 2;
	}
}

/* ---- records ---- */

void rebase_keep(struct rebase *rebase, const struct mtrc_record *record)
{
	if (rebase->error)
		return;
	if (record->letter != 'F' &&
	    !pages_use(rebase, record->address, record->size))
		rebase->error = -ENOMEM;
	else if (!fwrite(record, sizeof(*record), 1, rebase->spool))
		rebase->error = temp_file_fail(errno);
}

int rebase_replay(struct rebase *rebase,
		  void (*put)(void *context, const struct mtrc_record *record),
		  void *context, struct error *err)
{
	struct mtrc_record record;
	const struct rebase_span *span;

	if (!rebase->error && fflush(rebase->spool))
		rebase->error = temp_file_fail(errno);
	rewind(rebase->spool);
	spans_order(rebase);
	spans_move(rebase);
	while (!rebase->error &&
	       fread(&record, sizeof(record), 1, rebase->spool)) {
		if (record.letter != 'F') {
			span = rebase_span_find(rebase, record.address / PAGE);

			record.address = record.address - span->first * PAGE +
					 span->moved * PAGE;
		}
		if (record.thread) {
			record.thread = key_map_serial(&rebase->threads,
						       record.thread);
			if (!record.thread)
				rebase->error = -ENOMEM;
		}
		put(context, &record);
	}
	if (!rebase->error && ferror(rebase->spool))
		rebase->error = -EIO;
	if (rebase->error)
		error_set(err, rebase->error, "cannot keep the events in a temporary file: %s",
			  strerror(-rebase->error));
	return rebase->error;
}
