// SPDX-License-Identifier: GPL-2.0
#include "site_place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "lib/array.h"

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

/* TP=.name with an offset, which may be +0. */
static bool site_place_has_offset(const struct tsf_tp *tp)
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
static int refuse_address(const struct site_search *s, const char *what)
{
	bool several = s->count > 1;

	diag_report(s->c->diag, s->point->tp.pos,
		    several ? TRCERR_LEFTOUT : TRCERR_INVALIDADDRESS,
		    several ? what : s->point->tp.text);
	return several ? SITE_LEFT_OUT : 1;
}

static int refuse_opcode(const struct site_search *s,
			 const struct site_place *place,
			 const struct code_site *at, int verdict)
{
	bool several = s->count > 1;
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
		     const struct site_place *place, struct compile_site *site)
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
		code = refuse_address(s, address);
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
		return refuse_opcode(s, place, &at, verdict);

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
		code = refuse_address(s, address);
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
	site->pushes = at.insn.pushes;
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

/*
 * TP=.name[{+|-}offs] (manual 1.3.5.2). Without an offset the address is the
 * one after the function's prologue, where debug information has it and every
 * call reaches it exactly once (optimised code may have a loop or an early exit
 * there); else that of the symbol, in Go that after the stack check, which runs
 * again when the stack has grown. An offset, +0 included, is relative to the
 * symbol. A symbol of a map is a label. A function that was only inlined has a
 * place where each copy begins.
 */

static void warn_ambiguous_code(const struct site_search *s, uint64_t used)
{
	char text[1024];

	snprintf(text, sizeof(text), "%#" PRIx64, used);
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_AMBIGUOUS,
		    s->point->tp.name, text);
	module_symbol_candidates(s->c->module, s->point->tp.name, MODULE_CODE,
				 text, sizeof(text));
	if (text[0])
		diag_hint(s->c->diag, "there are: %s", text);
	if (!strchr(s->point->tp.name, '('))
		diag_hint(s->c->diag, "TP=%s(*) means all of them",
			  s->point->tp.name);
}

/* A place that has the name of the TP; `others` have it, too. */
static struct site_place *place_add_named(struct site_search *s,
					  uint64_t address, uint64_t size,
					  bool others)
{
	struct site_place *place = site_place_add(s, address);

	if (!place)
		return NULL;
	if (others)
		warn_ambiguous_code(s, address);
	place->symbol = s->point->tp.name;
	place->base = address;
	place->end = size ? address + size : 0;
	return place;
}

/* "__strlen_avx2" or, of gcc's target_clones, "strlen.avx2" */
static bool is_implementation(const struct module_symbol *symbol,
			      const char *name, size_t length)
{
	const char *own = symbol->name;
	size_t left = symbol->name_length;
	bool prefixed = left > 2 && own[0] == '_' && own[1] == '_';

	own += prefixed ? 2 : 0;
	left -= prefixed ? 2 : 0;
	if (!symbol->defined || symbol->type != STT_FUNC || left <= length ||
	    memcmp(own, name, length))
		return false;
	own += length;
	left -= length;
	return own[0] == (prefixed ? '_' : '.') &&
	       (left < 5 || memcmp(own, "_chk_", 5)) &&
	       !memmem(own, left, "resolver", 8);
}

/* The resolver runs once: calls reach what it chose. */
static void warn_resolver(const struct site_search *s)
{
	const struct module *module = s->c->module;
	const char *name = s->point->tp.name;
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < module->symbol_count; i++) {
		const struct module_symbol *symbol = &module->symbols[i];

		if (used + symbol->name_length + 4 < sizeof(text) &&
		    is_implementation(symbol, name, strlen(name)))
			used += snprintf(text + used, sizeof(text) - used,
					 "%s.%.*s", used ? ", " : "",
					 (int)symbol->name_length,
					 symbol->name);
	}
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_IFUNC, name);
	diag_hint(s->c->diag, "it runs once, when the program is loaded; calls "
			      "come to what it chose%s%s", used ? ": " : "",
		  text);
}

