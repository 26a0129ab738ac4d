// SPDX-License-Identifier: GPL-2.0
/* May a probe stand at a place? What a site of a TDF needs to know of it. */
#include "site.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"

/* Name of an address as a TSF would have it. */
static void name_of(struct compilation *c, const struct site_place *place,
		    uint64_t address, char *text, size_t size)
{
	if (place->symbol)
		site_name(text, size, place->symbol, place->base, address);
	else
		site_name_at(c, address, text, size);
}

/* The addresses nearby that would do. */
static void hint_near(struct compilation *c, const struct site_place *place,
		      const struct code_site *at)
{
	char before[320] = "", after[320] = "";

	if (at->before)
		name_of(c, place, at->before, before, sizeof(before));
	if (at->after)
		name_of(c, place, at->after, after, sizeof(after));
	if (before[0] || after[0])
		diag_hint(c->diag, "nearest that can be traced: .%s%s%s",
			  before[0] ? before : after,
			  before[0] && after[0] ? ", ." : "",
			  before[0] ? after : "");
}

static void hint_refused(struct compilation *c, const struct code_site *at,
			 const char *name)
{
	char text[128];

	if (arch_insn_print(c->module->arch, at->bytes, at->insn.length,
			    at->address, text, sizeof(text)))
		snprintf(text, sizeof(text), "the instruction");
	diag_hint(c->diag, "%s at %s %s", text, name, at->insn.why);
}

static int report_bad_opcode(struct compilation *c,
			     const struct tsf_point *point,
			     const struct site_place *place, bool several,
			     const struct code_site *at, int verdict)
{
	char name[320];

	name_of(c, place, at->address, name, sizeof(name));
	if (several)
		diag_report(c->diag, point->tp.pos, TRCERR_LEFTOUT, name);
	else
		diag_report(c->diag, point->tp.pos, TRCERR_BADOPCODE);
	if (verdict == CODE_REFUSED)
		hint_refused(c, at, name);
	else if (verdict == CODE_INSIDE)
		diag_hint(c->diag, "%s is inside an instruction", name);
	else
		diag_hint(c->diag, "whether an instruction begins at %s can't "
				   "be known: there is no function to decode",
			  name);
	if (several)
		return SITE_LEFT_OUT;
	hint_near(c, place, at);
	return 1;
}

static int report_no_code(struct compilation *c, const struct tsf_point *point,
			  const struct site_place *place, bool several)
{
	const char *what = "the address";
	char text[32];

	if (place->symbol && place->address == place->base &&
	    !site_tp_has_offset(&point->tp))
		what = "the symbol";
	snprintf(text, sizeof(text), "%#" PRIx64, place->address);
	if (several)
		diag_report(c->diag, point->tp.pos, TRCERR_LEFTOUT, text);
	else
		diag_report(c->diag, point->tp.pos, TRCERR_INVALIDADDRESS,
			    point->tp.text);
	diag_hint(c->diag, "%s (%s) is not in an executable section", what,
		  text);
	return several ? SITE_LEFT_OUT : 1;
}

/* Without its counter raised the program would not come to the probe. */
static int report_no_semaphore(struct compilation *c,
			       const struct tsf_point *point,
			       const struct site_place *place, bool several)
{
	char text[32];

	snprintf(text, sizeof(text), "%#" PRIx64, place->address);
	if (several)
		diag_report(c->diag, point->tp.pos, TRCERR_LEFTOUT, text);
	else
		diag_report(c->diag, point->tp.pos, TRCERR_INVALIDADDRESS,
			    point->tp.text);
	diag_hint(c->diag, "its semaphore (%#" PRIx64 ") is not in the file",
		  place->semaphore);
	return several ? SITE_LEFT_OUT : 1;
}

