// SPDX-License-Identifier: GPL-2.0
/* Any bytes from an editor, as a stream, and a message a line; any bytes as a
 * document, with the cursor anywhere: each answer is JSON with right headers. No
 * module is opened. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/json_read.h"
#include "trcust/lsp.h"

#define CURSORS	8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_json(const char *text, size_t size)
{
	struct error err = { 0 };
	struct json_tree tree;

	if (json_read(&tree, text, size, &err)) {
		fprintf(stderr, "%s in %.*s\n", err.text, (int)size, text);
		abort();
	}
	json_tree_free(&tree);
}

/* Whole messages, and nothing else, were sent. */
static void check_output(struct text *output)
{
	size_t at = 0, length;

	while (at < output->used) {
		const char *start = output->data + at;
		const char *end = memmem(start, output->used - at,
					 "\r\n\r\n", 4);

		if (!end || sscanf(start, "Content-Length: %zu", &length) != 1 ||
		    (size_t)(output->data + output->used - end) < length + 4)
			abort();
		check_json(end + 4, length);
		at = end + 4 + length - output->data;
	}
	output->used = 0;
}

static void run_jobs(struct lsp *lsp, struct lsp_jobs *jobs, uint64_t now)
{
	struct text answer = { 0 };
	struct lsp_job job;
	int wait;

	while (lsp_next(lsp, &job, now, &wait)) {
		answer.used = 0;
		lsp_job_run(jobs, &job, &answer);
		check_json(answer.data, answer.used);
		lsp_answer(lsp, answer.data, answer.used, NULL);
	}
	free(answer.data);
	check_output(&lsp->output);
}

static void feed_line(struct lsp *lsp, const char *line, size_t length)
{
	char headers[64];

	snprintf(headers, sizeof(headers), "Content-Length: %zu\r\n\r\n",
		 length);
	lsp_feed(lsp, headers, strlen(headers), 0);
	lsp_feed(lsp, line, length, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct settings s = { .level = 2 };
	static const char hello[] =
		"{\"id\":0,\"method\":\"initialize\",\"params\":{}}";
	struct lsp_jobs jobs = { .s = &s, .blind = true };
	const char *text = (const char *)data, *end;
	struct lsp stream = { 0 }, lines = { 0 };
	char *document = malloc(size + 1);
	struct text answer = { 0 };

	if (!document)
		return 0;
	lsp_feed(&stream, text, size, 0);
	run_jobs(&stream, &jobs, 1000);
	lsp_free(&stream);

	feed_line(&lines, hello, sizeof(hello) - 1);
	for (size_t at = 0; at < size && !lines.over; at = end - text + 1) {
		end = memchr(text + at, '\n', size - at);
		end = end ? end : text + size;
		feed_line(&lines, text + at, end - text - at);
		run_jobs(&lines, &jobs, 1000);
	}
	lsp_free(&lines);

	if (size)
		memcpy(document, data, size);
	document[size] = '\0';
	for (size_t i = 0; i <= CURSORS; i++) {
		struct lsp_job job = {
			.kind = i % 3, .encoding = i & 1, .path = "fuzz.tsf",
			.text = document, .size = size,
			.offset = size * i / CURSORS,
		};

		answer.used = 0;
		lsp_job_run(&jobs, &job, &answer);
		check_json(answer.data, answer.used);
	}
	lsp_jobs_close(&jobs);
	free(answer.data);
	free(document);
	return 0;
}
