// SPDX-License-Identifier: GPL-2.0
#include "analysis.h"

#include <dwarf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dynamic.h"
#include "lib/array.h"

void message_name(char *text, size_t size, const char *name, uint64_t symbol,
		  uint64_t address)
{
	bool before = address < symbol;
	uint64_t distance = before ? symbol - address : address - symbol;
	char *full = demangle_symbol(name);
	char *shown = full ? demangle_display(full) : NULL;

	if (shown)
		name = shown;
	if (distance)
		snprintf(text, size, "%s%c%#" PRIx64, name,
			 before ? '-' : '+', distance);
	else
		snprintf(text, size, "%s+0", name);
	free(shown);
	free(full);
}

void message_site_name(const struct compile_site *site, char *text, size_t size)
{
	if (site->symbol && site->symbol[0])
		message_name(text, size, site->symbol,
			     site->address - site->symbol_offset,
			     site->nominal);
	else
		snprintf(text, size, "%#" PRIx64, site->nominal);
}

void message_hint_debug(const struct compilation *c)
{
	const char *why = dwarf_refusal(c->module, c->dwarf);

	if (why)
		diag_hint(c->diag, "%s", why);
	else if (!c->dwarf && c->module->elf)
		diag_hint(c->diag, "no debug information was found: --debug "
				   "FILE names it");
}

void message_hint_imported(const struct compilation *c)
{
	char text[256];

	module_libraries(c->module, text, sizeof(text));
	diag_hint(c->diag, text[0] ? "the module only uses it, it is defined "
			   "in another one; this one loads %s" :
			   "the module only uses it, it is defined in another "
			   "one%s", text);
}

int message_absent(const struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name, const char *why,
		   const char *hint)
{
	char at[320];

	message_site_name(site, at, sizeof(at));
	diag_report(c->diag, pos, TRCERR_BADADDRESS);
	diag_hint(c->diag, "'%s' at %s: %s", name, at, why);
	if (hint && hint[0])
		diag_hint(c->diag, "%s", hint);
	return 1;
}

int message_ambiguous(const struct compilation *c, struct srcpos pos,
		      const char *name, const Dwarf_Die *one,
		      const Dwarf_Die *other)
{
	char *at = dwarf_line_declared(c->dwarf, one);
	char *too = dwarf_line_declared(c->dwarf, other);
	char text[512];

	snprintf(text, sizeof(text), "%.240s declares one, %.240s another",
		 at ? at : "a file", too ? too : "a file");
	free(at);
	free(too);
	diag_report(c->diag, pos, TRCERR_AMBIGNAME, name, text);
	diag_hint(c->diag, "'FILE'::NAME is a variable of that file, "
			   "SCOPE::NAME one of a namespace or class, "
			   "'::NAME' one of none");
	return 1;
}

void message_other_type(const struct compilation *c, struct srcpos pos,
			const char *name, const Dwarf_Die *type)
{
	char *at = dwarf_line_declared(c->dwarf, type);

	diag_report(c->diag, pos, TRCERR_OTHERTYPE, name,
		    at ? at : "elsewhere");
	free(at);
}

struct analysis_function {
	struct flow flow;
	struct labels *labels;
	uint64_t entry;
	uint64_t begins;	/* its own code: in Go after the stack check,
				 * which changes nothing that a caller gives */
	bool entered;		/* calls come there */
	struct module_range *ranges;	/* of the function */
	size_t range_count;
	struct stores *stores;	/* made when first needed */
	bool stores_whole;	/* of all code, not of the first block */
	struct targets targets;	/* of the module */
	struct landings landings;
};

int analysis_begin(struct compilation *c)
{
	struct analysis *analysis;

	if (c->analysis)
		return 0;
	analysis = calloc(1, sizeof(*analysis));
	if (analysis && !symbol_index_make(&analysis->symbols, c->module)) {
		c->analysis = analysis;
		return 0;
	}
	free(analysis);
	return -ENOMEM;
}

static void function_forget(struct analysis_function *function)
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

void analysis_end(struct compilation *c)
{
	struct analysis *analysis = c->analysis;

	if (!analysis)
		return;
	if (analysis->function) {
		function_forget(analysis->function);
		targets_free(&analysis->function->targets);
		landings_free(&analysis->function->landings);
		free(analysis->function);
	}
	symbol_index_free(&analysis->symbols);
	calls_end(analysis->calls);
	usdt_free(&analysis->usdt);
	dynamic_forget(analysis->dynamic);
	if (analysis->cfi_is_own)
		dwarf_cfi_end(analysis->source.cfi);
	free(analysis);
	c->analysis = NULL;
}

