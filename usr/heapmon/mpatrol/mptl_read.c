// SPDX-License-Identifier: GPL-2.0
#include "mptl_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "heapmon/core/warn.h"
#include "bytes.h"

/* Sums and call sites are numbered from 1; whatever has another number than
 * there are of its kind is left out. */
struct mptl_sums {
	bool there;
	struct heap_sums sums;
	uint32_t site;				/* that has them; 0: none */
};

struct mptl_site {
	bool there;
	bool visited;		/* on the way to the outermost */
	uint64_t parent, address, symbol, name, sums;
	uint32_t stack;		/* 0: not made yet */
};

/* Frames of a stack: a file of n call sites in a row would have n^2 / 2. */
#define DEPTH_MOST	1024

enum mptl_complaint {
	WRONG_INDEX, WRONG_PARENT, CIRCLE, TOO_DEEP, WRONG_SYMBOL, WRONG_NAME,
	WRONG_SUMS, MPTL_COMPLAINTS,
};

static const char *const complaint_texts[MPTL_COMPLAINTS] = {
	"an index is out of range or there twice",
	"the caller of a call site isn't there",
	"a call site is its own caller",
	"a call site has so many callers that they are left out",
	"the symbol of a call site isn't there",
	"a name isn't in the string table",
	"the sums of a call site aren't there, or another one's",
};

struct mptl_reader {
	struct heap_input *input;
	struct heap_profile *profile;
	struct mpatrol_cursor cursor;
	struct mptl_sums *sums;
	uint64_t sums_count;
	struct mptl_site *sites;
	uint64_t site_count;
	uint32_t *path;		/* sites whose stacks are being made */
	uint64_t *symbols;	/* addresses */
	uint64_t symbol_count;
	const char *strings;
	uint64_t strings_size;
	uint64_t complaints[MPTL_COMPLAINTS];
};

static int mptl_damaged(struct mptl_reader *reader, const char *what,
			struct error *err)
{
	return mpatrol_damaged(&reader->cursor, reader->input, what, err);
}

/* ---- the parts of the file ---- */

/* How many items of so many bytes follow; false: the file is too short. */
static bool mptl_count_read(struct mptl_reader *reader, size_t item,
			    uint64_t *count)
{
	*count = mpatrol_word(&reader->cursor);
	if (!reader->cursor.wrong && *count < UINT32_MAX &&
	    *count <= mpatrol_left(&reader->cursor) / item)
		return true;
	*count = 0;
	return false;
}

static void words_read(struct mptl_reader *reader, uint64_t *words,
		       uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		words[i] = mpatrol_word(&reader->cursor);
}

static int bins_read(struct mptl_reader *reader, struct error *err)
{
	struct heap_profile *profile = reader->profile;
	struct heap_bounds bounds;

	bounds.small = mpatrol_word(&reader->cursor);
	bounds.medium = mpatrol_word(&reader->cursor);
	bounds.large = mpatrol_word(&reader->cursor);
	if (!mptl_count_read(reader, 2 * reader->cursor.form.word,
			     &bounds.bins))
		return mptl_damaged(reader, "more bins than it has room for",
				    err);
	heap_profile_free(profile);
	if (heap_profile_init(profile, reader->input->trace, &bounds))
		return error_no_memory(err);
	if (!bounds.bins)
		return 0;
	words_read(reader, profile->alloc_bins, bounds.bins);
	profile->large_alloc_bytes = mpatrol_word(&reader->cursor);
	words_read(reader, profile->free_bins, bounds.bins);
	profile->large_free_bytes = mpatrol_word(&reader->cursor);
	return 0;
}

static int sums_read(struct mptl_reader *reader, struct error *err)
{
	const struct mpatrol_form *form = &reader->cursor.form;
	struct mptl_sums ignored;

	if (!mptl_count_read(reader, form->number + 16 * form->word,
			     &reader->sums_count))
		return mptl_damaged(reader, "more sums than it has room for",
				    err);
	reader->sums = calloc(reader->sums_count + 1, sizeof(*reader->sums));
	if (!reader->sums)
		return error_no_memory(err);
	for (uint64_t i = 0; i < reader->sums_count; i++) {
		uint64_t index = mpatrol_number(&reader->cursor);
		struct mptl_sums *sums = &ignored;
		uint64_t words[4 * HEAP_CLASSES];

		if (index && index <= reader->sums_count &&
		    !reader->sums[index].there)
			sums = &reader->sums[index];
		else
			reader->complaints[WRONG_INDEX]++;
		sums->there = true;
		words_read(reader, words, 4 * HEAP_CLASSES);
		memcpy(&sums->sums, words, sizeof(words));
	}
	return 0;
}

