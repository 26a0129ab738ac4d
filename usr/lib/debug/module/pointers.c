// SPDX-License-Identifier: GPL-2.0
#include "pointers.h"

#include <stdlib.h>
#include <string.h>
#include "lib/array.h"

#define POINTERS_MAX	(4u << 20)

struct pointer_search {
	const struct module *module;
	struct pointers *found;
	uint64_t low, high;	/* all code is between */
	uint64_t left;		/* bytes that may still be looked at */
	bool failed;
};

const uint8_t *pointers_bytes(const struct module *module, uint64_t address,
			      size_t *available)
{
	for (size_t i = 0; i < module->segment_count; i++) {
		const struct module_segment *seg = &module->segments[i];
		uint64_t at = address - seg->address;
		Elf_Data *data;

		if (at >= seg->size)
			continue;
		data = elf_getdata_rawchunk(module->elf, seg->offset,
					    seg->size, ELF_T_BYTE);
		if (!data || !data->d_buf || at >= data->d_size)
			return NULL;
		*available = data->d_size - at;
		return (const uint8_t *)data->d_buf + at;
	}
	return NULL;
}

static void pointers_add(struct pointer_search *search, uint64_t at,
			 uint64_t value)
{
	struct pointers *found = search->found;
	size_t available;

	if (value < search->low || value >= search->high ||
	    !module_code(search->module, value, &available, NULL))
		return;
	if (found->count == POINTERS_MAX) {
		found->complete = false;
		return;
	}
	if (!array_grow(&found->list, found->count, &found->room,
			sizeof(*found->list))) {
		search->failed = true;
		return;
	}
	found->list[found->count++] = (struct pointer) { value, at };
}

static void search_segment(struct pointer_search *search,
			   const struct module_segment *seg)
{
	size_t word = search->module->elf_class == ELFCLASS64 ? 8 : 4;
	uint64_t at = -seg->address & (word - 1);
	size_t available;
	const uint8_t *bytes = seg->size ?
		pointers_bytes(search->module, seg->address, &available) : NULL;

	if (!bytes)
		return;
	if (available > search->left) {
		search->found->complete = false;
		return;
	}
	search->left -= available;
	for (; at + word <= available && !search->failed; at += word) {
		uint64_t value = 0;

		memcpy(&value, bytes + at, word);
		pointers_add(search, seg->address + at, value);
	}
}

static int pointer_compare(const void *a, const void *b)
{
	const struct pointer *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

const struct pointers *pointers_get(struct module *module)
{
	struct pointer_search search = {
		.module = module, .left = module->file_size, .low = UINT64_MAX,
	};
	Elf_Scn *scn = NULL;
	GElf_Rela rela;
	GElf_Shdr sh;

	if (module->pointers)
		return module->pointers;
	search.found = module->pointers = calloc(1, sizeof(*search.found));
	if (!search.found)
		return NULL;
	search.found->complete = module->has_sections;
	for (size_t i = 0; i < module->code_count; i++) {
		if (module->codes[i].start < search.low)
			search.low = module->codes[i].start;
		if (module->codes[i].end > search.high)
			search.high = module->codes[i].end;
	}
	for (size_t i = 0; i < module->segment_count && !search.failed; i++)
		search_segment(&search, &module->segments[i]);

	/* what the loader makes of words that the file doesn't have */
	while ((scn = elf_nextscn(module->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA ||
		    !(sh.sh_flags & SHF_ALLOC) ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; !search.failed &&
				gelf_getrela(data, i, &rela); i++)
			if (!GELF_R_SYM(rela.r_info))
				pointers_add(&search, rela.r_offset,
					     rela.r_addend);
	}
	if (search.found->count)
		qsort(search.found->list, search.found->count,
		      sizeof(*search.found->list), pointer_compare);
	if (search.failed)
		pointers_forget(module);
	return module->pointers;
}

void pointers_forget(struct module *module)
{
	if (module->pointers)
		free(module->pointers->list);
	free(module->pointers);
	module->pointers = NULL;
}
