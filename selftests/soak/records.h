/* SPDX-License-Identifier: GPL-2.0 */
/* Records that follow each other in a slice, and what is in them. */
#ifndef SELFTESTS_SOAK_RECORDS_H
#define SELFTESTS_SOAK_RECORDS_H

#include "log.h"

#define RECORD_FLAGS	0x7f
#define ITEM_FLAGS	(RAS_ITEM_CUT | RAS_ITEM_PAGED_IN | RAS_ITEM_STALE)
#define STACK_MAX	32

/* Bytes of a slice from one position to another: those of position p begin at
 * data + ((p - origin) & mask). */
struct run {
	const uint8_t *data;
	uint64_t origin, mask;
	uint64_t from, to, key;
	uint64_t cleared;	/* records in front of it are */
	uint64_t latest;	/* no record is of a later time */
	uint32_t slice;		/* number of the slice */
	bool begins;		/* with a record */
	uint32_t gaps;		/* in front of it, where others are missing */
	bool holes;		/* there may be zeros instead of records */
	/* what is found */
	uint64_t count, time, hole;
};

static const struct ras_record *run_at(const struct run *run, uint64_t position)
{
	return (const void *)(run->data +
			      ((position - run->origin) & run->mask));
}

/* What is left of a record's data */
struct rest {
	const uint8_t *at;
	unsigned int left;
	bool ended;		/* by an item that could not be read */
	bool fault, cut, paged_in;
};

static bool item_faults(unsigned int kind)
{
	return kind == RAS_ITEM_FAULT || kind == RAS_ITEM_SELECTOR ||
	       kind == RAS_ITEM_LEFT || kind == RAS_ITEM_NOT_TRIED ||
	       kind == RAS_ITEM_ARITHMETIC || kind == RAS_ITEM_UNKNOWN;
}

static void stack_check(const struct ras_item *item, const uint8_t *bytes)
{
	const struct ras_stack *stack = (const void *)bytes;

	if (!holds(item->length >= sizeof(*stack) &&
		   (item->length - sizeof(*stack)) % 8 == 0 &&
		   item->length <= sizeof(*stack) + 8 * STACK_MAX,
		   "a stack of %u bytes", item->length))
		return;
	holds(stack->end <= RAS_STACK_NO_TABLE, "a stack ends by %u",
	      stack->end);
	holds(!(stack->flags & ~(RAS_STACK_KERNEL | RAS_STACK_CHANGED)),
	      "a stack's flags %#x",
	      stack->flags);
}

/* The next item, which is taken off; NULL: there is none. */
static const struct ras_item *item_take(struct rest *rest)
{
	const struct ras_item *item = (const void *)rest->at;
	unsigned int kind;

	if (!holds(rest->left >= sizeof(*item) &&
		   rest->left - sizeof(*item) >= item->length,
		   "an item is longer than its record"))
		return NULL;
	kind = RAS_ITEM_KIND(item->status);
	holds(kind <= RAS_ITEM_STACK_ID &&
	      (kind == RAS_ITEM_ABSENT ||
	       !(item->status & RAS_ITEM_MODULE)) &&
	      !((item->status & 0xf0) & ~(ITEM_FLAGS | RAS_ITEM_MODULE)),
	      "an item's status %#x",
	      item->status);
	if (item_faults(kind)) {
		holds(item->length == 8, "a fault of %u bytes", item->length);
		rest->fault = true;
	}
	holds(kind != RAS_ITEM_ABSENT || !item->length,
	      "an absent variable of %u bytes", item->length);
	if (kind == RAS_ITEM_STACK)
		stack_check(item, rest->at + sizeof(*item));
	holds(kind != RAS_ITEM_STACK_ID || item->length == 4,
	      "a stack's number of %u bytes", item->length);
	rest->cut |= item->status & RAS_ITEM_CUT;
	rest->paged_in |= item->status & RAS_ITEM_PAGED_IN;
	rest->at += sizeof(*item) + item->length;
	rest->left -= sizeof(*item) + item->length;
	return item;
}

