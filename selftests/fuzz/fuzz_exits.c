// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a module: the exits of its functions, its blocks, and its static
 * probes.
 * Sites are on instructions that can be probed, each on one of its own.
 */
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/labels.h"
#include "lib/debug/module/code.h"
#include "lib/debug/module/flow.h"
#include "trcust/compile/exits.h"
#include "lib/debug/module/module_elf.h"

#define FUNCTIONS_MAX	64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sites(struct module *module, const struct exits *exits)
{
	for (size_t i = 0; i < exits->count; i++) {
		struct code_site site = { .address = exits->sites[i].address };
		struct code_site exit = { .address = exits->sites[i].exit };
		size_t available;

		if (i && exits->sites[i - 1].address >= site.address)
			abort();
		/* a symbol may be larger than its section */
		if (!module_code(module, site.address, &available, NULL) ||
		    !module_code(module, exit.address, &available, NULL))
			continue;
		if (code_look(module, &site) == CODE_UNDECODABLE ||
		    code_look(module, &exit) == CODE_UNDECODABLE)
			abort();
		if (site.address != exit.address &&
		    code_look(module, &site) != CODE_GOOD)
			abort();
	}
}

static void check_block(struct flow *flow, const struct labels *labels,
			uint64_t address)
{
	struct block block;

	if (block_find(flow, labels, address, address, &block))
		return;
	if (block.at >= block.count || block.insns[block.at].address != address)
		abort();
	block_free(&block);
}

static void look_at_block(const struct flow_source *source,
			  const struct landings *landings,
			  const struct module_range *range)
{
	struct labels *labels;
	struct flow flow;

	if (flow_decode(&flow, source, range->start, range, 1))
		return;
	landings_mark(landings, &flow);
	labels = labels_find(&flow);
	if (labels)
		check_block(&flow, labels, range->start);
	labels_free(labels);
	flow_free(&flow);
}

static void look_at(const struct flow_source *source,
		    const struct landings *landings,
		    const struct module_symbol *symbol)
{
	struct module_range range = { symbol->address,
				      symbol->address + symbol->size };
	struct exits exits;

	look_at_block(source, landings, &range);
	if (exits_find(source, NULL, range.start, &range, 1, &exits))
		return;
	check_sites(source->module, &exits);
	exits_free(&exits);
}

static size_t read_probes(const struct module *module)
{
	struct usdt_probes probes;
	size_t length = 0;

	if (usdt_load(module, &probes))
		return 0;
	for (size_t i = 0; i < probes.count; i++)
		length += strlen(probes.probes[i].provider) +
			  strlen(probes.probes[i].name) +
			  strlen(probes.probes[i].arguments);
	usdt_free(&probes);
	return length;
}

static void look_at_all(struct module *module)
{
	struct symbol_index symbols = { 0 };
	struct flow_source source = {
		.module = module, .symbols = &symbols,
		.cfi = dwarf_getcfi_elf(module->elf),
		.landing_pads = module->symbol_count & 1,
	};
	struct landings landings = { 0 };

	if (!landings_find(&landings, module) &&
	    !symbol_index_make(&symbols, module))
		for (size_t i = 0; i < symbols.count && i < FUNCTIONS_MAX; i++)
			look_at(&source, &landings, symbols.symbols[i]);
	landings_free(&landings);
	symbol_index_free(&symbols);
	dwarf_cfi_end(source.cfi);
	if (read_probes(module) > (size_t)module->file_size + (1 << 20))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module *module;
	struct error err;
	void *copy = malloc(size + 1);	/* libelf may write to it */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (!module_parse(&module, copy, size, &err)) {
		look_at_all(module);
		module_close(module);
	}
	free(copy);
	return 0;
}