static int find_elf(struct site_search *s, const struct module_symbol *symbol,
		    bool others)
{
	struct site_place *place = place_add_named(s, symbol->address,
						   symbol->size, others);
	const struct compilation *c = s->c;
	size_t available;
	char text[16];

	if (!place)
		return -1;
	if (symbol->type == STT_GNU_IFUNC)
		warn_resolver(s);
	/* st_shndx of an absolute symbol doesn't name a section */
	if (symbol->absolute &&
	    module_code(c->module, symbol->address, &available, NULL)) {
		snprintf(text, sizeof(text), "%#x", SHN_ABS);
		diag_report(c->diag, s->point->tp.pos, TRCERR_BAD_OBJ, text,
			    c->module->path);
		diag_hint(c->diag, "the symbol is an absolute number, its "
				   "value is taken for an address of code");
	}
	place->function = symbol->type == STT_FUNC;
	place->from.outermost = place->function;
	return 0;
}

/* The symbol at the entry of a part or clone that gcc made of the function:
 * "name.part.0", "name.constprop.0.isra.0". NULL: another one. */
static const struct module_symbol *
made_symbol(const struct compilation *c, const struct dwarf_function *function,
	    const char *what)
{
	const struct module_symbol *symbol =
		symbol_index_find(&c->analysis->symbols, function->entry);

	return symbol && symbol->address == function->entry &&
	       memmem(symbol->name, symbol->name_length, what, strlen(what)) ?
		       symbol : NULL;
}

static const struct module_symbol *
clone_symbol(const struct compilation *c, const struct dwarf_function *function)
{
	const struct module_symbol *symbol =
		made_symbol(c, function, ".constprop.");

	if (function->inlined)
		return NULL;
	return symbol ? symbol : made_symbol(c, function, ".isra.");
}

static bool is_part(const struct compilation *c,
		    const struct dwarf_function *function)
{
	return !function->inlined && made_symbol(c, function, ".part.");
}

static int add_function(struct site_search *s,
			const struct dwarf_function *function)
{
	const struct module_symbol *clone =
		s->all ? made_symbol(s->c, function, "") :
			 clone_symbol(s->c, function);
	struct site_place *place = site_place_add(s, function->entry);

	if (!place)
		return -1;
	place->claimed = true;
	place->from.function = function->die.addr;
	if (function->inlined)
		return 0;
	place->symbol = s->point->tp.name;
	if (clone)
		place->symbol = analysis_text(s->c, s->point->tp.pos,
					      clone->name, clone->name_length);
	if (!place->symbol)
		return -1;
	place->base = function->entry;
	place->function = true;
	for (size_t i = 0; i < function->range_count; i++)
		if (function->ranges[i].start == function->entry)
			place->end = function->ranges[i].end;
	return 0;
}

static bool is_same_source(const struct dwarf_function *a,
			   const struct dwarf_function *b)
{
	Dwarf_Die one = a->die, other = b->die;

	return dwarf_die_root(&one).addr == dwarf_die_root(&other).addr;
}

/* Adds clones of a function that has a symbol of its own: calls of a global
 * function in its own file may call a clone. */
static int add_clones(struct site_search *s, const struct module_symbol *symbol)
{
	const struct compilation *c = s->c;
	const struct dwarf_function *own = NULL;
	struct dwarf_functions found;
	int code = 0;

	if (!c->dwarf || symbol->type != STT_FUNC || s->point->tp.offset)
		return 0;
	if (dwarf_function_find(c->dwarf, s->point->tp.name, NULL, &found))
		return diag_no_memory(c->diag, s->point->tp.pos);
	for (size_t i = 0; i < found.count; i++)
		if (!found.functions[i].inlined &&
		    found.functions[i].entry == symbol->address)
			own = &found.functions[i];
	for (size_t i = 0; own && i < found.count && !code; i++)
		if (&found.functions[i] != own &&
		    clone_symbol(c, &found.functions[i]) &&
		    is_same_source(own, &found.functions[i]))
			code = add_function(s, &found.functions[i]);
	dwarf_functions_free(&found);
	return code;
}

/* The function that was compiled for itself. Clones of it that the calls are
 * spread over are added, others of the name only reported. */
