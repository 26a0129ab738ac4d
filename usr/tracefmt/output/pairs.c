// SPDX-License-Identifier: GPL-2.0
/*
 * --pair: latencies and return values of functions. Memory grows with the
 * functions only; of calls without a figure the first ones are kept, all are
 * counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "lib/array.h"
#include "lib/hash.h"
#include "lib/key_map.h"
#include "tracefmt/pair/figures.h"
#include "cell.h"

#define KEPT		20	/* unmatched ones of each kind */
#define VALUES_SHOWN	8	/* return values of a function */
#define BAR		40	/* characters */

/* The sessions and machines of a function together. */
struct pairs_function {
	char name[PAIR_NAME_MAX];
	uint16_t major, minor;	/* of the PRE */
	bool whole;
	const char *label;		/* of the return value; NULL: none */
	struct latency latency;
	uint64_t selves;		/* calls of which it is known; their: */
	double self;
	struct value_counts returns;
	uint64_t doubts[PAIR_DOUBTS];
};

struct pairs_kept {
	const struct pairs_function *function;
	uint64_t number;
	int64_t time;
	uint32_t pid, tid;
};

struct kept_list {
	struct pairs_kept items[KEPT];
	uint64_t count;		/* all */
};

struct pairs_report {
	struct key_map by_name;		/* function, by hash of name and minor */
	struct pairs_function **functions;
	size_t function_count, function_room;
	struct pairs_function **by_index;	/* of pair_seen; NULL: new */
	size_t index_room;
	struct kept_list lists[PAIR_DOUBTS];
	struct text value;		/* of one return value */
};

/* ---- functions ---- */

/* The function of that name and minor, made when it is new; NULL: no memory. */
static struct pairs_function *pairs_function_get(struct pairs_report *p,
						 const struct match_point *point,
						 const char *name)
{
	uint16_t major = pair_major(point);
	bool whole = point->half;
	uint16_t minor = whole ? pair_minor(point) :
			 pair_minor(point) & (uint16_t)~PAIR_POST;
	uint64_t hash = hash_fnv(HASH_FNV_START, name, strlen(name)) + minor;
	struct pairs_function *f;
	size_t step = 0;

	while ((f = key_map_each(&p->by_name, hash, &step)))
		if (f->major == major && f->minor == minor &&
		    f->whole == whole && !strcmp(f->name, name))
			return f;
	if (!array_grow(&p->functions, p->function_count, &p->function_room,
			sizeof(*p->functions)) || key_map_reserve(&p->by_name))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->major = major;
	f->minor = minor;
	f->whole = whole;
	p->functions[p->function_count++] = f;
	key_map_add(&p->by_name, hash, f);
	return f;
}

/* NULL: no memory. */
static struct pairs_function *pairs_function_of(struct pairs_report *p,
					     uint32_t index,
					     const struct match_point *point,
					     const char *name)
{
	if (index >= p->index_room) {
		size_t room = 2 * (size_t)index + 64;
		struct pairs_function **more = reallocarray(p->by_index, room,
							    sizeof(*more));

		if (!more)
			return NULL;
		memset(more + p->index_room, 0,
		       (room - p->index_room) * sizeof(*more));
		p->by_index = more;
		p->index_room = room;
	}
	if (!p->by_index[index])
		p->by_index[index] = pairs_function_get(p, point, name);
	return p->by_index[index];
}

/* ---- events ---- */

static int pairs_call(struct output *output, struct pair_call *call,
		      struct text *text, struct scratch *scratch)
{
	const struct event *event = pair_call_event(call);
	struct pairs_report *p = output->own;
	struct pairs_function *f = pairs_function_of(p, call->index,
						     event->point, call->name);
	struct kept_list *list = &p->lists[call->doubt];
	const struct field *field;

	if (!f)
		return -ENOMEM;
	f->doubts[call->doubt]++;
	if (call->doubt != PAIR_SURE) {
		if (list->count < KEPT)
			list->items[list->count] = (struct pairs_kept){
				f, event->number, event->time, call->pid,
				call->tid };
		list->count++;
		return 0;
	}
	if (latency_add(&f->latency, call->latency))
		return -ENOMEM;
	f->selves += !call->self_doubt;
	f->self += call->self_doubt ? 0 : call->self;
	field = arguments_return_field(call->exit.point);
	if (output_decode(&call->exit, scratch, NULL))
		return -ENOMEM;
	p->value.used = 0;
	arguments_return_put(output, &call->exit, scratch, &p->value);
	if (p->value.error)
		return -p->value.error;
	if (!p->value.used)
		return 0;
	if (field)
		f->label = field->label;
	return value_counts_add(&f->returns, p->value.data, p->value.used);
}

