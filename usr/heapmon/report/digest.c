// SPDX-License-Identifier: GPL-2.0
#include "digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define SPAN_LEAST	1000000		/* ns */
#define DOUBT_WORDS	8		/* of its key */

void digest_init(struct digest *digest, struct heap_trace *trace)
{
	*digest = (struct digest){
		.trace = trace, .span_begin = HEAP_NO_TIME,
		.peak_time = HEAP_NO_TIME,
		.threads = { .size = sizeof(struct digest_thread), .words = 2 },
		.types = { .size = sizeof(struct digest_type), .words = 2 },
		.wrongs = { .size = sizeof(struct digest_wrong), .words = 3 },
		.doubts = { .size = sizeof(struct digest_doubt),
			    .words = DOUBT_WORDS },
	};
}

static void set_free(struct digest_set *set)
{
	free(set->items);
	key_map_free(&set->numbers);
}

void digest_free(struct digest *digest)
{
	free(digest->sites);
	set_free(&digest->threads);
	set_free(&digest->types);
	set_free(&digest->wrongs);
	set_free(&digest->doubts);
}

/* What a block counts for. */
static struct digest_sum block_sum(const struct digest *digest,
				   const struct heap_block *block)
{
	double weight = heap_trace_weight(digest->trace, block->size);

	return (struct digest_sum){ weight, weight * block->size };
}

static void digest_sum_add(struct digest_sum *sum, double count, double bytes)
{
	digest_sum_merge(sum, &(struct digest_sum){ count, bytes });
}

/* At a time, in ns; 0: not known. */
static uint64_t age_of(const struct heap_block *block, int64_t time)
{
	if (time == HEAP_NO_TIME || block->time == HEAP_NO_TIME ||
	    time < block->time)
		return 0;
	return (uint64_t)time - (uint64_t)block->time;
}

/* ---- by size ---- */

static unsigned int size_class(uint64_t size)
{
	unsigned int class = 0;

	while (class < DIGEST_SIZES - 1 && size > digest_size_most(class))
		class++;
	return class;
}

uint64_t digest_size_most(unsigned int class)
{
	return class < DIGEST_SIZES - 1 ?
		(uint64_t)DIGEST_SIZE_LEAST << class : UINT64_MAX;
}

/* ---- over time ---- */

static void spans_fold(struct digest *digest)
{
	struct digest_span *spans = digest->spans;

	for (unsigned int i = 0; i < DIGEST_SPANS / 2; i++) {
		struct digest_span *a = &spans[2 * i], *b = a + 1, sum = *a;

		digest_sum_merge(&sum.allocated, &b->allocated);
		digest_sum_merge(&sum.freed, &b->freed);
		if (b->most > sum.most)
			sum.most = b->most;
		if (b->used)
			sum.last = b->last;
		sum.used |= b->used;
		spans[i] = sum;
	}
	memset(spans + DIGEST_SPANS / 2, 0, sizeof(digest->spans) / 2);
	digest->span_length *= 2;
}

/* The span of a time; NULL: it has none. */
static struct digest_span *span_get(struct digest *digest, int64_t time)
{
	uint64_t since;

	if (time == HEAP_NO_TIME)
		return NULL;
	if (digest->span_begin == HEAP_NO_TIME) {
		digest->span_begin = time;
		digest->span_length = SPAN_LEAST;
	}
	if (time < digest->span_begin)
		return NULL;
	since = (uint64_t)time - (uint64_t)digest->span_begin;
	while (since / digest->span_length >= DIGEST_SPANS)
		spans_fold(digest);
	return &digest->spans[since / digest->span_length];
}

/* After a change of what is present. */
static void span_note(const struct digest *digest, struct digest_span *span)
{
	span->used = true;
	span->last = digest->present.bytes;
	if (span->last > span->most)
		span->most = span->last;
}

/* ---- per stack ---- */

static struct digest_site *site_get(struct digest *digest, uint32_t stack)
{
	if (array_extend(&digest->sites, &digest->site_count,
			 &digest->site_room, sizeof(*digest->sites), stack))
		return &digest->sites[stack];
	digest->failed = true;
	return NULL;
}

