// SPDX-License-Identifier: GPL-2.0
/* The whole report as one JSON object. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "lib/json.h"

#define JSON_VERSION	1

struct report_json {
	struct json json;		/* its text has no file */
	FILE *out;
	const struct digest *digest;
	bool failed;			/* no memory */
};

/* Move what is written so far to the file, when there is much. */
static void json_pass(struct report_json *r, size_t least)
{
	struct text *text = r->json.text;

	if (text->used < least)
		return;
	fwrite(text->data, 1, text->used, r->out);
	text->used = 0;
}

/* ---- elements ---- */

/* Left out when there is none. */
static void put_known(struct report_json *r, const char *name, uint32_t string)
{
	if (string)
		json_string(&r->json, name,
			    heap_text(r->digest->trace, string));
}

static void put_double(struct json *json, const char *name, double value)
{
	json_key(json, name);
	text_print(json->text, value == rint(value) ? "%.0f" : "%.3f", value);
}

static void report_put_address(struct json *json, const char *name,
			       uint64_t address)
{
	json_key(json, name);
	text_print(json->text, "\"0x%" PRIx64 "\"", address);
}

static void report_put_time(struct json *json, const char *name, int64_t time)
{
	if (time == HEAP_NO_TIME)
		json_null(json, name);
	else
		json_signed(json, name, time);
}

static void put_sum(struct json *json, const char *name,
		    const struct digest_sum *sum)
{
	json_open(json, name, '{');
	put_double(json, "count", sum->count);
	put_double(json, "bytes", sum->bytes);
	json_close(json, '}');
}

/* ---- parts ---- */

static void put_trace(struct report_json *r)
{
	const struct heap_trace *trace = r->digest->trace;
	const char *note;
	char text[256];

	json_number(&r->json, "version", JSON_VERSION);
	put_known(r, "command", trace->command);
	put_known(r, "host", trace->host);
	report_put_time(&r->json, "begin", r->digest->trace->begin);
	report_put_time(&r->json, "end", r->digest->trace->end);
	json_number(&r->json, "sample", trace->sample);
	json_number(&r->json, "min_size", trace->min_size);
	if (trace->lost == HEAP_LOST_UNKNOWN)
		json_null(&r->json, "lost");
	else
		json_number(&r->json, "lost", trace->lost);
	json_number(&r->json, "damaged", trace->damaged);
	json_open(&r->json, "notes", '[');
	for (unsigned int i = 0;
	     (note = report_note(r->digest, i, text, sizeof(text))); i++)
		json_string(&r->json, NULL, note);
	json_close(&r->json, ']');
}

static void put_totals(struct report_json *r)
{
	const struct digest *digest = r->digest;

	json_open(&r->json, "totals", '{');
	put_sum(&r->json, "allocated", &digest->allocated);
	put_sum(&r->json, "freed", &digest->freed);
	put_sum(&r->json, "kept", &digest->kept);
	put_sum(&r->json, "left", &digest->left);
	if (!digest->sums)
		put_sum(&r->json, "peak", &digest->peak);
	report_put_time(&r->json, "peak_time", digest->peak_time);
	put_double(&r->json, "temporary", digest->temporary);
	put_sum(&r->json, "old", &digest->old);
	put_sum(&r->json, "reserved", &digest->reserved);
	json_number(&r->json, "unknown", digest->unknown);
	json_number(&r->json, "processes", digest->processes);
	json_close(&r->json, '}');
}

static void report_put_frame(struct report_json *r, uint32_t number)
{
	const struct heap_trace *trace = r->digest->trace;
	const struct heap_frame *frame = &trace->frames[number];
	char text[1024];

	json_pass(r, TEXT_PIECE);
	json_open(&r->json, NULL, '{');
	heap_frame_name(trace, number, text, sizeof(text));
	json_string(&r->json, "name", text);
	if (frame->address)
		report_put_address(&r->json, "address", frame->address);
	put_known(r, "symbol", frame->symbol);
	if (frame->symbol && !frame->stopped)
		json_number(&r->json, "offset", frame->offset);
	put_known(r, "module", frame->module);
	if (frame->module)
		report_put_address(&r->json, "module_offset",
				   frame->module_offset);
	put_known(r, "file", frame->file);
	if (frame->line)
		json_number(&r->json, "line", frame->line);
	put_known(r, "tag", frame->tag);
	if (frame->stopped)
		json_boolean(&r->json, "stopped", true);
	json_close(&r->json, '}');
}

