// SPDX-License-Identifier: GPL-2.0
#include "symbol.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "value_type.h"
#include "lib/debug/btf/btf_dwarf.h"
#include "analysis.h"
#include "settle.h"

#define SCOPE_TEXT	240	/* of the names in scope, for a hint */
#define OTHERS_MAX	64	/* sites that are looked at for a name */

bool address_is_absent(const struct address *address)
{
	return address->place.count == 1 &&
	       address->place.pieces[0].kind == PLACE_ABSENT;
}

const struct bytes *address_in_memory(const struct address *address)
{
	const struct place *place = &address->place;

	return place->count == 1 && place->pieces[0].kind == PLACE_MEMORY &&
	       !place->pieces[0].bytes ? &place->pieces[0].rpn : NULL;
}

struct symbol_query {
	const struct compilation *c;
	const struct compile_site *site;
	struct srcpos pos;
	const char *name;
	const struct dwarf_variable *variable;	/* that it means; NULL: look */
	struct address *result;
};

static int query_no_memory(const struct symbol_query *q)
{
	return diag_no_memory(q->c->diag, q->pos);
}

static int query_absent(const struct symbol_query *q, const char *why,
			const char *hint)
{
	return message_absent(q->c, q->site, q->pos, q->name, why, hint);
}

static bool site_has_dwarf(const struct symbol_query *q)
{
	Dwarf_Die unit;

	return q->c->dwarf &&
	       dwarf_unit_find(q->c->dwarf, q->site->nominal, &unit);
}

struct scope_names {
	char text[SCOPE_TEXT];
	size_t used;
};

static int scope_name_add(void *context, const char *name,
			  const struct dwarf_variable *variable)
{
	struct scope_names *names = context;
	size_t left = sizeof(names->text) - names->used;

	if (!variable->local)
		return 0;
	if (strlen(name) + 2 >= left)
		return 1;
	names->used += snprintf(names->text + names->used, left, "%s%s",
				names->used ? ", " : "", name);
	return 0;
}

static int report_unknown(const struct symbol_query *q)
{
	const struct compilation *c = q->c;
	const struct compile_point *point = q->site->point;
	struct dwarf_variable variable[2];
	struct scope_names scope = {0};
	char text[512], at[320];
	bool elsewhere = false;

	/* a line may be in several functions, which may have other names, and
	 * so may all functions of a name; a function's copies are all meant */
	if (!q->site->alone && c->dwarf && point &&
	    (point->tsf->tp.kind == TSF_TP_LINE ||
	     tsf_tp_is_all(&point->tsf->tp)))
		for (size_t i = 0; i < point->site_count && i < OTHERS_MAX; i++)
			elsewhere |= !dwarf_variable_find(c->dwarf,
							  &point->sites[i].from,
							  q->name, variable);
	message_site_name(q->site, at, sizeof(at));
	if (elsewhere) {
		diag_report(c->diag, q->pos, TRCERR_LEFTOUT, at);
		diag_hint(c->diag, "'%s' is not in scope there", q->name);
		return COMPILE_LEAVE_OUT;
	}
	diag_report(c->diag, q->pos, TRCERR_BADSYMBOL, q->name);
	if (!c->module->elf && !c->dwarf) {
		diag_hint(c->diag, "the kernel's file is not at hand: give "
				   "it with --module vmlinux, or its types with "
				   "--btf FILE");
		return 1;
	}
	if (!c->module->elf && q->site->symbol_offset)
		diag_hint(c->diag, "BTF has parameters only at the entry of a "
				   "function");
	else if (site_has_dwarf(q))
		dwarf_variable_each(c->dwarf, &q->site->from, scope_name_add,
				    &scope);
	else
		diag_hint(c->diag, "there is no debug information for %s: "
				   "parameters and local variables are not "
				   "known", at);
	if (scope.used)
		diag_hint(c->diag, "in scope at %s: %s", at, scope.text);
	else if (c->dwarf && dwarf_unit_lacks(c->dwarf, q->site->nominal, text,
					      sizeof(text)))
		diag_hint(c->diag, "%s", text);
	text[0] = '\0';
	if (c->module->elf)
		module_symbol_near(c->module, q->name, MODULE_DATA, text,
				   sizeof(text));
	else
		diag_hint(c->diag, "other variables than per-CPU ones are in "
				   "the kernel's file: give it with --module "
				   "vmlinux");
	if (text[0])
		diag_hint(c->diag, "near names: %s", text);
	return 1;
}

