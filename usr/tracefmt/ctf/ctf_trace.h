/* SPDX-License-Identifier: GPL-2.0 */
/* A CTF trace: a directory with its metadata and streams. */
#ifndef TRACEFMT_CTF_TRACE_H
#define TRACEFMT_CTF_TRACE_H

#include "ctf_class.h"
#include "ctf_stream.h"

struct ctf_trace {
	int metadata;		/* descriptor; -1: the trace isn't begun */
	int64_t offset;		/* wall clock of the time 0 in the streams */
	struct ctf_buffer tsdl;	/* not yet in the metadata */
	struct ctf_classes classes;
	struct ctf_streams streams;
};

/* Write the metadata's beginning into `dir`, which is taken over in any case.
 * 0, or a negative errno. */
int ctf_trace_begin(struct ctf_trace *ctf, const struct trace *trace, int dir);
int ctf_trace_event(struct ctf_trace *ctf, const struct event *event,
		    struct scratch *scratch, struct symbols *symbols);
/* The last packets, with what the trace lost. */
int ctf_trace_finish(struct ctf_trace *ctf, const struct trace *trace);
void ctf_trace_free(struct ctf_trace *ctf);

#endif
