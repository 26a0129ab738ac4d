// SPDX-License-Identifier: GPL-2.0
/*
 * TP=.name[{+|-}offs] (manual 1.3.5.2). Without an offset the address is the
 * one behind the function's prologue, where debug information tells it and
 * every call comes there once (optimised code may have a loop or an early
 * exit there), else the symbol's, of Go the one after its stack check, which
 * runs again when the stack has grown; with an offset, +0 included, it is
 * counted from the symbol. A symbol of a map is a label. A function that was
 * only inlined has a place where each copy begins.
 */
#include "site.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/debug/module/module.h"
#include "lib/debug/dwarf/dwarf.h"

uint64_t site_behind_prologue(struct compilation *c, uint64_t entry,
			      uint64_t end)
{
	const struct module_range *range =
		module_function_find(c->module, entry);
	uint64_t start = entry, behind;

	if (!end)
		end = range ? range->end : entry;
	if (site_runtime(c) & RUNTIME_GO)
		entry = code_after_stack_check(c->module, entry);
	if (c->dwarf && dwarf_prologue_find(c->dwarf, start, end, &behind) &&
	    behind >= entry &&
	    code_reached_once(c->module, entry, behind))
		return behind;
	return entry;
}

static void hint_missing(struct compilation *c, const char *name)
{
	char text[512];

	module_symbol_near(c->module, name, MODULE_CODE, text, sizeof(text));
	if (text[0])
		diag_hint(c->diag, "near names: %s", text);
	if (strchr(name, '@'))
		diag_hint(c->diag, "a version is no part of the name: '.%.*s'",
			  (int)strcspn(name, "@"), name);
	if (!c->module->has_symtab)
		diag_hint(c->diag, "the module is stripped: only what it "
				   "exports has a name");
	compile_hint_debug(c);
}

static void report_ambiguous(struct compilation *c,
			     const struct tsf_point *point, uint64_t used)
{
	char text[1024];

	snprintf(text, sizeof(text), "%#" PRIx64, used);
	diag_report(c->diag, point->tp.pos, TRCERR_AMBIGUOUS, point->tp.name,
		    text);
	module_symbol_candidates(c->module, point->tp.name, MODULE_CODE, text,
				 sizeof(text));
	if (text[0])
		diag_hint(c->diag, "there are: %s", text);
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

/* The resolver runs once: calls go to what it has chosen. */
static void report_resolver(struct compilation *c,
			    const struct tsf_point *point)
{
	const char *name = point->tp.name;
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < c->module->symbol_count; i++) {
		const struct module_symbol *symbol = &c->module->symbols[i];

		if (used + symbol->name_length + 4 < sizeof(text) &&
		    is_implementation(symbol, name, strlen(name)))
			used += snprintf(text + used, sizeof(text) - used,
					 "%s.%.*s", used ? ", " : "",
					 (int)symbol->name_length,
					 symbol->name);
	}
	diag_report(c->diag, point->tp.pos, TRCERR_IFUNC, name);
	diag_hint(c->diag, "it runs once, when the program is loaded; calls "
			   "come to what it chose%s%s", used ? ": " : "", text);
}

/* st_shndx of an absolute symbol says nothing of where it is. */
static void check_object(struct compilation *c, const struct tsf_point *point,
			 const struct module_symbol *symbol)
{
	size_t available;
	char text[16];

	if (!symbol->absolute ||
	    !module_code(c->module, symbol->address, &available, NULL))
		return;
	snprintf(text, sizeof(text), "%#x", SHN_ABS);
	diag_report(c->diag, point->tp.pos, TRCERR_BAD_OBJ, text,
		    c->module->path);
	diag_hint(c->diag, "the symbol is an absolute number, its value is "
			   "taken for an address of code");
}

static int find_elf(struct compilation *c, const struct tsf_point *point,
		    const struct module_symbol *symbol, bool others,
		    struct site_places *places)
{
	struct site_place *place =
		site_place_add(c, point, places, symbol->address);