/* What was present at the last peak is noted before it changes. */
static void site_note_peak(const struct digest *digest,
			   struct digest_site *site)
{
	if (site->peak_seen == digest->peak_number)
		return;
	site->peak = site->present;
	site->peak_seen = digest->peak_number;
}

static void present_change(struct digest *digest, struct digest_site *site,
			   const struct digest_sum *change, int sign)
{
	site_note_peak(digest, site);
	digest_sum_add(&site->present, sign * change->count,
		       sign * change->bytes);
	digest_sum_add(&digest->present, sign * change->count,
		       sign * change->bytes);
}

/* ---- sets ---- */

static void *set_item(const struct digest_set *set, size_t n)
{
	return (char *)set->items + n * set->size;
}

static uint64_t key_hash(const struct digest_set *set, const uint32_t *key)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < set->words; i++)
		hash = key_map_mix(hash, key[i]);
	return hash;
}

/* The item that begins with the key; NULL: there is none. */
static void *set_find(const struct digest_set *set, const uint32_t *key)
{
	uint64_t hash = key_hash(set, key), number;
	size_t step = 0;

	while ((number = key_map_each_number(&set->numbers, hash, &step)))
		if (!memcmp(set_item(set, number - 1), key,
			    set->words * sizeof(*key)))
			return set_item(set, number - 1);
	return NULL;
}

/* The same, made when there is none; NULL: no memory. */
static void *set_get(struct digest *digest, struct digest_set *set,
		     const uint32_t *key)
{
	void *item = set_find(set, key);

	if (item)
		return item;
	if (key_map_reserve(&set->numbers) ||
	    !array_extend(&set->items, &set->count, &set->room, set->size,
			  set->count)) {
		digest->failed = true;
		return NULL;
	}
	key_map_add_number(&set->numbers, key_hash(set, key), set->count);
	return memcpy(set_item(set, set->count - 1), key,
		      set->words * sizeof(*key));
}

/* Drop the first `n` items, and number the others again, which may have another
 * order. */
static void set_drop(struct digest *digest, struct digest_set *set, size_t n)
{
	set->count -= n;
	memmove(set->items, set_item(set, n), set->count * set->size);
	key_map_free(&set->numbers);
	for (size_t i = 0; i < set->count; i++)
		if (key_map_add_number(&set->numbers,
				       key_hash(set, set_item(set, i)), i + 1))
			digest->failed = true;
}

/* ---- types ---- */

static void digest_type_take(struct digest *digest,
			     const struct heap_step *step)
{
	const struct heap_event *event = step->event;
	bool old = event->kind == HEAP_OLD;
	const struct heap_block *block = old ? step->came : step->gone;
	const uint32_t key[] = {
		event->type_kind,
		event->type_kind == HEAP_TYPE_NAMED ? event->type : 0,
	};
	struct digest_type *type;
	struct digest_sum sum;

	if (!block || event->type_kind == HEAP_TYPE_NONE ||
	    (!old && event->kind != HEAP_FREE))
		return;
	type = set_get(digest, &digest->types, key);
	if (!type)
		return;
	if (old) {
		digest_sum_add(&type->old, 1, block->size);
		return;
	}
	sum = block->old ? (struct digest_sum){ 1, block->size } :
			   block_sum(digest, block);
	digest_sum_merge(&type->freed, &sum);
	type->lifetime += sum.count * age_of(block, event->time);
}

/* ---- what is wrong ---- */

static const struct {
	unsigned int wrong;
	const char *text;
} wrong_texts[] = {
	{ HEAP_WRONG_DOUBLE, "double free" },
	{ HEAP_WRONG_INSIDE, "free inside of a block" },
	{ HEAP_WRONG_KIND, "freed by another kind than allocated" },
	{ HEAP_WRONG_TWICE, "address given out twice" },
	{ HEAP_WRONG_OVERLAP, "block across another one" },
};

#define WRONG_TEXTS	(sizeof(wrong_texts) / sizeof(wrong_texts[0]))

