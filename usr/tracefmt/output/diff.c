// SPDX-License-Identifier: GPL-2.0
#include "diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/key_map.h"
#include "tracefmt/pair/figures.h"
#include "cell.h"

#define RESULTS_SHOWN	8
#define RESULT_TEXTS	(8u << 20)	/* bytes of different results */

struct diff_function {
	const char *name;	/* the pairing's */
	struct latency latency;
	uint64_t calls;		/* with those of no latency */
	uint64_t unsure;	/* these */
	struct value_counts results;
};

struct diff_thread {
	char comm[17];
	uint32_t pid, tid;
	uint32_t number;	/* of those of its name, from 1; set at the end */
	uint64_t buffer;
	uint64_t first;		/* `order` of its calls */
};

/* A call, by thread and beginning. */
struct diff_call {
	uint64_t number;	/* of its event */
	uint64_t order;		/* ascends with their beginnings */
	uint32_t thread, function, depth;
	uint32_t hash;		/* of the result */
	uint32_t result;	/* its text, from 1; 0: none is kept */
};

struct diff {
	struct diff_function *functions;
	size_t function_count, function_room;
	struct key_map by_name;		/* 1 + index in functions */
	struct diff_thread *threads;
	size_t thread_count, thread_room;
	struct key_map by_thread;	/* 1 + index in threads */
	struct key_map by_comm;		/* the same, by name and number */
	struct key_map comms;		/* uint32_t: threads of the name */
	struct diff_call *calls;
	size_t call_count, call_room;
	bool many;		/* there are more calls */
	struct text results;	/* texts with their zeros, after a first byte */
	struct key_map by_result;	/* where they are */
	struct text value;	/* of one result */
};

/* ---- of a trace ---- */

/* 1 + its index; 0: there is none. */
static size_t diff_find(const struct diff *d, const char *name)
{
	uint64_t hash = hash_fnv(HASH_FNV_START, name, strlen(name));
	uint64_t number;
	size_t step = 0;

	while ((number = key_map_each_number(&d->by_name, hash, &step)))
		if (!strcmp(d->functions[number - 1].name, name))
			return number;
	return 0;
}

/* The same, made when it is new; 0: no memory. */
static size_t diff_function_get(struct diff *d, const char *name)
{
	size_t number = diff_find(d, name);

	if (number)
		return number;
	if (!array_grow(&d->functions, d->function_count, &d->function_room,
			sizeof(*d->functions)) ||
	    key_map_add_number(&d->by_name,
			       hash_fnv(HASH_FNV_START, name, strlen(name)),
			       d->function_count + 1))
		return 0;
	d->functions[d->function_count] = (struct diff_function){
		.name = name,
	};
	return ++d->function_count;
}

/* 1 + its index; 0: no memory. */
static size_t diff_thread_get(struct diff *d, const struct pair_call *call)
{
	const struct event *event = pair_call_event(call);
	uint64_t buffer = event->trace->file.header.key;
	uint64_t hash = key_map_mix(buffer,
				    (uint64_t)call->pid << 32 | call->tid);
	const char *comm = event_comm(event);
	struct diff_thread thread = {
		.pid = call->pid, .tid = call->tid, .buffer = buffer,
		.first = UINT64_MAX,
	};
	uint64_t number;
	size_t step = 0;

	while ((number = key_map_each_number(&d->by_thread, hash, &step))) {
		const struct diff_thread *t = &d->threads[number - 1];

		if (t->buffer == buffer && t->pid == call->pid &&
		    t->tid == call->tid)
			return number;
	}
	if (comm)
		memcpy(thread.comm, comm, strnlen(comm, 16));
	number = d->thread_count + 1;
	if (!array_grow(&d->threads, d->thread_count, &d->thread_room,
			sizeof(*d->threads)) ||
	    key_map_add_number(&d->by_thread, hash, number))
		return 0;
	d->threads[d->thread_count++] = thread;
	return number;
}

/* Keep the text of d->value. 0 or -ENOMEM. */
static int diff_result(struct diff *d, struct diff_call *call)
{
	const char *text = d->value.data;
	size_t n = d->value.used, step = 0;
	uint64_t at;

	call->hash = hash_fnv(HASH_FNV_START, text, n);
	while ((at = key_map_each_number(&d->by_result, call->hash, &step)))
		if (!strncmp(d->results.data + at, text, n) &&
		    !d->results.data[at + n]) {
			call->result = at;
			return 0;
		}
	if (d->results.used > RESULT_TEXTS)
		return 0;
	if (!d->results.used)
		text_add_char(&d->results, '\0');
	at = d->results.used;
	text_add(&d->results, text, n);
	text_add_char(&d->results, '\0');
	call->result = at;
	return d->results.error ? -ENOMEM :
	       key_map_add_number(&d->by_result, call->hash, at);
}

