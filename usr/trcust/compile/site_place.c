// SPDX-License-Identifier: GPL-2.0
#include "site_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "lib/array.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "message.h"

struct site_place *site_place_add(struct site_search *s, uint64_t address)
{
	struct site_place *place;

	if (!array_grow(&s->places, s->count, &s->room, sizeof(*s->places))) {
		diag_no_memory(s->c->diag, s->point->tp.pos);
		return NULL;
	}
	place = &s->places[s->count++];
	*place = (struct site_place) { .address = address };
	return place;
}

bool site_place_has_offset(const struct tsf_tp *tp)
{
	char next = tp->kind == TSF_TP_SYMBOL ? tp->text[strlen(tp->name)] :
						'\0';

	return !tp->retep && (next == '+' || next == '-');
}

/* An address as a TSF would name it. */
static void address_spell(const struct site_search *s,
			  const struct site_place *place, uint64_t address,
			  char *text, size_t size)
{
	if (place->symbol)
		message_name(text, size, place->symbol, place->base, address);
	else
		analysis_name(s->c, address, text, size);
}

/* Of several places the one named `what` is left out after a warning; else the
 * address is wrong. The caller adds why. */
static int refuse_address(const struct site_search *s, bool several,
			  const char *what)
{
	diag_report(s->c->diag, s->point->tp.pos,
		    several ? TRCERR_LEFTOUT : TRCERR_INVALIDADDRESS,
		    several ? what : s->point->tp.text);
	return several ? SITE_LEFT_OUT : 1;
}

static int refuse_opcode(const struct site_search *s,
			 const struct site_place *place, bool several,
			 const struct code_site *at, int verdict)
{
	struct diag *diag = s->c->diag;
	char name[320], insn[128], before[320] = "", after[320] = "";

	address_spell(s, place, at->address, name, sizeof(name));
	if (several)
		diag_report(diag, s->point->tp.pos, TRCERR_LEFTOUT, name);
	else
		diag_report(diag, s->point->tp.pos, TRCERR_BADOPCODE);
	if (verdict == CODE_REFUSED) {
		if (arch_insn_print(s->c->module->arch, at->bytes,
				    at->insn.length, at->address, insn,
				    sizeof(insn)))
			snprintf(insn, sizeof(insn), "the instruction");
		diag_hint(diag, "%s at %s %s", insn, name, at->insn.why);
	} else if (verdict == CODE_INSIDE) {
		diag_hint(diag, "%s is inside an instruction", name);
	} else {
		diag_hint(diag, "whether an instruction begins at %s can't "
				"be known: there is no function to decode",
			  name);
	}
	if (several)
		return SITE_LEFT_OUT;
	if (at->before)
		address_spell(s, place, at->before, before, sizeof(before));
	if (at->after)
		address_spell(s, place, at->after, after, sizeof(after));
	if (before[0] || after[0])
		diag_hint(diag, "nearest that can be traced: .%s%s%s",
			  before[0] ? before : after,
			  before[0] && after[0] ? ", ." : "",
			  before[0] ? after : "");
	return 1;
}

/* The nearest symbol before the address with a name that no other symbol has,
 * in the same section of a module; of the kernel its first symbol. */
