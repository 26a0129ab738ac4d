// SPDX-License-Identifier: GPL-2.0
#include "lsp.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>
#include "lsp_worker.h"
#include "lib/array.h"
#include "lib/json_read.h"

#define MESSAGE_MAX	(64u << 20)	/* bytes */
#define HEADERS_MAX	4096
#define DOCUMENT_MAX	(16u << 20)
#define DOCUMENTS_MAX	256
#define QUEUE_MAX	64
#define PAUSE_MS	150	/* without a change, before diagnostics */
#define JOB_MS		60000	/* a job that takes longer is ended */

enum lsp_failure {		/* of the protocol */
	LSP_PARSE_ERROR = -32700, LSP_INVALID_REQUEST = -32600,
	LSP_METHOD_NOT_FOUND = -32601, LSP_INVALID_PARAMS = -32602,
	LSP_INTERNAL_ERROR = -32603, LSP_NOT_INITIALIZED = -32002,
	LSP_REQUEST_FAILED = -32803, LSP_REQUEST_CANCELED = -32800,
};

/* ---- messages out ---- */

static void message_send(struct lsp *lsp, const struct text *body)
{
	if (body->error) {
		lsp->output.error = body->error;
		return;
	}
	text_print(&lsp->output, "Content-Length: %zu\r\n\r\n", body->used);
	text_add(&lsp->output, body->data, body->used);
}

static void response_begin(struct json *json, const char *id)
{
	json_open(json, NULL, '{');
	json_string(json, "jsonrpc", "2.0");
	json_key(json, "id");
	text_add_string(json->text, id);
}

static void response_error(struct lsp *lsp, const char *id,
			   enum lsp_failure code, const char *message)
{
	struct text body = { 0 };
	struct json json = { .text = &body };

	response_begin(&json, id);
	json_open(&json, "error", '{');
	json_signed(&json, "code", code);
	json_string(&json, "message", message);
	json_close(&json, '}');
	json_close(&json, '}');
	message_send(lsp, &body);
	free(body.data);
}

/* `result` is JSON. */
static void response_result(struct lsp *lsp, const char *id, const char *result,
			    size_t size)
{
	struct text body = { 0 };
	struct json json = { .text = &body };

	response_begin(&json, id);
	json_key(&json, "result");
	text_add(&body, result, size);
	json_close(&json, '}');
	message_send(lsp, &body);
	free(body.data);
}

static void diagnostics_send(struct lsp *lsp, const struct lsp_request *r,
			     const char *diagnostics, size_t size)
{
	struct text body = { 0 };
	struct json json = { .text = &body };

	json_open(&json, NULL, '{');
	json_string(&json, "jsonrpc", "2.0");
	json_string(&json, "method", "textDocument/publishDiagnostics");
	json_open(&json, "params", '{');
	json_string(&json, "uri", r->uri);
	if (r->has_version)
		json_signed(&json, "version", r->version);
	json_key(&json, "diagnostics");
	text_add(&body, diagnostics, size);
	json_close(&json, '}');
	json_close(&json, '}');
	message_send(lsp, &body);
	free(body.data);
}

/* ---- documents ---- */

static struct lsp_document *document_find(struct lsp *lsp,
					  const struct json_node *params)
{
	const char *uri = json_node_text(json_member(
		json_member(params, "textDocument"), "uri"));

	for (size_t i = 0; uri && i < lsp->document_count; i++)
		if (!strcmp(lsp->documents[i].uri, uri))
			return &lsp->documents[i];
	return NULL;
}

/* The path of a URI of a file: "file:///srv/a%20b.tsf"; of others "", malloc'd.
 * NULL: no memory. */
static char *uri_path(const char *uri)
{
	static const char scheme[] = "file://";
	char *path, *to, digits[3] = "";

	if (strncasecmp(uri, scheme, sizeof(scheme) - 1))
		return strdup("");
	uri = strchr(uri + sizeof(scheme) - 1, '/');
	path = to = strdup(uri ? uri : "");
	while (path && *to) {
		if (uri[0] == '%' && isxdigit((unsigned char)uri[1]) &&
		    isxdigit((unsigned char)uri[2])) {
			memcpy(digits, uri + 1, 2);
			*to = strtoul(digits, NULL, 16);
			if (!*to) {	/* no path has a zero */
				*path = '\0';
				break;
			}
			uri += 3;
		} else {
			*to = *uri++;
		}
		to++;
		if (!*uri)
			*to = '\0';
	}
	return path;
}