static int diff_call_add(struct output *output, struct pair_call *call,
			   struct text *text, struct scratch *scratch)
{
	struct diff *d = output->own;
	size_t function = diff_function_get(d, call->name);
	struct diff_function *f;
	struct diff_thread *thread;
	struct diff_call kept = {
		.number = pair_call_event(call)->number, .order = call->order,
		.function = function, .depth = call->depth,
	};

	kept.thread = diff_thread_get(d, call);
	if (!function || !kept.thread)
		return -ENOMEM;
	f = &d->functions[function - 1];
	thread = &d->threads[kept.thread - 1];
	if (kept.order < thread->first)
		thread->first = kept.order;
	f->calls++;
	f->unsure += call->doubt != PAIR_SURE;
	if (call->doubt == PAIR_SURE && latency_add(&f->latency, call->latency))
		return -ENOMEM;
	d->value.used = 0;
	if (call->exit.point && call->doubt == PAIR_SURE) {
		if (output_decode(&call->exit, scratch, NULL))
			return -ENOMEM;
		arguments_return_put(output, &call->exit, scratch, &d->value);
		if (d->value.error ||
		    (d->value.used && (diff_result(d, &kept) ||
		     value_counts_add(&f->results, d->value.data,
				      d->value.used))))
			return -ENOMEM;
	}
	d->many |= d->call_count == DIFF_CALLS;
	if (d->many)
		return 0;
	if (!array_grow(&d->calls, d->call_count, &d->call_room,
			sizeof(*d->calls)))
		return -ENOMEM;
	d->calls[d->call_count++] = kept;
	return 0;
}

static void diff_free(struct output *output)
{
	struct diff *d = output->own;
	uint32_t *count;
	size_t at = 0;

	while ((count = key_map_next(&d->comms, &at)))
		free(count);
	key_map_free(&d->comms);
	for (size_t i = 0; i < d->function_count; i++) {
		latency_free(&d->functions[i].latency);
		free(d->functions[i].results.rows);
	}
	free(d->functions);
	free(d->threads);
	free(d->calls);
	free(d->results.data);
	free(d->value.data);
	key_map_free(&d->by_name);
	key_map_free(&d->by_thread);
	key_map_free(&d->by_comm);
	key_map_free(&d->by_result);
}

static int diff_compare_calls(const void *a, const void *b)
{
	const struct diff_call *x = a, *y = b;

	return x->thread != y->thread ? array_order(x->thread, y->thread) :
					array_order(x->order, y->order);
}

static int diff_compare_threads(const void *a, const void *b)
{
	const struct diff_thread *x = *(struct diff_thread *const *)a;
	const struct diff_thread *y = *(struct diff_thread *const *)b;

	return array_order(x->first, y->first);
}

/* Number the threads of each name by their first calls. 0 or -ENOMEM. */
static int threads_number(struct diff *d)
{
	struct diff_thread **sorted = calloc(d->thread_count + 1,
					       sizeof(*sorted));
	int code = sorted ? 0 : -ENOMEM;

	for (size_t i = 0; i < d->thread_count && !code; i++)
		sorted[i] = &d->threads[i];
	if (!code && d->thread_count)
		qsort(sorted, d->thread_count, sizeof(*sorted),
		      diff_compare_threads);
	for (size_t i = 0; i < d->thread_count && !code; i++) {
		uint64_t name = hash_fnv(HASH_FNV_START, sorted[i]->comm,
					 strlen(sorted[i]->comm));
		uint32_t *count = key_map_find(&d->comms, name);

		if (!count) {
			count = calloc(1, sizeof(*count));
			if (!count || key_map_add(&d->comms, name, count)) {
				free(count);
				code = -ENOMEM;
				break;
			}
		}
		sorted[i]->number = ++*count;
		code = key_map_add_number(&d->by_comm,
					  key_map_mix(name, *count),
					  sorted[i] - d->threads + 1);
	}
	free(sorted);
	return code;
}

static int diff_close(struct output *output, struct text *text,
			struct error *err)
{
	struct diff *d = output->own;

	if (d->call_count)
		qsort(d->calls, d->call_count, sizeof(*d->calls),
		      diff_compare_calls);
	for (size_t i = 0; i < d->function_count; i++)
		value_counts_sort(&d->functions[i].results);
	return threads_number(d);
}

