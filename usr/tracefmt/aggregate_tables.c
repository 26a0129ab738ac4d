// SPDX-License-Identifier: GPL-2.0
#include "aggregate_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "lib/aggregate_print.h"
#include "lib/number.h"
#include "tracefmt/json/json_field.h"
#include "tracefmt/output/output.h"

/* The names of a process's addresses, as the trace has its mappings */
struct trace_names {
	struct aggregate_names names;
	const struct process_table *processes;
	struct symbols *symbols;
};

static struct stack_owner names_owner(const struct trace_names *of,
				      uint32_t pid)
{
	return (struct stack_owner){ of->processes, pid, of->symbols };
}

static void address_lines(void *context, uint32_t pid, uint64_t address,
			  struct text *text)
{
	char *p;

	if (text_reserve(text, STACK_ROOM(8)))
		return;
	p = stack_put_frame(names_owner(context, pid), address,
			    "\n          ", text->data + text->used);
	/* the line end that is in front goes to the end */
	memmove(text->data + text->used, text->data + text->used + 1,
		p - (text->data + text->used) - 1);
	p[-1] = '\n';
	text->used = p - text->data;
}

static void address_json(void *context, uint32_t pid, uint64_t address,
			 struct text *text)
{
	json_add_address(names_owner(context, pid), address, true, text);
}

static void symbol_fold(struct text *text, const char *name)
{
	for (; *name; name++)
		text_add_char(text, *name == ';' ? ':' :
			      (unsigned char)*name < ' ' ? '?' : *name);
}

static void address_folded(void *context, uint32_t pid, uint64_t address,
			   struct text *text)
{
	const struct trace_names *of = context;
	struct symbols_place place = { 0 };
	char number[NUMBER_MAX + 4];

	pid = process_table_owner(of->processes, pid, &address);
	if (of->symbols)
		place = symbols_find_caller(of->symbols, of->processes, pid,
					    address);
	if (place.symbol) {
		symbol_fold(text, place.symbol);
	} else if (place.module) {
		symbol_fold(text, place.module);
		text_print(text, "+0x%" PRIX64, place.module_offset);
	} else {
		*number_put_pointer(number, address) = '\0';
		text_add_string(text, number);
	}
	for (size_t i = place.inlined_count; i; i--) {
		text_add_char(text, ';');
		symbol_fold(text, place.inlined[i - 1].name ?: "?");
	}
}

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

static void session_folded(struct text *text,
			   const struct trace_session *session)
{
	for (size_t i = 0; i < session->aggregates.table_count; i++)
		aggregate_folded_add(text, &session->aggregates.tables[i]);
}

static void names_set(struct aggregates *aggregates,
		      const struct aggregate_names *names)
{
	for (size_t i = 0; i < aggregates->table_count; i++)
		aggregates->tables[i].names = names;
}

int aggregate_tables_print(FILE *out, const struct stream *stream,
			   const struct output_ops *format,
			   struct symbols *symbols)
{
	bool as_json = format == &output_json;
	struct text text = { .fd = -1 };
	struct json json = { .text = &text, .style = JSON_LINES };
	int code;

	if (as_json)
		json_open(&json, NULL, '[');
	for (size_t i = 0; i < stream->count; i++) {
		const struct trace *trace = stream->traces[i];
		struct trace_names of = {
			{ address_lines, address_json, address_folded, &of },
			&trace->file.processes, symbols,
		};

		for (size_t k = 0; k < trace->file.session_count; k++) {
			struct trace_session *session =
				trace->file.sessions[k];

			names_set(&session->aggregates, &of.names);
			if (as_json)
				session_json(&json, trace, session);
			else if (format == &output_folded)
				session_folded(&text, session);
			else
				session_text(&text, session);
			names_set(&session->aggregates, NULL);
		}
	}
	if (as_json)
		json_close(&json, ']');
	fwrite(text.data, 1, text.used, out);
	code = text.error ? -ENOMEM : 0;
	free(text.data);
	return code;
}
