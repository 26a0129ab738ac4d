// SPDX-License-Identifier: GPL-2.0
/* The code of the function that a site is in. */
#include "site.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"

const struct flow_source *site_flow_source(struct compilation *c)
{
	struct site_state *state = c->sites;

	if (state->flow.module)
		return &state->flow;
	state->flow = (struct flow_source) {
		.module = c->module,
		.symbols = &state->symbols,
		.cfi = dwarf_getcfi_elf(c->module->elf),
		.landing_pads = c->module->kind != TDF_MODULE_USER ||
				!c->module->has_sections ||
				module_has_section(c->module,
						   ".gcc_except_table"),
	};
	state->cfi_is_own = state->flow.cfi;
	if (!state->flow.cfi && c->dwarf)
		state->flow.cfi = dwarf_getcfi(c->dwarf->dwarf);
	return &state->flow;
}

struct site_function {
	struct flow flow;
	struct labels *labels;
	uint64_t entry;
	bool entered;		/* calls come there */
	struct module_range *ranges;	/* of the function */
	size_t range_count;
	struct stores *stores;	/* made when first needed */
	bool stores_whole;	/* ... of all code, not of the first block */
	struct targets targets;	/* of the module */
	struct landings landings;
};

static void function_forget(struct site_function *function)
{
	stores_free(function->stores);
	labels_free(function->labels);
	flow_free(&function->flow);
	free(function->ranges);
	function->stores = NULL;
	function->labels = NULL;
	function->ranges = NULL;
	function->range_count = 0;
}

void site_flow_forget(struct site_state *state)
{
	if (!state->function)
		return;
	function_forget(state->function);
	targets_free(&state->function->targets);
	landings_free(&state->function->landings);
	free(state->function);
	state->function = NULL;
}

static bool function_has(const struct site_function *function,
			 uint64_t address)
{
	return module_ranges_have(function->ranges, function->range_count,
				  address);
}

/* The assembler describes what it finds between two labels. */
static bool is_compiled(const struct dwarf_function *function)
{
	Dwarf_Die die = function->die, unit;

	return dwarf_diecu(&die, &unit, NULL, NULL) &&
	       dwarf_srclang(&unit) != DW_LANG_Mips_Assembler;
}

/* Debug information knows all parts of a function. */
static int take_dwarf(struct compilation *c, struct site_function *function,
		      uint64_t address)
{
	struct dwarf_functions found = { 0 };
	int code;

	if (!c->dwarf)
		return 0;
	code = dwarf_function_at(c->dwarf, address, &found);
	if (!code && found.count && is_compiled(&found.functions[0])) {
		function->entry = found.functions[0].entry;
		function->entered = true;
		function->ranges = found.functions[0].ranges;
		function->range_count = found.functions[0].range_count;
		found.functions[0].ranges = NULL;
	}
	dwarf_functions_free(&found);
	return code;
}

/* Calls enter there: what has no symbol of its own, or that of a part, may be
 * come to from the middle of another function. */
static bool is_entered(const struct symbol_index *index, uint64_t address)
{
	const struct module_symbol *symbol = symbol_index_find(index, address);

	return symbol && symbol->address == address &&
	       symbol->type == STT_FUNC && !flow_name_is_cold(symbol);
}

static int take_range(struct compilation *c, struct site_function *function,
		      uint64_t address)
{
	const struct module_range *range =
		module_function_find(c->module, address);

	if (!range)
		return 0;
	function->ranges = malloc(sizeof(*range));
	if (!function->ranges)
		return -ENOMEM;
	*function->ranges = *range;
	function->range_count = 1;
	function->entry = range->start;
	function->entered = is_entered(&c->sites->symbols, range->start);
	return function->targets.known ? 0 :
	       targets_find(&function->targets, c->module);
}

/* What has a name may be called. */
static void mark_symbols(struct flow_part *part,
			 const struct symbol_index *index)
{
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->symbols[middle]->address < part->start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < index->count; low++) {
		uint64_t at = index->symbols[low]->address - part->start;

		if (at >= part->size)
			break;
		part->marks[at] |= FLOW_TARGET;
	}
}

/* What other code comes to is a target like those of the function's own. */
static void mark_targets(struct flow *flow, const struct symbol_index *symbols,
			 const struct targets *targets)
{
	for (size_t i = 0; i < flow->part_count; i++) {
		struct flow_part *part = &flow->parts[i];
		size_t t = array_count_upto(targets->addresses, targets->count,
					    sizeof(*targets->addresses),
					    part->start);

		mark_symbols(part, symbols);
		for (; t < targets->count &&
		       targets->addresses[t] - part->start < part->size; t++)
			part->marks[targets->addresses[t] - part->start] |=
				FLOW_TARGET;
	}
}

/* So is what the unwinder comes to. */
static int mark_landings(const struct compilation *c,
			 struct site_function *function)
{
	struct landings *landings = &function->landings;

	if (!c->sites->flow.landing_pads)
		return 0;
	if (!landings->known && landings_find(landings, c->module))
		return -ENOMEM;
	landings_mark(landings, &function->flow);
	return 0;
}

static int function_read(struct compilation *c, struct site_function *function,
			 uint64_t address)
{
	int code = take_dwarf(c, function, address);

	if (!code && !function->range_count)
		code = take_range(c, function, address);
	if (code || !function->range_count)
		return code;
	if (flow_decode(&function->flow, site_flow_source(c), function->entry,
			function->ranges, function->range_count))
		return -ENOMEM;
	mark_targets(&function->flow, &c->sites->symbols,
		     &function->targets);
	if (mark_landings(c, function))
		return -ENOMEM;
	function->labels = labels_find(&function->flow);
	return function->labels ? 0 : -ENOMEM;
}

/* The function around address. 0, -ENOENT, -ENOMEM. */
static int function_find(struct compilation *c, uint64_t address)
{
	struct site_state *state = c->sites;
	struct site_function *function = state->function;
	int code = 0;

	if (!function)
		function = state->function = calloc(1, sizeof(*function));
	if (!function)
		return -ENOMEM;
	if (!function_has(function, address)) {
		function_forget(function);
		code = function_read(c, function, address);
	}
	if (!code && !function_has(function, address))
		code = -ENOENT;
	return code;
}

int site_flow_find(struct compilation *c, uint64_t address,
		   const struct flow **flow, uint64_t *entry)
{
	int code = function_find(c, address);

	if (code)
		return code;
	*flow = &c->sites->function->flow;
	*entry = c->sites->function->entry;
	return 0;
}

int site_block_find(struct compilation *c, uint64_t address,
		    struct block *block)
{
	struct site_function *function;
	int code = function_find(c, address);

	function = c->sites->function;
	return code ? code : block_find(&function->flow, function->labels,
					function->entered ? function->entry :
							    UINT64_MAX,
					address, block);
}

int site_stores_find(struct compilation *c, uint64_t address,
		     const struct block *block, const struct stores **stores)
{
	struct site_function *function;
	int code = function_find(c, address);

	function = c->sites->function;
	if (!code && !function->entered)
		code = -ENOENT;
	if (code)
		return code;
	if (block && !block->entry)
		block = NULL;
	if (!function->stores || (!block && !function->stores_whole)) {
		stores_free(function->stores);
		function->stores_whole = !block;
		code = stores_find(&function->flow, function->labels,
				   function->entry, block, &function->stores);
	}
	*stores = function->stores;
	return code;
}