static void document_free(struct lsp_document *d)
{
	free(d->uri);
	free(d->path);
	free(d->text);
}

static void document_version(struct lsp_document *d,
			     const struct json_node *document)
{
	d->has_version = json_node_integer(json_member(document, "version"),
					   &d->version);
}

static void document_touch(struct lsp_document *d, uint64_t now)
{
	d->dirty = true;
	d->changed = now;
}

static void take_open(struct lsp *lsp, const struct json_node *params,
		      uint64_t now)
{
	const struct json_node *document = json_member(params, "textDocument");
	const struct json_node *text = json_member(document, "text");
	const char *uri = json_node_text(json_member(document, "uri"));
	struct lsp_document *d = document_find(lsp, params), made = { 0 };

	if (!uri || !text || text->kind != JSON_TEXT ||
	    text->length > DOCUMENT_MAX ||
	    (!d && lsp->document_count == DOCUMENTS_MAX))
		return;
	made.uri = strdup(uri);
	made.path = uri_path(uri);
	made.text = malloc(text->length + 1);
	if (!made.uri || !made.path || !made.text ||
	    (!d && !array_grow(&lsp->documents, lsp->document_count,
			       &lsp->document_room, sizeof(*d)))) {
		document_free(&made);
		lsp->output.error = ENOMEM;
		return;
	}
	memcpy(made.text, text->text, text->length + 1);
	made.size = text->length;
	if (d)
		document_free(d);
	else
		d = &lsp->documents[lsp->document_count++];
	*d = made;
	document_version(d, document);
	document_touch(d, now);
}

static bool node_position(const struct json_node *node,
			  struct lsp_position *position)
{
	int64_t line, character;

	if (!json_node_integer(json_member(node, "line"), &line) ||
	    !json_node_integer(json_member(node, "character"), &character) ||
	    line < 0 || character < 0)
		return false;
	position->line = line < UINT32_MAX ? line : UINT32_MAX;
	position->character = character < UINT32_MAX ? character : UINT32_MAX;
	return true;
}

/* One change: of a range, or of all. False: it is none, or too large. */
static bool document_change(struct lsp *lsp, struct lsp_document *d,
			    const struct json_node *change)
{
	const struct json_node *range = json_member(change, "range");
	const struct json_node *text = json_member(change, "text");
	struct lsp_range at = { 0 };
	size_t start = 0, end = d->size, size;
	char *made;

	if (!text || text->kind != JSON_TEXT)
		return false;
	if (range && range->kind != JSON_NULL) {
		if (!node_position(json_member(range, "start"), &at.start) ||
		    !node_position(json_member(range, "end"), &at.end))
			return false;
		start = lsp_text_offset(d->text, d->size, at.start,
					lsp->encoding);
		end = lsp_text_offset(d->text, d->size, at.end, lsp->encoding);
		end = end < start ? start : end;
	}
	size = d->size - (end - start) + text->length;
	if (size > DOCUMENT_MAX)
		return false;
	made = malloc(size + 1);
	if (!made) {
		lsp->output.error = ENOMEM;
		return false;
	}
	memcpy(made, d->text, start);
	memcpy(made + start, text->text, text->length);
	memcpy(made + start + text->length, d->text + end, d->size - end);
	made[size] = '\0';
	free(d->text);
	d->text = made;
	d->size = size;
	return true;
}

static void take_change(struct lsp *lsp, const struct json_node *params,
			uint64_t now)
{
	const struct json_node *changes = json_member(params, "contentChanges");
	struct lsp_document *d = document_find(lsp, params);

	if (!d || !changes || changes->kind != JSON_ARRAY)
		return;
	for (const struct json_node *p = changes->first; p; p = p->next)
		if (!document_change(lsp, d, p))
			break;
	document_version(d, json_member(params, "textDocument"));
	document_touch(d, now);
}

/* The module may have been built again, too. */
static void take_save(struct lsp *lsp, const struct json_node *params,
		      uint64_t now)
{
	struct lsp_document *d = document_find(lsp, params);

	if (d)
		document_touch(d, now);
}