static int take_own(struct site_search *s, const struct dwarf_functions *found,
		    const struct dwarf_function *own)
{
	int code = add_function(s, own);
	bool others = false;

	for (size_t i = 0; i < found->count && !code; i++) {
		const struct dwarf_function *other = &found->functions[i];

		if (other->inlined || other->entry == own->entry ||
		    is_part(s->c, other))
			continue;
		if (s->all || (clone_symbol(s->c, own) &&
			       clone_symbol(s->c, other) &&
			       is_same_source(own, other)))
			code = add_function(s, other);
		else
			others = true;
	}
	if (others)
		warn_ambiguous_code(s, own->entry);
	return code;
}

/* The function that was compiled for itself, else all its inlined copies. These
 * begin with all of it, or with the part that calls the other part. */
static int take_functions(struct site_search *s,
			  const struct dwarf_functions *found)
{
	const struct dwarf_function *list = found->functions, *part = NULL;
	struct diag *diag = s->c->diag;
	size_t vague = 0;
	char text[24];
	int code = 0;

	for (size_t i = 0; i < found->count; i++) {
		if (is_part(s->c, &list[i]))
			part = &list[i];
		else if (!list[i].inlined)
			return take_own(s, found, &list[i]);
	}
	for (size_t i = 0; i < found->count && !code; i++) {
		/* it has no code, and is entered where another copy is */
		bool empty = i && !list[i].range_count &&
			     list[i].entry == list[i - 1].entry;

		vague += list[i].vague;
		if (list[i].inlined && !empty)
			code = add_function(s, &list[i]);
	}
	if (vague) {
		snprintf(text, sizeof(text), "%zu", vague);
		diag_report(diag, s->point->tp.pos, TRCERR_VAGUE,
			    s->point->tp.name, text);
	}
	if (part && !s->count && !code) {
		code = add_function(s, part);
		diag_report(diag, s->point->tp.pos, TRCERR_SPLIT,
			    s->point->tp.name);
	}
	return code;
}

static int find_dwarf(struct site_search *s, const char *name, const char *file)
{
	struct dwarf_functions found;
	int code;

	if (dwarf_function_find(s->c->dwarf, name, file, &found))
		return diag_no_memory(s->c->diag, s->point->tp.pos);
	code = take_functions(s, &found);
	dwarf_functions_free(&found);
	return code;
}

/* The functions of one source, those of others left out. */
static int take_source(struct site_search *s,
		       const struct dwarf_functions *found, size_t first)
{
	struct dwarf_functions same = { 0 };
	int code = 0;

	/* the first one of it takes them all */
	for (size_t i = 0; i < first; i++)
		if (is_same_source(&found->functions[i],
				   &found->functions[first]))
			return 0;
	same.functions = calloc(found->count, sizeof(*same.functions));
	if (!same.functions)
		return diag_no_memory(s->c->diag, s->point->tp.pos);
	for (size_t i = first; i < found->count; i++)
		if (is_same_source(&found->functions[i],
				   &found->functions[first]))
			same.functions[same.count++] = found->functions[i];
	code = take_functions(s, &same);
	free(same.functions);	/* the ranges are found's */
	return code;
}

struct symbol_list {
	struct site_search *s;
	int code;
};

/* A function that debug information doesn't have. */
static void take_symbol(void *context, const struct module_symbol *symbol)
{
	struct symbol_list *list = context;
	struct site_search *s = list->s;

	if (list->code || symbol->type != STT_FUNC || !symbol->defined)
		return;
	for (size_t i = 0; i < s->count; i++)
		if (s->places[i].address == symbol->address)
			return;
	list->code = find_elf(s, symbol, false);
	if (list->code)
		return;
	s->places[s->count - 1].symbol =
		analysis_text(s->c, s->point->tp.pos, symbol->name,
			      symbol->name_length);
	if (!s->places[s->count - 1].symbol)
		list->code = -1;
}

/* TP=name(*): every function that the name means, and the inlined copies of
 * those that exist only inlined. */
