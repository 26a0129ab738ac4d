// SPDX-License-Identifier: GPL-2.0
/*
 * OpenTelemetry's protocol: a call is a span, whose parent is the call around it,
 * every other event a log record. As lines of JSON, as the collector's file
 * exporter writes and its receiver reads them, or as protobuf that is sent to a
 * server.
 *
 * A call without another one around it begins a trace. Ids are made from what
 * identifies the record of the PRE, so that the same trace file has the same ids
 * each time.
 *
 * A process may publish what its own instrumentation is in, by OpenTelemetry's
 * thread-local variable otel_thread_ctx_v1. Where a record has its trace_id and
 * span_id, that span is the parent.
 *
 * Aggregates are metrics (otlp_metrics.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/key_map.h"
#include "lib/read/read.h"
#include "tracefmt/json/json_field.h"
#include "tracefmt/output/output.h"
#include "tracefmt/pair/pairing.h"
#include "otlp_batch.h"
#include "otlp_metrics.h"

#define OPEN_BYTES	(64u << 20)	/* attributes of calls that are open */

struct otlp_ids {
	uint8_t trace[16], span[8];
};

/* A call that is open. */
struct otlp_call {
	struct otlp_call *outer;	/* of the thread */
	uint64_t number;	/* of the event of its PRE */
	struct otlp_ids ids;
	bool is_root;
	bool migrates;		/* what else the thread does isn't in it */
	uint8_t parent[8];
	uint8_t published[8];	/* span of the process around it, or zeros */
	int64_t start;
	uint32_t dropped;	/* attributes for which there was no room */
	size_t size;
	char attributes[];
};

/* A thread with open calls. */
struct otlp_thread {
	uint64_t key;		/* of the buffer */
	uint32_t pid, tid;
	struct otlp_call *inner;
};

struct otlp {
	struct otlp_batch batch;
	struct pairing *pairing;
	struct key_map threads;	/* struct otlp_thread, by hash */
	struct key_map calls;	/* struct otlp_call, by number */
	size_t open_bytes;
	struct key_map metrics;	/* when aggregates were read that have been given,
				 * by trace and session */
	int64_t last;		/* time of the newest event */
	struct otlp_message attributes;	/* of an event */
	uint32_t count;		/* of these */
	struct text value;	/* of an attribute */
};

/* ---- ids ---- */

static void id_put(uint8_t *id, uint64_t hash)
{
	hash = htole64(hash ? hash : 1);
	memcpy(id, &hash, sizeof(hash));
}

/* No two records of a buffer have all of that in common. */
static uint64_t record_hash(const struct event *event)
{
	const struct ras_record *record = event->record;
	uint64_t hash = key_map_mix(event->trace->file.header.key,
				    record->time);

	hash = key_map_mix(hash, match_key(record));
	hash = key_map_mix(hash, (uint64_t)record->seq << 32 | event->cpu);
	return key_map_mix(hash, (uint64_t)record->pid << 32 | record->tid);
}

/* ---- open calls ---- */

static uint64_t thread_hash(uint64_t key, uint32_t pid, uint32_t tid)
{
	return key_map_mix(key, (uint64_t)pid << 32 | tid);
}

static struct otlp_thread *otlp_thread_find(const struct otlp *otlp,
					    const struct trace *trace,
					    uint32_t pid, uint32_t tid)
{
	uint64_t key = trace->file.header.key;
	struct otlp_thread *thread;
	size_t step = 0;

	while ((thread = key_map_each(&otlp->threads,
				      thread_hash(key, pid, tid), &step)))
		if (thread->key == key && thread->pid == pid &&
		    thread->tid == tid)
			break;
	return thread;
}

