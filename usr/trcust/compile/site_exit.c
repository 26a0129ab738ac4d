// SPDX-License-Identifier: GPL-2.0
/*
 * RETEP: the exits of the function, or with RETEP=CALLER the address that it
 * returns to, which the kernel finds at its entry.
 */
#include "site_exit.h"

#include <stdlib.h>
#include <string.h>
#include "analysis.h"
#include "exits.h"
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "site_symbol.h"

static int report_no_exit(const struct site_search *s, const char *why)
{
	diag_report(s->c->diag, s->point->tp.pos, TRCERR_NOEXIT,
		    s->point->tp.name);
	diag_hint(s->c->diag, "%s", why);
	return 1;
}

static int place_take_exit(struct site_search *s,
			   const struct site_place *function,
			   struct exits_site *exit)
{
	struct site_place *place = site_place_add(s, exit->address);

	if (!place)
		return -1;
	place->decoded = true;
	place->from.outermost = true;
	place->entry = function->base;
	place->exit = exit->exit;
	if (exit->address >= function->base && exit->address < function->end) {
		place->symbol = function->symbol;
		place->base = function->base;
	}
	if (exit->tail_call)
		place->flags = TDF_SITE_TAIL_CALL;
	if (!exit->result.size)
		return 0;
	place->result_rpn = analysis_keep(s->c, s->point->tp.pos,
					  &exit->result);
	return place->result_rpn ? 0 : -1;
}

static int take_exits(struct site_search *s, const struct site_place *function,
		      const struct exits *exits)
{
	char name[320];

	for (size_t i = 0; i < exits->lost_count; i++) {
		const struct flow_lost *lost = &exits->lost[i];

		analysis_name(s->c, lost->address, name, sizeof(name));
		diag_report(s->c->diag, s->point->tp.pos, TRCERR_LEFTOUT, name);
		diag_hint(s->c->diag, "%s; RETEP=CALLER records it as well",
			  lost->why);
	}
	for (size_t i = 0; i < exits->count; i++)
		if (place_take_exit(s, function, &exits->sites[i]))
			return -1;
	if (exits->count)
		return 0;
	return report_no_exit(s, exits->lost_count ?
		"each of its exits is left out" :
		"every way through it ends in a call that does not return");
}

static int find_exits(struct site_search *s, const struct site_place *function)
{
	const struct compilation *c = s->c;
	struct module_range own = { function->base, function->end };
	const struct module_range *ranges = &own, *known;
	struct dwarf_functions found = { 0 };
	struct exits exits = { 0 };
	size_t count = 1;
	int code = 0;

	/* the code of the function: by debug information all its parts */
	known = module_function_find(c->module, own.start);
	if (!own.end && known)
		own.end = known->end;
	if (c->dwarf)
		code = dwarf_function_at(c->dwarf, own.start, &found);
	if (found.count && found.functions[0].entry == own.start) {
		ranges = found.functions[0].ranges;
		count = found.functions[0].range_count;
	}
	if (!code && (ranges != &own || own.end))
		code = exits_find(analysis_source(c), c->dwarf, own.start,
				  ranges, count, &exits);
	if (code)
		code = diag_no_memory(c->diag, s->point->tp.pos);
	else if (ranges == &own && !own.end)
		code = report_no_exit(s, "where its code ends is not known");
	else
		code = take_exits(s, function, &exits);
	dwarf_functions_free(&found);
	exits_free(&exits);
	return code;
}

static int function_places(struct site_search *s,
			   const struct site_place *function)
{
	const struct tsf_tp *tp = &s->point->tp;
	const struct compilation *c = s->c;
	enum calls_reach reach = CALLS_CLOSED;
	struct site_place *place;
	uint8_t flags = 0;
	size_t available;

	/* an address without code is left to site_place_check() */
	if (module_code(c->module, function->base, &available, NULL)) {
		if (tp->retep != TSF_RETEP_CALLER)
			return find_exits(s, function);
		/* a return probe changes the return address on the stack, which
		 * Go moves and looks through: the program would crash */
		if (analysis_runtime(c) & RUNTIME_GO) {
			diag_report(c->diag, tp->pos, TRCERR_UNSUPPORTED,
				    "RETEP=CALLER in a Go program");
			diag_hint(c->diag, "it would crash; RETEP=EXIT works");
			return 1;
		}
		/* may an exception, or the end of a thread, leave it? By what
		 * it calls, in a module that has such things */
		if (analysis_runtime(c) & RUNTIME_UNWINDS &&
		    analysis_reach(c, function->base, &reach))
			return diag_no_memory(c->diag, tp->pos);
		if (reach != CALLS_CLOSED) {
			diag_report(c->diag, tp->pos, TRCERR_UNWINDS, tp->name);
			diag_hint(c->diag, "RETEP=EXIT works then, too");
		}
		flags = TDF_SITE_RETURN;
	}
	place = site_place_add(s, function->base);
	if (!place)
		return -1;
	*place = *function;
	place->address = function->base;
	place->flags = flags;
	return 0;
}

/* A function with clones has the exits of each. */
int site_exit_places(struct site_search *s)
{
	struct site_search functions = { .c = s->c, .point = s->point };
	int code = site_symbol_find(&functions);

	if (!code && !functions.places[0].symbol)
		code = report_no_exit(s, "it was only inlined: there is "
					 "no function to return from");
	for (size_t i = 0; i < functions.count && !code; i++)
		if (functions.places[i].symbol)
			code = function_places(s, &functions.places[i]);
	free(functions.places);
	return code;
}
