// SPDX-License-Identifier: GPL-2.0
/*
 * The JSON Trace Event format of chrome://tracing and ui.perfetto.dev: a call
 * is "B" at its PRE and "E" at its POST, everything else an instant "i". Where
 * two sessions of a module see the same calls, those of the later one don't
 * nest: they are asynchronous, "b" and "e". A call that is open at the end has
 * no "E".
 *
 * Times are us since the first event: a double has no room for the ns of wall
 * clocks. Process ids of a second, third ... machine are raised by 10,000,000,
 * 20,000,000 ...
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/key_map.h"
#include "lib/read/read.h"
#include "tracefmt/pair/pairing.h"
#include "json_field.h"
#include "tracefmt/output/output.h"

#define NAMED_MOST	(1u << 16)
#define MACHINE_STEP	10000000u

/* The name of a process or thread that was given. */
struct named {
	char comm[16];
};

struct perfetto {
	struct pairing *pairing;
	struct named *named;	/* NAMED_MOST of them */
	struct key_map by_id;	/* 1 + index in `named`; cleared when full */
	uint32_t *machines;	/* by trace: of the same host, the first one */
	bool begun;		/* there is an event before */
};

/* ---- JSON ---- */

/* us with three places. */
static void perfetto_time_add(struct text *text, int64_t start, int64_t time)
{
	uint64_t ns = (uint64_t)time - (uint64_t)start;
	char *p;

	if (text_reserve(text, 32))
		return;
	p = text->data + text->used;
	if (time < start) {
		*p++ = '-';
		ns = -ns;
	}
	p = text_put_decimal(p, ns / 1000);
	*p++ = '.';
	text->used = text_put_padded(p, ns % 1000, 3) - text->data;
}

/* ---- parts of an event ---- */

static uint64_t machine_pid(const struct perfetto *perfetto,
			    const struct trace *trace, uint32_t pid)
{
	return pid + (uint64_t)MACHINE_STEP * perfetto->machines[trace->index];
}

/* {"ph":"B","ts":1.5,"pid":1,"tid":1 */
static void perfetto_event_begin(const struct output *output, char phase,
				 int64_t time, const struct trace *trace,
				 uint32_t pid, uint32_t tid, struct text *text)
{
	struct perfetto *perfetto = output->own;

	if (perfetto->begun)
		TEXT_ADD(text, ",\n");
	perfetto->begun = true;
	TEXT_ADD(text, "{\"ph\":\"");
	text_add(text, &phase, 1);
	TEXT_ADD(text, "\",\"ts\":");
	perfetto_time_add(text, output->start, time);
	TEXT_ADD(text, ",\"pid\":");
	text_add_number(text, machine_pid(perfetto, trace, pid));
	TEXT_ADD(text, ",\"tid\":");
	text_add_number(text, machine_pid(perfetto, trace, tid));
}

/* call: name of a function, or NULL. */
static void perfetto_name_add(const struct match_point *point, const char *call,
		     struct text *text)
{
	TEXT_ADD(text, ",\"name\":");
	if (call)
		json_add_string(text, call, strlen(call));
	else
		json_add_string(text, point->title, point->title_length - 1);
	TEXT_ADD(text, ",\"cat\":\"major ");
	text_add_number(text, pair_major(point));
	TEXT_ADD(text, "\"");
}

/* What ties "b" and "e" of a call together. */
static void perfetto_id_add(const struct pair_call *call, struct text *text)
{
	text_print(text, ",\"id\":\"%u.%u.%" PRIu64 "\"",
		 (unsigned int)(call->entry.point->key >> 48), call->tid,
		 call->number);
}

/* ,"fields":{"n":null},"fields notes":{"n":{"why":"short"}}: the values, and
 * why some are missing. notes: by field, set here. */
static void perfetto_fields_add(struct json_field of, const char *key,
				uint8_t *notes, struct text *text)
{
	struct json json = { .text = text, .follows = true };
	const struct json_field first = of;
	bool noted = false;

	json_open(&json, key, '{');
	while (json_field_next(&of)) {
		uint8_t *note = &notes[of.piece->step->field];

		json_key(&json, of.field->name);
		json_add_field(&of, text, note);
		noted |= *note != NOTE_NONE;
	}
	json_close(&json, '}');
	if (!noted)
		return;
	text_print(text, ",\"%s notes\":", key);
	json.follows = false;
	json_open(&json, NULL, '{');
	for (of = first; json_field_next(&of);) {
		uint8_t note = notes[of.piece->step->field];

		if (note == NOTE_NONE)
			continue;
		json_key(&json, of.field->name);
		json_add_note(&of, note, text);
	}
	json_close(&json, '}');
}

/* ,"args":{"event":1,"cpu":0,"fields":{"n":5}}}; those of a POST have other
 * names, as viewers put them among those of the PRE. */
