// SPDX-License-Identifier: GPL-2.0
/* mpatrol's profiling file, "MPTL". */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "heapmon/core/format.h"
#include "callsites.h"
#include "mpatrol.h"

#define MPTL_MAGIC	"MPTL"
#define MPTL_OLDEST	10300	/* files before that have no version */

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

/* ---- the parts of the file ---- */

/* How many items of so many bytes follow, and room for one more of `size` each
 * at `items` (NULL: none is needed). */
static int items_begin(struct mptl_reader *reader, const char *what,
		       size_t bytes, uint64_t *count, void *items, size_t size,
		       struct error *err)
{
	char text[64];

	*count = mpatrol_word(&reader->cursor);
	if (reader->cursor.in.failed || *count >= UINT32_MAX ||
	    *count > mpatrol_left(&reader->cursor) / bytes) {
		*count = 0;
		snprintf(text, sizeof(text), "more %s than it has room for",
			 what);
		return mpatrol_damaged(&reader->cursor, text, err);
	}
	if (!items)
		return 0;
	*(void **)items = calloc(*count + 1, size);
	return *(void **)items ? 0 : error_no_memory(err);
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
	int ret;

	bounds.small = mpatrol_word(&reader->cursor);
	bounds.medium = mpatrol_word(&reader->cursor);
	bounds.large = mpatrol_word(&reader->cursor);
	ret = items_begin(reader, "bins", 2 * reader->cursor.form.word,
			  &bounds.bins, NULL, 0, err);
	if (ret)
		return ret;
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
	int ret = items_begin(reader, "sums", form->number + 16 * form->word,
			      &reader->sums_count, &reader->sums,
			      sizeof(*reader->sums), err);

	for (uint64_t i = 0; !ret && i < reader->sums_count; i++) {
		uint64_t index = mpatrol_number(&reader->cursor);
		struct mptl_sums sums = { .there = true };

		words_read(reader, sums.sums.all, HEAP_SUMS);
		if (index && index <= reader->sums_count &&
		    !reader->sums[index].there)
			reader->sums[index] = sums;
		else
			reader->complaints[WRONG_INDEX]++;
	}
	return ret;
}

static int mptl_sites_read(struct mptl_reader *reader, struct error *err)
{
	struct mpatrol_cursor *cursor = &reader->cursor;
	int ret = items_begin(reader, "call sites",
			      5 * cursor->form.number + cursor->form.word,
			      &reader->site_count, &reader->sites,
			      sizeof(*reader->sites), err);

	if (ret)
		return ret;
	reader->path = calloc(reader->site_count + 1, sizeof(*reader->path));
	if (!reader->path)
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
	int ret = items_begin(reader, "symbols", cursor->form.word,
			      &reader->symbol_count, &reader->symbols,
			      sizeof(*reader->symbols), err);

	if (ret)
		return ret;
	words_read(reader, reader->symbols, reader->symbol_count);
	ret = items_begin(reader, "names", 1, &reader->strings_size, NULL, 0,
			  err);
	if (ret)
		return ret;
	reader->strings = (const char *)cursor_skip(&cursor->in,
						    reader->strings_size);
	return mpatrol_magic(cursor, MPTL_MAGIC) ? 0 :
	       mpatrol_damaged(cursor, "no trailer", err);
}

static int mptl_file_read(struct mptl_reader *reader, struct error *err)
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
	ret = bins_read(reader, err);
	if (!ret)
		ret = sums_read(reader, err);
	if (!ret)
		ret = mptl_sites_read(reader, err);
	return ret ? ret : mptl_symbols_read(reader, err);
}

/* ---- stacks ---- */

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
		frame.address = site->address;
		if (site->name && site->name < reader->strings_size)
			frame.symbol = heap_strings_add_length(
				&reader->input->trace->strings,
				reader->strings + site->name,
				reader->strings_size - site->name);
		else if (site->name)
			reader->complaints[WRONG_NAME]++;
		if (site->symbol > reader->symbol_count)
			reader->complaints[WRONG_SYMBOL]++;
		else if (site->symbol && frame.symbol)
			frame.offset = site->address -
					reader->symbols[site->symbol - 1];
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

/* Add to the sums of a stack's site, and to what lives at the end. */
static int mptl_site_add(struct mptl_reader *reader, uint32_t stack,
			 const struct heap_sums *more)
{
	struct heap_site *site = heap_profile_site(reader->profile, stack);
	uint64_t allocs, bytes, frees, free_bytes;

	if (!site)
		return -ENOMEM;
	heap_sums_add(&site->sums, more);
	allocs = heap_classes_sum(site->sums.allocs);
	frees = heap_classes_sum(site->sums.frees);
	bytes = heap_classes_sum(site->sums.alloc_bytes);
	free_bytes = heap_classes_sum(site->sums.free_bytes);
	site->now.count = allocs > frees ? allocs - frees : 0;
	site->now.bytes = bytes > free_bytes ? bytes - free_bytes : 0;
	return 0;
}