static void take_close(struct lsp *lsp, const struct json_node *params,
		       uint64_t now)
{
	struct lsp_document *d = document_find(lsp, params);
	struct lsp_request empty = { 0 };

	if (!d)
		return;
	empty.uri = d->uri;
	diagnostics_send(lsp, &empty, "[]", 2);
	document_free(d);
	*d = lsp->documents[--lsp->document_count];
}

/* ---- requests ---- */

static void lsp_request_free(struct lsp_request *r)
{
	free(r->id);
	free(r->uri);
	free(r->path);
	free(r->text);
}

/* Adds a job on what the document has now; in front of diagnostics that wait. */
static bool request_add(struct lsp *lsp, const struct lsp_document *d,
			const char *id, enum lsp_job_kind kind, size_t offset)
{
	struct lsp_request r = {
		.id = id ? strdup(id) : NULL, .kind = kind,
		.uri = strdup(d->uri), .path = strdup(d->path),
		.text = malloc(d->size + 1), .size = d->size, .offset = offset,
		.version = d->version, .has_version = d->has_version,
	};

	if ((id && !r.id) || !r.uri || !r.path || !r.text ||
	    !array_grow(&lsp->queue, lsp->queue_count, &lsp->queue_room,
			sizeof(r))) {
		lsp_request_free(&r);
		lsp->output.error = ENOMEM;
		return false;
	}
	memcpy(r.text, d->text, d->size + 1);
	lsp->queue[lsp->queue_count++] = r;
	return true;
}

static void ask(struct lsp *lsp, const char *id, const struct json_node *params,
		enum lsp_job_kind kind)
{
	struct lsp_document *d = document_find(lsp, params);
	struct lsp_position position;
	size_t offset;

	if (!d || !node_position(json_member(params, "position"), &position)) {
		response_error(lsp, id, LSP_INVALID_PARAMS,
			       d ? "no position" : "the document is not open");
		return;
	}
	if (lsp->queue_count == QUEUE_MAX) {
		response_error(lsp, id, LSP_REQUEST_FAILED,
			       "too many requests at a time");
		return;
	}
	offset = lsp_text_offset(d->text, d->size, position, lsp->encoding);
	request_add(lsp, d, id, kind, offset);
}

static void ask_completion(struct lsp *lsp, const char *id,
			   const struct json_node *params)
{
	ask(lsp, id, params, LSP_COMPLETE);
}

static void ask_hover(struct lsp *lsp, const char *id,
		      const struct json_node *params)
{
	ask(lsp, id, params, LSP_HOVER);
}

