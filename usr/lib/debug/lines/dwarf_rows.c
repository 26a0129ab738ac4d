// SPDX-License-Identifier: GPL-2.0
#include "dwarf_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

struct sequence {
	uint64_t address;
	size_t first, count;
};

struct builder {
	bool (*is_code)(const void *context, uint64_t address);
	const void *context;
	struct dwarf_row *rows;
	size_t count, room;
	struct sequence *sequences;
	size_t sequence_count, sequence_room;
	bool inside;		/* a sequence */
};

static int sequence_begin(struct builder *b, uint64_t address)
{
	if (!array_grow(&b->sequences, b->sequence_count, &b->sequence_room,
			sizeof(*b->sequences)))
		return -ENOMEM;
	b->sequences[b->sequence_count++] = (struct sequence) {
		.address = address, .first = b->count,
	};
	b->inside = true;
	return 0;
}

/* Rows at the address where the sequence ends have no code. */
static void sequence_trim(struct builder *b, size_t first)
{
	const struct dwarf_row end = b->rows[b->count - 1];

	if (!end.end_sequence)
		return;
	b->count--;
	while (b->count > first &&
	       b->rows[b->count - 1].address == end.address)
		b->count--;
	if (b->count > first)
		b->rows[b->count++] = end;
}

/* One that the linker left out, or that has no code, goes away. */
static void sequence_end(struct builder *b)
{
	struct sequence *sequence = &b->sequences[b->sequence_count - 1];

	b->inside = false;
	sequence_trim(b, sequence->first);
	sequence->count = b->count - sequence->first;
	if (sequence->count && b->is_code(b->context, sequence->address))
		return;
	b->count = sequence->first;
	b->sequence_count--;
}

static int row_take(void *context, const struct dwarf_row *row)
{
	struct builder *b = context;

	if ((!b->inside && sequence_begin(b, row->address)) ||
	    !array_grow(&b->rows, b->count, &b->room, sizeof(*b->rows)))
		return -ENOMEM;
	b->rows[b->count++] = *row;
	if (row->end_sequence)
		sequence_end(b);
	return 0;
}

static int sequence_compare(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static int rows_sort(struct builder *b, struct dwarf_rows *rows)
{
	rows->list = malloc((b->count + 1) * sizeof(*rows->list));
	if (!rows->list)
		return -ENOMEM;
	if (b->sequence_count)
		qsort(b->sequences, b->sequence_count, sizeof(*b->sequences),
		      sequence_compare);
	for (size_t i = 0; i < b->sequence_count; i++) {
		memcpy(&rows->list[rows->count],
		       &b->rows[b->sequences[i].first],
		       b->sequences[i].count * sizeof(*rows->list));
		rows->count += b->sequences[i].count;
	}
	return 0;
}

int dwarf_rows_read(struct dwarf_rows *rows,
		    const struct dwarf_program *program,
		    bool (*is_code)(const void *context, uint64_t address),
		    const void *context)
{
	struct builder b = { .is_code = is_code, .context = context };
	int code = dwarf_program_run(program, row_take, &b);

	*rows = (struct dwarf_rows){ 0 };
	if (!code && b.inside)
		sequence_end(&b);
	if (!code)
		code = rows_sort(&b, rows);
	free(b.rows);
	free(b.sequences);
	return code;
}

void dwarf_rows_free(struct dwarf_rows *rows)
{
	free(rows->list);
	*rows = (struct dwarf_rows){ 0 };
}

/* The first row of an address that isn't below this one. */
static size_t rows_search(const struct dwarf_rows *rows, uint64_t address)
{
	return !address ? 0 : array_count_upto(rows->list, rows->count,
					       sizeof(*rows->list),
					       address - 1);
}

bool dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address,
		     size_t *first, size_t *end)
{
	*first = *end = rows_search(rows, address);
	while (*end < rows->count && rows->list[*end].address == address)
		++*end;
	*first -= *first == *end && *first;
	return *end;
}
