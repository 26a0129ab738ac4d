// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as what was added up in the kernel: refused, or all tables can be
 * printed, and each row has as many values as its buckets.
 */
#include <rastrace/tdf.h>
#include <stdlib.h>
#include <string.h>
#include "lib/aggregate_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void table_check(const struct aggregate_table *table)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct aggregate_row *row = &table->rows[i];
		uint64_t count = 0;

		for (size_t k = 0; k < row->bucket_count; k++)
			count += row->buckets[k].count;
		if (count != row->count)
			abort();
		aggregate_permille(row, 500);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { .fd = -1 };
	struct json json = { .text = &text, .style = JSON_COMPACT };
	void *copy = malloc(size + 1);
	struct aggregates a;
	struct error err;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (aggregates_parse(&a, copy, size, &err))
		return 0;
	json_open(&json, NULL, '[');
	for (size_t i = 0; i < a.table_count; i++) {
		table_check(&a.tables[i]);
		aggregate_name_add(&text, &a.tables[i]);
		aggregate_table_add(&text, &a.tables[i], 10);
		aggregate_folded_add(&text, &a.tables[i]);
		json_open(&json, NULL, '{');
		aggregate_table_json(&json, &a.tables[i]);
		json_close(&json, '}');
	}
	aggregates_lost(&a);
	aggregates_free(&a);
	free(text.data);
	return 0;
}