const char *digest_wrong_text(unsigned int wrong)
{
	for (size_t i = 0; i < WRONG_TEXTS; i++)
		if (wrong_texts[i].wrong == wrong)
			return wrong_texts[i].text;
	return "";
}

uint64_t digest_wrong_address(const struct digest_wrong *wrong)
{
	const struct heap_event *event = &wrong->event;

	return event->kind == HEAP_REALLOC && event->old &&
	       !(wrong->wrong & (HEAP_WRONG_TWICE | HEAP_WRONG_OVERLAP)) ?
	       event->old : event->address;
}

static void wrong_add(struct digest *digest, const struct digest_wrong *added)
{
	const uint32_t *key = &added->wrong;
	struct digest_wrong *it;
	uint64_t count;

	if (digest->wrongs.count == DIGEST_WRONG_MOST &&
	    !set_find(&digest->wrongs, key)) {
		digest->wrong_more += added->count;
		return;
	}
	it = set_get(digest, &digest->wrongs, key);
	if (!it)
		return;
	count = it->count + added->count;
	if (!it->count || added->number < it->number)
		*it = *added;
	it->count = count;
}

/* Nothing has excused the first ones: they are wrong. */
static void doubts_settle(struct digest *digest, size_t n)
{
	struct digest_doubt *doubts = digest->doubts.items;

	for (size_t i = 0; i < n; i++)
		if (doubts[i].it.count)
			wrong_add(digest, &doubts[i].it);
	if (n)
		set_drop(digest, &digest->doubts, n);
}

static void doubt_add(struct digest *digest, const struct digest_wrong *added)
{
	const struct heap_block *other = &added->other;
	const uint32_t key[DOUBT_WORDS] = {
		added->wrong, added->stack, added->other_stack, other->pid,
		other->address, other->address >> 32,
		other->number, other->number >> 32,
	};
	struct digest_doubt *doubt;

	if (digest->doubts.count == DIGEST_DOUBTS_MOST)
		doubts_settle(digest, DIGEST_DOUBTS_MOST / 2);
	doubt = set_get(digest, &digest->doubts, key);
	if (!doubt)
		return;
	doubt->last = added->number;
	if (!doubt->it.count++)
		doubt->it = *added;
}

static bool doubt_is_of(const struct digest_doubt *doubt,
			const struct heap_step *step)
{
	const struct heap_event *event = step->event;
	uint64_t address = event->kind == HEAP_REALLOC ? event->old :
							 event->address;

	return doubt->it.count && doubt->last > step->since &&
	       doubt->pid == event->pid && doubt->it.other.address == address;
}

/* No errors: the block that a step took is known, or that which was lost there
 * first. */
static void doubts_excuse(struct digest *digest, const struct heap_step *step)
{
	struct digest_doubt *doubts = digest->doubts.items;
	uint64_t made = step->gone ? step->gone->number : 0;

	for (size_t i = 0; i < digest->doubts.count && !made; i++)
		if (doubts[i].wrong == HEAP_WRONG_TWICE &&
		    doubt_is_of(&doubts[i], step))
			made = doubts[i].it.other.number;
	for (size_t i = 0; i < digest->doubts.count; i++)
		if (doubts[i].it.other.number == made &&
		    doubt_is_of(&doubts[i], step))
			doubts[i].it.count = 0;
}

static const struct heap_block *wrong_block(const struct heap_step *step,
					    unsigned int wrong)
{
	if (wrong == HEAP_WRONG_TWICE && step->lost)
		return step->lost;
	return wrong & (HEAP_WRONG_KIND | HEAP_WRONG_TWICE) ? step->gone :
							      step->other;
}

static void wrong_take_one(struct digest *digest, const struct heap_step *step,
			   unsigned int wrong)
{
	const struct heap_block *other = wrong_block(step, wrong);
	struct digest_wrong added = {
		.wrong = wrong, .stack = step->event->stack,
		.other_stack = other ? other->stack : 0, .count = 1,
		.number = step->number, .event = *step->event,
	};

	if (other)
		added.other = *other;
	if (wrong & (HEAP_WRONG_TWICE | HEAP_WRONG_OVERLAP))
		doubt_add(digest, &added);
	else
		wrong_add(digest, &added);
}

