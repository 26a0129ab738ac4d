// SPDX-License-Identifier: GPL-2.0
/*
 * RETEP: the exits of the function, or with RETEP=CALLER the place that it
 * returns to, which the kernel finds at its entry.
 */
#include "site.h"

#include <stdlib.h>
#include <string.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "choose_return.h"

/* What the result register has at an exit. */
struct site_result {
	struct site_result *next;
	struct bytes rpn;
};

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

static int report_no_exit(struct compilation *c, const struct tsf_point *point,
			  const char *why)
{
	diag_report(c->diag, point->tp.pos, TRCERR_NOEXIT, point->tp.name);
	diag_hint(c->diag, "%s", why);
	return 1;
}

static void report_lost(struct compilation *c, const struct tsf_point *point,
			const struct flow_lost *lost)
{
	char name[320];

	site_name_at(c, lost->address, name, sizeof(name));
	diag_report(c->diag, point->tp.pos, TRCERR_LEFTOUT, name);
	diag_hint(c->diag, "%s; RETEP=CALLER records it as well", lost->why);
}

void site_exit_forget(struct site_state *state)
{
	while (state->results) {
		struct site_result *result = state->results;

		state->results = result->next;
		bytes_free(&result->rpn);
		free(result);
	}
}

/* Take what the site has, to be kept as long as the compilation. */
static const struct bytes *keep_result(struct compilation *c,
				       const struct tsf_point *point,
				       struct exits_site *site)
{
	struct site_result *result = malloc(sizeof(*result));

	if (!result) {
		diag_no_memory(c->diag, point->tp.pos);
		return NULL;
	}
	*result = (struct site_result) { c->sites->results, site->result };
	site->result = (struct bytes) { 0 };
	c->sites->results = result;
	return &result->rpn;
}

static int take_exit(struct compilation *c, const struct tsf_point *point,
		     const struct site_place *function,
		     struct exits_site *exit, struct site_places *places)
{
	struct site_place *place = site_place_add(c, point, places,
						  exit->address);

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
	place->result_rpn = keep_result(c, point, exit);
	return place->result_rpn ? 0 : -1;
}

static int take_exits(struct compilation *c, const struct tsf_point *point,
		      const struct site_place *function,
		      const struct exits *exits, struct site_places *places)
{
	for (size_t i = 0; i < exits->lost_count; i++)
		report_lost(c, point, &exits->lost[i]);
	for (size_t i = 0; i < exits->count; i++)
		if (take_exit(c, point, function, &exits->sites[i], places))
			return -1;
	if (exits->count)
		return 0;
	return report_no_exit(
		c, point,
		exits->lost_count ?
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
		code = exits_find(site_flow_source(c), c->dwarf, own.start,
				  ranges, count, &exits);
	if (code)
		diag_no_memory(c->diag, point->tp.pos);
	else if (ranges == &own && !own.end)
		code = report_no_exit(c, point,
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
	bool unwinds;

	if (site_runtime(c) & RUNTIME_GO) {
		diag_report(c->diag, point->tp.pos, TRCERR_UNSUPPORTED,
			    "RETEP=CALLER in a Go program");
		diag_hint(c->diag, "it would crash; RETEP=EXIT works");
		return 1;
	}
	if (choose_return_unwinds(c, function->base, &unwinds))
		return diag_no_memory(c->diag, point->tp.pos);
	if (unwinds) {
		diag_report(c->diag, point->tp.pos, TRCERR_UNWINDS,
			    point->tp.name);
		diag_hint(c->diag, "RETEP=EXIT works then, too");
	}
	return entry_place(c, point, function, TDF_SITE_RETURN, places);
}

static int function_places(struct compilation *c,
			   const struct tsf_point *point,
			   const struct site_place *function,
			   struct site_places *places)
{
	size_t available;

	if (!module_code(c->module, function->base, &available, NULL))
		return entry_place(c, point, function, 0,
				   places);	/* site_check() reports it */
	if (point->tp.retep == TSF_RETEP_CALLER)
		return caller_place(c, point, function, places);
	return find_exits(c, point, function, places);
}

/* Of a function with clones, the exits of each. */
int site_exit_places(struct compilation *c, const struct tsf_point *point,
		     struct site_places *places)
{
	struct site_places functions = {0};
	int code = site_symbol_find(c, point, &functions);

	if (!code && !functions.list[0].symbol)
		code = report_no_exit(c, point,
				      "it was only inlined: there is "
				      "no function to return from");
	for (size_t i = 0; i < functions.count && !code; i++)
		if (functions.list[i].symbol)
			code = function_places(c, point, &functions.list[i],
					       places);
	free(functions.list);
	return code;
}
