// SPDX-License-Identifier: GPL-2.0
/*
 * --calls: a line of JSON for each call,
 *
 *	{"function":"(app) open","event":1,"exit_event":9,"time":"2026-...Z",
 *	 "time_ns":...,"pid":7,"tid":70,"comm":"app","cpu":0,"depth":0,
 *	 "parent":null,"latency":1400,"self":900,"result":3,
 *	 "entry":{"name":"/etc/passwd"},"exit":{"returns":3}}
 *
 * with "doubt" where a figure is null, and notes as those of events.
 */
#include <errno.h>
#include <stdlib.h>
#include "lib/read/read.h"
#include "tracefmt/output/call_column.h"
#include "json_field.h"

struct json_calls {
	struct columns columns;	/* none: all */
	bool given;
};

/* A call on its way into an object. */
struct json_call {
	const struct output *output;
	const struct pair_call *call;
	const struct event *decoded;	/* whose pieces are in scratch */
	struct scratch *scratch;
	struct json json;
};

static int json_call_decode(struct json_call *of, const struct event *event)
{
	if (of->decoded != event &&
	    output_decode(event, of->scratch, NULL))
		return -ENOMEM;
	of->decoded = event;
	return 0;
}

/* One field; false: the record has none of that name. */
static bool json_call_field(struct json_call *of, const struct event *event,
			    const struct field *field)
{
	struct value_budget budget = VALUE_BUDGET;
	struct json_field walk = json_field_begin(of->output, event,
						  of->scratch, &budget);
	uint8_t note;

	while (field && json_field_next(&walk))
		if (walk.field == field) {
			json_add_field(&walk, of->json.text, &note);
			return true;
		}
	return false;
}

/* All fields, and after them the notes of those that have one. */
static void json_call_fields(struct json_call *of, const char *key,
			     const struct event *event)
{
	const struct decode_result *result = &of->scratch->result;
	struct value_budget budget = VALUE_BUDGET;
	struct json_field first = json_field_begin(of->output, event,
						   of->scratch, &budget);
	struct event_data data = event_data(event);
	struct text *text = of->json.text;
	uint8_t *notes = of->scratch->more;
	struct json_field walk = first;
	bool noted = false;
	char word[16];

	json_open(&of->json, key, '{');
	while (json_field_next(&walk)) {
		uint8_t *note = &notes[walk.piece->step->field];

		json_key(&of->json, walk.field->name);
		json_add_field(&walk, text, note);
		noted |= *note != NOTE_NONE;
	}
	json_close(&of->json, '}');
	if (noted) {
		snprintf(word, sizeof(word), "%s_notes", key);
		json_open(&of->json, word, '{');
		for (walk = first; json_field_next(&walk);) {
			uint8_t note = notes[walk.piece->step->field];

			if (note == NOTE_NONE)
				continue;
			json_key(&of->json, walk.field->name);
			json_add_note(&walk, note, text);
		}
		json_close(&of->json, '}');
	}
	if (data.length && (!event->point->formatted || result->misfit ||
			    of->output->settings->hex)) {
		snprintf(word, sizeof(word), "%s_data", key);
		json_key(&of->json, word);
		json_add_hex(text, data.data, data.length);
	}
}

/* A column that one of the records has. */
static void json_call_column(struct json_call *of, const char *key,
			     const struct event *event, enum column column)
{
	struct column_value value = column_value(event, column);
	char time[CLOCK_MAX];

	json_key(&of->json, key);
	if (column == COLUMN_TIME) {
		*clock_put_iso(event->time, time) = '\0';
		text_print(of->json.text, "\"%s\"", time);
	} else if (column == COLUMN_TIME_NS) {
		text_print(of->json.text, "%lld", (long long)event->time);
	} else if (value.kind == COLUMN_NUMBER) {
		text_add_number(of->json.text, value.number);
	} else if (value.kind == COLUMN_STRING) {
		json_add_string(of->json.text, value.string, value.length);
	} else {
		TEXT_ADD(of->json.text, "null");
	}
}

static void json_call_own(struct json_call *of, const char *key,
			  enum column column)
{
	struct column_value value = call_column_value(of->call, column);

	json_key(&of->json, key);
	if (value.kind == COLUMN_NUMBER)
		text_print(of->json.text, "%lld", (long long)value.number);
	else if (value.kind == COLUMN_STRING)
		json_add_string(of->json.text, value.string, value.length);
	else
		TEXT_ADD(of->json.text, "null");
}

