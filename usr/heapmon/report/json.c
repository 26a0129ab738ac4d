// SPDX-License-Identifier: GPL-2.0
/* The report as JSON: one object, with all that is in the digest. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/json.h"
#include "lib/read/read.h"

#define JSON_VERSION	1

/* Puts a comma in front of each but the first; an end begins anew. */
struct writer {
	FILE *out;
	const struct digest *digest;
	bool behind;		/* an element of the same object or array */
	bool failed;		/* no memory */
};

/* ---- elements ---- */

/* In front of an element: its name in an object, NULL in an array. */
static void put_name(struct writer *json, const char *name)
{
	if (json->behind)
		fputs(name ? ", " : ",\n", json->out);
	json->behind = true;
	if (name)
		fprintf(json->out, "\"%s\": ", name);
}

static void begin(struct writer *json, const char *name, char bracket)
{
	put_name(json, name);
	putc(bracket, json->out);
	json->behind = false;
}

static void end(struct writer *json, char bracket)
{
	putc(bracket, json->out);
	json->behind = true;
}

static void put_text(struct writer *json, const char *name, const char *text)
{
	size_t length;
	char *quoted;
	char *end;

	put_name(json, name);

	/* As a string; "<" is escaped, so that it may stand in a page. */
	length = strlen(text);
	quoted = malloc(JSON_STRING_ROOM(length));
	if (!quoted) {
		json->failed = true;
		return;
	}
	end = json_put_string(quoted, text, length);
	for (const char *p = quoted; p < end; p++)
		if (*p == '<')
			fputs("\\u003c", json->out);
		else
			putc(*p, json->out);
	free(quoted);
}

/* Left out when there is none. */
static void put_known(struct writer *json, const char *name, uint32_t string)
{
	if (string)
		put_text(json, name, heap_text(json->digest->trace, string));
}

static void put_count(struct writer *json, const char *name, uint64_t value)
{
	put_name(json, name);
	fprintf(json->out, "%" PRIu64, value);
}

static void put_number(struct writer *json, const char *name, double value)
{
	put_name(json, name);
	fprintf(json->out, value == rint(value) ? "%.0f" : "%.3f", value);
}

static void put_address(struct writer *json, const char *name, uint64_t address)
{
	put_name(json, name);
	fprintf(json->out, "\"0x%" PRIx64 "\"", address);
}

static void put_time(struct writer *json, const char *name, int64_t time)
{
	put_name(json, name);
	if (time == HEAP_NO_TIME)
		fputs("null", json->out);
	else
		fprintf(json->out, "%" PRId64, time);
}

static void put_sum(struct writer *json, const char *name,
		    const struct digest_sum *sum)
{
	begin(json, name, '{');
	put_number(json, "count", sum->count);
	put_number(json, "bytes", sum->bytes);
	end(json, '}');
}

/* ---- parts ---- */

static void put_trace(struct writer *json)
{
	const struct heap_trace *trace = json->digest->trace;
	const char *note;
	char text[256];

	put_count(json, "version", JSON_VERSION);
	put_known(json, "command", trace->command);
	put_known(json, "host", trace->host);
	put_time(json, "begin", json->digest->begin);
	put_time(json, "end", json->digest->end);
	put_count(json, "sample", trace->sample);
	put_count(json, "min_size", trace->min_size);
	if (trace->lost == HEAP_LOST_UNKNOWN)
		put_time(json, "lost", HEAP_NO_TIME);
	else
		put_count(json, "lost", trace->lost);
	put_count(json, "damaged", trace->damaged);
	begin(json, "notes", '[');
	for (unsigned int i = 0;
	     (note = report_note(json->digest, i, text, sizeof(text))); i++)
		put_text(json, NULL, note);
	end(json, ']');
}