const struct flow_source *analysis_source(const struct compilation *c)
{
	struct analysis *analysis = c->analysis;

	if (analysis->source.module)
		return &analysis->source;
	analysis->source = (struct flow_source) {
		.module = c->module,
		.symbols = &analysis->symbols,
		.cfi = dwarf_getcfi_elf(c->module->elf),
		.landing_pads = c->module->kind != TDF_MODULE_USER ||
				!c->module->has_sections ||
				module_has_section(c->module,
						   ".gcc_except_table"),
		.keeps_none = analysis_runtime(c) & RUNTIME_GO,
	};
	analysis->cfi_is_own = analysis->source.cfi;
	if (!analysis->source.cfi && c->dwarf)
		analysis->source.cfi = dwarf_getcfi(c->dwarf->dwarf);
	return &analysis->source;
}

static bool function_has(const struct analysis_function *function,
			 uint64_t address)
{
	return module_ranges_have(function->ranges, function->range_count,
				  address);
}

/* Debug information knows all parts of a function. Of assembly it only has what
 * is between two labels. */
static int function_from_dwarf(const struct compilation *c,
			       struct analysis_function *function,
			       uint64_t address)
{
	struct dwarf_functions found = { 0 };
	struct dwarf_function *first;
	Dwarf_Die die, unit;
	int code;

	if (!c->dwarf)
		return 0;
	code = dwarf_function_at(c->dwarf, address, &found);
	first = found.functions;
	if (!code && found.count) {
		die = first->die;
		if (dwarf_diecu(&die, &unit, NULL, NULL) &&
		    dwarf_srclang(&unit) != DW_LANG_Mips_Assembler) {
			function->entry = first->entry;
			function->entered = true;
			function->ranges = first->ranges;
			function->range_count = first->range_count;
			first->ranges = NULL;
		}
	}
	dwarf_functions_free(&found);
	return code;
}

static int function_from_symbols(const struct compilation *c,
				 struct analysis_function *function,
				 uint64_t address)
{
	const struct module_range *range =
		module_function_find(c->module, address);
	const struct module_symbol *symbol;

	if (!range)
		return 0;
	function->ranges = malloc(sizeof(*range));
	if (!function->ranges)
		return -ENOMEM;
	*function->ranges = *range;
	function->range_count = 1;
	function->entry = range->start;
	/* code without a symbol of its own, or with that of a part, may be
	 * entered from the middle of another function */
	symbol = symbol_index_find(&c->analysis->symbols, range->start);
	function->entered = symbol && symbol->address == range->start &&
			    symbol->type == STT_FUNC &&
			    !flow_name_is_cold(symbol);
	return function->targets.known ? 0 :
	       targets_find(&function->targets, c->module);
}

size_t analysis_symbol_from(const struct compilation *c, uint64_t address)
{
	const struct symbol_index *index = &c->analysis->symbols;
	size_t low = 0, high = index->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->symbols[middle]->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whatever other code may jump to or call is a jump target, as are those of the
 * function itself: all symbols, targets of jumps in other functions. */
static void part_mark_targets(const struct compilation *c,
			      struct flow_part *part,
			      const struct targets *targets)
{
	const struct symbol_index *index = &c->analysis->symbols;
	uint64_t at;

	for (size_t i = analysis_symbol_from(c, part->start);
	     i < index->count &&
	     (at = index->symbols[i]->address - part->start) < part->size; i++)
		part->marks[at] |= FLOW_TARGET;
	for (size_t i = array_count_upto(targets->addresses, targets->count,
					 sizeof(*targets->addresses),
					 part->start);
	     i < targets->count &&
	     (at = targets->addresses[i] - part->start) < part->size; i++)
		part->marks[at] |= FLOW_TARGET;
}

static int function_read(const struct compilation *c,
			 struct analysis_function *function, uint64_t address)
{
	struct landings *landings = &function->landings;
	int code = function_from_dwarf(c, function, address);

	if (!code && !function->range_count)
		code = function_from_symbols(c, function, address);
	if (code || !function->range_count)
		return code;
	function->begins = analysis_runtime(c) & RUNTIME_GO ?
				   code_after_stack_check(c->module,
							  function->entry) :
				   function->entry;
	if (flow_decode(&function->flow, analysis_source(c), function->entry,
			function->ranges, function->range_count))
		return -ENOMEM;
	for (size_t i = 0; i < function->flow.part_count; i++)
		part_mark_targets(c, &function->flow.parts[i],
				  &function->targets);
	if (c->analysis->source.landing_pads) {
		/* the unwinder jumps to these */
		if (!landings->known && landings_find(landings, c->module))
			return -ENOMEM;
		landings_mark(landings, &function->flow);
	}
	function->labels = labels_find(&function->flow);
	return function->labels ? 0 : -ENOMEM;
}

/* The function around address. 0, -ENOENT, -ENOMEM. */
static int function_at(const struct compilation *c, uint64_t address,
		       struct analysis_function **found)
{
	struct analysis *analysis = c->analysis;
	struct analysis_function *function = analysis->function;
	int code = 0;

	if (!function)
		function = analysis->function = calloc(1, sizeof(*function));
	*found = function;
	if (!function)
		return -ENOMEM;
	if (!function_has(function, address)) {
		function_forget(function);
		code = function_read(c, function, address);
		/* one that was read in part must not be found next time */
		if (code)
			function_forget(function);
	}
	if (!code && !function_has(function, address))
		code = -ENOENT;
	return code;
}

int analysis_flow(const struct compilation *c, uint64_t address,
		  const struct flow **flow, uint64_t *entry)
{
	struct analysis_function *function;
	int code = function_at(c, address, &function);

	if (code)
		return code;
	*flow = &function->flow;
	if (entry)
		*entry = function->entry;
	return 0;
}

int analysis_block(const struct compilation *c, uint64_t address,
		   struct block *block)
{
	struct analysis_function *function;
	int code = function_at(c, address, &function);

	return code ? code : block_find(&function->flow, function->labels,
					function->entered ? function->begins :
							    UINT64_MAX,
					address, block);
}

int analysis_stores(const struct compilation *c, uint64_t address,
		    const struct block *block, const struct stores **stores)
{
	struct analysis_function *function;
	int code = function_at(c, address, &function);

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
				   block ? function->begins : function->entry,
				   block, &function->stores);
	}
	*stores = function->stores;
	return code;
}