static struct otlp_thread *otlp_thread_get(struct otlp *otlp,
					   const struct event *event)
{
	const struct ras_record *r = event->record;
	uint64_t key = event->trace->file.header.key;
	struct otlp_thread *thread = otlp_thread_find(otlp, event->trace,
						      r->pid, r->tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = (struct otlp_thread){ key, r->pid, r->tid };
	if (key_map_add(&otlp->threads, thread_hash(key, r->pid, r->tid),
			thread)) {
		free(thread);
		return NULL;
	}
	return thread;
}

/* A field of so many bytes, which are there; NULL: there is none. */
static const uint8_t *published_bytes(const struct event *event,
				      const struct scratch *scratch,
				      const char *name, size_t length)
{
	const struct field *field = event->point->formatted ?
		field_find(&event->point->fields, name, strlen(name)) : NULL;
	const struct decode_piece *piece = field ?
		field_piece(field, scratch->pieces, scratch->result.count) :
		NULL;

	return piece && !piece->note && piece->bytes == length ? piece->data :
								 NULL;
}

/* The ids that the process has published; false: none are in the record. */
static bool otlp_published(const struct event *event,
			   const struct scratch *scratch, struct otlp_ids *ids)
{
#define PUBLISHED	"otel_thread_ctx_v1_"
	static const struct otlp_ids none;
	struct context context = context_of(event->record,
					    event->point->context);
	struct ras_otel otel;
	const uint8_t *trace = published_bytes(event, scratch,
					       PUBLISHED "trace_id", 16);
	const uint8_t *span = published_bytes(event, scratch,
					      PUBLISHED "span_id", 8);
	const uint8_t *valid = published_bytes(event, scratch,
					       PUBLISHED "valid", 1);

	if (context_otel(&context, &otel) && !context_otel_lack(&otel)) {
		memcpy(ids->trace, otel.trace_id, 16);
		memcpy(ids->span, otel.span_id, 8);
		return true;
	}
	if (!trace || !span || (valid && *valid != 1))
		return false;
	memcpy(ids->trace, trace, 16);
	memcpy(ids->span, span, 8);
	return memcmp(ids->trace, none.trace, 16) &&
	       memcmp(ids->span, none.span, 8);
}

/* The innermost open call that the thread is in. */
static struct otlp_call *otlp_inner(const struct otlp_thread *thread)
{
	struct otlp_call *call = thread ? thread->inner : NULL;

	while (call && call->migrates)
		call = call->outer;
	return call;
}

/* A PRE, whose attributes are made. 0 or -ENOMEM. */
static int otlp_call_begin(struct otlp *otlp, const struct event *event,
			   const struct pair_seen *seen,
			   const struct scratch *scratch)
{
	struct otlp_thread *thread = otlp_thread_get(otlp, event);
	size_t size = otlp->attributes.text.used;
	bool fits = size <= OPEN_BYTES - otlp->open_bytes;
	struct otlp_call *call = malloc(sizeof(*call) + (fits ? size : 0));
	uint64_t hash = record_hash(event);
	struct otlp_call *outer;
	struct otlp_ids published;

	if (!thread || !call || otlp->attributes.text.error)
		goto failed;
	outer = event->point->half ?
		key_map_find(&otlp->calls, seen->call.parent) :
		otlp_inner(thread);
	*call = (struct otlp_call){
		.outer = thread->inner, .number = event->number,
		.start = pair_time(event, seen),
		.migrates = whole_migrates(event->point),
		.dropped = fits ? 0 : otlp->count, .size = fits ? size : 0,
	};
	id_put(call->ids.span, hash);
	if (otlp_published(event, scratch, &published) &&
	    (!outer || memcmp(published.span, outer->published, 8))) {
		/* it began after the outer call */
		memcpy(call->ids.trace, published.trace, 16);
		memcpy(call->parent, published.span, 8);
		memcpy(call->published, published.span, 8);
	} else if (outer) {
		memcpy(call->ids.trace, outer->ids.trace, 16);
		memcpy(call->parent, outer->ids.span, 8);
		memcpy(call->published, outer->published, 8);
	} else {
		call->is_root = true;
		id_put(call->ids.trace, key_map_mix(hash, 1));
		id_put(call->ids.trace + 8, key_map_mix(hash, 2));
	}
	if (call->size)
		memcpy(call->attributes, otlp->attributes.text.data, size);
	if (key_map_add(&otlp->calls, call->number, call))
		goto failed;
	otlp->open_bytes += call->size;
	thread->inner = call;
	return 0;
failed:
	free(call);
	return -ENOMEM;
}

/* What pairing.h has closed is open no more: free it. NULL: it isn't known. */
static struct otlp_call *otlp_call_take(struct otlp *otlp,
					const struct pair_call *of)
{
	struct otlp_call *call = key_map_find(&otlp->calls, of->number);
	struct otlp_thread *thread;
	struct otlp_call **link;

	if (!call)
		return NULL;
	thread = otlp_thread_find(otlp, of->entry.trace, of->pid, of->tid);
	if (!thread)
		return NULL;
	key_map_remove(&otlp->calls, of->number, call);
	otlp->open_bytes -= call->size;
	for (link = &thread->inner; *link && *link != call;)
		link = &(*link)->outer;
	if (*link)
		*link = call->outer;
	if (!thread->inner) {
		key_map_remove(&otlp->threads,
			       thread_hash(thread->key, of->pid, of->tid),
			       thread);
		free(thread);
	}
	return call;
}

/* ---- attributes of an event ---- */

/* How they are called. */
struct otlp_names {
	uint32_t number;	/* of the attributes in their message */
	const char *event, *fields, *notes;
};

#define SPAN_ATTRIBUTES	9
#define LOG_ATTRIBUTES	6

static const struct otlp_names names_pre = {
	SPAN_ATTRIBUTES, "rastrace.pre.", "rastrace.args.",
	"rastrace.args_notes.",
};
static const struct otlp_names names_post = {
	SPAN_ATTRIBUTES, "rastrace.post.", "rastrace.result.",
	"rastrace.result_notes.",
};
static const struct otlp_names names_log = {
	LOG_ATTRIBUTES, "rastrace.", "rastrace.fields.", "rastrace.notes.",
};

static void otlp_attribute_open(struct otlp *otlp, uint32_t field,
				const char *prefix, const char *key)
{
	otlp_attribute_begin(&otlp->attributes, field, prefix, key);
	otlp->count++;
}

static void otlp_number_add(struct otlp *otlp, uint32_t field, const char *key,
			    int64_t value)
{
	otlp_attribute_integer(&otlp->attributes, field, key, value);
	otlp->count++;
}

static void otlp_text_add(struct otlp *otlp, uint32_t field, const char *key,
			  const char *value, size_t length)
{
	otlp_attribute_string(&otlp->attributes, field, key, value, length);
	otlp->count++;
}

static bool is_utf8(const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t n = data[i] < 0x80 ? 1 :
			   safe_text_utf8(data + i, length - i);

		if (!n)
			return false;
		i += n;
	}
	return true;
}

