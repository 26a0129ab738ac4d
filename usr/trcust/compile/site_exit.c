// SPDX-License-Identifier: GPL-2.0
/*
 * RETEP: the exits of the function, or with RETEP=CALLER the place that it
 * returns to, which the kernel finds at its entry.
 */
#include "site.h"

#include <stdlib.h>
#include <string.h>
#include "../dwarf/dwarf_function.h"

static bool module_has_section(const struct module *module, const char *wanted)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(module->elf, &names))
		return false;
	while ((scn = elf_nextscn(module->elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			elf_strptr(module->elf, names, sh.sh_name) : NULL;

		if (name && !strcmp(name, wanted))
			return true;
	}
	return false;
}

static const struct flow_source *flow_source_get(struct compilation *c)
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

/* Where the code of a function without debug information ends; 0 unknown. */
static uint64_t function_end(const struct compilation *c,
			     const struct site_place *function)
{
	const struct module_range *range =
		module_function_find(c->module, function->base);

	if (function->end || !range)
		return function->end;
	return range->end;
}

static int tell_no_exit(struct compilation *c, const struct tsf_point *point,
			const char *why)
{
	TELL_SITE(c, point, TRCERR_NOEXIT, point->tp.name);
	diag_hint(c->diag, "%s", why);
	return 1;
}

static void tell_lost(struct compilation *c, const struct tsf_point *point,
		      const struct flow_lost *lost)
{
	char name[320];

	site_name_at(c, lost->address, name, sizeof(name));
	TELL_SITE(c, point, TRCERR_LEFTOUT, name);
	diag_hint(c->diag, "%s; RETEP=CALLER records it as well", lost->why);
}

static int take_exits(struct compilation *c, const struct tsf_point *point,
		      const struct site_place *function,
		      const struct exits *exits, struct site_places *places)
{
	for (size_t i = 0; i < exits->lost_count; i++)
		tell_lost(c, point, &exits->lost[i]);
	for (size_t i = 0; i < exits->count; i++) {
		uint64_t address = exits->sites[i].address;
		struct site_place *place =
			site_place_add(c, point, places, address);

		if (!place)
			return -1;
		place->decoded = true;
		if (address >= function->base && address < function->end) {
			place->symbol = function->symbol;
			place->base = function->base;
		}
		if (exits->sites[i].tail_call)
			place->flags = TDF_SITE_TAIL_CALL;
	}
	if (exits->count)
		return 0;
	return tell_no_exit(c, point, exits->lost_count ?
		"each of its exits is left out" :
		"every way through it ends in a call that does not return");
}

static int find_exits(struct compilation *c, const struct tsf_point *point,
		      const struct site_place *function,
		      struct site_places *places)
{
	struct module_range own = { function->base, function_end(c, function) };
	const struct module_range *ranges = &own;
	struct dwarf_functions found = {0};
	struct exits exits = {0};
	size_t count = 1;
	int code = 0;

	if (c->dwarf)
		code = dwarf_function_at(c->dwarf, own.start, &found);
	if (found.count && found.functions[0].entry == own.start) {
		ranges = found.functions[0].ranges;
		count = found.functions[0].range_count;
	}
	if (!code && (ranges != &own || own.end))
		code = exits_find(flow_source_get(c), own.start, ranges, count,
				  &exits);
	if (code)
		TELL_SITE(c, point, TRCERR_NO_MEM);
	else if (ranges == &own && !own.end)
		code = tell_no_exit(c, point,
				    "where its code ends is not known");
	else
		code = take_exits(c, point, function, &exits, places);
	dwarf_functions_free(&found);
	exits_free(&exits);
	return code < 0 ? -1 : code;
}

static int entry_place(struct compilation *c, const struct tsf_point *point,
		       const struct site_place *function, uint8_t flags,
		       struct site_places *places)
{
	struct site_place *place =
		site_place_add(c, point, places, function->base);

	if (!place)
		return -1;
	*place = *function;
	place->address = function->base;
	place->flags = flags;
	return 0;
}

/* A return probe changes the return address on the stack, which Go moves and
 * looks through: the program would crash. */
static int caller_place(struct compilation *c, const struct tsf_point *point,
			const struct site_place *function,
			struct site_places *places)
{
	if (module_has_section(c->module, ".note.go.buildid") ||
	    module_has_section(c->module, ".gopclntab")) {
		TELL_SITE(c, point, TRCERR_UNSUPPORTED,
			  "RETEP=CALLER in a Go program");
		diag_hint(c->diag, "it would crash; RETEP=EXIT works");
		return 1;
	}
	return entry_place(c, point, function, TDF_SITE_RETURN, places);
}

int site_exit_places(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places)
{
	struct site_places functions = {0};
	int code = site_symbol_find(c, point, &functions);
	size_t available;

	if (!code && !functions.list[0].symbol)
		code = tell_no_exit(c, point, "it was only inlined: there is "
				    "no function to return from");
	else if (!code && !module_code(c->module, functions.list[0].base,
				       &available, NULL))
		code = entry_place(c, point, &functions.list[0], 0,
				   places);	/* site_check() tells */
	else if (!code && point->tp.retep == TSF_RETEP_CALLER)
		code = caller_place(c, point, &functions.list[0], places);
	else if (!code)
		code = find_exits(c, point, &functions.list[0], places);
	free(functions.list);
	return code;
}