static int mptl_sites_read(struct mptl_reader *reader, struct error *err)
{
	struct mpatrol_cursor *cursor = &reader->cursor;

	if (!mptl_count_read(reader,
			     5 * cursor->form.number + cursor->form.word,
			     &reader->site_count))
		return mptl_damaged(
			reader, "more call sites than it has room for", err);
	reader->sites = calloc(reader->site_count + 1, sizeof(*reader->sites));
	reader->path = calloc(reader->site_count + 1, sizeof(*reader->path));
	if (!reader->sites || !reader->path)
		return error_no_memory(err);
	for (uint64_t i = 0; i < reader->site_count; i++) {
		uint64_t index = mpatrol_number(cursor);
		struct mptl_site site = { .there = true };

		site.parent = mpatrol_number(cursor);
		site.address = mpatrol_word(cursor);
		site.symbol = mpatrol_number(cursor);
		site.name = mpatrol_number(cursor);
		site.sums = mpatrol_number(cursor);
		if (index && index <= reader->site_count &&
		    !reader->sites[index].there)
			reader->sites[index] = site;
		else
			reader->complaints[WRONG_INDEX]++;
	}
	return 0;
}

static int mptl_symbols_read(struct mptl_reader *reader, struct error *err)
{
	struct mpatrol_cursor *cursor = &reader->cursor;

	if (!mptl_count_read(reader, cursor->form.word, &reader->symbol_count))
		return mptl_damaged(reader, "more symbols than it has room for",
				    err);
	reader->symbols = calloc(reader->symbol_count + 1,
				 sizeof(*reader->symbols));
	if (!reader->symbols)
		return error_no_memory(err);
	words_read(reader, reader->symbols, reader->symbol_count);
	if (!mptl_count_read(reader, 1, &reader->strings_size))
		return mptl_damaged(reader, "more names than it has room for",
				    err);
	reader->strings = (const char *)cursor->data + cursor->at;
	cursor->at += reader->strings_size;
	if (!mpatrol_magic(cursor, MPTL_MAGIC))
		return mptl_damaged(reader, "no trailer", err);
	return 0;
}

static int mptl_header_read(struct mptl_reader *reader, struct error *err)
{
	struct heap_input *input = reader->input;
	uint64_t version;
	int ret = mpatrol_open(&reader->cursor, input, MPTL_MAGIC, &version,
			       err);

	if (ret)
		return ret;
	if (version < MPTL_OLDEST)
		return error_set(err, -EINVAL, "'%s' is of version %" PRIu64
				 ", that is too old to be read: %d is the oldest",
				 input->path, version, MPTL_OLDEST);
	mpatrol_version_check(input, version);
	return 0;
}

/* ---- stacks ---- */

static void frame_fill(struct mptl_reader *reader, const struct mptl_site *site,
		       struct heap_frame *frame)
{
	frame->address = site->address;
	if (site->name && site->name < reader->strings_size)
		frame->symbol = heap_strings_add_length(
			&reader->input->trace->strings,
			reader->strings + site->name,
			reader->strings_size - site->name);
	else if (site->name)
		reader->complaints[WRONG_NAME]++;
	if (site->symbol > reader->symbol_count)
		reader->complaints[WRONG_SYMBOL]++;
	else if (site->symbol && frame->symbol)
		frame->offset = site->address -
				reader->symbols[site->symbol - 1];
}

/* The caller's number; 0: it has none, or none that can be used. */
static uint32_t site_caller(struct mptl_reader *reader, uint32_t number)
{
	uint64_t parent = reader->sites[number].parent;

	if (!parent)
		return 0;
	if (parent > reader->site_count || !reader->sites[parent].there) {
		reader->complaints[WRONG_PARENT]++;
		return 0;
	}
	if (reader->sites[parent].visited) {
		reader->complaints[CIRCLE]++;
		return 0;
	}
	return parent;
}

/* Stacks of the call site and, before, of all that lead to it. */
static int stack_make(struct mptl_reader *reader, uint32_t number)
{
	struct heap_trace *trace = reader->input->trace;
	uint32_t depth = 0, stack = 0;

	while (number && !reader->sites[number].stack) {
		reader->sites[number].visited = true;
		reader->path[depth++] = number;
		number = site_caller(reader, number);
	}
	if (number)
		stack = reader->sites[number].stack;
	while (depth) {
		struct mptl_site *site = &reader->sites[reader->path[--depth]];
		struct heap_frame frame = { 0 };

		if (stack && trace->stacks[stack].depth >= DEPTH_MOST) {
			reader->complaints[TOO_DEEP]++;
			stack = 0;
		}
		frame_fill(reader, site, &frame);
		stack = heap_trace_stack(trace, stack,
					 heap_trace_frame(trace, &frame));
		if (!stack)
			return -ENOMEM;
		site->stack = stack;
		site->visited = false;
	}
	return 0;
}

static int stacks_make(struct mptl_reader *reader)
{
	for (uint64_t i = 1; i <= reader->site_count; i++) {
		const struct mptl_site *site = &reader->sites[i];

		if (!site->there)
			continue;
		if (stack_make(reader, i))
			return -ENOMEM;
		if (!site->sums)
			continue;
		if (site->sums > reader->sums_count ||
		    !reader->sums[site->sums].there ||
		    reader->sums[site->sums].site)
			reader->complaints[WRONG_SUMS]++;
		else
			reader->sums[site->sums].site = i;
	}
	return 0;
}