/* ---- the report ---- */

/* The most time in all first. */
static int pairs_compare(const void *a, const void *b)
{
	const struct pairs_function *x = *(struct pairs_function *const *)a;
	const struct pairs_function *y = *(struct pairs_function *const *)b;

	if (x->latency.sum != y->latency.sum)
		return x->latency.sum < y->latency.sum ? 1 : -1;
	if (x->major != y->major)
		return x->major - y->major;
	return x->minor != y->minor ? x->minor - y->minor :
				      strcmp(x->name, y->name);
}

/* Right in a column. */
static void time_column(struct text *text, int64_t ns)
{
	char word[TEXT_DURATION];

	*text_put_duration(word, ns) = '\0';
	text_print(text, " %10s", word);
}

static int64_t pairs_ns(double ns)
{
	return ns < (double)INT64_MAX ? (int64_t)(ns + 0.5) : INT64_MAX;
}

static void table_row(struct text *text, const struct output *output,
		      const struct pairs_function *f)
{
	static const unsigned int permille[] = { 500, 900, 990, 999 };
	const struct latency *l = &f->latency;
	char word[TEXT_DURATION];

	text_print(text, "%10llu", (unsigned long long)l->count);
	if (l->count) {
		time_column(text, pairs_ns(l->sum));
		/* of some it isn't known: it is at least that */
		*text_put_duration(word, pairs_ns(f->self)) = '\0';
		text_print(text, "%*s%s%s", (int)(11 - strlen(word)) -
			   (f->selves < l->count), "",
			   f->selves < l->count ? ">" : "", word);
		time_column(text, l->least);
		time_column(text, pairs_ns(l->sum / l->count));
		for (size_t i = 0; i < 4; i++)
			time_column(text, latency_permille(l, permille[i]));
		time_column(text, l->most);
	} else {
		for (size_t i = 0; i < 9; i++)
			text_print(text, " %10s", "-");
	}
	text_print(text, "  %s\n", output_desc(output, f->name));
}

static void histogram_put(struct text *text, const struct latency *l)
{
	static const char bar[BAR + 1] =
		"########################################";
	unsigned int first = 63, last = 0;
	uint64_t most = 0, n;

	for (unsigned int i = 0; i < 63; i++) {
		n = latency_octave(l, i);
		first = n && first == 63 ? i : first;
		last = n ? i : last;
		most = n > most ? n : most;
	}
	text_print(text, "  %12s %10s\n", "latency from", "calls");
	for (unsigned int i = first; i <= last; i++) {
		char word[TEXT_DURATION];

		n = latency_octave(l, i);
		*text_put_duration(word, i ? 1LL << i : 0) = '\0';
		text_print(text, "  %12s %10llu%s%.*s\n", word,
			 (unsigned long long)n, n ? "  " : "",
			 n ? (int)((double)n * (BAR - 1) / most) + 1 : 0, bar);
	}
}

static void returns_put(struct text *text, struct pairs_function *f)
{
	const struct value_counts *t = &f->returns;
	uint64_t others = t->others;

	if (!t->count)
		return;
	value_counts_sort(&f->returns);
	text_print(text, "  %10s  %.*s\n", "calls", PAIR_NAME_MAX,
		 f->label && *f->label ? f->label : "return value");
	for (size_t i = 0; i < t->count; i++) {
		if (i >= VALUES_SHOWN) {
			others += t->rows[i].count;
			continue;
		}
		text_print(text, "  %10llu  %.*s\n",
			 (unsigned long long)t->rows[i].count,
			 (int)t->rows[i].length, t->rows[i].text);
	}
	if (!others)
		return;
	text_print(text, "  %10llu  others%s\n", (unsigned long long)others,
		 t->others ? ", not all values are counted alone" : "");
}

static void kept_put(struct text *text, const struct output *output,
		     const struct kept_list *list, const char *title)
{
	struct clock clock = {
		.utc = output->settings->utc,
		.relative = output->settings->relative,
		.start = output->start,
	};

	if (!list->count)
		return;
	text_print(text, "\n%s: %llu\n", title, (unsigned long long)list->count);
	for (size_t i = 0; i < list->count && i < KEPT; i++) {
		const struct pairs_kept *k = &list->items[i];
		char time[CLOCK_MAX];

		*clock_put(&clock, k->time, time) = '\0';
		text_print(text, "  Event [%llu]  Time [%s]  PID [%u]  TID [%u]  %s\n",
			 (unsigned long long)k->number, time, k->pid, k->tid,
			 output_desc(output, k->function->name));
	}
	if (list->count > KEPT)
		text_print(text, "  and %llu more\n",
			 (unsigned long long)(list->count - KEPT));
}