static void pattern_check(const uint8_t *bytes, unsigned int count)
{
	for (unsigned int i = 1; i < count; i++)
		if (!holds(bytes[i] == (uint8_t)(bytes[0] + i),
			   "byte %u of an item is %#x after a first of %#x", i,
			   bytes[i], bytes[0]))
			return;
}

/* `step` says what was asked for. */
static void item_check(struct rest *rest, const struct layout_step *step)
{
	const uint8_t *bytes = rest->at + sizeof(struct ras_item);
	const struct ras_item *item = item_take(rest);
	unsigned int kind;

	if (!item) {
		rest->ended = true;
		return;
	}
	kind = RAS_ITEM_KIND(item->status);
	if (item_faults(kind)) {
		rest->ended = true;
		return;
	}
	holds(kind == (step->kind == 's' ? RAS_ITEM_STRING : RAS_ITEM_VALUE),
	      "an item of kind %u", kind);
	holds(item->length <= step->bytes, "an item of %u bytes, %u wanted",
	      item->length, step->bytes);
	holds(step->kind == 's' || item->length == step->bytes ||
	      item->status & RAS_ITEM_CUT, "an item of %u bytes, not cut",
	      item->length);
	if (step->kind == 'p')
		pattern_check(bytes, item->length);
}

/* The data as the layout has it, for points that don't go on after a fault */
static void data_check(const struct ras_record *record, struct rest *rest)
{
	const struct layout *layout = layout_of(record);

	if (!layout)
		return;
	for (unsigned int i = 0; i < layout->count && !rest->ended; i++) {
		const struct layout_step *step = &layout->steps[i];

		if (step->kind != 'r') {
			item_check(rest, step);
		} else if (rest->left >= step->bytes) {
			rest->at += step->bytes;
			rest->left -= step->bytes;
		} else {
			rest->ended = true;
			holds(record->flags &
			      (RAS_RECORD_CUT | RAS_RECORD_FAULT),
			      "a register is missing");
		}
	}
	holds(!rest->left, "%u bytes after its data", rest->left);
	holds(!rest->fault || record->flags & RAS_RECORD_FAULT,
	      "a fault that its flags %#x don't have", record->flags);
	holds(!rest->paged_in || record->flags & RAS_RECORD_PAGED_IN,
	      "brought in, and its flags %#x don't have it", record->flags);
}

static void static_check(const struct ras_record *record, unsigned int bytes)
{
	holds(record->point == record->major && !record->site &&
	      record->major && record->major <= 255,
	      "static: major %u, point %u, site %u", record->major,
	      record->point, record->site);
	holds(bytes <= RAS_STATIC_DATA_MAX, "static: %u bytes", bytes);
	holds(!(record->flags & RAS_RECORD_FAULT) || !bytes,
	      "static: data after a fault");
	holds(!(record->flags & RAS_RECORD_CUT) || bytes == RAS_STATIC_DATA_MAX,
	      "static: cut at %u bytes", bytes);
}

static void context_check(const struct session *session,
			  const struct ras_record *record, struct rest *rest)
{
	unsigned int context = session->entry->context;
	unsigned int bytes = RAS_CONTEXT_BYTES(context);
	const struct ras_item *item;

	if (record->flags & RAS_RECORD_MUTED) {
		holds(!rest->left, "muted, with %u bytes", rest->left);
		rest->ended = true;
		return;
	}
	if (!holds(rest->left >= bytes, "its context is cut")) {
		rest->ended = true;
		return;
	}
	rest->at += bytes;
	rest->left -= bytes;
	if (!(context & RAS_CONTEXT_STACK))
		return;
	item = item_take(rest);
	holds(item && (RAS_ITEM_KIND(item->status) == RAS_ITEM_STACK ||
		       RAS_ITEM_KIND(item->status) == RAS_ITEM_STACK_ID),
	      "no stack in its context");
	rest->ended = !item;
}

/* The session of a record; the log may have had others of its index. */
static const struct session *session_of(const struct ras_record *record)
{
	const struct session *found = NULL;

	for (unsigned int i = 0; i < session_count; i++) {
		const struct ras_session *entry = sessions[i].entry;

		if (entry->index == record->session &&
		    entry->armed <= record->time)
			found = &sessions[i];
	}
	return found;
}