static int place_address(const struct symbol_query *q, const char *what,
			 uint64_t address, bool absolute)
{
	struct place *place = &q->result->place;
	struct bytes *rpn = place_begin(place, PLACE_MEMORY);

	if (!rpn)
		return query_no_memory(q);
	if (absolute)
		rpn_emit_const(rpn, address);
	else
		rpn_emit_addr(rpn, address);
	snprintf(place->where, sizeof(place->where), "%s at %#" PRIx64, what,
		 address);
	return 0;
}

static void warn_ambiguous(const struct symbol_query *q, uint64_t used)
{
	const struct compilation *c = q->c;
	char text[512];

	if (q->site->repeated)
		return;
	snprintf(text, sizeof(text), "%#" PRIx64, used);
	diag_report(c->diag, q->pos, TRCERR_AMBIGUOUS, q->name, text);
	text[0] = 0;
	if (c->module->elf)
		module_symbol_candidates(c->module, q->name, MODULE_DATA, text,
					 sizeof(text));
	if (text[0])
		diag_hint(c->diag, "there are: %s", text);
}

static int place_symbol(const struct symbol_query *q,
			const struct module_symbol *symbol, bool others)
{
	const struct compilation *c = q->c;
	int code;

	if (symbol->type == STT_TLS) {
		diag_report(c->diag, q->pos, TRCERR_UNSUPPORTED,
			    "thread-local variables without debug information");
		return 1;
	}
	if (!symbol->defined && !symbol->slot) {
		diag_report(c->diag, q->pos, TRCERR_BADSYMBOL, q->name);
		message_hint_imported(c);
		return 1;
	}
	if (others)
		warn_ambiguous(q, symbol->address);
	if (!symbol->slot)
		return place_address(q, "global", symbol->address,
				     symbol->absolute);
	code = place_address(q, "global by the slot", symbol->slot, false);
	if (!code)
		rpn_emit_deref(&q->result->place.pieces[0].rpn,
			       c->module->elf_class == ELFCLASS64 ? 8 : 4);
	return code;
}

/* A register whose value a return changes: not the base of thread-local
 * variables. */
static bool place_is_of_frame(const struct place *place,
			      const struct arch *arch)
{
	uint64_t number;
	int64_t offset;

	for (size_t i = 0; i < place->count; i++) {
		const struct bytes *rpn = &place->pieces[i].rpn;
		struct rpn_op op = {0};

		while (rpn_next(rpn->data, rpn->size, &op))
			if (rpn_is_register(&op, &number, &offset) &&
			    number != arch->thread)
				return true;
	}
	return false;
}

/* What no piece has is nowhere (DWARF 5 section 2.6.1.2). Registers hold a
 * variable and nothing after it; memory goes on. 0, -ENOMEM. */
static int place_limit(struct place *place, uint64_t bytes)
{
	struct place_piece *only = place->pieces, *rest;
	uint64_t known = 0;

	if (place->count == 1 && only->kind == PLACE_VALUE && !only->bytes &&
	    bytes < 8)
		only->bytes = bytes;
	for (size_t i = 0; i < place->count; i++)
		known += place->pieces[i].bytes;
	if (known && known < bytes) {
		rest = place_add(place, PLACE_ABSENT, bytes - known);
		if (rest)
			rest->why = strdup("it is optimized out");
		if (!rest || !rest->why)
			return -ENOMEM;
	}
	if (place->count == 1 && place->pieces->kind == PLACE_MEMORY)
		place->pieces->bytes = 0;
	return 0;
}

/* A reference means what it refers to. */
static int place_refer(const struct symbol_query *q)
{
	struct address *result = q->result;
	bool wide = q->c->module->elf_class == ELFCLASS64;
	struct place target;
	struct bytes *rpn;
	int code;

	if (!result->typed || !address_type_refers(&result->type))
		return 0;
	rpn = place_begin(&target, PLACE_MEMORY);
	if (!rpn)
		return query_no_memory(q);
	code = place_value(&result->place, 0, wide ? 8 : 4, false, rpn);
	snprintf(target.where, sizeof(target.where), "through %.50s",
		 result->place.where);
	place_free(&result->place);
	result->place = target;
	return code ? query_absent(q, "the reference is not known", NULL) : 0;
}

/* An error at the only site; else an absent place. */
static int place_absent(const struct symbol_query *q,
			const struct dwarf_variable *variable,
			struct error *err)
{
	struct place *place = &q->result->place;

