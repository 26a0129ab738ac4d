// SPDX-License-Identifier: GPL-2.0
#include "otlp_batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/path.h"

#define BATCH_ITEMS	512
#define BATCH_SIZE	(1u << 20)

/* The names of attributes are those of this version. */
#define SCHEMA		"https://opentelemetry.io/schemas/1.30.0"

struct otlp_resource {
	const struct trace *trace;
	bool is_process;
	uint32_t pid;
	char service[64];	/* its name; "" is not known */
	struct otlp_message items[OTLP_SIGNALS];
};

/* Number and name of the fields of the kinds of request, which are alike. */
static const struct {
	const char *path;
	struct otlp_field resources, scopes, items;
} signals[OTLP_SIGNALS] = {
	{ "v1/traces", { 1, "resourceSpans" }, { 2, "scopeSpans" },
	  { 2, "spans" } },
	{ "v1/logs", { 1, "resourceLogs" }, { 2, "scopeLogs" },
	  { 2, "logRecords" } },
	{ "v1/metrics", { 1, "resourceMetrics" }, { 2, "scopeMetrics" },
	  { 2, "metrics" } },
};

static struct otlp_resource *otlp_resource_add(struct otlp_batch *batch,
					       uint64_t key,
					       const char *service,
					       size_t length)
{
	struct otlp_resource *resources = batch->resources, *made;

	if (batch->count == batch->room) {
		size_t room = 2 * batch->room + 8;

		resources = reallocarray(resources, room, sizeof(*resources));
		if (!resources)
			return NULL;
		batch->resources = resources;
		batch->room = room;
	}
	if (key_map_add_number(&batch->by_origin, key, batch->count + 1))
		return NULL;
	made = &resources[batch->count++];
	*made = (struct otlp_resource){ 0 };
	snprintf(made->service, sizeof(made->service), "%.*s", (int)length,
		 service);
	for (size_t i = 0; i < OTLP_SIGNALS; i++)
		otlp_message_clear(&made->items[i], batch->is_json);
	return made;
}

struct otlp_message *otlp_batch_add(struct otlp_batch *batch,
				    enum otlp_signal signal,
				    const struct trace *trace, uint32_t pid,
				    int64_t time)
{
	uint64_t key = (uint64_t)trace->index << 32 | pid;
	uint64_t number = key_map_number(&batch->by_origin, key);
	struct otlp_resource *resource = number ?
		&batch->resources[number - 1] : NULL;

	batch->items[signal]++;
	if (!resource) {
		const char *comm = process_table_name(&trace->file.processes,
						      pid, time);

		resource = otlp_resource_add(batch, key, comm ? comm : "", 16);
		if (!resource)
			return NULL;
		resource->trace = trace;
		resource->is_process = true;
		resource->pid = pid;
	}
	return &resource->items[signal];
}

struct otlp_message *otlp_batch_add_session(struct otlp_batch *batch,
					    const struct trace *trace,
					    const struct trace_session *session)
{
	uint64_t key = 1ULL << 63 | (uint64_t)trace->index << 32 |
		       session->entry->index;
	uint64_t number = key_map_number(&batch->by_origin, key);
	struct otlp_resource *resource = number ?
		&batch->resources[number - 1] : NULL;

	if (!resource) {
		const char *module = path_base(session->module);

		resource = otlp_resource_add(batch, key, module,
					     strlen(module));
		if (!resource)
			return NULL;
		resource->trace = trace;
	}
	return &resource->items[OTLP_METRICS];
}

bool otlp_batch_is_full(const struct otlp_batch *batch)
{
	size_t size = 0, items = 0;

	for (size_t k = 0; k < OTLP_SIGNALS; k++)
		items += batch->items[k];
	if (items >= BATCH_ITEMS)
		return true;
	for (size_t i = 0; i < batch->count; i++)
		for (size_t k = 0; k < OTLP_SIGNALS; k++)
			size += batch->resources[i].items[k].text.used;
	return size >= BATCH_SIZE;
}