static void put_totals(struct writer *json)
{
	const struct digest *digest = json->digest;

	begin(json, "totals", '{');
	put_sum(json, "allocated", &digest->allocated);
	put_sum(json, "freed", &digest->freed);
	put_sum(json, "kept", &digest->kept);
	put_sum(json, "left", &digest->left);
	if (!digest->sums)
		put_sum(json, "peak", &digest->peak);
	put_time(json, "peak_time", digest->peak_time);
	put_number(json, "temporary", digest->temporary);
	put_sum(json, "old", &digest->old);
	put_sum(json, "reserved", &digest->reserved);
	put_count(json, "unknown", digest->unknown);
	put_count(json, "processes", digest->processes);
	end(json, '}');
}

static void put_frame(struct writer *json, uint32_t number)
{
	const struct heap_trace *trace = json->digest->trace;
	const struct heap_frame *frame = &trace->frames[number];
	char text[1024];

	begin(json, NULL, '{');
	heap_frame_name(trace, number, text, sizeof(text));
	put_text(json, "name", text);
	if (frame->address)
		put_address(json, "address", frame->address);
	put_known(json, "symbol", frame->symbol);
	if (frame->symbol && !frame->stopped)
		put_count(json, "offset", frame->offset);
	put_known(json, "module", frame->module);
	if (frame->module)
		put_address(json, "module_offset", frame->module_offset);
	put_known(json, "file", frame->file);
	if (frame->line)
		put_count(json, "line", frame->line);
	put_known(json, "tag", frame->tag);
	end(json, '}');
}

static void put_stack(struct writer *json, const char *name, uint32_t stack)
{
	const struct heap_stack *stacks = json->digest->trace->stacks;

	put_name(json, name);
	putc('[', json->out);
	for (uint32_t at = stack; at; at = stacks[at].parent)
		fprintf(json->out, "%s%" PRIu32, at == stack ? "" : ",",
			stacks[at].frame - 1);
	putc(']', json->out);
}

static void put_site(struct writer *json, uint32_t stack)
{
	const struct digest *digest = json->digest;
	const struct digest_site *site = &digest->sites[stack];

	begin(json, NULL, '{');
	put_stack(json, "stack", stack);
	put_known(json, "tag", heap_stack_tag(digest->trace, stack));
	put_sum(json, "allocated", &site->allocated);
	put_sum(json, "freed", &site->freed);
	put_sum(json, "kept", &site->kept);
	if (!digest->sums) {
		put_sum(json, "peak", &site->peak);
		put_number(json, "temporary", site->temporary);
	}
	if (site->kept.count && digest->begin != HEAP_NO_TIME) {
		put_count(json, "youngest", site->youngest);
		put_count(json, "oldest", site->oldest);
	}
	end(json, '}');
}

static void put_spans(struct writer *json)
{
	const struct digest *digest = json->digest;

	put_count(json, "span", digest->span_length);
	begin(json, "spans", '[');
	for (unsigned int i = 0; digest->span_length && i < DIGEST_SPANS; i++) {
		const struct digest_span *span = &digest->spans[i];

		if (!span->used)
			continue;
		begin(json, NULL, '{');
		put_time(json, "from", (uint64_t)digest->span_begin +
			 i * digest->span_length);
		put_sum(json, "allocated", &span->allocated);
		put_sum(json, "freed", &span->freed);
		put_number(json, "most", span->most);
		end(json, '}');
	}
	end(json, ']');
}

static void put_types(struct writer *json)
{
	begin(json, "types", '[');
	for (size_t i = 0; i < json->digest->types.count; i++) {
		const struct digest_type *type = &digest_types(json->digest)[i];

		begin(json, NULL, '{');
		put_text(json, "kind", type->kind == HEAP_TYPE_NAMED ? "named" :
			 type->kind == HEAP_TYPE_NO_TABLE ? "novtbl" :
							    "notype");
		put_known(json, "type", type->type);
		put_sum(json, "freed", &type->freed);
		put_sum(json, "old", &type->old);
		put_number(json, "lifetime", type->lifetime);
		end(json, '}');
	}
	end(json, ']');
}

