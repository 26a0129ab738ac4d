// SPDX-License-Identifier: GPL-2.0
/*
 * An event as JSON, an object on a line of its own (JSON Lines):
 *
 *	{"schema":1,"event":10,"time":"2026-02-03T18:07:32.052123456Z",
 *	 "time_ns":1770142052052123456,"boot_ns":1052123456,"host":"db3",
 *	 "trace":"app.ras","major":5,"minor":307,
 *	 "desc":"(OS) DosSleep Pre-Invocation","types":["PRE"],"pid":38,
 *	 "tid":38,"comm":"app","cpu":0,"length":18,"flags":["fault"],
 *	 "fields":{"EIP":49997,"name":null},
 *	 "notes":{"name":{"why":"not_readable","pointer":"0x1234"}}}
 *
 * What isn't known is left out. Where there is no TFF entry "unformatted" says
 * why.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/read/read.h"
#include "tracefmt/output/cell.h"
#include "tracefmt/output/per_point.h"
#include "json_plain.h"
#include "json_values.h"

/* ---- what is the same for all events of a tracepoint, made once ---- */

struct json_point {
	char *head;		/* ,"host":"db3",... up to the types; may be
				 * read TEXT_SLACK further */
	size_t head_length;
	struct json_keys keys;
	struct json_plain *plain;	/* NULL: records never are */
};

struct json_lines {
	struct columns columns;
	struct per_point points;	/* struct json_point */
	bool wants[COLUMN_KINDS];
	bool wants_all;		/* no column was chosen */
};

/* ---- the head ---- */

/* ,"word": when the column is wanted */
static bool head_key_add(const struct columns *columns, enum column column,
			 struct text *text)
{
	if (columns->count && !columns_have(columns, column))
		return false;
	TEXT_ADD(text, ",\"");
	text_add_string(text, column_words[column]);
	TEXT_ADD(text, "\":");
	return true;
}

/* Without a name a group is its number, as a string, and a type its bit in
 * hex. */
static void formatted_add(const struct match_point *point,
			  const struct columns *columns, struct text *text)
{
	const char *desc = tff_string(point->tff, point->entry->desc);
	const char *group = match_point_group(point), *separator = "";

	if (head_key_add(columns, COLUMN_DESC, text))
		json_add_string(text, desc, strlen(desc));
	if (point->entry->group && head_key_add(columns, COLUMN_GROUP, text)) {
		if (*group)
			json_add_string(text, group, strlen(group));
		else
			text_print(text, "\"%u\"", point->entry->group);
	}
	if (!point->entry->type || !head_key_add(columns, COLUMN_TYPES, text))
		return;
	TEXT_ADD(text, "[");
	for (unsigned int bit = 0; bit < 16; bit++) {
		const char *name = match_point_type(point, bit);

		if (!(point->entry->type & 1u << bit))
			continue;
		text_add_string(text, separator);
		separator = ",";
		if (*name)
			json_add_string(text, name, strlen(name));
		else
			text_print(text, "\"0x%04X\"", 1u << bit);
	}
	TEXT_ADD(text, "]");
}

static int json_head_make(struct json_point *made, const struct event *event,
			  const struct columns *columns)
{
	const struct match_point *point = event->point;
	const char *host = event->trace->file.host, *trace = event->trace->name;
	struct text text;

	if (text_open(&text, -1))
		return -ENOMEM;
	if (head_key_add(columns, COLUMN_HOST, &text))
		json_add_string(&text, host, strlen(host));
	if (head_key_add(columns, COLUMN_TRACE, &text))
		json_add_string(&text, trace, strlen(trace));
	if (head_key_add(columns, COLUMN_MAJOR, &text))
		text_add_number(&text, event->record->major);
	if (head_key_add(columns, COLUMN_MINOR, &text))
		text_add_number(&text, event->record->minor);
	if (point->formatted) {
		formatted_add(point, columns, &text);
	} else if (!columns->count && point->title_length >= 3) {
		/* the title is "<no TFF entry: ...>" and a line end */
		TEXT_ADD(&text, ",\"unformatted\":");
		json_add_string(&text, point->title + 1,
				point->title_length - 3);
	}
	made->head_length = text.used;
	text_add_blanks(&text, TEXT_SLACK);
	made->head = text.data;
	return -text.error;
}

