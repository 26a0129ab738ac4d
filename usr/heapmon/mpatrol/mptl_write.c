// SPDX-License-Identifier: GPL-2.0
#include "mptl_read.h"

#include <stdlib.h>
#include <string.h>
#include "heapmon/core/warn.h"
#include "bytes.h"
#include "callsites.h"

static void bins_write(struct mpatrol_out *out,
		       const struct heap_profile *profile)
{
	uint64_t count = profile->bounds.bins;

	mpatrol_put_word(out, count);
	if (!count)
		return;
	for (uint64_t i = 0; i < count; i++)
		mpatrol_put_word(out, profile->alloc_bins[i]);
	mpatrol_put_word(out, profile->large_alloc_bytes);
	for (uint64_t i = 0; i < count; i++)
		mpatrol_put_word(out, profile->free_bins[i]);
	mpatrol_put_word(out, profile->large_free_bytes);
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

/* Size of the string table. */
static uint64_t mptl_names_place(const struct callsites *callsites,
				 const struct heap_trace *trace,
				 uint64_t *names)
{
	uint64_t size = 1;

	for (size_t i = 0; i < callsites->symbol_count; i++) {
		names[i] = size;
		size += strlen(heap_text(trace,
					 callsites->symbols[i].name)) + 1;
	}
	return size;
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

static int mptl_write_profile(struct heap_output *output,
			      const struct heap_profile *profile,
			      const struct heap_model *model,
			      struct error *err)
{
	struct mpatrol_out out = {
		output->file, mpatrol_form_wanted(output->options), false
	};
	uint32_t *index = calloc(profile->site_count + 1, sizeof(*index));
	struct callsites callsites;
	uint64_t *names = NULL;
	int ret = callsites_make(&callsites, profile);
	uint64_t size;
	uint32_t count;

	if (!ret)
		names = calloc(callsites.symbol_count + 1, sizeof(*names));
	if (ret || !index || !names) {
		ret = error_no_memory(err);
	} else {
		size = mptl_names_place(&callsites, profile->trace, names);
		for (size_t i = 0; i < callsites.count; i++)
			if (callsites.items[i].from)
				index[callsites.items[i].from -
				      profile->sites] = 1;
		mpatrol_put_header(&out, MPTL_MAGIC);
		mpatrol_put_word(&out, profile->bounds.small);
		mpatrol_put_word(&out, profile->bounds.medium);
		mpatrol_put_word(&out, profile->bounds.large);
		bins_write(&out, profile);

		/* The sums in the order of the profile's sites; `index` gets
		 * their numbers. */
		count = 0;
		for (size_t i = 0; i < profile->site_count; i++)
			index[i] = index[i] ? ++count : 0;
		mpatrol_put_word(&out, count);
		for (size_t i = 0; i < profile->site_count; i++) {
			uint64_t figures[4 * HEAP_CLASSES];

			if (!index[i])
				continue;
			mpatrol_put_number(&out, index[i]);
			memcpy(figures, &profile->sites[i].sums,
			       sizeof(figures));
			for (size_t k = 0; k < 4 * HEAP_CLASSES; k++)
				mpatrol_put_word(&out, figures[k]);
		}

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
		mpatrol_put_magic(&out, MPTL_MAGIC);
		ret = mpatrol_put_check(&out, err);
	}
	if (!ret)
		mptl_warn_unheld(output, &callsites, model);
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