static void report_put_stack(struct report_json *r, const char *name,
			     uint32_t stack)
{
	const struct heap_stack *stacks = r->digest->trace->stacks;

	json_key(&r->json, name);
	text_add_char(r->json.text, '[');
	for (uint32_t at = stack; at; at = stacks[at].parent)
		text_print(r->json.text, "%s%" PRIu32, at == stack ? "" : ",",
			stacks[at].frame - 1);
	text_add_char(r->json.text, ']');
}

static void put_site(struct report_json *r, uint32_t stack)
{
	const struct digest *digest = r->digest;
	const struct digest_site *site = &digest->sites[stack];

	json_pass(r, TEXT_PIECE);
	json_open(&r->json, NULL, '{');
	report_put_stack(r, "stack", stack);
	put_known(r, "tag", heap_stack_tag(digest->trace, stack));
	put_sum(&r->json, "allocated", &site->allocated);
	put_sum(&r->json, "freed", &site->freed);
	put_sum(&r->json, "kept", &site->kept);
	put_sum(&r->json, "left", &site->left);
	if (!digest->sums) {
		put_sum(&r->json, "peak", &site->peak);
		put_double(&r->json, "temporary", site->temporary);
	}
	if (site->kept.count && digest->trace->begin != HEAP_NO_TIME) {
		json_number(&r->json, "youngest", site->youngest);
		json_number(&r->json, "oldest", site->oldest);
	}
	json_close(&r->json, '}');
}

static void put_types(struct report_json *r)
{
	json_open(&r->json, "types", '[');
	for (size_t i = 0; i < r->digest->types.count; i++) {
		const struct digest_type *type = &digest_types(r->digest)[i];

		json_open(&r->json, NULL, '{');
		json_string(&r->json, "kind", type->kind == HEAP_TYPE_NAMED ? "named" :
			 type->kind == HEAP_TYPE_NO_TABLE ? "novtbl" :
							    "notype");
		put_known(r, "type", type->type);
		put_sum(&r->json, "freed", &type->freed);
		put_sum(&r->json, "old", &type->old);
		put_double(&r->json, "lifetime", type->lifetime);
		json_close(&r->json, '}');
	}
	json_close(&r->json, ']');
}

static void put_tags(struct report_json *r)
{
	size_t count;
	struct report_tag *tags = report_tags(r->digest, &count);

	r->failed |= !tags;
	json_open(&r->json, "tags", '[');
	for (size_t i = 0; i < count; i++) {
		json_open(&r->json, NULL, '{');
		put_known(r, "tag", tags[i].tag);
		put_sum(&r->json, "allocated", &tags[i].allocated);
		put_sum(&r->json, "freed", &tags[i].freed);
		put_sum(&r->json, "kept", &tags[i].kept);
		put_sum(&r->json, "peak", &tags[i].peak);
		put_double(&r->json, "temporary", tags[i].temporary);
		json_close(&r->json, '}');
	}
	json_close(&r->json, ']');
	free(tags);
}