/* ---- the table ---- */

static void json_point_free(struct json_point *made)
{
	json_keys_free(&made->keys);
	free(made->plain);
	free(made->head);
	free(made);
}

static void *json_point_make(void *own, const struct event *event)
{
	struct json_point *made = calloc(1, sizeof(*made));
	struct json_lines *json = own;

	if (!made)
		return NULL;
	if (json_head_make(made, event, &json->columns) ||
	    json_keys_make(&made->keys, event->point, &json->columns) ||
	    json_plain_make(&made->plain, event->point, made->keys.keys,
			    JSON_PLAIN_MEMBER)) {
		json_point_free(made);
		return NULL;
	}
	return made;
}

/* ---- events ---- */

#define FIXED_ROOM	2048	/* of what has a bounded length */

/* Text that lasts for some events. */
struct json_piece {
	char text[160 + TEXT_SLACK];
	size_t length;
};

/* In scratch->more. */
struct json_thread {
	struct per_point_met met;
	int64_t second;			/* that the next two are of */
	struct json_piece date;		/* ,"time":"2026-02-03T18:07:32. */
	struct json_piece number;	/* ,"time_ns":1770142052 */
	uint32_t pid, tid;		/* that `who` is of */
	bool named;
	char name[16];			/* the same, if it is known */
	struct json_piece who;		/* ,"pid":38,"tid":38,"comm":"app" */
	uint32_t cpu, length;		/* that the next one is of */
	struct json_piece where;	/* ,"cpu":0,"length":18 */
	uint8_t notes[JSON_FIELDS_MAX];	/* of the event's fields */
};

_Static_assert(sizeof(struct json_thread) <=
	       sizeof(((struct scratch *)0)->more),
	       "scratch->more is too small");

/* ---- the event ---- */

#define KEY(p, name)	TEXT_PUT(p, ",\"" name "\":")

static inline char *piece_put(const struct json_piece *piece, char *p)
{
	return text_put_wide(p, piece->text, piece->length);
}

static void second_set(const struct json_lines *json,
		       struct json_thread *thread, int64_t time)
{
	char text[CLOCK_MAX], *p = thread->date.text;

	thread->second = clock_second(time);
	clock_put_iso(time, text);
	if (json->wants[COLUMN_TIME]) {
		p = KEY(p, "time");
		*p++ = '"';
		p = text_put(p, text, sizeof("2026-02-03T18:07:32.") - 1);
	}
	thread->date.length = p - thread->date.text;
	p = KEY(thread->number.text, "time_ns");
	p = number_put_signed(p, thread->second, 64);
	thread->number.length = p - thread->number.text;
}

/* Of a damaged time anything. */
static int64_t since_second(const struct json_thread *thread, int64_t time)
{
	return (uint64_t)time - (uint64_t)thread->second * 1000000000;
}

/* The fraction of the second is the same in both. */
static char *times_put(const struct json_lines *json,
		       struct json_thread *thread, int64_t time, char *p)
{
	char fraction[16];
	int64_t rest = since_second(thread, time);

	if (!thread->number.length || rest < 0 || rest >= 1000000000) {
		second_set(json, thread, time);
		rest = since_second(thread, time);
	}
	text_put_nine(fraction, rest);
	p = piece_put(&thread->date, p);
	if (json->wants[COLUMN_TIME]) {
		p = text_put(p, fraction, 9);
		p = TEXT_PUT(p, "Z\"");
	}
	if (!json->wants[COLUMN_TIME_NS])
		return p;
	if (thread->second <= 0) {
		p = KEY(p, "time_ns");
		return number_put_signed(p, time, 64);
	}
	p = piece_put(&thread->number, p);
	return text_put(p, fraction, 9);
}

static char *flags_put(unsigned int flags, char *p)
{
	char separator = '[';

	p = KEY(p, "flags");
	for (size_t i = 0; i < EVENT_FLAGS; i++) {
		const char *word = event_flag_words[i];

		if (!(flags & 1u << i))
			continue;
		*p++ = separator;
		*p++ = '"';
		p = text_put(p, word, strlen(word));
		*p++ = '"';
		separator = ',';
	}
	*p++ = ']';
	return p;
}