const struct output_ops output_diff = {
	.name = "diff",
	.own_bytes = sizeof(struct diff),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.pairing = PAIRING_ENTRIES | PAIRING_EXITS,
	.call = diff_call_add,
	.close = diff_close,
	.free = diff_free,
};

/* ---- of two ---- */

typedef unsigned long long ull;

/* "+8.3 %" */
static void change_put(struct text *text, double old, double new)
{
	char word[32];

	if (old > 0)
		snprintf(word, sizeof(word), "%+.1f %%",
			 100 * (new - old) / old);
	else
		snprintf(word, sizeof(word), "-");
	text_print(text, " %10s", old == new ? "=" : word);
}

static const struct diff_function diff_none;

/* That of the function in the trace, or one without a call. */
static const struct diff_function *diff_same(const struct diff *d,
						 const char *name)
{
	size_t number = diff_find(d, name);

	return number ? &d->functions[number - 1] : &diff_none;
}

#define DIFF_COLUMNS	5

static void latencies_of(const struct latency *l, double *values)
{
	static const unsigned int permille[] = { 500, 900, 990 };

	values[0] = l->sum;
	for (size_t i = 0; i < 3; i++)
		values[1 + i] = l->count ? latency_permille(l, permille[i]) : 0;
	values[4] = l->count ? l->most : 0;
}

static void diff_row(struct text *text, const char *title,
		     const struct diff_function *f)
{
	double values[DIFF_COLUMNS];
	char word[TEXT_DURATION];

	latencies_of(&f->latency, values);
	text_print(text, "  %-6s %10llu %9llu", title, (ull)f->calls,
		   (ull)f->unsure);
	for (size_t i = 0; i < DIFF_COLUMNS; i++) {
		if (!f->latency.count)
			strcpy(word, "-");
		else
			*text_put_duration(word, values[i] < 9e18 ?
				     (int64_t)values[i] : INT64_MAX) = '\0';
		text_print(text, " %10s", word);
	}
	TEXT_ADD(text, "\n");
}

/* How often the value was returned. */
static uint64_t result_count(const struct value_counts *counts,
			     const struct value_count *row)
{
	for (size_t i = 0; i < counts->count; i++) {
		const struct value_count *own = &counts->rows[i];

		if (own->hash == row->hash && own->length == row->length &&
		    !memcmp(own->text, row->text, row->length))
			return own->count;
	}
	return 0;
}

/* Those of `of` in both traces; `but`: those that the other has are left out. */
static void results_put(struct text *text, const struct diff_function *old,
			const struct diff_function *new, bool only_new,
			size_t *shown)
{
	const struct value_counts *of = only_new ? &new->results :
						   &old->results;

	for (size_t i = 0; i < of->count; i++) {
		const struct value_count *row = &of->rows[i];
		uint64_t a = result_count(&old->results, row);
		uint64_t b = result_count(&new->results, row);

		if (a == b || (only_new && a) || ++*shown > RESULTS_SHOWN)
			continue;
		text_print(text, "  %10llu %10llu  returned %.*s\n", (ull)a,
			   (ull)b, (int)row->length, row->text);
	}
}

static void function_diff(struct text *text, const struct output *output,
			  const struct diff_function *old,
			  const struct diff_function *new)
{
	double a[DIFF_COLUMNS], b[DIFF_COLUMNS];
	size_t shown = 0;

	latencies_of(&old->latency, a);
	latencies_of(&new->latency, b);
	text_print(text, "\n%s\n", output_desc(output, old->name ? old->name :
					       new->name));
	text_print(text, "  %-6s %10s %9s %10s %10s %10s %10s %10s\n", "",
		   "calls", "uncertain", "total", "p50", "p90", "p99", "max");
	diff_row(text, "old", old);
	diff_row(text, "new", new);
	text_print(text, "  %-6s", "");
	change_put(text, old->calls, new->calls);
	text_add_blanks(text, 10);
	for (size_t i = 0; i < DIFF_COLUMNS; i++)
		change_put(text, a[i], b[i]);
	TEXT_ADD(text, "\n");
	results_put(text, old, new, false, &shown);
	results_put(text, old, new, true, &shown);
	if (shown > RESULTS_SHOWN)
		text_print(text, "  and %zu more results differ in number\n",
			   shown - RESULTS_SHOWN);
}

/* Calls [first, end) of the thread of that name and number; first = end: there
 * are none. */