/* As --format=json has it: what is an object there is its text here. */
static uint8_t otlp_json_value(struct otlp *otlp, const struct json_field *of)
{
	struct otlp_message *m = &otlp->attributes;
	uint8_t note;

	otlp->value.used = 0;
	json_add_field(of, &otlp->value, &note);
	m->text.error |= otlp->value.error;
	if (otlp->value.used > 1 && otlp->value.data[0] == '"')
		otlp_string(m, OTLP_STRING_VALUE, otlp->value.data + 1,
			    otlp->value.used - 2);
	else
		otlp_string(m, OTLP_STRING_VALUE, otlp->value.data,
			    otlp->value.used);
	return note;
}

/* The note of the value becomes *note. */
static void otlp_value_add(struct otlp *otlp, const struct json_field *of,
			   const struct otlp_names *names, uint8_t *note)
{
	struct field_value value = field_value(of->field, of->piece);
	struct otlp_message *m = &otlp->attributes;
	const char *name;

	*note = value.note;
	if (!value.there)
		return;
	otlp_attribute_open(otlp, names->number, names->fields,
			    of->field->name);
	if (of->field->array) {
		*note = otlp_json_value(otlp, of);
		otlp_attribute_end(m);
		return;
	}
	switch (value.kind) {
	case FIELD_UNSIGNED:
	case FIELD_DURATION:
		if (value.u > INT64_MAX)
			otlp_json_value(otlp, of);
		else
			otlp_integer(m, OTLP_INT_VALUE, value.u);
		break;
	case FIELD_SIGNED:
		otlp_integer(m, OTLP_INT_VALUE, value.i);
		break;
	case FIELD_FLOAT:
		otlp_double(m, OTLP_DOUBLE_VALUE, value.f);
		break;
	case FIELD_BOOL:
		if (value.u > 1)
			otlp_json_value(otlp, of);
		else
			otlp_bool(m, OTLP_BOOL_VALUE, value.u);
		break;
	case FIELD_STRING:
		if (is_utf8(value.data, value.length))
			otlp_string(m, OTLP_STRING_VALUE,
				    (const char *)value.data, value.length);
		else
			otlp_bytes(m, OTLP_BYTES_VALUE, value.data,
				   value.length);
		break;
	case FIELD_BYTES:
		otlp_bytes(m, OTLP_BYTES_VALUE, value.data, value.length);
		break;
	case FIELD_ENUM:
		name = field_enum_name(of->format, of->field, value.u);
		if (name) {
			otlp_string(m, OTLP_STRING_VALUE, name, strlen(name));
			break;
		}
		/* fall through */
	default:
		*note = otlp_json_value(otlp, of);
	}
	otlp_attribute_end(m);
}