	if (!place)
		return -1;
	if (others)
		report_ambiguous(c, point, symbol->address);
	if (symbol->type == STT_GNU_IFUNC)
		report_resolver(c, point);
	check_object(c, point, symbol);
	place->symbol = point->tp.name;
	place->base = symbol->address;
	place->function = symbol->type == STT_FUNC;
	place->from.outermost = place->function;
	if (symbol->size)
		place->end = symbol->address + symbol->size;
	return 0;
}

/* The symbol where the function is entered, of a part or clone that gcc made of
 * it: "name.part.0", "name.constprop.0.isra.0". NULL: another one. */
static const struct module_symbol *
made_symbol(struct compilation *c, const struct dwarf_function *function,
	    const char *what)
{
	const struct module_symbol *symbol =
		symbol_index_find(&c->sites->symbols, function->entry);

	return symbol && symbol->address == function->entry &&
	       memmem(symbol->name, symbol->name_length, what, strlen(what)) ?
		       symbol : NULL;
}

static const struct module_symbol *
clone_symbol(struct compilation *c, const struct dwarf_function *function)
{
	const struct module_symbol *symbol =
		made_symbol(c, function, ".constprop.");

	if (function->inlined)
		return NULL;
	return symbol ? symbol : made_symbol(c, function, ".isra.");
}

static int add_function(struct compilation *c, const struct tsf_point *point,
			const struct dwarf_function *function,
			struct site_places *places)
{
	const struct module_symbol *clone = clone_symbol(c, function);
	struct site_place *place =
		site_place_add(c, point, places, function->entry);

	if (!place)
		return -1;
	place->claimed = true;
	place->from.function = function->die.addr;
	if (function->inlined)
		return 0;
	place->symbol = clone ? site_text(c, point, clone->name,
					  clone->name_length) : point->tp.name;
	if (!place->symbol)
		return -1;
	place->base = function->entry;
	place->function = true;
	for (size_t i = 0; i < function->range_count; i++)
		if (function->ranges[i].start == function->entry)
			place->end = function->ranges[i].end;
	return 0;
}

/* It has no code, and is entered where another copy is. */
static bool is_with_another(const struct dwarf_functions *found, size_t i)
{
	return i && !found->functions[i].range_count &&
	       found->functions[i].entry == found->functions[i - 1].entry;
}

static bool is_part(struct compilation *c,
		    const struct dwarf_function *function)
{
	return !function->inlined && made_symbol(c, function, ".part.");
}

static bool same_source(const struct dwarf_function *a,
			const struct dwarf_function *b)
{
	Dwarf_Die one = a->die, other = b->die;

	return dwarf_die_root(&one).addr == dwarf_die_root(&other).addr;
}

/* Both are clones of one function: the calls are spread over them. */
static bool are_clones(struct compilation *c, const struct dwarf_function *a,
		       const struct dwarf_function *b)
{
	return clone_symbol(c, a) && clone_symbol(c, b) && same_source(a, b);
}

/* What calls a global function in its own file may call a clone of it. */
static int add_clones(struct compilation *c, const struct tsf_point *point,
		      const struct module_symbol *symbol,
		      struct site_places *places)
{
	const struct dwarf_function *own = NULL;
	struct dwarf_functions found;
	int code = 0;

	if (!c->dwarf || symbol->type != STT_FUNC || point->tp.offset)
		return 0;
	if (dwarf_function_find(c->dwarf, point->tp.name, NULL, &found))
		return diag_no_memory(c->diag, point->tp.pos);
	for (size_t i = 0; i < found.count; i++)
		if (!found.functions[i].inlined &&
		    found.functions[i].entry == symbol->address)
			own = &found.functions[i];
	for (size_t i = 0; own && i < found.count && !code; i++)
		if (&found.functions[i] != own &&
		    clone_symbol(c, &found.functions[i]) &&
		    same_source(own, &found.functions[i]))
			code = add_function(c, point, &found.functions[i],
					    places);
	dwarf_functions_free(&found);
	return code;
}

static int take_own(struct compilation *c, const struct tsf_point *point,
		    const struct dwarf_functions *found,
		    const struct dwarf_function *own,
		    struct site_places *places)
{
	int code = add_function(c, point, own, places);
	bool others = false;