static int wrong_compare(const void *a, const void *b)
{
	const struct digest_wrong *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->wrong < y->wrong ? -1 : x->wrong > y->wrong;
}

/* ---- blocks ---- */

/* A block came, or one that came before went. */
static void block_move(struct digest *digest, const struct heap_event *event,
		       const struct heap_block *block, bool came,
		       bool temporary)
{
	const uint32_t key[] = { event->pid, event->tid };
	struct digest_span *span = span_get(digest, event->time);
	struct digest_sum sum = block_sum(digest, block);
	struct digest_thread *thread;
	struct digest_site *site;

	if (block->old)
		return;
	thread = set_get(digest, &digest->threads, key);
	site = site_get(digest, block->stack);
	if (!thread || !site)
		return;
	digest_sum_merge(came ? &digest->allocated : &digest->freed, &sum);
	digest_sum_merge(came ? &thread->allocated : &thread->freed, &sum);
	digest_sum_merge(came ? &site->allocated : &site->freed, &sum);
	present_change(digest, site, &sum, came ? 1 : -1);
	if (came)
		digest_sum_merge(&digest->sizes[size_class(block->size)]
					  .allocated, &sum);
	else if (block->tid != event->tid)
		thread->foreign += sum.count;
	if (came && (digest->present.bytes > digest->peak.bytes ||
		     !digest->peak_number)) {
		digest->peak = digest->present;
		digest->peak_time = event->time;
		digest->peak_number++;
	}
	if (span) {
		digest_sum_merge(came ? &span->allocated : &span->freed, &sum);
		span_note(digest, span);
	}
	if (temporary) {
		digest->temporary += sum.count;
		thread->temporary += sum.count;
		site->temporary += sum.count;
	}
}

static void block_kept(struct digest *digest, const struct heap_block *block,
		       int64_t end)
{
	struct digest_site *site = site_get(digest, block->stack);
	struct digest_sum sum = block_sum(digest, block);
	uint64_t age = age_of(block, end);

	if (block->old || !site)
		return;
	digest_sum_merge(&digest->sizes[size_class(block->size)].kept, &sum);
	digest_sum_merge(&digest->kept, &sum);
	digest_sum_merge(&site->kept, &sum);
	if (site->kept.count == sum.count || age < site->youngest)
		site->youngest = age;
	if (age > site->oldest)
		site->oldest = age;
}

/* ---- steps ---- */

/* Its process has ended: it is not there any more. */
static void block_left(struct digest *digest, const struct heap_block *block,
		       int64_t time)
{
	struct digest_site *site = site_get(digest, block->stack);
	struct digest_span *span = span_get(digest, time);
	struct digest_sum sum = block_sum(digest, block);

	if (block->old || !site)
		return;
	present_change(digest, site, &sum, -1);
	if (span)
		span_note(digest, span);
	digest_sum_merge(&digest->left, &sum);
	digest_sum_merge(&site->left, &sum);
	block_kept(digest, block, time);
}

int digest_step(void *context, const struct heap_model *model,
		const struct heap_step *step, struct error *err)
{
	struct digest *digest = context;
	const struct heap_event *event = step->event;
	struct heap_each each = { 0 };
	const struct heap_block *left;

	span_get(digest, event->time);	/* spans reach to every event */
	if (step->excuses)
		doubts_excuse(digest, step);
	for (size_t i = 0; i < WRONG_TEXTS; i++)
		if (wrong_texts[i].wrong & step->wrong)
			wrong_take_one(digest, step, wrong_texts[i].wrong);
	if (step->wrong & HEAP_WRONG_UNKNOWN)
		digest->unknown++;
	digest_type_take(digest, step);
	if (step->gone)
		block_move(digest, event, step->gone, false, step->temporary);
	if (step->lost)
		block_move(digest, event, step->lost, false, false);
	if (step->came)
		block_move(digest, event, step->came, true, false);
	if (event->kind == HEAP_OLD && step->came && step->came->old)
		digest_sum_add(&digest->old, 1, step->came->size);
	if (event->kind == HEAP_GROW)
		digest_sum_add(&digest->reserved, 1, event->size);
	if (event->kind == HEAP_BEGIN || event->kind == HEAP_FORK)
		digest->processes++;
	while ((left = heap_step_next_left(step, &each)))
		block_left(digest, left, event->time);
	return digest->failed ? error_no_memory(err) : 0;
}