static void session_record_check(const struct ras_record *record,
				 struct rest *rest)
{
	const struct session *session = session_of(record);
	const struct ras_session_point *point;

	if (!holds(session, "session %u isn't in the log, or was armed later",
		   record->session))
		return;
	holds(record->major == session->entry->major,
	      "major %u, that of session %u is %u", record->major,
	      record->session, session->entry->major);
	if (!holds(record->point < session->entry->points,
		   "point %u of session %u, which has %u", record->point,
		   record->session, session->entry->points))
		return;
	point = &session->points[record->point];
	holds(record->minor == point->minor ||
	      record->flags & RAS_RECORD_NAMED, "minor %u of point %u, not %u",
	      record->minor, record->point, point->minor);
	holds(point->state != RAS_POINT_UNSELECTED,
	      "of point %u, which was never armed", record->point);
	context_check(session, record, rest);
	if (!rest->ended)
		data_check(record, rest);
}

static void record_check(const struct run *run, const struct ras_record *record)
{
	struct rest rest = {
		.at = (const uint8_t *)(record + 1),
		.left = record->length - RAS_RECORD_HEADER,
	};

	holds(!(record->flags & ~RECORD_FLAGS), "flags %#x", record->flags);
	holds(!record->stack || (record->stack >= RAS_RECORD_HEADER &&
	      record->stack + 7 <= (int)record->length &&
	      RAS_ITEM_KIND(((const uint8_t *)record)[record->stack]) ==
	      RAS_ITEM_STACK_ID), "no number of a stack at %u", record->stack);
	holds(record->time && record->time >= run->time,
	      "time %llu after %llu", (unsigned long long)record->time,
	      (unsigned long long)run->time);
	holds(record->time <= run->latest, "of time %llu, which is to come",
	      (unsigned long long)record->time);
	if (record->session)
		session_record_check(record, &rest);
	else
		static_check(record, rest.left);
}

/* Stamps show where the first record is. */
static uint64_t run_search(const struct run *run, uint64_t position)
{
	while (position < run->to &&
	       run_at(run, position)->stamp != (position ^ run->key))
		position += 8;
	return position;
}

static uint64_t run_begin(struct run *run)
{
	uint64_t position = run_search(run, run->from);

	holds(position < run->from + RAS_RECORD_MAX || run->from == run->to,
	      "no record begins within %u bytes from %#llx", RAS_RECORD_MAX,
	      (unsigned long long)run->from);
	return position;
}

/* Where it goes on at a position that has no record, or at the end */
static uint64_t run_hole(struct run *run, uint64_t position)
{
	uint64_t next = run_search(run, position + 8);

	run->hole += next - position;
	holds(run->holes, "no record at %#llx, %llu bytes",
	      (unsigned long long)position,
	      (unsigned long long)(next - position));
	run->gaps++;
	return next;
}

static bool run_has_record(const struct run *run, uint64_t position)
{
	const struct ras_record *record = run_at(run, position);

	return run->to - position >= RAS_RECORD_HEADER &&
	       record->stamp == (position ^ run->key) &&
	       record->length >= RAS_RECORD_HEADER &&
	       record->length <= RAS_RECORD_MAX &&
	       round8(record->length) <= run->to - position;
}

static void run_check(struct run *run)
{
	uint64_t position = run->begins ? run->from : run_begin(run);
	const struct ras_record *record;
	char name[sizeof(part_name)];

	memcpy(name, part_name, sizeof(name));
	for (; position < run->to; position += round8(record->length)) {
		if (!run_has_record(run, position)) {
			position = run_hole(run, position);
			if (position >= run->to)
				break;
			if (!holds(run_has_record(run, position),
				   "damaged at %#llx",
				   (unsigned long long)position))
				break;
		}
		record = run_at(run, position);
		run->count++;
		part_is("%.48s, record at %#llx", name,
			(unsigned long long)position);
		if (position >= run->cleared) {
			record_check(run, record);
			tally_add(record, run->slice, run->gaps);
		}
		run->time = record->time;
	}
	part_is("%s", name);
	holds(position <= run->to, "the last record ends after %#llx",
	      (unsigned long long)run->to);
}

#endif