static int check_opcode(struct compilation *c, const struct tsf_point *point,
			const struct code_site *at)
{
	char name[320];

	if (point->opcode < 0 || point->opcode == at->bytes[0])
		return 0;
	site_name_at(c, at->address, name, sizeof(name));
	diag_report(c->diag, point->opcode_pos, TRCERR_OPCODEMISMTCH);
	diag_hint(c->diag, "there is 0x%02x at %s", at->bytes[0], name);
	return 1;
}

static const struct module_segment *segment_of(const struct module *module,
					       uint64_t address)
{
	for (size_t i = 0; i < module->segment_count; i++)
		if (address - module->segments[i].address <
		    module->segments[i].size)
			return &module->segments[i];
	return NULL;
}

/* The counter of a USDT probe is told by where it is in the file. */
static uint64_t semaphore_offset(const struct module *module, uint64_t address)
{
	const struct module_segment *segment;

	if (!address)
		return 0;
	segment = segment_of(module, address);
	return segment ? segment->offset + (address - segment->address) : 0;
}

/* The symbol as the tracepoint names it, where the kernel has it so. */
static const struct module_symbol *
symbol_as_named(struct compilation *c, const struct site_place *place)
{
	const struct module_symbol *symbol;
	bool others;

	if (!place->symbol || place->address < place->base)
		return NULL;
	symbol = module_symbol_find(c->module, place->symbol, MODULE_CODE,
				    &others);
	return symbol && symbol->address == place->base &&
	       symbol->name_length == strlen(place->symbol) &&
	       !memcmp(symbol->name, place->symbol, symbol->name_length) ?
		       symbol : NULL;
}

/* The nearest one in front of the address that has a name of its own, in the
 * same section of a module; of the kernel its first. */
static const struct module_symbol *symbol_before(struct compilation *c,
						 uint64_t address)
{
	struct symbol_index *index = &c->sites->symbols;
	bool others;

	if (c->module->kind == TDF_MODULE_KERNEL)
		return module_symbol_find(c->module, "_text", MODULE_CODE,
					  &others);
	for (size_t i = index->count; i--;)
		if (index->symbols[i]->address <= address &&
		    module_is_together(c->module, index->symbols[i]->address,
				       address) &&
		    symbol_index_is_unique(index, index->symbols[i]))
			return index->symbols[i];
	return NULL;
}

/* The kernel takes the first symbol of a name, and no address before it: one
 * that stands for a single address is needed. */
static int fill_kernel(struct compilation *c, const struct tsf_point *point,
		       const struct site_place *place,
		       struct compile_site *site)
{
	const struct module_symbol *symbol = symbol_as_named(c, place);

	if (!symbol)
		symbol = symbol_index_find(&c->sites->symbols, place->address);
	if (symbol && (!symbol_index_is_unique(&c->sites->symbols, symbol) ||
		       !module_is_together(c->module, symbol->address,
					   place->address)))
		symbol = symbol_before(c, place->address);
	if (!symbol || !symbol->defined || symbol->address > place->address ||
	    place->address - symbol->address > INT32_MAX) {
		diag_report(c->diag, point->tp.pos, TRCERR_INVALIDADDRESS,
			    point->tp.text);
		diag_hint(c->diag, "the kernel takes no address in front of a "
				   "symbol: name the symbol before it");
		return 1;
	}
	site->symbol = site_text(c, point, symbol->name, symbol->name_length);
	site->symbol_offset = site->offset = place->address - symbol->address;
	site->cost = TDF_COST_UNKNOWN;
	return site->symbol ? 0 : -1;
}

static int fill_user(struct compilation *c, const struct tsf_point *point,
		     const struct site_place *place,
		     const struct code_site *at, struct compile_site *site)
{
	const struct module_symbol *symbol;

	site->symbol = place->symbol;
	site->symbol_offset = place->address - place->base;
	if (!place->symbol) {
		symbol = symbol_index_find(&c->sites->symbols, place->address);
		site->symbol = symbol ? site_text(c, point, symbol->name,
						  symbol->name_length) : "";
		site->symbol_offset = symbol ?
				      place->address - symbol->address : 0;
	}
	site->offset = at->offset;
	site->cost = at->insn.cost;
	site->insn_length = at->insn.length;
	memcpy(site->insn, at->bytes, at->insn.length);
	return site->symbol ? 0 : -1;
}