static void otlp_fields_add(struct otlp *otlp, const struct output *output,
			    const struct event *event,
			    const struct scratch *scratch,
			    const struct otlp_names *names)
{
	struct value_budget budget = VALUE_BUDGET;
	struct json_field of = json_field_begin(output, event, scratch,
						&budget);
	struct otlp_message *m = &otlp->attributes;
	uint8_t note;

	while (json_field_next(&of)) {
		otlp_value_add(otlp, &of, names, &note);
		if (!note)
			continue;
		otlp->value.used = 0;
		json_add_note(&of, note, &otlp->value);
		m->text.error |= otlp->value.error;
		otlp_attribute_open(otlp, names->number, names->notes,
				    of.field->name);
		otlp_string(m, OTLP_STRING_VALUE, otlp->value.data,
			    otlp->value.used);
		otlp_attribute_end(m);
	}
}

static void otlp_flags_add(struct otlp *otlp, const struct event *event,
			   const struct decode_result *result,
			   const struct otlp_names *names)
{
	unsigned int flags = event_flags(event, result->status,
					 result->misfit);
	struct otlp_message *m = &otlp->attributes;

	if (!flags)
		return;
	otlp_attribute_open(otlp, names->number, names->event, "flags");
	otlp_begin(m, OTLP_FIELD(5, "arrayValue"));
	otlp_list(m, OTLP_FIELD(1, "values"));
	for (size_t i = 0; i < EVENT_FLAGS; i++) {
		if (!(flags & 1u << i))
			continue;
		otlp_begin(m, OTLP_FIELD(1, NULL));
		otlp_string(m, OTLP_STRING_VALUE, event_flag_words[i],
			    strlen(event_flag_words[i]));
		otlp_end(m);
	}
	otlp_list_end(m);
	otlp_end(m);
	otlp_attribute_end(m);
}

/* All that an event has. 0 or -ENOMEM. */
static int otlp_attributes_make(struct otlp *otlp, const struct output *output,
				const struct event *event,
				const struct otlp_names *names,
				struct scratch *scratch)
{
	const struct match_point *point = event->point;
	struct context context = context_find(event->record, point->context);
	struct event_data data = event_data(event);
	struct stack_owner owner = {
		&event->trace->file.processes, event->record->pid,
		output->settings->symbols,
	};
	struct otlp_message *m = &otlp->attributes;

	otlp_message_clear(m, otlp->batch.is_json);
	otlp->count = 0;
	if (output_decode(event, scratch, NULL))
		return -ENOMEM;
	otlp_attribute_open(otlp, names->number, names->event, "event");
	otlp_integer(m, OTLP_INT_VALUE, event->number);
	otlp_attribute_end(m);
	otlp_attribute_open(otlp, names->number, names->event, "cpu");
	otlp_integer(m, OTLP_INT_VALUE, event->cpu);
	otlp_attribute_end(m);
	otlp_flags_add(otlp, event, &scratch->result, names);
	otlp_fields_add(otlp, output, event, scratch, names);
	if (data.length && (!point->formatted || scratch->result.misfit ||
			    !point->format.takes_data)) {
		otlp_attribute_open(otlp, names->number, names->event, "data");
		otlp_bytes(m, OTLP_BYTES_VALUE, data.data, data.length);
		otlp_attribute_end(m);
	}
	if (context.mask && !context.misfit) {
		otlp->value.used = 0;
		json_add_context(&context, owner, &otlp->value);
		otlp_attribute_open(otlp, names->number, names->event, "context");
		otlp_string(m, OTLP_STRING_VALUE, otlp->value.data,
			    otlp->value.used);
		otlp_attribute_end(m);
	}
	return otlp->value.error || m->text.error ? -ENOMEM : 0;
}