/* null: there is no exit, it has no result yet, or no field. */
static int json_call_result(struct json_call *of, const char *key)
{
	const struct event *exit = &of->call->exit;
	const struct field *field;

	json_key(&of->json, key);
	if (!exit->point || exit->record->flags & RAS_RECORD_TAIL_CALL) {
		TEXT_ADD(of->json.text, "null");
		return 0;
	}
	if (json_call_decode(of, exit))
		return -ENOMEM;
	field = arguments_return_field(exit->point);
	if (!json_call_field(of, exit, field))
		TEXT_ADD(of->json.text, "null");
	return 0;
}

static int json_call_item(struct json_call *of, struct columns_item *item)
{
	const struct event *event = call_column_event(of->call, item);
	struct columns_item asked = call_column_item(item);
	const struct field *field;
	char key[128];

	snprintf(key, sizeof(key), "%.*s", (int)item->length, item->name);
	if (!event) {
		json_call_own(of, key, item->column);
		return 0;
	}
	if (item->column == COLUMN_RESULT)
		return json_call_result(of, key);
	if (!event->point || (asked.column != COLUMN_FIELD &&
			      asked.column != COLUMN_FIELDS)) {
		if (event->point)
			json_call_column(of, key, event, asked.column);
		return 0;
	}
	if (json_call_decode(of, event))
		return -ENOMEM;
	if (asked.column == COLUMN_FIELDS) {
		json_call_fields(of, key, event);
		return 0;
	}
	field = field_find(&event->point->fields, asked.name, asked.length);
	if (!field)
		return 0;
	item->met = true;
	json_key(&of->json, key);
	if (!json_call_field(of, event, field))
		TEXT_ADD(of->json.text, "null");
	return 0;
}

static int json_call_all(struct json_call *of)
{
	static const enum column columns[] = {
		COLUMN_TIME, COLUMN_TIME_NS, COLUMN_HOST, COLUMN_TRACE,
		COLUMN_MAJOR, COLUMN_MINOR, COLUMN_PID, COLUMN_TID, COLUMN_COMM,
		COLUMN_CPU,
	};
	const struct pair_call *call = of->call;
	const struct event *event = pair_call_event(call);
	bool several = of->output->stream->count > 1;
	int code;

	json_call_own(of, "function", COLUMN_FUNCTION);
	if (call->entry.point)
		json_number(&of->json, "event", call->number);
	if (call->exit.point)
		json_number(&of->json, "exit_event", call->exit.number);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		if (several || (columns[i] != COLUMN_HOST &&
				columns[i] != COLUMN_TRACE))
			json_call_column(of, column_words[columns[i]], event,
					 columns[i]);
	if (of->output->settings->relative)
		json_signed(&of->json, "relative_ns",
			    (uint64_t)event->time -
			    (uint64_t)of->output->start);
	json_call_own(of, "depth", COLUMN_DEPTH);
	json_call_own(of, "parent", COLUMN_PARENT);
	json_call_own(of, "latency", COLUMN_LATENCY);
	json_call_own(of, "self", COLUMN_SELF);
	if (pair_doubt_words[call->doubt])
		json_call_own(of, "doubt", COLUMN_DOUBT);
	code = json_call_result(of, "result");
	if (!code && call->entry.point) {
		code = json_call_decode(of, &call->entry);
		if (!code)
			json_call_fields(of, "entry", &call->entry);
	}
	if (!code && call->exit.point) {
		code = json_call_decode(of, &call->exit);
		if (!code)
			json_call_fields(of, "exit", &call->exit);
	}
	return code;
}

static int json_calls_call(struct output *output, struct pair_call *call,
			   struct text *text, struct scratch *scratch)
{
	struct json_calls *own = output->own;
	struct json_call of = {
		.output = output, .call = call, .scratch = scratch,
		.json = { .text = text },
	};
	int code = 0;

	own->given = true;
	json_open(&of.json, NULL, '{');
	if (!own->columns.count)
		code = json_call_all(&of);
	for (size_t i = 0; i < own->columns.count && !code; i++)
		code = json_call_item(&of, &own->columns.items[i]);
	json_close(&of.json, '}');
	TEXT_ADD(text, "\n");
	return code ? code : -text->error;
}

static int json_calls_open(struct output *output, struct text *text,
			   struct error *err)
{
	struct json_calls *own = output->own;

	return columns_parse(&own->columns, output->settings, err);
}

static int json_calls_close(struct output *output, struct text *text,
			    struct error *err)
{
	struct json_calls *own = output->own;

	return own->given ? columns_check(&own->columns, err) : 0;
}

static void json_calls_free(struct output *output)
{
	struct json_calls *own = output->own;

	columns_free(&own->columns);
}

const struct output_ops output_json_calls = {
	.name = "json",
	.own_bytes = sizeof(struct json_calls),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.pairing = PAIRING_ENTRIES | PAIRING_EXITS,
	.open = json_calls_open,
	.call = json_calls_call,
	.close = json_calls_close,
	.free = json_calls_free,
};