/* The name has 16 bytes, with a zero unless it needs them all; NULL: none. */
static void who_set(const struct json_lines *json, struct json_thread *thread,
		    const struct ras_record *record, const char *name)
{
	char *p = thread->who.text;

	thread->pid = record->pid;
	thread->tid = record->tid;
	thread->named = name;
	if (json->wants[COLUMN_PID]) {
		p = KEY(p, "pid");
		p = text_put_decimal(p, record->pid);
	}
	if (json->wants[COLUMN_TID]) {
		p = KEY(p, "tid");
		p = text_put_decimal(p, record->tid);
	}
	if (name) {
		memcpy(thread->name, name, sizeof(thread->name));
		p = KEY(p, "comm");
		p = json_put_string(p, name, strnlen(name, 16));
	}
	thread->who.length = p - thread->who.text;
}

static void where_set(const struct json_lines *json, struct json_thread *thread,
		      uint32_t cpu, uint32_t length)
{
	char *p = thread->where.text;

	thread->cpu = cpu;
	thread->length = length;
	if (json->wants[COLUMN_CPU]) {
		p = KEY(p, "cpu");
		p = text_put_decimal(p, cpu);
	}
	if (json->wants[COLUMN_LENGTH]) {
		p = KEY(p, "length");
		p = text_put_decimal(p, length);
	}
	thread->where.length = p - thread->where.text;
}

static char *who_put(const struct json_lines *json, struct json_thread *thread,
		     const struct event *event, uint32_t length, char *p)
{
	const char *name = json->wants[COLUMN_COMM] ? event_comm(event) : NULL;

	if (event->record->pid != thread->pid ||
	    event->record->tid != thread->tid || !thread->who.length ||
	    thread->named != !!name ||
	    (name && memcmp(thread->name, name, sizeof(thread->name))))
		who_set(json, thread, event->record, name);
	p = piece_put(&thread->who, p);
	if (event->cpu != thread->cpu || length != thread->length ||
	    !thread->where.length)
		where_set(json, thread, event->cpu, length);
	return piece_put(&thread->where, p);
}

static char *event_put(const struct output *output, struct json_thread *thread,
		       const struct event *event, char *p)
{
	const struct json_lines *json = output->own;

	if (json->wants[COLUMN_SCHEMA])
		p = text_put_decimal(KEY(p, "schema"), SCHEMA_VERSION);
	if (json->wants[COLUMN_EVENT]) {
		p = KEY(p, "event");
		p = text_put_decimal(p, event->number);
	}
	p = times_put(json, thread, event->time, p);
	if (output->settings->relative) {
		p = KEY(p, "relative_ns");
		p = number_put_signed(p, (uint64_t)event->time -
				      (uint64_t)output->start, 64);
	}
	if (json->wants[COLUMN_BOOT_NS]) {
		p = KEY(p, "boot_ns");
		p = text_put_decimal(p, event->record->time);
	}
	return p;
}

/* ---- the data ---- */

/* The fields, then the notes of those that have one. */
static void values_add(const struct output *output,
		       const struct json_point *point,
		       const struct event *event, struct scratch *scratch,
		       struct text *text)
{
	struct value_budget budget = VALUE_BUDGET;
	struct json_thread *thread = (void *)scratch->more;
	struct json_values values = {
		output, event, scratch, &point->keys, &budget, thread->notes,
	};

	if (!point->keys.some || !scratch->result.count)
		return;
	TEXT_ADD(text, ",\"fields\":");
	json_values_add(&values, text);
	if (!values.noted)
		return;
	TEXT_ADD(text, ",\"notes\":");
	json_values_notes_add(&values, text);
}

static void context_add(const struct output *output, const struct event *event,
			struct text *text)
{
	struct context context = context_find(event->record,
					      event->point->context);
	struct stack_owner owner = {
		&event->trace->file.processes, event->record->pid,
		output->settings->symbols,
	};

	if (!context.mask || context.misfit)
		return;
	TEXT_ADD(text, ",\"context\":");
	json_add_context(&context, owner, text);
}

/* The bytes themselves, if they were asked for or fields don't have them. */
static bool data_wanted(const struct output *output, const struct event *event,
			const struct scratch *scratch)
{
	const struct json_lines *json = output->own;

	if (!json->wants_all)
		return json->wants[COLUMN_DATA];
	return output->settings->hex || !event->point->formatted ||
	       !event->point->format.takes_data || scratch->result.misfit;
}