/* Where it was: of the first event of a span, or of a log
 * record. */
static void otlp_place_add(struct otlp *otlp, const struct event *event,
			   uint32_t field, const char *function)
{
	const char *name = event_thread_comm(event);

	otlp_number_add(otlp, field, "thread.id", event->record->tid);
	if (name)
		otlp_text_add(otlp, field, "thread.name", name,
			      strnlen(name, 16));
	otlp_number_add(otlp, field, "rastrace.major",
			event->record->major);
	otlp_number_add(otlp, field, "rastrace.minor",
			event->record->minor);
	if (function)
		otlp_text_add(otlp, field, "code.function.name", function,
			      strlen(function));
}

/* ---- spans and log records ---- */

/* There are no times before 1970 in OTLP. */
static uint64_t otlp_time(int64_t time)
{
	return time < 0 ? 0 : time;
}

/* A call that has ended; unmatched: why not by a POST, whose attributes would be
 * in otlp->attributes. Frees it. */
static int otlp_span_add(const struct output *output, struct otlp_call *call,
			 const struct pair_call *of, int64_t end,
			 const char *doubt)
{
	struct otlp *otlp = output->own;
	struct otlp_message *m = otlp_batch_add(&otlp->batch, OTLP_SPANS,
						of->entry.trace, of->pid,
						of->entry.time);
	const char *name = output_desc(output, of->name);
	const struct text *after = &otlp->attributes.text;

	if (!m || !call) {
		free(call);
		return -ENOMEM;
	}
	end = end < call->start ? call->start : end;
	otlp_begin(m, OTLP_FIELD(2, NULL));
	otlp_id(m, OTLP_FIELD(1, "traceId"), call->ids.trace, 16);
	otlp_id(m, OTLP_FIELD(2, "spanId"), call->ids.span, 8);
	if (!call->is_root)
		otlp_id(m, OTLP_FIELD(4, "parentSpanId"), call->parent, 8);
	otlp_string(m, OTLP_FIELD(5, "name"), name, strlen(name));
	otlp_number(m, OTLP_FIELD(6, "kind"), 1);	/* internal */
	otlp_fixed(m, OTLP_FIELD(7, "startTimeUnixNano"),
		   otlp_time(call->start));
	otlp_fixed(m, OTLP_FIELD(8, "endTimeUnixNano"), otlp_time(end));
	otlp_list(m, OTLP_FIELD(SPAN_ATTRIBUTES, "attributes"));
	otlp_elements(m, call->attributes, call->size);
	if (of->exit.point)
		otlp_elements(m, after->data, after->used);
	if (doubt)
		otlp_attribute_string(m, SPAN_ATTRIBUTES, "rastrace.unmatched",
				      doubt, strlen(doubt));
	otlp_list_end(m);
	if (call->dropped)
		otlp_number(m, OTLP_FIELD(10, "droppedAttributesCount"),
			    call->dropped);
	otlp_end(m);
	free(call);
	return 0;
}

static int otlp_log_add(const struct output *output, const struct event *event,
			const struct scratch *scratch, int64_t time)
{
	struct otlp *otlp = output->own;
	const struct ras_record *r = event->record;
	const struct otlp_thread *thread = otlp_thread_find(otlp, event->trace,
							    r->pid, r->tid);
	struct otlp_message *m = otlp_batch_add(&otlp->batch, OTLP_LOGS,
						event->trace, r->pid, r->time);
	const struct match_point *point = event->point;
	const char *body = output_desc(output, point->title);
	const struct otlp_call *inner = otlp_inner(thread);
	struct otlp_ids ids;
	bool published = otlp_published(event, scratch, &ids);

	if (inner && (!published || !memcmp(ids.span, inner->published, 8)))
		ids = inner->ids;
	if (!m || otlp->attributes.text.error)
		return -ENOMEM;
	otlp_begin(m, OTLP_FIELD(2, NULL));
	otlp_fixed(m, OTLP_FIELD(1, "timeUnixNano"), otlp_time(time));
	otlp_fixed(m, OTLP_FIELD(11, "observedTimeUnixNano"), otlp_time(time));
	otlp_begin(m, OTLP_FIELD(5, "body"));
	otlp_string(m, OTLP_STRING_VALUE, body,
		    point->title_length - 1 - (body - point->title));
	otlp_end(m);
	otlp_list(m, OTLP_FIELD(LOG_ATTRIBUTES, "attributes"));
	otlp_elements(m, otlp->attributes.text.data,
		      otlp->attributes.text.used);
	otlp_list_end(m);
	if (inner || published) {
		otlp_id(m, OTLP_FIELD(9, "traceId"), ids.trace, 16);
		otlp_id(m, OTLP_FIELD(10, "spanId"), ids.span, 8);
	}
	otlp_end(m);
	return 0;
}

