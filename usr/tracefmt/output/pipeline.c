// SPDX-License-Identifier: GPL-2.0
#include "pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include "tracefmt/pair/unfold.h"

#define BATCH_EVENTS	1024
#define BATCH_BYTES	(128u << 10)	/* of records */
#define THREADS_MAX	8
#define HELD_EVENTS	(64u << 10)
#define HELD_BYTES	(8u << 20)

enum batch_state { BATCH_FREE, BATCH_FULL, BATCH_TAKEN, BATCH_DONE };

struct batch {
	enum batch_state state;
	struct event events[BATCH_EVENTS];
	size_t count, used;
	uint8_t records[BATCH_BYTES];
	struct text text;
	int code;
};

struct worker {
	struct pipeline *pipeline;
	pthread_t thread;
	struct scratch scratch;
};

/* Batches are filled, and written, in the order of the ring. */
struct pipeline {
	struct output *output;
	struct text text;
	struct unfold *unfold;		/* of ops->unfolds; else NULL */
	int64_t last;			/* time of the last event */
	struct batch **ring;
	size_t size, fill, write;	/* which is filled, written next */
	size_t take;			/* and turned into text next */
	struct worker *workers;		/* the first one is the caller */
	size_t worker_count;
	pthread_mutex_t lock;
	pthread_cond_t full, done;
	bool stop;
	int code;
	/* The first events, which are looked at before any is given out. */
	bool holds;
	struct text held;		/* struct event, record, in turn */
	size_t held_count;
};

/* ---- turning events into text ---- */

static void scratch_begin(struct scratch *scratch, const struct output *output)
{
	scratch->clock.utc = output->settings->utc;
	scratch->clock.relative = output->settings->relative;
	scratch->clock.start = output->start;
}

static void batch_run(struct pipeline *p, struct batch *batch,
		      struct scratch *scratch)
{
	scratch_begin(scratch, p->output);
	for (size_t i = 0; i < batch->count && !batch->code; i++)
		batch->code = p->output->ops->event(p->output,
						    &batch->events[i],
						    &batch->text, scratch);
}

/* The lock is held. The next full batch, turned into text; false: none. */
static bool batch_take(struct pipeline *p, struct scratch *scratch)
{
	struct batch *batch = p->ring[p->take];

	if (batch->state != BATCH_FULL)
		return false;
	batch->state = BATCH_TAKEN;
	p->take = (p->take + 1) % p->size;
	pthread_mutex_unlock(&p->lock);
	batch_run(p, batch, scratch);
	pthread_mutex_lock(&p->lock);
	batch->state = BATCH_DONE;
	pthread_cond_signal(&p->done);
	return true;
}