static const struct module_symbol *symbol_before(const struct compilation *c,
						 uint64_t address)
{
	struct symbol_index *index = &c->analysis->symbols;
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

/* The kernel takes the first symbol of a name and an offset that is not
 * negative: only a symbol whose name is unique will do. */
static int fill_kernel(const struct site_search *s,
		       const struct site_place *place,
		       struct compile_site *site)
{
	const struct compilation *c = s->c;
	const struct module_symbol *symbol = NULL;
	bool others;

	/* the symbol that the tracepoint names, when the kernel finds the same
	 * symbol by this name */
	if (place->symbol && place->address >= place->base)
		symbol = module_symbol_find(c->module, place->symbol,
					    MODULE_CODE, &others);
	if (!symbol || symbol->address != place->base ||
	    symbol->name_length != strlen(place->symbol) ||
	    memcmp(symbol->name, place->symbol, symbol->name_length))
		symbol = symbol_index_find(&c->analysis->symbols,
					   place->address);
	if (symbol && (!symbol_index_is_unique(&c->analysis->symbols, symbol) ||
		       !module_is_together(c->module, symbol->address,
					   place->address)))
		symbol = symbol_before(c, place->address);
	if (!symbol || !symbol->defined || symbol->address > place->address ||
	    place->address - symbol->address > INT32_MAX) {
		diag_report(c->diag, s->point->tp.pos, TRCERR_INVALIDADDRESS,
			    s->point->tp.text);
		diag_hint(c->diag, "the kernel takes no address in front of a "
				   "symbol: name the symbol before it");
		return 1;
	}
	site->symbol = analysis_text(c, s->point->tp.pos, symbol->name,
				     symbol->name_length);
	site->symbol_offset = site->offset = place->address - symbol->address;
	site->cost = TDF_COST_UNKNOWN;
	return site->symbol ? 0 : -1;
}

/* Where decoding may begin when no function is known around the place: at the
 * part of a function that debug information has there, else at the nearest
 * symbol. */
static uint64_t find_label(const struct compilation *c,
			   const struct site_place *place)
{
	struct dwarf_functions found = { 0 };
	const struct module_symbol *symbol;
	uint64_t start = 0;

	if (place->claimed)
		return place->address;
	if (c->dwarf && !module_function_find(c->module, place->address) &&
	    !dwarf_function_at(c->dwarf, place->address, &found)) {
		const struct dwarf_function *first = found.functions;

		for (size_t i = 0; found.count && i < first->range_count; i++)
			if (place->address - first->ranges[i].start <
			    first->ranges[i].end - first->ranges[i].start)
				start = first->ranges[i].start;
		dwarf_functions_free(&found);
	}
	if (start)
		return start;
	if (place->symbol)
		return place->base;
	symbol = symbol_index_find(&c->analysis->symbols, place->address);
	return symbol ? symbol->address : UINT64_MAX;
}

int site_place_check(const struct site_search *s,
		     const struct site_place *place, bool several,
		     struct compile_site *site)
{
	const struct compilation *c = s->c;
	const struct tsf_point *point = s->point;
	struct code_site at = { .address = place->address };
	char address[32], name[320];
	size_t available;
	int verdict, code;

	/* Is there code, and does an instruction begin there? */
	snprintf(address, sizeof(address), "%#" PRIx64, place->address);
	if (!module_code(c->module, at.address, &available, NULL)) {
		code = refuse_address(s, several, address);
		diag_hint(c->diag, "%s (%s) is not in an executable section",
			  place->symbol && place->address == place->base &&
			  !site_place_has_offset(&point->tp) ?
				  "the symbol" : "the address", address);
		return code;
	}
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
	if (point->opcode >= 0 && point->opcode != at.bytes[0]) {
		analysis_name(c, at.address, name, sizeof(name));
		diag_report(c->diag, point->opcode_pos, TRCERR_OPCODEMISMTCH);
		diag_hint(c->diag, "there is 0x%02x at %s", at.bytes[0], name);
		return 1;
	}
	if (verdict != CODE_GOOD)
		return refuse_opcode(s, place, several, &at, verdict);

	site->address = site->nominal = place->address;
	site->named = place->named ? place->named : place->address;
	site->from = place->from;
	site->from.pc = place->address;
	site->flags = place->flags;
	/* the counter of a USDT probe: where it is in the file */
	site->semaphore = 0;
	for (size_t i = 0; i < c->module->segment_count; i++) {
		const struct module_segment *in = &c->module->segments[i];

		if (place->semaphore &&
		    place->semaphore - in->address < in->size)
			site->semaphore = in->offset + place->semaphore -
					  in->address;
	}
	if (place->semaphore && !site->semaphore) {
		/* the program skips the probe while its counter is 0 */
		code = refuse_address(s, several, address);
		diag_hint(c->diag, "its semaphore (%#" PRIx64 ") is not in the "
				   "file", place->semaphore);
		return code;
	}
	site->arguments = place->arguments;
	site->entry = place->function ? place->base : place->entry;
	site->exit = place->exit;
	site->result_rpn = place->result_rpn;
	site->result = c->module->arch->results[0];
	if (c->module->kind != TDF_MODULE_USER)
		return fill_kernel(s, place, site);
	site->symbol = place->symbol;
	site->symbol_offset = place->address - place->base;
	if (!place->symbol)
		site->symbol = analysis_symbol(c, point->tp.pos, place->address,
					       &site->symbol_offset);
	site->offset = at.offset;
	site->cost = at.insn.cost;
	site->insn_length = at.insn.length;
	memcpy(site->insn, at.bytes, at.insn.length);
	return site->symbol ? 0 : -1;
}

/* A "page" is a loadable segment: the kernel puts uprobes only into private
 * mappings that are executable and not writable, and reports nothing for
 * others. */
bool site_place_check_page(const struct site_search *s,
			   const struct compile_site *site)
{
	const struct compilation *c = s->c;
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
		diag_report(c->diag, s->point->tp.pos, TRCERR_BAD_PAGE);
		diag_hint(c->diag, "it is in a segment that is writable: the "
				   "kernel puts no uprobe there");
		return false;
	}
	return true;
}
