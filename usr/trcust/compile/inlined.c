// SPDX-License-Identifier: GPL-2.0
#include "inlined.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/debug/dwarf/dwarf.h"
#include "lib/debug/module/module.h"
#include "analysis.h"
#include "site_symbol.h"

/* Are they of the same source? Others may have the name, too. */
static bool same_function(const struct dwarf_function *a,
			  const struct dwarf_function *b)
{
	Dwarf_Die one = a->die, other = b->die;
	const char *file = dwarf_line_decl_file(&one);
	const char *theirs = dwarf_line_decl_file(&other);
	int line = 0, their = 0;

	if (dwarf_die_root(&one).addr == dwarf_die_root(&other).addr)
		return true;
	return file && theirs &&
	       !strcmp(source_path_base(file), source_path_base(theirs)) &&
	       !dwarf_decl_line(&one, &line) &&
	       !dwarf_decl_line(&other, &their) && line == their;
}

static const struct dwarf_function *
own_find(const struct compile_point *point, const struct dwarf_functions *found)
{
	for (size_t i = 0; i < found->count; i++) {
		const struct dwarf_function *f = &found->functions[i];

		for (size_t k = 0; !f->inlined && k < f->range_count; k++)
			if (point->site_count &&
			    point->sites->nominal >= f->ranges[k].start &&
			    point->sites->nominal < f->ranges[k].end)
				return f;
	}
	return NULL;
}

bool inlined_is_copy(const struct inlined *inlined,
		     const struct dwarf_function *function)
{
	return inlined->own && function->inlined && !function->again &&
	       same_function(inlined->own, function);
}

int inlined_find(const struct compilation *c, const struct compile_point *point,
		 struct inlined *inlined)
{
	*inlined = (struct inlined){ 0 };
	if (point->tsf->tp.kind != TSF_TP_SYMBOL)
		return 0;
	if (site_symbol_functions(c, point->tsf, &inlined->found))
		return -ENOMEM;
	inlined->own = own_find(point, &inlined->found);
	for (size_t i = 0; i < inlined->found.count; i++)
		inlined->count += inlined_is_copy(inlined,
						  &inlined->found.functions[i]);
	return 0;
}

void inlined_free(struct inlined *inlined)
{
	dwarf_functions_free(&inlined->found);
}

/* Where the first copy is; `none`: and what is left to trace. */
static void hint_copy(const struct compilation *c,
		      const struct inlined *inlined, bool none)
{
	const struct dwarf_function *copy = inlined->found.functions;
	struct dwarf_from at;
	const char *file;
	char name[320];
	uint32_t line;

	while (!inlined_is_copy(inlined, copy))
		copy++;
	at = (struct dwarf_from){
		.pc = copy->entry, .function = copy->die.addr,
	};
	analysis_name(c, copy->entry, name, sizeof(name));
	diag_hint(c->diag, "%zu %s inlined, at %s%s%s", inlined->count,
		  inlined->count == 1 ? "was" : "were", name,
		  inlined->count == 1 ? "" : " and elsewhere",
		  none ? ": only what calls it by a pointer or from another "
			 "module is traced" : "");
	if (dwarf_line_from(c->dwarf, &at, &file, &line))
		diag_hint(c->diag, "a line has a site in each copy: TP=@%s,%u",
			  source_path_base(file), line);
}

/* A library's functions are there for other modules. */
static bool is_for_others(const struct compilation *c, Dwarf_Die *function)
{
	return !(analysis_runtime(c) & RUNTIME_PROGRAM) &&
	       dwarf_die_flag(function, DW_AT_external);
}

/* Some code has no debug information, or one that doesn't tell of calls. */
static bool code_calls(const struct compilation *c,
		       const struct dwarf_function *function)
{
	const struct module_range *range = function->ranges;

	while (function->entry < range->start || function->entry >= range->end)
		if (++range == function->ranges + function->range_count)
			return true;
	return targets_lead_to(c->module, &(struct module_range){
		function->entry, range->end });
}

/* Does nothing that is known call the function? */
static int is_uncalled(const struct compilation *c,
		       const struct inlined *inlined, bool *uncalled)
{
	const struct call_table *calls = NULL;
	Dwarf_Die function = inlined->own->die;
	size_t count = 0;
	int code = 0;

	if (!dwarf_calls_are_many(c->dwarf))
		code = dwarf_calls_whole(c->dwarf, &calls);
	if (calls)
		dwarf_calls_of(calls, &function, &count);
	/* none at all: the compiler doesn't describe calls */
	*uncalled = calls && calls->count && !count &&
		    !is_for_others(c, &function) &&
		    !code_calls(c, inlined->own);
	return code;
}

static int check_point(const struct compilation *c,
		       const struct compile_point *point)
{
	const char *name = point->tsf->tp.name;
	struct inlined inlined;
	int code = inlined_find(c, point, &inlined);
	bool uncalled;

	if (!code && inlined.count) {
		code = is_uncalled(c, &inlined, &uncalled);
		if (uncalled)
			diag_report(c->diag, point->tsf->tp.pos, TRCERR_INLINED,
				    name);
		else if (!point->tsf->tp.retep)
			diag_report(c->diag, point->tsf->tp.pos,
				    TRCERR_INLINEDTOO, name);
		if (uncalled || !point->tsf->tp.retep)
			hint_copy(c, &inlined, uncalled);
	}
	inlined_free(&inlined);
	return code;
}

int inlined_check(const struct compilation *c, const struct compiled *out)
{
	int code = 0;

	if (!c->dwarf)
		return 0;
	for (size_t i = 0; i < out->point_count && !code; i++)
		code = check_point(c, &out->points[i]);
	if (code)
		diag_no_memory(c->diag, (struct srcpos){ 0 });
	return code;
}
