// SPDX-License-Identifier: GPL-2.0
#include "otlp_send.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/library.h"
#include "otlp_response.h"

/* ---- libcurl: what is used of its interface, which is stable ---- */

#define CURL_LIBRARY	"libcurl.so.4"

enum curl_option {
	CURL_TIMEOUT_MS = 155, CURL_POST = 47, CURL_NOSIGNAL = 99,
	CURL_WRITEDATA = 10001, CURL_URL = 10002, CURL_POSTFIELDS = 10015,
	CURL_HTTPHEADER = 10023, CURL_WRITEFUNCTION = 20011,
	CURL_POSTFIELDSIZE_LARGE = 30120,
};

enum curl_info {
	CURL_RESPONSE_CODE = 0x200000 + 2, CURL_RETRY_AFTER = 0x600000 + 57,
};

struct curl_library {
	void *(*init)(void);
	int (*set)(void *curl, int option, ...);
	int (*perform)(void *curl);
	int (*get)(void *curl, int info, ...);
	const char *(*error)(int code);
	void (*cleanup)(void *curl);
	void *(*list_add)(void *list, const char *line);
	void (*list_free)(void *list);
};

static bool curl_library_load(struct curl_library *library)
{
	const struct {
		void *place;
		const char *name;
	} functions[] = {
		{ &library->init, "curl_easy_init" },
		{ &library->set, "curl_easy_setopt" },
		{ &library->perform, "curl_easy_perform" },
		{ &library->get, "curl_easy_getinfo" },
		{ &library->error, "curl_easy_strerror" },
		{ &library->cleanup, "curl_easy_cleanup" },
		{ &library->list_add, "curl_slist_append" },
		{ &library->list_free, "curl_slist_free_all" },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = library_symbol(CURL_LIBRARY,
						functions[i].name);

		if (!function)
			return false;
		memcpy(functions[i].place, &function, sizeof(function));
	}
	return true;
}

/* ---- */

#define ANSWER_MAX	(64u << 10)

struct otlp_sender {
	struct curl_library curl;
	void *handle, *headers;
	char *url;		/* with room for a path */
	size_t base;		/* its length without */
	long timeout;		/* ms */
	bool down;		/* the last request failed for good */
	uint8_t answer[ANSWER_MAX];
	size_t answered;
	char reason[512];
};

#define PATH_MAX_LENGTH	32

static size_t answer_take(const char *data, size_t size, size_t n, void *own)
{
	struct otlp_sender *sender = own;
	size_t left = ANSWER_MAX - sender->answered;
	size_t take = size * n < left ? size * n : left;

	memcpy(sender->answer + sender->answered, data, take);
	sender->answered += take;
	return size * n;
}

static bool header_add(struct otlp_sender *sender, const char *line)
{
	void *list = sender->curl.list_add(sender->headers, line);

	if (list)
		sender->headers = list;
	return list;
}

/* name=value,name=value: a value's %XX stay, as servers take them */
static bool headers_add(struct otlp_sender *sender, const char *list)
{
	while (list && *list) {
		size_t n = strcspn(list, ","), name = strcspn(list, "=,");
		char line[1024];

		if (name && name < n &&
		    snprintf(line, sizeof(line), "%.*s: %.*s", (int)name, list,
			     (int)(n - name - 1), list + name + 1) <
			    (int)sizeof(line) &&
		    !strpbrk(line, "\r\n") && !header_add(sender, line))
			return false;
		list += n + (list[n] == ',');
	}
	return true;
}

static int sender_set(struct otlp_sender *sender, const char *url)
{
	const char *timeout = getenv("OTEL_EXPORTER_OTLP_TIMEOUT");
	struct curl_library *curl = &sender->curl;

	sender->timeout = timeout ? atol(timeout) : 0;
	if (sender->timeout <= 0 || sender->timeout > INT_MAX)
		sender->timeout = OTLP_TIMEOUT;
	sender->base = strlen(url);
	while (sender->base && url[sender->base - 1] == '/')
		sender->base--;
	sender->url = malloc(sender->base + PATH_MAX_LENGTH);
	sender->handle = curl->init();
	if (!sender->url || !sender->handle ||
	    !header_add(sender, "Content-Type: application/x-protobuf") ||
	    !headers_add(sender, getenv("OTEL_EXPORTER_OTLP_HEADERS")))
		return -ENOMEM;
	memcpy(sender->url, url, sender->base);
	curl->set(sender->handle, CURL_NOSIGNAL, 1L);
	curl->set(sender->handle, CURL_POST, 1L);
	curl->set(sender->handle, CURL_TIMEOUT_MS, sender->timeout);
	curl->set(sender->handle, CURL_HTTPHEADER, sender->headers);
	curl->set(sender->handle, CURL_WRITEFUNCTION, answer_take);
	curl->set(sender->handle, CURL_WRITEDATA, sender);
	return 0;
}