static int find_overloads(struct site_search *s, const char *name, const char *file)
{
	const struct compilation *c = s->c;
	struct symbol_list list = { .s = s };
	struct dwarf_functions found = { 0 };
	int code = 0;

	s->all = true;
	if (c->dwarf && dwarf_function_find(c->dwarf, name, file, &found))
		return diag_no_memory(c->diag, s->point->tp.pos);
	for (size_t i = 0; i < found.count && !code; i++)
		code = take_source(s, &found, i);
	dwarf_functions_free(&found);
	if (code || file)
		return code;
	module_symbol_each(c->module, name, MODULE_CODE, take_symbol, &list);
	return list.code;
}

static int find_map(struct site_search *s)
{
	bool others;
	const struct map_symbol *symbol =
		map_find(s->c->map, s->point->tp.name, true, &others);

	return !symbol || place_add_named(s, symbol->address, symbol->size,
					  others) ? 0 : -1;
}

/* "file.c:name": what follows the colon, which is no part of a "::" of the
 * name, without "(*)". *file: a copy of what precedes it. 0, 1: there is no
 * file; -1 after a message. */
static int name_split(const struct compilation *c,
		      const struct tsf_point *point, const char **file,
		      const char **name)
{
	const char *text = point->tp.name;

	*file = NULL;
	if (tsf_tp_is_all(&point->tp))
		text = analysis_text(c, point->tp.pos, text, strlen(text) - 3);
	if (!text)
		return -1;
	*name = text;
	for (const char *p = text; *p && *p != '('; p++) {
		if (*p != ':')
			continue;
		if (p[1] == ':') {
			p++;
			continue;
		}
		if (p == text)
			return 1;
		*name = p + 1;
		*file = analysis_text(c, point->tp.pos, text, p - text);
		return *file ? 0 : -1;
	}
	return 1;
}

static int report_unknown_code(const struct site_search *s,
			       const struct module_symbol *symbol)
{
	const struct compilation *c = s->c;
	const char *name = s->point->tp.name;
	char text[512];

	if (!c->module->symbol_count && !c->dwarf && !c->map) {
		diag_report(c->diag, s->point->tp.pos, TRCERR_NO_SYMBOLIC,
			    c->module->path);
		diag_hint(c->diag,
			  "the module has neither .symtab nor .dynsym");
		return -1;
	}
	diag_report(c->diag, s->point->tp.pos, TRCERR_BADSYMBOL, name);
	if (symbol) {
		message_hint_imported(c);
		return 1;
	}
	module_symbol_near(c->module, name, MODULE_CODE, text, sizeof(text));
	if (text[0])
		diag_hint(c->diag, "near names: %s", text);
	if (strchr(name, '@'))
		diag_hint(c->diag, "a version is no part of the name: '.%.*s'",
			  (int)strcspn(name, "@"), name);
	if (!c->module->has_symtab)
		diag_hint(c->diag, "the module is stripped: only what it "
				   "exports has a name");
	message_hint_debug(c);
	return 1;
}

int site_symbol_find(struct site_search *s)
{
	const struct compilation *c = s->c;
	const struct module_symbol *symbol = NULL;
	const char *file, *name;
	bool others;
	int code = name_split(c, s->point, &file, &name);

	if (code < 0)
		return -1;
	if (file && !c->dwarf) {
		diag_report(c->diag, s->point->tp.pos, TRCERR_NO_CV,
			    c->module->path);
		diag_hint(c->diag, "without it, what is in '%s' is not known",
			  file);
		message_hint_debug(c);
		return 1;
	}
	if (!file)
		symbol = module_symbol_find(c->module, name, MODULE_CODE,
					    &others);
	if (tsf_tp_is_all(&s->point->tp)) {
		code = find_overloads(s, name, file);
		return code || s->count ? code : report_unknown_code(s, symbol);
	}
	if (symbol && symbol->defined) {
		code = find_elf(s, symbol, others);
		return code ? code : add_clones(s, symbol);
	}
	code = c->dwarf ? find_dwarf(s, name, file) : 0;
	if (!code && !s->count && c->map)
		code = find_map(s);
	if (!code && !s->count)
		code = report_unknown_code(s, symbol);
	return code;
}