static void put_wrong(struct report_json *r, const struct digest_wrong *wrong)
{
	const struct heap_event *event = &wrong->event;

	json_open(&r->json, NULL, '{');
	json_string(&r->json, "what", digest_wrong_text(wrong->wrong));
	json_number(&r->json, "count", wrong->count);
	report_put_address(&r->json, "address", digest_wrong_address(wrong));
	report_put_time(&r->json, "time", event->time);
	json_number(&r->json, "pid", event->pid);
	json_number(&r->json, "tid", event->tid);
	json_string(&r->json, "function", heap_function_text(event->function));
	report_put_stack(r, "stack", wrong->stack);
	if (wrong->other.number) {
		json_open(&r->json, "block", '{');
		report_put_address(&r->json, "address", wrong->other.address);
		json_number(&r->json, "size", wrong->other.size);
		report_put_time(&r->json, "time", wrong->other.time);
		json_number(&r->json, "tid", wrong->other.tid);
		json_string(&r->json, "function",
			 heap_function_text(wrong->other.function));
		report_put_stack(r, "stack", wrong->other_stack);
		json_close(&r->json, '}');
	}
	json_close(&r->json, '}');
}

int report_print_json(FILE *out, const struct digest *digest,
		      struct error *err)
{
	struct text text;
	struct report_json r = {
		.json = { .text = &text, .style = JSON_LINES, .html = true },
		.out = out, .digest = digest,
	};

	if (text_open(&text, -1))
		return error_no_memory(err);
	json_open(&r.json, NULL, '{');
	put_trace(&r);
	put_totals(&r);

	/* Numbered from 0, in which stacks name them. */
	json_open(&r.json, "frames", '[');
	for (size_t i = 1; i < digest->trace->frame_count; i++)
		report_put_frame(&r, i);
	json_close(&r.json, ']');

	json_open(&r.json, "sites", '[');
	for (size_t i = 0; i < digest->site_count; i++)
		if (digest->sites[i].allocated.count)
			put_site(&r, i);
	json_close(&r.json, ']');
	json_open(&r.json, "sizes", '[');
	for (unsigned int i = 0; i < DIGEST_SIZES; i++) {
		const struct digest_size *size = &digest->sizes[i];

		if (!size->allocated.count)
			continue;
		json_open(&r.json, NULL, '{');
		if (digest_size_most(i) != UINT64_MAX)
			json_number(&r.json, "up_to", digest_size_most(i));
		put_sum(&r.json, "allocated", &size->allocated);
		put_sum(&r.json, "kept", &size->kept);
		json_close(&r.json, '}');
	}
	json_close(&r.json, ']');
	json_number(&r.json, "span", digest->span_length);
	json_open(&r.json, "spans", '[');
	for (unsigned int i = 0; digest->span_length && i < DIGEST_SPANS;
	     i++) {
		const struct digest_span *span = &digest->spans[i];

		if (!span->used)
			continue;
		json_open(&r.json, NULL, '{');
		report_put_time(&r.json, "from",
				(uint64_t)digest->span_begin +
					i * digest->span_length);
		put_sum(&r.json, "allocated", &span->allocated);
		put_sum(&r.json, "freed", &span->freed);
		put_double(&r.json, "most", span->most);
		json_close(&r.json, '}');
	}
	json_close(&r.json, ']');
	put_types(&r);
	json_open(&r.json, "threads", '[');
	for (size_t i = 0; i < digest->threads.count; i++) {
		const struct digest_thread *thread =
			&digest_threads(digest)[i];

		json_open(&r.json, NULL, '{');
		json_number(&r.json, "pid", thread->pid);
		json_number(&r.json, "tid", thread->tid);
		put_sum(&r.json, "allocated", &thread->allocated);
		put_sum(&r.json, "freed", &thread->freed);
		put_double(&r.json, "foreign", thread->foreign);
		put_double(&r.json, "temporary", thread->temporary);
		json_close(&r.json, '}');
	}
	json_close(&r.json, ']');
	put_tags(&r);
	json_open(&r.json, "wrong", '[');
	for (size_t i = 0; i < digest->wrongs.count; i++)
		put_wrong(&r, &digest_wrongs(digest)[i]);
	json_close(&r.json, ']');
	json_number(&r.json, "wrong_more", digest->wrong_more);
	json_close(&r.json, '}');
	json_pass(&r, 0);
	free(text.data);
	return r.failed || text.error ? error_no_memory(err) : 0;
}