static void *worker_run(void *context)
{
	struct worker *worker = context;
	struct pipeline *p = worker->pipeline;

	pthread_mutex_lock(&p->lock);
	while (!p->stop)
		if (!batch_take(p, &worker->scratch))
			pthread_cond_wait(&p->full, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- writing ---- */

static void code_keep(struct pipeline *p, int code)
{
	if (code && !p->code)
		p->code = code;
}

/* The oldest batch, which is done; the lock is held. */
static void batch_write(struct pipeline *p)
{
	struct batch *batch = p->ring[p->write];

	pthread_mutex_unlock(&p->lock);
	code_keep(p, batch->code);
	if (!p->code)
		code_keep(p, text_flush(&batch->text));
	batch->text.used = 0;
	batch->count = batch->used = 0;
	batch->code = 0;
	pthread_mutex_lock(&p->lock);
	batch->state = BATCH_FREE;
	p->write = (p->write + 1) % p->size;
}

/* Write what is done; what isn't yet is done here, or waited for while `all` is
 * wanted or there is no free batch. */
static void ring_drain(struct pipeline *p, bool all)
{
	pthread_mutex_lock(&p->lock);
	for (;;) {
		struct batch *oldest = p->ring[p->write];

		if (oldest->state == BATCH_FREE)
			break;
		if (oldest->state == BATCH_DONE)
			batch_write(p);
		else if (!all && p->ring[p->fill]->state == BATCH_FREE)
			break;
		else if (!batch_take(p, &p->workers[0].scratch))
			pthread_cond_wait(&p->done, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
}

static void batch_close(struct pipeline *p)
{
	pthread_mutex_lock(&p->lock);
	p->ring[p->fill]->state = BATCH_FULL;
	p->fill = (p->fill + 1) % p->size;
	pthread_cond_signal(&p->full);
	pthread_mutex_unlock(&p->lock);
}

/* ---- calls ---- */

static int pipeline_call(struct pipeline *p, struct pair_call *call)
{
	const struct output_choice *choice = &p->output->choice;
	int chosen = choice->context ?
		     choice->call(choice->context, call) : 1;

	if (chosen < 1)
		return chosen;
	p->output->doubts[call->doubt]++;
	return p->output->ops->call(p->output, call, &p->text,
				    &p->workers[0].scratch);
}

static int pipeline_calls(struct pipeline *p, const struct event *event)
{
	struct pair_seen seen;
	int code = pairing_see(p->output->pairing, event, &seen);

	for (size_t i = 0; i < seen.ended_count && !code; i++) {
		code = pipeline_call(p, seen.ended[i]);
		text_pass(&p->text);
	}
	return code;
}

/* ---- */

static int event_give(void *context, const struct event *event)
{
	struct pipeline *p = context;
	struct event given;
	int code;
	struct batch *batch;
	size_t n;
	struct event *copy;

	if (p->last == EVENT_FIRST) {
		p->output->start = event->time;
		p->output->module = output_module_find(p->output->stream);
		scratch_begin(&p->workers[0].scratch, p->output);
	}
	if (p->ring) {
		batch = p->ring[p->fill];
		n = (event->record->length + 7) & ~(size_t)7;
		if (batch->count == BATCH_EVENTS ||
		    BATCH_BYTES - batch->used < n) {
			batch_close(p);
			ring_drain(p, false);
			batch = p->ring[p->fill];
		}
		copy = &batch->events[batch->count++];
		*copy = *event;
		copy->before = p->last;
		copy->record = memcpy(batch->records + batch->used,
				      event->record, event->record->length);
		batch->used += n;
		code = p->code;
		p->last = event->time;
		return code;
	}
	given = *event;
	given.before = p->last;
	p->last = event->time;
	code = p->output->ops->call ? pipeline_calls(p, &given) :
	       p->output->ops->event(p->output, &given, &p->text,
				     &p->workers[0].scratch);
	text_pass(&p->text);
	return code ? code : -p->text.error;
}

/* To the output, now or later */
static int event_pass(struct pipeline *p, const struct event *event)
{
	return p->unfold ? unfold_add(p->unfold, event) : event_give(p, event);
}

static int held_add(struct pipeline *p, const struct event *event)
{
	static const char zeros[8];
	size_t n = event->record->length;

	if (p->unfold)
		unfold_expect(p->unfold, event);
	text_add(&p->held, event, sizeof(*event));
	text_add(&p->held, event->record, n);
	text_add(&p->held, zeros, -n & 7);
	p->held_count++;
	return p->held.error ? -ENOMEM :
	       foresight_see(p->output->foresight, event);
}

/* Give what is held, unless part of it is missing; what comes now is given at
 * once. */
static int held_give(struct pipeline *p)
{
	struct event event;
	int code = p->held.error ? -ENOMEM : 0;

	p->holds = false;
	for (size_t at = 0; at < p->held.used && !code;) {
		memcpy(&event, p->held.data + at, sizeof(event));
		at += sizeof(event);
		event.record = (const void *)(p->held.data + at);
		at += (event.record->length + 7) & ~(size_t)7;
		code = event_pass(p, &event);
	}
	free(p->held.data);
	p->held = (struct text){ 0 };
	return code;
}

int pipeline_give(void *context, const struct event *event)
{
	struct pipeline *p = context;
	int code;

	if (!p->holds)
		return event_pass(p, event);
	code = held_add(p, event);
	if (!code && (p->held_count == HELD_EVENTS || p->held.used > HELD_BYTES))
		code = held_give(p);
	return code;
}

/* The newest time up to which a pipe has been read, wall clock */
static int64_t pipeline_now(const struct stream *stream)
{
	int64_t now = INT64_MIN;

	for (size_t i = 0; i < stream->count; i++) {
		const struct trace_file *file = &stream->traces[i]->file;
		int64_t time = (int64_t)(file->pass.time +
					 (uint64_t)file->header.wall_offset);

		if (file->source.pipe && time > now)
			now = time;
	}
	return now;
}

int pipeline_flush(struct pipeline *p)
{
	const struct output_ops *ops = p->output->ops;
	int code = p->holds && p->held_count ? held_give(p) : 0;

	if (!code && p->unfold)
		code = unfold_pass(p->unfold, pipeline_now(p->output->stream));
	if (!code && p->output->own && ops->flush)
		code = ops->flush(p->output, &p->text);
	if (!p->ring) {
		int flushed = text_flush(&p->text);

		return code ? code : flushed;
	}
	if (p->ring[p->fill]->count)
		batch_close(p);
	ring_drain(p, true);
	return p->code;
}

int pipeline_begin(struct pipeline *p, struct error *err)
{
	const struct output_ops *ops = p->output->ops;
	const struct stream *stream = p->output->stream;
	int code;

	if (ops->own_bytes) {
		p->output->own = calloc(1, ops->own_bytes);
		if (!p->output->own)
			return -ENOMEM;
	}
	if (ops->whole && !ops->in_step) {
		p->output->foresight = foresight_open();
		if (!p->output->foresight)
			return -ENOMEM;
		p->holds = true;
	}
	if (ops->unfolds) {
		bool live = pipeline_now(stream) != INT64_MIN;

		p->unfold = unfold_open(event_give, p, live);
		if (!p->unfold)
			return -ENOMEM;
		for (size_t i = 0; i < stream->count && !live; i++)
			if (match_has_whole(&stream->traces[i]->match))
				unfold_expect_all(p->unfold);
	}
	if (ops->call) {
		/* who chooses looks at the records */
		p->output->pairing = pairing_open(
			ops->pairing | p->output->pairing_wanted |
			(p->output->choice.context ?
			 PAIRING_ENTRIES | PAIRING_EXITS : 0),
			p->output->foresight);
		if (!p->output->pairing)
			return -ENOMEM;
	}
	code = ops->open ? ops->open(p->output, &p->text, err) : 0;
	return code ? code : text_flush(&p->text);
}

int pipeline_end(struct pipeline *p, int code, struct error *err)
{
	const struct output_ops *ops = p->output->ops;
	int flushed = pipeline_flush(p);
	struct pair_call *call;

	code = code ? code : flushed;
	if (!code && p->unfold)
		code = unfold_end(p->unfold);
	if (!code && symbols_failed(p->output->settings->symbols))
		code = -ENOMEM;
	while (!code && ops->call &&
	       (call = pairing_open_call(p->output->pairing))) {
		code = pipeline_call(p, call);
		text_pass(&p->text);
	}
	if (!code && ops->close)
		code = ops->close(p->output, &p->text, err);
	flushed = text_flush(&p->text);
	return code ? code : flushed;
}

/* ---- opening ---- */

static size_t processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return CPU_COUNT(&set) < THREADS_MAX ? CPU_COUNT(&set) : THREADS_MAX;
}

static int pipeline_ring_open(struct pipeline *p, int fd)
{
	size_t size = 2 * p->worker_count + 2;

	p->ring = calloc(size, sizeof(*p->ring));
	if (!p->ring)
		return -ENOMEM;
	for (; p->size < size; p->size++) {
		struct batch *batch = malloc(sizeof(*batch));

		if (!batch)
			return -ENOMEM;
		batch->state = BATCH_FREE;
		batch->count = batch->used = 0;
		batch->code = 0;
		p->ring[p->size] = batch;
		if (text_open(&batch->text, fd))
			return -ENOMEM;
	}
	return 0;
}

struct pipeline *pipeline_open(struct output *output, int fd,
			       unsigned int threads)
{
	struct pipeline *p = calloc(1, sizeof(*p));
	int code;
	size_t started;

	if (!p)
		return NULL;
	p->output = output;
	p->last = EVENT_FIRST;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->full, NULL);
	pthread_cond_init(&p->done, NULL);
	p->worker_count = output->ops->in_order ? 1 :
			  threads ? threads : processors();
	p->workers = calloc(p->worker_count, sizeof(*p->workers));
	code = p->workers ? text_open(&p->text, fd) : -ENOMEM;
	if (!code && p->worker_count > 1)
		code = pipeline_ring_open(p, fd);
	if (code) {
		p->worker_count = 1;
		pipeline_close(p);
		return NULL;
	}
	if (p->ring) {
		/* Fewer threads do as well. */
		started = 1;
		while (started < p->worker_count) {
			struct worker *worker = &p->workers[started];

			worker->pipeline = p;
			if (pthread_create(&worker->thread, NULL, worker_run,
					   worker))
				break;
			started++;
		}
		p->worker_count = started;
	}
	return p;
}

void pipeline_close(struct pipeline *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->full);
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 1; i < p->worker_count; i++)
		pthread_join(p->workers[i].thread, NULL);
	for (size_t i = 0; p->ring && i < p->size; i++)
		if (p->ring[i]) {
			free(p->ring[i]->text.data);
			free(p->ring[i]);
		}
	for (size_t i = 0; p->workers && i < p->worker_count; i++)
		free(p->workers[i].scratch.pieces);
	free(p->held.data);
	unfold_close(p->unfold);
	free(p->ring);
	free(p->workers);
	free(p->text.data);
	pthread_cond_destroy(&p->full);
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