/* The part of a function that debug information has around the address begins
 * there; 0: none. */
static uint64_t part_start(const struct compilation *c, uint64_t address)
{
	struct dwarf_functions found = { 0 };
	uint64_t start = 0;

	if (!c->dwarf || module_function_find(c->module, address) ||
	    dwarf_function_at(c->dwarf, address, &found))
		return 0;
	for (size_t i = 0; found.count && i < found.functions[0].range_count;
	     i++)
		if (address - found.functions[0].ranges[i].start <
		    found.functions[0].ranges[i].end -
		    found.functions[0].ranges[i].start)
			start = found.functions[0].ranges[i].start;
	dwarf_functions_free(&found);
	return start;
}

/* Where decoding may begin when no function is known around the place. */
static uint64_t find_label(const struct compilation *c,
			   const struct site_place *place)
{
	const struct module_symbol *symbol;
	uint64_t start;

	if (place->claimed)
		return place->address;
	start = part_start(c, place->address);
	if (start)
		return start;
	if (place->symbol)
		return place->base;
	symbol = symbol_index_find(&c->sites->symbols, place->address);
	return symbol ? symbol->address : UINT64_MAX;
}

int site_check(struct compilation *c, const struct tsf_point *point,
	       const struct site_place *place, bool several,
	       struct compile_site *site)
{
	struct code_site at = {.address = place->address};
	size_t available;
	int verdict;

	if (!module_code(c->module, at.address, &available, NULL))
		return report_no_code(c, point, place, several);
	if (place->decoded)
		verdict = code_look(c->module, &at);
	else
		verdict = code_check(c->module, find_label(c, place), &at);
	if (verdict < 0)
		return diag_no_memory(c->diag, point->tp.pos);
	if (verdict == CODE_GOOD && c->module->kind == TDF_MODULE_USER &&
	    module_is_relocated(c->module, at.address, at.insn.length)) {
		at.insn.why = "is changed by the loader, which a uprobe "
			      "would undo";
		verdict = CODE_REFUSED;
	}
	if (check_opcode(c, point, &at))
		return 1;
	if (verdict != CODE_GOOD)
		return report_bad_opcode(c, point, place, several, &at,
					 verdict);
	site->address = site->nominal = place->address;
	site->named = place->named ? place->named : place->address;
	site->from = place->from;
	site->from.pc = place->address;
	site->flags = place->flags;
	site->semaphore = semaphore_offset(c->module, place->semaphore);
	if (place->semaphore && !site->semaphore)
		return report_no_semaphore(c, point, place, several);
	site->arguments = place->arguments;
	site->entry = place->function ? place->base : place->entry;
	site->exit = place->exit;
	site->result_rpn = place->result_rpn;
	site->result = c->module->arch->results[0];
	if (c->module->kind != TDF_MODULE_USER)
		return fill_kernel(c, point, place, site);
	return fill_user(c, point, place, &at, site);
}

/* A "page" is a loadable segment: the kernel puts uprobes into private
 * mappings that can be executed and not written, and says nothing else. */
bool site_check_page(struct compilation *c, const struct tsf_point *point,
		     const struct compile_site *site)
{
	size_t count;
	GElf_Phdr ph;

	if (c->module->kind != TDF_MODULE_USER ||
	    elf_getphdrnum(c->module->elf, &count))
		return true;
	for (size_t i = 0; i < count && gelf_getphdr(c->module->elf, i, &ph);
	     i++) {
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_W) ||
		    site->address - ph.p_vaddr >= ph.p_filesz)
			continue;
		diag_report(c->diag, point->tp.pos, TRCERR_BAD_PAGE);
		diag_hint(c->diag, "it is in a segment that is writable: the "
				   "kernel puts no uprobe there");
		return false;
	}
	return true;
}