static int profile_fill(struct mptl_reader *reader)
{
	for (uint64_t i = 1; i <= reader->sums_count; i++) {
		const struct mptl_sums *sums = &reader->sums[i];

		if (sums->there &&
		    mptl_site_add(reader, reader->sites[sums->site].stack,
				  &sums->sums))
			return -ENOMEM;
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
	for (int i = 0; i < HEAP_SUMS; i++)
		rest.all[i] = rest.all[i] > known.all[i] ?
			      rest.all[i] - known.all[i] : 0;
	return mptl_site_add(reader, 0, &rest);
}

/* ---- all ---- */

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

/* Is it one, by its first bytes? */
static int mptl_detect(const uint8_t *data, size_t size)
{
	return size >= 4 && !memcmp(data, MPTL_MAGIC, 4) ? 2 : 0;
}

static int mptl_read_profile(struct heap_input *input,
			     struct heap_profile *profile, struct error *err)
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

/* ---- writing ---- */

static void words_write(struct mpatrol_out *out, const uint64_t *words,
			uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		mpatrol_put_word(out, words[i]);
}

static void bins_write(struct mpatrol_out *out,
		       const struct heap_profile *profile)
{
	uint64_t count = profile->bounds.bins;

	mpatrol_put_word(out, profile->bounds.small);
	mpatrol_put_word(out, profile->bounds.medium);
	mpatrol_put_word(out, profile->bounds.large);
	mpatrol_put_word(out, count);
	if (!count)
		return;
	words_write(out, profile->alloc_bins, count);
	mpatrol_put_word(out, profile->large_alloc_bytes);
	words_write(out, profile->free_bins, count);
	mpatrol_put_word(out, profile->large_free_bytes);
}

/* In the order of the profile's sites; those that a call site has. `index` gets
 * their numbers. */
static void sums_write(struct mpatrol_out *out,
		       const struct callsites *callsites,
		       const struct heap_profile *profile, uint32_t *index)
{
	uint32_t count = 0;

	for (size_t i = 0; i < callsites->count; i++)
		if (callsites->items[i].from)
			index[callsites->items[i].from - profile->sites] = 1;
	for (size_t i = 0; i < profile->site_count; i++)
		index[i] = index[i] ? ++count : 0;
	mpatrol_put_word(out, count);
	for (size_t i = 0; i < profile->site_count; i++) {
		if (!index[i])
			continue;
		mpatrol_put_number(out, index[i]);
		words_write(out, profile->sites[i].sums.all, HEAP_SUMS);
	}
}

/* `names`: offsets in the string table, by symbol number - 1. */
static void callsites_write(struct mpatrol_out *out,
			    const struct callsites *callsites,
			    const struct heap_profile *profile,
			    const uint32_t *index, const uint64_t *names)
{
	mpatrol_put_word(out, callsites->count);
	for (size_t i = 0; i < callsites->count; i++) {
		const struct callsite *item = &callsites->items[i];
		uint32_t symbol = item->symbol;

		mpatrol_put_number(out, item->index);
		mpatrol_put_number(out, item->parent);
		mpatrol_put_word(out, item->address);
		mpatrol_put_number(out, symbol);
		mpatrol_put_number(out, symbol ? names[symbol - 1] : 0);
		mpatrol_put_number(out, item->from ?
				   index[item->from - profile->sites] : 0);
	}
}

static void mptl_warn_unheld(struct heap_output *output,
			     const struct callsites *callsites,
			     const struct heap_model *model)
{
	const struct heap_trace *trace = output->trace;

	if (callsites->made_up)
		heap_output_warn(output,
				 "addresses are made up: only names are known");
	if (callsites->stopped)
		heap_output_warn(output,
				 "where a stack ended early isn't said");
	if (trace->sample)
		heap_output_warn(output,
				 "the figures are of the blocks that were recorded, not weighted");
	if (model && (model->old.count || model->unknown.count))
		heap_output_warn(output,
				 "blocks that were there before the recording are left out");
}

/* Where the names of symbols are in the string table; returns its size. */
static uint64_t names_place(const struct callsites *callsites,
			    const struct heap_trace *trace, uint64_t *names)
{
	uint64_t size = 1;

	for (size_t i = 0; i < callsites->symbol_count; i++) {
		names[i] = size;
		size += strlen(heap_text(trace, callsites->symbols[i].name)) + 1;
	}
	return size;
}

static int mptl_write_profile(struct heap_output *output,
			      const struct heap_profile *profile,
			      const struct heap_model *model,
			      struct error *err)
{
	struct mpatrol_out out = mpatrol_out_open(output);
	uint32_t *index = calloc(profile->site_count + 1, sizeof(*index));
	struct callsites callsites = { 0 };
	int ret = callsites_make(&callsites, profile);
	uint64_t *names = calloc(callsites.symbol_count + 1, sizeof(*names));
	uint64_t size;

	if (ret || !index || !names) {
		ret = error_no_memory(err);
		goto out_free;
	}
	mpatrol_put_header(&out, MPTL_MAGIC);
	bins_write(&out, profile);
	sums_write(&out, &callsites, profile, index);
	size = names_place(&callsites, profile->trace, names);
	callsites_write(&out, &callsites, profile, index, names);
	mpatrol_put_word(&out, callsites.symbol_count);
	for (size_t i = 0; i < callsites.symbol_count; i++)
		mpatrol_put_word(&out, callsites.symbols[i].address);
	mpatrol_put_word(&out, size);
	putc('\0', out.file);
	for (size_t i = 0; i < callsites.symbol_count; i++) {
		const char *name = heap_text(profile->trace,
					     callsites.symbols[i].name);

		fwrite(name, 1, strlen(name) + 1, out.file);
	}
	ret = mpatrol_put_trailer(&out, MPTL_MAGIC, err);
	if (!ret)
		mptl_warn_unheld(output, &callsites, model);
out_free:
	callsites_free(&callsites);
	free(index);
	free(names);
	return ret;
}

const struct heap_format format_mptl = {
	.name = "mptl",
	.words = true,
	.help = "mpatrol profiling (mpatrol.out)",
	.detect = mptl_detect,
	.read_profile = mptl_read_profile,
	.write_profile = mptl_write_profile,
};