/* ---- */

static int otlp_plain_add(struct output *output, const struct event *event,
			  int64_t time, bool alone, struct scratch *scratch)
{
	struct otlp *otlp = output->own;
	int code = otlp_attributes_make(otlp, output, event, &names_log,
					scratch);

	otlp_place_add(otlp, event, LOG_ATTRIBUTES, NULL);
	if (alone)
		otlp_text_add(otlp, LOG_ATTRIBUTES, "rastrace.unmatched",
			      "no PRE", 6);
	return code ? code : otlp_log_add(output, event, scratch, time);
}

/* A call that has ended, or been decided; without a POST at `time`, for this
 * reason. */
static int otlp_ended_add(struct output *output, const struct pair_call *of,
			  int64_t time, const char *reason,
			  struct scratch *scratch)
{
	struct otlp_call *call;
	int code;

	if (of->doubt == PAIR_NO_PRE)	/* it has turned out to be none */
		return otlp_plain_add(output, &of->exit, of->exit.time, true,
				      scratch);
	call = otlp_call_take(output->own, of);
	if (!call)
		return 0;
	if (!of->exit.point)
		return otlp_span_add(output, call, of, time, reason);
	code = otlp_attributes_make(output->own, output, &of->exit, &names_post,
				    scratch);
	if (code)
		free(call);
	return code ? code :
	       otlp_span_add(output, call, of, of->exit.time,
			     of->doubt == PAIR_SURE ? NULL : "uncertain POST");
}

static int otlp_event_give(struct output *output, const struct event *event,
			   const struct pair_seen *seen,
			   struct scratch *scratch)
{
	struct otlp *otlp = output->own;
	int64_t time = pair_time(event, seen);
	int code = 0;

	otlp->last = time;
	for (size_t i = 0; !code && i < seen->ended_count; i++) {
		const struct pair_call *of = seen->ended[i];

		if (of->doubt != PAIR_NO_PRE ||
		    of->exit.number != event->number)
			code = otlp_ended_add(output, of, time, "no POST",
					      scratch);
	}
	if (code)
		return code;
	switch (seen->role) {
	case PAIR_PRE:
		code = otlp_attributes_make(otlp, output, event, &names_pre,
					    scratch);
		otlp_place_add(otlp, event, SPAN_ATTRIBUTES,
			       output_desc(output, seen->name));
		return code ? code :
		       otlp_call_begin(otlp, event, seen, scratch);
	case PAIR_POST_MATCHED:
	case PAIR_POST_UNSURE:
		return 0;	/* it is part of its call */
	default:
		return otlp_plain_add(output, event, time,
				      seen->role == PAIR_POST_ALONE, scratch);
	}
}

static int otlp_event(struct output *output, const struct event *event,
		      struct text *text, struct scratch *scratch)
{
	struct otlp *otlp = output->own;
	struct pair_seen seen;
	int code;

	if (pairing_see(otlp->pairing, event, &seen))
		return -ENOMEM;
	code = otlp_event_give(output, event, &seen, scratch);
	if (!code && otlp_batch_is_full(&otlp->batch))
		code = otlp_batch_give(&otlp->batch, text);
	return code;
}