struct diff_run {
	const struct diff *of;
	const struct output *output;
	size_t first, end;
};

static struct diff_run run_of(const struct output *output, uint32_t thread)
{
	const struct diff *d = output->own;
	struct diff_run run = { d, output, 0, d->call_count };
	size_t from = 0, to = d->call_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (d->calls[middle].thread < thread)
			from = middle + 1;
		else
			to = middle;
	}
	run.first = run.end = from;
	while (run.end < d->call_count && d->calls[run.end].thread == thread)
		run.end++;
	return run;
}

/* 1 + the index of the thread that is the same; 0: there is none. */
static size_t thread_same(const struct diff *d,
			  const struct diff_thread *thread)
{
	uint64_t hash = hash_fnv(HASH_FNV_START, thread->comm,
				 strlen(thread->comm));
	uint64_t number;
	size_t step = 0;

	while ((number = key_map_each_number(
			&d->by_comm, key_map_mix(hash, thread->number),
			&step)))
		if (!strcmp(d->threads[number - 1].comm, thread->comm))
			return number;
	return 0;
}

static void run_call_put(struct text *text, const struct diff_run *run,
			 size_t at, const char *title)
{
	const struct diff *d = run->of;
	const struct diff_call *call = &d->calls[run->first + at];

	text_print(text, "  %-3s ", title);
	if (run->first + at >= run->end) {
		TEXT_ADD(text, "no more calls\n");
		return;
	}
	text_print(text, "Event [%llu]  %s", (ull)call->number,
		   output_desc(run->output,
			       d->functions[call->function - 1].name));
	if (call->result)
		text_print(text, " = %s", d->results.data + call->result);
	text_print(text, "  at depth %u\n", call->depth);
}

static bool calls_equal(const struct diff_run *old, size_t i,
			const struct diff_run *new, size_t k)
{
	const struct diff_call *a = &old->of->calls[i];
	const struct diff_call *b = &new->of->calls[k];

	return a->depth == b->depth && a->hash == b->hash &&
	       !strcmp(old->of->functions[a->function - 1].name,
		       new->of->functions[b->function - 1].name);
}

/* The first call in which a thread's sequences differ. */
static void sequence_diff(struct text *text, const struct output *old,
			  const struct output *new, uint32_t a, uint32_t b)
{
	const struct diff *d = a ? old->own : new->own;
	const struct diff_thread *thread = &d->threads[(a ? a : b) - 1];
	struct diff_run x = run_of(old, a), y = run_of(new, b);
	size_t n = 0;

	while (x.first + n < x.end && y.first + n < y.end &&
	       calls_equal(&x, x.first + n, &y, y.first + n))
		n++;
	TEXT_ADD(text, "  thread ");
	text_print(text, "%u", thread->number);
	if (*thread->comm) {
		TEXT_ADD(text, " of ");
		if (!text_reserve(text, 4 * sizeof(thread->comm)))
			text->used = text_put_safe(text->data + text->used,
						   thread->comm,
						   strlen(thread->comm)) -
				     text->data;
	}
	if (x.first + n == x.end && y.first + n == y.end) {
		text_print(text, ": the same %zu calls\n", n);
		return;
	}
	text_print(text, ": call %zu differs\n", n + 1);
	run_call_put(text, &x, n, "old");
	run_call_put(text, &y, n, "new");
}

int diff_compare(const struct output *old, const struct output *new,
		   struct text *text)
{
	const struct diff *a = old->own, *b = new->own;

	text_print(text, "Calls: %zu functions, %zu threads in the old trace; %zu, %zu in the new one\n",
		   a->function_count, a->thread_count, b->function_count,
		   b->thread_count);
	for (size_t i = 0; i < a->function_count; i++)
		function_diff(text, old, &a->functions[i],
			      diff_same(b, a->functions[i].name));
	for (size_t i = 0; i < b->function_count; i++)
		if (!diff_find(a, b->functions[i].name))
			function_diff(text, new, &diff_none,
				      &b->functions[i]);
	TEXT_ADD(text, "\nSequences\n");
	if (a->many || b->many) {
		text_print(text, "  not compared: more than %d calls\n",
			   DIFF_CALLS);
		return -text->error;
	}
	for (size_t i = 0; i < a->thread_count; i++)
		sequence_diff(text, old, new, i + 1,
			      thread_same(b, &a->threads[i]));
	for (size_t i = 0; i < b->thread_count; i++)
		if (!thread_same(a, &b->threads[i]))
			sequence_diff(text, old, new, 0, i + 1);
	return -text->error;
}