int digest_end(struct digest *digest, const struct heap_model *model,
	       struct error *err)
{
	struct heap_each each = { 0 };
	const struct heap_block *block;
	double last;
	struct digest_set *wrongs;

	while ((block = heap_model_next(model, &each)))
		if (!block->left)
			block_kept(digest, block, digest->trace->end);
	for (size_t i = 0; i < digest->site_count; i++)
		site_note_peak(digest, &digest->sites[i]);

	/* What was present at the end of one is there when the next begins. */
	last = 0;
	for (unsigned int i = 0; i < DIGEST_SPANS; i++) {
		struct digest_span *span = &digest->spans[i];

		if (last > span->most)
			span->most = last;
		if (span->used)
			last = span->last;
	}

	wrongs = &digest->wrongs;
	doubts_settle(digest, digest->doubts.count);
	if (wrongs->count) {
		qsort(wrongs->items, wrongs->count, sizeof(struct digest_wrong),
		      wrong_compare);
		set_drop(digest, wrongs, 0);
	}
	return digest->failed ? error_no_memory(err) : 0;
}

/* ---- files of sums ---- */

static void digest_take_site(struct digest *digest,
			     const struct heap_profile *profile,
			     const struct heap_site *from)
{
	struct digest_site *site = site_get(digest, from->stack);
	struct heap_weighted sums;

	if (!site)
		return;
	heap_site_weighted(profile, from, &sums);
	site->allocated = (struct digest_sum){ sums.allocs, sums.alloc_bytes };
	site->freed = (struct digest_sum){ sums.frees, sums.free_bytes };
	site->kept = (struct digest_sum){
		fmax(sums.allocs - sums.frees, 0),
		fmax(sums.alloc_bytes - sums.free_bytes, 0),
	};
	digest_sum_merge(&digest->allocated, &site->allocated);
	digest_sum_merge(&digest->freed, &site->freed);
	digest_sum_merge(&digest->kept, &site->kept);
}

static void take_bin(struct digest *digest, uint64_t size, uint64_t allocs,
		     uint64_t alloc_bytes, uint64_t frees, uint64_t free_bytes)
{
	struct digest_size *to = &digest->sizes[size_class(size)];

	digest_sum_add(&to->allocated, allocs, alloc_bytes);
	if (allocs > frees)
		digest_sum_add(&to->kept, allocs - frees,
			       alloc_bytes > free_bytes
				       ? alloc_bytes - free_bytes
				       : 0);
}

int digest_take_profile(struct digest *digest,
			const struct heap_profile *profile, struct error *err)
{
	uint64_t bins = profile->bounds.bins;
	uint64_t bin;

	digest->sums = true;
	for (size_t i = 0; i < profile->site_count; i++)
		digest_take_site(digest, profile, &profile->sites[i]);
	for (uint64_t i = 0; i + 1 < bins; i++)
		take_bin(digest, i + 1, profile->alloc_bins[i],
			 profile->alloc_bins[i] * (i + 1),
			 profile->free_bins[i],
			 profile->free_bins[i] * (i + 1));
	if (bins && profile->alloc_bins[bins - 1]) {
		/* The last bin has all that are larger, too: as if of one size.
		 */
		bin = bins - 1;
		take_bin(digest,
			 profile->large_alloc_bytes / profile->alloc_bins[bin],
			 profile->alloc_bins[bin], profile->large_alloc_bytes,
			 profile->free_bins[bin], profile->large_free_bytes);
	}
	return digest->failed ? error_no_memory(err) : 0;
}
