/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The process that runs the jobs of the language server. libdw and libelf trust
 * what they read: a damaged module may end this process, but not the server.
 */
#ifndef TRCUST_LSP_WORKER_H
#define TRCUST_LSP_WORKER_H

#include <sys/types.h>
#include "lsp_job.h"

struct lsp_worker {
	const struct settings *s;
	pid_t pid;		/* 0: not running */
	int fd;			/* poll it for POLLIN while a job runs */
	struct text answer;
	uint64_t expected;	/* bytes of it; 0: not known yet */
};

/* Starts the process, if necessary, and hands over a job. 0, or a negative errno
 * with err set. */
int lsp_worker_begin(struct lsp_worker *w, const struct lsp_job *job,
		     struct error *err);
/* Takes what is there. 0: the answer is complete, in w->answer; -EAGAIN: it is
 * not; -EBADMSG: the process has ended, err has the reason. */
int lsp_worker_take(struct lsp_worker *w, struct error *err);
/* Ends the process. */
void lsp_worker_end(struct lsp_worker *w);

#endif