static int perfetto_args_add(const struct output *output,
			     const struct event *event,
			     const struct pair_seen *seen,
			     struct scratch *scratch, struct text *text)
{
	const struct decode_result *result = &scratch->result;
	bool post = seen->role == PAIR_POST_MATCHED ||
		    seen->role == PAIR_POST_UNSURE;
	struct json json = { .text = text, .follows = true };
	struct value_budget budget = VALUE_BUDGET;
	unsigned int flags;

	if (output_decode(event, scratch, NULL))
		return -ENOMEM;
	json_open(&json, "args", '{');
	json_number(&json, post ? "post event" : "event", event->number);
	json_number(&json, post ? "post cpu" : "cpu", event->cpu);
	if (!post)
		json_number(&json, "minor", pair_minor(event->point));
	if (pair_time(event, seen) != event->time)
		json_number(&json, post ? "post earlier by ns" :
			    "earlier by ns", seen->late);
	if (post && seen->doubt > PAIR_PENDING)
		json_string(&json, "uncertain", pair_doubt_words[seen->doubt]);
	flags = event_flags(event, result->status, result->misfit);
	if (flags) {
		json_open(&json, post ? "post flags" : "flags", '[');
		for (unsigned int i = 0; i < EVENT_FLAGS; i++)
			if (flags & 1u << i)
				json_string(&json, NULL, event_flag_words[i]);
		json_close(&json, ']');
	}
	if (result->count)
		perfetto_fields_add(json_field_begin(output, event, scratch,
						     &budget),
				    post ? "returns" : "fields", scratch->more,
				    text);
	TEXT_ADD(text, "}}");
	return -text->error;
}

/* ---- names of processes and threads ---- */

/* The name differs from the one that was given before. */
static bool name_is_new(struct perfetto *perfetto, uint64_t id,
			const char *comm, struct text *text)
{
	size_t number = key_map_number(&perfetto->by_id, id);
	bool known = number;
	struct named *named;

	if (!known) {
		if (perfetto->by_id.count == NAMED_MOST)
			key_map_free(&perfetto->by_id);
		number = perfetto->by_id.count + 1;
		if (key_map_add_number(&perfetto->by_id, id, number)) {
			text->error = ENOMEM;
			return false;
		}
	}
	named = &perfetto->named[number - 1];
	if (known && !strncmp(named->comm, comm, sizeof(named->comm)))
		return false;
	memset(named->comm, 0, sizeof(named->comm));
	memcpy(named->comm, comm, strnlen(comm, sizeof(named->comm)));
	return true;
}

/* kind: "process" or "thread" */
static void perfetto_metadata_add(const struct output *output,
			 const struct event *event, const char *kind,
			 const char *comm, struct text *text)
{
	const struct perfetto *perfetto = output->own;
	const struct trace *trace = event->trace;
	uint32_t pid = event->record->pid, tid = event->record->tid;
	char name[160];
	size_t n = 0;

	if (perfetto->machines[trace->index])
		n = snprintf(name, sizeof(name), "%s: ", trace->file.host);
	n += snprintf(name + n, sizeof(name) - n, "%.16s", comm);
	perfetto_event_begin(output, 'M', output->start, trace, pid, tid, text);
	text_print(text, ",\"name\":\"%s_name\",\"cat\":\"__metadata\",\"args\":{\"name\":",
		   kind);
	json_add_string(text, name, n);
	TEXT_ADD(text, "}}");
}

static void perfetto_names_add(const struct output *output,
			       const struct event *event, struct text *text)
{
	struct perfetto *perfetto = output->own;
	const struct ras_record *r = event->record;
	struct context context = context_find(r, event->point->context);
	const char *comm = event_comm(event);
	uint64_t pid = machine_pid(perfetto, event->trace, r->pid);

	if (comm && name_is_new(perfetto, pid << 32 | UINT32_MAX, comm, text))
		perfetto_metadata_add(output, event, "process", comm, text);
	comm = context.name;
	if (comm && name_is_new(perfetto, (pid << 32 | r->tid) + 1, comm, text))
		perfetto_metadata_add(output, event, "thread", comm, text);
}

/* ---- events ---- */

/* "E" needs no name by the format's document; some readers do. */
static void call_close(const struct output *output,
		       const struct pair_call *call, int64_t time,
		       struct text *text)
{
	perfetto_event_begin(output, call->beside ? 'e' : 'E', time,
			     call->entry.trace, call->pid, call->tid, text);
	perfetto_name_add(call->entry.point, call->name, text);
	if (call->beside)
		perfetto_id_add(call, text);
}