	place_free(place);
	if (q->site->alone && !err->hint[0] &&
	    dwarf_variable_hint(q->c->dwarf, variable, q->site->nominal, err))
		return query_no_memory(q);
	if (q->site->alone)
		return query_absent(q, err->text, err->hint);
	if (!place_begin(place, PLACE_ABSENT))
		return query_no_memory(q);
	if (q->result->typed)
		address_type_refers(&q->result->type);
	place->pieces[0].why = strdup(err->text);
	return place->pieces[0].why ? 0 : query_no_memory(q);
}

/* Warns when the name of a static variable of another file than the site's has
 * no file: several files may have such a variable. */
static void check_files(const struct symbol_query *q,
			const struct dwarf_variable *variable,
			const struct place *place)
{
	const struct place_piece *only = place->pieces;
	const char *colon = strchr(q->name, ':');
	struct rpn_op op;
	Dwarf_Die unit;
	bool others;

	/* is it an address as linked and nothing else? */
	if (place->count != 1 || only->kind != PLACE_MEMORY ||
	    !rpn_single(only->rpn.data, only->rpn.size, &op) ||
	    op.code != RPN_addr)
		return;
	if (variable->local || (colon && colon[1] != ':') ||
	    (dwarf_unit_find(q->c->dwarf, q->site->nominal, &unit) &&
	     unit.cu == variable->die.cu))
		return;
	if (module_symbol_find(q->c->module, q->name, MODULE_DATA, &others) &&
	    others)
		warn_ambiguous(q, op.a);
}

static int place_variable(const struct symbol_query *q,
			  const struct dwarf_variable *variable)
{
	struct place *place = &q->result->place;
	struct error err = {0};
	int code = dwarf_variable_place(q->c->dwarf, variable,
					q->site->nominal, place, &err);

	if (!code && variable->local)
		code = restored_check(q->c, q->site, place, &err);
	if (code == -ENOMEM)
		return query_no_memory(q);
	if (code == -ENODATA && !q->c->module->elf)
		return query_absent(q, "BTF doesn't show where it is", NULL);
	if (code == -ENODATA)
		return place_absent(q, variable, &err);
	if (code)
		return query_absent(q, err.text, err.hint);
	if ((q->site->flags & TDF_SITE_RETURN) &&
	    place_is_of_frame(place, q->c->module->arch))
		return query_absent(q, "the function has returned, its "
				       "registers and its frame are gone",
				    q->site->point->tsf->tp.whole ?
				    "entry(...) has what it was at the entry" :
				    "RETEP=EXIT is hit before its end");
	code = settle_place(q->c, q->site, variable, place, &err);
	if (code == -ENOMEM)
		return query_no_memory(q);
	if (code)
		return place_absent(q, variable, &err);
	check_files(q, variable, place);
	if (place_limit(place, q->result->typed ?
			       address_type_bytes(&q->result->type) : 0))
		return query_no_memory(q);
	return place_refer(q);
}

/* An enumerator has no line in debug information, its enumeration has one. */
static const Dwarf_Die *declaration(const struct dwarf_variable *variable)
{
	Dwarf_Die die = variable->die;

	return dwarf_tag(&die) == DW_TAG_enumerator ? &variable->type :
						      &variable->die;
}

static int look_up(const struct symbol_query *q,
		   struct dwarf_variable variable[2], bool *found)
{
	struct diag *diag = q->c->diag;
	int code;

	if (q->variable) {
		variable[0] = *q->variable;
		*found = true;
		return 0;
	}
	code = dwarf_variable_find(q->c->dwarf, &q->site->from, q->name,
				   variable);
	*found = !code;
	q->c->dwarf->used |= *found;
	switch (code) {
	case -ENOMEM:
		return query_no_memory(q);
	case -ENOTUNIQ:
		return message_ambiguous(q->c, q->pos, q->name,
					 declaration(&variable[0]),
					 declaration(&variable[1]));
	case -EISDIR:
		diag_report(diag, q->pos, TRCERR_BADSYMBOL, q->name);
		diag_hint(diag, "there it is a function or type of a class, or "
				"a member, for which there is no object; "
				"'::%s' is the one outside", q->name);
		return 1;
	}
	if (code || !variable->of_this)
		return 0;
	diag_report(diag, q->pos, TRCERR_BADSYMBOL, q->name);
	diag_hint(diag, "it is a member of *this: VARS has it");
	return 1;
}

