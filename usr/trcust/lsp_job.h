/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the language server is asked about a document, answered from the module
 * that it names. The module stays open from one job to the next, as long as its
 * file does not change.
 */
#ifndef TRCUST_LSP_JOB_H
#define TRCUST_LSP_JOB_H

#include <sys/stat.h>
#include "functions.h"
#include "input.h"
#include "lsp_text.h"

enum lsp_job_kind {
	LSP_DIAGNOSE,		/* an array of Diagnostic */
	LSP_COMPLETE,		/* a CompletionList */
	LSP_HOVER,		/* a Hover, or null */
};

struct lsp_job {
	enum lsp_job_kind kind;
	enum lsp_encoding encoding;
	const char *path;	/* of the document; "" if it is no file */
	const char *text;
	size_t size, offset;	/* offset: of the cursor */
};

struct lsp_jobs {
	const struct settings *s;
	bool blind;		/* no module is opened: for tests */
	char *key;		/* which one is open; NULL: none */
	struct compilation c;
	struct input input;
	struct stat files[2];	/* of the module and its debug file */
	struct named_functions functions;
	bool functions_known;
};

/* Adds the answer, JSON. 0, -ENOMEM. */
int lsp_job_run(struct lsp_jobs *jobs, const struct lsp_job *job,
		struct text *answer);
void lsp_jobs_close(struct lsp_jobs *jobs);

#endif