	for (size_t i = 0; i < found->count && !code; i++) {
		const struct dwarf_function *other = &found->functions[i];

		if (other->inlined || other->entry == own->entry ||
		    is_part(c, other))
			continue;
		if (are_clones(c, own, other))
			code = add_function(c, point, other, places);
		else
			others = true;
	}
	if (others)
		report_ambiguous(c, point, own->entry);
	return code;
}

/* The function that was compiled for itself, else all its inlined copies: what
 * they begin with is all of it, or the part that calls the other one. */
static int take_functions(struct compilation *c, const struct tsf_point *point,
			  const struct dwarf_functions *found,
			  struct site_places *places)
{
	const struct dwarf_function *part = NULL;
	size_t vague = 0;
	char text[24];
	int code = 0;

	for (size_t i = 0; i < found->count; i++) {
		const struct dwarf_function *function = &found->functions[i];

		if (is_part(c, function))
			part = function;
		else if (!function->inlined)
			return take_own(c, point, found, function, places);
	}
	for (size_t i = 0; i < found->count && !code; i++) {
		vague += found->functions[i].vague;
		if (found->functions[i].inlined && !is_with_another(found, i))
			code = add_function(c, point, &found->functions[i],
					    places);
	}
	if (vague) {
		snprintf(text, sizeof(text), "%zu", vague);
		diag_report(c->diag, point->tp.pos, TRCERR_VAGUE,
			    point->tp.name, text);
	}
	if (part && !places->count && !code) {
		code = add_function(c, point, part, places);
		diag_report(c->diag, point->tp.pos, TRCERR_SPLIT,
			    point->tp.name);
	}
	return code;
}

static int find_dwarf(struct compilation *c, const struct tsf_point *point,
		      const char *name, const char *file,
		      struct site_places *places)
{
	struct dwarf_functions found;
	int code;

	if (dwarf_function_find(c->dwarf, name, file, &found))
		return diag_no_memory(c->diag, point->tp.pos);
	code = take_functions(c, point, &found, places);
	dwarf_functions_free(&found);
	return code;
}

static int find_map(struct compilation *c, const struct tsf_point *point,
		    struct site_places *places)
{
	bool others;
	const struct map_symbol *symbol =
		map_find(c->map, point->tp.name, true, &others);
	struct site_place *place;

	if (!symbol)
		return 0;
	place = site_place_add(c, point, places, symbol->address);
	if (!place)
		return -1;
	if (others)
		report_ambiguous(c, point, symbol->address);
	place->symbol = point->tp.name;
	place->base = symbol->address;
	if (symbol->size)
		place->end = symbol->address + symbol->size;
	return 0;
}

/* "file.c:name": the colon that is no part of a "::" of the name. */
static const char *name_behind_file(const char *text)
{
	for (const char *p = text; *p && *p != '('; p++) {
		if (*p != ':')
			continue;
		if (p[1] != ':')
			return p > text ? p + 1 : NULL;
		p++;
	}
	return NULL;
}

static int find_in_file(struct compilation *c, const struct tsf_point *point,
			const char *name, struct site_places *places)
{
	const char *text = point->tp.name;
	const char *file = site_text(c, point, text, name - 1 - text);

	if (!file)
		return -1;
	if (c->dwarf)
		return find_dwarf(c, point, name, file, places);
	diag_report(c->diag, point->tp.pos, TRCERR_NO_CV, c->module->path);
	diag_hint(c->diag, "it would tell what is in '%s'", file);
	compile_hint_debug(c);
	return 1;
}

static int report_unknown(struct compilation *c, const struct tsf_point *point,
			  const struct module_symbol *symbol)
{
	if (!c->module->symbol_count && !c->dwarf && !c->map) {
		diag_report(c->diag, point->tp.pos, TRCERR_NO_SYMBOLIC,
			    c->module->path);
		diag_hint(c->diag,
			  "the module has neither .symtab nor .dynsym");
		return -1;
	}
	diag_report(c->diag, point->tp.pos, TRCERR_BADSYMBOL, point->tp.name);
	if (symbol)
		compile_hint_imported(c);
	else
		hint_missing(c, point->tp.name);
	return 1;
}