static void resource_put(struct otlp_message *m,
			 const struct otlp_resource *resource)
{
	const struct trace_file *file = &resource->trace->file;
	const char *name = resource->service[0] ? resource->service :
						  "unknown_service";

	otlp_begin(m, OTLP_FIELD(1, "resource"));
	otlp_list(m, OTLP_FIELD(1, "attributes"));
	otlp_attribute_string(m, 1, "service.name", name, strlen(name));
	otlp_attribute_string(m, 1, "host.name", file->host,
			      strlen(file->host));
	otlp_attribute_string(m, 1, "os.type", "linux", 5);
	otlp_attribute_string(m, 1, "os.version", file->kernel,
			      strlen(file->kernel));
	if (resource->is_process)
		otlp_attribute_integer(m, 1, "process.pid", resource->pid);
	otlp_list_end(m);
	otlp_end(m);
}

static void otlp_request_make(struct otlp_batch *batch, enum otlp_signal signal)
{
	struct otlp_message *m = &batch->request;

	otlp_message_clear(m, batch->is_json);
	otlp_top(m);
	otlp_list(m, signals[signal].resources);
	for (size_t i = 0; i < batch->count; i++) {
		const struct otlp_resource *resource = &batch->resources[i];
		const struct text *items = &resource->items[signal].text;

		if (!items->used)
			continue;
		otlp_begin(m, OTLP_FIELD(signals[signal].resources.number,
					 NULL));
		resource_put(m, resource);
		otlp_list(m, signals[signal].scopes);
		otlp_begin(m, OTLP_FIELD(signals[signal].scopes.number, NULL));
		otlp_begin(m, OTLP_FIELD(1, "scope"));
		otlp_string(m, OTLP_FIELD(1, "name"), "rastrace", 8);
		otlp_string(m, OTLP_FIELD(2, "version"), RASTRACE_VERSION,
			    strlen(RASTRACE_VERSION));
		otlp_end(m);
		otlp_list(m, signals[signal].items);
		otlp_elements(m, items->data, items->used);
		otlp_list_end(m);
		otlp_string(m, OTLP_FIELD(3, "schemaUrl"), SCHEMA,
			    strlen(SCHEMA));
		otlp_end(m);
		otlp_list_end(m);
		otlp_string(m, OTLP_FIELD(3, "schemaUrl"), SCHEMA,
			    strlen(SCHEMA));
		otlp_end(m);
	}
	otlp_list_end(m);
	otlp_top_end(m);
}

/* Count what became of it. */
static void otlp_request_give(struct otlp_batch *batch, enum otlp_signal signal)
{
	const struct text *body = &batch->request.text;
	uint64_t items = batch->items[signal], lost;
	struct otlp_sent sent = { .failed = true, .reason = "" };

	if (!batch->stopped)
		sent = otlp_send(batch->sender, signals[signal].path,
				 body->data, body->used);
	lost = sent.failed || sent.rejected > items ? items : sent.rejected;
	batch->stopped = batch->stops && sent.failed;
	batch->lost[signal] += lost;
	batch->arrived[signal] += items - lost;
	if (lost && !*batch->reason)
		snprintf(batch->reason, sizeof(batch->reason), "%s",
			 sent.reason);
}

static void batch_clear(struct otlp_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		for (size_t k = 0; k < OTLP_SIGNALS; k++)
			free(batch->resources[i].items[k].text.data);
	batch->count = 0;
	memset(batch->items, 0, sizeof(batch->items));
	key_map_free(&batch->by_origin);
}

int otlp_batch_give(struct otlp_batch *batch, struct text *text)
{
	int code = 0;

	for (size_t i = 0; i < batch->count; i++)
		for (size_t k = 0; k < OTLP_SIGNALS; k++)
			if (batch->resources[i].items[k].text.error)
				code = -ENOMEM;
	for (size_t i = 0; !code && i < OTLP_SIGNALS; i++) {
		if (!batch->items[i])
			continue;
		otlp_request_make(batch, i);
		if (batch->request.text.error)
			code = -ENOMEM;
		else if (batch->sender)
			otlp_request_give(batch, i);
		else
			text_add(text, batch->request.text.data,
				 batch->request.text.used);
	}
	batch_clear(batch);
	return code ? code : -text->error;
}

void otlp_batch_free(struct otlp_batch *batch)
{
	batch_clear(batch);
	free(batch->resources);
	free(batch->request.text.data);
	otlp_sender_close(batch->sender);
}