struct otlp_sender *otlp_sender_open(const char *url, struct error *err)
{
	struct otlp_sender *sender = calloc(1, sizeof(*sender));

	if (!sender) {
		error_no_memory(err);
		return NULL;
	}
	if (!curl_library_load(&sender->curl)) {
		error_set(err, -ENOENT, "--otlp '%s': there is no %s", url,
			  CURL_LIBRARY);
		error_hint(err, library_possible ?
			   "install libcurl, or write a file: --otlp=FILE" :
			   "a static tracefmt cannot load it; write a file: --otlp=FILE");
		free(sender);
		return NULL;
	}
	if (sender_set(sender, url)) {
		otlp_sender_close(sender);
		error_no_memory(err);
		return NULL;
	}
	return sender;
}

void otlp_sender_close(struct otlp_sender *sender)
{
	if (!sender)
		return;
	if (sender->handle)
		sender->curl.cleanup(sender->handle);
	sender->curl.list_free(sender->headers);
	free(sender->url);
	free(sender);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One request; *wait: what the server asks for, in ms. The status, 0: none came. */
static long otlp_request_try(struct otlp_sender *sender, const void *body,
			size_t size, int64_t *wait)
{
	struct curl_library *curl = &sender->curl;
	struct otlp_response status;
	int64_t after = 0;
	long code = 0;
	int failed;

	*wait = 0;
	sender->answered = 0;
	curl->set(sender->handle, CURL_URL, sender->url);
	curl->set(sender->handle, CURL_POSTFIELDS, body);
	curl->set(sender->handle, CURL_POSTFIELDSIZE_LARGE, (int64_t)size);
	failed = curl->perform(sender->handle);
	if (failed) {
		snprintf(sender->reason, sizeof(sender->reason), "%s",
			 curl->error(failed));
		return 0;
	}
	curl->get(sender->handle, CURL_RESPONSE_CODE, &code);
	if (code == 200)
		return code;
	curl->get(sender->handle, CURL_RETRY_AFTER, &after);
	*wait = after > 0 && after < INT_MAX ? after * 1000 : 0;
	otlp_status_read(&status, sender->answer, sender->answered);
	snprintf(sender->reason, sizeof(sender->reason), "status %ld%s%s", code,
		 *status.reason ? ": " : "", status.reason);
	return code;
}

static bool is_for_later(long code)
{
	return !code || code == 429 || code == 502 || code == 503 ||
	       code == 504;
}

/* Until it arrives, or will not; returns whether it did. */
static bool otlp_request_send(struct otlp_sender *sender, const void *body,
			 size_t size)
{
	int64_t end = now_ms() + OTLP_TRIES * sender->timeout, wait;
	int64_t pause = sender->timeout / 10 + 1;
	struct timespec sleep;
	long code;

	for (;;) {
		code = otlp_request_try(sender, body, size, &wait);
		if (code == 200 || !is_for_later(code) || sender->down)
			return code == 200;
		if (wait < pause)
			wait = pause;
		if (now_ms() + wait >= end)
			return false;
		sleep.tv_sec = wait / 1000;
		sleep.tv_nsec = wait % 1000 * 1000000;
		nanosleep(&sleep, NULL);
		pause *= 2;
	}
}

struct otlp_sent otlp_send(struct otlp_sender *sender, const char *path,
			   const void *body, size_t size)
{
	struct otlp_sent sent = { .reason = sender->reason };
	struct otlp_response response;

	snprintf(sender->url + sender->base, PATH_MAX_LENGTH, "/%s", path);
	sent.failed = !otlp_request_send(sender, body, size);
	sender->down = sent.failed;
	if (sent.failed)
		return sent;
	otlp_response_read(&response, sender->answer, sender->answered);
	sent.rejected = response.rejected;
	if (sent.rejected)
		snprintf(sender->reason, sizeof(sender->reason), "%s",
			 *response.reason ? response.reason :
					    "the server does not say why");
	return sent;
}
