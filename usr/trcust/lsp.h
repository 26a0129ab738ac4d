/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The language server for TSF: JSON-RPC 2.0 with the headers of the Language
 * Server Protocol (3.17), on standard input and output.
 */
#ifndef TRCUST_LSP_H
#define TRCUST_LSP_H

#include "lsp_job.h"

/* A document that the editor has open. */
struct lsp_document {
	char *uri, *path;
	char *text;
	size_t size;
	int64_t version;
	bool has_version;
	bool dirty;		/* to be diagnosed */
	uint64_t changed;	/* then: in ms */
};

/* A request that is not answered yet, or diagnostics that are made. */
struct lsp_request {
	char *id;		/* as JSON; NULL: diagnostics */
	enum lsp_job_kind kind;
	char *uri;		/* of the document when it was asked */
	char *path, *text;
	size_t size, offset;
	int64_t version;	/* of diagnostics */
	bool has_version;
	bool dropped;		/* canceled: the answer is not wanted */
};

struct lsp {
	struct lsp_document *documents;
	size_t document_count, document_room;
	struct lsp_request *queue;	/* the first one may be running */
	size_t queue_count, queue_room;
	bool running;
	enum lsp_encoding encoding;
	bool initialized, shut_down;
	bool over;		/* the server ends, with `status` */
	int status;
	struct text input;	/* what was received and is no whole message */
	struct text output;	/* messages to be sent */
};

/* Take bytes of the editor; answers are added to output. */
void lsp_feed(struct lsp *lsp, const char *bytes, size_t size, uint64_t now);
/* The next job, if there is one at that time (in ms); it is running until
 * lsp_answer(). *wait: ms until there may be one, -1: nothing is known. */
bool lsp_next(struct lsp *lsp, struct lsp_job *job, uint64_t now, int *wait);
/* What came of the job: JSON, or NULL and the reason why there is none. */
void lsp_answer(struct lsp *lsp, const char *json, size_t size,
		const struct error *err);
void lsp_free(struct lsp *lsp);

/* Serve standard input and output. The exit status. */
int run_lsp(const struct settings *s);

#endif