int site_symbol_functions(const struct compilation *c,
			  const struct tsf_point *point,
			  struct dwarf_functions *found)
{
	const char *file, *name;

	*found = (struct dwarf_functions){ 0 };
	if (!c->dwarf)
		return 0;
	if (name_split(c, point, &file, &name) < 0)
		return -ENOMEM;
	return dwarf_function_find(c->dwarf, name, file, found);
}

/* "object" of the message is a section: the offset should stay in that of the
 * symbol. */
static void check_offset(const struct site_search *s,
			 const struct site_place *place)
{
	const struct module *module = s->c->module;
	const struct module_range *section = NULL;
	int64_t offset = s->point->tp.offset;
	char text[32], number[32] = "?";
	Elf_Scn *scn = NULL;
	size_t available;
	GElf_Shdr sh;

	for (size_t i = 0; i < module->section_count && !section; i++)
		if (place->base >= module->sections[i].start &&
		    place->base < module->sections[i].end)
			section = &module->sections[i];
	if (!section || (place->address >= section->start &&
			 place->address < section->end) ||
	    !module_code(s->c->module, place->address, &available, NULL))
		return;
	snprintf(text, sizeof(text), "%s%#" PRIx64, offset < 0 ? "-" : "",
		 (uint64_t)(offset < 0 ? -offset : offset));
	while ((scn = elf_nextscn(module->elf, scn)))
		if (gelf_getshdr(scn, &sh) && (sh.sh_flags & SHF_ALLOC) &&
		    place->base - sh.sh_addr < sh.sh_size)
			snprintf(number, sizeof(number), "%zu",
				 elf_ndxscn(scn));
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_BAD_OFFSET, text,
		    number);
}

/* A jump in the function back to its address that is no call: *from; 0: there
 * is none. */
static int loop_find(const struct compilation *c, uint64_t address,
		     uint64_t *from)
{
	const struct flow *flow;
	int code = code_jumps_to(c->module, address) ?
			   analysis_flow(c, address, &flow, NULL) : -ENOENT;

	*from = 0;
	for (size_t i = 0; !code && i < flow->part_count; i++) {
		const struct flow_part *part = &flow->parts[i];
		struct arch_insn insn;

		for (uint32_t at = 0; at < part->size; at++)
			if (part->marks[at] & FLOW_INSN &&
			    flow_insn(flow, part, at, &insn) &&
			    (insn.flow == ARCH_FLOW_BRANCH ||
			     insn.flow == ARCH_FLOW_JUMP) &&
			    flow_target(flow, part->start + at, &insn) ==
				    address &&
			    !flow_calls_itself(flow, part, at, &insn, address))
				*from = part->start + at;
	}
	return code == -ENOENT ? 0 : code;
}

int site_symbol_places(struct site_search *s)
{
	const struct tsf_tp *tp = &s->point->tp;
	const struct compilation *c = s->c;
	int code = site_symbol_find(s);
	char name[320];
	uint64_t from;

	for (size_t i = 0; i < s->count && !code; i++) {
		struct site_place *place = &s->places[i];

		if (site_place_has_offset(tp)) {
			place->address += tp->offset;
			if (c->module->elf_class != ELFCLASS64)
				place->address = (uint32_t)place->address;
			place->claimed = false;
			if (tp->offset)
				place->from = (struct dwarf_from) { 0 };
			check_offset(s, place);
			continue;
		}
		if (!place->function)
			continue;
		place->address = analysis_after_prologue(c, place->base,
							 place->end);
		/* without a prologue the first instruction may also be the head
		 * of a loop */
		if (loop_find(c, place->address, &from))
			return diag_no_memory(c->diag, tp->pos);
		place->loop = from;
		if (!from || tp->whole)
			continue;
		analysis_name(c, from, name, sizeof(name));
		diag_report(c->diag, tp->pos, TRCERR_ENTRYLOOP, tp->name);
		diag_hint(c->diag, "the jump at %s leads back to it; "
				   "TP=.%s,RETEP counts the calls",
			  name, tp->name);
	}
	return code;
}
