/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events on their way through an output to its file: copied into batches, which
 * several threads turn into text, and which are written in order. An output that
 * keeps state, or one processor, has one thread and no batches.
 */
#ifndef TRACEFMT_PIPELINE_H
#define TRACEFMT_PIPELINE_H

#include "output.h"

struct pipeline;

/* fd: where the text goes. Threads: 0, as many as there are processors. NULL: no
 * memory. */
struct pipeline *pipeline_open(struct output *output, int fd,
			       unsigned int threads);
/* Begin: output->ops->open(). 0, or a negative errno with err set. */
int pipeline_begin(struct pipeline *pipeline, struct error *err);
/* An order_take (filter/order.h) with the pipeline as context. Sets
 * output->start, event->before. 0, or a negative errno. */
int pipeline_give(void *pipeline, const struct event *event);
/* Everything that was given is written; no thread looks at any trace until more
 * is given. 0, or a negative errno. */
int pipeline_flush(struct pipeline *pipeline);
/* The end: output->ops->close(), and all is written. `code`: that of the events
 * before; no close() when it isn't 0. 0, or a negative errno with err set. */
int pipeline_end(struct pipeline *pipeline, int code, struct error *err);
void pipeline_close(struct pipeline *pipeline);

#endif