int analysis_reach(const struct compilation *c, uint64_t entry,
		   enum calls_reach *reach)
{
	struct analysis *analysis = c->analysis;

	if (!analysis->calls)
		analysis->calls = calls_begin(c->module);
	return !analysis->calls || calls_find(analysis->calls, entry, reach) ?
		       -ENOMEM : 0;
}

int analysis_use_result(const struct compilation *c, uint64_t entry, bool *used)
{
	struct analysis *analysis = c->analysis;

	if (!analysis->calls)
		analysis->calls = calls_begin(c->module);
	return !analysis->calls || calls_use_result(analysis->calls, entry, used) ?
		       -ENOMEM : 0;
}

unsigned int analysis_runtime(const struct compilation *c)
{
	struct analysis *analysis = c->analysis;

	if (!analysis->runtime_known)
		analysis->runtime = runtime_find(c->module);
	analysis->runtime_known = true;
	return analysis->runtime;
}

const struct usdt_probes *analysis_usdt(const struct compilation *c)
{
	struct analysis *analysis = c->analysis;

	if (!analysis->usdt_known && usdt_load(c->module, &analysis->usdt))
		return NULL;
	analysis->usdt_known = true;
	return &analysis->usdt;
}

uint64_t analysis_after_prologue(const struct compilation *c, uint64_t entry,
				 uint64_t end)
{
	const struct module_range *range =
		module_function_find(c->module, entry);
	uint64_t start = entry, after;

	if (!end)
		end = range ? range->end : entry;
	if (analysis_runtime(c) & RUNTIME_GO)
		entry = code_after_stack_check(c->module, entry);
	if (c->dwarf && dwarf_prologue_find(c->dwarf, start, end, &after) &&
	    after >= entry && code_reached_once(c->module, entry, after))
		return after;
	return entry;
}

/* A line that begins a function means the code after the prologue, as the
 * function's name does: there the parameters are known. */
uint64_t analysis_line_address(const struct compilation *c, uint64_t address)
{
	const struct module_range *function =
		module_function_find(c->module, address);

	if (!function || function->start != address)
		return address;
	return analysis_after_prologue(c, address, function->end);
}

bool analysis_is_cheap(const struct compilation *c,
		       const struct arch_insn *insn)
{
	return insn->cost == TDF_COST_EMULATED && code_is_good(c->module, insn);
}

void analysis_name(const struct compilation *c, uint64_t address, char *text,
		   size_t size)
{
	const struct module_symbol *symbol =
		symbol_index_find(&c->analysis->symbols, address);
	char name[256];

	if (!symbol) {
		snprintf(text, size, "%#" PRIx64, address);
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)symbol->name_length,
		 symbol->name);
	message_name(text, size, name, symbol->address, address);
}

const char *analysis_text(const struct compilation *c, struct srcpos pos,
			  const char *text, size_t length)
{
	char *copy = tsf_alloc(c->tsf, length + 1);

	if (copy)
		memcpy(copy, text, length);
	else
		diag_no_memory(c->diag, pos);
	return copy;
}

const char *analysis_symbol(const struct compilation *c, struct srcpos pos,
			    uint64_t address, uint64_t *distance)
{
	const struct module_symbol *symbol =
		symbol_index_find(&c->analysis->symbols, address);

	*distance = symbol ? address - symbol->address : 0;
	return symbol ? analysis_text(c, pos, symbol->name,
				      symbol->name_length) : "";
}