/* Places where the slices have holes, and hits that found no room. */
static void losses_put(struct text *text, const struct output *output)
{
	uint64_t places = 0, dropped = 0;
	uint64_t muted = pairing_muted(output->pairing);

	for (size_t i = 0; i < output->stream->count; i++) {
		const struct slices *slices =
			&output->stream->traces[i]->file.slices;

		for (size_t n = 0; n < slices->count; n++) {
			const struct trace_slice *s = slices->items[n];

			places += s->gaps + !!s->lost;
			if (s->dropped > s->dropped_base)
				dropped += s->dropped - s->dropped_base;
		}
	}
	if (!places && !dropped && !muted)
		return;
	text_print(text, "\nRecords are missing (%llu holes, %llu hits dropped, %llu times muted): near them\n"
		 "calls are missing, or have no latency\n",
		 (unsigned long long)places, (unsigned long long)dropped,
		 (unsigned long long)muted);
}

/* The calls without a figure, and why. */
static const char *const pairs_titles[PAIR_DOUBTS] = {
	[PAIR_RECURSION] = "Calls whose POST may be that of a call around them",
	[PAIR_LOST] = "Calls near missing records",
	[PAIR_FILTERED] = "Calls of a function whose hits are not all recorded",
	[PAIR_NO_POST] = "Calls without a POST",
	[PAIR_OPEN] = "Calls without a POST up to the end",
	[PAIR_GIVEN_UP] = "Calls that were too many to be kept",
	[PAIR_NO_PRE] = "POSTs without a PRE",
};

static int pairs_close(struct output *output, struct text *text,
		       struct error *err)
{
	static const char *const columns[] = {
		"total", "self", "min", "avg", "p50", "p90", "p99", "p99.9", "max",
	};
	struct pairs_report *p = output->own;
	struct pairs_function *f;

	if (!p->function_count) {
		TEXT_ADD(text, "no function has records of whole calls (CALL), or of PRE or POST where both are traced\n"
			 "a POST has the minor of its PRE with 0x8000 added\n");
		return -text->error;
	}
	qsort(p->functions, p->function_count, sizeof(*p->functions),
	      pairs_compare);
	text_print(text, "%10s", "calls");
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		text_print(text, " %10s", columns[i]);
	text_print(text, "  function\n");
	for (size_t i = 0; i < p->function_count; i++)
		table_row(text, output, p->functions[i]);
	for (size_t i = 0; i < p->function_count; i++) {
		f = p->functions[i];
		text_print(text, "\n%s  Major [%u/0x%04X]  Minor [%u/0x%04X",
			   output_desc(output, f->name), f->major, f->major,
			   f->minor, f->minor);
		if (!f->whole)
			text_print(text, ", %u/0x%04X", f->minor | PAIR_POST,
				   f->minor | PAIR_POST);
		TEXT_ADD(text, "]\n");
		for (size_t k = 0; k < PAIR_DOUBTS; k++)
			if (pairs_titles[k] && f->doubts[k])
				text_print(text, "  %s: %llu\n",
					   pairs_titles[k],
					   (unsigned long long)f->doubts[k]);
		if (f->latency.count)
			histogram_put(text, &f->latency);
		returns_put(text, f);
		text_pass(text);
	}
	for (size_t i = 0; i < PAIR_DOUBTS; i++)
		if (pairs_titles[i])
			kept_put(text, output, &p->lists[i], pairs_titles[i]);
	losses_put(text, output);
	return -text->error;
}

/* ---- */

static int pairs_open(struct output *output, struct text *text,
		      struct error *err)
{
	struct pairs_report *p = output->own;

	return text_open(&p->value, -1);
}

static void pairs_free(struct output *output)
{
	struct pairs_report *p = output->own;

	for (size_t i = 0; i < p->function_count; i++) {
		latency_free(&p->functions[i]->latency);
		free(p->functions[i]->returns.rows);
		free(p->functions[i]);
	}
	free(p->functions);
	key_map_free(&p->by_name);
	free(p->by_index);
	free(p->value.data);
}

const struct output_ops output_pairs = {
	.name = "pairs",
	.own_bytes = sizeof(struct pairs_report),
	.in_order = true,
	.whole = true,
	.unfolds = true,
	.calls = true,
	.pairing = PAIRING_EXITS,
	.open = pairs_open,
	.call = pairs_call,
	.close = pairs_close,
	.free = pairs_free,
};
