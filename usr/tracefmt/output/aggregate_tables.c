// SPDX-License-Identifier: GPL-2.0
#include "aggregate_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "lib/aggregate_print.h"

static void session_text(struct text *text, const struct trace_session *session)
{
	const struct aggregates *aggregates = &session->aggregates;
	uint64_t lost = aggregates_lost(aggregates);

	if (aggregates->table_count)
		text_print(text, "session %u\n", session->entry->index);
	for (size_t i = 0; i < aggregates->table_count; i++) {
		const struct aggregate_table *table = &aggregates->tables[i];

		aggregate_name_add(text, table);
		aggregate_table_add(text, table, 0);
		text_add_char(text, '\n');
	}
	if (lost)
		text_print(text, "%" PRIu64 " additions found no room for their keys\n",
			   lost);
}

static void session_json(struct json *json, const struct trace *trace,
			 const struct trace_session *session)
{
	const struct aggregates *aggregates = &session->aggregates;

	for (size_t i = 0; i < aggregates->table_count; i++) {
		json_open(json, NULL, '{');
		json_string(json, "trace", trace->name);
		json_string(json, "tdf", session->tdf);
		json_number(json, "session", session->entry->index);
		aggregate_table_json(json, &aggregates->tables[i]);
		json_number(json, "lost", aggregates_lost(aggregates));
		json_close(json, '}');
	}
}

int aggregate_tables_print(FILE *out, const struct stream *stream, bool as_json)
{
	struct text text = { .fd = -1 };
	struct json json = { .text = &text, .style = JSON_LINES };
	int code;

	if (as_json)
		json_open(&json, NULL, '[');
	for (size_t i = 0; i < stream->count; i++) {
		const struct trace *trace = stream->traces[i];

		for (size_t k = 0; k < trace->file.session_count; k++) {
			if (as_json)
				session_json(&json, trace,
					     trace->file.sessions[k]);
			else
				session_text(&text, trace->file.sessions[k]);
		}
	}
	if (as_json)
		json_close(&json, ']');
	fwrite(text.data, 1, text.used, out);
	code = text.error ? -ENOMEM : 0;
	free(text.data);
	return code;
}