int site_symbol_find(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places)
{
	const char *name = name_behind_file(point->tp.name);
	const struct module_symbol *symbol = NULL;
	bool others;
	int code = 0;

	if (name) {
		code = find_in_file(c, point, name, places);
	} else {
		symbol = module_symbol_find(c->module, point->tp.name,
					    MODULE_CODE, &others);
		if (symbol && symbol->defined) {
			code = find_elf(c, point, symbol, others, places);
			return code ? code :
				      add_clones(c, point, symbol, places);
		}
		if (c->dwarf)
			code = find_dwarf(c, point, point->tp.name, NULL,
					  places);
	}
	if (!code && !places->count && c->map)
		code = find_map(c, point, places);
	if (!code && !places->count)
		code = report_unknown(c, point, symbol);
	return code;
}

int site_symbol_functions(struct compilation *c, const struct tsf_point *point,
			  struct dwarf_functions *found)
{
	const char *name = name_behind_file(point->tp.name), *file = NULL;

	*found = (struct dwarf_functions){ 0 };
	if (!c->dwarf)
		return 0;
	if (name) {
		file = site_text(c, point, point->tp.name,
				 name - 1 - point->tp.name);
		if (!file)
			return -ENOMEM;
	}
	return dwarf_function_find(c->dwarf, name ? name : point->tp.name,
				   file, found);
}

/* "object" is a section: the offset is to stay in the symbol's. */
static void check_offset(struct compilation *c, const struct tsf_point *point,
			 const struct site_place *place)
{
	const struct module_range *section = NULL;
	char offset[32], number[32];
	size_t available;

	for (size_t i = 0; i < c->module->section_count && !section; i++)
		if (place->base >= c->module->sections[i].start &&
		    place->base < c->module->sections[i].end)
			section = &c->module->sections[i];
	if (!section || (place->address >= section->start &&
			 place->address < section->end) ||
	    !module_code(c->module, place->address, &available, NULL))
		return;
	snprintf(offset, sizeof(offset), "%s%#" PRIx64,
		 point->tp.offset < 0 ? "-" : "",
		 (uint64_t)(point->tp.offset < 0 ? -point->tp.offset :
						   point->tp.offset));
	site_section_number(c, place->base, number, sizeof(number));
	diag_report(c->diag, point->tp.pos, TRCERR_BAD_OFFSET, offset, number);
}

/* A jump of its own to the address that is no call; 0: there is none. */
static int loop_find(struct compilation *c, uint64_t address, uint64_t *from)
{
	const struct flow *flow;
	uint64_t entry;
	int code = code_jumps_to(c->module, address) ?
			   site_flow_find(c, address, &flow, &entry) : -ENOENT;

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

/* Loops have no head of their own where the function has no prologue. */
static int check_loop(struct compilation *c, const struct tsf_point *point,
		      const struct site_place *place)
{
	char name[320];
	uint64_t from;

	if (loop_find(c, place->address, &from))
		return diag_no_memory(c->diag, point->tp.pos);
	if (!from)
		return 0;
	site_name_at(c, from, name, sizeof(name));
	diag_report(c->diag, point->tp.pos, TRCERR_ENTRYLOOP, point->tp.name);
	diag_hint(c->diag, "the jump at %s leads back to it; TP=.%s,RETEP "
			   "counts the calls", name, point->tp.name);
	return 0;
}

int site_symbol_places(struct compilation *c, const struct tsf_point *point,
		       struct site_places *places)
{
	int code = site_symbol_find(c, point, places);

	for (size_t i = 0; i < places->count && !code; i++) {
		struct site_place *place = &places->list[i];

		if (site_tp_has_offset(&point->tp)) {
			place->address += point->tp.offset;
			if (c->module->elf_class != ELFCLASS64)
				place->address = (uint32_t)place->address;
			place->claimed = false;
			if (point->tp.offset)
				place->from = (struct dwarf_from) { 0 };
			check_offset(c, point, place);
		} else if (place->function) {
			place->address = site_behind_prologue(c, place->base,
							      place->end);
			code = check_loop(c, point, place);
		}
	}
	return code;
}