static void ask_initialize(struct lsp *lsp, const char *id,
			   const struct json_node *params)
{
	static const char *const triggers[] = {
		"=", ".", "@", ",", ">", "$", "(", ":",
	};
	const struct json_node *encodings = json_member(json_member(json_member(
		params, "capabilities"), "general"), "positionEncodings");
	struct text body = { 0 };
	struct json json = { .text = &body };

	if (lsp->initialized) {
		response_error(lsp, id, LSP_INVALID_REQUEST,
			       "the server is initialized already");
		return;
	}
	lsp->initialized = true;
	if (encodings && encodings->kind == JSON_ARRAY)
		for (const struct json_node *p = encodings->first; p;
		     p = p->next)
			if (json_node_is(p, "utf-8"))
				lsp->encoding = LSP_UTF8;
	json_open(&json, NULL, '{');
	json_open(&json, "capabilities", '{');
	json_string(&json, "positionEncoding",
		    lsp->encoding == LSP_UTF8 ? "utf-8" : "utf-16");
	json_open(&json, "textDocumentSync", '{');
	json_boolean(&json, "openClose", true);
	json_number(&json, "change", 2);	/* incremental */
	json_boolean(&json, "save", true);
	json_close(&json, '}');
	json_open(&json, "completionProvider", '{');
	json_open(&json, "triggerCharacters", '[');
	for (size_t i = 0; i < sizeof(triggers) / sizeof(*triggers); i++)
		json_string(&json, NULL, triggers[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	json_boolean(&json, "hoverProvider", true);
	json_close(&json, '}');
	json_open(&json, "serverInfo", '{');
	json_string(&json, "name", "trcust");
	json_string(&json, "version", RASTRACE_VERSION);
	json_close(&json, '}');
	json_close(&json, '}');
	response_result(lsp, id, body.data, body.error ? 0 : body.used);
	free(body.data);
}

static void ask_shutdown(struct lsp *lsp, const char *id,
			 const struct json_node *params)
{
	lsp->shut_down = true;
	response_result(lsp, id, "null", 4);
}

static void take_exit(struct lsp *lsp, const struct json_node *params,
		      uint64_t now)
{
	lsp->over = true;
	lsp->status = lsp->shut_down ? 0 : 1;
}

/* The answer to a canceled request is an error. */
static void take_cancel(struct lsp *lsp, const struct json_node *params,
			uint64_t now)
{
	const struct json_node *id = json_member(params, "id");

	for (size_t i = 0; id && i < lsp->queue_count; i++) {
		struct lsp_request *r = &lsp->queue[i];

		if (!r->id || r->dropped ||
		    strlen(r->id) != id->source_length ||
		    memcmp(r->id, id->source, id->source_length))
			continue;
		response_error(lsp, r->id, LSP_REQUEST_CANCELED, "canceled");
		r->dropped = true;
		return;
	}
}

static const struct {
	const char *method;
	void (*ask)(struct lsp *lsp, const char *id,
		    const struct json_node *params);
	void (*take)(struct lsp *lsp, const struct json_node *params,
		     uint64_t now);
} methods[] = {
	{ "initialize", .ask = ask_initialize },
	{ "shutdown", .ask = ask_shutdown },
	{ "textDocument/completion", .ask = ask_completion },
	{ "textDocument/hover", .ask = ask_hover },
	{ "exit", .take = take_exit },
	{ "$/cancelRequest", .take = take_cancel },
	{ "textDocument/didOpen", .take = take_open },
	{ "textDocument/didChange", .take = take_change },
	{ "textDocument/didSave", .take = take_save },
	{ "textDocument/didClose", .take = take_close },
};

#define METHODS	(sizeof(methods) / sizeof(*methods))

static void request_take(struct lsp *lsp, const char *method, const char *id,
			 const struct json_node *params)
{
	char text[160];

	if (!lsp->initialized && strcmp(method, "initialize")) {
		response_error(lsp, id, LSP_NOT_INITIALIZED,
			       "'initialize' is the first request");
		return;
	}
	if (lsp->shut_down) {
		response_error(lsp, id, LSP_INVALID_REQUEST,
			       "nothing follows 'shutdown' but 'exit'");
		return;
	}
	for (size_t i = 0; i < METHODS; i++)
		if (methods[i].ask && !strcmp(methods[i].method, method)) {
			methods[i].ask(lsp, id, params);
			return;
		}
	snprintf(text, sizeof(text), "no method '%.100s'", method);
	response_error(lsp, id, LSP_METHOD_NOT_FOUND, text);
}

static void notification_take(struct lsp *lsp, const char *method,
			      const struct json_node *params, uint64_t now)
{
	if ((!lsp->initialized || lsp->shut_down) && strcmp(method, "exit"))
		return;
	for (size_t i = 0; i < METHODS; i++)
		if (methods[i].take && !strcmp(methods[i].method, method))
			methods[i].take(lsp, params, now);
}

static void message_take(struct lsp *lsp, const char *body, size_t size,
			 uint64_t now)
{
	const struct json_node *id, *method;
	struct error err = { 0 };
	struct json_tree tree;
	char *text = NULL;

	if (json_read(&tree, body, size, &err)) {
		response_error(lsp, "null", LSP_PARSE_ERROR, err.text);
		json_tree_free(&tree);
		return;
	}
	id = json_member(tree.root, "id");
	method = json_member(tree.root, "method");
	if (id && (id->kind == JSON_NUMBER || id->kind == JSON_TEXT))
		text = strndup(id->source, id->source_length);
	if (!json_node_text(method)) {
		/* answers of the editor: the server asks nothing */
		if (!json_member(tree.root, "result") &&
		    !json_member(tree.root, "error"))
			response_error(lsp, text ? text : "null",
				       LSP_INVALID_REQUEST,
				       "a message has a method");
	} else if (text) {
		request_take(lsp, json_node_text(method), text,
			     json_member(tree.root, "params"));
	} else if (id) {
		response_error(lsp, "null", LSP_INVALID_REQUEST,
			       "an id is a number or a string");
	} else {
		notification_take(lsp, json_node_text(method),
				  json_member(tree.root, "params"), now);
	}
	free(text);
	json_tree_free(&tree);
}

/* The headers of a message: its length. False: they are wrong. */
static bool headers_read(const char *headers, size_t size, uint64_t *length)
{
	static const char name[] = "content-length:";
	const char *end = headers + size, *line = headers, *next;
	bool known = false;

	for (; line < end; line = next + 2) {
		next = memmem(line, end - line, "\r\n", 2);
		if (!next)
			return false;
		if ((size_t)(next - line) <= sizeof(name) - 1 ||
		    strncasecmp(line, name, sizeof(name) - 1))
			continue;
		line += sizeof(name) - 1;
		while (line < next && (*line == ' ' || *line == '\t'))
			line++;
		if (known || line == next || next - line > 10)
			return false;
		for (*length = 0; line < next; line++) {
			if (*line < '0' || *line > '9')
				return false;
			*length = *length * 10 + (*line - '0');
		}
		known = true;
	}
	return known && *length <= MESSAGE_MAX;
}

void lsp_feed(struct lsp *lsp, const char *bytes, size_t size, uint64_t now)
{
	struct text *input = &lsp->input;
	size_t at = 0;

	text_add(input, bytes, size);
	while (at < input->used && !lsp->over && !input->error) {
		const char *start = input->data + at;
		size_t left = input->used - at;
		const char *end = memmem(start, left, "\r\n\r\n", 4);
		size_t headers = end ? (size_t)(end - start) + 4 : left;
		uint64_t length = 0;

		if ((!end && headers > HEADERS_MAX) ||
		    (end && !headers_read(start, headers - 2, &length))) {
			response_error(lsp, "null", LSP_PARSE_ERROR,
				       "a message has the header "
				       "'Content-Length: BYTES'");
			lsp->over = true;
			lsp->status = 1;
			break;
		}
		if (!end || left - headers < length)
			break;
		message_take(lsp, start + headers, length, now);
		at += headers + length;
	}
	if (input->used)
		memmove(input->data, input->data + at, input->used - at);
	input->used -= at;
	if (input->error)
		lsp->output.error = input->error;
}

static void request_done(struct lsp *lsp)
{
	lsp_request_free(&lsp->queue[0]);
	lsp->queue_count--;
	memmove(lsp->queue, lsp->queue + 1,
		lsp->queue_count * sizeof(*lsp->queue));
	lsp->running = false;
}

bool lsp_next(struct lsp *lsp, struct lsp_job *job, uint64_t now, int *wait)
{
	const struct lsp_request *r;

	*wait = -1;
	if (lsp->running || lsp->over)
		return false;
	while (lsp->queue_count && lsp->queue[0].dropped)
		request_done(lsp);
	for (size_t i = 0; !lsp->queue_count && i < lsp->document_count; i++) {
		struct lsp_document *d = &lsp->documents[i];
		uint64_t due = d->changed + PAUSE_MS;

		if (!d->dirty)
			continue;
		if (now < due) {
			if (*wait < 0 || due - now < (uint64_t)*wait)
				*wait = due - now;
			continue;
		}
		d->dirty = false;
		request_add(lsp, d, NULL, LSP_DIAGNOSE, 0);
	}
	if (!lsp->queue_count)
		return false;
	r = &lsp->queue[0];
	*job = (struct lsp_job) {
		.kind = r->kind, .encoding = lsp->encoding, .path = r->path,
		.text = r->text, .size = r->size, .offset = r->offset,
	};
	lsp->running = true;
	return true;
}

/* A module that can't be read is a diagnostic, too. */
static void diagnostics_fail(struct lsp *lsp, const struct lsp_request *r,
			     const struct error *err)
{
	struct lsp_range nowhere = { 0 };
	struct text body = { 0 };
	struct json json = { .text = &body };
	char message[sizeof(*err)];

	snprintf(message, sizeof(message), "%s%s%s", err->text,
		 err->hint[0] ? "\n" : "", err->hint);
	json_open(&json, NULL, '[');
	json_open(&json, NULL, '{');
	lsp_text_json(&json, "range", &nowhere);
	json_number(&json, "severity", 1);
	json_string(&json, "source", "trcust");
	json_string(&json, "message", message);
	json_close(&json, '}');
	json_close(&json, ']');
	if (!body.error)
		diagnostics_send(lsp, r, body.data, body.used);
	free(body.data);
}

void lsp_answer(struct lsp *lsp, const char *json, size_t size,
		const struct error *err)
{
	struct lsp_request *r = &lsp->queue[0];
	bool open = false;

	for (size_t i = 0; i < lsp->document_count && !r->id; i++)
		open |= !strcmp(lsp->documents[i].uri, r->uri);
	if (r->id && !r->dropped && json)
		response_result(lsp, r->id, json, size);
	else if (r->id && !r->dropped)
		response_error(lsp, r->id, LSP_INTERNAL_ERROR, err->text);
	else if (open && json)
		diagnostics_send(lsp, r, json, size);
	else if (open)
		diagnostics_fail(lsp, r, err);
	request_done(lsp);
}

void lsp_free(struct lsp *lsp)
{
	while (lsp->queue_count)
		request_done(lsp);
	while (lsp->document_count)
		document_free(&lsp->documents[--lsp->document_count]);
	free(lsp->queue);
	free(lsp->documents);
	free(lsp->input.data);
	free(lsp->output.data);
}

/* ---- the server ---- */

static uint64_t lsp_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ull + time.tv_nsec / 1000000;
}

/* Reads what there is; the end of the input ends the server. */
static void input_take(struct lsp *lsp)
{
	char bytes[1 << 16];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n > 0) {
		lsp_feed(lsp, bytes, n, lsp_now());
	} else if (!n || (errno != EINTR && errno != EAGAIN)) {
		lsp->over = true;
		lsp->status = lsp->shut_down ? 0 : 1;
	}
}