/* ---- */

/* All but what has braces of its own. */
static void begin_add(const struct output *output, const struct event *event,
		      const struct json_point *point, struct scratch *scratch,
		      uint32_t length, struct text *text)
{
	const struct json_lines *json = output->own;
	unsigned int flags = event_flags(event, scratch->result.status,
					 scratch->result.misfit);
	char *p;

	if (text_reserve(text, FIXED_ROOM + point->head_length))
		return;
	p = event_put(output, (void *)scratch->more, event,
		      text->data + text->used);
	p = text_put_wide(p, point->head, point->head_length);
	p = who_put(json, (void *)scratch->more, event, length, p);
	if (flags && json->wants[COLUMN_FLAGS])
		p = flags_put(flags, p);
	text->used = p - text->data;
}

/* The object without its brackets, as that of a plain record or of any. false:
 * it is not plain, or there is no memory. */
static bool members_add(const struct output *output, const struct event *event,
			const struct json_point *point, bool plain,
			struct scratch *scratch, struct text *text)
{
	const struct json_lines *json = output->own;
	struct event_data data = event_data(event);
	char *p;

	scratch->result = (struct decode_result){ 0 };
	if (plain && (data.misfit || event->record->flags & RAS_RECORD_MUTED))
		return false;
	if (!plain && output_decode(event, scratch, NULL))
		return false;
	begin_add(output, event, point, scratch, data.length, text);
	if (event->point->context && json->wants[COLUMN_CONTEXT])
		context_add(output, event, text);
	if (!plain) {
		values_add(output, point, event, scratch, text);
	} else {
		if (text_reserve(text, json_plain_room(point->plain,
						       data.length)))
			return false;
		p = json_plain_put(point->plain, event->record, data.skip,
				   text->data + text->used);
		if (!p)
			return false;
		text->used = p - text->data;
	}
	if (data.length && data_wanted(output, event, scratch)) {
		TEXT_ADD(text, ",\"data\":");
		json_add_hex(text, data.data, data.length);
	}
	return true;
}

static int json_lines_event(struct output *output, const struct event *event,
			    struct text *text, struct scratch *scratch)
{
	struct json_lines *json = output->own;
	struct json_thread *thread = (void *)scratch->more;
	const struct json_point *point =
		per_point_get(&json->points, &thread->met, event);
	size_t start = text->used;

	if (!point)
		return -ENOMEM;
	if (!point->plain ||
	    !members_add(output, event, point, true, scratch, text)) {
		text->used = start;
		if (!members_add(output, event, point, false, scratch, text))
			return -ENOMEM;
	}
	/* the first comma becomes the bracket */
	text_add_string(text, text->used == start ? ",}\n" : "}\n");
	if (text->error)
		return -text->error;
	text->data[start] = '{';
	return 0;
}

static int json_lines_open(struct output *output, struct text *text,
		     struct error *err)
{
	struct json_lines *json = output->own;
	int code;

	code = columns_parse(&json->columns, output->settings, err);
	if (!code)
		code = per_point_open(&json->points, json_point_make, json);
	json->wants_all = !json->columns.count;
	for (size_t i = 0; i < COLUMN_KINDS; i++)
		json->wants[i] = json->wants_all ||
				 columns_have(&json->columns, i);
	/* they say whether a value can be relied on */
	json->wants[COLUMN_FLAGS] |= json->wants[COLUMN_FIELDS] ||
				     columns_have(&json->columns, COLUMN_FIELD);
	return code;
}

static int json_lines_close(struct output *output, struct text *text,
		      struct error *err)
{
	struct json_lines *json = output->own;

	return json->points.made.count ? columns_check(&json->columns, err) : 0;
}

static void json_lines_free(struct output *output)
{
	struct json_lines *json = output->own;
	struct json_point *made;
	size_t at = 0;

	while ((made = per_point_next(&json->points, &at)))
		json_point_free(made);
	per_point_close(&json->points);
	columns_free(&json->columns);
}

const struct output_ops output_json = {
	.name = "json",
	.own_bytes = sizeof(struct json_lines),
	.open = json_lines_open,
	.event = json_lines_event,
	.close = json_lines_close,
	.free = json_lines_free,
};