/* What is known only later than its "E". */
static void call_doubt_add(const struct output *output,
			   const struct pair_call *call, struct text *text)
{
	perfetto_event_begin(output, 'i', call->exit.time, call->exit.trace,
			     call->pid, call->tid, text);
	TEXT_ADD(text, ",\"name\":\"uncertain call\",\"cat\":\"major ");
	text_add_number(text, pair_major(call->entry.point));
	text_print(text, "\",\"s\":\"t\",\"args\":{\"event\":%" PRIu64
		   ",\"post event\":%" PRIu64 ",\"uncertain\":\"%s\"}}",
		   call->number, call->exit.number,
		   pair_doubt_words[call->doubt]);
}

static int perfetto_event(struct output *output, const struct event *event,
			  struct text *text, struct scratch *scratch)
{
	struct perfetto *perfetto = output->own;
	const struct ras_record *r = event->record;
	struct pair_seen seen;
	int64_t time;

	if (pairing_see(perfetto->pairing, event, &seen))
		return -ENOMEM;
	perfetto_names_add(output, event, text);
	time = pair_time(event, &seen);
	/* Calls that were given up (pairing.h) stay open. */
	for (size_t i = 0; i < seen.ended_count; i++) {
		const struct pair_call *call = seen.ended[i];

		if (call->doubt == PAIR_NO_POST) {
			call_close(output, call, time, text);
			TEXT_ADD(text,
				 ",\"args\":{\"unmatched\":\"no POST\"}}");
		} else if (call->doubt == PAIR_RECURSION &&
			   call->exit.number != event->number) {
			call_doubt_add(output, call, text);
		}
	}
	if (seen.role == PAIR_POST_MATCHED || seen.role == PAIR_POST_UNSURE) {
		call_close(output, &seen.call, time, text);
	} else {
		perfetto_event_begin(output, seen.role != PAIR_PRE ? 'i' :
			    seen.call.beside ? 'b' : 'B', time,
			    event->trace, r->pid, r->tid, text);
		perfetto_name_add(event->point,
				  seen.role == PAIR_PRE ? seen.name : NULL,
				  text);
		if (seen.role != PAIR_PRE)
			TEXT_ADD(text, ",\"s\":\"t\"");
		else if (seen.call.beside)
			perfetto_id_add(&seen.call, text);
	}
	return perfetto_args_add(output, event, &seen, scratch, text);
}

/* ---- */

static int machines_find(struct perfetto *perfetto,
			 const struct stream *stream)
{
	uint32_t count = 0;

	perfetto->machines = calloc(stream->count + 1,
				    sizeof(*perfetto->machines));
	if (!perfetto->machines)
		return -ENOMEM;
	for (size_t i = 0; i < stream->count; i++) {
		size_t same = 0;

		while (strcmp(stream->traces[same]->file.host,
			      stream->traces[i]->file.host))
			same++;
		perfetto->machines[i] = same < i ? perfetto->machines[same] :
					count++;
	}
	return 0;
}

static int perfetto_open(struct output *output, struct text *text,
			 struct error *err)
{
	struct perfetto *perfetto = output->own;

	perfetto->pairing = pairing_open(output->pairing_wanted,
					 output->foresight);
	perfetto->named = calloc(NAMED_MOST, sizeof(*perfetto->named));
	if (!perfetto->pairing || !perfetto->named ||
	    machines_find(perfetto, output->stream))
		return -ENOMEM;
	TEXT_ADD(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	return -text->error;
}

static int perfetto_close(struct output *output, struct text *text,
			  struct error *err)
{
	const struct stream *stream = output->stream;
	struct perfetto *perfetto = output->own;
	const struct pair_call *call;
	char start[CLOCK_MAX];

	while ((call = pairing_open_call(perfetto->pairing)))
		if (call->doubt == PAIR_RECURSION)
			call_doubt_add(output, call, text);
	TEXT_ADD(text, "\n],\"otherData\":{");
	if (perfetto->begun) {
		*clock_put_iso(output->start, start) = '\0';
		text_print(text, "\"start\":\"%s\",", start);
	}
	TEXT_ADD(text, "\"hosts\":[");
	for (size_t i = 0; i < stream->count; i++) {
		const struct trace_file *file = &stream->traces[i]->file;

		if (i)
			TEXT_ADD(text, ",");
		TEXT_ADD(text, "{\"host\":");
		json_add_string(text, file->host, strlen(file->host));
		TEXT_ADD(text, ",\"kernel\":");
		json_add_string(text, file->kernel, strlen(file->kernel));
		TEXT_ADD(text, "}");
	}
	TEXT_ADD(text, "]}}\n");
	return -text->error;
}

static void perfetto_free(struct output *output)
{
	struct perfetto *perfetto = output->own;

	pairing_close(perfetto->pairing);
	key_map_free(&perfetto->by_id);
	free(perfetto->named);
	free(perfetto->machines);
}

const struct output_ops output_perfetto = {
	.name = "perfetto",
	.own_bytes = sizeof(struct perfetto),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.open = perfetto_open,
	.event = perfetto_event,
	.close = perfetto_close,
	.free = perfetto_free,
};