static void put_tags(struct writer *json)
{
	size_t count;
	struct report_tag *tags = report_tags(json->digest, &count);

	json->failed |= !tags;
	begin(json, "tags", '[');
	for (size_t i = 0; i < count; i++) {
		begin(json, NULL, '{');
		put_known(json, "tag", tags[i].tag);
		put_sum(json, "allocated", &tags[i].allocated);
		put_sum(json, "freed", &tags[i].freed);
		put_sum(json, "kept", &tags[i].kept);
		put_sum(json, "peak", &tags[i].peak);
		put_number(json, "temporary", tags[i].temporary);
		end(json, '}');
	}
	end(json, ']');
	free(tags);
}

static void put_wrong(struct writer *json, const struct digest_wrong *wrong)
{
	const struct heap_event *event = &wrong->event;

	begin(json, NULL, '{');
	put_text(json, "what", digest_wrong_text(wrong->wrong));
	put_count(json, "count", wrong->count);
	put_address(json, "address", digest_wrong_address(wrong));
	put_time(json, "time", event->time);
	put_count(json, "pid", event->pid);
	put_count(json, "tid", event->tid);
	put_text(json, "function", heap_function_text(event->function));
	put_stack(json, "stack", wrong->stack);
	if (wrong->other.number) {
		begin(json, "block", '{');
		put_address(json, "address", wrong->other.address);
		put_count(json, "size", wrong->other.size);
		put_time(json, "time", wrong->other.time);
		put_count(json, "tid", wrong->other.tid);
		put_text(json, "function",
			 heap_function_text(wrong->other.function));
		put_stack(json, "stack", wrong->other_stack);
		end(json, '}');
	}
	end(json, '}');
}

int report_print_json(FILE *out, const struct digest *digest,
		      struct error *err)
{
	struct writer json = { .out = out, .digest = digest };

	begin(&json, NULL, '{');
	put_trace(&json);
	put_totals(&json);

	/* Numbered from 0, in which stacks name them. */
	begin(&json, "frames", '[');
	for (size_t i = 1; i < json.digest->trace->frame_count; i++)
		put_frame(&json, i);
	end(&json, ']');

	begin(&json, "sites", '[');
	for (size_t i = 0; i < json.digest->site_count; i++)
		if (json.digest->sites[i].allocated.count)
			put_site(&json, i);
	end(&json, ']');
	begin(&json, "sizes", '[');
	for (unsigned int i = 0; i < DIGEST_SIZES; i++) {
		const struct digest_size *size = &json.digest->sizes[i];

		if (!size->allocated.count)
			continue;
		begin(&json, NULL, '{');
		if (digest_size_most(i) != UINT64_MAX)
			put_count(&json, "up_to", digest_size_most(i));
		put_sum(&json, "allocated", &size->allocated);
		put_sum(&json, "kept", &size->kept);
		end(&json, '}');
	}
	end(&json, ']');
	put_spans(&json);
	put_types(&json);
	begin(&json, "threads", '[');
	for (size_t i = 0; i < json.digest->threads.count; i++) {
		const struct digest_thread *thread =
			&digest_threads(json.digest)[i];

		begin(&json, NULL, '{');
		put_count(&json, "pid", thread->pid);
		put_count(&json, "tid", thread->tid);
		put_sum(&json, "allocated", &thread->allocated);
		put_sum(&json, "freed", &thread->freed);
		put_number(&json, "foreign", thread->foreign);
		put_number(&json, "temporary", thread->temporary);
		end(&json, '}');
	}
	end(&json, ']');
	put_tags(&json);
	begin(&json, "wrong", '[');
	for (size_t i = 0; i < json.digest->wrongs.count; i++)
		put_wrong(&json, &digest_wrongs(json.digest)[i]);
	end(&json, ']');
	put_count(&json, "wrong_more", json.digest->wrong_more);
	end(&json, '}');
	putc('\n', out);
	return json.failed ? error_no_memory(err) : 0;
}