static void job_begin(struct lsp *lsp, struct lsp_worker *worker,
		      const struct lsp_job *job, uint64_t *deadline)
{
	struct error err = { 0 };

	*deadline = lsp_now() + JOB_MS;
	if (lsp_worker_begin(worker, job, &err))
		lsp_answer(lsp, NULL, 0, &err);
}

static void job_take(struct lsp *lsp, struct lsp_worker *worker)
{
	struct error err = { 0 };
	int code = lsp_worker_take(worker, &err);

	if (!code)
		lsp_answer(lsp, worker->answer.data, worker->answer.used, NULL);
	else if (code != -EAGAIN)
		lsp_answer(lsp, NULL, 0, &err);
}

static void job_end(struct lsp *lsp, struct lsp_worker *worker)
{
	struct error err = { 0 };

	lsp_worker_end(worker);
	error_set(&err, -ETIME, "reading the module takes more than %d s",
		  JOB_MS / 1000);
	lsp_answer(lsp, NULL, 0, &err);
}

int run_lsp(const struct settings *s)
{
	struct lsp_worker worker = { .s = s };
	struct lsp lsp = { .output.fd = STDOUT_FILENO };
	uint64_t deadline = 0, now;
	struct lsp_job job;
	int wait, code = 0;

	while (!lsp.over && !code) {
		struct pollfd fds[] = {
			{ .fd = STDIN_FILENO, .events = POLLIN },
			{ .events = POLLIN },
		};

		if (lsp_next(&lsp, &job, lsp_now(), &wait))
			job_begin(&lsp, &worker, &job, &deadline);
		code = text_flush(&lsp.output);
		fds[1].fd = lsp.running ? worker.fd : -1;
		now = lsp_now();
		if (lsp.running)
			wait = now < deadline ? deadline - now : 0;
		else if (lsp.queue_count)
			wait = 0;
		if (poll(fds, 2, wait) < 0 && errno != EINTR)
			code = -errno;
		if (fds[1].revents)
			job_take(&lsp, &worker);
		else if (lsp.running && lsp_now() >= deadline)
			job_end(&lsp, &worker);
		if (fds[0].revents)
			input_take(&lsp);
	}
	if (!code)
		code = text_flush(&lsp.output);
	if (code)
		fprintf(stderr, "trcust: cannot serve: %s\n", strerror(-code));
	lsp_worker_end(&worker);
	free(worker.answer.data);
	lsp_free(&lsp);
	return code ? 1 : lsp.status;
}