/* The aggregates that have been read since the last time. */
static int otlp_metrics_give(const struct output *output, struct text *text)
{
	struct otlp *otlp = output->own;
	const struct stream *stream = output->stream;
	int code = 0;

	for (size_t i = 0; i < stream->count; i++) {
		const struct trace *trace = stream->traces[i];

		for (size_t k = 0; k < trace->file.session_count && !code; k++) {
			const struct trace_session *session =
				trace->file.sessions[k];
			uint64_t taken = session->aggregates.taken;
			uint64_t key = (uint64_t)i << 32 | session->entry->index;
			uint64_t before = key_map_number(&otlp->metrics, key);

			if (!taken || taken == before)
				continue;
			if (before)
				key_map_remove(&otlp->metrics, key,
					       (void *)(uintptr_t)before);
			code = key_map_add_number(&otlp->metrics, key, taken);
			if (!code)
				code = otlp_metrics_add(&otlp->batch, trace,
							session, text);
		}
	}
	return code;
}

/* What comes of a pipe may take a while. */
static int otlp_flush(struct output *output, struct text *text)
{
	struct otlp *otlp = output->own;
	int code = otlp->batch.stops ? 0 : otlp_metrics_give(output, text);

	return code ? code : otlp_batch_give(&otlp->batch, text);
}

static int otlp_open(struct output *output, struct text *text,
		     struct error *err)
{
	const struct stream *stream = output->stream;
	const char *url = output->settings->otlp_url;
	struct otlp *otlp = output->own;

	otlp->pairing = pairing_open(output->pairing_wanted | PAIRING_EXITS,
				     output->foresight);
	if (!otlp->pairing)
		return -ENOMEM;
	otlp->batch.is_json = !url;
	otlp->batch.stops = true;
	for (size_t i = 0; i < stream->count; i++)
		if (stream->traces[i]->file.source.pipe)
			otlp->batch.stops = false;
	if (!url)
		return 0;
	otlp->batch.sender = otlp_sender_open(url, err);
	return otlp->batch.sender ? 0 : -ENOENT;
}

static int otlp_losses_report(const struct output *output, struct error *err)
{
	static const char *const names[OTLP_SIGNALS] = {
		"spans", "log records", "data points",
	};
	const struct otlp *otlp = output->own;
	const struct otlp_batch *batch = &otlp->batch;
	char counts[200] = "";
	size_t used = 0;

	for (size_t i = 0; i < OTLP_SIGNALS; i++) {
		uint64_t lost = batch->lost[i], all = lost + batch->arrived[i];

		if (all)
			used += snprintf(counts + used, sizeof(counts) - used,
					 "%s%llu of %llu %s",
					 used ? " and " : "",
					 (unsigned long long)lost,
					 (unsigned long long)all, names[i]);
	}
	return error_set(err, -EIO, "'%s': %s were not accepted: %s",
			 output->settings->otlp_url, counts, batch->reason);
}

static int otlp_close(struct output *output, struct text *text,
		      struct error *err)
{
	struct otlp *otlp = output->own;
	const struct otlp_batch *batch = &otlp->batch;
	const struct pair_call *of;
	struct scratch *scratch = calloc(1, sizeof(*scratch));
	int code = scratch ? 0 : -ENOMEM;

	while (!code && (of = pairing_open_call(otlp->pairing))) {
		code = otlp_ended_add(output, of, otlp->last, "open at the end",
				      scratch);
		if (!code && otlp_batch_is_full(batch))
			code = otlp_batch_give(&otlp->batch, text);
	}
	if (scratch)
		free(scratch->pieces);
	free(scratch);
	if (!code)
		code = otlp_metrics_give(output, text);
	if (!code)
		code = otlp_batch_give(&otlp->batch, text);
	return code || !*batch->reason ? code : otlp_losses_report(output, err);
}

static void otlp_free(struct output *output)
{
	struct otlp *otlp = output->own;
	struct otlp_thread *thread;
	struct otlp_call *call;
	size_t at = 0;

	while ((call = key_map_next(&otlp->calls, &at)))
		free(call);
	at = 0;
	while ((thread = key_map_next(&otlp->threads, &at)))
		free(thread);
	key_map_free(&otlp->calls);
	key_map_free(&otlp->metrics);
	key_map_free(&otlp->threads);
	pairing_close(otlp->pairing);
	otlp_batch_free(&otlp->batch);
	free(otlp->attributes.text.data);
	free(otlp->value.data);
}

const struct output_ops output_otlp = {
	.name = "otlp",
	.own_bytes = sizeof(struct otlp),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.open = otlp_open,
	.event = otlp_event,
	.flush = otlp_flush,
	.close = otlp_close,
	.free = otlp_free,
};