/* By debug information. */
static int find_in_dwarf(const struct symbol_query *q, bool *found)
{
	struct address *result = q->result;
	const struct module_symbol *symbol = NULL;
	struct dwarf_variable variable[2];
	const char *name;
	bool others;
	int code;

	*found = false;
	if (!q->c->dwarf)
		return 0;
	code = look_up(q, variable, found);
	if (code || !*found)
		return code;
	result->type = variable->type;
	result->typed = variable->type.addr;
	/* a variable that is only declared: another file or module defines it,
	 * and the symbol is where it is */
	name = dwarf_variable_symbol(&variable->die);
	if (name && !dwarf_variable_rank(&variable->die, 0) &&
	    dwarf_die_flag(&variable->die, DW_AT_external))
		symbol = module_symbol_find(q->c->module, name, MODULE_DATA,
					    &others);
	if (!symbol || symbol->type == STT_TLS ||
	    (!symbol->slot && !symbol->defined))
		return place_variable(q, variable);
	code = place_symbol(q, symbol, others);
	return code ? code : place_refer(q);
}

static int find_place(const struct symbol_query *q, bool must_be_typed)
{
	const struct compilation *c = q->c;
	const struct module_symbol *symbol = NULL;
	const struct map_symbol *mapped = NULL;
	bool found, others = false, map_others;
	int code = find_in_dwarf(q, &found);

	if (code || (found && (q->result->typed || !must_be_typed)))
		return code;
	if (c->module->elf)
		symbol = module_symbol_find(c->module, q->name, MODULE_DATA,
					    &others);
	if (must_be_typed) {
		if (!symbol && site_has_dwarf(q))
			return report_unknown(q);
		diag_report(c->diag, q->pos, TRCERR_NO_CV, q->name);
		diag_hint(c->diag, "what type a variable has, and which "
				   "register holds it, is only in debug "
				   "information");
		message_hint_debug(c);
		return 1;
	}
	if (c->map && !(symbol && symbol->defined))
		mapped = map_find(c->map, q->name, false, &map_others);
	if (!mapped)
		return symbol ? place_symbol(q, symbol, others) :
				report_unknown(q);
	if (map_others)
		warn_ambiguous(q, mapped->address);
	return place_address(q, "in the map", mapped->address, false);
}

bool symbol_section_find(const struct compilation *c, uint64_t address,
			 struct module_section *section)
{
	const struct map_symbol *start, *end;
	bool others;

	if (c->module->elf || (!c->map && !c->dwarf))
		return module_section_find(c->module, address, section);
	if (!c->map) {
		*section = (struct module_section) {
			.name = "__per_cpu_start", .address = BTF_DWARF_PERCPU,
			.size = BTF_DWARF_PERCPU_SIZE, .percpu = true,
		};
		return address - section->address < section->size;
	}
	start = map_find(c->map, "__per_cpu_start", false, &others);
	end = map_find(c->map, "__per_cpu_end", false, &others);
	if (!start || !end || address < start->address ||
	    address >= end->address)
		return false;
	*section = (struct module_section) {
		.name = "__per_cpu_start", .address = start->address,
		.size = end->address - start->address, .percpu = true,
	};
	return true;
}

int symbol_check_static(const struct compilation *c,
			const struct compile_site *site, struct srcpos pos,
			const char *name, const struct place *place)
{
	struct module_section section;
	const char *why = NULL;

	for (size_t i = 0; i < place->count && !why; i++) {
		const struct bytes *rpn = &place->pieces[i].rpn;
		struct rpn_op op = {0};

		while (!why && rpn_next(rpn->data, rpn->size, &op)) {
			if (op.code != RPN_addr)
				continue;
			if (symbol_section_find(c, op.a, &section))
				why = section.init ?
				      "it is gone once the module runs" :
				      section.percpu && !section.name[0] ?
				      "no symbol of its own marks the per-CPU "
				      "data" : NULL;
			else if (c->module->kind == TDF_MODULE_KMOD)
				why = "it is in no section of the module";
		}
	}
	return why ? message_absent(c, site, pos, name, why, NULL) : 0;
}

int symbol_resolve(const struct compilation *c, const struct compile_site *site,
		   struct srcpos pos, const char *name, bool must_be_typed,
		   struct address *result)
{
	const struct symbol_query q = {
		.c = c, .site = site, .pos = pos, .name = name,
		.result = result,
	};
	int code = find_place(&q, must_be_typed);

	return code ? code : symbol_check_static(c, site, pos, name,
						 &result->place);
}

int symbol_variable(const struct compilation *c,
		    const struct compile_site *site, struct srcpos pos,
		    const char *name, const struct dwarf_variable *variable,
		    struct address *result)
{
	const struct symbol_query q = {
		.c = c, .site = site, .pos = pos, .name = name,
		.variable = variable, .result = result,
	};
	bool found;
	int code = find_in_dwarf(&q, &found);

	return code ? code : symbol_check_static(c, site, pos, name,
						 &result->place);
}
