// SPDX-License-Identifier: GPL-2.0
#include "dwarf_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

struct row_sequence {
	uint64_t address;
	size_t first, count;
};

struct rows_builder {
	bool (*is_code)(const void *context, uint64_t address);
	const void *context;
	struct dwarf_row *rows;
	size_t count, room;
	struct row_sequence *sequences;
	size_t sequence_count, sequence_room;
	bool inside;		/* a sequence */
};

/* One that the linker left out, or that has no code, is dropped. */
static void sequence_end(struct rows_builder *b)
{
	struct row_sequence *sequence = &b->sequences[b->sequence_count - 1];
	const struct dwarf_row end = b->rows[b->count - 1];

	b->inside = false;
	/* rows at the address where the sequence ends have no code */
	if (end.end_sequence) {
		b->count--;
		while (b->count > sequence->first &&
		       b->rows[b->count - 1].address == end.address)
			b->count--;
		if (b->count > sequence->first)
			b->rows[b->count++] = end;
	}
	sequence->count = b->count - sequence->first;
	if (sequence->count && b->is_code(b->context, sequence->address))
		return;
	b->count = sequence->first;
	b->sequence_count--;
}

static int dwarf_row_take(void *context, const struct dwarf_row *row)
{
	struct rows_builder *b = context;

	if (!b->inside) {
		if (!array_grow(&b->sequences, b->sequence_count,
				&b->sequence_room, sizeof(*b->sequences)))
			return -ENOMEM;
		b->sequences[b->sequence_count++] = (struct row_sequence) {
			.address = row->address, .first = b->count,
		};
		b->inside = true;
	}
	if (!array_grow(&b->rows, b->count, &b->room, sizeof(*b->rows)))
		return -ENOMEM;
	b->rows[b->count++] = *row;
	if (row->end_sequence)
		sequence_end(b);
	return 0;
}

static int sequence_compare(const void *a, const void *b)
{
	const struct row_sequence *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

int dwarf_rows_read(struct dwarf_rows *rows,
		    const struct dwarf_program *program,
		    bool (*is_code)(const void *context, uint64_t address),
		    const void *context)
{
	struct rows_builder b = { .is_code = is_code, .context = context };
	int code = dwarf_program_run(program, dwarf_row_take, &b);

	*rows = (struct dwarf_rows){ 0 };
	if (!code && b.inside)
		sequence_end(&b);
	if (!code)
		rows->list = malloc((b.count + 1) * sizeof(*rows->list));
	if (!code && !rows->list)
		code = -ENOMEM;
	if (!code && b.sequence_count)
		qsort(b.sequences, b.sequence_count, sizeof(*b.sequences),
		      sequence_compare);
	for (size_t i = 0; i < b.sequence_count && !code; i++) {
		memcpy(&rows->list[rows->count],
		       &b.rows[b.sequences[i].first],
		       b.sequences[i].count * sizeof(*rows->list));
		rows->count += b.sequences[i].count;
	}
	free(b.rows);
	free(b.sequences);
	return code;
}

void dwarf_rows_free(struct dwarf_rows *rows)
{
	free(rows->list);
	*rows = (struct dwarf_rows){ 0 };
}

bool dwarf_rows_find(const struct dwarf_rows *rows, uint64_t address,
		     size_t *first, size_t *end)
{
	*first = *end = !address ? 0 :
		array_count_upto(rows->list, rows->count, sizeof(*rows->list),
				 address - 1);
	while (*end < rows->count && rows->list[*end].address == address)
		++*end;
	*first -= *first == *end && *first;
	return *end;
}