/* ---- sums ---- */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Add to the sums of a site, and to what lives now, or lived at the end. */
static void mptl_site_add(struct heap_site *site, const struct heap_sums *more)
{
	heap_sums_add(&site->sums, more);
	site->now.count = less(heap_classes_sum(site->sums.allocs),
			       heap_classes_sum(site->sums.frees));
	site->now.bytes = less(heap_classes_sum(site->sums.alloc_bytes),
			       heap_classes_sum(site->sums.free_bytes));
}

static int profile_fill(struct mptl_reader *reader)
{
	for (uint64_t i = 1; i <= reader->sums_count; i++) {
		const struct mptl_sums *sums = &reader->sums[i];
		struct heap_site *site;

		if (!sums->there)
			continue;
		site = heap_profile_site(reader->profile,
					 reader->sites[sums->site].stack);
		if (!site)
			return -ENOMEM;
		mptl_site_add(site, &sums->sums);
	}
	return 0;
}

/* Count and bytes of the bins, put into classes by their sizes; the last one's
 * blocks by their average. */
static void bins_sum(const struct heap_profile *profile, const uint64_t *bins,
		     uint64_t large_bytes, uint64_t counts[HEAP_CLASSES],
		     uint64_t bytes[HEAP_CLASSES])
{
	uint64_t last = profile->bounds.bins - 1;
	unsigned int class;

	for (uint64_t i = 0; i < last; i++) {
		class = heap_profile_class(profile, i + 1);
		counts[class] += bins[i];
		bytes[class] += bins[i] * (i + 1);
	}
	if (!bins[last])
		return;
	class = heap_profile_class(profile, large_bytes / bins[last]);
	counts[class] += bins[last];
	bytes[class] += large_bytes;
}

/* Blocks whose caller mpatrol didn't know are in the bins only. */
static int rest_fill(struct mptl_reader *reader)
{
	struct heap_profile *profile = reader->profile;
	struct heap_sums rest = { 0 }, known = { 0 };
	struct heap_site *site;

	if (!profile->bounds.bins)
		return 0;
	bins_sum(profile, profile->alloc_bins, profile->large_alloc_bytes,
		 rest.allocs, rest.alloc_bytes);
	bins_sum(profile, profile->free_bins, profile->large_free_bytes,
		 rest.frees, rest.free_bytes);
	for (size_t i = 0; i < profile->site_count; i++)
		heap_sums_add(&known, &profile->sites[i].sums);
	if (heap_classes_sum(rest.allocs) <= heap_classes_sum(known.allocs))
		return 0;
	for (int i = 0; i < HEAP_CLASSES; i++) {
		rest.allocs[i] = less(rest.allocs[i], known.allocs[i]);
		rest.alloc_bytes[i] = less(rest.alloc_bytes[i],
					   known.alloc_bytes[i]);
		rest.frees[i] = less(rest.frees[i], known.frees[i]);
		rest.free_bytes[i] = less(rest.free_bytes[i],
					  known.free_bytes[i]);
	}
	site = heap_profile_site(profile, 0);
	if (!site)
		return -ENOMEM;
	mptl_site_add(site, &rest);
	return 0;
}

/* ---- all ---- */

static int mptl_file_read(struct mptl_reader *reader, struct error *err)
{
	int ret = mptl_header_read(reader, err);

	if (!ret)
		ret = bins_read(reader, err);
	if (!ret)
		ret = sums_read(reader, err);
	if (!ret)
		ret = mptl_sites_read(reader, err);
	if (!ret)
		ret = mptl_symbols_read(reader, err);
	return ret;
}

/* But for what is only left out, the file can't have been written so. */
static int complaints_judge(const struct mptl_reader *reader,
			    struct error *err)
{
	struct heap_input *input = reader->input;
	uint64_t count = 0;

	for (int i = 0; i < MPTL_COMPLAINTS; i++)
		if (i != TOO_DEEP)
			count += reader->complaints[i];
	if (!count)
		return 0;
	input->trace->damaged += count;
	return error_set(err, -EBADMSG, "'%s' is damaged: what could be read "
			 "of it was used", input->path);
}

int mptl_detect(const uint8_t *data, size_t size)
{
	return size >= 4 && !memcmp(data, MPTL_MAGIC, 4) ? 2 : 0;
}

int mptl_read_profile(struct heap_input *input, struct heap_profile *profile,
		      struct error *err)
{
	struct mptl_reader reader = { .input = input, .profile = profile };
	int ret = mptl_file_read(&reader, err);
	bool usable = !ret || ret == -EBADMSG;

	/* of a file that is cut off, what is there */
	if (usable && reader.sites &&
	    (stacks_make(&reader) || profile_fill(&reader)))
		ret = error_no_memory(err);
	else if (usable && rest_fill(&reader))
		ret = error_no_memory(err);
	heap_input_warn_counts(input, complaint_texts,
			       reader.complaints, MPTL_COMPLAINTS);
	if (!ret)
		ret = complaints_judge(&reader, err);
	free(reader.sums);
	free(reader.sites);
	free(reader.path);
	free(reader.symbols);
	return ret;
}
